"""Growth of trees with models in their leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from ..leaves import ConstantLeaves, LeafTerms, LinearLeaves, TermKind
from ..outcomes import NormalOutcome, Outcome, Target
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


def candidate_terms(rows: Rows, schema: Schema, growth: Growth) -> CandidateTerms:
    """Numbers as they are, the most frequent categories as indicators, and an indicator of missing values."""
    found: list[tuple[int, TermKind, float, float]] = []
    used = np.flatnonzero(growth.feature_weight > 0)
    with np.errstate(divide="ignore"):
        log_weight = np.log(growth.feature_weight / growth.feature_weight[used].mean())
    everywhere = np.arange(len(rows))
    for f in used.tolist():
        values = rows.feature(f, everywhere)
        is_missing, weight = np.isnan(values), float(log_weight[f])
        if schema.columns[f].is_nominal:
            indicators = _indicators(values[~is_missing], any_missing=bool(is_missing.any()))
            found += [(f, TermKind.CATEGORY, category, weight) for category in indicators]
        else:
            found.append((f, TermKind.VALUE, 0.0, weight))
        if is_missing.any():
            found.append((f, TermKind.MISSING, 0.0, weight))
    features, kinds, categories, weights = zip(*found, strict=True) if found else ((), (), (), ())
    return CandidateTerms(
        np.array(features, dtype=np.int64),
        np.array(kinds, dtype=np.uint8),
        np.array(categories, dtype=np.float64),
        np.array(weights, dtype=np.float64),
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
    if settings is None or not isinstance(outcome, NormalOutcome):
        raise TypeError(f"Leaves of the outcome {outcome.name!r} hold no models.")
    prior = outcome.core_prior().tolist()
    nodes, models = _core.grow_leaf_models(
        columns,
        outcome.to_core(target),
        prior,
        growth.settings(),
        linear_models(columns, terms, target, outcome, settings),
        settings.search(),
        growth.n_threads,
    )
    make = partial(_linear_leaves, outcome, terms, nodes["log_likelihood"], models, settings)
    return read_tree(nodes, outcome, growth, make)


def linear_models(
    columns: _core.Columns, terms: CandidateTerms, target: Target, outcome: NormalOutcome, settings: LeafModelSettings
) -> _core.LeafModels:
    """The linear models of sets of rows, as the compiled core fits them."""
    return _core.linear_leaves(
        columns,
        terms.feature,
        terms.kind,
        terms.category,
        terms.log_weight,
        settings.max_terms,
        outcome.standard(target),
        target.weight,
        outcome.core_prior().tolist(),
    )


def _linear_leaves(
    outcome: NormalOutcome,
    terms: CandidateTerms,
    log_likelihood: FloatArray,
    models: dict[str, Any],
    settings: LeafModelSettings,
    constant: ConstantLeaves,
) -> LinearLeaves:
    """The models that the compiled core fitted, in the units of the target."""
    y_range = np.stack([models["lowest"], models["highest"]], axis=1)
    return LinearLeaves(
        outcome=outcome,
        prior=np.array(constant.prior),
        statistics=constant.statistics,
        terms=_leaf_terms(terms, models),
        posterior=outcome.prior_from_core(models["level"]),
        coefficient=models["coefficient"] * outcome.scale,
        covariance=models["covariance"],
        log_likelihood=outcome.log_likelihood_from_core(log_likelihood, constant.statistics),
        y_range=y_range * outcome.scale + outcome.shift,
        extrapolate=settings.extrapolate,
    )


def _leaf_terms(terms: CandidateTerms, models: dict[str, Any]) -> LeafTerms:
    chosen = models["term"]
    return LeafTerms(
        models["term_start"],
        terms.kind[chosen],
        terms.feature[chosen],
        terms.category[chosen],
        *(models[name] for name in ("centre", "scale", "low", "high")),
    )
