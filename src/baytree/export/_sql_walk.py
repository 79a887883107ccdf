"""A forest as a table of steps that rows walk through: databases take minutes to plan thousands of cases within cases.

A step adds a coefficient times a value to a sum and goes on to the next step, or compares the sum with a threshold and
goes to the left or to the right. A split along one feature is one step; a hyperplane is one for each of its features,
so that terms are added in the order of the model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import FloatArray
from ..fitted import Fitted
from ..tree import CategorySet, Hyperplane, PresentMissing, Split, TreeStore
from ._members import Member
from ._sql_text import SMALLEST_READ, Conditions, digits, identifier, number_literal, text_literal

FEWEST_NODES = 1000  # of a forest for which this pays
_NULL_PLACE = -2  # of a missing value in the texts that tell where categories go
_STEPS = ("place", "feature", "coefficient", "instead", "threshold", "sides", "on_left", "on_right")
_PLACES = ("place", "feature", "on_left", "on_right")
_Entry = int | float | str | None


def walks(trees: TreeStore, *, has_arrays: bool) -> bool:
    """Whether a forest is better written as a table of steps, and can be."""
    if not trees.is_plain or trees.node_count < FEWEST_NODES or trees.is_leaf.all():
        return False
    numbers = np.abs(np.concatenate([trees.threshold, trees.hyperplane_coefficient, trees.hyperplane_missing_value]))
    return has_arrays or not np.any((numbers > 0) & (numbers < SMALLEST_READ))


@dataclass(frozen=True)
class Walk:
    """Writes the steps of a query for a forest."""

    fitted: Fitted
    conditions: Conditions
    kept: list[str]  # columns that are carried along
    relation: str
    calibrated: Callable[[str, int], str]  # an average by its position among the values, as the model predicts it

    def relations(self, members: list[tuple[Member, FloatArray]]) -> str:
        """The WITH clause; its relation `baytree_averages` has the kept columns, a0, a1, … and numbers of rows."""
        steps: list[Sequence[_Entry]] = []
        leaves: list[Sequence[_Entry]] = []
        roots: list[Sequence[_Entry]] = []
        for member, of_nodes in members:
            roots.append((self._write_tree(member.trees, of_nodes, steps, leaves),))
        values = [f"v{c}" for c in range(members[0][1].shape[1])]
        share, zero = self._literal(members[0][0].share), self._literal(0.0)
        sums = ", ".join(f"{self.calibrated(f'SUM(l.{value}) * {share}', c)} AS a{c}" for c, value in enumerate(values))
        averages = ", ".join(f"s.a{c}" for c in range(len(values)))
        kept = "".join(f", t.{identifier(name)}" for name in self.kept)
        made = [
            "baytree_rows AS MATERIALIZED (\n"
            f"SELECT row_number() OVER () AS baytree_row{kept}, {self._row_values()} FROM {self.relation} AS t)",
            self._table("baytree_roots", ("place",), roots),
            self._table("baytree_steps", _STEPS, steps),
            self._table("baytree_leaves", ("place", *values), leaves),
            f"baytree_walk(baytree_row, place, total) AS (\nSELECT r.baytree_row, o.place, {zero} "
            "FROM baytree_rows AS r CROSS JOIN baytree_roots AS o\nUNION ALL\n"
            f"SELECT w.baytree_row, {self._next_place()}, {self._next_total()}\n"
            "FROM baytree_walk AS w JOIN baytree_steps AS n ON n.place = w.place "
            "JOIN baytree_rows AS r ON r.baytree_row = w.baytree_row)",
            f"baytree_sums AS (\nSELECT w.baytree_row, {sums} FROM baytree_walk AS w "
            "JOIN baytree_leaves AS l ON l.place = w.place GROUP BY w.baytree_row)",
            f"baytree_averages AS (\nSELECT t.baytree_row{kept}, {averages} "
            "FROM baytree_rows AS t JOIN baytree_sums AS s ON s.baytree_row = t.baytree_row)",
        ]
        return "WITH RECURSIVE " + ",\n".join(made)

    # The rows.

    def _row_values(self) -> str:
        """The values of a row, NULL where they are missing: numbers, or positions of categories (unseen ones: -1)."""
        values = [self.conditions.position(feature) for feature in self._places]
        if self._plane_places is not self._places:
            values += [self.conditions.position(feature, self._sizes(feature)) for feature in self._plane_places]
        array = self.conditions.dialect.array
        if array is not None:
            return f"{array.format(', '.join(values))} AS baytree_values"
        return ", ".join(f"{value} AS baytree_value{i + 1}" for i, value in enumerate(values))

    def _value(self) -> str:
        """The value that a step looks at."""
        if self.conditions.dialect.array is not None:
            return "r.baytree_values[n.feature]"
        cases = " ".join(f"WHEN {place} THEN r.baytree_value{place}" for place in self._places.values())
        return f"CASE n.feature {cases} END"

    @cached_property
    def _places(self) -> dict[int, int]:
        """Where the values of features are among those of a row; from 1 on."""
        return {feature: i + 1 for i, feature in enumerate(self.fitted.used_features.tolist())}

    @cached_property
    def _plane_places(self) -> dict[int, int]:
        """Where they are for hyperplanes, whose products may overflow."""
        if not self.conditions.dialect.refuses_overflow:
            return self._places
        features = np.unique(self.fitted.trees.hyperplane_feature).tolist()
        return {feature: len(self._places) + i + 1 for i, feature in enumerate(features)}

    def _sizes(self, feature: int) -> tuple[float, float]:
        """The sizes of the smallest and the largest coefficient of a feature."""
        trees = self.fitted.trees
        sizes = np.abs(trees.hyperplane_coefficient[trees.hyperplane_feature == feature])
        return float(sizes.min()), float(sizes.max())

    # The steps.

    def _write_tree(
        self, tree: TreeStore, values: FloatArray, steps: list[Sequence[_Entry]], leaves: list[Sequence[_Entry]]
    ) -> int:
        """Append the steps and the leaves of a tree, each with a place of its own; the place of its root."""
        n_steps = np.maximum(np.diff(tree.hyperplane_start), 1)
        places = (np.cumsum(n_steps) - n_steps + len(steps) + len(leaves)).tolist()
        for node, leaf in enumerate(tree.is_leaf.tolist()):
            if leaf:
                leaves.append((places[node], *values[node].tolist()))
                continue
            sides = (places[int(children[node])] for children in (tree.children_left, tree.children_right))
            steps += self._steps_of(tree.split(node), places[node], *sides)
        return int(places[0])

    def _steps_of(self, split: Split, place: int, left: int, right: int) -> Iterable[Sequence[_Entry]]:
        if isinstance(split, Hyperplane):
            return self._plane_steps(split, place, left, right)
        feature = self._places[split.features[0]]
        if isinstance(split, CategorySet):
            return [(place, feature, None, None, None, self._sides(split), left, right)]
        threshold = math.inf if isinstance(split, PresentMissing) else split.threshold
        return [(place, feature, 1.0, -math.inf if split.missing_left else None, threshold, None, left, right)]

    def _plane_steps(self, split: Hyperplane, place: int, left: int, right: int) -> Iterable[Sequence[_Entry]]:
        terms = zip(split.features, split.coefficients, split.missing_values, strict=True)
        for here, (feature, *term) in enumerate(terms, place):
            is_last = here == place + len(split.features) - 1
            end = (split.threshold, None, left, right) if is_last else (None, None, here + 1, here + 1)
            yield (here, self._plane_places[feature], *term, *end)

    def _sides(self, split: CategorySet) -> str:
        """For a missing value, an unseen one and every category whether it goes left."""
        categories = self.fitted.schema.columns[split.feature].categories
        goes_left = np.full(0 if categories is None else len(categories), split.unseen_left)
        goes_left[list(split.left)] = True
        goes_left[list(split.right)] = False
        return "".join("01"[int(left)] for left in (split.missing_left, split.unseen_left, *goes_left))

    def _sum(self) -> str:
        return f"w.total + n.coefficient * coalesce({self._value()}, n.instead)"

    def _next_place(self) -> str:
        place = f"CAST(coalesce({self._value()}, {_NULL_PLACE}) AS INTEGER) + {1 - _NULL_PLACE}"
        return (
            f"CASE WHEN n.sides IS NOT NULL THEN CASE WHEN substr(n.sides, {place}, 1) = '1' THEN n.on_left ELSE "
            "n.on_right END WHEN n.threshold IS NULL THEN n.on_left "
            f"WHEN {self._sum()} <= n.threshold THEN n.on_left ELSE n.on_right END"
        )

    def _next_total(self) -> str:
        return f"CASE WHEN n.threshold IS NULL AND n.sides IS NULL THEN {self._sum()} ELSE {self._literal(0.0)} END"

    # Tables of constants.

    def _literal(self, number: float) -> str:
        return number_literal(float(number), self.conditions.dialect)

    def _table(self, name: str, columns: Sequence[str], rows: list[Sequence[_Entry]]) -> str:
        """A relation of constants: as values or, where a database has no arrays, as one text of JSON."""
        dialect = self.conditions.dialect
        if dialect.array is None:
            entries = ", ".join(f"json_extract(value, '$[{i}]') AS {column}" for i, column in enumerate(columns))
            text = ",".join(f"[{','.join(map(self._json, row))}]" for row in rows)
            return f"{name} AS MATERIALIZED (\nSELECT {entries} FROM json_each({text_literal(f'[{text}]')}))"
        types = dict.fromkeys(columns, dialect.double) | dict.fromkeys(_PLACES, "BIGINT") | {"sides": dialect.text}
        typed = ", ".join(f"CAST({column} AS {types[column]}) AS {column}" for column in columns)  # all may be NULL
        text = ", ".join(f"({', '.join(map(self._constant, row))})" for row in rows)
        return f"{name} AS MATERIALIZED (\nSELECT {typed} FROM (VALUES {text}) AS v({', '.join(columns)}))"

    def _constant(self, entry: _Entry) -> str:
        if isinstance(entry, float):
            return self._literal(entry)
        return "NULL" if entry is None else text_literal(entry) if isinstance(entry, str) else str(entry)

    def _json(self, entry: _Entry) -> str:
        if not isinstance(entry, float):
            return json.dumps(entry)
        if math.isnan(entry):
            return "null"
        size = "9e999" if math.isinf(entry) else digits(abs(entry), self.conditions.dialect)
        return f"-{size}" if entry < 0 else size
