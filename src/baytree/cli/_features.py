"""The columns of a model out of any table: text is read as what the model expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..fitted import Fitted
from ..table import Kind, nearest_name
from ._columns import is_text


@dataclass(frozen=True)
class Features:
    """Reads the table of a model; values of text files are missing where they are one of `missing`."""

    fitted: Fitted
    missing: tuple[str, ...]
    decimal: str = "."

    def check(self, names: list[str], path: str) -> None:
        """Refuse a table that lacks a column which the model uses."""
        schema = self.fitted.schema
        if schema.names is None:
            if len(names) != schema.n_features:
                raise ValueError(
                    f"The model was fitted without column names and takes {schema.n_features} columns in order, but "
                    f"{path!r} has {len(names)}."
                )
            return
        lacking = [schema.names[i] for i in self.fitted.used_features if schema.names[i] not in names]
        if lacking:
            more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
            raise ValueError(
                f"{path!r} has no column {lacking[0]!r}{more}, which the model uses: {nearest_name(lacking[0], names)}"
            )

    def read(self, table: pa.Table, first_row: int = 1) -> pa.Table:
        """The model's columns in its order; those that it does not use need not be there."""
        schema = self.fitted.schema
        names = schema.names or tuple(table.column_names)
        used = set(self.fitted.used_features.tolist())
        found: dict[str, Any] = {}
        for i, name in enumerate(names):
            is_category = schema.columns[i].categories is not None
            if name in table.column_names:
                found[name] = self._column(name, table[name], i, first_row, strict=i in used)
            else:
                found[name] = pa.nulls(table.num_rows, pa.string() if is_category else pa.float64())
        if schema.names is None:
            return np.column_stack([np.asarray(pc.cast(column, pa.float64())) for column in found.values()])
        return pa.table(found)

    def _column(self, name: str, column: Any, position: int, first_row: int, *, strict: bool) -> Any:
        known = self.fitted.schema.columns[position]
        has_names = known.categories is not None and known.categories.dtype.kind not in "iuf"
        if not is_text(column.type):
            if has_names and pa.types.is_integer(column.type):
                return pc.cast(column, pa.string())  # categories that are written like numbers
            return pc.cast(column, pa.float64()) if pa.types.is_decimal(column.type) else column
        text = pc.if_else(pc.is_in(column, pa.array(self.missing)), pa.scalar(None, pa.string()), column)
        if has_names:
            return text
        trimmed = pc.utf8_trim_whitespace(text)
        if self.decimal != ".":
            trimmed = pc.replace_substring(trimmed, self.decimal, ".")
        kind = pa.bool_() if known.kind is Kind.TRUTH else pa.float64()
        try:
            return pc.cast(trimmed, kind)
        except pa.ArrowInvalid:
            if not strict:
                return pa.nulls(len(column), kind)
            raise self._misfit(name, trimmed, kind, first_row) from None

    @staticmethod
    def _misfit(name: str, text: Any, kind: pa.DataType, first_row: int) -> ValueError:
        """What to say of the first value that is not what the model expects."""
        row, value = 0, ""
        for row, value in enumerate(text.to_pylist()):  # noqa: B007 - the last one is told
            try:
                pc.cast(pa.array([value], pa.string()), kind)
            except pa.ArrowInvalid:
                break
        what = "a number" if pa.types.is_floating(kind) else "true or false"
        return ValueError(
            f"Row {first_row + row:,} has {value!r} in the column {name!r}, where the model expects {what}. If it "
            f"means missing: --missing {value!r}"
        )
