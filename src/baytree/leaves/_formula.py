"""The model of a leaf as a short formula in the units of its columns, with as many digits as the posterior supports."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from .._typing import FloatArray
from .._words import category_text, number_text
from ..table import Schema
from ._linear import LinearLeaves
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
