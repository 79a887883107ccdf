"""Parquet files: finding the files of a source, comparing their schemas, and reading their rows in batches.

Every file is read with its own types, like the frames of a function. A data set of Arrow would cast them to the types
of the first file, and drop or invent columns.
"""

from __future__ import annotations

import glob
import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from ._roles import ColumnRoles

_SUFFIXES = (".parquet", ".parq", ".pq")
_MAGIC = b"PAR1"  # the first bytes of a Parquet file
_HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"


class _Location(NamedTuple):
    """A path in a file system."""

    filesystem: Any
    path: str


@dataclass(frozen=True)
class ParquetFile:
    """A file, and the columns that the names of its folders add."""

    fragment: Any
    folders: dict[str, Any]  # Arrow values of columns that the file itself does not have

    @property
    def name(self) -> str:
        """The name for a message."""
        return repr(posixpath.basename(self.fragment.path))

    @property
    def schema(self) -> Any:
        """The columns of the file, from its footer, and the columns of its folders."""
        schema = self.fragment.physical_schema.remove_metadata()
        for name, value in self.folders.items():
            schema = schema.append(pa.field(name, value.type))
        return schema

    @property
    def has_rows(self) -> bool:
        """Whether the file has rows, from its footer."""
        return bool(self.fragment.metadata.num_rows)


def parquet_files(source: Any) -> list[ParquetFile]:
    """Find the files of a path, a pattern of paths, or a list of these; the files of a folder are sorted by name."""
    texts = [os.fspath(path) for path in (source if isinstance(source, (list, tuple)) else [source])]
    if not texts:
        raise ValueError("source is an empty list: give the path of at least one Parquet file.")
    locations = [location for text in texts for location in _files(text)]
    base = _base(texts)
    columns = _infer_types([_folder_columns(location.path, base) for location in locations])
    return [_parquet_file(location, values) for location, values in zip(locations, columns, strict=True)]


def refuse_differences(files: list[ParquetFile], names: ColumnRoles) -> None:
    """Refuse files whose columns differ, as far as a fit reads them.

    Files without rows are ignored, and only footers are read.
    """
    first = None
    for file in files:
        if not file.has_rows:
            continue
        columns = file.schema.names
        twice = [name for name in columns if columns.count(name) > 1] if len(set(columns)) < len(columns) else []
        if twice:
            raise ValueError(
                f"The file {file.name} has {columns.count(twice[0])} columns of the name {twice[0]!r}: names must be "
                "unique."
            )
        if first is None:
            names.check(columns)
            first = file
        if not file.schema.equals(first.schema):
            one, other = (_needed(schema, names) for schema in (first.schema, file.schema))
            _refuse_other_columns((first.name, one), (file.name, other))
            _refuse_other_types((first.name, one), (file.name, other))


def _needed(schema: Any, names: ColumnRoles) -> Any:
    """The columns of a schema that a fit reads."""
    return pa.schema([schema.field(name) for name in names.needed(schema.names)])


def batches_of_files(files: list[ParquetFile], n_rows: int, names: ColumnRoles | None) -> Iterator[Any]:
    """The rows of files, as record batches of at most so many rows."""
    for schema, group in groupby(files, lambda file: file.schema):
        fragments = [file.fragment for file in group]
        yield from batches_of(ds.FileSystemDataset(fragments, schema, fragments[0].format), n_rows, names)


def batches_of(dataset: Any, n_rows: int, names: ColumnRoles | None) -> Iterator[Any]:
    """The rows of a data set in batches, of all columns or of those that a fit reads.

    Little is read ahead, since a whole row group is in memory anyway.
    """
    columns = None if names is None else names.needed(dataset.schema.names)
    return iter(dataset.to_batches(columns=columns, batch_size=n_rows, batch_readahead=0, fragment_readahead=1))


def _files(text: str) -> list[_Location]:
    """The Parquet files of a path or pattern."""
    location = _location(text)
    kind = location.filesystem.get_file_info(location.path).type
    if kind == fs.FileType.File:
        return [location]
    if kind == fs.FileType.Directory:
        files = [_Location(location.filesystem, path) for path in _files_below(location)]
        if not files:
            raise ValueError(f"The folder {text!r} has no Parquet file in it.")
        return files
    # A pattern may begin with a root, which Path.glob refuses.
    matches = sorted(glob.glob(location.path, recursive=True)) if glob.has_magic(text) else []  # noqa: PTH207
    if not matches:
        raise FileNotFoundError(f"There is no file or folder {text!r}: give the path of a Parquet file or folder.")
    readable = [match for match in matches if Path(match).is_dir() or _is_parquet(_location(match))]
    if not readable:
        raise ValueError(f"Nothing that matches {text!r} is a Parquet file or a folder of them.")
    return [file for match in readable for file in _files(match)]


def _location(text: str) -> _Location:
    if "://" in text:
        return _Location(*fs.FileSystem.from_uri(text))
    return _Location(fs.LocalFileSystem(), Path(text).expanduser().absolute().as_posix())


def _files_below(folder: _Location) -> list[str]:
    """The Parquet files in a folder and its subfolders; names that begin with a dot or an underscore are skipped."""
    paths = []
    for info in folder.filesystem.get_file_info(fs.FileSelector(folder.path, recursive=True)):
        hidden = any(part[0] in "._" for part in posixpath.relpath(info.path, folder.path).split("/"))
        if info.is_file and not hidden and _is_parquet(_Location(folder.filesystem, info.path)):
            paths.append(info.path)
    return sorted(paths)


def _is_parquet(location: _Location) -> bool:
    """Whether a file has the suffix or the first bytes of Parquet; reading a damaged file raises an error later."""
    if location.path.lower().endswith(_SUFFIXES):
        return True
    with location.filesystem.open_input_file(location.path) as file:
        return bool(file.read(len(_MAGIC)) == _MAGIC)


def _base(texts: list[str]) -> str:
    """The folder below which the names of folders add columns: the given folder, or the common one of all paths."""
    paths = []
    for text in texts:
        location = _location(text)
        kind = location.filesystem.get_file_info(location.path).type
        path = location.path
        while kind == fs.FileType.NotFound and glob.has_magic(path):
            path = posixpath.dirname(path)
        paths.append(posixpath.dirname(path) if kind == fs.FileType.File else path)
    return posixpath.commonpath(paths)


def _folder_columns(path: str, base: str) -> dict[str, str | None]:
    """The columns in the names of a file's folders, such as ``city=Bonn``, which Hive and Spark write."""
    parts = posixpath.relpath(posixpath.dirname(path), base).split("/")
    pairs = (part.split("=", 1) for part in parts if "=" in part)
    return {unquote(name): None if value == _HIVE_MISSING else unquote(value) for name, value in pairs}


def _infer_types(columns: list[dict[str, str | None]]) -> list[dict[str, Any]]:
    """Arrow values: integers if all values of a column are such, otherwise text."""
    values: dict[str, set[str]] = {}
    for file in columns:
        for name, value in file.items():
            values.setdefault(name, set()).update(() if value is None else (value,))
    numbers = {name for name, texts in values.items() if all(re.fullmatch(r"-?\d{1,18}", text) for text in texts)}
    return [
        {
            name: pa.scalar(None if value is None else int(value), pa.int64())
            if name in numbers
            else pa.scalar(value, pa.string())
            for name, value in file.items()
        }
        for file in columns
    ]


def _parquet_file(location: _Location, folders: dict[str, Any]) -> ParquetFile:
    fragment = ds.ParquetFileFormat().make_fragment(location.path, location.filesystem)
    new = {name: value for name, value in folders.items() if name not in fragment.physical_schema.names}
    if not new:
        return ParquetFile(fragment, {})
    condition = ds.scalar(True)
    for name, value in new.items():
        condition &= ds.field(name) == value if value.is_valid else ds.field(name).is_null()
    return ParquetFile(ds.ParquetFileFormat().make_fragment(location.path, location.filesystem, condition), new)


def _refuse_other_columns(first: tuple[str, Any], other: tuple[str, Any]) -> None:
    """Compare the names of the columns of two files, each given by its name and its schema."""
    for (one, has), (two, lacks) in ((first, other), (other, first)):
        absent = [name for name in has.names if name not in lacks.names]
        if absent:
            raise ValueError(
                f"The file {two} has no column {absent[0]!r}, which {one} has: give all files the same columns."
            )


def _refuse_other_types(first: tuple[str, Any], other: tuple[str, Any]) -> None:
    for field in first[1]:
        one, two = _content(field.type), _content(other[1].field(field.name).type)
        if one is not None and two is not None and one != two:
            raise ValueError(
                f"Column {field.name!r} holds {one} in the file {first[0]} and {two} in {other[0]}: give it the same "
                "type in all files."
            )


def _content(dtype: Any) -> str | None:
    """Whether a column holds numbers or text; None for other types, which are checked when the rows are read."""
    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
    if pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        return "text"
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return "numbers" if any(check(dtype) for check in checks) else None
