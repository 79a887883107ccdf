"""The base class of the tree-space estimators."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._progress import Progress
from .._typing import FloatArray, IntArray
from .._validation import check_integer, check_optional_integer, check_real, short_repr
from ..explain import Alternatives, alternatives_of
from ..fitted import Fitted, ModelKind
from ..growth import TableData
from ..outcomes import Outcome
from ..sources import Capability
from ..tree import TreeStore
from ._base import Estimator
from ._calibrate import calibrate
from ._tree import SingleTree

_LISTED = 10  # most probable trees
_TRIAL_SHARE = 0.2  # of the budget, for a space that is only to be tested
_SPACES = ("all", "roots", "prunings")
# Parameters that the trees of a space have too.
_SHARED = (
    "partition_prior",
    "feature_prior",
    "smoothing",
    "partitions",
    "categorical_features",
    "monotonic_cst",
    "interaction_cst",
    "max_depth",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "unseen",
    "weights",
    "max_bins",
    "n_jobs",
)


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=5)  # where the user called fit


class BaseTreeSpace(Estimator):
    """Many trees at once, each with its posterior probability; subclasses say what they predict."""

    fitted_: Fitted
    space: Any
    max_nodes: Any
    time_limit: Any
    verbose: Any

    @abstractmethod
    def _single_tree(self, fitted: Fitted, parameters: dict[str, Any]) -> SingleTree:
        """A single-tree estimator of one of the trees."""

    def _required(self) -> list[Capability]:
        return [] if self.space == "prunings" else [Capability.TREE_SPACE]

    def _check_own_parameters(self) -> dict[str, Any]:
        self._budget()  # refuse wrong parameters before anything is done
        return {"many_trees": True}

    def _budget(self, on_round: Callable[[int, float], None] | None = None) -> _core.Budget:
        if not isinstance(self.space, str) or self.space not in _SPACES:
            raise ValueError(f"space must be one of {', '.join(map(repr, _SPACES))}; got {short_repr(self.space)}.")
        max_nodes = check_optional_integer("max_nodes", self.max_nodes, low=0)
        endless = self.time_limit is None or self.time_limit == math.inf
        limit = None if endless else check_real("time_limit", self.time_limit, low=0, low_ok=True)
        max_nodes = 0 if self.space == "prunings" else 2**62 if max_nodes is None else max_nodes
        return _core.Budget(max_nodes, limit, self.space == "roots", on_round)

    def _grow(self, data: Any, outcome: Outcome, *, calibrated: bool) -> Fitted:
        """Explore the space; an interruption ends it early."""

        def as_fitted(space: TreeStore) -> Fitted:
            return Fitted(space, outcome, data.schema, kind=ModelKind.SPACE, monotonic=data.growth.monotonic)

        def explore(rows: TableData, budget: _core.Budget) -> tuple[Fitted, bool]:
            space, interrupted = rows.explore(outcome, budget)
            return as_fitted(space), interrupted

        def explore_less(rows: TableData) -> Fitted:
            """A smaller space, so that those of all folds together cost about as much as that of all rows."""
            budget = _core.Budget(math.ceil(_TRIAL_SHARE * fitted.trees.node_count), None, self.space == "roots", None)
            trial, was_interrupted = explore(rows, budget)
            if was_interrupted:
                raise KeyboardInterrupt
            return trial

        with Progress("Tree space", unit="nodes", show=bool(self.verbose)) as progress:

            def on_round(n_nodes: int, log_evidence: float) -> None:
                progress.update(n_nodes, f"Tree space, log evidence {log_evidence:.2f}")

            if self.space == "prunings":
                fitted, interrupted = as_fitted(data.prunings(outcome)), False
            else:
                fitted, interrupted = explore(data, self._budget(on_round if self.verbose else None))
            n_nodes = fitted.trees.node_count
            on_round(n_nodes, float(fitted.trees.evidence.log_evidence[0]))
        if interrupted:
            _warn(f"The search was interrupted: the model holds the {n_nodes} nodes that were explored.")
            return fitted
        try:
            return calibrate(fitted, data, explore_less) if calibrated else fitted
        except KeyboardInterrupt:
            _warn("The calibration was interrupted: predictions are those of the leaves alone.")
            return fitted

    def _refit_tree(self, data: TableData, outcome: Outcome) -> Fitted:
        space, _ = data.explore(outcome, self._budget())
        return Fitted(space, outcome, data.schema, kind=ModelKind.SPACE, monotonic=data.growth.monotonic).readable

    @property
    def space_(self) -> TreeStore:
        """The `TreeStore`: parallel arrays of its nodes and choices.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.space_.node_count > 200
        True
        """
        check_is_fitted(self)
        return self.fitted_.trees

    def _as_estimators(self, trees: list[Fitted]) -> list[SingleTree]:
        shared = {name: getattr(self, name) for name in _SHARED} | {"prior": self.prior_}
        return [self._single_tree(tree, shared) for tree in trees]

    @property
    def trees_(self) -> list[SingleTree]:
        """The ten most probable trees, best first: single-tree estimators. `best_trees` gives any number of them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> [tree.get_n_leaves() for tree in model.trees_[:3]]
        [4, 4, 4]
        """
        return self.best_trees()

    @property
    def weights_(self) -> FloatArray:
        """Posterior probabilities of `trees_`, relative to each other: they sum to one.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.weights_[:3].round(3)
        array([0.358, 0.197, 0.179])
        """
        check_is_fitted(self)
        return self.fitted_.tree_weights(_LISTED)

    def best_trees(self, n_trees: int = _LISTED) -> list[SingleTree]:
        """Return the most probable trees, best first.

        Parameters
        ----------
        n_trees
            Number of trees; fewer are returned where the space holds fewer.

        Returns
        -------
        list of single-tree estimators

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> [tree.get_n_leaves() for tree in model.best_trees(2)]
        [4, 4]
        """
        check_is_fitted(self)
        return self._as_estimators(self.fitted_.best_trees(check_integer("n_trees", n_trees, low=1)))

    def tree_probabilities(self, n_trees: int = _LISTED) -> FloatArray:
        """Return the posterior probabilities of the most probable trees among all trees of the space.

        Parameters
        ----------
        n_trees
            Number of trees.

        Returns
        -------
        array of shape (n_trees,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> bool(model.tree_probabilities(100).sum() < 1)
        True
        """
        check_is_fitted(self)
        return self.fitted_.tree_shares(check_integer("n_trees", n_trees, low=1))

    @property
    def readable_tree_(self) -> SingleTree:
        """The most probable tree, a single-tree estimator like any other.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.readable_tree_.get_n_leaves()
        4
        """
        check_is_fitted(self)
        return self._as_estimators([self.fitted_.readable])[0]

    def sample_trees(self, k: int = 1, random_state: Any = None) -> list[SingleTree]:
        """Draw trees from the posterior, independently of each other.

        Parameters
        ----------
        k
            How many.
        random_state
            Seed.

        Returns
        -------
        list of single-tree estimators

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> [tree.get_n_leaves() for tree in model.sample_trees(3, random_state=0)]
        [6, 4, 5]
        """
        check_is_fitted(self)
        random = check_random_state(random_state)
        return self._as_estimators(self.fitted_.draw_trees(check_integer("k", k, low=1), random))

    def alternatives(self, node: int = 0) -> Alternatives:
        """Return the ways to split a node, or not to, with their posterior shares.

        Parameters
        ----------
        node
            A node of ``readable_tree_.tree_``; 0 is the root.

        Returns
        -------
        Alternatives
            The most probable first; prints one a line.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.alternatives()[0].rule
        'x3 <= 0.8'
        """
        check_is_fitted(self)
        return alternatives_of(self.fitted_, check_integer("node", node, low=0))

    @property
    def log_evidence_(self) -> float:
        """Log probability of the outcomes, summed over all trees that were explored on all rows.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> round(model.log_evidence_, 1)
        -43.5
        """
        return float(self.space_.evidence.log_evidence[0])

    @property
    def log_evidence_bound_(self) -> float:
        """The most that `log_evidence_` could reach with everything explored; inf where no bound is known.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.log_evidence_bound_ >= model.log_evidence_
        True
        """
        return self.space_.evidence.log_evidence_bound

    @property
    def log_posterior_(self) -> float:
        """Log of prior times likelihood of `readable_tree_`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.log_posterior_ < model.log_evidence_
        True
        """
        check_is_fitted(self)
        return float(self.fitted_.selections(1)[1][0])

    @property
    def feature_posterior_(self) -> FloatArray:
        """Probability, over all trees, that the root is split along each feature and, last, that it is not split.

        It weighs whole trees; that of a single tree is the posterior of the first split by itself, and the two may
        differ.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.feature_posterior_.round(2)
        array([0.  , 0.  , 0.33, 0.67, 0.  ])
        """
        check_is_fitted(self)
        return self.fitted_.feature_posterior

    @property
    def feature_inclusion_(self) -> FloatArray:
        """Probability that a tree has a split along each feature, anywhere.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.feature_inclusion_.round(2)
        array([0.1 , 0.15, 0.98, 1.  ])
        """
        return self.fitted_.feature_inclusion

    def posterior(self, X: Any) -> FloatArray:
        """Return the parameters of the posterior in each row's leaf of the modal tree.

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
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.posterior(X[:1]).round(2)
        array([[50.67,  0.67,  0.67]])
        """
        return self.readable_tree_.posterior(X)

    def posterior_mixture(self, X: Any) -> tuple[sparse.csr_matrix, FloatArray]:
        """Return the posterior of each row over all trees, a mixture of those of the nodes it may end in.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        weights
            Sparse matrix of shape (n_rows, n_nodes): how probably each row ends in each node; rows sum to one.
        parameters
            Array of shape (n_nodes, n_parameters): the posterior's parameters in each node.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> weights, parameters = model.posterior_mixture(X[:1])
        >>> round(float(weights.sum()), 6), parameters.shape[1]
        (1.0, 3)
        """
        rows = self._read(X)
        return self.fitted_.posterior_mixture(rows, self._n_threads())

    def apply(self, X: Any) -> IntArray:
        """Return the leaf of the modal tree that each row falls into.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        array of shape (n_rows,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.apply(X[:1])
        array([1], dtype=int64)
        """
        return self.readable_tree_.apply(X)

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Return which nodes of the modal tree each row passes.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.decision_path(X[:1]).toarray()
        array([[1, 1, 0, 0, 0, 0, 0]])
        """
        return self.readable_tree_.decision_path(X)

    def get_depth(self) -> int:
        """Return the depth of the modal tree.

        Returns
        -------
        int

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.get_depth()
        3
        """
        return self.readable_tree_.get_depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the modal tree.

        Returns
        -------
        int

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
        >>> model.get_n_leaves()
        4
        """
        return self.readable_tree_.get_n_leaves()
