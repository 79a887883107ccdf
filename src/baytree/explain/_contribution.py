"""What a column adds to the prediction of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from .._words import estimate_text, number_text
from ..fitted import Contributions
from ..table import Schema


@dataclass(frozen=True)
class Contribution:
    """The Shapley value of a column: what it adds to the probability of the decision, or to the mean.

    Attributes
    ----------
    feature, column
        Name and position of the column.
    value
        The row's value: a number, a truth value, a category; None where it is missing.
    contribution
        What the column adds, over all orders in which columns may become known. Contributions add up to the estimate
        less `Explanation.base`.
    error
        Standard error of the contribution: 0 where it is exact.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> first = model.explain(X[:1])[0].contributions[0]
    >>> first.feature, first.value, first.error
    ('petal width (cm)', 0.2, 0.0)
    """

    feature: str
    column: int
    value: float | bool | str | None
    contribution: float
    error: float = 0.0

    def __str__(self) -> str:
        return f"{self.subject()}  ({signed_text(self.contribution)})"

    def subject(self) -> str:
        """The column with its value: ``age = 39``, ``income is missing``."""
        if self.value is None:
            return f"{self.feature} is missing"
        if isinstance(self.value, bool):
            return f"{self.feature} is {'true' if self.value else 'false'}"
        return f"{self.feature} = {number_text(self.value) if isinstance(self.value, float) else self.value}"


def signed_text(number: float) -> str:
    """A change to read: +0.3552, -12.4."""
    text = estimate_text(number)
    return text if text.startswith("-") else f"+{text}"


def contributions_of(schema: Schema, shapley: Contributions, i: int, value: int, row: FloatArray) -> list[Contribution]:
    """The contributions of the columns of row i to one of the predicted numbers, the largest first."""
    values, error = shapley.values[i, :, value], shapley.error[i, :, value]
    order: Sequence[int] = np.argsort(-np.abs(values), kind="stable").tolist()
    return [
        Contribution(schema.name(f), f, value_of(schema, f, row), float(values[f]), float(error[f]))
        for f in order
        if values[f] != 0
    ]


def value_of(schema: Schema, feature: int, row: FloatArray) -> float | bool | str | None:
    """The value of a row as it is shown: categories as text."""
    column, number = schema.columns[feature], float(row[feature])
    value = column.value(number)
    return column.text(number) if column.categories is not None and value is not None else value
