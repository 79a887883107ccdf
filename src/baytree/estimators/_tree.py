"""The base class of the single-tree estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_integer, check_optional_integer, check_truth, unchanged_on_error
from .._words import count_text
from ..fitted import Fitted
from ..growth import Growth, LeafModelSettings, TableData, TrainingData, add_rows, enforce_monotonic, read_forced
from ..outcomes import Outcome
from ..sources import TargetPlan, TargetReader, read_target
from ..table import Rows, Schema
from ..tree import TreeStore, best_of_size, reduce_trees
from ._base import Estimator
from ._calibrate import calibrate
from ._facts import facts_of
from ._parameters import read_leaf, refuse_with_leaf_models
from ._sizes import sizes_of


class SingleTree(Estimator):
    """One tree; subclasses say what its leaves predict."""

    fitted_: Fitted
    prune: Any
    lookahead: Any
    max_leaf_nodes: Any
    leaf: Any
    max_leaf_terms: Any
    extrapolate: Any
    forced_splits: Any

    def _check_own_parameters(self) -> dict[str, Any]:
        check_truth("prune", self.prune)
        return {
            "leaf_models": self._read_leaf_models(),
            "lookahead": check_integer("lookahead", self.lookahead, low=0),
            "max_leaf_nodes": check_optional_integer("max_leaf_nodes", self.max_leaf_nodes, low=1),
        }

    def _growth(self, schema: Schema, reader: TargetReader, classes: AnyArray | None) -> Growth:
        growth, forced = super()._growth(schema, reader, classes), read_forced(self.forced_splits, schema, classes)
        if forced is None:
            return growth
        if growth.lookahead:
            raise ValueError("forced_splits is not for trees with look-ahead: make lookahead 0.")
        if forced.decided and self.unseen != "majority":
            raise ValueError("A decision in forced_splits needs rows that end in one leaf: make unseen 'majority'.")
        if growth.max_leaf_nodes is not None and growth.max_leaf_nodes < forced.n_leaves:
            raise ValueError(
                f"max_leaf_nodes is {growth.max_leaf_nodes}, but forced_splits has {forced.n_leaves} leaves: give at "
                "least as many, or None."
            )
        return replace(growth, forced=forced)

    def _read_leaf_models(self) -> LeafModelSettings | None:
        """Read `leaf`, `max_leaf_terms` and `extrapolate`, and refuse parameters that only constant leaves have."""
        max_terms = check_integer("max_leaf_terms", self.max_leaf_terms, low=0)
        check_truth("extrapolate", self.extrapolate)
        if read_leaf(self.leaf) == "constant":
            return None
        refuse_with_leaf_models(self)
        return LeafModelSettings(max_terms, bool(self.extrapolate))

    def _grow(self, data: TrainingData, outcome: Outcome, *, calibrated: bool) -> Fitted:
        def grow(data: TrainingData) -> Fitted:
            grown = enforce_monotonic(data.grow(outcome), data.growth.monotonic)
            forced = data.growth.forced
            kept = None if forced is None else forced.is_forced(grown)
            tree = reduce_trees(grown, prune=self.prune, max_leaf_nodes=data.growth.max_leaf_nodes, kept=kept)
            grown_tree = None if tree is grown else grown
            fitted = Fitted(tree, outcome, data.schema, grown_tree=grown_tree, monotonic=data.growth.monotonic)
            return fitted if forced is None else fitted.with_set_decisions(forced.decided_leaves(tree))

        fitted = grow(data)
        return calibrate(fitted, data, grow) if calibrated else fitted

    def _refit_tree(self, data: TableData, outcome: Outcome) -> Fitted:
        return self._grow(data, outcome, calibrated=False)

    def _add(self, X: Any, y: Any, sample_weight: Any, reader: TargetReader, **extras: Any) -> Self:
        """Add rows to the posteriors."""
        fitted = self.fitted_
        with unchanged_on_error(self):
            data = self._more_rows(self._read_all(X), y, sample_weight, reader, extras)
            monotonic = data.growth.monotonic

            def with_rows(tree: TreeStore) -> TreeStore:
                return enforce_monotonic(add_rows(tree, data, fitted.outcome), monotonic)

            grown_tree = None if fitted.grown_tree is None else with_rows(fitted.grown_tree)
            more, before = facts_of(data), fitted.fitted_on
            facts = more if before is None else before.and_then(more)
            self.fitted_ = replace(fitted, trees=with_rows(fitted.trees), grown_tree=grown_tree, fitted_on=facts)
        return self

    def _more_rows(
        self, rows: Rows, y: Any, sample_weight: Any, reader: TargetReader, extras: dict[str, Any]
    ) -> TableData:
        """More rows of the table that the estimator was fitted to."""
        outcome, schema = self.fitted_.outcome, self.fitted_.schema
        weight = self._as_counts(sample_weight, rows.matrix)
        target = read_target(TargetPlan(reader), rows, y, weight, extras)
        target, has_weight = reader.read_update(target, outcome)
        rows = rows if has_weight is None else Rows(rows.matrix[has_weight])
        return TableData(rows, schema, target, self._growth(schema, reader, outcome.classes))

    def sizes(
        self,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        exposure: Any = None,
        event: Any = None,
        n_folds: int = 5,
        max_leaves: int | None = None,
    ) -> Any:
        """Compare the most probable prunings of the grown tree with 1, 2, 3, ... leaves.

        Of all prunings of the grown tree with k leaves, the most probable one is found exactly. With `X` and `y`, the
        loss on held-out rows is minus the log probability (or density) of an outcome, averaged over the rows: for
        classes the log loss of ``predict_proba``. Each fold grows a tree on the other rows, with the prior and the
        calibration of this model, and predicts its rows by the best pruning of each size.

        Parameters
        ----------
        X, y, sample_weight, exposure, event
            The rows of the fit; with ``n_folds=0`` rows that the model has not seen. None: no loss.
        n_folds
            Number of folds. 0: the prunings of this tree predict the rows.
        max_leaves
            Largest size to list. None: that of the grown tree.

        Returns
        -------
        pandas.DataFrame
            Columns ``n_leaves``, ``log_posterior``, ``odds_against`` (how many times as probable the best size is) and,
            with rows, ``loss`` and ``loss_error``, the standard error of the loss.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.sizes(X, y)[["n_leaves", "loss"]].round(2).values.tolist()
        [[1.0, 1.11], [2.0, 0.47], [3.0, 0.3], [4.0, 0.24]]
        """
        check_is_fitted(self)
        n_folds = check_integer("n_folds", n_folds, low=0)
        max_leaves = check_optional_integer("max_leaves", max_leaves, low=1)
        given = (sample_weight, exposure, event)
        return sizes_of(self, X, y, given, n_folds, self.grown_tree_.n_leaves if max_leaves is None else max_leaves)

    def with_leaves(self, n_leaves: int) -> Self:
        """Return the model with the most probable pruning of the grown tree that has so many leaves.

        Parameters
        ----------
        n_leaves
            Number of leaves, at most that of `grown_tree_`.

        Returns
        -------
        Self
            A fitted estimator with the calibration of this one. Its parameters are those of this one with
            ``prune=False`` and ``max_leaf_nodes=n_leaves``, so that a fit to the same rows gives the same tree.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.with_leaves(2).get_n_leaves()
        2
        """
        check_is_fitted(self)
        n_leaves = check_integer("n_leaves", n_leaves, low=1)
        grown = self.grown_tree_
        if n_leaves > grown.n_leaves:
            raise ValueError(
                f"n_leaves is {n_leaves}, but the grown tree has {count_text(grown.n_leaves, 'leaf', 'leaves')}: give "
                "at most as many, or fit with a larger partition_prior."
            )
        parameters = self.get_params(deep=False) | {"prune": False, "max_leaf_nodes": n_leaves}
        return type(self).from_fitted(self.fitted_.with_pruning(best_of_size(grown, n_leaves)), parameters)

    @property
    def tree_(self) -> TreeStore:
        """The `TreeStore` of one tree: parallel arrays named as in scikit-learn, with posteriors.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.tree_.node_count, float(model.tree_.threshold[0])
        (5, 0.8)
        """
        check_is_fitted(self)
        return self.fitted_.trees

    @property
    def grown_tree_(self) -> TreeStore:
        """The greedy-modal tree as it was grown; `tree_` is its most probable pruning.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BayesianTreeRegressor().fit(X, y)
        >>> model.grown_tree_.n_leaves, model.tree_.n_leaves
        (6, 6)
        """
        check_is_fitted(self)
        return self.fitted_.grown

    def apply(self, X: Any) -> IntArray:
        """Return the number of the leaf that each row falls into.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        array of shape (n_rows,)
            Numbers of nodes of `tree_`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.apply(X[::60])
        array([1, 3, 4], dtype=int64)
        """
        rows = self._read(X)
        return self.fitted_.leaves(rows, self._n_threads())

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Return which nodes each row passes.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            1 where a row passes a node.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.decision_path(X[:1]).toarray()
        array([[1, 1, 0, 0, 0]])
        """
        leaves = self.apply(X)
        paths = {leaf: self.tree_.path(leaf) for leaf in np.unique(leaves)}
        ends = np.cumsum([len(paths[leaf]) for leaf in leaves])
        nodes = np.concatenate([paths[leaf] for leaf in leaves])
        shape = (len(leaves), self.tree_.node_count)
        return sparse.csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, np.append(0, ends)), shape=shape)

    def posterior(self, X: Any) -> FloatArray:
        """Return the parameters of the posterior in each row's leaf.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        array of shape (n_rows, n_parameters)
            Of a classifier, Dirichlet parameters; of a regressor, ``(mu, kappa, alpha, beta)``, ``(shape, rate)`` and
            so on.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.posterior(X[:1]).round(2)
        array([[50.67,  0.67,  0.67]])
        """
        rows = self._read(X)
        leaves, nodes = self.tree_.leaves, self.fitted_.leaves(rows, self._n_threads())
        return leaves.posterior.take(nodes, axis=0) if leaves.is_constant else leaves.parameters(nodes, rows)

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf.

        Returns
        -------
        int

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.get_depth()
        2
        """
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.get_n_leaves()
        3
        """
        return self.tree_.n_leaves

    @property
    def feature_posterior_(self) -> FloatArray:
        """Probability that the root is split along each feature and, last, that it is not split.

        It is the posterior of a single split, whatever follows; that of a tree space is of whole trees, and the two may
        differ. ``tree_.feature_posterior`` has the same for every node.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.feature_posterior_.round(3)
        array([0.   , 0.   , 0.338, 0.662, 0.   ])
        """
        check_is_fitted(self)
        return self.fitted_.feature_posterior

    @property
    def log_posterior_(self) -> float:
        """Log of prior times likelihood of the tree; see ``tree_.log_posterior`` for the leaves-only figure.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> round(model.log_posterior_, 2)
        -47.94
        """
        return self.tree_.log_posterior()

    @property
    def log_evidence_(self) -> float:
        """Log probability of the outcomes, summed over the grown tree and all of its prunings.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> import math
        >>> f"{math.exp(model.log_posterior_ - model.log_evidence_):.0%} of the probability of all prunings"
        '53% of the probability of all prunings'
        """
        return self.grown_tree_.log_evidence()
