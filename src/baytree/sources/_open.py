"""From what a user gives to a source: a frame, a path, a function, a Dask collection, a table of a database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._batches import Batches, read_dataset
from ._column_specs import TableSpec
from ._kinds import SourceKind, kind_of
from ._part_source import PartSource
from ._parts import Names
from ._source import RemoteSource


def predict_dask_array(work: Callable[[Any], Any], X: Any) -> Any:
    """What some work makes of each block of rows of a Dask array, as a Dask data frame."""
    from ._dask import predict_array  # noqa: PLC0415

    return predict_array(work, X)


def open_source(source: Any, beside: dict[str, Any], specs: TableSpec, *, cache: bool) -> RemoteSource:
    """The rows that were given, as a source of a fit; `beside` has what belongs to the rows, by name."""
    kind = kind_of(source)
    if kind is SourceKind.DASK_ARRAY:
        from ._dask import parts_of_array  # noqa: PLC0415

        return RemoteSource(PartSource(parts_of_array(source, **beside), specs))
    for name, own in beside.items():
        if not isinstance(own, str) and (own is not None or name == "target"):
            raise TypeError(f"{name} must be the name of a column; got {type(own).__name__}.")
    names = Names(**beside)
    if kind is SourceKind.IBIS:
        from ._sql import SqlSource  # noqa: PLC0415

        return RemoteSource(SqlSource(source, names, specs))
    if kind is SourceKind.DASK:
        from ._dask import parts_of_frame  # noqa: PLC0415

        return RemoteSource(PartSource(parts_of_frame(source, names), specs))
    if kind is SourceKind.FRAME:
        return RemoteSource(PartSource(Batches(lambda: [source], names, cache=False), specs))
    read = source if kind is SourceKind.FUNCTION else read_dataset(source)
    return RemoteSource(PartSource(Batches(read, names, cache=cache), specs))
