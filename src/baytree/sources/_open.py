"""Opening a source: a frame, a path, a function, a Dask collection or a database table becomes rows of a fit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from typing import Any

from .._progress import Progress
from .._typing import AnyArray
from ..table import is_frame
from ._batches import BATCH_ROWS, Batches
from ._column_specs import TableSpec
from ._part_source import PartSource
from ._parts import ColumnRoles
from ._source import RemoteSource


class SourceKind(Enum):
    """The kinds of sources."""

    FRAME = auto()
    FUNCTION = auto()
    DATASET = auto()
    DASK = auto()
    DASK_ARRAY = auto()
    IBIS = auto()
    SPARK = auto()


def kind_of(source: Any) -> SourceKind:
    """The kind of a source; it is recognised without importing its package."""
    package = type(source).__module__.partition(".")[0]
    if package in ("dask", "dask_expr"):
        return SourceKind.DASK if is_frame(source) else SourceKind.DASK_ARRAY
    if package == "ibis" and is_frame(source):
        return SourceKind.IBIS
    if package == "pyspark" and hasattr(source, "mapInArrow"):
        return SourceKind.SPARK
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
        "iterator of frames, a Dask data frame or array, a Spark data frame, or an Ibis table; got "
        f"{type(source).__name__}."
    )


def is_path(source: Any) -> bool:
    """Whether something is a path, or a list of paths."""
    if isinstance(source, (list, tuple)):
        return all(isinstance(path, (str, os.PathLike)) for path in source)
    return isinstance(source, (str, os.PathLike))


def open_source(
    source: Any, targets: dict[str, Any], specs: TableSpec, *, cache: bool, progress: Progress | None = None
) -> RemoteSource:
    """Open a source for a fit; `targets` has the target, weight, exposure and event of its rows."""
    kind = kind_of(source)
    if kind is SourceKind.DASK_ARRAY:
        from ._dask import parts_of_array  # noqa: PLC0415

        return RemoteSource(PartSource(parts_of_array(source, **targets), specs), progress)
    for name, column in targets.items():
        if not isinstance(column, str) and (column is not None or name == "target"):
            raise TypeError(f"{name} must be the name of a column; got {type(column).__name__}.")
    names = ColumnRoles(**targets)
    if kind is SourceKind.IBIS:
        from ._sql import SqlSource  # noqa: PLC0415

        return RemoteSource(SqlSource(source, names, specs), progress)
    if kind is SourceKind.DASK:
        from ._dask import parts_of_frame  # noqa: PLC0415

        return RemoteSource(PartSource(parts_of_frame(source, names), specs), progress)
    if kind is SourceKind.SPARK:
        from ._spark import parts_of_spark  # noqa: PLC0415

        return RemoteSource(PartSource(parts_of_spark(source, names), specs), progress)
    if kind is SourceKind.FRAME:
        return RemoteSource(
            PartSource(Batches(lambda: [source], names, cache=False, progress=progress), specs), progress
        )
    read = source if kind is SourceKind.FUNCTION else read_dataset(source)
    return RemoteSource(PartSource(Batches(read, names, cache=cache, progress=progress), specs), progress)


def read_dataset(source: Any, *, alike: bool = True) -> Callable[[], Iterable[Any]]:
    """A function that reads Parquet paths or an Arrow data set in batches; `alike` first compares the files."""
    try:
        import pyarrow as pa  # noqa: PLC0415

        from ._parquet import batches_of, batches_of_files, parquet_files, refuse_differences  # noqa: PLC0415
    except ImportError:
        raise ImportError("Parquet and Arrow data sets need pyarrow: pip install 'baytree[engines]'.") from None
    files = parquet_files(source) if is_path(source) else None

    def batches() -> Iterator[Any]:
        if files is not None and alike:
            refuse_differences(files)
        for batch in batches_of(source, BATCH_ROWS) if files is None else batches_of_files(files, BATCH_ROWS):
            yield pa.Table.from_batches([batch])
        pa.default_memory_pool().release_unused()

    return batches


def predict_dask_array(work: Callable[[Any], Any], X: Any) -> Any:
    """Apply a function to each block of rows of a Dask array; the result is a Dask data frame."""
    from ._dask import predict_array  # noqa: PLC0415

    return predict_array(work, X)


def predict_spark(work: Callable[[Any], Any], source: Any, new: dict[str, AnyArray]) -> Any:
    """Apply a function to the rows of a Spark data frame, which adds columns of the types of these arrays."""
    from ._spark import predict_rows  # noqa: PLC0415

    return predict_rows(work, source, new)
