"""Linear leaves in SQL: the formula of each leaf on the columns of a row, clipped as the model clips."""

from __future__ import annotations

import math

from ..leaves import LinearLeaves, ModelLeaves, TermKind
from ._sql_text import Conditions, number_literal


def linear_mean(conditions: Conditions, leaves: LinearLeaves, node: int) -> str:
    """The expected outcome of a row in a node, from the values of the row."""
    terms, dialect = leaves.terms, conditions.dialect
    text = number_literal(float(leaves.value[node, 0]), dialect)
    for term, coefficient in zip(terms.of(node), leaves.coefficients_of(node).tolist(), strict=True):
        text += f" + {number_literal(coefficient, dialect)} * {scaled_term(conditions, leaves, term)}"
    return _clipped(conditions, f"({text})", *leaves.limits[node].tolist()) if len(terms.of(node)) else text


def scaled_term(conditions: Conditions, leaves: ModelLeaves, term: int) -> str:
    """A term, centred and scaled."""
    centre, scale = (
        number_literal(float(values[term]), conditions.dialect) for values in (leaves.terms.centre, leaves.terms.scale)
    )
    return f"(({_term(conditions, leaves, term)} - {centre}) / {scale})"


def _term(conditions: Conditions, leaves: ModelLeaves, term: int) -> str:
    """The value of a term: of a missing value that of the centre."""
    terms = leaves.terms
    position = conditions.position(int(terms.feature[term]))
    match TermKind(int(terms.kind[term])):
        case TermKind.CATEGORY:
            category = number_literal(float(terms.category[term]), conditions.dialect)
            return f"CASE WHEN {position} = {category} THEN 1e0 ELSE 0e0 END"
        case TermKind.MISSING:
            return f"CASE WHEN {position} IS NULL THEN 1e0 ELSE 0e0 END"
        case TermKind.VALUE:
            value = f"COALESCE({position}, {number_literal(float(terms.centre[term]), conditions.dialect)})"
            if leaves.extrapolate:
                return value
            return _clipped(conditions, value, float(terms.low[term]), float(terms.high[term]))


def _clipped(conditions: Conditions, value: str, low: float, high: float) -> str:
    """A value moved into a range; least and greatest have other names in every database."""
    if math.isinf(low) and math.isinf(high):
        return value
    ends = [number_literal(end, conditions.dialect) for end in (low, high)]
    return f"CASE WHEN {value} < {ends[0]} THEN {ends[0]} WHEN {value} > {ends[1]} THEN {ends[1]} ELSE {value} END"
