"""Tables out of CSV, TSV and Parquet files and standard input, for all commands: whole, or part by part."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import pyarrow as pa

from .._words import count_text, shorten
from ._blocks import read_blocks
from ._columns import is_text
from ._files import Dialect, Stream, TextFormat, as_utf8, detect_dialect, is_parquet, open_stream, source_text
from ._numbers import NumberMarks, find_marks, has_marks

_PARQUET_ROWS = 2**14


@dataclass(frozen=True)
class TableParts:
    """A table part by part; of a text file all columns are text, and `marks` are those in its numbers."""

    names: list[str]
    tables: Iterator[pa.Table]
    marks: NumberMarks = field(default_factory=NumberMarks)


def read_table(path: str, text_format: TextFormat) -> pa.Table:
    """A whole table, whose columns have the types of their values."""
    with open_stream(path) as stream:
        if is_parquet(stream.head):
            with _parquet_errors(path):
                table = _parquet_file(stream, path).read()
        else:
            with _text_errors(path):
                table = _read_text(stream, path, text_format)
    _check_names(table.column_names, path)
    if table.num_rows == 0:
        raise _empty_table_error(path)
    return table


@contextmanager
def open_table(path: str, text_format: TextFormat) -> Iterator[TableParts]:
    """A table part by part, in bounded memory; text files keep every value as it is written."""
    with open_stream(path) as stream:
        if is_parquet(stream.head):
            with _parquet_errors(path):
                file = _parquet_file(stream, path)
            parts = TableParts(file.schema_arrow.names, _parquet_tables(file, path))
        else:
            with _text_errors(path):
                parts = _text_parts(stream, path, text_format)
        _check_names(parts.names, path)
        yield replace(parts, tables=_check_rows(parts.tables, path))


def _check_names(names: list[str], path: str) -> None:
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise ValueError(f"{source_text(path)} has more than one column {repeated[0]!r}: rename them.")


def _check_rows(tables: Iterator[pa.Table], path: str) -> Iterator[pa.Table]:
    """The parts that have rows; refuses a table that has none."""
    n_rows = 0
    for table in tables:
        n_rows += table.num_rows
        if table.num_rows:
            yield table
    if n_rows == 0:
        raise _empty_table_error(path)


def _empty_table_error(path: str) -> ValueError:
    return ValueError(f"{source_text(path)} has no rows below its header.")


def _parquet_file(stream: Stream, path: str) -> Any:
    import pyarrow.parquet as pq

    # A stream cannot be read from its end, where Parquet says what is in it.
    return pq.ParquetFile(_native(stream.read()) if path == "-" or path.endswith(".gz") else path)


def _parquet_tables(file: Any, path: str) -> Iterator[pa.Table]:
    with _parquet_errors(path):
        for batch in file.iter_batches(_PARQUET_ROWS):
            yield pa.Table.from_batches([batch])


@contextmanager
def _parquet_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{source_text(path)} is a damaged Parquet file: {_first_line(error)}") from None


def _read_text(stream: Stream, path: str, text_format: TextFormat) -> pa.Table:
    dialect = detect_dialect(stream.head, text_format, source_text(path))
    blocks = list(read_blocks(as_utf8(stream, dialect.encoding), dialect.delimiter, source_text(path)))
    text = _WholeText(b"".join(blocks), dialect, max(map(len, blocks)) + 1, text_format.missing_texts)
    decimal = text_format.decimal or "."
    table = text.typed(decimal)
    first_rows = _columns_of(_sample(iter(blocks), dialect)[0])
    marks, note = _marks_of(first_rows | text.with_later_marks(table, first_rows), path, text_format)
    if marks.decimal != decimal:
        table = text.typed(marks.decimal)
    _tell(note, path)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_binary(column.type):
            raise ValueError(
                f"{source_text(path)} is not UTF-8 text (column {name!r}): pass --encoding, such as --encoding "
                "cp1252 for files from Windows."
            )
    return pa.table([marks.as_numbers(column) for column in table.columns], table.column_names)


@dataclass(frozen=True)
class _WholeText:
    """The content of a text file, to be parsed in more than one way."""

    content: bytes
    dialect: Dialect
    block_size: int  # which no row exceeds
    missing: tuple[str, ...]

    def typed(self, decimal: str) -> pa.Table:
        """Columns of the types of their values."""
        return self._parse(null_values=list(self.missing), strings_can_be_null=True, decimal_point=decimal)

    def with_later_marks(self, table: pa.Table, first_rows: dict[str, pa.ChunkedArray]) -> dict[str, pa.ChunkedArray]:
        """The columns whose later rows may have marks in numbers that the first ones lack, whole and as text."""
        columns = _columns_of(table)
        texts = {name: column.fill_null("") for name, column in columns.items() if is_text(column.type)}
        real = [name for name, column in columns.items() if pa.types.is_floating(column.type)]
        unmarked = [name for name in real if not has_marks(first_rows[name])]
        if not unmarked:
            return texts
        as_text = dict.fromkeys(unmarked, pa.string())
        parsed = self._parse(include_columns=unmarked, column_types=as_text, strings_can_be_null=False)
        return texts | _columns_of(parsed)

    def _parse(self, **options: Any) -> pa.Table:
        import pyarrow.csv as pc

        return _parse(
            self.content, self.dialect, pc.ReadOptions(block_size=self.block_size), pc.ConvertOptions(**options)
        )


def _text_parts(stream: Stream, path: str, text_format: TextFormat) -> TableParts:
    import pyarrow.csv as pc

    dialect = detect_dialect(stream.head, text_format, source_text(path))
    blocks = read_blocks(as_utf8(stream, dialect.encoding), dialect.delimiter, source_text(path))
    sample, first = _sample(blocks, dialect)
    names = sample.column_names
    as_text = pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)

    def tables() -> Iterator[pa.Table]:
        with _text_errors(path):
            for i, block in enumerate(chain([first], blocks)):
                read = pc.ReadOptions(column_names=names if i else None, block_size=len(block) + 1)
                yield _parse(block, dialect, read, as_text)

    marks, note = _marks_of(_columns_of(sample), path, text_format)
    _tell(note, path)
    return TableParts(names, tables(), marks)


def _sample(blocks: Iterator[bytes], dialect: Dialect) -> tuple[pa.Table, bytes]:
    """The first rows as text, and what they were read from: blocks until there are some."""
    import pyarrow.csv as pc

    content = next(blocks)  # a file without text was refused
    while True:
        read = pc.ReadOptions(block_size=len(content) + 1)
        table = _parse(content, dialect, read)
        block = b"" if table.num_rows else next(blocks, b"")
        if not block:
            break
        content += block
    as_text = pc.ConvertOptions(column_types=dict.fromkeys(table.column_names, pa.string()), strings_can_be_null=False)
    return _parse(content, dialect, read, as_text), content


def _columns_of(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _marks_of(columns: dict[str, pa.ChunkedArray], path: str, text_format: TextFormat) -> tuple[NumberMarks, str]:
    """The marks in numbers, and a note where they are not those of programs."""
    options = text_format.missing_texts, text_format.decimal, text_format.thousands
    return find_marks(columns, *options, source_text(path))


def _tell(note: str, path: str) -> None:
    if note:
        sys.stderr.write(f"{source_text(path)}: {note}.\n")


def _parse(content: bytes, dialect: Dialect, read: Any = None, convert: Any = None) -> pa.Table:
    import pyarrow.csv as pc

    parse_options = pc.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True)
    return pc.read_csv(_native(content), read, parse_options, convert)


@contextmanager
def _text_errors(path: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{source_text(path)} is not {error.encoding} text: pass another --encoding.") from None
    except pa.ArrowInvalid as error:
        raise ValueError(f"{source_text(path)} is not {_parse_problem(str(error))}") from None


def _parse_problem(message: str) -> str:
    if "UTF8" in message:
        column = re.search(r"column #(\d+)", message)
        place = f" (column {int(column[1]) + 1})" if column else ""
        return f"UTF-8 text{place}: pass --encoding, such as --encoding cp1252 for files from Windows."
    uneven = re.search(r"Expected (\d+) columns, got (\d+): ?(.*)", message)
    if uneven is None:
        return f"a table: {_first_line(message).removeprefix('CSV parse error: ')}"
    values, row = count_text(int(uneven[2]), "value"), shorten(uneven[3], 60)
    return f"a table: a row has {values}, but the header has {uneven[1]}: {row!r}."


def _first_line(message: object) -> str:
    return shorten(str(message).split("\n")[0])


def _native(content: bytes) -> pa.BufferReader:
    """Bytes that are Arrow's own: its threads would bring Python down at its end if they held an object of Python's."""
    stream = pa.BufferOutputStream()
    stream.write(content)
    return pa.BufferReader(stream.getvalue())
