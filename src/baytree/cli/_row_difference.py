"""What two models say of the same rows: whose decision changed, by how much, and which one is right."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from .._words import estimate_text, percent_text
from ._talk import Talk

_MOST_ROWS = 5


@dataclass(frozen=True)
class Row:
    """A row whose prediction changed."""

    number: int
    before: str
    after: str
    size: float  # of the change: of a probability, or of a number


class RowDifferences:
    """Sums over rows, which come part by part."""

    def __init__(self, before: Any, after: Any, *, has_target: bool) -> None:
        self._models = before, after
        self._is_class = before.fitted_.classes is not None
        self.n_rows = 0
        self._changed: Counter[tuple[str, str]] = Counter()
        self._total = 0.0
        self._largest: list[Row] = []
        self._right: list[float] | None = [0.0, 0.0] if has_target else None
        self._n_known = 0

    def add(self, first: Any, second: Any, y: list[Any] | None) -> None:
        """Predict some rows with both models."""
        said = [own.predict(X) for own, X in zip(self._models, (first, second), strict=True)]
        sizes = self._sizes(first, second, said)
        texts = [[self._text(value) for value in own] for own in said]
        if self._is_class:
            self._changed.update((a, b) for a, b in zip(*texts, strict=True) if a != b)
        numbers = range(self.n_rows + 1, self.n_rows + len(sizes) + 1)
        rows = (Row(*own) for own in zip(numbers, *texts, sizes.tolist(), strict=True) if own[3] > 0)
        key = self._weight
        self._largest = nlargest(_MOST_ROWS, [*self._largest, *nlargest(_MOST_ROWS, rows, key=key)], key=key)
        self._total += float(sizes.sum())
        self.n_rows += len(sizes)
        if y is not None:
            self._judge(said, y)

    def _sizes(self, first: Any, second: Any, said: list[AnyArray]) -> FloatArray:
        """How much each prediction changed: half of the sum of what probabilities changed, or the difference."""
        if not self._is_class:
            return np.abs(said[1] - said[0])
        names = sorted({*self._models[0].fitted_.class_names, *self._models[1].fitted_.class_names})
        total = np.zeros((len(said[0]), len(names)))
        for model, X, sign in zip(self._models, (first, second), (-1, 1), strict=True):
            columns = [names.index(name) for name in model.fitted_.class_names]
            total[:, columns] += sign * model.predict_proba(X)
        return np.abs(total).sum(axis=1) / 2

    @staticmethod
    def _weight(row: Row) -> tuple[bool, float, int]:
        """Rows whose decision changed come first, then the largest changes, then the first rows."""
        return (row.before != row.after, row.size, -row.number)

    def _text(self, value: Any) -> str:
        return str(value) if self._is_class else estimate_text(float(value))

    def _judge(self, said: list[AnyArray], y: list[Any]) -> None:
        known = [i for i, value in enumerate(y) if value is not None and str(value).strip() != ""]
        self._n_known += len(known)
        for k, own in enumerate(said):
            assert self._right is not None  # noqa: S101 - for the type checker
            if self._is_class:
                self._right[k] += sum(_same(own[i], y[i]) for i in known)
            else:
                self._right[k] += float(sum((float(own[i]) - float(y[i])) ** 2 for i in known))

    def figures(self) -> dict[str, tuple[float, float]]:
        """Of both models, where the target is known."""
        if self._right is None or self._n_known == 0:
            return {}
        shares = [own / self._n_known for own in self._right]
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

    def tell(self, talk: Talk) -> None:
        """Say it."""
        mean = self._total / max(self.n_rows, 1)
        if self._is_class:
            n = sum(self._changed.values())
            talk.say(
                f"the decision changed for {n:,} of {self.n_rows:,} rows ({percent_text(n / max(self.n_rows, 1))})"
            )
            talk.table(["decision", "rows"], [[f"{a} -> {b}", f"{n:,}"] for (a, b), n in self._changed.most_common()])
            talk.say(f"probability that moved, on average: {percent_text(mean)}")
        else:
            talk.say(f"predictions of {self.n_rows:,} rows changed by {estimate_text(mean)} on average")
        if self._largest:
            talk.heading("Rows that changed most")
            rows = [[f"{row.number:,}", row.before, row.after, self._size(row.size)] for row in self._largest]
            talk.table(["row", "before", "after", "moved"], rows)
        for name, (a, b) in self.figures().items():
            text = percent_text if self._is_class else estimate_text
            talk.say(f"{name} on these rows, which a model may have been fitted to: {text(a)} before, {text(b)} after")

    def _size(self, size: float) -> str:
        return percent_text(size) if self._is_class else estimate_text(size)


def _same(label: Any, text: Any) -> bool:
    if str(label) == str(text).strip():
        return True
    try:
        return float(label) == float(text)
    except (TypeError, ValueError):
        return False
