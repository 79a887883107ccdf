"""What the targets of a table in a database are, and what belongs to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..outcomes import TargetRange
from ._parts import Names
from ._sql_fixed_point import as_number, fetch, is_missing, may_be_nan
from ._targets import TargetPlan


@dataclass(frozen=True)
class TargetLook:
    """Looks at the target of a table, its weights and extras."""

    table: Any
    names: Names
    plan: TargetPlan

    @property
    def numbers(self) -> dict[str, str]:
        """The columns that must hold numbers, by what they are."""
        y = {} if self.plan.has_classes else {"y": self.names.target}
        weight = {} if self.names.weight is None else {"weight": self.names.weight}
        return y | weight | self.names.extras

    def counted_rows(self) -> Any:
        """The rows of a weight above zero; what must not be in any row is refused."""
        self._check_types()
        self._check_all_rows()
        return self.table if self.names.weight is None else self.table.filter(as_number(self._own("weight")) > 0)

    def _own(self, name: str) -> Any:
        return self.table[{"y": self.names.target, **self.numbers}[name]]

    def _check_types(self) -> None:
        """Before anything is asked: extras that the outcome does not take, and columns that hold no numbers."""
        one = np.ones(1)
        self.plan.reader.read(one, None, dict.fromkeys(self.names.extras, one))
        for name, column in self.numbers.items():
            dtype = self._own(name).type()
            if not (dtype.is_boolean() or dtype.is_numeric()):
                held = "text" if dtype.is_string() else dtype
                raise TypeError(f"Column {column!r} holds {held}, but is given as {name}: turn it into numbers.")

    def _check_all_rows(self) -> None:
        """Rows of weight zero must be complete, too, as in memory."""
        columns = {"y": self.names.target, **self.numbers}
        asked = {name: is_missing(self._own(name)).sum() for name in columns}
        for name in columns:
            if may_be_nan(self._own(name)):
                asked[f"{name}_inf"] = as_number(self._own(name)).isinf().sum()
        if "weight" in columns:
            asked["negative"] = (as_number(self._own("weight")) < 0).sum()
        found = fetch(self.table.aggregate(**asked))
        wrong = {name for name, count in found.items() if count[0]}
        if wrong & {"weight", "weight_inf", "negative"}:
            raise ValueError(
                f"Column {self.names.weight!r} holds a missing, negative or infinite weight: every weight must be a "
                "number of zero or more."
            )
        for name, column in columns.items():
            if wrong & {name, f"{name}_inf"}:
                raise ValueError(f"Column {column!r} holds missing or infinite values: the target must be complete.")

    def reach(self, rows: Any) -> TargetRange:
        """The reach of the target."""
        asked = {"n": rows.count()}
        for name, column in self.numbers.items():
            value = as_number(rows[column])
            asked |= {f"{name}_low": value.min(), f"{name}_high": value.max()}
        if "weight" in self.numbers:
            weight = as_number(rows[self.names.weight])
            asked["fractions"] = (weight != weight.floor()).sum()
        found = {name: values[0] for name, values in fetch(rows.aggregate(**asked)).items()}
        n_rows = int(found["n"])
        if n_rows == 0:
            raise ValueError("No row counts: the table is empty, or all weights are zero.")
        ranges = {name: (float(found[f"{name}_low"]), float(found[f"{name}_high"])) for name in self.numbers}
        return TargetRange(n_rows, ranges, not found.get("fractions"))

    def classes(self, rows: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
        """The labels in ascending order, how many rows each has, and the largest weight of these."""
        label = rows[self.names.target]
        self._refuse_fractions(rows, label)
        if self.names.weight is None:
            counted = rows.select(label=label).group_by("label").aggregate(n=lambda t: t.count())
        else:
            weighed = rows.select(label=label, w=as_number(rows[self.names.weight])).group_by("label")
            counted = weighed.aggregate(n=lambda t: t.count(), largest=lambda t: t.w.max())
        found = fetch(counted)
        text = object if label.type().is_string() else None  # NumPy's own text has no null character at its end
        classes, order = np.unique(np.array(found["label"], dtype=text), return_index=True)
        n = np.array(found["n"], dtype=np.float64)[order]
        largest = np.array(found.get("largest", np.ones(len(n))), dtype=np.float64)[order]
        return classes, n, largest

    def _refuse_fractions(self, rows: Any, label: Any) -> None:
        """Numbers that are not whole are no labels; one of them is enough to say so as in memory."""
        if not may_be_nan(label):
            return
        value = as_number(label)
        wrong = fetch(rows.filter(value != value.floor()).select(value=value).limit(1))["value"]
        if wrong:
            self.plan.look(np.array(wrong), None, {})

    def check_numbers(self, rows: Any) -> None:
        """Refuse what the outcome does not take, by one row that is wrong if there is any."""
        for wrong in [*self._wrong_extras(), *self._wrong_targets(rows)]:
            own = {name: as_number(wrong[column]) for name, column in self.names.extras.items()}
            row = fetch(wrong.select(y=as_number(wrong[self.names.target]), **own).limit(1))
            if row["y"]:
                self.plan.look(np.array(row["y"]), None, {name: np.array(row[name]) for name in own})

    def _wrong_targets(self, rows: Any) -> list[Any]:
        """Rows that may have a wrong y: any one of them, and those that the outcome is particular about."""
        outcome, y = self.plan.reader.family_of(None).outcome, as_number(rows[self.names.target])
        suspects = [y.notnull()]
        if outcome.counts:
            suspects.append((y < 0) | (y != y.floor()))
        if outcome.positive_only:
            suspects.append(y <= 0)
        return [rows.filter(own) for own in suspects]

    def _wrong_extras(self) -> list[Any]:
        """Rows of extras that no row may have, not even one of weight zero."""
        wrong = {"exposure": lambda own: own <= 0, "event": lambda own: (own != 0) & (own != 1)}
        return [self.table.filter(wrong[name](as_number(self._own(name)))) for name in self.names.extras]
