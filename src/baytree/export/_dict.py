"""Models as plain dictionaries, the content of a model file."""

from __future__ import annotations

from typing import Any

from ..estimators import Estimator, FittedEstimator, estimator_of, from_document
from ..persistence import document_of


def to_dict(model: FittedEstimator) -> dict[str, Any]:
    """Return a fitted model as strings, numbers, lists and dictionaries, fit for JSON; of a pipeline its last step."""
    estimator = estimator_of(model)
    return document_of(type(estimator).__name__, estimator.get_params(deep=False), estimator.fitted_)


def from_dict(document: dict[str, Any]) -> Estimator:
    """Return the model that `to_dict` described."""
    return from_document(document)
