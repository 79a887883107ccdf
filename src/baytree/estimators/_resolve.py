"""Resolve a model that a user passes to a plot, an export or a report: an estimator, a pipeline, or a fitted result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._validation import short_repr
from ..decision import Decision, position_of
from ..explain import Explanation
from ..fitted import Fitted, FittedOn, Stability
from ..growth import constant_leaves
from ..sources import Source
from ..table import Rows, as_table
from ._base import Estimator
from ._facts import facts_of
from ._fit import prepare
from ._stability import read_rows_of_fit
from ._tree import SingleTree


class FittedPipeline(Protocol):
    """scikit-learn's Pipeline, as far as it is needed here."""

    steps: list[tuple[str, Any]]


FittedEstimator = Estimator | FittedPipeline
Model = FittedEstimator | Fitted


def estimator_of(model: Model) -> Estimator:
    """The estimator that a user means: of a pipeline the last step, of a wrapper what it holds."""
    estimator = bare_estimator_of(model)
    check_is_fitted(estimator)
    return estimator


def bare_estimator_of(model: Any) -> Estimator:
    """The estimator that a user means, which need not be fitted."""
    inner = _unwrap(model)
    if inner is not model:
        return bare_estimator_of(inner)
    if isinstance(model, BaseSearchCV):
        raise TypeError(f"model is a {type(model).__name__}: give its best model, search.best_estimator_.")
    if not isinstance(model, Estimator):
        raise TypeError(
            "model must be a tree, a tree space or a forest of baytree, or a pipeline or threshold classifier that "
            f"ends in one; got {short_repr(model)}."
        )
    return model


def holds_estimator(model: Any) -> bool:
    """Whether a model is one of baytree, or ends in one."""
    inner = _unwrap(model)
    return isinstance(model, Estimator) if inner is model else holds_estimator(inner)


def _unwrap(model: Any) -> Any:
    """The last step of a pipeline, or the model inside a scikit-learn wrapper; other models are returned unchanged."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1]
    if isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV | FrozenEstimator):
        return vars(model).get("estimator_", model.estimator)
    return model


def fitted_of(model: Model) -> Fitted:
    """The fitted result that a user means; the threshold of a wrapper is its decision."""
    if isinstance(model, Fitted):
        return model
    inner = _unwrap(model)
    if inner is model:
        return estimator_of(model).fitted_
    fitted = fitted_of(inner)
    if isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return replace(fitted, decision=_decision_of(model, fitted))
    return fitted


def _decision_of(model: Any, fitted: Fitted) -> Decision:
    """The threshold of scikit-learn's wrapper."""
    tuned = isinstance(model, TunedThresholdClassifierCV)
    if tuned:
        check_is_fitted(model)
    threshold = model.best_threshold_ if tuned else 0.5 if model.threshold == "auto" else model.threshold
    label = None if tuned else model.pos_label
    positive = 1 if label is None else fitted.outcome.labels.tolist().index(label)
    return Decision(threshold=float(threshold), positive=positive)


def with_positive(fitted: Fitted, positive: Any) -> Fitted:
    """A fitted result of which one of two classes, by its label, is the positive one; None: that of its decision."""
    if positive is None:
        return fitted
    n_classes = len(fitted.outcome.labels)
    if n_classes != 2:
        what = f"predicts {n_classes} classes" if fitted.outcome.predicts_classes else "predicts numbers"
        raise ValueError(f"positive names one of two classes, and the model {what}: leave it out.")
    position = position_of(positive, fitted.outcome.labels, "positive")
    return replace(fitted, decision=fitted.decision.with_positive(position))


def readable_tree_of(model: Model) -> Fitted:
    """The fitted tree that a user reads: of a tree space the most probable one, of a forest that of all rows."""
    return fitted_of(model).readable


def table_of(model: Model, X: Any) -> Any:
    """The table that the fitted result reads: of a pipeline what the steps before the last make of X."""
    if not isinstance(model, Pipeline):
        inner = _unwrap(model)
        return X if inner is model else table_of(inner, X)
    for name, step in model.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        if not hasattr(step, "transform"):
            raise TypeError(f"The step {name!r} of the pipeline has no transform: its table cannot be passed on.")
        X = step.transform(X)
    return table_of(model.steps[-1][1], X)


def read_rows(model: Model, X: Any) -> Rows:
    """Check a table and read all of its columns, without infinite values."""
    fitted = fitted_of(model)
    table = table_of(model, X)
    rows = fitted.schema.read(as_table(table)) if model is fitted else estimator_of(model)._read_all(table)
    fitted.schema.refuse_infinity(rows)
    return rows


def without_threshold(model: Any) -> Any:
    """A model without scikit-learn's wrappers: what they decide is the decision of the fitted result."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        return Pipeline([*model.steps[:-1], (name, without_threshold(last))])
    inner = _unwrap(model)
    return model if inner is model else without_threshold(inner)


def refit_model(model: Any, X: Any, y: Any, **given: Any) -> Any:
    """Fit a copy of a model to other rows; `given` holds what goes with the rows, None where nothing does."""
    plain = without_threshold(model)
    prefix, last = "", plain
    while isinstance(last, Pipeline):
        prefix, last = f"{prefix}{last.steps[-1][0]}__", last.steps[-1][1]
    return clone(plain).fit(X, y, **{f"{prefix}{name}": value for name, value in given.items() if value is not None})


def facts_of_fit(model: Model, X: Any, y: Any, sample_weight: Any = None, **extras: Any) -> FittedOn:
    """The facts that a fit of the model to these rows would record; refuses the rows that a fit would refuse."""
    estimator = clone(estimator_of(model))
    given = {name: value for name, value in extras.items() if value is not None}
    source = estimator._memory_source(table_of(model, X), y, sample_weight, given)
    return facts_of(prepare(estimator, source, estimator._target_reader()).data)


def explanations(model: Model, X: Any, **options: Any) -> list[Explanation]:
    """Explain rows of a pipeline, or of a threshold classifier of scikit-learn, with its threshold as the decision.

    Parameters
    ----------
    model
        A fitted estimator, a pipeline that ends in one, or a ``FixedThresholdClassifier`` or
        ``TunedThresholdClassifierCV`` around either.
    X
        Rows as `model` takes them. The columns of an explanation are those that the last step reads.
    **options
        As in ``BayesianTreeClassifier.explain``: ``immutable``, ``directions`` and so on.

    Returns
    -------
    list of Explanation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from baytree import BayesianTreeClassifier, explanations
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), BayesianTreeClassifier()).fit(X, y)
    >>> explanations(pipeline, X[:1])[0].decision
    '0'
    """
    return _with_whole_decision(model).explain(table_of(model, X), **options)


def stability_of_model(model: FittedEstimator, X: Any, y: Any, **options: Any) -> Stability:
    """The stability of a model by the rows of its fit; of a pipeline or threshold classifier with its decisions."""
    return _with_whole_decision(model).stability(table_of(model, X), y, **options)


def sizes_of_model(model: FittedEstimator, X: Any, y: Any, **options: Any) -> tuple[Any, int]:
    """The sizes of a single tree with its losses on rows, of a pipeline too, and the number of its leaves."""
    estimator = _with_whole_decision(model)
    if not isinstance(estimator, SingleTree):
        raise TypeError(f"sizes are those of a single tree, not of a {type(estimator).__name__}: give readable_tree_.")
    table = None if X is None else table_of(model, X)
    return estimator.sizes(table, y, **options), estimator.get_n_leaves()


def _with_whole_decision(model: Model) -> Estimator:
    """The estimator inside pipelines and wrappers, with the decision rule of the whole."""
    bare = estimator_of(model)
    return type(bare).from_fitted(fitted_of(model), bare.get_params(deep=False))


def prepare_for_edits(estimator: Estimator, source: Source | None, table: tuple[Any, Any, Any, dict[str, Any]]) -> Any:
    """The training data of a single tree that is to be edited: the rows of a source, or else of a table in memory.

    A table is X, y, the weights and the extras.
    """
    if not isinstance(estimator, SingleTree):
        raise TypeError(
            f"Edits are made to a single tree, and model is a {type(estimator).__name__}: give its readable_tree_."
        )
    constant_leaves(estimator.tree_, "An edited tree")
    if source is None:
        X, y, sample_weight, extras = table
        source = estimator._source_of_fit(X, y, sample_weight, **extras)
    return read_rows_of_fit(estimator, source, "An edit")
