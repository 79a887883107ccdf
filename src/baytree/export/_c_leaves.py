"""Models in leaves in C: the formula of each leaf on the numbers of a row, clipped as the model clips."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from .._typing import FloatArray
from ..leaves import PROBIT, QUADRATURE, LinearLeaves, LogisticLeaves, ModelLeaves, TermKind
from ._c_splits import number

_TERM = """
/* A term of a leaf, centred and scaled; 0 where it is missing. */
static inline double {p}term(double value, double centre, double scale, double low, double high) {{
    double z = ((value < low ? low : value > high ? high : value) - centre) / scale;
    return z != z ? 0.0 : z < -1e100 ? -1e100 : z > 1e100 ? 1e100 : z;
}}

static inline double {p}product(int n, const double *u, const double *b) {{
    double total = 0.0;
    for (int i = 0; i < n; ++i) total += u[i] * b[i];
    return total;
}}
"""
_MOMENTS = """
static inline double {p}variance(int n, const double *u, const double *q) {{
    double total = 0.0;
    for (int i = 0; i < n; ++i) total += u[i] * {p}product(n, u, q + i * n);
    return total > 0.0 ? total : 0.0;
}}
"""
_TWO = """
/* The expected probabilities of two classes whose log odds are normal, by quadrature. */
static inline void {p}chances(int n, const double *u, const double *b, const double *q, double *values) {{
    static const double points[] = {{{points}}};
    static const double weights[] = {{{weights}}};
    double mean = {p}product(n, u, b), std = sqrt({p}variance(n, u, q));
    values[0] = values[1] = 0.0;
    for (size_t i = 0; i < sizeof points / sizeof *points; ++i) {{
        double at = mean + std * points[i];
        values[0] += weights[i] / (1.0 + exp(at));
        values[1] += weights[i] / (1.0 + exp(-at));
    }}
}}
"""
_SEVERAL = """
/* The expected probabilities of classes whose logits are normal, by the probit approximation. */
static inline void {p}chances(int n, const double *u, const double *b, const double *q, double *values) {{
    double logits[{classes}], most = -INFINITY, sum = 0.0;
    for (int k = 0; k < {classes}; ++k) {{
        logits[k] = {p}product(n, u, b + k * n) / sqrt(1.0 + {probit} * {p}variance(n, u, q + k * n * n));
        if (logits[k] > most) most = logits[k];
    }}
    for (int k = 0; k < {classes}; ++k) sum += values[k] = exp(logits[k] - most);
    for (int k = 0; k < {classes}; ++k) values[k] /= sum;
}}
"""


def leaf_functions(leaves: ModelLeaves, prefix: str) -> str:
    """The functions that the formulas of leaves call."""
    text = _TERM.format(p=prefix)
    if not isinstance(leaves, LogisticLeaves):
        return text
    text += _MOMENTS.format(p=prefix)
    if leaves.n_classes > 2:
        return text + _SEVERAL.format(p=prefix, classes=leaves.n_classes, probit=number(PROBIT))
    points, weights = map(_list, QUADRATURE)
    return text + _TWO.format(p=prefix, points=points, weights=weights)


def leaf_cases(leaves: ModelLeaves, nodes: Iterable[int], prefix: str) -> str:
    """The cases of a switch over leaves: those with terms write `values` and return."""
    return "".join(_case(leaves, node, prefix) for node in nodes if len(leaves.terms.of(node)))


def _case(leaves: ModelLeaves, node: int, prefix: str) -> str:
    terms = [_term(leaves, term, prefix) for term in leaves.terms.of(node)]
    lines = [f"const double u[] = {{1.0, {', '.join(terms)}}};"]
    n = len(terms) + 1
    if isinstance(leaves, LogisticLeaves):
        mean, variance = leaves.forms(node)
        lines += [f"static const double b[] = {{{_list(mean)}}};", f"static const double q[] = {{{_list(variance)}}};"]
        lines.append(f"{prefix}chances({n}, u, b, q, values);")
    elif isinstance(leaves, LinearLeaves):
        coefficients = np.append(leaves.value[node, 0], leaves.coefficients_of(node))
        low, high = map(number, leaves.limits[node].tolist())
        lines.append(f"static const double b[] = {{{_list(coefficients)}}};")
        lines.append(f"double mean = {prefix}product({n}, u, b);")
        lines.append(f"values[0] = mean < {low} ? {low} : mean > {high} ? {high} : mean;")
    body = "".join(f"        {line}\n" for line in [*lines, "return;"])
    return f"    case {node}: {{\n{body}    }}\n"


def _term(leaves: ModelLeaves, term: int, prefix: str) -> str:
    terms, value = leaves.terms, f"x[{leaves.terms.feature[term]}]"
    match TermKind(int(terms.kind[term])):
        case TermKind.CATEGORY:
            value = f"{value} == {number(terms.category[term])} ? 1.0 : 0.0"
        case TermKind.MISSING:
            value = f"{value} != {value} ? 1.0 : 0.0"
        case TermKind.VALUE:
            pass
    low, high = (-math.inf, math.inf) if leaves.extrapolate else (terms.low[term], terms.high[term])
    return f"{prefix}term({value}, {', '.join(map(number, (terms.centre[term], terms.scale[term], low, high)))})"


def _list(values: FloatArray) -> str:
    return ", ".join(map(number, values.ravel()))
