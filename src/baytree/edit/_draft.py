"""A tree that is being edited: every edit is scored on the rows, and can be undone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Self

from .._validation import check_integer, check_real, short_repr
from .._words import count_text, within_sentence
from ..decision import position_of
from ..estimators import Estimator
from ..export import to_text
from ..fitted import Edit, Fitted
from ..growth import TrainingData, forced_splits_of, read_split, read_threshold
from ..sources import Source
from ..tree import (
    ANYTHING,
    LEAF,
    Outline,
    OutlineNode,
    Split,
    Threshold,
    TreeStore,
    outline_of,
    paths_of,
    replace_split,
    replace_subtree,
    topmost_with,
)
from ._effects import HeldOutLoss
from ._read import check_between_bins, read_leaf, read_node, read_split_node
from ._rounding import rounded_outline
from ._state import State, history_frame
from ._trees import TreeScorer


class Draft:
    """A tree that is being edited; `start` makes one.

    Every edit returns an `Edit` with its odds and effects, is added to the history and can be undone. Nodes have the
    numbers that `print` shows; an edit may change those behind the edited node. All trees are scored with the
    settings of the model. `with` closes the source of the rows at the end, if it is not in memory.

    Parameters
    ----------
    estimator
        The fitted model.
    data, source
        The rows, and the source to close; None where they are in memory.
    who, when
        The author of the edits and their date.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, edit
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
    >>> draft.move(2, 1.7).odds
    1.0
    >>> model = draft.finish()
    >>> float(model.tree_.threshold[2])
    1.7
    """

    def __init__(
        self, estimator: Estimator, data: TrainingData, source: Source | None, who: str | None, when: str | None
    ) -> None:
        for name, value in (("who", who), ("when", when)):
            _check_text(name, value)
        self._estimator, self._data, self._source, self._who, self._when = estimator, data, source, who, when
        fitted: Fitted = estimator.fitted_
        self._outcome = fitted.outcome
        self._held_out = HeldOutLoss(data, fitted.outcome)
        self._trees = TreeScorer(data, fitted.outcome, prune=getattr(estimator, "prune", False))
        tree = self._trees.scored(outline_of(fitted.trees))
        paths, forced = paths_of(outline_of(tree)), data.growth.forced
        codes = [] if fitted.set_decisions is None else fitted.set_decisions.tolist()
        decided = {paths[node]: code for node, code in enumerate(codes) if code >= 0}
        forbidden: dict[str, tuple[int, ...]] = {}
        if forced is not None:
            entries = zip(paths_of(forced.outline), forced.outline, strict=True)
            forbidden = {path: node.forbidden for path, node in entries if node.forbidden}
        start = State(replace(fitted, trees=tree, grown_tree=None), self._held_out.of(tree), forbidden, decided)
        self._states, self._at = [start], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the source of the rows; a table in memory needs no closing.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> frame = load_iris(as_frame=True).frame
        >>> model = BayesianTreeClassifier(max_bins=255).fit(frame.drop(columns="target"), frame["target"])
        >>> draft = edit.start(model, frame, "target")
        >>> draft.close()
        """
        if self._source is not None:
            self._source.close()

    # What there is.

    @property
    def tree_(self) -> TreeStore:
        """The tree as it is now.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True)
        >>> edit.start(BayesianTreeClassifier().fit(X, y), X, y).tree_.n_leaves
        3
        """
        return self._state.fitted.trees

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits that were made and not undone, those of earlier drafts of the model among them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> draft.edits
        ()
        """
        return self._state.fitted.edits

    @property
    def history(self) -> Any:
        """The edits as a data frame of pandas, one in a row.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> _ = draft.remove(2, why="too few flowers")
        >>> draft.history[["edit", "n_rows", "n_decisions", "why"]].values.tolist()
        [['Merge node 2, which was split on x3 <= 1.75', 100, 46, 'too few flowers']]
        """
        return history_frame(self.edits)

    def __str__(self) -> str:
        return to_text(replace(self._state.fitted, edits=()), numbers=True)

    def __repr__(self) -> str:
        n_edits = count_text(len(self.edits), "edit")
        return f"<Draft of a tree with {count_text(self.tree_.n_leaves, 'leaf', 'leaves')} after {n_edits}>"

    # Edits.

    def split(
        self, node: int, column: Any, *, threshold: Any = None, categories: Any = None, why: str | None = None
    ) -> Edit:
        """Split a node on a column; below a node that was split already, the tree is grown anew.

        Parameters
        ----------
        node
            Number of the node.
        column
            The column, by name or position.
        threshold
            The largest value that goes left: a number, or an ordered category. Not needed for truth values.
        categories
            Of a categorical column, the categories that go left; all others go right.
        why
            The reason, for the history.

        Returns
        -------
        Edit
            What changed. Missing values go to the side that is more probable.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> print(draft.split(3, "petal length (cm)", threshold=5))
        Split node 3 on petal length (cm) <= 5
        odds 1:5.27 against the tree before; loss 0.1683 before, 0.1362 after; another decision for 4 rows
          4 rows: from 1 to 2 where 0.8 < petal width (cm) <= 1.75 and petal length (cm) > 5
        """
        node = read_node(self.tree_, node)
        split = read_split(self._schema, column, threshold, categories, missing_left=False)
        check_between_bins(self._data, self._outline, node, split, self._outcome)
        self._refuse_forbidden(node, split)
        other = read_split(self._schema, column, threshold, categories, missing_left=True)
        return self._split(node, [split, other], "Split", why)

    def swap(self, node: int, column: Any, *, why: str | None = None) -> Edit:
        """Split a node at the most probable split of another column; the subtrees below are grown again.

        Parameters
        ----------
        node
            Number of the node.
        column
            The column, by name or position.
        why
            The reason, for the history.

        Returns
        -------
        Edit
            What changed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> print(draft.swap(0, "petal length (cm)").text)
        Swap node 0 from petal width (cm) <= 0.8 to petal length (cm) <= 2.4
        """
        node, feature = read_node(self.tree_, node), self._schema.position("column", column)
        outline = replace_subtree(self._outline, node, [OutlineNode(grow=feature)])
        found = self._trees.as_grown(outline, self._state.forbidden)
        if found.is_leaf[node]:
            raise ValueError(
                f"{self._schema.describe(feature)} has no split at node {node}: its values are all the same there, or "
                "the limits of the model and what was forbidden leave none."
            )
        return self._split(node, [found.split(node)], "Swap", why)

    def remove(self, node: int, *, why: str | None = None) -> Edit:
        """Merge everything below a node into one leaf.

        Parameters
        ----------
        node
            Number of the node.
        why
            The reason, for the history.

        Returns
        -------
        Edit
            What changed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> draft.remove(2).odds < 1e-9
        True
        """
        node = read_split_node(self.tree_, node)
        text = f"Merge node {node}, which was split on {self._question(self.tree_, node)}"
        tree = self._trees.scored(replace_subtree(self._outline, node, [LEAF]))
        return self._done(text, tree, node, why, gone=[node])

    def move(self, node: int, threshold: Any, *, why: str | None = None) -> Edit:
        """Move the threshold of a node; the splits below stay, except those that have no row on one side then.

        Parameters
        ----------
        node
            Number of the node.
        threshold
            The largest value that goes left.
        why
            The reason, for the history.

        Returns
        -------
        Edit
            What changed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> print(draft.move(2, 1.5))
        Move node 2 from petal width (cm) <= 1.75 to <= 1.5
        odds 1:413 against the tree before; loss 0.1683 before, 0.2121 after; another decision for 6 rows
          6 rows: from 1 to 2 where 1.5 < petal width (cm) <= 1.75
        """
        node = read_split_node(self.tree_, node)
        split = self.tree_.split(node)
        if not isinstance(split, Threshold):
            raise ValueError(f"Node {node} is not split at a threshold of one column: use split or swap.")
        name = within_sentence(self._schema.describe(split.feature))
        moved = replace(split, threshold=read_threshold(self._schema.columns[split.feature], threshold, name))
        check_between_bins(self._data, self._outline, node, moved, self._outcome)
        tree = self._trees.scored(replace_split(self._outline, node, moved), node)
        text = f"Move node {node} from {self._question(self.tree_, node)} to {moved.condition(self._schema)}"
        return self._done(text, tree, node, why)

    def regrow(self, node: int, *, max_depth: int | None = None, why: str | None = None) -> Edit:
        """Grow everything below a node anew, as a fit would; forbidden columns stay forbidden.

        Parameters
        ----------
        node
            Number of the node, a leaf or not.
        max_depth
            Maximum number of splits between the node and a leaf below it. None: the limit of the model.
        why
            The reason, for the history.

        Returns
        -------
        Edit
            What changed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> draft.regrow(0, max_depth=1).text, draft.tree_.n_leaves
        ('Grow the tree below node 0 anew with at most 1 level', 2)
        """
        node = read_node(self.tree_, node)
        levels = None if max_depth is None else check_integer("max_depth", max_depth, low=0)
        outline = replace_subtree(self._outline, node, [OutlineNode(grow=ANYTHING)])
        tree = self._trees.grown(outline, node, self._state.forbidden, levels)
        limit = "" if levels is None else f" with at most {count_text(levels, 'level')}"
        return self._done(f"Grow the tree below node {node} anew{limit}", tree, node, why, gone=[node])

    def forbid(self, column: Any, *, below: int = 0, why: str | None = None) -> Edit:
        """Forbid a column from a node on down; subtrees that begin with a split on it are grown anew.

        The prior does not change: the odds are those of a tree without the column against the tree before.

        Parameters
        ----------
        column
            The column, by name or position.
        below
            Number of the node; 0 for the whole tree.
        why
            The reason, for the history.

        Returns
        -------
        Edit
            What changed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> print(draft.forbid("petal width (cm)").text)
        Forbid petal width (cm)
        >>> draft.tree_.feature[draft.tree_.internal_nodes].tolist()
        [2, 2]
        """
        node, feature = read_node(self.tree_, below), self._schema.position("column", column)
        path = paths_of(self._outline)[node]
        forbidden = self._state.forbidden | {path: (*self._state.forbidden.get(path, ()), feature)}
        gone = topmost_with(self._outline, node, feature)
        outline = self._outline
        for at in reversed(gone):
            outline = replace_subtree(outline, at, [OutlineNode(grow=ANYTHING)])
        tree = self._trees.grown(outline, node, forbidden)
        where = "" if node == 0 else f" below node {node}"
        text = f"Forbid {self._schema.name(feature)}{where}"
        return self._done(text, tree, node, why, gone=gone, forbidden=forbidden)

    def round(self, odds: float = 3.0, *, why: str | None = None) -> Edit:
        """Round every threshold as far as it costs less than these odds; the fewest digits are tried first.

        The cost of a threshold is that of the rows below its node: how much less probable their outcomes become.

        Parameters
        ----------
        odds
            Largest factor by which one threshold may make the rows less probable, at least 1.
        why
            The reason, for the history.

        Returns
        -------
        Edit
            What changed, all thresholds together.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> draft.round(odds=1000).text
        'Round 1 threshold'
        """
        odds = check_real("odds", odds, low=1, low_ok=True)
        outline = rounded_outline(self.tree_, self._data, self._outcome, math.log(odds))
        n = sum(new != old for new, old in zip(outline, self._outline, strict=True))
        return self._done(f"Round {count_text(n, 'threshold')}", self._trees.scored(outline, 0), 0, why)

    def set_decision(self, leaf: int, label: Any, *, reason: str | None = None) -> Edit:
        """Set the class that is predicted in a leaf; its probabilities stay.

        Parameters
        ----------
        leaf
            Number of the leaf.
        label
            The class.
        reason
            The reason, for the history.

        Returns
        -------
        Edit
            What changed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> print(draft.set_decision(3, 2, reason="check every doubtful flower"))
        Decide on 2 in leaf 3
        odds 1:1 against the tree before; loss 0.1683, as before; another decision for 54 rows
          54 rows: from 1 to 2 where 0.8 < petal width (cm) <= 1.75
        """
        leaf, fitted = read_leaf(self.tree_, leaf), self._state.fitted
        if not fitted.outcome.predicts_classes:
            raise ValueError("set_decision sets a class, and this model predicts numbers.")
        if fitted.unseen != "majority":
            raise ValueError(
                "set_decision needs rows that end in one leaf: fit the model with unseen='majority', not "
                f"{fitted.unseen!r}."
            )
        code = position_of(label, fitted.outcome.labels, "label")
        decided = self._state.decided | {paths_of(self._outline)[leaf]: code}
        text = f"Decide on {fitted.class_names[code]} in leaf {leaf}"
        return self._done(text, self.tree_, leaf, reason, decided=decided)

    # Back and forth.

    def undo(self) -> Self:
        """Take the last edit back.

        Returns
        -------
        Draft
            This draft.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> _ = draft.remove(0)
        >>> draft.undo().tree_.n_leaves
        3
        """
        if self._at == 0:
            raise ValueError("There is no edit to undo.")
        self._at -= 1
        return self

    def redo(self) -> Self:
        """Make the edit again that was undone last.

        Returns
        -------
        Draft
            This draft.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> _ = draft.remove(0)
        >>> draft.undo().redo().tree_.n_leaves
        1
        """
        if self._at + 1 == len(self._states):
            raise ValueError("There is no edit to redo.")
        self._at += 1
        return self

    def finish(self) -> Any:
        """Return a fitted estimator with the edited tree, its history and the calibration of the model.

        Its parameter `forced_splits` is the whole tree, so that a fit to other rows, as in a cross-validation, keeps
        the splits and learns the leaves.

        Returns
        -------
        estimator
            A new estimator of the class of the model.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier, edit
        >>> X, y = load_iris(return_X_y=True)
        >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
        >>> _ = draft.remove(2)
        >>> draft.finish().get_n_leaves()
        2
        """
        estimator, state = self._estimator, self._state
        labels = state.fitted.outcome.labels.tolist()
        decided = {path: labels[code] for path, code in state.decided.items()}
        forced = forced_splits_of(state.fitted.trees, self._schema, decided)
        parameters = estimator.get_params(deep=False) | {"forced_splits": forced}
        return type(estimator).from_fitted(state.fitted, parameters | {"lookahead": 0, "max_leaf_nodes": None})

    # How it is done.

    @property
    def _state(self) -> State:
        return self._states[self._at]

    @property
    def _schema(self) -> Any:
        return self._state.fitted.schema

    @property
    def _outline(self) -> Outline:
        return outline_of(self.tree_)

    def _question(self, tree: TreeStore, node: int) -> str:
        return str(tree.split(node).question(self._schema)[0])

    def _refuse_forbidden(self, node: int, split: Split) -> None:
        path = paths_of(self._outline)[node]
        for at, features in self._state.forbidden.items():
            if path.startswith(at) and set(features) & set(split.features):
                name = self._schema.describe(split.features[0])
                raise ValueError(f"{name} was forbidden at node {node}: undo that edit first.")

    def _split(self, node: int, candidates: list[Split], verb: str, why: str | None) -> Edit:
        """Give a node the most probable of some splits, and grow what is below it anew if it was split before."""
        old, grows = self.tree_, not self.tree_.is_leaf[node]
        split, tree = candidates[0], old
        if not grows or len(candidates) > 1:
            tree = self._with_split(node, split, LEAF)
            if len(candidates) > 1 and tree.n_missing is not None and tree.n_missing[node] > 0:
                trees = [tree, *(self._with_split(node, other, LEAF) for other in candidates[1:])]
                best = max(range(len(trees)), key=lambda i: trees[i].log_posterior())
                split, tree = candidates[best], trees[best]
        if grows:
            tree = self._with_split(node, split, OutlineNode(grow=ANYTHING))
        question = self._question(tree, node)
        swapped = f"Swap node {node} from {self._question(old, node)} to {question}" if grows and verb == "Swap" else ""
        return self._done(swapped or f"Split node {node} on {question}", tree, node, why, gone=[node])

    def _with_split(self, node: int, split: Split, side: OutlineNode) -> TreeStore:
        """The tree with another split of a node, whose two sides are leaves or grow."""
        outline = replace_subtree(self._outline, node, [OutlineNode(split), side, side])
        if side is LEAF:
            return self._trees.scored(outline, node)
        return self._trees.grown(outline, node, self._state.forbidden)

    def _done(self, text: str, tree: TreeStore, node: int, why: str | None, **changes: Any) -> Edit:
        """Make an edit the last one of the history."""
        _check_text("why", why)
        loss = self._state.loss if tree is self.tree_ else self._held_out.of(tree)
        author = {"who": self._who, "why": why, "when": self._when}
        state = self._state.after(text, tree, node, loss, self._data, author, **changes)
        self._states = [*self._states[: self._at + 1], state]
        self._at += 1
        return state.fitted.edits[-1]


def _check_text(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be text or None; got {short_repr(value)}.")
