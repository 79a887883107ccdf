"""How often 90 % intervals of class probabilities hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.model_selection import StratifiedKFold

from benchmarks.honesty.tables import Made, made, real_tables

Make = Callable[[], Any]
_GROUP = 50  # rows of similar predictions, where there are no leaves
_MOST_GROUPED = 200  # held-out rows then, since quantiles of averages take their time
_LEVELS = (np.arange(20) + 0.5) / 20


def true_coverage(model: Any, new: Made, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """For single rows, whether intervals hold the truth: of the model's own averages, and of the row.

    The truth of a leaf is the mean of the true probabilities of new rows in it; the truth of an average over nodes is
    the average of theirs. The truth of a row is its own probability.
    """
    fitted = model.fitted_
    weights = sparse.vstack(list(fitted.leaf_weights(model._read(new.X))), format="csr")
    total = np.asarray(weights.sum(axis=0)).ravel()
    by_node = (weights.T @ new.p) / np.maximum(total, np.finfo(float).tiny)[:, None]
    ends = model.predict_interval(new.X[:n_rows])
    truths = np.asarray(weights[:n_rows] @ by_node), new.p[:n_rows]
    of_leaf, of_row = (((truth >= ends[..., 0]) & (truth <= ends[..., 1])).mean(axis=1) for truth in truths)
    return of_leaf, of_row


def leaf_coverage(model: Any, new: Made) -> tuple[np.ndarray, np.ndarray]:
    """For each leaf of a tree, whether the interval holds the truth, and its number of training rows."""
    leaf = model.apply(new.X)
    reached, first = np.unique(leaf, return_index=True)
    truth = np.stack([new.p[leaf == node].mean(axis=0) for node in reached])
    ends = model.predict_interval(new.X[first])
    inside = ((truth >= ends[..., 0]) & (truth <= ends[..., 1])).mean(axis=1)
    return inside, model.tree_.n_node_samples[reached]


def simulated(make: Make, shape: str, n: int, n_tables: int, n_rows: int) -> tuple[float, float]:
    """Coverage of leaves (of the model's own averages) and of single rows, over some tables whose trees are split."""
    random, leaves, rows = np.random.default_rng([n, n_tables]), [], []
    for _ in range(n_tables):
        train, new = made(shape, n, random), made(shape, 10_000, random)
        model = make().fit(train.X, train.y)
        if model.fitted_.trees.node_count == model.fitted_.trees.n_trees:
            continue
        of_leaf, of_row = true_coverage(model, new, n_rows)
        leaves.append(leaf_coverage(model, new)[0] if hasattr(model, "tree_") else of_leaf)
        rows.append(of_row)
    return (float("nan"), float("nan")) if not leaves else (np.concatenate(leaves).mean(), np.concatenate(rows).mean())


def held_out(make: Make, n_folds: int = 3) -> dict[str, list[tuple[float, float]]]:
    """For each real table: whether groups of held-out rows have a count inside its interval, and the rows of the group.

    Groups are the leaves of a tree; of other models, fifty rows with similar predictions, in the first fold.
    """
    result = {}
    for name, X, y in real_tables():
        groups: list[tuple[float, float]] = []
        for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
            model = make().fit(X.iloc[train], y[train])
            has_leaves = hasattr(model, "tree_")
            some = test if has_leaves else np.random.default_rng(0).permutation(test)[:_MOST_GROUPED]
            groups += _groups_inside(model, X.iloc[some], np.searchsorted(model.classes_, y[some]))
            if not has_leaves:
                break
        result[name] = groups
    return result


def _groups_inside(model: Any, X: Any, code: np.ndarray) -> list[tuple[float, float]]:
    quantiles = model.predict_quantiles(X, _LEVELS)
    by_leaf = model.apply(X) if hasattr(model, "tree_") else None
    counts = []
    for c in range(len(model.classes_)):
        if by_leaf is None:
            order = np.argsort(quantiles[:, c].mean(axis=1), kind="stable")
            groups = np.array_split(order, max(1, len(order) // _GROUP))
        else:
            groups = [np.flatnonzero(by_leaf == leaf) for leaf in np.unique(by_leaf)]
        for group in groups:
            size = model.tree_.n_node_samples[by_leaf[group[0]]] if by_leaf is not None else np.inf
            counts.append((count_inside((code[group] == c).sum(), len(group), quantiles[group, c].mean(axis=0)), size))
    return counts


def count_inside(count: int, n: int, p: np.ndarray) -> float:
    """Whether a count lies inside its 90 % interval, given equally probable values of its probability.

    The two counts at the ends of the interval belong to it in part, so that 90 % is what is expected.
    """
    below = stats.binom.cdf(count - 1, n, p).mean()
    above = stats.binom.cdf(count, n, p).mean()
    return float(np.clip((min(above, 0.95) - max(below, 0.05)) / max(above - below, 1e-300), 0, 1))
