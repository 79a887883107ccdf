"""A table batch by batch, in bounded memory; text files keep every value as it is written."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ._files import Source, named, opened
from ._read import first_line, not_text
from ._sniff import Dialect, Reading, is_parquet, sniff

_PARQUET_ROWS = 2**16


@dataclass(frozen=True)
class Batches:
    """The parts of a table; of a text file all columns are text, and `decimal` is the mark in its numbers."""

    names: list[str]
    parts: Iterator[pa.Table]
    decimal: str = "."


@contextmanager
def open_batches(path: str, reading: Reading) -> Iterator[Batches]:
    """Open a file or standard input; refuses what is no table."""
    with opened(path) as source:
        batches = _parquet(source, path) if is_parquet(source.head) else _text(source, path, reading)
        repeated = [name for name, n in Counter(batches.names).items() if n > 1]
        if repeated:
            raise ValueError(f"{named(path)} has more than one column {repeated[0]!r}: rename them.")
        yield batches


def _parquet(source: Source, path: str) -> Batches:
    import pyarrow.parquet as pq

    try:
        # A pipe cannot be read from its end, where Parquet says what is in it.
        file = pq.ParquetFile(pa.BufferReader(source.read()) if path == "-" else path)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{named(path)} is a damaged Parquet file: {first_line(error)}") from None
    parts = (pa.Table.from_batches([batch]) for batch in file.iter_batches(_PARQUET_ROWS))
    return Batches(file.schema_arrow.names, parts)


def _text(source: Source, path: str, reading: Reading) -> Batches:
    dialect = sniff(source.head, reading, named(path))
    text = source.head.decode(dialect.encoding, errors="replace").removeprefix("\ufeff")
    names = next(csv.reader(io.StringIO(text), delimiter=dialect.delimiter))
    return Batches(names, _parts(source, path, dialect, names), dialect.decimal)


def _parts(source: Source, path: str, dialect: Dialect, names: list[str]) -> Iterator[pa.Table]:
    import pyarrow.csv as pc

    try:
        reader = pc.open_csv(
            pa.PythonFile(source),
            pc.ReadOptions(encoding=dialect.encoding),
            pc.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )
        for batch in reader:
            yield pa.Table.from_batches([batch])
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        if "UTF8" in str(error):
            raise ValueError(f"{named(path)} is not UTF-8 text: pass --encoding, such as --encoding cp1252.") from None
        raise not_text(error, path) from None


def one_row(values: dict[str, str]) -> Any:
    """A table of one row of text."""
    return pa.table({name: pa.array([value], pa.string()) for name, value in values.items()})
