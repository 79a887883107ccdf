"""The fitted result: a tree, a tree space or a forest with its outcome, its schema and the decision rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import sparse, special

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._words import number_text
from ..decision import Decision
from ..growth import enforce_monotonic
from ..mixtures import Mixture
from ..outcomes import CategoricalOutcome, ForestCalibration, Outcome, RealOutcome
from ..table import Rows, Schema
from ..tree import Selection, TreeStore, best_trees, both_ways, draw_trees
from ._edits import Edit
from ._facts import FittedOn, ForestFacts
from ._kinds import Decisions, ModelKind
from ._members import weights_of_leaves, with_feature_posterior
from ._mixtures import (
    cdf_of_mixture,
    class_outcome,
    class_quantiles,
    component_distribution,
    distribution_of,
    has_distribution,
    real_outcome,
    sort_quantiles,
)

UNSEEN = ("majority", "average")  # ways for values that a split has not seen: to the larger side, or both ways
_NODES_AT_ONCE = 2**13  # of the trees that are looked at together where memory counts

# The prediction of a node: name -> estimate, lower and upper end of a 90 % interval.
Summary = dict[str, tuple[float, float, float]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted result, which predictions, explanations, exports, plots and reports read.

    Attributes
    ----------
    trees
        The tree, the tree space or the trees of the forest.
    outcome, schema
        What is predicted, with its calibration, and the columns.
    kind
        Whether it is a tree, a tree space or a forest.
    grown_tree
        Of a tree: the tree as it was grown, where `trees` is a pruning of it; else None.
    tree_of_all_rows
        Of a forest: the tree that all rows grow, each counted once, to be read in its place.
    forest
        Of a forest: the settings it was grown with.
    monotonic
        The directions that predictions are held to, one for each feature; None for none.
    fitted_on
        Facts about the training data; None where it was not fitted here.
    decision, unseen
        Which class is predicted, and what happens to values that a split has not seen.
    edits
        The edits that people made to the tree, in their order.
    set_decisions
        Of an edited tree: the position of the class that people decided on in each node, -1 where `decision` decides;
        None where it decides in all of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> model.fitted_.trees.n_leaves, model.fitted_.class_names
    (3, ('0', '1', '2'))
    """

    trees: TreeStore
    outcome: Outcome
    schema: Schema
    kind: ModelKind = ModelKind.TREE
    grown_tree: TreeStore | None = None
    tree_of_all_rows: Fitted | None = None
    forest: ForestFacts | None = None
    monotonic: IntArray | None = None
    fitted_on: FittedOn | None = None
    decision: Decision = field(default_factory=Decision)
    unseen: str = "majority"
    edits: tuple[Edit, ...] = ()
    set_decisions: IntArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: vars(self)[item.name] for item in fields(self)}  # without cached properties

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {"edits": (), "set_decisions": None} | state  # what an older state lacks
        vars(self).update(state | {"kind": ModelKind(state["kind"])})  # skops makes plain text of it

    def with_outcome(self, outcome: Outcome) -> Self:
        """Return a copy with another calibration of its outcome."""
        grown = None if self.grown_tree is None else self.grown_tree.with_outcome(outcome)
        return replace(self, trees=self.trees.with_outcome(outcome), grown_tree=grown, outcome=outcome)

    # What is predicted.

    @property
    def classes(self) -> AnyArray | None:
        """The class labels; None where numbers are predicted."""
        return self.outcome.classes

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text; none where numbers are predicted."""
        return self.outcome.class_names

    @property
    def leaf_outcome(self) -> Outcome:
        """The outcome as single leaves predict it: a forest calibrates the average of all trees, not theirs."""
        if isinstance(self.outcome, RealOutcome):
            return self.outcome.with_spread(1.0) if self.kind is ModelKind.FOREST else self.outcome
        return self.readable_outcome

    @property
    def readable_outcome(self) -> Outcome:
        """The outcome as the tree to read predicts it: with the spread of a forest, without its other calibration."""
        return self.outcome.of_single_tree()

    @property
    def forest_calibration(self) -> ForestCalibration | None:
        """How the class probabilities of a forest follow from the average over its trees; None where they are it."""
        outcome = self.outcome
        if not isinstance(outcome, CategoricalOutcome) or outcome.intercepts is None:
            return None
        return outcome.forest_calibration

    @property
    def widening(self) -> float:
        """Factor by which distributions are widened about their means; 1 unless the model is a forest."""
        return _widening(self.outcome) if self.kind is ModelKind.FOREST else 1.0

    def has_distribution(self, kind: str = "outcome") -> bool:
        """Whether the outcome, or its mean, has a distribution: one of the user's own need not."""
        return has_distribution(self.outcome, kind)

    # Single trees.

    @cached_property
    def readable(self) -> Fitted:
        """The tree to read: of a space the most probable one, of a forest that of all rows, each counted once."""
        if self.kind is ModelKind.SPACE:
            return self.best_trees(1)[0]
        if self.tree_of_all_rows is None:
            return self
        return replace(self.tree_of_all_rows, fitted_on=self.fitted_on, decision=self.decision, unseen=self.unseen)

    @property
    def grown(self) -> TreeStore:
        """The tree as it was grown, before it was pruned."""
        return self.trees if self.grown_tree is None else self.grown_tree

    def with_pruning(self, tree: TreeStore) -> Self:
        """A single tree replaced by another pruning of the tree as it was grown."""
        self.check_no_set_decisions("A smaller tree")
        return replace(self, trees=tree, grown_tree=None if tree is self.grown else self.grown)

    def grown_node(self, node: int) -> int:
        """The node of a tree in the tree as it was grown."""
        place = 0
        for above, below in pairwise(self.trees.path(node)):
            is_left = below == self.trees.children_left[above]
            place = int((self.grown.children_left if is_left else self.grown.children_right)[place])
        return place

    @property
    def agreement(self) -> float:
        """Agreement of the readable tree with the forest on training rows."""
        return 1.0 if self.forest is None else self.forest.agreement

    def tree(self, t: int) -> Fitted:
        """One of the trees of a forest. Of the posterior over features its nodes know the split against no split."""
        return self._single(with_feature_posterior(self.trees.tree(t)))

    def single_trees(self) -> Iterator[Fitted]:
        """The trees of a forest."""
        return map(self.tree, range(self.trees.n_trees))

    def _single(self, tree: TreeStore) -> Fitted:
        return replace(
            self,
            trees=tree,
            outcome=self.leaf_outcome,
            kind=ModelKind.TREE,
            grown_tree=None,
            tree_of_all_rows=None,
            forest=None,
        )

    def _fitted_tree(self, selection: Selection) -> Fitted:
        return self._single(enforce_monotonic(selection.to_tree(self.trees), self.monotonic))

    def selections(self, n_trees: int) -> tuple[list[Selection], FloatArray]:
        """The most probable trees of a space, best first, with the log of prior times likelihood of each."""
        if n_trees not in self._best_tree_cache:
            self._best_tree_cache.clear()
            self._best_tree_cache[n_trees] = best_trees(self.trees, n_trees)
        return self._best_tree_cache[n_trees]

    @cached_property
    def _best_tree_cache(self) -> dict[int, tuple[list[Selection], FloatArray]]:
        return {}

    def best_trees(self, n_trees: int) -> list[Fitted]:
        """The most probable trees of a space, best first."""
        return [self._fitted_tree(selection) for selection in self.selections(n_trees)[0]]

    def tree_weights(self, n_trees: int) -> FloatArray:
        """Posterior probabilities of the best trees, relative to each other: they sum to one."""
        scores = self.selections(n_trees)[1]
        shares = np.exp(scores - scores[0])
        return np.asarray(shares / shares.sum())

    def tree_shares(self, n_trees: int) -> FloatArray:
        """Posterior probabilities of the best trees among all trees of a space."""
        return np.exp(self.selections(n_trees)[1] - self.trees.evidence.log_evidence[0])

    def draw_trees(self, n_trees: int, random: np.random.RandomState) -> list[Fitted]:
        """Trees drawn from the posterior of a space."""
        return [self._fitted_tree(selection) for selection in draw_trees(self.trees, n_trees, random)]

    # Where rows go.

    @cached_property
    def used_features(self) -> IntArray:
        """The features that some tree uses: no other column need be read."""
        used = self.trees.used_features
        return used if self.tree_of_all_rows is None else np.union1d(used, self.tree_of_all_rows.used_features)

    @cached_property
    def routed(self) -> Fitted:
        """The model with `unseen="average"` written as weighted choices of its trees."""
        if self.unseen != "average":
            return self
        return replace(self, trees=both_ways(self.trees), unseen="majority")

    def check_constant(self, what: str) -> None:
        """Refuse leaves that predict from the values of a row, for something that holds numbers."""
        if not self.trees.leaves.is_constant:
            raise ValueError(
                f"{what} holds one prediction for each leaf, but the leaves of this model predict from the values of "
                "each row: fit a model with constant leaves."
            )

    @cached_property
    def has_one_leaf(self) -> bool:
        """Whether every row ends in one leaf, whose distribution is the prediction."""
        return self.kind is ModelKind.TREE and self.routed.trees.is_plain

    def leaves(self, rows: Rows, n_threads: int = 1) -> IntArray:
        """The leaf of a single tree that each row falls into, by the side of more weight where a value was not seen."""
        return self._finite(rows, *self.trees.routing.leaf(rows, n_threads))

    def leaves_by_tree(self, rows: Rows, n_threads: int = 1) -> AnyArray:
        """The leaf of each row in each tree of a forest, numbered throughout the forest; shape (n_rows, n_trees)."""
        return self._finite(rows, *self.trees.routing.leaves(rows, n_threads))

    def _finite(self, rows: Rows, routed: Any, finite: bool) -> Any:
        if not finite:
            self.schema.refuse_infinity(rows)
        return routed

    def leaf_weights(
        self, rows: Rows, n_threads: int = 1, by_tree: FloatArray | None = None
    ) -> Iterator[sparse.csr_matrix]:
        """The share of each row in each node, some rows at a time; trees count alike, or as `by_tree` (row, tree)."""
        trees = self.routed.trees
        if not trees.is_plain:
            self.schema.refuse_infinity(rows)
            yield from trees.routing.weights(rows, n_threads)
            return
        if trees.n_trees == 1 and by_tree is None:
            leaves = self.routed.leaves(rows, n_threads)[:, None]
        else:
            leaves = self.routed.leaves_by_tree(rows, n_threads)
        yield weights_of_leaves(leaves, by_tree, trees.node_count)

    def mixture(
        self, rows: Rows, n_threads: int = 1, by_tree: FloatArray | None = None
    ) -> tuple[sparse.csr_matrix, FloatArray]:
        """The prediction of each row, a mixture: its weights on components, and the components' parameters."""
        parts = list(self.leaf_weights(rows, n_threads, by_tree))
        weights = parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
        return self._components(weights, rows)

    def posterior_mixture(self, rows: Rows, n_threads: int = 1) -> tuple[sparse.csr_matrix, FloatArray]:
        """The model before it is calibrated: the conjugate posteriors of the nodes."""
        weights, parameters = self.mixture(rows, n_threads)
        leaves = self.routed.trees.leaves
        return weights, leaves.posterior if leaves.is_constant else parameters

    def _components(self, weights: sparse.csr_matrix, rows: Rows) -> tuple[sparse.csr_matrix, FloatArray]:
        """Nodes are components where all of their rows have one posterior; else every row has its own in each."""
        leaves = self.routed.trees.leaves
        if leaves.is_constant:
            return weights, leaves.calibrated
        row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        parameters = leaves.outcome.calibrated(leaves.parameters(weights.indices, rows, row))
        shape = (weights.shape[0], weights.nnz)
        return sparse.csr_matrix((weights.data, np.arange(weights.nnz), weights.indptr), shape=shape), parameters

    # Predictions.

    def mean(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Class probabilities, or the expected outcome, averaged over all trees; shape (n_rows, n_values)."""
        average = self._average(rows, n_threads)
        if self.routed.trees.is_plain and self.forest_calibration is None:
            return average
        return self.outcome.of_average(average)

    def _average(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """The expected outcome by the trees alone."""
        trees = self.routed.trees
        if trees.is_plain and trees.n_trees == 1:
            return trees.leaves.means(self.routed.leaves(rows, n_threads), rows)
        if trees.is_plain and trees.leaves.is_constant:
            return self._finite(rows, *trees.routing.mean(rows, n_threads))
        return self._mean_of_parts(rows, n_threads)

    def _mean_of_parts(self, rows: Rows, n_threads: int, by_tree: FloatArray | None = None) -> FloatArray:
        leaves, first, result = self.routed.trees.leaves, 0, []
        for weights in self.leaf_weights(rows, n_threads, by_tree):
            n_rows = weights.shape[0]
            if leaves.is_constant:
                result.append(np.asarray(weights @ leaves.value))
            else:
                row = np.repeat(np.arange(first, first + n_rows), np.diff(weights.indptr))
                entries = (weights.data, np.arange(weights.nnz), weights.indptr)
                by_entry = sparse.csr_matrix(entries, shape=(n_rows, weights.nnz))
                result.append(np.asarray(by_entry @ leaves.means(weights.indices, rows, row)))
            first += n_rows
        return np.concatenate(result)

    def tree_means(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """The expected outcome by each tree of a forest, shape (n_rows, n_trees, n_values)."""
        nodes = self.leaves_by_tree(rows, n_threads)
        row = np.repeat(np.arange(len(nodes)), nodes.shape[1])
        means = self.trees.leaves.means(nodes.ravel().astype(np.int64), rows, row)
        return means.reshape(*nodes.shape, means.shape[1])

    def mean_without(self, rows: Rows, by_tree: FloatArray) -> FloatArray:
        """The expected outcome where trees count as much as `by_tree` (row, tree) gives; NaN where none does."""
        mean = self._mean_of_parts(rows, 1, by_tree)
        mean[~by_tree.any(axis=1)] = np.nan
        return self.outcome.of_average(mean)

    def mean_by_parts(self, rows: Rows) -> FloatArray:
        """The expected outcome once, without keeping a router: those of some trees at a time take less memory."""
        parts = (replace(self, trees=trees) for trees in self.trees.parts(_NODES_AT_ONCE))
        total = sum((part.trees.n_trees * part._average(rows) for part in parts), np.zeros(()))
        return self.outcome.of_average(np.asarray(total / self.trees.n_trees))

    def predict(self, rows: Rows, n_threads: int = 1) -> AnyArray:
        """The class that is decided on, or the expected outcome."""
        if self.set_decisions is not None:
            return self.outcome.labels[self.class_codes(rows, n_threads)]
        return self.outcome.predict(self.mean(rows, n_threads), self.decision)

    def class_codes(self, rows: Rows, n_threads: int = 1, mean: FloatArray | None = None) -> IntArray:
        """The position of the class that is decided on, one for each row; `mean` if it is known already."""
        if self.set_decisions is not None:
            return self.node_codes[self.leaves(rows, n_threads)]
        return self.decision.codes(self.mean(rows, n_threads) if mean is None else mean)

    def with_set_decisions(self, by_leaf: dict[int, int]) -> Self:
        """A tree with the decisions that people set for some leaves: the position of a class by leaf."""
        if not by_leaf:
            return replace(self, set_decisions=None)
        codes = np.full(self.trees.node_count, -1, dtype=np.int64)
        codes[list(by_leaf)] = list(by_leaf.values())
        return replace(self, set_decisions=codes)

    def check_no_set_decisions(self, what: str) -> None:
        """Refuse decisions that people set for single leaves, for something that decides by probabilities."""
        if self.set_decisions is not None:
            raise ValueError(
                f"{what} decides by probabilities alone, but people set the decisions of single leaves of this tree: "
                "undo these edits."
            )

    def class_quantiles(self, rows: Rows, quantiles: FloatArray, n_threads: int = 1) -> FloatArray:
        """Quantiles of the class probabilities over the posteriors of all trees, (n_rows, n_classes, n_quantiles)."""
        outcome = class_outcome(self.outcome)
        if self.has_one_leaf:
            return self._evaluate_by_leaf(rows, n_threads, lambda posterior: outcome.quantiles(posterior, quantiles))
        result, first = [], 0
        for part in self.leaf_weights(rows, n_threads):
            weights, parameters = self._components(part, rows.take(first, first + part.shape[0]))
            values = class_quantiles(outcome, weights, parameters, quantiles, n_threads)
            if self.forest_calibration is not None:
                values = self.forest_calibration.values(values, np.asarray(weights @ outcome.mean(parameters)))
            result.append(values)
            first += part.shape[0]
        return np.concatenate(result)

    def distribution(self, rows: Rows, kind: str = "outcome", n_threads: int = 1) -> Any:
        """The distribution of each row's outcome, or of its mean: one frozen, vectorised scipy.stats distribution.

        Of several trees, a mixture over them.
        """
        make = distribution_of(self.leaf_outcome, kind)
        if self.has_one_leaf:
            return make(self._parameters(rows, n_threads))
        weights, parameters = self.mixture(rows, n_threads)
        return Mixture(weights, partial(component_distribution, make, parameters), self.widening, n_threads)

    def cdf_at(
        self, rows: Rows, y: FloatArray, by_tree: FloatArray | None = None
    ) -> Callable[[RealOutcome], FloatArray]:
        """The distribution function of each row's outcome at y, for this outcome or one of another spread."""
        if self.has_one_leaf:
            parameters = self._parameters(rows)
            return lambda outcome: outcome.cdf(parameters, y)
        weights, parameters = self.mixture(rows, by_tree=by_tree)
        cdf = cdf_of_mixture(weights, parameters)
        if self.kind is not ModelKind.FOREST:
            return lambda outcome: cdf(outcome, y)
        mean, leaf_outcome = self._mean_of_parts(rows, 1, by_tree)[:, 0], real_outcome(self.leaf_outcome)
        return lambda outcome: cdf(leaf_outcome, mean + (y - mean) / _widening(outcome))

    def quantiles(self, rows: Rows, quantiles: FloatArray, kind: str = "outcome", n_threads: int = 1) -> FloatArray:
        """Quantiles of these distributions, shape (n_rows, n_quantiles)."""
        if self.has_one_leaf:
            make = distribution_of(self.outcome, kind)

            def quantiles_of(posterior: FloatArray) -> FloatArray:
                distribution = make(posterior)
                return np.stack([distribution.ppf(q) for q in quantiles], axis=-1)

            return self._evaluate_by_leaf(rows, n_threads, quantiles_of)
        mixture = self.distribution(rows, kind, n_threads)
        return sort_quantiles(np.stack([mixture.ppf(q) for q in quantiles], axis=-1), quantiles)

    def std(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Standard deviation of each row's outcome."""
        if self.has_one_leaf:
            return self._evaluate_by_leaf(rows, n_threads, real_outcome(self.outcome).std)
        return np.asarray(self.distribution(rows, "outcome", n_threads).std())

    def _parameters(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Calibrated parameters of each row in its leaf."""
        leaves = self.routed.trees.leaves
        return leaves.outcome.calibrated(leaves.parameters(self.routed.leaves(rows, n_threads), rows))

    def _evaluate_by_leaf(self, rows: Rows, n_threads: int, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Evaluate a function of posteriors: once a leaf where all of its rows have one."""
        leaves = self.routed.trees.leaves
        if not leaves.is_constant:
            return np.asarray(function(self._parameters(rows, n_threads)))
        reached, inverse = np.unique(self.routed.leaves(rows, n_threads), return_inverse=True)
        return np.asarray(function(leaves.calibrated[reached]))[inverse]

    def uncertainty(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Noise, and uncertainty that more rows would reduce, shape (n_rows, 2).

        Of classes, in nats: the entropy that is expected to stay once the probabilities are known, and the rest of
        that of the prediction; in a calibrated forest, in proportion to what they are before it is calibrated. Of
        numbers, as variances: that of the outcome around its mean, and that of the mean.
        """
        if self.outcome.predicts_classes:
            weights, parameters = self.mixture(rows, n_threads)
            noise = np.asarray(weights @ class_outcome(self.outcome).expected_entropy(parameters))
            mean = np.asarray(weights @ self.outcome.mean(parameters))
            total, of_prediction = (special.entr(p).sum(axis=1) for p in (mean, self.outcome.of_average(mean)))
            noise *= np.divide(of_prediction, total, out=np.ones_like(total), where=total > 0)
            return np.stack([noise, np.maximum(of_prediction - noise, 0.0)], axis=1)
        total, of_mean = (self.distribution(rows, kind, n_threads).var() for kind in ("outcome", "mean"))
        with np.errstate(invalid="ignore"):
            return np.stack([np.where(np.isinf(total), np.inf, np.maximum(total - of_mean, 0.0)), of_mean], axis=1)

    @property
    def value_names(self) -> list[str]:
        """The names of the numbers that are predicted: class probabilities, or the mean."""
        return self.outcome.value_names(self.trees.leaves.value.shape[1])

    @cached_property
    def overall_means(self) -> FloatArray:
        """The expected outcome of the whole table: that of the root, averaged over the trees."""
        return np.asarray(self.trees.leaves.value[self.trees.roots].mean(axis=0))

    def has_finite_means(self) -> bool:
        """Whether every leaf has a finite mean, without which no sum over leaves means anything."""
        return bool(np.isfinite(self.trees.leaves.value[self.trees.leaf_share > 0]).all())

    # Nodes of a tree, for people to read.

    @property
    def node_means(self) -> FloatArray:
        """The expected outcome of each node; where rows differ, that at its centre."""
        return self.trees.leaves.value

    @cached_property
    def node_codes(self) -> IntArray:
        """The position of the class that is decided on in each node."""
        codes = self.decision.codes(self.node_means)
        return codes if self.set_decisions is None else np.where(self.set_decisions < 0, codes, self.set_decisions)

    def summaries(self, nodes: IntArray) -> list[Summary]:
        """The prediction of nodes with 90 % intervals: every class, or the mean and the outcome."""
        leaves, outcome = self.trees.leaves, self.outcome
        ends = outcome.intervals(leaves.calibrated[nodes], np.array([0.05, 0.95]))
        numbers = np.concatenate([outcome.estimates(self.node_means[nodes])[:, :, None], ends], axis=2)
        return [dict(zip(outcome.estimate_names, map(tuple, node), strict=True)) for node in numbers.tolist()]

    def decisions(self) -> Decisions:
        """The decision in each node: its class, or whether its estimate is above that of the root."""
        value = self.node_means
        if self.outcome.predicts_classes:
            code = self.node_codes
            return Decisions(code, self.class_names, value[np.arange(len(code)), code])
        estimate = value[:, 0]
        overall = number_text(float(estimate[0]))
        above = (estimate > estimate[0]).astype(np.int64)
        return Decisions(above, (f"at most the overall {overall}", f"above the overall {overall}"), estimate)

    # Features.

    @property
    def feature_importances(self) -> FloatArray:
        """Each feature's share of the gain in log marginal likelihood, on average over the trees; zero without gain."""
        gain = self.trees.evidence.expected_gain()
        sums = gain.sum(axis=1, keepdims=True)
        total = np.divide(gain, sums, out=np.zeros_like(gain), where=sums > 0).sum(axis=0)
        return np.asarray(total / total.sum() if total.sum() > 0 else total, dtype=np.float64)

    @property
    def feature_posterior(self) -> FloatArray:
        """Probability that the root is split along each feature and, last, that it is not split.

        Of a tree the posterior of the first split by itself; of a space over all trees; of a forest the share of its
        trees.
        """
        trees = self.trees
        if self.kind is ModelKind.TREE and len(trees.feature_posterior):
            return trees.feature_posterior[0]
        return trees.evidence.feature_posterior(trees.roots).mean(axis=0)

    @property
    def feature_inclusion(self) -> FloatArray:
        """The probability that a tree uses each feature; of a forest the share of its trees."""
        trees = self.trees
        if not trees.is_plain:
            return trees.evidence.feature_inclusion()
        uses = np.zeros((trees.n_trees, trees.n_features), dtype=bool)
        np.logical_or.at(uses, trees.tree_of_node, trees.feature_uses())
        return uses.mean(axis=0)

    @cached_property
    def path_features(self) -> BoolArray:
        """Whether a split on the way to each node of plain trees uses each feature, shape (n_nodes, n_features)."""
        trees = self.trees
        uses = trees.feature_uses()
        result = np.zeros_like(uses)
        for at in trees.splits_by_depth:
            for child in (trees.children_left[at], trees.children_right[at]):
                result[child] = result[at] | uses[at]
        return result


def _widening(outcome: Outcome) -> float:
    """The factor by which the mixture of a forest with this outcome is scaled."""
    return outcome.spread if isinstance(outcome, RealOutcome) else 1.0
