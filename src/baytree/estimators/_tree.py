"""What the single-tree estimators have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._typing import FloatArray, IntArray
from .._validation import check_integer, check_no_infinity, check_optional_integer, unchanged_on_error
from ..counterfactual import Decisions
from ..explanation import Explanation, Summary, explain_rows
from ..growing import Growth, encode_table, grow_tree, update_tree
from ..monotonic import in_order
from ..notebook import tree_html
from ..outcomes import Target
from ..tree import Tree
from ._base import Estimator


class BayesianTree(Estimator):
    """One tree; subclasses say what its leaves predict."""

    _consists_of = "tree"
    tree_: Tree
    lookahead: Any
    max_leaf_nodes: Any

    @abstractmethod
    def _summaries(self, nodes: IntArray) -> list[Summary]:
        """What nodes predict, for people to read."""

    @property
    @abstractmethod
    def _posterior_names(self) -> tuple[str, ...]:
        """Names of the posterior's parameters."""

    @abstractmethod
    def _decisions(self) -> Decisions:
        """What each node decides."""

    def _growth(self) -> Growth:
        return replace(
            super()._growth(),
            lookahead=check_integer("lookahead", self.lookahead, low=0),
            max_leaf_nodes=check_optional_integer("max_leaf_nodes", self.max_leaf_nodes, low=1),
        )

    def _grow(self, X: Any, target: Target, growth: Growth) -> None:
        """Grow the tree, trying several priors where the evidence is to choose; the columns are encoded once."""
        columns = encode_table(X, self._is_categorical, growth)
        best = -np.inf
        for outcome in self._candidates(target):
            tree = self._put_in_order(grow_tree(columns, target, outcome, growth), growth.monotonic)
            evidence = tree.log_evidence()
            if evidence > best:
                best, self.tree_, self.outcome_ = evidence, tree, outcome

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, **extras: Any) -> Self:
        """Add rows to the posteriors."""
        with unchanged_on_error(self):
            X, target = self._check_rows(X, y, sample_weight, extras, reset=False)
            target = self._check_more_target(target)
            leaves, _ = self.tree_.apply(X, self._n_threads())
            self.tree_ = update_tree(self.tree_, leaves, target, self.outcome_)
            self.tree_ = self._put_in_order(self.tree_, self._growth().monotonic)
        return self

    def _put_in_order(self, tree: Tree, monotonic: IntArray | None) -> Tree:
        """Take rounding out of predictions that must be monotone; refuse what is more than that."""
        if monotonic is None:
            return tree
        before = tree.value[:, 0, -1]
        after = in_order(tree, monotonic, before)
        finite = before[np.isfinite(before)]
        rounding = 1e-9 * (finite.max() - finite.min()) if len(finite) else 0.0
        if not np.allclose(before, after, rtol=1e-9, atol=rounding):
            raise ValueError("These rows would break monotonic_cst in the tree as it is: fit it anew on all rows.")
        of_others = tree.value[:, :, :-1] * 0 + 1 - after[:, None, None]  # two classes, or nothing
        return replace(tree, value=np.concatenate([of_others, after[:, None, None]], axis=2))

    def _route(self, X: Any) -> tuple[Any, IntArray]:
        """Check rows and return them with their leaves."""
        check_is_fitted(self)
        X = self._read_table(X, reset=False)
        leaves, no_infinity = self.tree_.apply(X, self._n_threads())
        if not no_infinity:
            check_no_infinity(X, self._names)
        return X, leaves

    def apply(self, X: Any) -> IntArray:
        """Return the number of the leaf that each row falls into."""
        return self._route(X)[1]

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Return which nodes each row passes: a sparse 0/1 matrix of shape (n_rows, n_nodes)."""
        leaves = self.apply(X)
        paths = {leaf: self.tree_.path(leaf) for leaf in np.unique(leaves)}
        ends = np.cumsum([len(paths[leaf]) for leaf in leaves])
        nodes = np.concatenate([paths[leaf] for leaf in leaves])
        shape = (len(leaves), self.tree_.node_count)
        return sparse.csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, np.append(0, ends)), shape=shape)

    def posterior(self, X: Any) -> FloatArray:
        """Return the parameters of the posterior in each row's leaf, one row per sample."""
        leaves = self.apply(X)
        return self.tree_.posterior.take(leaves, axis=0)

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Each feature's share of the gain in log marginal likelihood; all zero where nothing was gained."""
        check_is_fitted(self)
        sprouts = ~self.tree_.is_leaf
        gain = np.maximum(self.tree_.gain()[sprouts], 0)
        total = np.bincount(self.tree_.feature[sprouts], weights=gain, minlength=self.n_features_in_)
        return np.asarray(total / total.sum() if total.sum() > 0 else total, dtype=np.float64)

    @property
    def feature_posterior_(self) -> FloatArray:
        """Probability that the root is cut along each feature and, last, that it is not cut at all.

        ``tree_.feature_posterior`` has the same for every node.
        """
        check_is_fitted(self)
        return self.tree_.feature_posterior[0]

    @property
    def log_posterior_(self) -> float:
        """Log of prior times likelihood of the tree; see ``tree_.log_posterior`` for the leaves-only figure."""
        check_is_fitted(self)
        return self.tree_.log_posterior()

    @property
    def log_evidence_(self) -> float:
        """Log probability of the outcomes over the tree and all of its prunings."""
        check_is_fitted(self)
        return self.tree_.log_evidence()

    def explain(self, X: Any) -> list[Explanation]:
        """Explain each row: the path in words, how sure each step is, the posterior, what would change the decision.

        Parameters
        ----------
        X
            Rows, one or many: a table like that of `fit`.

        Returns
        -------
        list of Explanation
            One for each row; print it, show it in a notebook, or take its ``to_dict()``.
        """
        X, leaves = self._route(X)
        return explain_rows(self, X.toarray() if sparse.issparse(X) else X, leaves)

    def _tree_html(self) -> str:
        return tree_html(self)
