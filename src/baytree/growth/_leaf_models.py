"""Growth of trees with models in their leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from ..leaves import ConstantLeaves, LeafTerms, LinearLeaves, LogisticLeaves, ModelLeaves, TermKind
from ..outcomes import CategoricalOutcome, NormalOutcome, Outcome, Target
from ..table import Rows, Schema
from ..tree import TreeStore
from ._grower import read_tree
from ._settings import Growth, LeafModelSettings

_MOST_CATEGORIES = 20  # of a column that have an indicator: the most frequent
_FEWEST_ROWS = 2  # of a category that has one


@dataclass(frozen=True)
class CandidateTerms:
    """The terms that leaves choose from."""

    feature: IntArray
    kind: AnyArray
    category: FloatArray
    log_weight: FloatArray
    direction: AnyArray  # 1: predictions must rise with the term, -1: fall, 0: either


def candidate_terms(rows: Rows, schema: Schema, growth: Growth) -> CandidateTerms:
    """Numbers as they are, the most frequent categories as indicators, and an indicator of missing values."""
    terms: list[tuple[int, TermKind, float, float, int]] = []
    used = np.flatnonzero(growth.feature_weight > 0)
    with np.errstate(divide="ignore"):
        log_weight = np.log(growth.feature_weight / growth.feature_weight[used].mean())
    everywhere = np.arange(len(rows))
    for f in used.tolist():
        values = rows.feature(f, everywhere)
        is_missing, weight = np.isnan(values), float(log_weight[f])
        if schema.columns[f].is_nominal:
            indicators = _indicators(values[~is_missing], any_missing=bool(is_missing.any()))
            terms += [(f, TermKind.CATEGORY, category, weight, 0) for category in indicators]
        else:
            direction = 0 if growth.monotonic is None else int(growth.monotonic[f])
            terms.append((f, TermKind.VALUE, 0.0, weight, direction))
        if is_missing.any():
            terms.append((f, TermKind.MISSING, 0.0, weight, 0))
    features, kinds, categories, weights, directions = zip(*terms, strict=True) if terms else ((),) * 5
    return CandidateTerms(
        np.array(features, dtype=np.int64),
        np.array(kinds, dtype=np.uint8),
        np.array(categories, dtype=np.float64),
        np.array(weights, dtype=np.float64),
        np.array(directions, dtype=np.int8),
    )


def _indicators(values: FloatArray, *, any_missing: bool) -> list[float]:
    """The categories that have an indicator; of two the first, since that of the other is its complement."""
    categories, counts = np.unique(values, return_counts=True)
    if len(categories) == 2 and not any_missing:
        return [float(categories[0])]
    frequent = np.lexsort((categories, -counts))[:_MOST_CATEGORIES]
    return sorted(categories[[i for i in frequent if counts[i] >= _FEWEST_ROWS]].tolist())


def grow_with_models(
    columns: _core.Columns, terms: CandidateTerms, target: Target, outcome: Outcome, growth: Growth
) -> TreeStore:
    """Grow the tree of a table whose leaves hold models."""
    settings = growth.leaf_models
    if settings is None:
        raise ValueError("These settings are for constant leaves.")
    models = leaf_models(columns, terms, target, outcome, settings)
    nodes, fitted = _core.grow_leaf_models(
        columns,
        outcome.to_core(target),
        outcome.core_prior().tolist(),
        growth.settings(),
        models,
        settings.search(),
        growth.n_threads,
    )

    def make(constant: ConstantLeaves) -> ModelLeaves:
        fields: dict[str, Any] = {
            "outcome": outcome,
            "prior": np.array(constant.prior),
            "statistics": constant.statistics,
            "terms": _leaf_terms(terms, fitted),
            "posterior": outcome.prior_from_core(fitted["level"]),
            "coefficient": fitted["coefficient"],
            "covariance": fitted["covariance"],
            "log_likelihood": outcome.log_likelihood_from_core(nodes["log_likelihood"], constant.statistics),
            "extrapolate": settings.extrapolate,
        }
        if not isinstance(outcome, NormalOutcome):
            return LogisticLeaves(**fields)
        y_range = np.stack([fitted["lowest"], fitted["highest"]], axis=1) * outcome.scale + outcome.shift
        return LinearLeaves(**fields | {"coefficient": fitted["coefficient"] * outcome.scale}, y_range=y_range)

    return read_tree(nodes, outcome, growth, make)


def leaf_models(
    columns: _core.Columns, terms: CandidateTerms, target: Target, outcome: Outcome, settings: LeafModelSettings
) -> _core.LeafModels:
    """The models of sets of rows, as the compiled core fits them."""
    choice = (terms.feature, terms.kind, terms.category, terms.log_weight, terms.direction, settings.max_terms)
    prior = outcome.core_prior().tolist()
    if isinstance(outcome, NormalOutcome):
        return _core.linear_leaves(columns, *choice, outcome.standard(target), target.weight, prior)
    if isinstance(outcome, CategoricalOutcome):
        return _core.logistic_leaves(columns, *choice, target.y.astype(np.int64), target.weight, prior)
    raise TypeError(f"Leaves of the outcome {outcome.name!r} hold no models.")


def _leaf_terms(terms: CandidateTerms, models: dict[str, Any]) -> LeafTerms:
    chosen = models["term"]
    return LeafTerms(
        models["term_start"],
        terms.kind[chosen],
        terms.feature[chosen],
        terms.category[chosen],
        *(models[name] for name in ("centre", "scale", "low", "high")),
    )
