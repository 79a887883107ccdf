"""What a user hands to a plot, an export or a page: an estimator, a pipeline that ends in one, or a fitted result."""

from __future__ import annotations

from typing import Any, Protocol

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._validation import shown
from ..fitted import Fitted, FittedSpace, FittedTree
from ..table import Rows, as_table
from ._base import Estimator


class FittedPipeline(Protocol):
    """scikit-learn's Pipeline, as far as it is needed here."""

    steps: list[tuple[str, Any]]


FittedEstimator = Estimator | FittedPipeline
Model = FittedEstimator | FittedTree | FittedSpace


def estimator_of(model: Model) -> Estimator:
    """The estimator that a user means: of a pipeline the last step."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not isinstance(last, Estimator):
        where = "the last step of the pipeline" if isinstance(model, Pipeline) else "model"
        raise TypeError(f"{where} must be a tree or a tree space of baytree; got {shown(last)}.")
    check_is_fitted(last)
    return last


def fitted_of(model: Model) -> Fitted:
    """The fitted result that a user means."""
    return model if isinstance(model, (FittedTree, FittedSpace)) else estimator_of(model).fitted_


def fitted_tree_of(model: Model) -> FittedTree:
    """The fitted tree that a user means: of a tree space the most probable one."""
    return fitted_of(model).modal


def table_of(model: Model, X: Any) -> Any:
    """The table that the fitted result reads: of a pipeline what the steps before the last make of X."""
    if not isinstance(model, Pipeline):
        return X
    for name, step in model.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        if not hasattr(step, "transform"):
            raise TypeError(f"The step {name!r} of the pipeline has no transform: its table cannot be passed on.")
        X = step.transform(X)
    return X


def read_rows(model: Model, X: Any) -> Rows:
    """Check a table and read all of its columns, without infinite values."""
    fitted = fitted_of(model)
    table = table_of(model, X)
    if isinstance(model, (FittedTree, FittedSpace)):
        rows = fitted.schema.read(as_table(table))
    else:
        rows = estimator_of(model)._read_all(table)
    fitted.schema.refuse_infinity(rows)
    return rows
