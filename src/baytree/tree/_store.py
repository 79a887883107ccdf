"""The one store of trees: a single tree, a tree space and a forest are the same arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..leaves import LeafModel
from ..outcomes import Outcome
from ._choices import NO_CHILD, RAGGED
from ._evidence import Evidence
from ._routing import Routing
from ._splits import CategorySet, Hyperplane, PresentMissing, Split, SplitKind, Threshold

_RAGGED_NAMES = {name for group in RAGGED.items() for name in (group[0], *group[1])}
_OF_NODES = ("depth", "n_node_samples", "log_prior_leaf", "log_odds_split", "feature_posterior", "complete")
_CHILDREN = ("children_left", "children_right")


@dataclass(frozen=True, eq=False)
class TreeStore:
    """Nodes with one or more choices, below one or more roots.

    A choice of a node is a split, with the nodes that its rows go to, or no split: the rows stay in the node. Where
    every node has one choice, the store holds one plain tree below each root: a fitted tree has one root, a forest one
    for each of its trees. Then the arrays of choices have one entry per node. Where nodes have several choices, the
    store is a graph that holds many trees at once: a tree space. Parents come before their children.

    Attributes
    ----------
    leaves
        The leaf models of all nodes.
    n_features
        Number of features of the table.
    roots
        Nodes without a parent. The nodes of a root are those from it up to the next root.
    choice_start
        The choices of node i are those from ``choice_start[i]`` to ``choice_start[i + 1]``.
    children_left, children_right
        Nodes that rows on the left and on the right of the split go to; -1 where there is no split.
    kind
        Kind of the split: 0 none (a leaf), 1 threshold (``x <= threshold`` goes left), 2 present (left) or missing
        (right), 3 a set of categories, 4 a hyperplane. ``split(i)`` gives the split as an object.
    feature, threshold
        Of the split; -2 where there is none. A hyperplane has the first of its features here. The threshold is inf
        where the split is between present and missing, and NaN where it is between categories.
    missing_go_to_left
        Where a missing value goes: where the split sends those of the node's rows; where these have none, to the child
        with more weight.
    has_missing
        Whether the node's training rows have missing values in the feature of the split.
    unseen_go_to_left
        Where a category goes that the node's training rows do not have: to the child with more weight.
    category_start, category, category_goes_left
        The categories that the node's training rows have, as positions in ``categories_``, and where they go: those of
        choice i are ``category[category_start[i]:category_start[i + 1]]``. Missing is not listed, see
        ``missing_go_to_left``.
    hyperplane_start, hyperplane_feature, hyperplane_coefficient, hyperplane_missing_value
        The terms of hyperplanes: those of choice i are entries ``hyperplane_start[i]`` to ``hyperplane_start[i + 1]``.
        Rows whose sum of coefficients times values is at most the threshold go left; a missing value counts as the
        value given.
    log_prior_split
        Log prior of the split; -inf where there is none.
    depth
        Number of splits above each node.
    n_node_samples, weighted_n_node_samples
        Training rows in each node, and the sum of their weights.
    log_prior_leaf
        Log prior of no split, of each node.
    log_odds_split
        Log posterior odds of the node's best split against no split: positive in internal nodes. With look-ahead, of
        the best tree below the node that was found against a leaf; so too in nodes that pruning made leaves. In nodes
        whose split was forced or edited, the odds of that split. In a
        forest as the tree saw them while it grew, with weights times a factor. Empty in a tree space.
    feature_posterior
        Posterior probability of a split along each feature and, last, of no split; shape (n_nodes, n_features + 1).
        Empty in tree spaces and forests, which do not keep it.
    complete
        Whether every split of a node is among its choices; None where there is one choice.
    split_likelihood
        Log marginal likelihood of the two sets that each split makes under the prior of its node, where smoothing gives
        the children other priors; else None, since it is that of the children.
    choice_weight
        How much of a node's rows each choice has, where it does not follow from the evidence; else None.
    n_missing
        Training rows that lack the feature of each split; None where no split has any, and in tree spaces and forests,
        which do not count them.
    prior, posterior, value, log_likelihood
        Of the leaf models: parameters before and after the rows of each node, the expected outcome, shape
        (n_nodes, 1, n_values), and the log marginal likelihood of the rows in one set.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> tree = model.tree_
    >>> tree.n_leaves, tree.max_depth, tree.children_left.tolist()
    (3, 2, [1, -1, 3, -1, -1])
    >>> tree.split(0)
    Threshold(feature=3, threshold=0.8, missing_left=False, has_missing=False)
    """

    leaves: LeafModel
    n_features: int
    roots: IntArray
    choice_start: IntArray
    children_left: IntArray
    children_right: IntArray
    kind: AnyArray  # of SplitKind, uint8
    feature: IntArray
    threshold: FloatArray
    missing_go_to_left: BoolArray
    has_missing: BoolArray
    unseen_go_to_left: BoolArray
    category_start: IntArray
    category: IntArray
    category_goes_left: BoolArray
    hyperplane_start: IntArray
    hyperplane_feature: IntArray
    hyperplane_coefficient: FloatArray
    hyperplane_missing_value: FloatArray
    log_prior_split: FloatArray
    depth: IntArray
    n_node_samples: IntArray
    log_prior_leaf: FloatArray
    log_odds_split: FloatArray = field(default_factory=lambda: np.zeros(0))
    feature_posterior: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    complete: BoolArray | None = None
    split_likelihood: FloatArray | None = None
    choice_weight: FloatArray | None = None
    n_missing: IntArray | None = None

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}  # without cached properties

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def arrays(self) -> dict[str, AnyArray]:
        """Every array of the structure by its name."""
        state = self.__getstate__()
        return {name: value for name, value in state.items() if isinstance(value, np.ndarray)}

    # Sizes and shape.

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.depth)

    @property
    def n_choices(self) -> int:
        """Number of choices of all nodes, those of no split among them."""
        return len(self.kind)

    @property
    def n_trees(self) -> int:
        """Number of roots."""
        return len(self.roots)

    @cached_property
    def is_plain(self) -> bool:
        """Whether every node has one choice: what is below a root is one tree."""
        return self.n_choices == self.node_count

    @property
    def is_leaf(self) -> BoolArray:
        """Whether each choice is no split; of plain trees, whether each node is a leaf."""
        return self.is_of(SplitKind.NONE)

    @property
    def internal_nodes(self) -> IntArray:
        """The nodes of plain trees that are split."""
        return np.flatnonzero(~self.is_leaf)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of plain trees."""
        return int(np.count_nonzero(self.is_leaf))

    @property
    def max_depth(self) -> int:
        """Depth of the deepest node."""
        return int(self.depth.max())

    @cached_property
    def owner(self) -> IntArray:
        """The node of every choice."""
        return np.repeat(np.arange(self.node_count), np.diff(self.choice_start))

    def choices_of(self, node: int) -> range:
        """The choices of a node."""
        return range(int(self.choice_start[node]), int(self.choice_start[node + 1]))

    def splits_of(self, node: int) -> list[int]:
        """The choices of a node that are splits."""
        return [choice for choice in self.choices_of(node) if self.kind[choice] != SplitKind.NONE]

    @cached_property
    def tree_of_node(self) -> IntArray:
        """The number of the root that each node is below."""
        return np.repeat(np.arange(self.n_trees), np.diff(np.append(self.roots, self.node_count)))

    @cached_property
    def splits_by_depth(self) -> list[IntArray]:
        """The choices that are splits: those of nodes of depth 0, of depth 1, and so on; of a node side by side."""
        splits = np.flatnonzero(~self.is_leaf)
        depth = self.depth[splits] if self.is_plain else self.depth[self.owner[splits]]
        order = np.argsort(depth, kind="stable")
        return np.split(splits[order], np.cumsum(np.bincount(depth))[:-1]) if len(splits) else []

    @cached_property
    def parents(self) -> IntArray:
        """The parent of every node of plain trees, -1 for a root."""
        result = np.full(self.node_count, -1, dtype=np.int64)
        internal = self.internal_nodes
        result[self.children_left[internal]] = internal
        result[self.children_right[internal]] = internal
        return result

    def path(self, node: int) -> list[int]:
        """The nodes of a plain tree from its root to a node, both included."""
        nodes = [int(node)]
        while self.parents[nodes[-1]] >= 0:
            nodes.append(int(self.parents[nodes[-1]]))
        return nodes[::-1]

    # The leaf models of all nodes.

    @property
    def value(self) -> FloatArray:
        """Expected outcome of each node, shape (n_nodes, 1, n_values) as in scikit-learn."""
        return self.leaves.value[:, None, :]

    @property
    def prior(self) -> FloatArray:
        """Parameters of the outcome's distribution in each node before its rows."""
        return self.leaves.prior

    @property
    def posterior(self) -> FloatArray:
        """Parameters of the outcome's distribution in each node after its rows."""
        return self.leaves.posterior

    @property
    def calibrated(self) -> FloatArray:
        """The parameters that predictions use: those of `posterior`, as the outcome calibrates them."""
        return self.leaves.calibrated

    @property
    def weighted_n_node_samples(self) -> FloatArray:
        """Sum of the weights of the training rows in each node."""
        return self.leaves.weight

    @property
    def log_likelihood(self) -> FloatArray:
        """Log marginal likelihood of each node's rows in one set."""
        return self.leaves.log_likelihood

    @property
    def log_likelihood_split(self) -> FloatArray:
        """Log marginal likelihood of the two sets that each split makes; -inf where there is no split."""
        if self.split_likelihood is not None:
            return self.split_likelihood
        likelihood = np.append(self.log_likelihood, -np.inf)
        return likelihood[self.children_left] + likelihood[self.children_right]

    @property
    def log_leaf(self) -> FloatArray:
        """Log of prior times likelihood of every node as a leaf."""
        return self.log_prior_leaf + self.log_likelihood

    def gain(self) -> FloatArray:
        """Gain in log marginal likelihood of each split; 0 where there is none."""
        gain = np.zeros(self.n_choices)
        splits = np.flatnonzero(~self.is_leaf)
        gain[splits] = self.log_likelihood_split[splits] - self.log_likelihood[self.owner[splits]]
        return gain

    def log_posterior(self, *, include_internal: bool = True) -> float:
        """Log of prior times likelihood of a plain tree, not normalised over trees.

        The sum over leaves of the log prior of not splitting and the log marginal likelihood, plus the sum
        over internal nodes of the log prior of their split; without the latter, the figure of the paper's
        Algorithm 3.
        """
        leaves = self.is_leaf
        total = float(np.sum(self.log_leaf[leaves]))
        return total + float(np.sum(self.log_prior_split[~leaves])) if include_internal else total

    # Splits.

    def is_of(self, kind: SplitKind) -> BoolArray:
        """Whether each choice is of a kind."""
        return np.asarray(self.kind == kind)

    def split(self, i: int) -> Split:
        """One split as data; no split has none."""
        match SplitKind(int(self.kind[i])):
            case SplitKind.THRESHOLD:
                has_missing, missing_left = bool(self.has_missing[i]), bool(self.missing_go_to_left[i])
                return Threshold(int(self.feature[i]), float(self.threshold[i]), missing_left, has_missing)
            case SplitKind.PRESENT_MISSING:
                return PresentMissing(int(self.feature[i]))
            case SplitKind.CATEGORY_SET:
                return self._category_set(i)
            case SplitKind.HYPERPLANE:
                return self._hyperplane(i)
            case SplitKind.NONE:
                raise ValueError(f"Node {i} is a leaf: it has no split.")

    def _category_set(self, i: int) -> CategorySet:
        part = slice(int(self.category_start[i]), int(self.category_start[i + 1]))
        categories, goes_left = self.category[part], self.category_goes_left[part]
        return CategorySet(
            int(self.feature[i]),
            tuple(categories[goes_left].tolist()),
            tuple(categories[~goes_left].tolist()),
            bool(self.unseen_go_to_left[i]),
            bool(self.missing_go_to_left[i]),
            bool(self.has_missing[i]),
        )

    def _hyperplane(self, i: int) -> Hyperplane:
        terms = slice(int(self.hyperplane_start[i]), int(self.hyperplane_start[i + 1]))
        return Hyperplane(
            tuple(self.hyperplane_feature[terms].tolist()),
            tuple(self.hyperplane_coefficient[terms].tolist()),
            tuple(self.hyperplane_missing_value[terms].tolist()),
            float(self.threshold[i]),
        )

    @cached_property
    def used_features(self) -> IntArray:
        """The features that some split or leaf uses, in ascending order."""
        of_splits = np.union1d(self.feature[~self.is_leaf], self.hyperplane_feature)
        return np.union1d(of_splits, self.leaves.used_features).astype(np.int64)

    def feature_uses(self) -> BoolArray:
        """Whether each split uses each feature, shape (n_choices, n_features)."""
        result = np.zeros((self.n_choices, self.n_features), dtype=bool)
        splits = np.flatnonzero(~self.is_leaf)
        result[splits, self.feature[splits]] = True
        result[np.repeat(np.arange(self.n_choices), np.diff(self.hyperplane_start)), self.hyperplane_feature] = True
        return result

    # What follows from the structure.

    @cached_property
    def evidence(self) -> Evidence:
        """The recursion over the trees that the store holds."""
        return Evidence(self)

    def log_evidence(self) -> float:
        """Log probability of the outcomes, summed over a plain tree and all of its prunings.

        ``Z = p_leaf L + p_split Z(left) Z(right)`` from the leaves up; so ``exp(log_posterior() - log_evidence())`` is
        the probability of this tree among its prunings.
        """
        return float(Evidence(self, prunings=True).log_evidence[0])

    @property
    def choice_share(self) -> FloatArray:
        """The share of a node's rows that takes each choice; 1 where a node has one choice."""
        return self.evidence.choice_share

    @cached_property
    def leaf_share(self) -> FloatArray:
        """The share of each node's rows that stays in it."""
        none = np.flatnonzero(self.is_leaf)
        owner, share = self.owner[none], self.choice_share[none]
        return np.bincount(owner, weights=share, minlength=self.node_count).astype(np.float64)

    @property
    def is_complete(self) -> bool:
        """Whether a tree space holds every possible tree."""
        return self.complete is not None and bool(self.complete.all())

    def apply(self, X: FloatArray, n_threads: int = 1) -> IntArray:
        """Return the leaf of the only tree that each row of a dense float64 matrix falls into."""
        return self.routing.leaf_of_matrix(X, n_threads)

    @cached_property
    def routing(self) -> Routing:
        """Sends rows to their leaves."""
        return Routing(self)

    # Parts.

    def tree(self, t: int) -> Self:
        """The tree below one root."""
        return self.trees_between(t, t + 1)

    def with_outcome(self, outcome: Outcome) -> Self:
        """Return a copy with another calibration of the outcome."""
        return replace(self, leaves=self.leaves.with_outcome(outcome))

    def trees_between(self, first: int, stop: int) -> Self:
        """The trees below the roots first, first + 1, ..., stop - 1."""
        if (first, stop) == (0, self.n_trees):
            return self
        ends = np.append(self.roots, self.node_count)
        nodes = slice(int(ends[first]), int(ends[stop]))
        choices = slice(int(self.choice_start[nodes.start]), int(self.choice_start[nodes.stop]))
        part: dict[str, Any] = {}
        for name, array in self.arrays().items():
            if name not in _RAGGED_NAMES:
                part[name] = array[nodes if name in _OF_NODES else choices]
        part["roots"] = self.roots[first:stop] - nodes.start
        part["choice_start"] = self.choice_start[nodes.start : nodes.stop + 1] - choices.start
        for name in _CHILDREN:
            part[name] = np.where(part[name] == NO_CHILD, part[name], part[name] - part[name].dtype.type(nodes.start))
        for name, others in RAGGED.items():
            start = getattr(self, name)[choices.start : choices.stop + 1]
            part[name] = start - start[0]
            part |= {other: getattr(self, other)[start[0] : start[-1]] for other in others}
        return replace(self, leaves=self.leaves.take(np.arange(nodes.start, nodes.stop)), **part)

    def parts(self, max_nodes: int) -> Iterator[Self]:
        """The trees in groups of at most so many nodes, or of one tree."""
        ends, first = np.append(self.roots, self.node_count), 0
        while first < self.n_trees:
            stop = int(np.searchsorted(ends, ends[first] + max_nodes, side="right")) - 1
            stop = max(stop, first + 1)
            yield self.trees_between(first, stop)
            first = stop


def concatenate_stores(stores: Sequence[TreeStore]) -> TreeStore:
    """The trees of several stores, one behind the other."""
    first = stores[0]
    result: dict[str, Any] = {}
    n_nodes = np.cumsum([0, *(store.node_count for store in stores)])[:-1].tolist()
    for name in first.arrays():
        arrays = [getattr(store, name) for store in stores]
        if name in RAGGED or name == "choice_start":
            begin = np.cumsum([0, *(starts[-1] for starts in arrays)])[:-1]
            pairs = zip(begin.tolist(), arrays, strict=True)
            result[name] = np.concatenate([arrays[0][:1], *(b + starts[1:] for b, starts in pairs)])
        elif name in _CHILDREN:
            pairs = zip(n_nodes, arrays, strict=True)
            result[name] = np.concatenate(
                [np.where(children == NO_CHILD, children, children + n) for n, children in pairs]
            )
        elif name == "roots":
            result[name] = np.concatenate([roots + n for n, roots in zip(n_nodes, arrays, strict=True)])
        else:
            result[name] = np.concatenate(arrays)
    return replace(first, leaves=first.leaves.concatenate([store.leaves for store in stores[1:]]), **result)
