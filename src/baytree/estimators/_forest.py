"""The base class of the forests."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._progress import Progress
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_integer, check_optional_integer, check_real, check_truth, short_repr
from .._words import count_text
from ..fitted import Fitted, ForestFacts, ModelKind, OutOfBag
from ..growth import (
    Engine,
    ForestPlan,
    ForestRows,
    Growth,
    HyperplaneSearch,
    TableData,
    TrainingData,
    assign_small_folds,
    draw_weight,
    enforce_monotonic,
    rows_of_forest,
)
from ..outcomes import Outcome
from ..sources import Capability, TargetReader
from ..table import Schema
from ..tree import TreeStore, concatenate_stores, reduce_trees
from ._base import Estimator
from ._calibrate import calibrate_out_of_bag
from ._tree import SingleTree
from ._warm_start import check_same_columns, check_same_table

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
    "interaction_cst",
    "max_depth",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "unseen",
    "weights",
    "max_bins",
    "n_jobs",
)
_TREES_AT_ONCE = 10  # between two updates of the progress
_MOST_ROWS = 5000  # on which the tree to read is compared with the forest


class BaseForest(Estimator):
    """The average of trees that were grown with random weights; subclasses say what they predict."""

    _engine: ClassVar[Engine] = Engine(
        subtree_rows=2048,  # every thread has sorted lists of a subtree's rows: memory
        search=HyperplaneSearch(
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
    fitted_: Fitted
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
    def _single_tree(self, fitted: Fitted, parameters: dict[str, Any]) -> SingleTree:
        """A single-tree estimator of one of the trees."""

    @abstractmethod
    def _out_of_bag(self, mean: FloatArray, data: TableData, outcome: Outcome) -> OutOfBag:
        """The score of what the trees that do not have a row predict for it; NaN where all have it."""

    def _required(self) -> list[Capability]:
        needs = {Capability.OUT_OF_BAG: self.oob_score is True, Capability.RESAMPLING: self.bootstrap == "resample"}
        return [capability for capability, is_needed in needs.items() if is_needed]

    def _growth(self, schema: Schema, reader: TargetReader, classes: AnyArray | None) -> Growth:
        growth = super()._growth(schema, reader, classes)
        if self.warm_start is True and self._is_fitted:
            check_same_columns(self.fitted_, schema, classes)
        return growth

    def _check_own_parameters(self) -> dict[str, Any]:
        check_integer("n_estimators", self.n_estimators, low=1)
        if not isinstance(self.bootstrap, str) or self.bootstrap not in _BOOTSTRAPS:
            raise ValueError(f"bootstrap must be 'bayesian' or 'resample'; got {short_repr(self.bootstrap)}.")
        for name in ("prune", "oob_score", "warm_start"):
            check_truth(name, getattr(self, name))
        check_random_state(self.random_state)
        return {
            "lookahead": check_integer("lookahead", self.lookahead, low=0),
            "max_leaf_nodes": check_optional_integer("max_leaf_nodes", self.max_leaf_nodes, low=1),
        }

    def _grow(self, data: Any, outcome: Outcome, *, calibrated: bool) -> Fitted:
        before = self.fitted_ if self.warm_start and self._is_fitted else None
        plan = self._plan(data, outcome, before)
        tree = _tree_of_all_rows(data, outcome)
        if before is not None:
            check_same_table(before, data, outcome, tree)
        rows = rows_of_forest(data, outcome, plan)
        try:
            trees = self._grow_trees(rows, outcome, data.growth, plan, before)
            fitted = Fitted(
                trees,
                outcome,
                data.schema,
                kind=ModelKind.FOREST,
                tree_of_all_rows=tree,
                forest=ForestFacts(plan.seed),
                monotonic=data.growth.monotonic,
            )
            return self._measured(fitted, data, rows, plan, calibrated=calibrated)
        finally:
            rows.close()

    def _measured(self, fitted: Fitted, data: Any, rows: ForestRows, plan: ForestPlan, *, calibrated: bool) -> Fitted:
        """A forest with its calibration, its out-of-bag figures and its agreement with the tree to read."""
        of_all = replace(plan, first=0, n_trees=fitted.trees.n_trees)
        sample, without = rows.sample(fitted.outcome, of_all)
        if calibrated:
            fitted = calibrate_out_of_bag(fitted, sample, without)
            if fitted.tree_of_all_rows is not None:
                tree = replace(fitted.tree_of_all_rows, outcome=fitted.readable_outcome)
                fitted = replace(fitted, tree_of_all_rows=tree)
        out_of_bag = None
        if self.oob_score:
            by_tree = rows.all_out_of_bag(fitted.outcome, of_all)
            _warn_of_rows_in_every_tree(by_tree)
            mean = _at_given_rows(fitted.mean_without(data.rows, by_tree), data)
            out_of_bag = self._out_of_bag(mean, data, fitted.outcome)
        return replace(fitted, forest=ForestFacts(plan.seed, _agreement(fitted, sample), out_of_bag))

    def _refit_tree(self, data: TableData, outcome: Outcome) -> Fitted:
        return _tree_of_all_rows(data, outcome)

    def _plan(self, data: Any, outcome: Outcome, before: Fitted | None) -> ForestPlan:
        first, growth = 0 if before is None else before.trees.n_trees, data.growth
        if self.n_estimators < first:
            raise ValueError(
                f"n_estimators is {self.n_estimators}, but with warm_start the forest keeps its {first} trees: give a "
                "larger number."
            )
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        resample, factor = self.bootstrap == "resample", growth.engine.forest_factor or outcome.forest_factor
        if growth.monotonic is not None:
            # Constraints hold for the means that a tree sees while it grows, so these must be those of the forest.
            factor = draw_weight(data.target) if resample else 1.0
        return ForestPlan(
            seed=seed if before is None or before.forest is None else before.forest.seed,
            first=first,
            n_trees=self.n_estimators - first,
            resample=resample,
            n_features=read_max_features(self.max_features, data.schema.n_features),
            factor=factor,
            whole=growth.engine.forest_whole,
        )

    def _grow_trees(
        self, rows: ForestRows, outcome: Outcome, growth: Growth, plan: ForestPlan, before: Fitted | None
    ) -> TreeStore:
        """The trees of the plan, behind those that there are."""
        stores = [] if before is None else [before.trees.with_outcome(outcome)]
        step = _TREES_AT_ONCE if self.verbose else max(plan.n_trees, 1)
        stop = plan.first + plan.n_trees
        with Progress("Forest", stop, unit="trees", done=plan.first, show=bool(self.verbose)) as progress:
            for first in range(plan.first, stop, step):
                part = replace(plan, first=first, n_trees=min(step, stop - first))
                stores.append(self._grow_part(rows, outcome, growth, part))
                progress.update(first + part.n_trees)
        return stores[0] if len(stores) == 1 else concatenate_stores(stores)

    def _grow_part(self, rows: ForestRows, outcome: Outcome, growth: Growth, plan: ForestPlan) -> TreeStore:
        """Some trees, as the limits and the pruning leave them, by the evidence of the rows without the factor."""
        trees = rows.grow(outcome, plan)
        trees = reduce_trees(trees, prune=self.prune, max_leaf_nodes=growth.max_leaf_nodes)
        return enforce_monotonic(trees, growth.monotonic)

    def _as_estimator(self, fitted: Fitted, **changed: Any) -> SingleTree:
        shared = {name: getattr(self, name) for name in _SHARED} | {"prior": self.prior_} | changed
        return self._single_tree(fitted, shared)

    def _kept_out_of_bag(self) -> OutOfBag:
        check_is_fitted(self)
        forest = self.fitted_.forest
        if forest is None or forest.out_of_bag is None:
            raise AttributeError("There are no out-of-bag figures: fit with oob_score=True.")
        return forest.out_of_bag

    @property
    def oob_score_(self) -> float:
        """The score on the training rows, each predicted by the trees that do not have it.

        The accuracy or, for numbers, R²; NaN where there is none. It needs ``oob_score=True``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(oob_score=True, random_state=0).fit(X, y)
        >>> model.oob_score_ > 0.9
        True
        """
        return self._kept_out_of_bag().score

    @property
    def trees_(self) -> list[SingleTree]:
        """The trees: single-tree estimators like any other, made when you ask for them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> len(model.trees_)
        10
        """
        check_is_fitted(self)
        return [self._as_estimator(tree) for tree in self.fitted_.single_trees()]

    @property
    def readable_tree_(self) -> SingleTree:
        """One tree to read: the most probable pruning of the tree that all rows grow, each counted once.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.readable_tree_.get_n_leaves()
        3
        """
        check_is_fitted(self)
        return self._as_estimator(self.fitted_.readable, prune=True)

    @property
    def readable_agreement_(self) -> float:
        """How near `readable_tree_` comes to the forest, on training rows.

        For classes, the share of rows on which both decide alike. For numbers, the share of the variance of the
        forest's predictions that the tree explains.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> model.readable_agreement_ > 0.8
        True
        """
        check_is_fitted(self)
        return self.fitted_.agreement

    @property
    def feature_posterior_(self) -> FloatArray:
        """Probability that the root of `readable_tree_` is split along each feature and, last, that it is not split.

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
        return self.fitted_.readable.feature_posterior

    @property
    def root_feature_shares_(self) -> FloatArray:
        """The proportion of the trees whose root is split along each feature and, last, of those without a split.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> round(float(model.root_feature_shares_.sum()), 6)
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
    def log_evidence_(self) -> float:
        """Log probability of the outcomes, summed over all trees that were explored on all rows: the prunings of one.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> round(model.log_evidence_, 1)
        -46.7
        """
        check_is_fitted(self)
        return self.fitted_.readable.grown.log_evidence()

    @property
    def log_posterior_(self) -> float:
        """Log of prior times likelihood of `readable_tree_`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
        >>> round(model.log_posterior_, 1)
        -46.7
        """
        check_is_fitted(self)
        return self.fitted_.readable.trees.log_posterior()

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
        return self.readable_tree_.posterior(X)

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
        return self.fitted_.posterior_mixture(rows, self._n_threads())

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
        return self.fitted_.leaves_by_tree(rows, self._n_threads()) - self.fitted_.trees.roots

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
        paths = [tree.decision_path(X) for tree in self.trees_]
        return sparse.hstack(paths, format="csr"), np.append(self.fitted_.trees.roots, self.fitted_.trees.node_count)

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
        return self.readable_tree_.get_depth()

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
        return self.readable_tree_.get_n_leaves()


def _tree_of_all_rows(data: TrainingData, outcome: Outcome) -> Fitted:
    """The most probable pruning of the tree of all rows as they are."""
    grown = enforce_monotonic(data.grow(outcome), data.growth.monotonic)
    tree = reduce_trees(grown, prune=True, max_leaf_nodes=data.growth.max_leaf_nodes)
    grown_tree = None if tree is grown else grown
    return Fitted(tree, outcome, data.schema, grown_tree=grown_tree, monotonic=data.growth.monotonic)


def _warn_of_rows_in_every_tree(trees: FloatArray) -> None:
    n_in_all = int(np.count_nonzero(~trees.any(axis=1)))
    if n_in_all:
        warnings.warn(
            f"{count_text(n_in_all, 'row')} of {len(trees):,} count in every tree, so that oob_score_ leaves them out: "
            "grow more trees, or give smaller weights.",
            UserWarning,
            stacklevel=5,
        )


def _at_given_rows(mean: FloatArray, data: TableData) -> FloatArray:
    """Figures of the rows that count as figures of all rows that were given; NaN for the others."""
    if data.has_weight is None:
        return mean
    result = np.full((len(data.has_weight), mean.shape[1]), np.nan)
    result[data.has_weight] = mean
    return result


def _agreement(fitted: Fitted, data: TableData) -> float:
    """Agreement of the readable tree with the forest: the share of equal decisions, or R² to its predictions."""
    chosen: AnyArray = np.flatnonzero(assign_small_folds(data.rows, data.target, 1, _MOST_ROWS) == 0)
    rows = data.take(chosen).rows
    mean = fitted.mean_by_parts(rows)
    if fitted.outcome.predicts_classes:
        return float(np.mean(fitted.decision.codes(mean) == fitted.readable.class_codes(rows)))
    of_forest, of_tree = mean[:, 0], fitted.readable.mean(rows)[:, 0]
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
            raise ValueError(f"{what}; got {short_repr(max_features)}.")
        return max(1, int(sizes[max_features]))
    if isinstance(max_features, (int, np.integer)) and not isinstance(max_features, bool):
        number = check_integer("max_features", max_features, low=1)
        if number > n_features:
            raise ValueError(f"max_features is {number}, but X has {n_features} features.")
        return number
    share = check_real("max_features", max_features, low=0, high=1, high_ok=True)
    return max(min(2, n_features), round(share * n_features))  # of two features hyperplanes can be made
