"""The differences between two models: settings, columns, the splits of their trees, and their predictions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from .._words import count_text, estimate_text, list_text, number_text, odds_text, percent_text
from ..fitted import Fitted
from ..tree import Hyperplane, NumberText
from ._columns import same_value
from ._console import Console

_MOST_PLACES = 12
_MOST_ROWS = 5


@dataclass(frozen=True)
class SplitDifference:
    """A node at which two trees differ: the path to it, and what each has there."""

    path: tuple[str, ...]
    before: str
    after: str

    def __str__(self) -> str:
        where = f"where {' and '.join(self.path)}" if self.path else "at the root"
        return f"{where}\n    before: {self.before}\n    after:  {self.after}"


@dataclass(frozen=True)
class ModelDifferences:
    """The changes from one model to the other."""

    facts: list[tuple[str, str, str]]  # what, before, after: those that differ or that everybody asks for
    columns: list[str]  # sentences
    places: list[SplitDifference]
    n_same: int  # splits that both have at the same place

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "facts": {name: {"before": before, "after": after} for name, before, after in self.facts},
            "columns": self.columns,
            "same_splits": self.n_same,
            "changed_splits": [
                {"path": list(place.path), "before": place.before, "after": place.after} for place in self.places
            ],
        }

    def describe(self, console: Console) -> None:
        """Write it for people."""
        console.table(["", "before", "after"], [list(fact) for fact in self.facts])
        for sentence in self.columns:
            console.note(sentence)
        console.heading("Splits")
        console.line(f"equal in both trees: {self.n_same:,}")
        for place in self.places[:_MOST_PLACES]:
            console.line(str(place))
        if len(self.places) > _MOST_PLACES:
            console.line(f"and {len(self.places) - _MOST_PLACES:,} more places")
        if not self.places:
            console.line("The trees have the same splits.")


def model_differences(before: Any, after: Any) -> ModelDifferences:
    """Compare two fitted models by the trees to read."""
    trees = before.fitted_.readable, after.fitted_.readable
    places, n_same = _split_differences(*trees)
    return ModelDifferences(_facts(before, after), _columns(*trees), places, n_same)


def _facts(before: Any, after: Any) -> list[tuple[str, str, str]]:
    both = before, after
    always = {
        "model": [type(model).__name__ for model in both],
        "rows": [f"{model.fitted_.fitted_on.n_rows:,}" if model.fitted_.fitted_on else "not known" for model in both],
        "leaves": [f"{int(model.fitted_.readable.trees.is_leaf.sum()):,}" for model in both],
        "depth": [str(int(model.fitted_.readable.trees.depth.max())) for model in both],
    }
    if before.fitted_.outcome.predicts_classes and before.fitted_.class_names != after.fitted_.class_names:
        always["classes"] = [list_text(list(model.fitted_.class_names), 6) for model in both]
    settings = [model.get_params(deep=False) for model in both]
    names = sorted({*settings[0], *settings[1]})
    texts = {name: [repr(values[name]) if name in values else "–" for values in settings] for name in names}
    changed = {name: pair for name, pair in texts.items() if pair[0] != pair[1] and "–" not in pair}
    return [(name, first, second) for name, (first, second) in (always | changed).items()]


def _columns(before: Fitted, after: Fitted) -> list[str]:
    kinds = [
        {fitted.schema.name(i): column.kind.value for i, column in enumerate(fitted.schema.columns)}
        for fitted in (before, after)
    ]
    used = [{fitted.schema.name(i) for i in fitted.used_features} for fitted in (before, after)]
    changed = sorted(name for name in kinds[0].keys() & kinds[1].keys() if kinds[0][name] != kinds[1][name])
    sentences = {
        "Columns only in the first model": sorted(kinds[0].keys() - kinds[1].keys()),
        "Columns only in the second model": sorted(kinds[1].keys() - kinds[0].keys()),
        "Columns of another kind": [f"{name} ({kinds[0][name]} -> {kinds[1][name]})" for name in changed],
        "No longer used": sorted(used[0] - used[1]),
        "Now used": sorted(used[1] - used[0]),
    }
    return [f"{sentence}: {list_text(names, 12)}" for sentence, names in sentences.items() if names]


def _split_differences(before: Fitted, after: Fitted) -> tuple[list[SplitDifference], int]:
    """Walk down both trees at once, as long as their splits agree; the differences, and the splits that agree."""
    places: list[SplitDifference] = []
    n_same = 0
    stack: list[tuple[int, int, tuple[str, ...]]] = [(0, 0, ())]
    while stack:
        first, second, path = stack.pop()
        leaves = bool(before.trees.is_leaf[first]), bool(after.trees.is_leaf[second])
        if all(leaves):
            continue
        if any(leaves) or _question(before, first, repr) != _question(after, second, repr):
            places.append(_difference(before, first, after, second, path))
            continue
        n_same += 1
        question = _question(before, first)
        for left in (False, True):
            step = question if left else f"not {question}"
            stack.append((_child(before, first, yes=left), _child(after, second, yes=left), (*path, step)))
    return places, n_same


def _difference(before: Fitted, first: int, after: Fitted, second: int, path: tuple[str, ...]) -> SplitDifference:
    """Two splits that differ; with all digits where fewer would not tell them apart."""
    texts = _text(before, first), _text(after, second)
    is_shown = texts[0].partition(" (odds ")[0] != texts[1].partition(" (odds ")[0]
    return SplitDifference(path, *(texts if is_shown else (_text(before, first, repr), _text(after, second, repr))))


def _question(fitted: Fitted, node: int, number: NumberText = number_text) -> str:
    """The question of a split."""
    split = fitted.trees.split(node)
    if isinstance(split, Hyperplane) and number is not number_text:  # whose coefficients may differ as well
        return f"{split.subject(fitted.schema, number)} <= {number(split.threshold)}"
    return split.question(fitted.schema, number)[0]


def _child(fitted: Fitted, node: int, *, yes: bool) -> int:
    _, yes_left = fitted.trees.split(node).question(fitted.schema)
    sides = fitted.trees.children_left if yes == yes_left else fitted.trees.children_right
    return int(sides[node])


def _text(fitted: Fitted, node: int, number: NumberText = number_text) -> str:
    rows = count_text(int(fitted.trees.n_node_samples[node]), "row")
    if fitted.trees.is_leaf[node]:
        return f"no split (leaf of {rows})"
    return f"{_question(fitted, node, number)} (odds {odds_text(float(fitted.trees.log_odds_split[node]))}, {rows})"


@dataclass(frozen=True)
class ChangedRow:
    """A row whose prediction changed."""

    number: int
    before: str
    after: str
    size: float  # of the change: of a probability, or of a number


class RowDifferences:
    """Sums over rows, which come part by part."""

    def __init__(self, before: Any, after: Any) -> None:
        self._models = before, after
        self._is_class = before.fitted_.outcome.predicts_classes
        self.n_rows = 0
        self._changed: Counter[tuple[str, str]] = Counter()
        self._total = 0.0
        self._largest: list[ChangedRow] = []
        self._right = [0.0, 0.0]  # right decisions, or squared errors, of either model
        self._n_known = 0

    def add(self, first: Any, second: Any, y: list[Any] | None) -> None:
        """Predict some rows with both models."""
        predicted = [model.predict(X) for model, X in zip(self._models, (first, second), strict=True)]
        sizes = self._sizes(first, second, predicted)
        texts = [[self._text(value) for value in values] for values in predicted]
        if self._is_class:
            self._changed.update((a, b) for a, b in zip(*texts, strict=True) if a != b)
        numbers = range(self.n_rows + 1, self.n_rows + len(sizes) + 1)
        rows = (ChangedRow(*row) for row in zip(numbers, *texts, sizes.tolist(), strict=True) if row[3] > 0)
        key = self._weight
        self._largest = nlargest(_MOST_ROWS, [*self._largest, *nlargest(_MOST_ROWS, rows, key=key)], key=key)
        self._total += float(sizes.sum())
        self.n_rows += len(sizes)
        if y is not None:
            self._judge(predicted, y)

    def _sizes(self, first: Any, second: Any, predicted: list[AnyArray]) -> FloatArray:
        """The change of each prediction: half the sum of the changes of probabilities, or the difference of numbers."""
        if not self._is_class:
            return np.abs(predicted[1] - predicted[0])
        names = sorted({*self._models[0].fitted_.class_names, *self._models[1].fitted_.class_names})
        total = np.zeros((len(predicted[0]), len(names)))
        for model, X, sign in zip(self._models, (first, second), (-1, 1), strict=True):
            columns = [names.index(name) for name in model.fitted_.class_names]
            total[:, columns] += sign * model.predict_proba(X)
        return np.abs(total).sum(axis=1) / 2

    @staticmethod
    def _weight(row: ChangedRow) -> tuple[bool, float, int]:
        """Rows whose decision changed come first, then the largest changes, then the first rows."""
        return (row.before != row.after, row.size, -row.number)

    def _text(self, value: Any) -> str:
        return str(value) if self._is_class else estimate_text(float(value))

    def _judge(self, predicted: list[AnyArray], y: list[Any]) -> None:
        known = [i for i, value in enumerate(y) if value is not None]
        self._n_known += len(known)
        for k, values in enumerate(predicted):
            if self._is_class:
                self._right[k] += sum(same_value(values[i], y[i]) for i in known)
            else:
                self._right[k] += float(sum((float(values[i]) - float(y[i])) ** 2 for i in known))

    def figures(self) -> dict[str, tuple[float, float]]:
        """The scores of both models, where the target is known."""
        if self._n_known == 0:
            return {}
        shares = [total / self._n_known for total in self._right]
        if self._is_class:
            return {"accuracy": (shares[0], shares[1])}
        return {"RMSE": (shares[0] ** 0.5, shares[1] ** 0.5)}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "n_rows": self.n_rows,
            "n_changed": sum(self._changed.values()) if self._is_class else None,
            "changed": [{"before": a, "after": b, "n_rows": n} for (a, b), n in self._changed.most_common()],
            "mean_change": self._total / max(self.n_rows, 1),
            "largest": [vars(row) for row in self._largest],
            "figures": {name: {"before": a, "after": b} for name, (a, b) in self.figures().items()},
        }

    def describe(self, console: Console, *, with_figures: bool) -> None:
        """Write it for people."""
        mean = self._total / max(self.n_rows, 1)
        if self._is_class:
            n = sum(self._changed.values())
            console.line(
                f"decisions changed for {n:,} of {self.n_rows:,} rows ({percent_text(n / max(self.n_rows, 1))})"
            )
            console.table(
                ["decision", "rows"], [[f"{a} -> {b}", f"{n:,}"] for (a, b), n in self._changed.most_common()]
            )
            console.line(f"mean change of the probabilities: {percent_text(mean)}")
        else:
            console.line(f"predictions of {self.n_rows:,} rows changed by {estimate_text(mean)} on average")
        if self._largest:
            console.heading("Rows with the largest changes")
            rows = [[f"{row.number:,}", row.before, row.after, self._size(row.size)] for row in self._largest]
            console.table(["row", "before", "after", "change"], rows)
        for name, (a, b) in self.figures().items() if with_figures else ():
            text = percent_text if self._is_class else estimate_text
            console.line(
                f"{name} on these rows, which a model may have been fitted to: {text(a)} before, {text(b)} after"
            )

    def _size(self, size: float) -> str:
        return percent_text(size) if self._is_class else estimate_text(size)
