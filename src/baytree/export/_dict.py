"""Models as plain dictionaries, the content of a model file."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from .._load import ESTIMATORS
from ..persistence import model_from_dict, model_to_dict


def to_dict(model: Any) -> dict[str, Any]:
    """Return a fitted model as strings, numbers, lists and dictionaries, fit for JSON."""
    check_is_fitted(model)
    return model_to_dict(model)


def from_dict(document: dict[str, Any]) -> Any:
    """Return the model that `to_dict` described."""
    return model_from_dict(document, ESTIMATORS)
