"""Writing rows as they come: CSV, TSV, Parquet or JSON lines, to a file or standard output."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa


class Writer(ABC):
    """Writes tables one below the other."""

    @abstractmethod
    def write(self, table: pa.Table) -> None:
        """Write rows."""

    def close(self) -> None:
        """Write what ends the file."""
        return


class _Lines(Writer):
    """CSV or TSV; text is quoted only where it must be."""

    def __init__(self, file: IO[str], delimiter: str) -> None:
        self._rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        self._has_header = False

    def write(self, table: pa.Table) -> None:
        if not self._has_header:
            self._rows.writerow(table.column_names)
            self._has_header = True
        self._rows.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))


class _Json(Writer):
    """One object a line."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, table: pa.Table) -> None:
        for row in table.to_pylist():
            self._file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


class _Parquet(Writer):
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


@contextmanager
def open_writer(out: str | None, *, as_json: bool) -> Iterator[Writer]:
    """A writer to a file, which is there only once all is written, or to standard output."""
    if out is None or out == "-":
        yield _Json(sys.stdout) if as_json else _Lines(sys.stdout, ",")
        return
    path = Path(out)
    handle, beside = tempfile.mkstemp(prefix=f".{path.name[:100]}-", dir=path.parent)
    os.close(handle)
    try:
        is_parquet = path.suffix in (".parquet", ".pq")
        with Path(beside).open("wb") if is_parquet else Path(beside).open("w", encoding="utf-8", newline="") as file:
            writer = _writer(file, path.suffix, as_json=as_json)
            yield writer
            writer.close()
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _writer(file: Any, suffix: str, *, as_json: bool) -> Writer:
    if suffix in (".parquet", ".pq"):
        return _Parquet(file)
    if as_json or suffix in (".jsonl", ".ndjson"):
        return _Json(file)
    return _Lines(file, "\t" if suffix in (".tsv", ".tab") else ",")
