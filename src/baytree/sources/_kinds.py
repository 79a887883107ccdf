"""What kind of source something is, without importing what it may come from."""

from __future__ import annotations

import os
from enum import Enum, auto
from typing import Any

from ..table import is_frame


class SourceKind(Enum):
    """Where rows can live."""

    FRAME = auto()
    FUNCTION = auto()
    DATASET = auto()
    DASK = auto()
    DASK_ARRAY = auto()
    IBIS = auto()


def kind_of(source: Any) -> SourceKind:
    """Tell what was given."""
    package = type(source).__module__.partition(".")[0]
    if package in ("dask", "dask_expr"):
        return SourceKind.DASK if is_frame(source) else SourceKind.DASK_ARRAY
    if package == "ibis" and is_frame(source):
        return SourceKind.IBIS
    if package in ("_duckdb", "duckdb"):
        raise TypeError(
            f"source is a {type(source).__name__} of DuckDB itself: give an Ibis table, as in "
            "ibis.duckdb.from_connection(connection).table('rows')."
        )
    if is_path(source) or type(source).__module__.startswith("pyarrow._dataset"):
        return SourceKind.DATASET
    if is_frame(source):
        return SourceKind.FRAME
    if callable(source) and package != "ibis":
        return SourceKind.FUNCTION
    raise TypeError(
        "source must be a data frame, a Parquet path or a list of them, a pyarrow data set, a function that returns an "
        f"iterator of frames, a Dask data frame or array, or an Ibis table; got {type(source).__name__}."
    )


def is_path(source: Any) -> bool:
    """Whether something is a path, or a list of paths."""
    if isinstance(source, (list, tuple)):
        return all(isinstance(own, (str, os.PathLike)) for own in source)
    return isinstance(source, (str, os.PathLike))
