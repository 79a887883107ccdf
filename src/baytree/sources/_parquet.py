"""Parquet files: which ones a source means, whether they fit together, and their rows batch by batch.

Every file is read with its own types, as a frame of a function would be. A data set of Arrow would cast them to those
of the first file, and leave out or make up columns.
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

_ENDINGS = (".parquet", ".parq", ".pq")
_MARK = b"PAR1"  # what a Parquet file begins with, whatever its name
_HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"


class _Place(NamedTuple):
    """Where a file is."""

    filesystem: Any
    path: str


@dataclass(frozen=True)
class ParquetFile:
    """A file, and what its folders tell of its rows."""

    fragment: Any
    folders: dict[str, Any]  # Arrow values, of columns that the file itself does not have

    @property
    def name(self) -> str:
        """For an error."""
        return repr(posixpath.basename(self.fragment.path))

    @property
    def schema(self) -> Any:
        """From the footer of the file; then the columns of its folders."""
        own = self.fragment.physical_schema.remove_metadata()
        for name, value in self.folders.items():
            own = own.append(pa.field(name, value.type))
        return own

    @property
    def has_rows(self) -> bool:
        """From the footer, too."""
        return bool(self.fragment.metadata.num_rows)


def parquet_files(source: Any) -> list[ParquetFile]:
    """The files of a path, a pattern of paths, or a list of these; those of a folder in the order of their names."""
    texts = [os.fspath(own) for own in (source if isinstance(source, (list, tuple)) else [source])]
    if not texts:
        raise ValueError("source is an empty list: give the path of at least one Parquet file.")
    found = [own for text in texts for own in _files(text)]
    base = _base(texts)
    folders = _typed([_folders(place.path, base) for place in found])
    return [_parquet_file(place, own) for place, own in zip(found, folders, strict=True)]


def refuse_differences(files: list[ParquetFile]) -> None:
    """Refuse files whose columns are not the same; those without rows say nothing, and nothing but footers is read."""
    first = None
    for file in files:
        if not file.has_rows:
            continue
        names = file.schema.names
        twice = [name for name in names if names.count(name) > 1] if len(set(names)) < len(names) else []
        if twice:
            raise ValueError(
                f"The file {file.name} has {names.count(twice[0])} columns of the name {twice[0]!r}: names must be "
                "unique."
            )
        first = first or file
        if not file.schema.equals(first.schema):
            _refuse_other_columns(first, file)
            _refuse_other_types(first, file)


def batches_of_files(files: list[ParquetFile], n_rows: int) -> Iterator[Any]:
    """The rows of files, as record batches of at most so many rows."""
    for _, alike in groupby(files, lambda file: file.schema):
        some = list(alike)
        fragments = [file.fragment for file in some]
        yield from batches_of(ds.FileSystemDataset(fragments, some[0].schema, fragments[0].format), n_rows)


def batches_of(dataset: Any, n_rows: int) -> Iterator[Any]:
    """The rows of a data set; little is read ahead: a group of rows is in memory anyway."""
    return iter(dataset.to_batches(batch_size=n_rows, batch_readahead=0, fragment_readahead=1))


def _files(text: str) -> list[_Place]:
    """The Parquet files that a path stands for."""
    place = _place(text)
    kind = place.filesystem.get_file_info(place.path).type
    if kind == fs.FileType.File:
        return [place]
    if kind == fs.FileType.Directory:
        found = [_Place(place.filesystem, path) for path in _below(place)]
        if not found:
            raise ValueError(f"The folder {text!r} has no Parquet file in it.")
        return found
    # A pattern may begin with a root, which Path.glob refuses.
    matches = sorted(glob.glob(place.path, recursive=True)) if glob.has_magic(text) else []  # noqa: PTH207
    if not matches:
        raise FileNotFoundError(f"There is no file or folder {text!r}: give the path of a Parquet file or folder.")
    meant = [match for match in matches if _is_meant(match)]
    if not meant:
        raise ValueError(f"Nothing that matches {text!r} is a Parquet file or a folder of them.")
    return [own for match in meant for own in _files(match)]


def _is_meant(match: str) -> bool:
    """Whether what matches a pattern is a folder, or a Parquet file."""
    return Path(match).is_dir() or _is_parquet(_place(match))


def _place(text: str) -> _Place:
    if "://" in text:
        return _Place(*fs.FileSystem.from_uri(text))
    return _Place(fs.LocalFileSystem(), Path(text).expanduser().absolute().as_posix())


def _below(folder: _Place) -> list[str]:
    """The Parquet files in a folder and those below it; names that begin with a dot or a line are not meant."""
    found = []
    for info in folder.filesystem.get_file_info(fs.FileSelector(folder.path, recursive=True)):
        hidden = any(part[0] in "._" for part in posixpath.relpath(info.path, folder.path).split("/"))
        if info.is_file and not hidden and _is_parquet(_Place(folder.filesystem, info.path)):
            found.append(info.path)
    return sorted(found)


def _is_parquet(place: _Place) -> bool:
    """By its name, or else by how it begins: a damaged file of the right name is refused, not left out."""
    if place.path.lower().endswith(_ENDINGS):
        return True
    with place.filesystem.open_input_file(place.path) as file:
        return bool(file.read(len(_MARK)) == _MARK)


def _base(texts: list[str]) -> str:
    """The folder below which the names of folders tell of rows: the one that is given, or that all have in common."""
    paths = []
    for text in texts:
        place = _place(text)
        kind = place.filesystem.get_file_info(place.path).type
        path = place.path
        while kind == fs.FileType.NotFound and glob.has_magic(path):
            path = posixpath.dirname(path)
        paths.append(posixpath.dirname(path) if kind == fs.FileType.File else path)
    return posixpath.commonpath(paths)


def _folders(path: str, base: str) -> dict[str, str | None]:
    """What the folders of a file tell of its rows: ``city=Bonn``, as Hive and Spark write it."""
    parts = posixpath.relpath(posixpath.dirname(path), base).split("/")
    pairs = (part.split("=", 1) for part in parts if "=" in part)
    return {unquote(name): None if value == _HIVE_MISSING else unquote(value) for name, value in pairs}


def _typed(folders: list[dict[str, str | None]]) -> list[dict[str, Any]]:
    """Whole numbers where all values of a name are such, else text."""
    values: dict[str, set[str]] = {}
    for own in folders:
        for name, value in own.items():
            values.setdefault(name, set()).update(() if value is None else (value,))
    numbers = {name for name, own in values.items() if all(re.fullmatch(r"-?\d{1,18}", value) for value in own)}
    return [
        {
            name: pa.scalar(None if value is None else int(value), pa.int64())
            if name in numbers
            else pa.scalar(value, pa.string())
            for name, value in own.items()
        }
        for own in folders
    ]


def _parquet_file(place: _Place, folders: dict[str, Any]) -> ParquetFile:
    fragment = ds.ParquetFileFormat().make_fragment(place.path, place.filesystem)
    new = {name: value for name, value in folders.items() if name not in fragment.physical_schema.names}
    if not new:
        return ParquetFile(fragment, {})
    told = ds.scalar(True)
    for name, value in new.items():
        told &= ds.field(name) == value if value.is_valid else ds.field(name).is_null()
    return ParquetFile(ds.ParquetFileFormat().make_fragment(place.path, place.filesystem, told), new)


def _refuse_other_columns(first: ParquetFile, other: ParquetFile) -> None:
    for one, two in ((first, other), (other, first)):
        known = set(two.schema.names)
        lacking = [name for name in one.schema.names if name not in known]
        if lacking:
            raise ValueError(
                f"The file {two.name} has no column {lacking[0]!r}, which {one.name} has: give all files the same "
                "columns."
            )


def _refuse_other_types(first: ParquetFile, other: ParquetFile) -> None:
    for field in first.schema:
        one, two = _holds(field.type), _holds(other.schema.field(field.name).type)
        if one is not None and two is not None and one != two:
            raise ValueError(
                f"Column {field.name!r} holds {one} in the file {first.name} and {two} in {other.name}: give it the "
                "same type in all files."
            )


def _holds(dtype: Any) -> str | None:
    """Numbers or text; None: something else, which is for those to judge who read the rows."""
    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
    if pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        return "text"
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return "numbers" if any(is_such(dtype) for is_such in numbers) else None
