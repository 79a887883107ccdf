"""A classifier with logistic leaves as a scorecard: points that add up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_real, short_repr
from ..estimators import Model, readable_tree_of
from ..fitted import Fitted
from ..leaves import LogisticLeaves, odds_ratios, term_text
from ._frame import rule_of

_COLUMNS = ("leaf", "rule", "term", "points", "low", "high", "minimum", "maximum", "missing")


def to_scorecard(model: Model, *, base: float = 600.0, odds: float = 50.0, pdo: float = 20.0, good: Any = None) -> Any:
    """Return a tree with logistic leaves as a scorecard, a pandas data frame: the score of a row is a sum of points.

    A row belongs to one leaf. Its score is the points of the line without a term, plus those of each term times its
    value (1 or 0 of ``job is clerk``), which is first moved into the range of the term; a missing value counts as the
    column `missing` tells. The score is a scale of the log odds at the mode of the posterior; `predict_proba` averages
    over the posterior, which brings probabilities nearer to one half.

    Parameters
    ----------
    model
        A fitted classifier of two classes with ``leaf="linear"``.
    base, odds
        The score of a row whose odds of the good class are `odds` to one.
    pdo
        Points that double the odds.
    good
        Label of the class that points speak for; None: the first class.

    Returns
    -------
    pandas.DataFrame
        Columns ``leaf``, ``rule`` (the conditions of the leaf), ``term``, ``points`` (for one unit), ``low`` and
        ``high`` (a 90 % interval), ``minimum`` and ``maximum`` (the range of the term), and ``missing``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier
    >>> from baytree.export import to_scorecard
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier(leaf="linear", max_leaf_terms=2, max_depth=0).fit(X, y)
    >>> to_scorecard(model, good=1)[["term", "points"]].round(1)
                       term  points
    0                         948.9
    1       worst perimeter    -3.0
    2  worst concave points -1003.2
    """
    try:
        import pandas as pd  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError("to_scorecard needs pandas: pip install pandas.") from None
    base = check_real("base", base, low=-math.inf)
    factor = check_real("pdo", pdo, low=0) / math.log(2)
    offset = base - factor * math.log(check_real("odds", odds, low=0))
    fitted = readable_tree_of(model)
    leaves = fitted.trees.leaves
    if not isinstance(leaves, LogisticLeaves) or leaves.n_classes != 2:
        raise ValueError("A scorecard needs a classifier of two classes with logistic leaves: fit with leaf='linear'.")
    sign = _sign(fitted, good)
    lines: list[tuple[Any, ...]] = []
    for leaf in np.flatnonzero(fitted.trees.is_leaf).tolist():
        rule = " and ".join(rule_of(fitted, node) for node in fitted.trees.path(leaf)[1:])
        lines += [(leaf, rule, *line) for line in _lines(fitted, leaves, leaf, factor * sign, offset)]
    return pd.DataFrame(lines, columns=list(_COLUMNS))


def _sign(fitted: Fitted, good: Any) -> float:
    """1 where the good class is the second one, -1 where it is the first."""
    labels = fitted.outcome.labels.tolist()
    if good is not None and good not in labels:
        raise ValueError(f"good must be one of the classes {short_repr(labels)}; got {short_repr(good)}.")
    return 1.0 if good is not None and labels.index(good) == 1 else -1.0


def _lines(fitted: Fitted, leaves: LogisticLeaves, leaf: int, factor: float, offset: float) -> list[tuple[Any, ...]]:
    """The lines of a leaf: points where every term is zero, then those of each term."""
    terms = leaves.terms.of(leaf)
    centres = leaves.terms.centre[terms.start : terms.stop]
    slopes = odds_ratios(leaves, leaf) if len(terms) else np.zeros((0, 3))
    at_zero = _log_odds(leaves, leaf) - float(slopes[:, 0] @ centres)
    lines: list[tuple[Any, ...]] = [("", offset + factor * at_zero, *[np.nan] * 5)]
    for term, slope in zip(terms, slopes, strict=True):
        points, *ends = (factor * slope).tolist()
        limits: list[float] = [-math.inf, math.inf]
        if not leaves.extrapolate:
            limits = [float(leaves.terms.low[term]), float(leaves.terms.high[term])]
        name = term_text(leaves.terms, term, fitted.schema)
        lines.append((name, points, *sorted(ends), *limits, float(leaves.terms.centre[term])))
    return lines


def _log_odds(leaves: LogisticLeaves, leaf: int) -> float:
    """The log odds of the second class where every term is at its centre."""
    if len(leaves.terms.of(leaf)):
        z: FloatArray = np.zeros((1, len(leaves.terms.of(leaf)) + 1))
        z[0, 0] = 1.0
        mean, _ = leaves.logits(leaf, z)
        return float(mean[0, 1] - mean[0, 0])
    first, second = leaves.value[leaf].tolist()
    return math.log(second / first)
