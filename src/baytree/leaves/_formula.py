"""The model of a leaf as a short formula in the units of its columns, with as many digits as the posterior supports."""

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


def odds_formula(leaves: LogisticLeaves, node: int, schema: Schema) -> str:
    """A leaf in one line: ``odds 0.35 at the mean, × 1.6 per 1,000 of balance (1.3 to 1.9)``."""
    parts = [f"odds {estimate_text(math.exp(_log_odds(leaves, node)[0][0]))} at the mean"]
    for term, logs in zip(leaves.terms.of(node), odds_ratios(leaves, node), strict=True):
        is_value = leaves.terms.kind[term] == TermKind.VALUE
        unit = 10.0 ** round(math.log10(leaves.terms.scale[term])) if is_value else 1.0
        ratio, low, high = (f"{value:.3g}" for value in np.exp(np.clip(logs * unit, -500, 500)))
        name = term_text(leaves.terms, term, schema)
        what = f"per {number_text(unit)} of {name}" if is_value else f"if {name}"
        parts.append(f"× {ratio} {what} ({low} to {high})")
    return ", ".join(parts)


def leaf_text(leaves: ModelLeaves, node: int, schema: Schema, class_names: tuple[str, ...]) -> str:
    """The model of a leaf that has terms, in one line: a formula, or of several classes the names of its terms."""
    if isinstance(leaves, LinearLeaves):
        return formula(leaves, node, schema)
    if isinstance(leaves, LogisticLeaves) and len(class_names) == 2:
        return f"{class_names[1]}: {odds_formula(leaves, node, schema)}"
    names = ", ".join(term_text(leaves.terms, term, schema) for term in leaves.terms.of(node))
    return f"classes by {names}"


def formula(leaves: LinearLeaves, node: int, schema: Schema) -> str:
    """A leaf in one line: ``12.4 + 0.8 × age (0.6 to 1)``; in brackets the 90 % intervals of the slopes."""
    terms = leaves.terms.of(node)
    part, slopes = slice(terms.start, terms.stop), effects(leaves, node)
    mu, kappa, alpha, beta = leaves.posterior[node].tolist()
    z = -leaves.terms.centre[part] / leaves.terms.scale[part]  # every column at zero
    level = mu + float(z @ leaves.coefficient[part])
    variance = beta / alpha * (1 / kappa + float(z @ leaves.covariance_of(node) @ z))
    text = _rounded(level, math.sqrt(variance))
    for term, (slope, low, high) in zip(terms, slopes.tolist(), strict=True):
        error = (high - low) / 4
        # A slope that falls is subtracted; its interval keeps its signs.
        text += f" {'-' if slope < 0 else '+'} {_rounded(abs(slope), error)} × {term_text(leaves.terms, term, schema)}"
        text += f" ({_rounded(low, error)} to {_rounded(high, error)})"
    return text


def _rounded(number: float, error: float) -> str:
    """A number with the digits that its standard error leaves it, one of them uncertain."""
    if not (math.isfinite(error) and error > 0 and math.isfinite(number)):
        return number_text(number)
    return number_text(round(number, -math.floor(math.log10(error))))
