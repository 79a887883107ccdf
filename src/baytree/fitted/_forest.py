"""A forest with its outcome, its schema and its classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse, special

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..decision import Decision
from ..growth import node_priors, put_in_order
from ..mixtures import Mixture
from ..outcomes import Outcome, RealOutcome
from ..table import Rows, Schema
from ..tree import Forest, SplitKind, Tree, as_space, both_ways, side_by_side
from ._trees import (
    FittedOn,
    FittedSpace,
    FittedTree,
    cdf_of_mixture,
    class_names,
    class_outcome,
    class_quantiles,
    distribution_of,
    has_distribution,
    in_order,
    of_nodes,
    real_outcome,
    shares_of,
)

_NODES_AT_ONCE = 2**13  # of the trees that are looked at together where memory counts


@dataclass(frozen=True, eq=False)
class FittedForest:
    """Trees that were grown on the same rows with random weights; each counts alike.

    Attributes
    ----------
    forest
        The trees.
    outcome, schema, classes
        What is predicted, the columns, and the class labels (None where numbers are predicted).
    tree_to_read, agreement
        The tree of all rows, each counted once, and how near it comes to the forest.
    seed
        Of the random weights.
    smoothing, monotonic
        What the trees were grown with.
    fitted_on
        What the forest was fitted on; None where it was not fitted here.
    decision, missing
        Which class is predicted, and what happens to values that a split has not seen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
    >>> model.fitted_.forest.n_trees
    10
    """

    forest: Forest
    outcome: Outcome
    schema: Schema
    classes: AnyArray | None
    tree_to_read: FittedTree
    agreement: float = 1.0
    seed: int = 0
    smoothing: float = 0.0
    monotonic: IntArray | None = None
    fitted_on: FittedOn | None = None
    decision: Decision = field(default_factory=Decision)
    missing: str = "majority"

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: vars(self)[own.name] for own in fields(self)}  # and nothing that was worked out

    @property
    def leaf_outcome(self) -> Outcome:
        """The outcome as the leaves alone say it."""
        return self.outcome.with_spread(1.0) if isinstance(self.outcome, RealOutcome) else self.outcome

    @property
    def widening(self) -> float:
        """Times which distributions are as wide about their means as the leaves of all trees make them."""
        return widening_of(self.outcome)

    @cached_property
    def modal(self) -> FittedTree:
        """The tree to read."""
        return replace(self.tree_to_read, fitted_on=self.fitted_on, decision=self.decision, missing=self.missing)

    @property
    def used_features(self) -> IntArray:
        """The features that some tree uses."""
        return np.union1d(self.forest.used_features, self.modal.used_features)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text; none where numbers are predicted."""
        return class_names(self.classes)

    @cached_property
    def prior(self) -> FloatArray:
        """Parameters of the prior of each node: that of the root but for smoothing."""
        return node_priors(self.forest, self.outcome, self.smoothing)

    @cached_property
    def posterior(self) -> FloatArray:
        """Parameters of the posterior of each node."""
        return self.outcome.update(self.prior, self.forest.statistics)

    @cached_property
    def value(self) -> FloatArray:
        """What each node predicts, shape (n_nodes, n_values)."""
        value = self.outcome.mean(self.posterior)
        if self.monotonic is None:
            return value
        return np.concatenate([self.tree(t).tree.value[:, 0] for t in range(self.forest.n_trees)])

    @cached_property
    def log_likelihood(self) -> FloatArray:
        """Log marginal likelihood of the rows of each node in one set, without the factor on their weights."""
        return self.outcome.log_marginal(self.prior, self.forest.statistics)

    def tree(self, t: int) -> FittedTree:
        """One of the trees. Of the posterior over features its nodes know what the split has against no split."""
        forest, part = self.forest, slice(int(self.forest.tree_start[t]), int(self.forest.tree_start[t + 1]))
        splits = forest.tree_splits(t)
        left, right, is_leaf = splits["children_left"], splits["children_right"], splits["kind"] == SplitKind.NONE
        log_likelihood = self.log_likelihood[part].copy()
        of_split = np.where(is_leaf, -np.inf, log_likelihood[left] + log_likelihood[right])
        odds = forest.log_odds_split[part].astype(np.float64)
        share = np.where(np.isfinite(odds), special.expit(odds), 0.0)
        features = np.zeros((len(odds), forest.n_features + 1))
        features[:, -1] = np.where(is_leaf, 1.0, 1.0 - share)
        features[np.flatnonzero(~is_leaf), splits["feature"][~is_leaf]] = share[~is_leaf]
        posterior = self.posterior[part].copy()
        tree = Tree(
            **splits,
            log_prior_split=forest.log_prior_split[part].astype(np.float64),
            log_likelihood_split=of_split,
            value=self.outcome.mean(posterior)[:, None, :],
            n_node_samples=forest.n_node_samples[part].astype(np.int64),
            weighted_n_node_samples=self.outcome.weights(forest.statistics[part]).copy(),
            depth=forest.depth[part].copy(),
            prior=self.prior[part].copy(),
            posterior=posterior,
            log_likelihood=log_likelihood,
            log_prior_leaf=forest.log_prior_leaf[part].astype(np.float64),
            log_odds_split=odds,
            feature_posterior=features,
        )
        result = FittedTree(put_in_order(tree, self.monotonic), self.leaf_outcome, self.schema, self.classes)
        return replace(result, fitted_on=self.fitted_on, decision=self.decision, missing=self.missing)

    def trees(self) -> Iterator[FittedTree]:
        """All trees."""
        return map(self.tree, range(self.forest.n_trees))

    @cached_property
    def router(self) -> _core.ForestRouter:
        """The forest in the form in which the compiled core sends rows down, checked once."""
        value = np.ascontiguousarray(self.value).ravel()
        return _core.ForestRouter(**self.forest.routing(), value=value, n_features=self.forest.n_features)

    def mean(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """Class probabilities, or the expected outcome, averaged over the trees; shape (n_rows, n_values)."""
        if self.missing == "average":
            average = np.asarray(self.mixture(rows, n_threads) @ self.value)
            return average if self.classes is None else average / average.sum(axis=1, keepdims=True)
        parts = [self.router.mean(part, rows.column_of, n_threads) for part in rows.dense_parts()]
        if not all(finite for _, finite in parts):
            self.schema.refuse_infinity(rows)
        return np.concatenate([mean for mean, _ in parts]) if len(parts) > 1 else parts[0][0]

    def mean_by_parts(self, rows: Rows) -> FloatArray:
        """The same once, without keeping the router: those of some trees at a time take less memory."""
        parts = (replace(self, forest=forest) for forest in self.forest.parts(_NODES_AT_ONCE))
        total = sum((part.forest.n_trees * part.mean(rows) for part in parts), np.zeros(()))
        return np.asarray(total / self.forest.n_trees)

    def leaves(self, rows: Rows, n_threads: int = 1) -> AnyArray:
        """The leaf of each row in each tree, numbered throughout the forest; shape (n_rows, n_trees)."""
        parts = [self.router.leaves(part, rows.column_of, n_threads) for part in rows.dense_parts()]
        if not all(finite for _, finite in parts):
            self.schema.refuse_infinity(rows)
        return np.concatenate([leaves for leaves, _ in parts]) if len(parts) > 1 else parts[0][0]

    def tree_means(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """What each tree predicts, shape (n_rows, n_trees, n_values)."""
        return self.value[self.leaves(rows, n_threads)]

    def class_codes(self, rows: Rows, n_threads: int = 1) -> IntArray:
        """The position of the class that is decided for, one for each row."""
        return self.decision.codes(self.mean(rows, n_threads))

    def mixture(self, rows: Rows, n_threads: int = 1, trees: FloatArray | None = None) -> sparse.csr_matrix:
        """The weight of each node for each row: leaves of trees count alike, or as much as `trees` says."""
        if self.missing == "average":
            by_tree = [sparse.vstack(list(tree.leaf_weights(rows, n_threads))) for tree in self.trees()]
            return sparse.csr_matrix(sparse.hstack(by_tree) / self.forest.n_trees)
        leaves = self.leaves(rows, n_threads)
        trees = np.ones(leaves.shape) if trees is None else trees
        counts = trees > 0
        n_trees = counts.sum(axis=1)
        start = np.append(0, np.cumsum(n_trees))
        weights = trees[counts] / np.repeat(trees.sum(axis=1, dtype=np.float64), n_trees)
        return sparse.csr_matrix((weights, leaves[counts], start), shape=(len(leaves), self.forest.node_count))

    def class_quantiles(self, rows: Rows, quantiles: FloatArray, n_threads: int = 1) -> FloatArray:
        """Quantiles of the class probabilities over the posteriors of all trees, (n_rows, n_classes, n_quantiles)."""
        weights = self.mixture(rows, n_threads)
        return class_quantiles(class_outcome(self.outcome), weights, self.posterior, quantiles, n_threads)

    def distribution(self, rows: Rows, kind: str = "outcome", n_threads: int = 1) -> Mixture:
        """The distribution of each row's outcome, or of its mean: a mixture over the trees."""
        make = distribution_of(self.leaf_outcome, kind)
        nodes = partial(of_nodes, make, self.posterior)
        return Mixture(self.mixture(rows, n_threads), nodes, self.widening, n_threads)

    def cdf_at(self, rows: Rows, y: FloatArray, trees: FloatArray | None = None) -> Callable[[RealOutcome], FloatArray]:
        """The distribution function of each row's outcome at y, for this outcome or one of another spread."""
        weights = self.mixture(rows, trees=trees)
        cdf, mean = cdf_of_mixture(weights, self.posterior), np.asarray(weights @ self.value)[:, 0]
        leaf_outcome = real_outcome(self.leaf_outcome)
        return lambda outcome: cdf(leaf_outcome, mean + (y - mean) / widening_of(outcome))

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

    def uncertainty(self, rows: Rows, n_threads: int = 1) -> FloatArray:
        """What is noise, and what more rows would settle, shape (n_rows, 2).

        Of classes, in nats: the entropy that is expected to stay once the probabilities are known, and the rest of
        that of the prediction. Of numbers, as variances: that of the outcome around its mean, and that of the mean.
        """
        if self.classes is not None:
            outcome, weights = class_outcome(self.outcome), self.mixture(rows, n_threads)
            noise = np.asarray(weights @ outcome.expected_entropy(self.posterior))
            mean = np.asarray(weights @ self.value)
            return np.stack([noise, np.maximum(special.entr(mean).sum(axis=1) - noise, 0.0)], axis=1)
        total, of_mean = (self.distribution(rows, kind, n_threads).var() for kind in ("outcome", "mean"))
        with np.errstate(invalid="ignore"):
            return np.stack([np.where(np.isinf(total), np.inf, np.maximum(total - of_mean, 0.0)), of_mean], axis=1)

    @property
    def feature_importances(self) -> FloatArray:
        """Each feature's share of the gain in log marginal likelihood, on average over the trees."""
        forest = self.forest
        left, right = forest.children()
        internal = np.flatnonzero(~forest.is_leaf)
        of_rows = self.log_likelihood
        gain = np.maximum(of_rows[left[internal]] + of_rows[right[internal]] - of_rows[internal], 0)
        place = forest.tree_of_node[internal] * forest.n_features + forest.feature[internal]
        total = np.bincount(place, weights=gain, minlength=forest.n_trees * forest.n_features)
        by_tree = total.reshape(forest.n_trees, forest.n_features).astype(np.float64)
        sums = by_tree.sum(axis=1, keepdims=True)
        return shares_of(np.divide(by_tree, sums, out=np.zeros_like(by_tree), where=sums > 0).sum(axis=0))

    @property
    def feature_posterior(self) -> FloatArray:
        """The share of the trees whose root is split along each feature and, last, of those without a split."""
        roots = self.forest.feature[self.forest.roots]
        place = np.where(roots < 0, self.forest.n_features, roots)
        return np.bincount(place, minlength=self.forest.n_features + 1) / self.forest.n_trees

    @cached_property
    def path_features(self) -> BoolArray:
        """Whether a split on the way to each node uses each feature, shape (n_nodes, n_features)."""
        forest = self.forest
        uses = np.zeros((forest.node_count, forest.n_features), dtype=bool)
        internal = np.flatnonzero(~forest.is_leaf)
        uses[internal, forest.feature[internal]] = True
        owner = np.repeat(np.arange(forest.node_count), np.diff(forest.hyperplane_start))
        uses[owner, forest.hyperplane_feature] = True
        left, right = forest.children()
        result = np.zeros_like(uses)
        for at in forest.internal_by_depth():
            for child in (left[at], right[at]):
                result[child] = result[at] | uses[at]
        return result

    @property
    def routed(self) -> FittedForest | FittedSpace:
        """The same predictions by splits alone: where what was not seen goes both ways, a space in which it does."""
        if self.missing != "average":
            return self
        space = side_by_side([both_ways(as_space(own.tree)) for own in self.trees()])
        result = FittedSpace(space, self.leaf_outcome, self.schema, self.classes, decision=self.decision)
        return replace(result, widening=self.widening)

    @property
    def feature_inclusion(self) -> FloatArray:
        """The share of the trees that use each feature."""
        return self.forest.feature_uses().mean(axis=0)


def widening_of(outcome: Outcome) -> float:
    """What the mixture of a forest with this outcome is scaled by."""
    return float(getattr(outcome, "spread", 1.0))
