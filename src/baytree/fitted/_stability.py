"""How far the splits and decisions of a tree are kept when the rows are drawn anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import FloatArray, IntArray
from .._words import amount_text, count_text, percent_text
from ..table import Rows
from ..tree import Hyperplane, Split, TreeStore, corresponding_nodes, divides_alike
from ._fitted import Fitted

SAME_ROWS = 0.5  # overlap (Jaccard index) from which two nodes hold corresponding rows
SAME_SIDE = 0.9  # of the rows of a node, that a near threshold sends to the same side
_KEPT, _ELSEWHERE, _NOT_SPLIT, _NO_SUCH_ROWS = -1, -2, -3, -4  # what became of a split; 0 and more: the column
_HYPERPLANE = "a hyperplane"
_MOST_NAMED = 3  # in a line of text


@dataclass(frozen=True)
class SplitStability:
    """What became of one split of a tree in the refits; all shares of a split sum to 1.

    Attributes
    ----------
    node, depth, n_rows
        The node of the tree, the number of splits above it and the training rows in it.
    split
        The split in words: ``age <= 50``.
    kept
        Share of the refits in which a node with corresponding rows is split on the same column near the same threshold.
    other_threshold
        Share in which it is split on the same column elsewhere.
    other_columns
        Columns on which it is split instead, with their shares, the most frequent first.
    not_split
        Share in which it is a leaf.
    no_such_rows
        Share in which no node has corresponding rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> stability = BayesianTreeClassifier().fit(X, y).stability(X, y, n_refits=10)
    >>> stability.splits[0].split, stability.splits[0].no_such_rows
    ('petal width (cm) <= 0.8', 0.0)
    """

    node: int
    depth: int
    n_rows: int
    split: str
    kept: float
    other_threshold: float
    other_columns: tuple[tuple[str, float], ...]
    not_split: float
    no_such_rows: float

    def instead(self, most: int = _MOST_NAMED) -> str:
        """What the other refits have, in words, the most frequent first."""
        fixed = ("another threshold", self.other_threshold), ("no split", self.not_split)
        named = sorted((*self.other_columns, *fixed, ("no such rows", self.no_such_rows)), key=lambda item: -item[1])
        shown = [f"{name} {percent_text(share)}" for name, share in named[:most] if share > 0]
        rest = sum(share for _, share in named[most:])
        return ", ".join([*shown, f"other {percent_text(rest)}"] if rest > 0 else shown)


@dataclass(frozen=True, eq=False)
class Stability:
    """How far a tree is kept in refits on Bayesian-bootstrap weights; print it, or take its ``to_frame()``.

    Attributes
    ----------
    n_refits
        Number of refits.
    splits
        What became of each split of the tree, a tuple of `SplitStability` in the order of the nodes.
    decisions
        Share of the rows whose decision changes, on average over the refits; None of a regressor.
    change
        Of a regressor: how far predictions move, the root mean square of their changes on average over the refits, as a
        share of the standard deviation of the predictions. None of a classifier.
    by_row
        By row: the share of the refits that change its decision, or the root mean square of its changes
        in units of y.
    n_leaves
        Number of leaves of each refit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> stability = BayesianTreeClassifier().fit(X, y).stability(X, y, n_refits=10)
    >>> stability.n_refits, len(stability.splits), stability.change
    (10, 2, None)
    """

    n_refits: int
    splits: tuple[SplitStability, ...]
    decisions: float | None
    change: float | None
    by_row: FloatArray
    n_leaves: IntArray

    def summary(self) -> str:
        """The figure of decisions or predictions, as a sentence."""
        if self.decisions is not None:
            return f"{percent_text(self.decisions)} of the rows get another decision in a refit, on average."
        share = percent_text(self.change or 0.0)
        return f"Predictions move by {share} of their standard deviation in a refit, on average."

    def __str__(self) -> str:
        of = f"{count_text(len(self.splits), 'split')} in {count_text(self.n_refits, 'refit')}"
        lines = [f"kept  split ({of} on Bayesian-bootstrap weights)"]
        for split in self.splits:
            rest = f"; else {split.instead()}" if split.kept < 1 else ""
            indent = "  " * split.depth
            lines.append(f"{percent_text(split.kept):>6}  {indent}{split.split}  n={amount_text(split.n_rows)}{rest}")
        leaves = f"{self.n_leaves.min()} to {self.n_leaves.max()} leaves"
        return "\n".join([*lines, f"{self.summary()} The refits have {leaves}."])

    def to_frame(self) -> Any:
        """The splits as a pandas data frame, one line for each.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> stability = BayesianTreeClassifier().fit(X, y).stability(X, y, n_refits=10)
        >>> stability.to_frame().columns.tolist()[3:6]
        ['split', 'kept', 'other_threshold']
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an optional dependency
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install pandas, or read splits.") from None
        names = [item.name for item in fields(SplitStability)]
        return pd.DataFrame({name: [getattr(split, name) for split in self.splits] for name in names})


def compare_with_refits(fitted: Fitted, refits: Iterable[Fitted], rows: Rows) -> Stability:
    """Compare a single tree with refits of it on the same rows."""
    leaves, before = fitted.leaves(rows), _predictions(fitted, rows)
    fates, changes, n_leaves = [], [], []
    for refit in refits:
        fates.append(_fates(fitted.trees, refit.trees, leaves, refit.leaves(rows), rows))
        changes.append(_predictions(refit, rows) - before)
        n_leaves.append(refit.trees.n_leaves)
    is_class = fitted.outcome.predicts_classes
    change = np.array(changes, dtype=np.float64)  # by refit and row
    by_refit = (change != 0).mean(axis=1) if is_class else np.sqrt((change**2).mean(axis=1))
    spread = float(np.std(before))
    relative = float(by_refit.mean() / spread) if spread > 0 else 0.0
    return Stability(
        n_refits=len(fates),
        splits=_summarise(fitted, np.array(fates).reshape(len(fates), -1)),
        decisions=float(by_refit.mean()) if is_class else None,
        change=None if is_class else relative,
        by_row=(change != 0).mean(axis=0) if is_class else np.sqrt((change**2).mean(axis=0)),
        n_leaves=np.array(n_leaves, dtype=np.int64),
    )


def _predictions(fitted: Fitted, rows: Rows) -> FloatArray:
    """The class code of each row, or its mean."""
    if fitted.outcome.predicts_classes:
        return fitted.class_codes(rows).astype(np.float64)
    return fitted.mean(rows)[:, 0]


def _fates(tree: TreeStore, refit: TreeStore, leaf: IntArray, leaf_of_refit: IntArray, rows: Rows) -> IntArray:
    """What became of each split of a tree in one refit."""
    match = corresponding_nodes(tree, refit, leaf, leaf_of_refit)
    result = np.full(len(tree.internal_nodes), _NO_SUCH_ROWS, dtype=np.int64)
    for i, node in enumerate(tree.internal_nodes.tolist()):
        other = int(match.node[node])
        if match.overlap[node] < SAME_ROWS:
            continue
        if refit.is_leaf[other]:
            result[i] = _NOT_SPLIT
            continue
        result[i] = _fate_of_split(tree.split(node), refit.split(other), _rows_below(tree, node, leaf), rows)
    return result


def _fate_of_split(split: Split, refit: Split, chosen: IntArray, rows: Rows) -> int:
    is_plane = isinstance(split, Hyperplane) or isinstance(refit, Hyperplane)
    shares_column = not set(split.features).isdisjoint(refit.features)
    if shares_column and divides_alike(split, refit, lambda feature: _values(rows, feature, chosen), SAME_SIDE):
        return _KEPT
    if split.features == refit.features:
        return _ELSEWHERE
    return rows.matrix.shape[1] if is_plane and isinstance(refit, Hyperplane) else refit.features[0]


def _rows_below(tree: TreeStore, node: int, leaf: IntArray) -> IntArray:
    """The rows of a node: those in the leaves below it."""
    below = np.zeros(tree.node_count, dtype=bool)
    below[node] = True
    for parent in range(node, tree.node_count):  # children come later
        if below[parent] and not tree.is_leaf[parent]:
            below[tree.children_left[parent]] = below[tree.children_right[parent]] = True
    return np.flatnonzero(below[leaf])


def _values(rows: Rows, feature: int, chosen: IntArray) -> FloatArray:
    column = rows.matrix[:, [feature]][chosen] if sparse.issparse(rows.matrix) else rows.matrix[chosen, feature]
    return np.asarray(column.toarray().ravel() if sparse.issparse(column) else column, dtype=np.float64)


def _summarise(fitted: Fitted, fates: IntArray) -> tuple[SplitStability, ...]:
    """The shares of what became of each split; `fates` has one row for each refit."""
    tree, schema = fitted.trees, fitted.schema
    result = []
    for node, fate in zip(tree.internal_nodes.tolist(), fates.T, strict=True):
        columns, counts = np.unique(fate[fate >= 0], return_counts=True)
        names = [_HYPERPLANE if column == schema.n_features else schema.name(column) for column in columns.tolist()]
        shares = (counts / len(fate)).tolist()
        result.append(
            SplitStability(
                node=node,
                depth=int(tree.depth[node]),
                n_rows=int(tree.n_node_samples[node]),
                split=tree.split(node).question(schema)[0],
                kept=float(np.mean(fate == _KEPT)),
                other_threshold=float(np.mean(fate == _ELSEWHERE)),
                other_columns=tuple(sorted(zip(names, shares, strict=True), key=lambda item: -item[1])),
                not_split=float(np.mean(fate == _NOT_SPLIT)),
                no_such_rows=float(np.mean(fate == _NO_SUCH_ROWS)),
            )
        )
    return tuple(result)
