"""``baytree predict``: rows in, the same rows with predictions out, in bounded memory."""

from __future__ import annotations

import csv
import io
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from ._files import TextFormat
from ._json import json_text
from ._options import (
    check_output,
    data_argument,
    debug_option,
    interval_option,
    json_option,
    model_argument,
    out_option,
    text_options,
)

_PARQUET = (".parquet", ".pq")


@click.command(short_help="Predict the rows of a table with a model.")
@model_argument
@data_argument
@out_option("File to write: .csv, .tsv, .parquet or .jsonl, also .csv.gz. Default: CSV on standard output.")
@click.option(
    "--carry",
    multiple=True,
    metavar="COLUMN",
    help="Column to copy to the output, such as an id, instead of all columns. May be given more than once.",
)
@interval_option
@text_options
@json_option
@debug_option
def predict(
    model: str,
    data: str,
    out: str | None,
    carry: tuple[str, ...],
    interval: float | None,
    text_format: TextFormat,
    as_json: bool,
) -> None:
    """Predict the rows of DATA (csv, tsv or parquet; - for standard input) with MODEL.

    Every row comes back with its prediction and, of classes, their probabilities. Rows are read and written part by
    part, so DATA may be larger than memory.
    """
    from ._columns import check_names
    from ._model import FeatureReader, read_model
    from ._table import open_table

    check_output(out, data, model)
    if model == data == "-":
        raise ValueError("MODEL and DATA cannot both come from standard input.")
    estimator = read_model(model)
    with open_table(data, text_format) as parts:
        features = FeatureReader.of(estimator, parts, text_format, data)
        check_names(carry, parts.names, "--carry", data)
        carried_columns = list(carry) or parts.names
        first_row = 1
        with open_writer(out, as_json=as_json) as writer:
            for table in parts.tables:
                predicted = _predictions(estimator, features.read(table, first_row), interval)
                writer.write(_append_columns(table.select(carried_columns), predicted))
                first_row += table.num_rows


def _predictions(estimator: Any, X: Any, interval: float | None) -> dict[str, Any]:
    """The new columns by name."""
    names = estimator.fitted_.class_names
    columns: dict[str, Any] = {"prediction": estimator.predict(X)}
    if names:
        columns |= {f"probability_{name}": p for name, p in zip(names, estimator.predict_proba(X).T, strict=True)}
    if interval is not None:
        ends = estimator.predict_interval(X, level=interval)
        of_classes = {
            f"{side}_{name}": ends[:, c, i] for c, name in enumerate(names) for i, side in enumerate(("low", "high"))
        }
        columns |= of_classes if names else {"low": ends[:, 0], "high": ends[:, 1]}
    return columns


def _append_columns(table: Any, columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    for name, values in columns.items():
        if name in table.column_names:
            raise ValueError(f"The table has a column {name!r} already: choose what comes along with --carry.")
        table = table.append_column(name, pa.array(values.tolist()))
    return table


class _Writer(ABC):
    """Writes Arrow tables one below the other."""

    @abstractmethod
    def write(self, table: Any) -> None:
        """Write rows."""

    def close(self) -> None:
        """Write what ends the file."""
        return


class _TextWriter(_Writer):
    """CSV or TSV; text is quoted only where it must be."""

    def __init__(self, file: IO[str], delimiter: str) -> None:
        self._rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        self._has_header = False

    def write(self, table: Any) -> None:
        if not self._has_header:
            self._rows.writerow(table.column_names)
            self._has_header = True
        self._rows.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))


class _JsonWriter(_Writer):
    """One object a line."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, table: Any) -> None:
        for row in table.to_pylist():
            self._file.write(json_text(row) + "\n")


class _ParquetWriter(_Writer):
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, table: Any) -> None:
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


@contextmanager
def open_writer(out: str | None, *, as_json: bool) -> Iterator[_Writer]:
    """A writer to a file, which is there only once all is written, or to standard output."""
    from ._output import open_out, suffix_of

    if out is None or out == "-":
        yield _JsonWriter(sys.stdout) if as_json else _TextWriter(sys.stdout, ",")
        return
    suffix = suffix_of(out)
    with open_out(out) as file:
        if suffix in _PARQUET:
            parquet = _ParquetWriter(file)
            yield parquet
            parquet.close()
            return
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        if as_json or suffix in (".jsonl", ".ndjson"):
            yield _JsonWriter(text)
        else:
            yield _TextWriter(text, "\t" if suffix in (".tsv", ".tab") else ",")
        text.detach()
