"""A table batch by batch, in bounded memory; text files keep every value as it is written."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any

import pyarrow as pa

from ._files import Source, as_utf8, named, opened
from ._read import first_line, native, not_text
from ._sniff import Dialect, Reading, is_parquet, sniff

_PARQUET_ROWS = 2**14
_BLOCK_BYTES = 2**20


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
        yield replace(batches, parts=_with_rows(batches.parts, path))


def _with_rows(parts: Iterator[pa.Table], path: str) -> Iterator[pa.Table]:
    """The parts that have rows; refuses a table that has none."""
    n_rows = 0
    for part in parts:
        n_rows += part.num_rows
        if part.num_rows:
            yield part
    if n_rows == 0:
        raise ValueError(f"{named(path)} has no rows below its header.")


def _parquet(source: Source, path: str) -> Batches:
    import pyarrow.parquet as pq

    try:
        # A pipe cannot be read from its end, where Parquet says what is in it.
        file = pq.ParquetFile(native(source.read()) if path == "-" else path)
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

    known: list[str] | None = None  # of the first block the names are read
    try:
        for block in _blocks(as_utf8(source, dialect.encoding)):
            yield pc.read_csv(
                native(block),
                pc.ReadOptions(column_names=known, block_size=len(block) + 1),
                pc.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
                pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
            )
            known = names
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise not_text(error, path) from None


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """Parts that end where a row ends: at a line's end outside of quotes."""
    left = b""
    while part := stream.read(_BLOCK_BYTES):
        left += part
        end = left.rfind(b"\n")
        while end >= 0 and left.count(b'"', 0, end) % 2:
            end = left.rfind(b"\n", 0, end)
        if left[: end + 1].strip():
            yield left[: end + 1]
            left = left[end + 1 :]
    if left.strip():
        yield left


def one_row(values: dict[str, str]) -> Any:
    """A table of one row of text."""
    return pa.table({name: pa.array([value], pa.string()) for name, value in values.items()})
