"""Models in leaves in files: their arrays, beside those of constant leaves, are written and read with care."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..leaves import ConstantLeaves, LeafTerms, LinearLeaves, TermKind
from ..outcomes import NormalOutcome
from ..table import Schema
from ._check import check_posterior

_PREFIX = "leaf_"
_OF_TERMS = tuple(field.name for field in fields(LeafTerms))
_OF_MODELS = ("posterior", "coefficient", "covariance", "log_likelihood", "y_range")
_TYPES: dict[str, type] = {"start": np.int64, "feature": np.int64, "kind": np.uint8, "extrapolate": np.bool_}


def arrays_of_models(leaves: LinearLeaves) -> dict[str, AnyArray]:
    """The arrays of linear leaves that a file keeps beside those of constant leaves."""
    arrays = {name: getattr(leaves.terms, name) for name in _OF_TERMS}
    arrays |= {name: getattr(leaves, name) for name in _OF_MODELS}
    arrays["extrapolate"] = np.array([leaves.extrapolate])
    return {_PREFIX + name: array for name, array in arrays.items()}


def split_models(arrays: dict[str, AnyArray]) -> tuple[dict[str, AnyArray], dict[str, AnyArray]]:
    """The arrays of a store without and with those of models in leaves; the latter by their own names."""
    models = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
    return {name: array for name, array in arrays.items() if not name.startswith(_PREFIX)}, models


def read_models(models: dict[str, AnyArray], constant: ConstantLeaves, schema: Schema) -> LinearLeaves:
    """The models of nodes with these constant leaves; refuses arrays that are none."""
    if models.keys() != {*_OF_TERMS, *_OF_MODELS, "extrapolate"}:
        raise ValueError("the arrays of the models in the leaves are not all there")
    for name, array in models.items():
        if array.dtype != _TYPES.get(name, np.float64) or not np.all(np.isfinite(array)):
            raise ValueError(f"the array leaf_{name} has a wrong type or a number that is not finite")
    if not isinstance(constant.outcome, NormalOutcome):
        raise ValueError("leaves of this outcome hold no models")
    _check_shapes(models, len(constant.statistics))
    terms = LeafTerms(**{name: models[name] for name in _OF_TERMS})
    _check_terms(terms, schema)
    own: dict[str, Any] = {name: models[name] for name in _OF_MODELS}
    extrapolate = bool(models["extrapolate"][0])
    prior = np.array(constant.prior)
    leaves = LinearLeaves(constant.outcome, prior, constant.statistics, terms, extrapolate=extrapolate, **own)
    check_posterior(constant.outcome, leaves.prior, leaves.posterior)
    _check_covariance(leaves)
    return leaves


def _check_shapes(models: dict[str, AnyArray], n_nodes: int) -> None:
    start = models["start"]
    if start.shape != (n_nodes + 1,) or start[0] != 0 or np.any(np.diff(start) < 0):
        raise ValueError("the terms of the leaves do not follow each other")
    n_terms = int(start[-1])
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys((*_OF_TERMS[1:], "coefficient"), (n_terms,))
    shapes |= {"covariance": (int((np.diff(start) ** 2).sum()),), "log_likelihood": (n_nodes,), "extrapolate": (1,)}
    shapes |= {"posterior": (n_nodes, 4), "y_range": (n_nodes, 2)}
    for name, shape in shapes.items():
        if models[name].shape != shape:
            raise ValueError(f"the array leaf_{name} has a wrong shape")
    if np.any(models["y_range"][:, 0] > models["y_range"][:, 1]):
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


def _check_covariance(leaves: LinearLeaves) -> None:
    for node in np.flatnonzero(leaves.terms.counts):
        covariance = leaves.covariance_of(int(node))
        if not np.array_equal(covariance, covariance.T) or np.any(np.linalg.eigvalsh(covariance) <= 0):
            raise ValueError("the covariance of a leaf is none")
