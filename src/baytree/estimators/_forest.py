"""What the forests have in common."""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_integer, check_optional_integer, check_real, check_truth, shown
from .._words import count_text
from ..fitted import FittedForest, FittedTree
from ..growth import (
    Engine,
    Growth,
    Plan,
    Search,
    grow_forest,
    in_forest_units,
    put_in_order,
    some_folds_of,
    trees_without,
    weight_of_a_draw,
)
from ..outcomes import Outcome
from ..tree import Forest
from ._base import Estimator
from ._calibrate import calibrate_out_of_bag
from ._data import EncodedData
from ._tree import SingleTree

_BOOTSTRAPS = ("bayesian", "resample")
# Parameters that the trees of a forest have too.
_SHARED = (
    "prune",
    "partition_prior",
    "feature_prior",
    "smoothing",
    "lookahead",
    "partitions",
    "categorical_features",
    "monotonic_cst",
    "max_depth",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "missing",
    "max_bins",
    "n_jobs",
)
_TREES_AT_ONCE = 10  # that are told of
_MOST_ROWS = 5000  # on which the tree to read is compared with the forest
_OUT_OF_BAG = ("oob_score_", "oob_prediction_", "oob_decision_function_")


class ManyGrownTrees(Estimator):
    """The average of trees that were grown with random weights; subclasses say what they predict."""

    _engine: ClassVar[Engine] = Engine(
        subtree_rows=2048,  # every thread has sorted lists of a subtree's rows: memory
        search=Search(
            sizes=(2, 4, 8, 20),
            few_rows=1024,
            most_responses=1,
            n_refits=1,
            n_rounds=0,
            n_shakes=0,
            round_off=False,
            n_values=64,
            fit_few=True,
        ),
    )
    fitted_: FittedForest
    n_estimators: Any
    prune: Any
    lookahead: Any
    bootstrap: Any
    max_features: Any
    max_leaf_nodes: Any
    oob_score: Any
    random_state: Any
    warm_start: Any
    verbose: Any

    @abstractmethod
    def _single_tree(self, fitted: FittedTree, parameters: dict[str, Any]) -> SingleTree:
        """A single-tree estimator of one of the trees."""

    @abstractmethod
    def _keep_out_of_bag(self, mean: FloatArray, data: EncodedData) -> None:
        """Keep what the trees that do not have a row predict for it; NaN where all have it."""

    def _check_own_parameters(self) -> dict[str, Any]:
        check_integer("n_estimators", self.n_estimators, low=1)
        if not isinstance(self.bootstrap, str) or self.bootstrap not in _BOOTSTRAPS:
            raise ValueError(f"bootstrap must be 'bayesian' or 'resample'; got {shown(self.bootstrap)}.")
        for name in ("prune", "oob_score", "warm_start"):
            check_truth(name, getattr(self, name))
        check_random_state(self.random_state)
        return {
            "lookahead": check_integer("lookahead", self.lookahead, low=0),
            "max_leaf_nodes": check_optional_integer("max_leaf_nodes", self.max_leaf_nodes, low=1),
        }

    def _grow(self, data: EncodedData, outcome: Outcome, growth: Growth, *, calibrated: bool) -> FittedForest:
        before = self.fitted_ if self.warm_start and self._is_fitted else None
        plan = self._plan(data, outcome, growth, before)
        tree = self._tree_to_read(data, outcome, growth)
        forest = self._grow_trees(data, outcome, growth, plan, before, tree)
        fitted = FittedForest(
            forest,
            outcome,
            data.schema,
            data.classes,
            tree,
            seed=plan.seed,
            smoothing=growth.smoothing,
            monotonic=growth.monotonic,
        )

        of_all = replace(plan, first=0, n_trees=forest.n_trees)
        without = partial(trees_without, data.columns, data.target, outcome, growth, of_all)
        if calibrated:
            fitted = calibrate_out_of_bag(fitted, data, without)
            fitted = replace(fitted, tree_to_read=replace(tree, outcome=fitted.outcome))
        for name in _OUT_OF_BAG:
            self.__dict__.pop(name, None)
        if self.oob_score:
            trees = without(np.arange(len(data.rows)))
            _warn_of_rows_in_all(trees)
            self._keep_out_of_bag(_out_of_bag_mean(fitted, data, trees), data)
        return replace(fitted, agreement=_agreement(fitted, data))

    def _plan(self, data: EncodedData, outcome: Outcome, growth: Growth, before: FittedForest | None) -> Plan:
        first = 0 if before is None else before.forest.n_trees
        if self.n_estimators < first:
            raise ValueError(
                f"n_estimators is {self.n_estimators}, but with warm_start the forest keeps its {first} trees: give a "
                "larger number."
            )
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        resample, factor = self.bootstrap == "resample", growth.engine.forest_factor or outcome.forest_factor
        if growth.monotonic is not None:
            # Constraints hold for the means that a tree sees while it grows, so these must be those of the forest.
            factor = weight_of_a_draw(data.target) if resample else 1.0
        return Plan(
            seed=seed if before is None else before.seed,
            first=first,
            n_trees=self.n_estimators - first,
            resample=resample,
            n_features=read_max_features(self.max_features, data.schema.n_features),
            factor=factor,
            whole=growth.engine.forest_whole,
        )

    def _grow_trees(
        self,
        data: EncodedData,
        outcome: Outcome,
        growth: Growth,
        plan: Plan,
        before: FittedForest | None,
        tree: FittedTree,
    ) -> Forest:
        """The trees of the plan, behind those that there are."""
        forest = None
        if before is not None:
            same = np.array_equal(before.outcome.prior, outcome.prior) and np.array_equal(
                before.modal.tree.posterior[0], tree.tree.posterior[0]
            )
            if not same or before.schema.n_features != data.schema.n_features:
                raise ValueError("warm_start adds trees to a forest of the same table: make it False for another one.")
            forest = before.forest
        step = _TREES_AT_ONCE if self.verbose else max(plan.n_trees, 1)
        for first in range(plan.first, plan.first + plan.n_trees, step):
            part = replace(plan, first=first, n_trees=min(step, plan.first + plan.n_trees - first))
            grown = grow_forest(data.columns, data.target, outcome, growth, part)
            more = in_forest_units(grown, outcome, growth, prune=self.prune)
            forest = more if forest is None else forest.with_trees(more)
            if self.verbose:
                sys.stderr.write(f"\r{forest.n_trees:,} of {self.n_estimators:,} trees grown ")
                sys.stderr.flush()
        if self.verbose:
            sys.stderr.write("\n")
        if forest is None:
            raise ValueError("A forest has at least one tree.")
        return forest

    def _tree_to_read(self, data: EncodedData, outcome: Outcome, growth: Growth) -> FittedTree:
        """The most probable pruning of the tree of all rows as they are."""
        grown = put_in_order(data.grow(outcome, growth), growth.monotonic)
        tree = grown.most_probable_pruning()
        return FittedTree(tree, outcome, data.schema, data.classes, None if tree is grown else grown)

    def _as_estimator(self, fitted: FittedTree, **changed: Any) -> SingleTree:
        shared = {name: getattr(self, name) for name in _SHARED} | {"prior": self.prior_} | changed
        return self._single_tree(fitted, shared)

    @property
    def estimators_(self) -> list[SingleTree]:
        """The trees: single-tree estimators like any other, made when you ask for them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> len(model.estimators_)
        10
        """
        check_is_fitted(self)
        return [self._as_estimator(tree) for tree in self.fitted_.trees()]

    @property
    def representative_tree_(self) -> SingleTree:
        """One tree to read: the most probable pruning of the tree that all rows grow, each counted once.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.representative_tree_.get_n_leaves()
        3
        """
        check_is_fitted(self)
        return self._as_estimator(self.fitted_.modal, prune=True)

    @property
    def representative_agreement_(self) -> float:
        """How near `representative_tree_` comes to the forest, on training rows.

        For classes, the share of rows on which both decide alike. For numbers, the share of the variance of the
        forest's predictions that the tree explains.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.representative_agreement_ > 0.8
        True
        """
        check_is_fitted(self)
        return self.fitted_.agreement

    @property
    def feature_posterior_(self) -> FloatArray:
        """The share of the trees whose root is split along each feature and, last, of those without a split.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> round(float(model.feature_posterior_.sum()), 6)
        1.0
        """
        check_is_fitted(self)
        return self.fitted_.feature_posterior

    @property
    def feature_inclusion_(self) -> FloatArray:
        """The share of the trees that use each feature.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.feature_inclusion_.shape
        (4,)
        """
        check_is_fitted(self)
        return self.fitted_.feature_inclusion

    @property
    def stability_(self) -> float:
        """The largest share of trees that begin with the same feature: near one where the data leave no doubt.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.stability_ <= 1
        True
        """
        return float(self.feature_posterior_.max())

    @property
    def log_evidence_(self) -> float:
        """Log probability of the outcomes, summed over the grown tree of all rows and all of its prunings.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.log_evidence_ > model.log_posterior_
        True
        """
        check_is_fitted(self)
        return self.fitted_.modal.grown.log_evidence()

    @property
    def log_posterior_(self) -> float:
        """Log of prior times likelihood of `representative_tree_`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> round(model.log_posterior_, 1)
        -53.6
        """
        check_is_fitted(self)
        return self.fitted_.modal.tree.log_posterior()

    def predict_uncertainty(self, X: Any) -> FloatArray:
        """Divide the uncertainty of each prediction into noise and what more data would settle.

        Parameters
        ----------
        X
            Rows.

        Returns
        -------
        array of shape (n_rows, 2)
            Noise, and what more data would settle. For classes, in nats: the entropy that is left once the
            probabilities are known, on average, and the rest of the entropy of `predict_proba`. For numbers, as
            variances: that of the outcome around its mean, and that of the mean, over leaves and trees.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.predict_uncertainty(X[[0, 70]]).shape
        (2, 2)
        """
        rows = self._read(X)
        return self.fitted_.uncertainty(rows, self._n_threads())

    def posterior(self, X: Any) -> FloatArray:
        """Return the parameters of the posterior in each row's leaf of the representative tree.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        array of shape (n_rows, n_parameters)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.posterior(X[:1]).round(2)
        array([[50.67,  0.67,  0.67]])
        """
        return self.representative_tree_.posterior(X)

    def posterior_mixture(self, X: Any) -> tuple[sparse.csr_matrix, FloatArray]:
        """Return the posterior of each row over all trees, a mixture of those of its leaves.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        weights
            Sparse matrix of shape (n_rows, n_nodes): the share of the trees in which each row ends in each node.
        parameters
            Array of shape (n_nodes, n_parameters): the posterior's parameters in each node.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> weights, parameters = model.posterior_mixture(X[:1])
        >>> round(float(weights.sum()), 6), parameters.shape[1]
        (1.0, 3)
        """
        rows = self._read(X)
        return self.fitted_.mixture(rows, self._n_threads()), self.fitted_.posterior

    def apply(self, X: Any) -> IntArray:
        """Return the leaf of each row in each tree.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        array of shape (n_rows, n_estimators)
            Leaves, numbered within their tree.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.apply(X[:2]).shape
        (2, 10)
        """
        rows = self._read(X)
        return self.fitted_.leaves(rows, self._n_threads()) - self.fitted_.forest.roots

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, IntArray]:
        """Return which nodes each row passes, and where the nodes of each tree begin, as scikit-learn does.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes), array of shape (n_estimators + 1,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> path, start = model.decision_path(X[:2])
        >>> len(start), path.shape[1] == start[-1]
        (11, np.True_)
        """
        paths = [tree.decision_path(X) for tree in self.estimators_]
        return sparse.hstack(paths, format="csr"), self.fitted_.forest.tree_start

    def get_depth(self) -> int:
        """Return the depth of the representative tree.

        Returns
        -------
        int

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.get_depth()
        2
        """
        return self.representative_tree_.get_depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the representative tree.

        Returns
        -------
        int

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.get_n_leaves()
        3
        """
        return self.representative_tree_.get_n_leaves()


def _warn_of_rows_in_all(trees: FloatArray) -> None:
    n_in_all = int(np.count_nonzero(~trees.any(axis=1)))
    if n_in_all:
        warnings.warn(
            f"{count_text(n_in_all, 'row')} of {len(trees):,} count in every tree, so that oob_score_ leaves them out: "
            "grow more trees, or give smaller weights.",
            UserWarning,
            stacklevel=5,
        )


def _out_of_bag_mean(fitted: FittedForest, data: EncodedData, trees: FloatArray) -> FloatArray:
    """What the trees that lack a row predict for it; NaN where all have it, and for rows that do not count."""
    mean = np.asarray(fitted.mixture(data.rows, trees=trees) @ fitted.value)
    mean[~trees.any(axis=1)] = np.nan
    if data.counts is None:
        return mean
    result = np.full((len(data.counts), mean.shape[1]), np.nan)
    result[data.counts] = mean
    return result


def _agreement(fitted: FittedForest, data: EncodedData) -> float:
    """How near the tree to read comes to the forest."""
    chosen: AnyArray = np.flatnonzero(some_folds_of(data.rows, data.target, 1, _MOST_ROWS) == 0)
    rows = data.take(chosen).rows
    mean = fitted.mean_by_parts(rows)
    if fitted.classes is not None:
        return float(np.mean(fitted.decision.codes(mean) == fitted.modal.class_codes(rows)))
    of_forest, of_tree = mean[:, 0], fitted.modal.mean(rows)[:, 0]
    finite = np.isfinite(of_forest) & np.isfinite(of_tree)
    variance = float(np.var(of_forest[finite])) if finite.any() else 0.0
    error = float(np.mean((of_forest[finite] - of_tree[finite]) ** 2)) if finite.any() else 0.0
    return 1.0 - error / variance if variance > 0 else 1.0


def read_max_features(max_features: Any, n_features: int) -> int:
    """Read the `max_features` parameter: how many features each node may use."""
    what = "max_features must be a share in (0, 1], a number of features, 'sqrt', 'log2' or None"
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        sizes = {"sqrt": np.sqrt(n_features), "log2": np.log2(max(n_features, 2))}
        if max_features not in sizes:
            raise ValueError(f"{what}; got {shown(max_features)}.")
        return max(1, int(sizes[max_features]))
    if isinstance(max_features, (int, np.integer)) and not isinstance(max_features, bool):
        number = check_integer("max_features", max_features, low=1)
        if number > n_features:
            raise ValueError(f"max_features is {number}, but X has {n_features} features.")
        return number
    share = check_real("max_features", max_features, low=0, high=1, high_ok=True)
    return max(min(2, n_features), round(share * n_features))  # of two features hyperplanes can be made
