"""What the tree-space estimators have in common."""

from __future__ import annotations

import math
import sys
import time
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._typing import FloatArray, IntArray
from .._validation import check_integer, check_no_infinity, check_optional_integer, check_real, shown
from ..alternatives import Alternatives, alternatives_of
from ..explanation import Explanation
from ..growing import Growth, encode_table, explore_space, grow_tree
from ..monotonic import read_monotonic
from ..notebook import tree_html
from ..outcomes import Target
from ..ranking import Selection, best_trees, draw_trees
from ..space import Space
from ._base import Estimator
from ._tree import BayesianTree

_ROWS_AT_ONCE = 4096  # whose weights on all nodes are in memory together
_SPACES = ("all", "roots", "prunings")
# Parameters that the trees of a space have too.
_SHARED = (
    "partition_prior",
    "feature_prior",
    "smoothing",
    "partitions",
    "categorical_features",
    "monotonic_cst",
    "max_depth",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "n_jobs",
)


class Progress:
    """Shows on standard error how far the exploration is, a few times a second."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, n_nodes: int, log_evidence: float) -> None:
        """Tell of a round."""
        if time.monotonic() - self.last < 0.2:
            return
        self.last = time.monotonic()
        sys.stderr.write(f"\r{n_nodes:,} nodes explored, log evidence {log_evidence:.2f} ")
        sys.stderr.flush()


class TreeSpace(Estimator):
    """Many trees at once, each with its posterior probability; subclasses say what they predict."""

    _consists_of = "space"
    _ranked: tuple[int, tuple[list[Selection], FloatArray]] | None = None  # by n_trees
    _monotonic: IntArray | None
    space_: Space
    space: Any
    max_nodes: Any
    time_limit: Any
    n_trees: Any
    random_state: Any
    verbose: Any

    @abstractmethod
    def _empty_tree(self, **parameters: Any) -> BayesianTree:
        """A single-tree estimator for one of the trees, without the tree."""

    def _budget(self) -> _core.Budget:
        if not isinstance(self.space, str) or self.space not in _SPACES:
            raise ValueError(f"space must be one of {', '.join(map(repr, _SPACES))}; got {shown(self.space)}.")
        max_nodes = check_optional_integer("max_nodes", self.max_nodes, low=0)
        endless = self.time_limit is None or self.time_limit == math.inf
        limit = None if endless else check_real("time_limit", self.time_limit, low=0, low_ok=True)
        check_integer("n_trees", self.n_trees, low=1)
        check_random_state(self.random_state)
        max_nodes = 0 if self.space == "prunings" else 2**62 if max_nodes is None else max_nodes
        return _core.Budget(max_nodes, limit, self.space == "roots", Progress() if self.verbose else None)

    def _growth(self) -> Growth:
        self._budget()  # a wrong parameter is told before anything is done
        return super()._growth()

    def _grow(self, X: Any, target: Target, growth: Growth) -> None:
        """Explore the space; where the prior is to be chosen, the evidence of the greedy tree's prunings does."""
        columns = encode_table(X, self._is_categorical, growth)
        candidates = list(self._candidates(target))
        if len(candidates) > 1:
            trees = [grow_tree(columns, target, outcome, growth) for outcome in candidates]
            candidates = [candidates[int(np.argmax([tree.log_evidence() for tree in trees]))]]
        self.outcome_ = candidates[0]
        self.space_, interrupted = explore_space(columns, target, self.outcome_, growth, self._budget())
        self._ranked = None
        self._monotonic = growth.monotonic
        if self.verbose:
            sys.stderr.write(f"\r{self.space_.node_count:,} nodes in all, log evidence {self.log_evidence_:.2f}\n")
        if interrupted:
            warnings.warn(
                f"The search was interrupted: the model holds the {self.space_.node_count} nodes that were explored.",
                stacklevel=4,
            )

    def _leaf_weights(self, X: Any) -> Iterator[sparse.csr_matrix]:
        """Check rows and return how probably each ends in each node, some rows at a time."""
        check_is_fitted(self)
        X = self._read_table(X, reset=False)
        check_no_infinity(X, self._names)
        n_threads = self._n_threads()
        for first in range(0, X.shape[0], _ROWS_AT_ONCE):
            part = X[first : first + _ROWS_AT_ONCE]
            yield self.space_.leaf_weights(part.toarray() if sparse.issparse(part) else part, n_threads)

    def _mean(self, X: Any) -> FloatArray:
        """The expected outcome of each row, averaged over all trees; shape (n_rows, n_values)."""
        return np.concatenate([np.asarray(weights @ self.space_.value[:, 0]) for weights in self._leaf_weights(X)])

    def posterior(self, X: Any) -> tuple[sparse.csr_matrix, FloatArray]:
        """Return the posterior of each row, a mixture of those of the nodes it may end in.

        Returns
        -------
        weights
            Sparse matrix of shape (n_rows, n_nodes): how probably each row ends in each node; rows sum to one.
        parameters
            Array of shape (n_nodes, n_parameters): the posterior's parameters in each node.
        """
        return sparse.vstack(list(self._leaf_weights(X)), format="csr"), self.space_.posterior

    def _ranking(self) -> tuple[list[Selection], FloatArray]:
        """The most probable trees, worked out when somebody first asks."""
        check_is_fitted(self)
        n_trees = check_integer("n_trees", self.n_trees, low=1)
        if self._ranked is None or self._ranked[0] != n_trees:
            self._ranked = n_trees, best_trees(self.space_, n_trees)
        return self._ranked[1]

    def _as_estimator(self, selection: Selection) -> Any:
        shared = {name: getattr(self, name) for name in _SHARED}
        model = self._empty_tree(prior=self.outcome_.prior, **shared)
        for name in ("n_features_in_", "feature_names_in_", "categories_", "outcome_", "classes_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        tree = selection.to_tree(self.space_, self.n_features_in_)
        if not hasattr(self, "_monotonic"):  # it comes from a file
            self._monotonic = read_monotonic(self.monotonic_cst, self.categories_, self._names)
        model.tree_ = model._put_in_order(tree, self._monotonic)
        return model

    @property
    def trees_(self) -> list[Any]:
        """The `n_trees` most probable trees, best first: single-tree estimators."""
        return [self._as_estimator(selection) for selection in self._ranking()[0]]

    @property
    def weights_(self) -> FloatArray:
        """Posterior probabilities of `trees_`, relative to each other: they sum to one."""
        scores = self._ranking()[1]
        shares = np.exp(scores - scores[0])
        return np.asarray(shares / shares.sum())

    @property
    def tree_shares_(self) -> FloatArray:
        """Posterior probabilities of `trees_` among all trees of the space."""
        return np.exp(self._ranking()[1] - self.space_.log_evidence[0])

    @property
    def modal_tree_(self) -> Any:
        """The most probable tree, a single-tree estimator like any other."""
        return self._as_estimator(self._ranking()[0][0])

    def sample_trees(self, k: int = 1, random_state: Any = None) -> list[Any]:
        """Draw trees from the posterior, independently of each other.

        Parameters
        ----------
        k
            How many.
        random_state
            Seed; None: that of the estimator.

        Returns
        -------
        list of single-tree estimators
        """
        check_is_fitted(self)
        random = check_random_state(self.random_state if random_state is None else random_state)
        drawn = draw_trees(self.space_, check_integer("k", k, low=1), random)
        return [self._as_estimator(selection) for selection in drawn]

    def alternatives(self, node: int = 0) -> Alternatives:
        """Return the ways to cut a node, or not to, with their posterior shares.

        Parameters
        ----------
        node
            A node of ``modal_tree_.tree_``; 0 is the root.
        """
        selection = self._ranking()[0][0]
        node = check_integer("node", node, low=0)
        if node >= len(selection.node):
            raise ValueError(f"node must be one of the modal tree's {len(selection.node)} nodes; got {node}.")
        return alternatives_of(self, self.space_, int(selection.node[node]))

    @property
    def log_evidence_(self) -> float:
        """Log probability of the outcomes, over all trees of the space."""
        check_is_fitted(self)
        return float(self.space_.log_evidence[0])

    @property
    def log_evidence_bound_(self) -> float:
        """What `log_evidence_` could reach at most with everything explored; inf where nobody knows."""
        check_is_fitted(self)
        return self.space_.log_evidence_bound

    @property
    def log_posterior_(self) -> float:
        """Log of prior times likelihood of the most probable tree."""
        return float(self._ranking()[1][0])

    @property
    def feature_posterior_(self) -> FloatArray:
        """Probability, over all trees, that the root is cut along each feature and, last, that it is not cut at all."""
        check_is_fitted(self)
        return self.space_.feature_posterior(np.array([0]), self.n_features_in_)[0]

    @property
    def feature_inclusion_(self) -> FloatArray:
        """Probability that a tree has a cut along each feature, anywhere."""
        check_is_fitted(self)
        return self.space_.feature_inclusion(self.n_features_in_)

    @property
    def feature_importances_(self) -> FloatArray:
        """Each feature's share of the gain in log marginal likelihood, on average over all trees."""
        check_is_fitted(self)
        gain = self.space_.expected_gain(self.n_features_in_)
        return np.asarray(gain / gain.sum() if gain.sum() > 0 else gain)

    @property
    def stability_(self) -> float:
        """Posterior share of the root's first choice: near one where the data leave no other."""
        check_is_fitted(self)
        own = self.space_.choice_share[self.space_.choices_of(0)]
        return float(np.append(own, self.space_.leaf_share[0]).max())

    def apply(self, X: Any) -> IntArray:
        """Return the leaf of the modal tree that each row falls into."""
        return self.modal_tree_.apply(X)

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Return which nodes of the modal tree each row passes."""
        return self.modal_tree_.decision_path(X)

    def explain(self, X: Any) -> list[Explanation]:
        """Explain each row by the modal tree: its path there, its leaf's posterior, what would change its decision.

        The note of an explanation says what all trees of the space together predict, which may be something else.
        """
        notes = (f"(the most probable tree says so; all trees together say {said})" for said in self._say(X))
        return [replace(one, note=note) for one, note in zip(self.modal_tree_.explain(X), notes, strict=True)]

    @abstractmethod
    def _say(self, X: Any) -> list[str]:
        """What the space predicts for each row, in words."""

    def _tree_html(self) -> str:
        return tree_html(self.modal_tree_)

    def get_depth(self) -> int:
        """Return the depth of the modal tree."""
        return self.modal_tree_.get_depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the modal tree."""
        return self.modal_tree_.get_n_leaves()
