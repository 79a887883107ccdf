"""Opening a source: a frame, files, a function, a Dask or Spark frame or a database table becomes rows of a fit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, auto
from typing import Any

from .._progress import Progress
from .._typing import AnyArray
from ..table import Kind, is_frame
from ._batches import BATCH_ROWS, Batches
from ._column_specs import TableSpec
from ._part_source import PartSource
from ._roles import ColumnRoles
from ._source import RemoteSource
from ._streams import read_lazy_frame, read_relation, read_scanner


class SourceKind(Enum):
    """The kinds of sources."""

    FRAME = auto()
    FUNCTION = auto()
    FILES = auto()
    DATASET = auto()
    SCANNER = auto()
    LAZY_FRAME = auto()
    RELATION = auto()
    DASK = auto()
    DASK_ARRAY = auto()
    IBIS = auto()
    SPARK = auto()


# Sources of which only the columns are read that a fit needs.
_SELECTING = {SourceKind.FILES, SourceKind.DATASET, SourceKind.LAZY_FRAME, SourceKind.RELATION}
# What to pass instead of something that is no source.
_INSTEAD = {
    "RDD": "give the data frame itself, or rdd.toDF()",
    "Connection": "give a table of it, as in ibis.duckdb.connect('file.db').table('rows')",
    "DuckDBPyConnection": "give a table of it, as in connection.table('rows')",
    "Series": "give the frame that it is a column of, and its name as target",
    "Bag": "give a Dask data frame, as bag.to_dataframe() makes one",
    "RecordBatchReader": "it can be read once only: give a pyarrow data set, or a function that returns a new reader",
    "ndarray": "call model.fit(X, y) with it",
    "dict": "make a data frame of it, as in pandas.DataFrame(...)",
    "Bunch": "give its frame",
}


def kind_of(source: Any) -> SourceKind:
    """The kind of a source; it is recognised without importing its package."""
    kind = _kind_elsewhere(source)
    if kind is not None:
        return kind
    name = type(source).__name__
    if name in _INSTEAD or (type(source).__module__.startswith("pyspark.pandas") and is_frame(source)):
        raise TypeError(f"{name} is no source: {_INSTEAD.get(name, 'give source.to_spark()')}.")
    if isinstance(source, (list, tuple)) and all(map(is_path, source)):
        return SourceKind.FILES
    if is_frame(source):
        return SourceKind.FRAME
    if isinstance(source, Iterator):
        raise TypeError(
            f"source can be read only once ({name}): give a function that returns a new iterator of frames whenever it "
            "is called."
        )
    if callable(source) and not type(source).__module__.startswith("ibis."):  # whose placeholders can be called
        return SourceKind.FUNCTION
    raise TypeError(
        "source must be a data frame, a path of Parquet or CSV files or a list of them, a pyarrow data set or scanner, "
        "a function that returns an iterator of frames, a LazyFrame of polars, a Dask data frame or array, a Spark "
        f"data frame, an Ibis table, or a relation of DuckDB; got {name}."
    )


def is_elsewhere(source: Any) -> bool:
    """Whether something is a source whose rows are not in memory, and nothing that scikit-learn would know."""
    return _kind_elsewhere(source) is not None


def _kind_elsewhere(source: Any) -> SourceKind | None:
    module, name = type(source).__module__, type(source).__name__
    package = module.partition(".")[0]
    kind = None
    if is_path(source):
        kind = SourceKind.FILES
    elif package in ("dask", "dask_expr") and hasattr(source, "to_delayed") and hasattr(source, "shape"):
        kind = SourceKind.DASK if is_frame(source) else SourceKind.DASK_ARRAY
    elif package == "ibis" and is_frame(source):
        kind = SourceKind.IBIS
    elif package == "pyspark" and hasattr(source, "mapInArrow"):
        kind = SourceKind.SPARK
    elif name == "DuckDBPyRelation":
        kind = SourceKind.RELATION
    elif package == "polars" and name == "LazyFrame":
        kind = SourceKind.LAZY_FRAME
    elif module.startswith("pyarrow._dataset"):
        kind = SourceKind.SCANNER if name == "Scanner" else SourceKind.DATASET
    return kind


def is_path(source: Any) -> bool:
    """Whether something is a path."""
    return isinstance(source, (str, os.PathLike))


def open_source(
    source: Any,
    targets: dict[str, Any],
    specs: TableSpec,
    *,
    features: Any = None,
    drop: Any = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> RemoteSource:
    """Open a source for a fit; `targets` has the target, weight, exposure and event of its rows."""
    kind = kind_of(source)
    if kind is SourceKind.DASK_ARRAY:
        from ._dask import parts_of_array  # noqa: PLC0415

        if features is not None or drop is not None:
            raise ValueError(
                "features and drop are names, which the columns of a Dask array have not: give the array of the "
                "features, as in X[:, [0, 2]]."
            )
        return RemoteSource(PartSource(parts_of_array(source, **targets), specs), progress)
    names = ColumnRoles.read(targets, features, drop)
    if kind is SourceKind.IBIS:
        from ._sql import SqlSource, spark_frame_of  # noqa: PLC0415

        frame = spark_frame_of(source)
        if frame is not None:
            return open_source(frame, targets, specs, features=features, drop=drop, progress=progress)
        return RemoteSource(SqlSource(source, names, specs), progress)
    if kind is SourceKind.DASK:
        from ._dask import parts_of_frame  # noqa: PLC0415

        return RemoteSource(PartSource(parts_of_frame(source, names), specs), progress)
    if kind is SourceKind.SPARK:
        from ._spark import parts_of_spark  # noqa: PLC0415

        return RemoteSource(PartSource(parts_of_spark(source, names), specs), progress)
    cache = cache and kind is not SourceKind.FRAME
    read = read_batches(source, kind, names, specs.kinds)
    names = names.without_drop() if kind in _SELECTING else names
    return RemoteSource(PartSource(Batches(read, names, cache=cache, progress=progress), specs), progress)


def read_batches(
    source: Any, kind: SourceKind, names: ColumnRoles | None = None, kinds: Mapping[Any, Kind] | None = None
) -> Callable[[], Iterable[Any]]:
    """A function that reads a source in batches, all columns, or those that a fit with these names reads."""
    if kind is SourceKind.FRAME:
        return lambda: [source]
    if kind is SourceKind.FUNCTION:
        read: Callable[[], Iterable[Any]] = source
        return read
    if kind is SourceKind.LAZY_FRAME:
        return read_lazy_frame(source, names, BATCH_ROWS)
    if kind is SourceKind.RELATION:
        return read_relation(source, names, BATCH_ROWS)
    if kind is SourceKind.SCANNER:
        return read_scanner(source)
    return _read_arrow(source, kind, names, {} if kinds is None else kinds)


def _read_arrow(
    source: Any, kind: SourceKind, names: ColumnRoles | None, kinds: Mapping[Any, Kind]
) -> Callable[[], Iterable[Any]]:
    """A function that reads Parquet or CSV files or an Arrow data set in batches; a fit first compares the files."""
    try:
        import pyarrow as pa  # noqa: PLC0415

        from ._csv import batches_of_csv, csv_files, is_csv  # noqa: PLC0415
        from ._parquet import batches_of, batches_of_files, parquet_files, refuse_differences  # noqa: PLC0415
    except ImportError:
        raise ImportError("Files and Arrow data sets need pyarrow: pip install 'baytree[engines]'.") from None
    if kind is SourceKind.FILES and is_csv(source):
        tables = csv_files(source)
        return lambda: batches_of_csv(tables, names, kinds)
    files = parquet_files(source) if kind is SourceKind.FILES else None
    if files is None and names is not None:
        names.check(source.schema.names)

    def batches() -> Iterator[Any]:
        if files is not None and names is not None:
            refuse_differences(files, names)
        read = batches_of(source, BATCH_ROWS, names) if files is None else batches_of_files(files, BATCH_ROWS, names)
        for batch in read:
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
