"""The target of a table in a database: its range and classes, and checks of its values, weights and extras."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..outcomes import TargetRange
from ._roles import ColumnRoles
from ._sql_execution import fetch
from ._sql_fixed_point import as_number, is_missing, may_be_nan
from ._targets import TargetPlan


@dataclass(frozen=True)
class TargetQueries:
    """Queries of the target, weights and extras of a table."""

    table: Any
    names: ColumnRoles
    plan: TargetPlan

    @property
    def numbers(self) -> dict[str, str]:
        """The columns that must hold numbers, by their roles."""
        y = {} if self.plan.has_classes else {"y": self.names.target}
        weight = {} if self.names.weight is None else {"weight": self.names.weight}
        return y | weight | self.names.extras

    def counted_rows(self) -> Any:
        """The rows of positive weight; values that no row may have raise an error."""
        self._check_all_rows()
        return self.table if self.names.weight is None else self.table.filter(as_number(self._column("weight")) > 0)

    def uncounted_rows(self) -> Any:
        """The rows of weight zero; None without weights."""
        return None if self.names.weight is None else self.table.filter(as_number(self._column("weight")) == 0)

    def _column(self, name: str) -> Any:
        return self.table[{"y": self.names.target, **self.numbers}[name]]

    def check_types(self) -> None:
        """Refuse, before any query, extras that the outcome does not take and columns that do not hold numbers."""
        one = np.ones(1)
        self.plan.reader.read(one, None, dict.fromkeys(self.names.extras, one))
        for name, column in self.numbers.items():
            dtype = self._column(name).type()
            if not (dtype.is_boolean() or dtype.is_numeric()):
                content = "text" if dtype.is_string() else dtype
                raise TypeError(f"Column {column!r} holds {content}, but is given as {name}: turn it into numbers.")

    def _check_all_rows(self) -> None:
        """Refuse missing, infinite and negative values, also in rows of weight zero, as in memory."""
        columns = {"y": self.names.target, **self.numbers}
        counts = {name: is_missing(self._column(name)).sum() for name in columns}
        for name in columns:
            if may_be_nan(self._column(name)):
                counts[f"{name}_inf"] = as_number(self._column(name)).isinf().sum()
        if "weight" in columns:
            counts["negative"] = (as_number(self._column("weight")) < 0).sum()
        wrong = {name for name, count in fetch(self.table.aggregate(**counts)).items() if count[0]}
        if wrong & {"weight", "weight_inf", "negative"}:
            raise ValueError(
                f"Column {self.names.weight!r} holds a missing, negative or infinite weight: every weight must be a "
                "number of zero or more."
            )
        for name, column in columns.items():
            if wrong & {name, f"{name}_inf"}:
                raise ValueError(f"Column {column!r} holds missing or infinite values: the target must be complete.")

    def target_range(self, rows: Any) -> TargetRange:
        """The range of the target."""
        aggregates = {"n": rows.count()}
        for name, column in self.numbers.items():
            value = as_number(rows[column])
            aggregates |= {f"{name}_low": value.min(), f"{name}_high": value.max()}
        if "weight" in self.numbers:
            weight = as_number(rows[self.names.weight])
            aggregates["fractions"] = (weight != weight.floor()).sum()
        row = {name: values[0] for name, values in fetch(rows.aggregate(**aggregates)).items()}
        n_rows = int(row["n"])
        if n_rows == 0:
            raise ValueError("No row counts: the table is empty, or all weights are zero.")
        ranges = {name: (float(row[f"{name}_low"]), float(row[f"{name}_high"])) for name in self.numbers}
        return TargetRange(n_rows, ranges, not row.get("fractions"))

    def classes(self, rows: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
        """The labels in ascending order, the number of rows of each, and their largest weight."""
        label = rows[self.names.target]
        self._refuse_fractions(rows, label)
        if self.names.weight is None:
            counted = rows.select(label=label).group_by("label").aggregate(n=lambda t: t.count())
        else:
            weighted = rows.select(label=label, w=as_number(rows[self.names.weight])).group_by("label")
            counted = weighted.aggregate(n=lambda t: t.count(), largest=lambda t: t.w.max())
        groups = fetch(counted)
        text = object if label.type().is_string() else None  # NumPy's text type drops null characters at the end
        classes, order = np.unique(np.array(groups["label"], dtype=text), return_index=True)
        n = np.array(groups["n"], dtype=np.float64)[order]
        largest = np.array(groups.get("largest", np.ones(len(n))), dtype=np.float64)[order]
        return classes, n, largest

    def _refuse_fractions(self, rows: Any, label: Any) -> None:
        """Refuse fractions as labels; one of them is fetched for the error that memory would raise."""
        if not may_be_nan(label):
            return
        value = as_number(label)
        wrong = fetch(rows.filter(value != value.floor()).select(value=value).limit(1))["value"]
        if wrong:
            self._refuse(np.array(wrong), {})

    def check_numbers(self, rows: Any) -> None:
        """Refuse values that the outcome does not take, by fetching one row that is wrong if there is any."""
        for wrong in [*self._wrong_extras(), *self._wrong_targets(rows)]:
            extras = {name: as_number(wrong[column]) for name, column in self.names.extras.items()}
            row = fetch(wrong.select(y=as_number(wrong[self.names.target]), **extras).limit(1))
            if row["y"]:
                self._refuse(np.array(row["y"]), {name: np.array(row[name]) for name in extras})

    def _refuse(self, y: AnyArray, extras: dict[str, AnyArray]) -> None:
        """Raise the error of memory for one wrong row, without its number: the rows of a database have none."""
        try:
            self.plan.read(y, None, extras)
        except ValueError as error:
            raise ValueError(str(error).replace(" in row 0", "")) from None

    def _wrong_targets(self, rows: Any) -> list[Any]:
        """Rows whose y may be wrong: any row, and those outside of the domain of the outcome."""
        outcome, y = self.plan.reader.family_of(None).outcome, as_number(rows[self.names.target])
        suspects = [y.notnull()]
        if outcome.counts:
            suspects.append((y < 0) | (y != y.floor()))
        if outcome.positive_only:
            suspects.append(y <= 0)
        return [rows.filter(condition) for condition in suspects]

    def _wrong_extras(self) -> list[Any]:
        """Rows whose extras are wrong, including those of weight zero."""
        is_wrong = {"exposure": lambda x: x <= 0, "event": lambda x: (x != 0) & (x != 1)}
        return [self.table.filter(is_wrong[name](as_number(self._column(name)))) for name in self.names.extras]
