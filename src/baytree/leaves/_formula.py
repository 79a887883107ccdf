"""The model of a leaf in words: a headline and a line for each term, the most important term first."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from .._typing import FloatArray
from .._words import category_text, estimate_text, number_text
from ..table import Schema
from ._linear import LinearLeaves
from ._logistic import LogisticLeaves
from ._models import ModelLeaves
from ._terms import LeafTerms, TermKind

_MOST_DIGITS = 3  # of a factor on the odds


def term_text(terms: LeafTerms, term: int, schema: Schema) -> str:
    """What a term is a number of: a column, ``job is clerk``, ``age is missing``."""
    feature = int(terms.feature[term])
    name = schema.name(feature)
    match TermKind(int(terms.kind[term])):
        case TermKind.VALUE:
            return name
        case TermKind.CATEGORY:
            categories = schema.columns[feature].categories
            category = terms.category[term]
            return f"{name} is {category if categories is None else category_text(categories[int(category)])}"
        case TermKind.MISSING:
            return f"{name} is missing"


def effects(leaves: LinearLeaves, node: int, level: float = 0.9) -> FloatArray:
    """The slopes of a leaf per unit of their columns with the ends of their intervals, shape (n_terms, 3)."""
    terms = leaves.terms.of(node)
    part = slice(terms.start, terms.stop)
    _, _, alpha, beta = leaves.posterior[node]
    deviation = np.sqrt(np.diag(leaves.covariance_of(node)) * beta / alpha)
    reach = stats.t.ppf((1 + level) / 2, 2 * alpha) * deviation
    middle, scale = leaves.coefficient[part], leaves.terms.scale[part]
    return np.stack([middle, middle - reach, middle + reach], axis=1) / scale[:, None]


def odds_ratios(leaves: LogisticLeaves, node: int, level: float = 0.9) -> FloatArray:
    """Logs of the factors on the odds of the second of two classes per unit of each column, with their intervals."""
    terms = leaves.terms.of(node)
    middle, deviation = _log_odds(leaves, node)
    reach = stats.norm.ppf((1 + level) / 2) * deviation[1:]
    slopes = np.stack([middle[1:], middle[1:] - reach, middle[1:] + reach], axis=1)
    return slopes / leaves.terms.scale[terms.start : terms.stop, None]


def _log_odds(leaves: LogisticLeaves, node: int) -> tuple[FloatArray, FloatArray]:
    """Intercept and slopes of the log odds of the second of two classes, and their standard deviations."""
    return math.sqrt(2) * leaves.coefficients_of(node), np.sqrt(2 * np.diag(leaves.covariance_of(node)))


def leaf_headline(leaves: ModelLeaves, node: int, class_names: tuple[str, ...]) -> str:
    """What a leaf with terms predicts where every term is at its mean: ``12.4 at the mean``."""
    if isinstance(leaves, LinearLeaves):
        mu, kappa, alpha, beta = leaves.posterior[node].tolist()
        return f"{_rounded(mu, _places(math.sqrt(beta / alpha / kappa)))} at the mean"
    if isinstance(leaves, LogisticLeaves) and len(class_names) == 2:
        return f"{class_names[1]} at the mean: odds {_three_digits(math.exp(_log_odds(leaves, node)[0][0]))}"
    at_mean = leaves.means_at(node, np.zeros((1, len(leaves.terms.of(node)))))[0]
    likely = int(np.argmax(at_mean))
    return f"{class_names[likely]} at the mean: p={at_mean[likely]:.3f}"


def leaf_lines(leaves: ModelLeaves, node: int, schema: Schema, class_names: tuple[str, ...]) -> list[str]:
    """The terms of a leaf, one in a line, those first that change most over the spread of their column in the leaf.

    A slope or a factor on the odds comes with its 90 % interval, for a power of ten near the spread of the column. The
    terms of several classes have several factors each and are only named.
    """
    parts = [_term_parts(leaves, node, place, schema, class_names) for place in _by_importance(leaves, node)]
    widths = [max(len(part[i]) for part in parts) for i in range(2)] if parts else [0, 0]
    aligned = [f"{effect:>{widths[0]}} {interval:<{widths[1]}} {what}" for effect, interval, what in parts]
    return aligned if any(widths) else [what for _, _, what in parts]


def _by_importance(leaves: ModelLeaves, node: int) -> list[int]:
    """The places of the terms of a node, the largest effect of a standard deviation first."""
    n_terms, coefficients = len(leaves.terms.of(node)), leaves.coefficients_of(node)
    slopes = coefficients[None] if isinstance(leaves, LinearLeaves) else coefficients.reshape(-1, n_terms + 1)[:, 1:]
    order: list[int] = np.argsort(-np.linalg.norm(slopes, axis=0), kind="stable").tolist()
    return order


def _term_parts(
    leaves: ModelLeaves, node: int, place: int, schema: Schema, class_names: tuple[str, ...]
) -> tuple[str, str, str]:
    """The effect of a term, its interval, and what it is the effect of."""
    term = leaves.terms.of(node)[place]
    name, is_value = term_text(leaves.terms, term, schema), leaves.terms.kind[term] == TermKind.VALUE
    unit = 10.0 ** round(math.log10(leaves.terms.scale[term])) if is_value else 1.0
    what = f"if {name}" if not is_value else f"per {'unit' if unit == 1 else number_text(unit)} of {name}"
    if isinstance(leaves, LinearLeaves):
        slope, low, high = (unit * effects(leaves, node)[place]).tolist()
        places = _places((high - low) / 4)
        sign = "-" if slope < 0 else "+"
        return f"{sign}{_rounded(abs(slope), places)}", f"({_rounded(low, places)} to {_rounded(high, places)})", what
    if isinstance(leaves, LogisticLeaves) and len(class_names) == 2:
        logs = np.clip(unit * odds_ratios(leaves, node)[place], -500, 500)
        ratio, low, high = np.exp(logs).tolist()
        # As many digits as tell the lower end from others; of very uncertain factors not more than three.
        places = min(_places(low * float(logs[2] - logs[1]) / 12), _places(ratio) + _MOST_DIGITS - 1)
        return f"× {_rounded(ratio, places)}", f"({_rounded(low, places)} to {_rounded(high, places)})", what
    return "", "", f"by {name}"


def _places(error: float) -> int:
    """The digits behind the point that a standard error leaves, one of them uncertain; negative for tens and more."""
    return -math.floor(math.log10(error)) if math.isfinite(error) and error > 0 else 6


def _rounded(number: float, places: int) -> str:
    """A number with so many digits behind the point, zeros among them; large and tiny ones as elsewhere."""
    if not math.isfinite(number) or places <= 0 or places > 6:
        return number_text(round(number, places) + 0.0 if math.isfinite(number) else number)
    text = f"{number:,.{places}f}" if abs(number) >= 10_000 else f"{number:.{places}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def _three_digits(number: float) -> str:
    return estimate_text(float(f"{number:.{_MOST_DIGITS}g}"))
