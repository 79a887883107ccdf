"""What `fit` was given, checked and read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .. import _core
from .._typing import AnyArray
from ..growth import Growth, encode_rows, grow_tree
from ..outcomes import Outcome, Target
from ..table import Rows, Schema
from ..tree import Tree


@dataclass(frozen=True)
class TrainingData:
    """Rows with their targets."""

    rows: Rows
    schema: Schema
    target: Target
    classes: AnyArray | None
    counts: AnyArray | None = None  # which rows of the table that was given they are; None: all

    def take(self, chosen: AnyArray) -> TrainingData:
        """Some of the rows."""
        return replace(self, rows=Rows(self.rows.matrix[chosen]), target=self.target.take(chosen), counts=None)

    def encoded(self, growth: Growth) -> EncodedData:
        """The same with its columns as the compiled core reads them."""
        columns = encode_rows(self.rows, self.schema.is_nominal, growth)
        return EncodedData(self.rows, self.schema, self.target, self.classes, self.counts, columns=columns)


@dataclass(frozen=True)
class EncodedData(TrainingData):
    """Rows with their targets, ready to grow trees on."""

    columns: _core.Columns = field(kw_only=True)
    _last: dict[str, Any] = field(default_factory=dict, repr=False)

    def grow(self, outcome: Outcome, growth: Growth) -> Tree:
        """The tree of an outcome; the last one is kept, since a prior is tried before it is taken."""
        if self._last.get("outcome") is not outcome:
            self._last.update(outcome=outcome, tree=grow_tree(self.columns, self.target, outcome, growth))
        tree: Tree = self._last["tree"]
        return tree

    def take(self, chosen: AnyArray) -> TrainingData:
        """Some of the rows, to be encoded anew."""
        return TrainingData(self.rows, self.schema, self.target, self.classes).take(chosen)
