"""Which tree is meant."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..estimators._space import TreeSpace


def single_tree(model: Any) -> Any:
    """Return a fitted single-tree estimator: the model itself, or the modal tree of a tree space."""
    check_is_fitted(model)
    return model.modal_tree_ if isinstance(model, TreeSpace) else model
