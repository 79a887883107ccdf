"""A tree, or a tree space, with its outcome, its schema, its classes and what it was fitted on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from .._typing import AnyArray, FloatArray, IntArray
from .._words import number_text
from ..decision import Decision
from ..growth import put_in_order
from ..mixtures import Mixture
from ..outcomes import CategoricalOutcome, Outcome, RealOutcome
from ..table import Rows, Schema
from ..tree import Selection, Space, Tree, as_space, best_trees, both_ways, draw_trees, nodes_by_depth

MISSING = ("majority", "average")  # ways for values that a split has not seen: to the larger side, or both ways

# What a node predicts: name -> estimate, lower and upper end of a 90 % interval.
Summary = dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class FittedOn:
    """What a result was fitted on, and when.

    Attributes
    ----------
    n_rows, n_columns
        Rows that count (those of weight zero do not) and columns.
    weight
        Total weight of the rows.
    fingerprint
        Hash of the table, 64 hexadecimal digits: equal tables have the same.
    date
        When it was fitted, UTC: ``2026-07-31T12:00:00Z``.
    version
        Version of baytree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> model.fitted_.fitted_on.n_rows, model.fitted_.fitted_on.n_columns
    (150, 4)
    """

    n_rows: int
    n_columns: int
    weight: float
    fingerprint: str
    date: str
    version: str

    def and_then(self, more: FittedOn) -> FittedOn:
        """The same after rows were added to the posteriors."""
        both = hashlib.sha256((self.fingerprint + more.fingerprint).encode())
        return replace(
            more, n_rows=self.n_rows + more.n_rows, weight=self.weight + more.weight, fingerprint=both.hexdigest()
        )


@dataclass(frozen=True)
class Decisions:
    """What the nodes of a tree decide, and their estimate of it."""

    code: IntArray  # by node
    names: tuple[str, ...]  # by code
    estimate: FloatArray  # by node

    def name(self, node: int) -> str:
        """The decision of a node."""
        return self.names[int(self.code[node])]


@dataclass(frozen=True, eq=False)
class FittedTree:
    """One tree.

    Attributes
    ----------
    tree
        The tree.
    outcome, schema, classes
        What is predicted, the columns, and the class labels (None where numbers are predicted).
    unpruned
        The tree as it was grown, where `tree` is a pruning of it; else None.
    fitted_on
        What the tree was fitted on; None where it was not fitted here.
    decision, missing
        Which class is predicted, and what happens to values that a split has not seen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> model.fitted_.tree.n_leaves, model.fitted_.class_names
    (5, ('0', '1', '2'))
    """

    tree: Tree
    outcome: Outcome
    schema: Schema
    classes: AnyArray | None = None
    unpruned: Tree | None = None
    fitted_on: FittedOn | None = None
    decision: Decision = field(default_factory=Decision)
    missing: str = "majority"

    widening: ClassVar[float] = 1.0  # distributions are as wide as the leaves say

    @property
    def leaf_outcome(self) -> Outcome:
        """The outcome as the leaves say it."""
        return self.outcome

    @property
    def grown(self) -> Tree:
        """The tree as it was grown, before it was pruned."""
        return self.tree if self.unpruned is None else self.unpruned

    def in_grown(self, node: int) -> int:
        """The same node in the tree as it was grown."""
        found = 0
        for above, below in pairwise(self.tree.path(node)):
            sides = self.grown.children_left, self.grown.children_right
            found = int(sides[0][found] if below == self.tree.children_left[above] else sides[1][found])
        return found

    @cached_property
    def used_features(self) -> IntArray:
        """The features that the tree uses: no other column need be read."""
        return self.tree.used_features

    @property
    def modal(self) -> FittedTree:
        """The tree to read: this one."""
        return self

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text; none where numbers are predicted."""
        return class_names(self.classes)

    @property
    def posterior_names(self) -> tuple[str, ...]:
        """Names of the posterior's parameters."""
        if self.classes is not None:
            return self.class_names
        return self.outcome.parameter_names or tuple(f"p{i}" for i in range(len(self.outcome.prior)))

    def leaves(self, rows: Rows, n_threads: int = 1) -> IntArray:
        """The leaf that each row falls into."""
        leaves, no_infinity = self.tree.route(rows, n_threads)
        if not no_infinity:
            self.schema.refuse_infinity(rows)
        return leaves

    @cached_property
    def _both_ways(self) -> FittedSpace | None:
        """The tree as a space in which what a split has not seen goes both ways; None where it does not."""
        if self.missing != "average":
            return None
        space = as_space(self.tree)
        return FittedSpace(space, self.outcome, self.schema, self.classes, decision=self.decision, missing=self.missing)

    @property
    def routed(self) -> FittedTree | FittedSpace:
        """The same predictions by splits alone: where what was not seen goes both ways, a space in which it does."""
        return self if self._both_ways is None else self._both_ways.routed

    def leaf_weights(self, rows: Rows, n_threads: int = 1) -> Iterator[sparse.csr_matrix]:
        """How much each row belongs to each node, some rows at a time: to one leaf, or to several by `missing`."""
        if self._both_ways is not None:
            place = np.argsort(nodes_by_depth(self.tree), kind="stable")
            yield from (part[:, place] for part in self._both_ways.leaf_weights(rows, n_threads))
            return
        leaves = self.leaves(rows, n_threads)
        n_rows = len(leaves)
        shape = (n_rows, self.tree.node_count)
        yield sparse.csr_matrix((np.ones(n_rows), leaves, np.arange(n_rows + 1)), shape=shape)

    def mean(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Class probabilities, or the expected outcome; shape (n_rows, n_values)."""
        if self._both_ways is not None:
            return self._both_ways.mean(rows, n_threads)
        return self.tree.value[:, 0].take(self.leaves(rows, n_threads), axis=0)

    @cached_property
    def node_codes(self) -> IntArray:
        """The position of the class that each node decides for."""
        return self.decision.codes(self.tree.value[:, 0])

    def class_codes(self, rows: Rows, n_threads: int = 1) -> IntArray:
        """The position of the class that is decided for, one for each row."""
        if self._both_ways is not None:
            return self._both_ways.class_codes(rows, n_threads)
        return self.node_codes[self.leaves(rows, n_threads)]

    def class_quantiles(self, rows: Rows, quantiles: FloatArray, n_threads: int = 1) -> FloatArray:
        """Quantiles of the class probabilities, shape (n_rows, n_classes, n_quantiles)."""
        if self._both_ways is not None:
            return self._both_ways.class_quantiles(rows, quantiles, n_threads)
        leaves = self.leaves(rows, n_threads)
        return self._by_leaf(leaves, lambda posterior: class_outcome(self.outcome).quantiles(posterior, quantiles))

    def distribution(self, rows: Rows, kind: str = "outcome", n_threads: int = 1) -> Any:
        """The distribution of each row's outcome, or of its mean: one frozen, vectorised scipy.stats distribution."""
        if self._both_ways is not None:
            return self._both_ways.distribution(rows, kind, n_threads)
        return distribution_of(self.outcome, kind)(self.tree.posterior.take(self.leaves(rows, n_threads), axis=0))

    def cdf_at(self, rows: Rows, y: FloatArray) -> Callable[[RealOutcome], FloatArray]:
        """The distribution function of each row's outcome at y, for this outcome or one of another spread."""
        posterior = self.tree.posterior.take(self.leaves(rows), axis=0)
        return lambda outcome: outcome.cdf(posterior, y)

    def quantiles(self, rows: Rows, quantiles: FloatArray, kind: str = "outcome", n_threads: int = 1) -> FloatArray:
        """Quantiles of these distributions, shape (n_rows, n_quantiles)."""
        if self._both_ways is not None:
            return self._both_ways.quantiles(rows, quantiles, kind, n_threads)

        def of_leaves(posterior: FloatArray) -> FloatArray:
            distribution = distribution_of(self.outcome, kind)(posterior)
            return np.stack([distribution.ppf(q) for q in quantiles], axis=-1)

        return self._by_leaf(self.leaves(rows, n_threads), of_leaves)

    def std(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Standard deviation of each row's outcome."""
        if self._both_ways is not None:
            return self._both_ways.std(rows, n_threads)
        return self._by_leaf(self.leaves(rows, n_threads), real_outcome(self.outcome).std)

    def _by_leaf(self, leaves: IntArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Evaluate a function of posteriors once a leaf."""
        found, inverse = np.unique(leaves, return_inverse=True)
        return np.asarray(function(self.tree.posterior[found]))[inverse]

    def has_distribution(self, kind: str = "outcome") -> bool:
        """Whether the outcome, or its mean, has a distribution: one of the user's own need not."""
        return has_distribution(self.outcome, kind)

    def summaries(self, nodes: IntArray) -> list[Summary]:
        """What nodes predict, for people to read: every class, or the mean and the outcome."""
        if self.classes is not None:
            ends = class_outcome(self.outcome).quantiles(self.tree.posterior[nodes], np.array([0.05, 0.95]))
            numbers = np.concatenate([self.tree.value[nodes, 0, :, None], ends], axis=2)
            return [dict(zip(self.class_names, map(tuple, own), strict=True)) for own in numbers.tolist()]
        intervals = {kind: self._intervals(nodes, kind) for kind in ("mean", "outcome")}
        return [
            {kind: (estimate, *ends[i]) for kind, ends in intervals.items()}
            for i, estimate in enumerate(self.tree.value[nodes, 0, 0].tolist())
        ]

    def _intervals(self, nodes: IntArray, kind: str) -> list[tuple[float, float]]:
        """The central 90 % of a distribution of each node; NaN where the outcome does not have it."""
        if not self.has_distribution(kind):
            return [(np.nan, np.nan)] * len(nodes)
        frozen = distribution_of(self.outcome, kind)(self.tree.posterior[nodes])
        return list(zip(frozen.ppf(0.05).tolist(), frozen.ppf(0.95).tolist(), strict=True))

    def decisions(self) -> Decisions:
        """What each node decides: its class, or whether its estimate is above that of the root."""
        if self.classes is not None:
            code = self.node_codes
            return Decisions(code, self.class_names, self.tree.value[np.arange(len(code)), 0, code])
        estimate = self.tree.value[:, 0, 0]
        overall = number_text(float(estimate[0]))
        above = (estimate > estimate[0]).astype(np.int64)
        return Decisions(above, (f"at most the overall {overall}", f"above the overall {overall}"), estimate)

    @property
    def feature_importances(self) -> FloatArray:
        """Each feature's share of the gain in log marginal likelihood; all zero where nothing was gained."""
        internal = self.tree.internal_nodes
        gain = np.maximum(self.tree.gain()[internal], 0)
        total = np.bincount(self.tree.feature[internal], weights=gain, minlength=self.schema.n_features)
        return shares_of(total.astype(np.float64))

    @property
    def feature_posterior(self) -> FloatArray:
        """Probability that the root is split along each feature and, last, that it is not split."""
        return self.tree.feature_posterior[0]


@dataclass(frozen=True, eq=False)
class FittedSpace:
    """Many trees at once, each with its posterior probability.

    Attributes
    ----------
    space
        The space.
    outcome, schema, classes
        What is predicted, the columns, and the class labels (None where numbers are predicted).
    monotonic
        The directions that predictions are held to, one for each feature; None for none.
    fitted_on
        What the space was fitted on; None where it was not fitted here.
    decision, missing
        Which class is predicted, and what happens to values that a split has not seen.
    widening
        Factor by which distributions are wider about their means than the leaves make them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import TreeSpaceClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
    >>> model.fitted_.space.node_count > 200
    True
    """

    space: Space
    outcome: Outcome
    schema: Schema
    classes: AnyArray | None = None
    monotonic: IntArray | None = None
    fitted_on: FittedOn | None = None
    decision: Decision = field(default_factory=Decision)
    missing: str = "majority"
    widening: float = 1.0

    @property
    def leaf_outcome(self) -> Outcome:
        """The outcome as the leaves say it."""
        return self.outcome

    @cached_property
    def used_features(self) -> IntArray:
        """The features that some tree uses."""
        return self.space.used_features

    @cached_property
    def modal(self) -> FittedTree:
        """The most probable tree."""
        return self.best_trees(1)[0]

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text; none where numbers are predicted."""
        return class_names(self.classes)

    def fitted_tree(self, selection: Selection) -> FittedTree:
        """One of the trees."""
        tree = put_in_order(selection.to_tree(self.space), self.monotonic)
        result = FittedTree(tree, self.outcome, self.schema, self.classes, fitted_on=self.fitted_on)
        return replace(result, decision=self.decision, missing=self.missing)

    def selections(self, n_trees: int) -> tuple[list[Selection], FloatArray]:
        """The most probable trees, best first, with the log of prior times likelihood of each."""
        if n_trees not in self._ranked:
            self._ranked.clear()
            self._ranked[n_trees] = best_trees(self.space, n_trees)
        return self._ranked[n_trees]

    @cached_property
    def _ranked(self) -> dict[int, tuple[list[Selection], FloatArray]]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: vars(self)[own.name] for own in fields(self)}  # and nothing that was worked out

    def best_trees(self, n_trees: int) -> list[FittedTree]:
        """The most probable trees, best first."""
        return [self.fitted_tree(selection) for selection in self.selections(n_trees)[0]]

    def tree_weights(self, n_trees: int) -> FloatArray:
        """Posterior probabilities of the best trees, relative to each other: they sum to one."""
        scores = self.selections(n_trees)[1]
        shares = np.exp(scores - scores[0])
        return np.asarray(shares / shares.sum())

    def tree_shares(self, n_trees: int) -> FloatArray:
        """Posterior probabilities of the best trees among all trees."""
        return np.exp(self.selections(n_trees)[1] - self.space.log_evidence[0])

    def draw_trees(self, n_trees: int, random: np.random.RandomState) -> list[FittedTree]:
        """Trees drawn from the posterior."""
        return [self.fitted_tree(selection) for selection in draw_trees(self.space, n_trees, random)]

    def leaf_weights(self, rows: Rows, n_threads: int = 1) -> Iterator[sparse.csr_matrix]:
        """How probably each row ends in each node, some rows at a time."""
        self.schema.refuse_infinity(rows)
        return self._routed.leaf_weights(rows, n_threads)

    @property
    def routed(self) -> FittedTree | FittedSpace:
        """The same predictions by splits alone: both ways of what was not seen are splits of the space."""
        return replace(self, space=self._routed, missing="majority")

    @cached_property
    def _routed(self) -> Space:
        """The space that rows are sent through."""
        return both_ways(self.space) if self.missing == "average" else self.space

    def mean(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Class probabilities, or the expected outcome, averaged over all trees; shape (n_rows, n_values)."""
        value = self.space.value[:, 0]
        average = np.concatenate([np.asarray(part @ value) for part in self.leaf_weights(rows, n_threads)])
        return average if self.classes is None else average / average.sum(axis=1, keepdims=True)

    def class_codes(self, rows: Rows, n_threads: int = 1) -> IntArray:
        """The position of the class that is decided for, one for each row."""
        return self.decision.codes(self.mean(rows, n_threads))

    def class_quantiles(self, rows: Rows, quantiles: FloatArray, n_threads: int = 1) -> FloatArray:
        """Quantiles of the class probabilities over the posteriors of all trees, (n_rows, n_classes, n_quantiles)."""
        outcome, posterior = class_outcome(self.outcome), self.space.posterior
        weights = self.leaf_weights(rows, n_threads)
        return np.concatenate([class_quantiles(outcome, part, posterior, quantiles, n_threads) for part in weights])

    def mixture(self, rows: Rows, n_threads: int = 1) -> tuple[sparse.csr_matrix, FloatArray]:
        """The posterior of each row: its weights on the nodes, and the nodes' posterior parameters."""
        return sparse.vstack(list(self.leaf_weights(rows, n_threads)), format="csr"), self.space.posterior

    def distribution(self, rows: Rows, kind: str = "outcome", n_threads: int = 1) -> Mixture:
        """The distribution of each row's outcome, or of its mean: a mixture over all trees."""
        weights, posterior = self.mixture(rows, n_threads)
        nodes = partial(of_nodes, distribution_of(self.outcome, kind), posterior)
        return Mixture(weights, nodes, self.widening, n_threads)

    def cdf_at(self, rows: Rows, y: FloatArray) -> Callable[[RealOutcome], FloatArray]:
        """The distribution function of each row's outcome at y, for this outcome or one of another spread."""
        cdf = cdf_of_mixture(*self.mixture(rows))
        return lambda outcome: cdf(outcome, y)

    def quantiles(self, rows: Rows, quantiles: FloatArray, kind: str = "outcome", n_threads: int = 1) -> FloatArray:
        """Quantiles of these distributions, shape (n_rows, n_quantiles)."""
        mixture = self.distribution(rows, kind, n_threads)
        return in_order(np.stack([mixture.ppf(q) for q in quantiles], axis=-1), quantiles)

    def std(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Standard deviation of each row's outcome."""
        return self.distribution(rows, "outcome", n_threads).std()

    def has_distribution(self, kind: str = "outcome") -> bool:
        """Whether the outcome, or its mean, has a distribution: one of the user's own need not."""
        return has_distribution(self.outcome, kind)

    @property
    def feature_importances(self) -> FloatArray:
        """Each feature's share of the gain in log marginal likelihood, on average over all trees."""
        return shares_of(self.space.expected_gain())

    @property
    def feature_posterior(self) -> FloatArray:
        """Probability, over all trees, that the root is split along each feature and, last, that it is not split."""
        return self.space.feature_posterior(np.array([0]))[0]


_METHOD = {"outcome": "distribution", "mean": "mean_distribution"}


def class_outcome(outcome: Outcome) -> CategoricalOutcome:
    """The outcome of a classifier."""
    if not isinstance(outcome, CategoricalOutcome):
        raise TypeError(f"The outcome {outcome.name!r} has no classes.")
    return outcome


def real_outcome(outcome: Outcome) -> RealOutcome:
    """The outcome of a regressor."""
    if not isinstance(outcome, RealOutcome):
        raise TypeError(f"The outcome {outcome.name!r} is not a number.")
    return outcome


def class_names(classes: AnyArray | None) -> tuple[str, ...]:
    """Classes as text; none where numbers are predicted."""
    return () if classes is None else tuple(str(label) for label in classes)


def has_distribution(outcome: Outcome, kind: str) -> bool:
    """Whether an outcome, or its mean, has a distribution: classes have none, one of the user's own need not."""
    return isinstance(outcome, RealOutcome) and outcome.has(_METHOD[kind])


def distribution_of(outcome: Outcome, kind: str) -> Callable[[FloatArray], Any]:
    """Makes the distribution of the outcome, or of its mean, from posteriors."""
    own = real_outcome(outcome)
    return own.distribution if kind == "outcome" else own.mean_distribution


def cdf_of_mixture(
    weights: sparse.csr_matrix, posterior: FloatArray
) -> Callable[[RealOutcome, FloatArray], FloatArray]:
    """The distribution functions of mixtures of nodes, one a row, of an outcome and at values that are given later."""
    parts = weights.tocoo()
    posterior = posterior[parts.col]

    def cdf(outcome: RealOutcome, y: FloatArray) -> FloatArray:
        values = parts.data * outcome.cdf(posterior, y[parts.row])
        return np.bincount(parts.row, weights=values, minlength=len(y)).astype(np.float64)

    return cdf


def class_quantiles(
    outcome: CategoricalOutcome,
    weights: sparse.csr_matrix,
    posterior: FloatArray,
    quantiles: FloatArray,
    n_threads: int = 1,
) -> FloatArray:
    """Quantiles of class probabilities, each a mixture of those of nodes; (n_rows, n_classes, n_quantiles)."""
    n_classes = posterior.shape[1]
    result = np.ones((weights.shape[0], n_classes, len(quantiles)))
    for c in range(n_classes) if n_classes > 1 else ():
        nodes = partial(of_nodes, partial(outcome.class_distribution, c), posterior)
        of_class = Mixture(weights, nodes, n_threads=n_threads)
        for k, q in enumerate(quantiles):
            result[:, c, k] = of_class.ppf(q)
    return in_order(result, quantiles)


def of_nodes(make: Callable[[FloatArray], Any], posterior: FloatArray, nodes: IntArray) -> Any:
    """The distribution in some nodes."""
    return make(posterior[nodes])


def in_order(values: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Take out of quantiles, which lie in the last axis, what rounding may have put in the wrong order."""
    order = np.argsort(quantiles, kind="stable")
    result = np.empty_like(values)
    result[..., order] = np.maximum.accumulate(values[..., order], axis=-1)
    return result


def shares_of(gain: FloatArray) -> FloatArray:
    return np.asarray(gain / gain.sum() if gain.sum() > 0 else gain, dtype=np.float64)
