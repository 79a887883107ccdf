"""The models in leaves as data of the page's script, which computes what they predict for a case."""

from __future__ import annotations

import math
from typing import Any

from ..leaves import PROBIT, QUADRATURE, LeafModel, LinearLeaves, LogisticLeaves, ModelLeaves, TermKind, term_text
from ..table import Schema
from ..tree import TreeStore


def leaf_constants(leaves: LeafModel) -> dict[str, Any] | None:
    """What the logistic models of all leaves have in common; None for others."""
    if not isinstance(leaves, LogisticLeaves):
        return None
    points, weights = QUADRATURE
    return {
        "contrasts": leaves.contrasts.tolist(),
        "points": points.tolist(),
        "weights": weights.tolist(),
        "probit": PROBIT,
        "monotonic": leaves.monotonic,
    }


def leaf_models(tree: TreeStore, schema: Schema) -> list[dict[str, Any] | None] | None:
    """The model of each leaf with terms, None for other nodes; None instead of all if there are no terms."""
    leaves = tree.leaves
    if not isinstance(leaves, ModelLeaves) or leaves.is_constant:
        return None
    has_model = tree.is_leaf & (leaves.n_terms > 0)
    return [_model(leaves, node, schema) if has else None for node, has in enumerate(has_model.tolist())]


def _model(leaves: ModelLeaves, node: int, schema: Schema) -> dict[str, Any]:
    result: dict[str, Any] = {
        "terms": [_term(leaves, term, schema) for term in leaves.terms.of(node)],
        "coefficient": leaves.coefficients_of(node).tolist(),
        "covariance": leaves.covariance_of(node).tolist(),
    }
    if isinstance(leaves, LinearLeaves):
        ends = [end if math.isfinite(end) else None for end in leaves.limits[node].tolist()]
        result |= {"posterior": leaves.posterior[node].tolist(), "limits": ends}
    return result


def _term(leaves: ModelLeaves, term: int, schema: Schema) -> dict[str, Any]:
    terms = leaves.terms
    low, high = (None, None) if leaves.extrapolate else (float(terms.low[term]), float(terms.high[term]))
    return {
        "name": term_text(terms, term, schema),
        "feature": int(terms.feature[term]),
        "kind": TermKind(int(terms.kind[term])).name.lower(),
        "category": float(terms.category[term]),
        "centre": float(terms.centre[term]),
        "scale": float(terms.scale[term]),
        "low": low,
        "high": high,
    }
