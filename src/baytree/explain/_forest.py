"""Notes on a forest beside the tree to read: how many trees agree, and which features they use."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from .._words import estimate_text
from ..fitted import Fitted
from ..table import Rows

_MAX_FEATURES = 3  # named in a note


def forest_notes(fitted: Fitted, rows: Rows, predictions: list[str], n_threads: int = 1) -> list[str]:
    """A note for each row; `predictions` is what the forest predicts."""
    leaves = fitted.leaves_by_tree(rows, n_threads)
    agreements = _agreement_texts(fitted, fitted.tree_means(rows, n_threads), rows, n_threads)
    shares = np.stack([fitted.path_features[row_leaves].mean(axis=0) for row_leaves in leaves])
    return [
        f"(one tree of all rows says so; the {fitted.trees.n_trees} trees of the forest together say "
        f"{prediction}, {agreement}; {_features(fitted, share)})"
        for prediction, agreement, share in zip(predictions, agreements, shares, strict=True)
    ]


def _agreement_texts(fitted: Fitted, means: FloatArray, rows: Rows, n_threads: int) -> list[str]:
    """The agreement of the trees for each row, as text."""
    if not fitted.outcome.predicts_classes:
        ends = np.quantile(means[:, :, 0], [0.05, 0.95], axis=1).T
        return [f"nine in ten of them between {estimate_text(low)} and {estimate_text(high)}" for low, high in ends]
    codes = fitted.class_codes(rows, n_threads)
    votes = fitted.decision.codes(means.reshape(-1, means.shape[2])).reshape(means.shape[:2])
    agree = (votes == codes[:, None]).sum(axis=1)
    return [f"{number} of them by themselves" for number in agree.tolist()]


def _features(fitted: Fitted, share: FloatArray) -> str:
    """The features that most trees use on the path of a row."""
    order = sorted(range(len(share)), key=lambda f: -share[f])[:_MAX_FEATURES]
    named = [f"{fitted.schema.name(f)} ({share[f]:.0%})" for f in order if share[f] > 0]
    return f"most look at {', '.join(named)}" if named else "none of them splits"
