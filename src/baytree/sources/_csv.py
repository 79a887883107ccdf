"""CSV files: finding the files of a path, the types of their columns, and their rows in batches."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

from ..table import Kind
from ._roles import ColumnRoles

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_COMPRESSED = (".gz", ".bz2", ".zst")
_BLOCK_BYTES = 2**23
_TYPES = {Kind.NUMBER: pa.float64(), Kind.TRUTH: pa.bool_(), Kind.CATEGORY: pa.string(), Kind.ORDERED: pa.string()}


def is_csv(source: Any) -> bool:
    """Whether a path, a pattern or all of a list are those of CSV files."""
    paths = source if isinstance(source, (list, tuple)) else [source]
    return bool(paths) and all(_suffix(os.fspath(path)) in _DELIMITERS for path in paths)


def csv_files(source: Any) -> list[str]:
    """The files of a path, a pattern of paths, or a list of these."""
    files = []
    for path in source if isinstance(source, (list, tuple)) else [source]:
        text = str(Path(path).expanduser())
        found = [text] if Path(text).is_file() else sorted(glob.glob(text, recursive=True))  # noqa: PTH207
        if not found:
            raise FileNotFoundError(f"There is no file {os.fspath(path)!r}: give the path of a CSV file.")
        files += found
    return files


def batches_of_csv(files: list[str], names: ColumnRoles | None, kinds: Mapping[Any, Kind]) -> Iterator[pa.RecordBatch]:
    """The rows of files in batches, of all columns or of those that a fit reads."""
    for file in files:
        options = {"parse_options": pc.ParseOptions(delimiter=_DELIMITERS[_suffix(file)])}
        options["read_options"] = pc.ReadOptions(block_size=_BLOCK_BYTES)
        try:
            with pc.open_csv(file, **options) as reader:
                convert = _convert_options(reader.schema, names, kinds)
            with pc.open_csv(file, convert_options=convert, **options) as reader:
                yield from reader
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"The file {Path(file).name!r} cannot be read as CSV ({error}): correct it, or give the type of that "
                "column in dtypes if it holds other values than at first."
            ) from None


def _convert_options(schema: pa.Schema, names: ColumnRoles | None, kinds: Mapping[Any, Kind]) -> pc.ConvertOptions:
    """The types of the columns: as given, or as the first rows have them, whole numbers as numbers."""
    types = {
        field.name: _TYPES[kinds[field.name]]
        if field.name in kinds
        else pa.float64()
        if pa.types.is_integer(field.type)
        else field.type
        for field in schema
    }
    if names is not None:
        names.check(schema.names)
    columns = schema.names if names is None else names.needed(schema.names)
    return pc.ConvertOptions(column_types=types, include_columns=columns, strings_can_be_null=True)


def _suffix(path: str) -> str:
    """What the name of a file ends in, without that of its compression."""
    name = path.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[1]  # noqa: PTH122  of patterns, too
