"""Models in leaves in files: their arrays, beside those of constant leaves, are written and read with care."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..leaves import ConstantLeaves, LeafTerms, LinearLeaves, LogisticLeaves, ModelLeaves, TermKind
from ..outcomes import NormalOutcome, Outcome
from ..table import Schema
from ._check import check_posterior

_PREFIX = "leaf_"
_OF_TERMS = tuple(field.name for field in fields(LeafTerms))
_OF_MODELS = ("posterior", "coefficient", "covariance", "log_likelihood")
_TYPES: dict[str, type] = {"start": np.int64, "feature": np.int64, "kind": np.uint8, "extrapolate": np.bool_}


def arrays_of_models(leaves: ModelLeaves) -> dict[str, AnyArray]:
    """The arrays of models in leaves that a file keeps beside those of constant leaves."""
    arrays = {name: getattr(leaves.terms, name) for name in _OF_TERMS}
    arrays |= {name: getattr(leaves, name) for name in _arrays_of(leaves.outcome)}
    arrays["extrapolate"] = np.array([leaves.extrapolate])
    return {_PREFIX + name: array for name, array in arrays.items()}


def _arrays_of(outcome: Outcome) -> tuple[str, ...]:
    """The names of the arrays of models that are not those of their terms."""
    return (*_OF_MODELS, "y_range") if isinstance(outcome, NormalOutcome) else _OF_MODELS


def split_models(arrays: dict[str, AnyArray]) -> tuple[dict[str, AnyArray], dict[str, AnyArray]]:
    """The arrays of a store without and with those of models in leaves; the latter by their own names."""
    models = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
    return {name: array for name, array in arrays.items() if not name.startswith(_PREFIX)}, models


def read_models(models: dict[str, AnyArray], constant: ConstantLeaves, schema: Schema) -> ModelLeaves:
    """The models of nodes with these constant leaves; refuses arrays that are none."""
    outcome = constant.outcome
    if not outcome.predicts_classes and not isinstance(outcome, NormalOutcome):
        raise ValueError("leaves of this outcome hold no models")
    if models.keys() != {*_OF_TERMS, *_arrays_of(outcome), "extrapolate"}:
        raise ValueError("the arrays of the models in the leaves are not all there")
    for name, array in models.items():
        if array.dtype != _TYPES.get(name, np.float64) or not np.all(np.isfinite(array)):
            raise ValueError(f"the array leaf_{name} has a wrong type or a number that is not finite")
    _check_shapes(models, *constant.prior.shape)
    terms = LeafTerms(**{name: models[name] for name in _OF_TERMS})
    _check_terms(terms, schema)
    fields: dict[str, Any] = {name: models[name] for name in _arrays_of(outcome)}
    fields |= {"prior": np.array(constant.prior), "extrapolate": bool(models["extrapolate"][0])}
    kind = LinearLeaves if isinstance(outcome, NormalOutcome) else LogisticLeaves
    leaves = kind(outcome=outcome, statistics=constant.statistics, terms=terms, **fields)
    _check_coefficients(leaves)
    check_posterior(outcome, leaves.prior, leaves.posterior)
    return leaves


def _check_shapes(models: dict[str, AnyArray], n_nodes: int, n_parameters: int) -> None:
    start = models["start"]
    if start.shape != (n_nodes + 1,) or start[0] != 0 or np.any(np.diff(start) < 0):
        raise ValueError("the terms of the leaves do not follow each other")
    n_terms = int(start[-1])
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_OF_TERMS[1:], (n_terms,))
    shapes |= {"log_likelihood": (n_nodes,), "extrapolate": (1,), "posterior": (n_nodes, n_parameters)}
    shapes |= {"y_range": (n_nodes, 2)} if "y_range" in models else {}
    for name, shape in shapes.items():
        if models[name].shape != shape:
            raise ValueError(f"the array leaf_{name} has a wrong shape")
    if "y_range" in models and np.any(models["y_range"][:, 0] > models["y_range"][:, 1]):
        raise ValueError("the range of y in a leaf is none")


def _check_terms(terms: LeafTerms, schema: Schema) -> None:
    if np.any((terms.feature < 0) | (terms.feature >= schema.n_features)) or np.any(terms.kind > max(TermKind)):
        raise ValueError("a term is of a feature or a kind that does not exist")
    if np.any(terms.scale <= 0) or np.any((terms.low > terms.centre) | (terms.centre > terms.high)):
        raise ValueError("the scale or the range of a term is none")
    is_nominal = schema.is_nominal[terms.feature]
    if np.any(is_nominal & (terms.kind == TermKind.VALUE)) or np.any(~is_nominal & (terms.kind == TermKind.CATEGORY)):
        raise ValueError("a term does not fit its column")
    for i in np.flatnonzero(terms.kind == TermKind.CATEGORY):
        categories = schema.columns[terms.feature[i]].categories
        if categories is None or terms.category[i] not in range(len(categories)):
            raise ValueError("a term is of a category that does not exist")


def _check_coefficients(leaves: ModelLeaves) -> None:
    counts = leaves.n_coefficients
    if leaves.coefficient.shape != (counts.sum(),) or leaves.covariance.shape != ((counts**2).sum(),):
        raise ValueError("the coefficients of the leaves are not all there")
    for node in np.flatnonzero(leaves.terms.counts):
        covariance = leaves.covariance_of(int(node))
        if not np.array_equal(covariance, covariance.T) or np.any(np.linalg.eigvalsh(covariance) <= 0):
            raise ValueError("the covariance of a leaf is none")
