"""Reading a whole table: text or Parquet, from a file or standard input."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pyarrow as pa

from .._words import count_text, shortened
from ._files import Source, as_utf8, named, opened
from ._sniff import Reading, is_parquet, sniff


def read_table(path: str, reading: Reading) -> pa.Table:
    """Every column with the type that its values have; what is no table is refused."""
    with opened(path) as source:
        table = _read_parquet(source, path) if is_parquet(source.head) else _read_text(source, path, reading)
    repeated = [name for name, n in Counter(table.column_names).items() if n > 1]
    if repeated:
        raise ValueError(f"{named(path)} has more than one column {repeated[0]!r}: rename them.")
    if table.num_rows == 0:
        raise ValueError(f"{named(path)} has no rows below its header.")
    return table


def _read_parquet(source: Source, path: str) -> pa.Table:
    import pyarrow.parquet as pq

    try:
        return pq.read_table(native(source.read()))
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{named(path)} is a damaged Parquet file: {first_line(error)}") from None


def native(content: bytes) -> pa.BufferReader:
    """Bytes that are Arrow's own: its threads would bring Python down at its end if they held an object of Python's."""
    stream = pa.BufferOutputStream()
    stream.write(content)
    return pa.BufferReader(stream.getvalue())


def _read_text(source: Source, path: str, reading: Reading) -> pa.Table:
    import pyarrow.csv as pc

    dialect = sniff(source.head, reading, named(path))
    try:
        table = pc.read_csv(
            native(as_utf8(source, dialect.encoding).read()),
            parse_options=pc.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            convert_options=pc.ConvertOptions(
                null_values=reading.means_missing, strings_can_be_null=True, decimal_point=dialect.decimal
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise not_text(error, path) from None
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_binary(column.type):
            raise ValueError(
                f"{named(path)} is not UTF-8 text (column {name!r}): pass --encoding, such as --encoding cp1252 for "
                "files from Windows."
            )
    return table


def not_text(error: Exception, path: str) -> ValueError:
    """What to say of a text file that cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return ValueError(f"{named(path)} is not {error.encoding} text: pass another --encoding.")
    if "UTF8" in str(error):
        return ValueError(f"{named(path)} is not UTF-8 text: pass --encoding, such as --encoding cp1252.")
    uneven = re.search(r"Expected (\d+) columns, got (\d+): ?(.*)", str(error))
    if uneven is None:
        return ValueError(f"{named(path)} is not a table: {first_line(error).removeprefix('CSV parse error: ')}")
    values, row = count_text(int(uneven[2]), "value"), shortened(uneven[3], 60)
    return ValueError(f"{named(path)} is not a table: a row has {values}, but the header has {uneven[1]}: {row!r}.")


def first_line(error: Any) -> str:
    """Of what a library says."""
    text = str(error).split("\n")[0]
    return text if len(text) <= 200 else text[:199] + "…"
