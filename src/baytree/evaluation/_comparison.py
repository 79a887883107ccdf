"""What comes out of a comparison of two models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .._words import amount_text
from ..figures import Figure

_MOST_SWAPS = 20


@dataclass(frozen=True)
class ComparedFigure:
    """A figure of two models on the same rows.

    Attributes
    ----------
    name, meaning
        The figure, and what it means.
    first, second
        The figure of each model, with its 90 % interval.
    difference
        The second less the first, with a paired 90 % interval: that of the differences row by row.
    higher_is_better
        Whether more is better.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from baytree import BayesianTreeClassifier, compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = BayesianTreeClassifier().fit(X[::2], y[::2]), DecisionTreeClassifier().fit(X[::2], y[::2])
    >>> compare(*models, X[1::2], y[1::2]).figures[0].name
    'Area under the curve'
    """

    name: str
    meaning: str
    first: Figure
    second: Figure
    difference: Figure
    higher_is_better: bool

    @property
    def better(self) -> int | None:
        """0 if the first model is better, 1 if the second is; None if the interval of the difference holds zero."""
        if not self.difference.low * self.difference.high > 0:
            return None
        return int((self.difference.estimate > 0) == self.higher_is_better)


@dataclass(frozen=True)
class SwapSet:
    """The rows for which the two models decide in one way.

    Attributes
    ----------
    first, second
        The decisions of the two models.
    n
        Rows.
    share
        Share of all rows.
    rate
        Share of them that is of the positive class, with its 90 % interval; of more than two classes the share for
        which the second decision is right.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier, compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = [BayesianTreeClassifier(decision=decision).fit(X[::2], y[::2]) for decision in (0.5, 0.99)]
    >>> [(swap.first, swap.second, swap.n) for swap in compare(*models, X[1::2], y[1::2]).swaps]
    [('0', '0', 110.0), ('1', '0', 174.0)]
    """

    first: str
    second: str
    n: float
    share: Figure
    rate: Figure


@dataclass(frozen=True)
class Comparison:
    """Two models on the same rows; prints as tables.

    Attributes
    ----------
    names
        Names of the two models.
    n
        Rows, each as often as it counts.
    method
        How the rows were kept from the models.
    positive
        Name of the positive class; None of more than two classes and of numbers.
    figures
        The figures, each a `ComparedFigure`.
    swaps
        For classifiers, the rows by the decisions of both models, each a `SwapSet`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from baytree import BayesianTreeRegressor, compare
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = BayesianTreeRegressor(), DecisionTreeRegressor(random_state=0)
    >>> [figure.name for figure in compare(*models, X, y, folds=5).figures]
    ['Mean absolute error', 'Root mean squared error', 'R squared']
    """

    names: tuple[str, str]
    n: float
    method: str
    positive: str | None
    figures: list[ComparedFigure]
    swaps: list[SwapSet]

    def figure_rows(self) -> list[list[str]]:
        """Lines of text, the first with the titles."""
        lines = [["", *self.names, "difference", "90 % interval", "better"]]
        for figure in self.figures:
            better = "not clear" if figure.better is None else self.names[figure.better]
            difference = figure.difference
            sign = "+" if difference.estimate > 0 else ""
            known = f"{sign}{difference.text()}" if difference.is_known else "–"
            lines.append([figure.name, figure.first.text(), figure.second.text(), known, difference.interval(), better])
        return lines

    def swap_rows(self) -> list[list[str]]:
        """Lines of text, the first with the titles."""
        rate = "second is right" if self.positive is None else f"observed {self.positive}"
        lines = [[self.names[0], self.names[1], "rows", "of all", rate, "90 % interval"]]
        for swap in self.swaps[:_MOST_SWAPS]:
            numbers = amount_text(swap.n), swap.share.text(), swap.rate.text(), swap.rate.interval()
            lines.append([swap.first, swap.second, *numbers])
        return lines

    def __str__(self) -> str:
        parts = [f"{amount_text(self.n)} rows, {self.method}", _columns(self.figure_rows(), left=(0, 5))]
        if self.swaps:
            parts += ["", "Decisions of both models", _columns(self.swap_rows(), left=(0, 1))]
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from baytree import BayesianTreeClassifier, compare
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> models = [BayesianTreeClassifier(decision=decision).fit(X[::2], y[::2]) for decision in (0.5, 0.9)]
        >>> compare(*models, X[1::2], y[1::2]).to_dict()["names"]
        ['BayesianTreeClassifier 1', 'BayesianTreeClassifier 2']
        """

        def plain(figure: Figure) -> dict[str, float | None]:
            ends = {"estimate": figure.estimate, "low": figure.low, "high": figure.high}
            return {name: number if math.isfinite(number) else None for name, number in ends.items()}

        return {
            "names": list(self.names),
            "n": self.n,
            "method": self.method,
            "positive": self.positive,
            "figures": {
                figure.name: {
                    "first": plain(figure.first),
                    "second": plain(figure.second),
                    "difference": plain(figure.difference),
                    "better": None if figure.better is None else self.names[figure.better],
                }
                for figure in self.figures
            },
            "swaps": [
                {"first": swap.first, "second": swap.second, "n": swap.n, "rate": plain(swap.rate)}
                for swap in self.swaps
            ],
        }


def _columns(lines: list[list[str]], left: tuple[int, ...]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    padded = [
        [
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    return "\n".join("  ".join(line).rstrip() for line in padded)
