"""Spark: functions are sent to the partitions, and their results are merged there in stages, 16 at a time.

A result is a row that holds a pickled object, so all of it are plain data frames, of Spark's classic interface or of
Spark Connect. This machine receives one result of each pass.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql.functions import spark_partition_id
from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

from .._typing import AnyArray
from ..growth import EncodedRows, KeyedParts, KeyedRows, join_rows, split_by_hash, with_keys
from ..table import check_unique
from ._part_source import EncodedParts
from ._part_sums import PartSums
from ._parts import EncodedPart, Part, split_frame
from ._roles import ColumnRoles
from ._source import require

T = TypeVar("T")
_ITEM = "item binary"  # the schema of results
_AT_ONCE = 16  # results that a task merges
_TABLE_PARTITIONS = 64  # of a table whose partitions nobody has counted
_FIRST_ROWS = 10_000
_BLOCK_ROWS = 2**16
_TYPES = {  # of predictions, by the kind of their NumPy type
    "b": (BooleanType, pa.bool_()),
    "f": (DoubleType, pa.float64()),
    "i": (LongType, pa.int64()),
    "u": (LongType, pa.int64()),
    "O": (StringType, pa.string()),
    "U": (StringType, pa.string()),
}
_BUCKET_PARTITIONS = 32  # at most: each partition sends a piece to each of them


@dataclass(frozen=True)
class SparkParts:
    """The partitions of a Spark data frame, each of which is read in blocks of rows."""

    frame: Any  # with plain names
    columns: list[str]  # the names of the user
    names: ColumnRoles

    def first(self, work: Callable[[Part], T]) -> T:
        """Apply a function to the first rows."""
        result = _reduce(self.frame.limit(_FIRST_ROWS), 1, self._read, work, _first_of)
        if result is None:
            raise ValueError("The table has no rows.")
        return result

    def reduce(self, work: Callable[[Part], T | None], merge: Callable[[T, T], T]) -> T | None:
        """Apply a function to all blocks of rows and merge the results."""
        return _reduce(self.frame, _TABLE_PARTITIONS, self._read, work, merge)

    def encode(self, work: Callable[[Part], EncodedPart]) -> EncodedParts:
        """Encode the blocks, and keep them on the executors."""
        return SparkEncoded(_items(self.frame, partial(_map, read=self._read, work=work)).persist())

    @property
    def _read(self) -> Callable[[Any], Iterator[Part]]:
        return partial(_read_parts, columns=self.columns, names=self.names)


def parts_of_spark(frame: Any, names: ColumnRoles) -> SparkParts:
    """The partitions of a Spark data frame."""
    check_unique(frame.columns)
    names.check(frame.columns)
    plain, needed = _plain(frame), names.needed(frame.columns)
    chosen = [column for column, name in zip(plain.columns, frame.columns, strict=True) if name in needed]
    return SparkParts(plain.select(*chosen), needed, names.without_drop())


def predict_rows(work: Callable[[Any], Any], frame: Any, new: dict[str, AnyArray]) -> Any:
    """Apply a function to Arrow tables of rows, lazily; it replaces or adds columns of the types of these arrays."""
    check_unique(frame.columns)
    fields = {field.name: field for field in frame.schema.fields}
    types = {name: _TYPES[values.dtype.kind] for name, values in new.items()}
    fields |= {name: StructField(name, spark_type()) for name, (spark_type, _) in types.items()}
    arrow_types = {name: arrow_type for name, (_, arrow_type) in types.items()}
    function = partial(_map_tables, columns=frame.columns, work=work, types=arrow_types)
    return _plain(frame).mapInArrow(function, StructType(list(fields.values())))


class SparkEncoded:
    """Encoded rows that Spark keeps in the memory of its executors, or on their disks."""

    def __init__(self, items: Any) -> None:
        self._items = items
        # Counting the partitions encodes them; a pass over the table itself would be one more.
        self._n_partitions = items.select(spark_partition_id()).distinct().count()

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to all parts and merge the results."""
        result = _reduce(self._items, self._n_partitions, _read_items, work, merge)
        if result is None:
            raise ValueError("The table has no rows.")
        return result

    def map(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """Apply a function to the parts, where they are."""
        mapped = SparkEncoded(_items(self._items, partial(_map, read=_read_items, work=work)).persist())
        self.close()
        return mapped

    def sums(self) -> PartSums | None:
        """The sums of the rows that were encoded."""
        return _reduce(self._items, self._n_partitions, _read_items, _sums_of, add)

    def rows_in_memory(self) -> EncodedRows | None:
        """None: the rows are on the executors."""
        return None

    def keyed(self) -> KeyedParts:
        """The rows with their keys: they move so that all that are equal are in one partition."""
        n = min(self._n_partitions, _BUCKET_PARTITIONS)
        pieces = self._items.mapInArrow(partial(_split, n=n), f"bucket int, {_ITEM}")
        return SparkKeyed(_items(pieces.repartition(n, "bucket"), _join).persist(), n)

    def close(self) -> None:
        """Release the memory of the executors."""
        self._items.unpersist()


@dataclass(frozen=True)
class SparkKeyed:
    """Encoded rows with their keys on the executors."""

    items: Any
    n_partitions: int

    def rows_in_memory(self) -> KeyedRows | None:
        """None: the rows are on the executors."""
        return None

    def reduce(self, work: Callable[[KeyedRows], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to all parts and merge the results."""
        return require(_reduce(self.items, self.n_partitions, _read_items, work, merge))

    def close(self) -> None:
        """Release the memory of the executors."""
        self.items.unpersist()


def _plain(frame: Any) -> Any:
    """A data frame with plain names, since PySpark reads a name such as ``a.b`` as an expression."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


def _items(frame: Any, function: Callable[[Any], Any]) -> Any:
    """The data frame of the results of a function of the batches of a partition."""
    return frame.mapInArrow(function, _ITEM)


def _reduce(
    frame: Any,
    n_partitions: int,
    read: Callable[[Any], Iterator[Any]],
    work: Callable[[Any], T | None],
    merge: Callable[[T, T], T],
) -> T | None:
    """Apply a function to all values of all partitions and merge the results in stages."""
    items = _items(frame, partial(_merge, read=read, work=work, merge=merge))
    while n_partitions > 1:
        n_partitions = -(-n_partitions // _AT_ONCE)
        items = _items(items.repartition(n_partitions), partial(_merge, read=_read_items, work=_same, merge=merge))
    results = [_value(row.item) for row in items.collect()]
    return results[0] if results else None


# What follows runs on the executors.


def _read_parts(batches: Iterable[pa.RecordBatch], columns: list[str], names: ColumnRoles) -> Iterator[Part]:
    """The rows of a partition, in blocks."""
    block: list[pa.RecordBatch] = []
    for batch in batches:
        block.append(batch)
        if sum(map(len, block)) >= _BLOCK_ROWS:
            yield split_frame(_table(block, columns), names)
            block = []
    if any(map(len, block)):
        yield split_frame(_table(block, columns), names)


def _table(batches: list[pa.RecordBatch], columns: list[str]) -> pa.Table:
    """The rows of some batches, under the names of their columns."""
    return pa.Table.from_batches(batches).rename_columns(columns)


def _read_items(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    """The values of the results in a partition."""
    for batch in batches:
        for item in batch.column("item"):
            yield _value(item.as_buffer())


def _merge(
    batches: Iterable[pa.RecordBatch],
    read: Callable[[Any], Iterator[Any]],
    work: Callable[[Any], T | None],
    merge: Callable[[T, T], T],
) -> Iterator[pa.RecordBatch]:
    """One result for all values of a partition; none for a partition without any."""
    result: T | None = None
    try:
        for value in read(batches):
            one = work(value)
            if one is not None:
                result = one if result is None else merge(result, one)
    except (TypeError, ValueError) as error:
        yield _item(error)
    else:
        if result is not None:
            yield _item(result)


def _map(
    batches: Iterable[pa.RecordBatch], read: Callable[[Any], Iterator[Any]], work: Callable[[Any], T]
) -> Iterator[pa.RecordBatch]:
    """A result for each value of a partition."""
    try:
        for value in read(batches):
            yield _item(work(value))
    except (TypeError, ValueError) as error:
        yield _item(error)


def _split(batches: Iterable[pa.RecordBatch], n: int) -> Iterator[pa.RecordBatch]:
    """The rows of a partition in pieces, with the number of the bucket of each."""
    for part in _read_items(batches):
        for bucket, piece in enumerate(split_by_hash(part, n)):
            yield _item(piece).add_column(0, "bucket", pa.array([bucket], pa.int32()))


def _join(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of the buckets of a partition, with their keys."""
    pieces = list(_read_items(batches))
    if pieces:
        yield _item(with_keys(join_rows(pieces)))


def _map_tables(
    batches: Iterable[pa.RecordBatch], columns: list[str], work: Callable[[Any], Any], types: dict[str, pa.DataType]
) -> Iterator[pa.RecordBatch]:
    """The batches of the tables that a function returns, some columns of which get these types."""
    for batch in batches:
        table = work(_table([batch], columns))
        for name, arrow_type in types.items():
            table = table.set_column(table.column_names.index(name), name, table[name].cast(arrow_type))
        yield from table.to_batches()


def _item(value: Any) -> pa.RecordBatch:
    """A result as a row; an error is one, too, and becomes an error again where it is read."""
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(value, protocol=5)], pa.binary())], ["item"])


def _value(item: Any) -> Any:
    value = pickle.loads(item)  # noqa: S301  which `_item` wrote
    if isinstance(value, Exception):
        raise value
    return value


def _same(value: T) -> T:
    return value


def _first_of(one: T, other: T) -> T:  # noqa: ARG001
    return one


def _sums_of(part: EncodedPart) -> PartSums | None:
    return part.sums
