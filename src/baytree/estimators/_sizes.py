"""The most probable prunings of a tree by their size, with their losses on held-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray
from ..fitted import Fitted
from ..growth import TableData, assign_folds
from ..tree import BestPrunings, TreeStore, best_of_each_size
from ._stability import read_rows_of_fit

if TYPE_CHECKING:
    from ._tree import SingleTree


def sizes_of(estimator: SingleTree, X: Any, y: Any, given: tuple[Any, Any, Any], n_folds: int, max_leaves: int) -> Any:
    """The prunings of each size as a data frame; `given` holds weights, exposures and events."""
    try:
        import pandas as pd  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError("sizes needs pandas: pip install pandas.") from None
    if (X is None) != (y is None) or (X is None and any(value is not None for value in given)):
        raise ValueError("sizes needs X and y for the loss: give both, or neither and no weights.")
    log_posterior = BestPrunings(estimator.fitted_.grown, 0, max_leaves).log_posterior
    with np.errstate(over="ignore"):
        odds = np.exp(log_posterior.max() - log_posterior)
    n_leaves = np.arange(1, len(log_posterior) + 1)
    columns = {"n_leaves": n_leaves, "log_posterior": log_posterior, "odds_against": odds}
    if X is not None:
        columns |= _mean_losses(estimator, (X, y, *given), n_folds, len(log_posterior))
    return pd.DataFrame(columns)


def _mean_losses(
    estimator: SingleTree, rows: tuple[Any, Any, Any, Any, Any], n_folds: int, max_leaves: int
) -> dict[str, FloatArray]:
    """The mean loss of each size on held-out rows, and its standard error."""
    parts = list(_losses_of_parts(estimator, rows, n_folds, max_leaves))
    losses = np.concatenate([loss for loss, _ in parts], axis=1) if parts else np.zeros((max_leaves, 0))
    weight = np.concatenate([weight for _, weight in parts]) if parts else np.zeros(0)
    total = weight.sum()
    if not total > 0:
        return dict.fromkeys(("loss", "loss_error"), np.full(max_leaves, np.nan))
    mean = losses @ weight / total
    variance = (losses - mean[:, None]) ** 2 @ weight / total
    return {"loss": mean, "loss_error": np.sqrt(variance / total)}


def _losses_of_parts(
    estimator: SingleTree, rows: tuple[Any, Any, Any, Any, Any], n_folds: int, max_leaves: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The losses of held-out rows by size and row, and the weights of the rows."""
    X, y, sample_weight, exposure, event = rows
    fitted = estimator.fitted_
    if n_folds == 0:
        extras = {name: value for name, value in (("exposure", exposure), ("event", event)) if value is not None}
        test = estimator._more_rows(estimator._read_all(X), y, sample_weight, estimator._target_reader(), extras)
        yield _losses_by_size(fitted, test, max_leaves), _weights(test)
        return
    if n_folds == 1:
        raise ValueError("n_folds is 1, but one fold leaves no other rows: give 2 or more, or 0 for new rows.")
    source = estimator._source_of_fit(X, y, sample_weight, exposure=exposure, event=event)
    data: TableData = read_rows_of_fit(estimator, source, "sizes")
    fold = assign_folds(data.rows, data.target, n_folds)  # duplicates share a fold
    for k in range(n_folds):
        is_test = fold == k
        if is_test.any() and not is_test.all():
            trial = estimator._grow(data.take(~is_test), fitted.outcome, calibrated=False)
            test = data.take(is_test)
            yield _losses_by_size(replace(trial, unseen=fitted.unseen), test, max_leaves), _weights(test)


def _losses_by_size(fitted: Fitted, test: TableData, max_leaves: int) -> FloatArray:
    """The loss of each row by the best pruning of each size; a smaller tree stands for sizes that it does not have."""
    losses = [_losses(fitted, tree, test) for tree in best_of_each_size(fitted.grown, max_leaves)]
    return np.array(losses + losses[-1:] * (max_leaves - len(losses)))


def _losses(fitted: Fitted, tree: TreeStore, test: TableData) -> FloatArray:
    """Minus the log probability, or density, of each row's outcome."""
    pruned, outcome = fitted.with_pruning(tree), fitted.outcome
    statistics = outcome.statistics(test.target)
    if outcome.predicts_classes:
        probability = (pruned.mean(test.rows) * statistics).sum(axis=1)
        return -np.log(np.maximum(probability, np.finfo(float).eps))
    weights, parameters = pruned.posterior_mixture(test.rows)
    row = np.repeat(np.arange(len(test)), np.diff(weights.indptr))
    log_density = outcome.log_marginal(parameters[weights.indices], statistics[row]) + np.log(weights.data)
    return -np.logaddexp.reduceat(log_density, weights.indptr[:-1])


def _weights(data: TableData) -> FloatArray:
    return np.ones(len(data)) if data.target.weight is None else data.target.weight
