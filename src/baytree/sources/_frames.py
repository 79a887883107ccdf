"""Frames that a user hands over, one or many: what cannot be read is refused in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals as nw

from ..table import check_frame, is_frame


def eager(frame: Any) -> nw.DataFrame[Any]:
    """A frame of any library, whose rows are there."""
    if type(frame).__name__ == "RecordBatch":
        frame = _table_of_batch(frame)
    name = type(frame).__name__
    if not is_frame(frame):
        raise TypeError(f"Batches must be data frames of pandas, polars or pyarrow; got {name}.")
    check_frame(frame)
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"A {name} is no data frame of pandas, polars or pyarrow: convert it to one, or give an Ibis table."
        ) from None


def frames_of(returned: Any) -> Iterable[Any]:
    """What a function returned, which must be an iterator of frames."""
    if is_frame(returned):
        raise TypeError(
            f"The function returned one {type(returned).__name__}: it must return an iterator of frames, such as "
            "iter([frame])."
        )
    if not isinstance(returned, Iterable):
        raise TypeError(f"The function must return an iterator of frames; got {type(returned).__name__}.")
    return returned


def _table_of_batch(batch: Any) -> Any:
    """A record batch of pyarrow as a table."""
    import pyarrow as pa  # noqa: PLC0415

    return pa.Table.from_batches([batch])
