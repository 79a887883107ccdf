"""What `fit` was given, checked and read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .. import _core
from .._typing import AnyArray
from ..growth import Growth, encode_rows
from ..outcomes import Target
from ..table import Rows, Schema


@dataclass(frozen=True)
class TrainingData:
    """Rows with their targets."""

    rows: Rows
    schema: Schema
    target: Target
    classes: AnyArray | None

    def take(self, chosen: AnyArray) -> TrainingData:
        """Some of the rows."""
        return replace(self, rows=Rows(self.rows.matrix[chosen]), target=self.target.take(chosen))

    def encoded(self, growth: Growth) -> _core.Columns:
        """The columns as the compiled core reads them."""
        return encode_rows(self.rows, self.schema.is_nominal, growth)
