"""The one fit, and the reading of tables and parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from joblib import cpu_count
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import AnyArray, FloatArray
from .._validation import (
    check_integer,
    check_optional_integer,
    check_real,
    importance_weights,
    short_repr,
    unchanged_on_error,
)
from ..explain import Explanation, Reason, explain, read_allowed, reasons_of, tree_html
from ..fitted import Fitted, Stability
from ..growth import Engine, Growth, TableData, read_interactions, read_monotonic
from ..outcomes import Outcome
from ..persistence import write_model
from ..priors import PAPER, PartitionPrior, as_partition_prior, is_paper
from ..sources import Capability, MemorySource, TargetReader, is_elsewhere
from ..table import Rows, Schema, as_table, is_frame, may_hold_text
from ._fit import fit, fit_elsewhere
from ._parameters import read_feature_prior, read_max_bins, read_partitions, read_thresholds, read_unseen, read_weights
from ._stability import stability_of

_MOST_THREADS = 4096


class Estimator(BaseEstimator, ABC):
    """Reads tables, targets and parameters; subclasses say how the target is read and what is grown.

    Everything that a fit finds is in one attribute, `fitted_`.
    """

    _engine: ClassVar[Engine] = Engine()
    fitted_: Any
    n_features_in_: int
    prior: Any
    partition_prior: Any
    thresholds: str
    feature_prior: Any
    smoothing: Any
    partitions: Any
    categorical_features: Any
    monotonic_cst: Any
    interaction_cst: Any
    max_depth: Any
    min_samples_leaf: Any
    min_weight_fraction_leaf: Any
    unseen: Any
    weights: Any
    max_bins: Any
    n_jobs: Any

    @abstractmethod
    def _target_reader(self) -> TargetReader:
        """The reader of y, weights and extras."""

    def _required(self) -> list[Capability]:
        """The capabilities that the kind of model needs of a source, beyond histograms of the rows."""
        return []

    @abstractmethod
    def _check_own_parameters(self) -> dict[str, Any]:
        """Check the parameters that not all estimators have; return those that concern growth."""

    @abstractmethod
    def _grow(self, data: Any, outcome: Outcome, *, calibrated: bool) -> Fitted:
        """Grow what the estimator consists of, with the spread that cross-validation asks for or without."""

    @abstractmethod
    def _refit_tree(self, data: TableData, outcome: Outcome) -> Fitted:
        """Grow the tree, or the tree to read, on other weights of the rows; it is not calibrated."""

    def _repr_html_inner(self) -> str:
        """scikit-learn's box, and below it the tree; scikit-learn asks for it where its `display` is a diagram."""
        return super()._repr_html_inner() + self._tree_below()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._tree_below()
        return bundle

    def _tree_below(self) -> str:
        return tree_html(self.fitted_.readable) if self._is_fitted else ""

    @property
    def _is_fitted(self) -> bool:
        return "fitted_" in vars(self)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is something to predict with."""
        return self._is_fitted

    def __sklearn_tags__(self) -> Tags:
        """Tables come with missing values, categories and text, dense or sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; deep ones are those of the partition prior, such as ``partition_prior__split``.

        Parameters
        ----------
        deep
            Whether to include those of the partition prior.

        Returns
        -------
        dict
            Values by name.

        Examples
        --------
        >>> from baytree import BayesianTreeClassifier
        >>> BayesianTreeClassifier(max_depth=3).get_params()["max_depth"]
        3
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            given = self.partition_prior
            prior = given if isinstance(given, PartitionPrior) else PAPER if is_paper(given) else PartitionPrior()
            params |= {f"partition_prior__{field.name}": getattr(prior, field.name) for field in fields(PartitionPrior)}
            if prior is not given and prior is not PAPER:
                params["partition_prior__split"] = given
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, so that ``GridSearchCV`` can search over ``partition_prior__split`` too.

        Parameters
        ----------
        **params
            New values by name.

        Returns
        -------
        Self
            The estimator.

        Examples
        --------
        >>> from baytree import BayesianTreeClassifier
        >>> model = BayesianTreeClassifier().set_params(max_depth=3, partition_prior__split=0.9)
        >>> model.max_depth, model.partition_prior.split
        (3, 0.9)
        """
        deep = {name: value for name, value in params.items() if name.startswith("partition_prior__")}
        super().set_params(**{name: value for name, value in params.items() if name not in deep})
        if deep:
            prior_parameters = {name.removeprefix("partition_prior__"): value for name, value in deep.items()}
            unknown = [
                name for name in prior_parameters if name not in {field.name for field in fields(PartitionPrior)}
            ]
            if unknown:
                raise ValueError(f"PartitionPrior has no parameter {unknown[0]!r}.")
            self.partition_prior = replace(as_partition_prior(self.partition_prior), **prior_parameters)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, reader: TargetReader, **extras: Any) -> Self:
        """Fit the estimator to rows in memory, or to rows elsewhere whose columns have these names."""
        if is_elsewhere(X):
            return cast("Self", fit_elsewhere(self, X, {"target": y, "weight": sample_weight} | extras))
        with unchanged_on_error(self):
            source = self._memory_source(X, y, sample_weight, extras)
            self.fitted_ = fit(self, source, reader)
        return self

    def _memory_source(self, X: Any, y: Any, sample_weight: Any, extras: dict[str, Any]) -> MemorySource:
        """The rows in memory as a source, with the names that scikit-learn checked."""
        table = self._check_table(X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        weight = self._as_counts(sample_weight, table)
        return MemorySource(table, y, weight, extras, names, self._n_threads())

    def _source_of_fit(self, X: Any, y: Any, sample_weight: Any, **extras: Any) -> MemorySource:
        """The rows of the fit as a source, given once more to a fitted estimator."""
        names = getattr(self, "feature_names_in_", None)
        table = self._check_table(X, reset=False)
        table = table.tocsc() if sparse.issparse(table) else table  # as a fit reads it
        given = {name: values for name, values in extras.items() if values is not None}
        weight = self._as_counts(sample_weight, table)
        return MemorySource(table, y, weight, given, names, self._n_threads())

    def _as_counts(self, sample_weight: Any, table: Any) -> Any:
        """Weights as counts: those that only compare rows are scaled."""
        return importance_weights(sample_weight, table.shape[0]) if read_weights(self.weights) else sample_weight

    def _check_table(self, X: Any, *, reset: bool) -> Any:
        """Check a table as scikit-learn does: its shape, its names."""
        X = as_table(X)
        if not reset and self._is_matrix_as_before(X):
            return X
        check = {"reset": reset, "ensure_all_finite": False}
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if may_hold_text(X) or getattr(X, "dtype", None) == np.bool_:
            return validate_data(self, X, dtype=None, **check)
        return validate_data(self, X, dtype=np.float64, accept_sparse="csc" if reset else "csr", **check)

    def _is_matrix_as_before(self, X: Any) -> bool:
        """Whether X is a plain matrix like that of the fit: nothing is to be checked then, and single rows are fast."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and "feature_names_in_" not in vars(self)
        )

    def _read(self, X: Any) -> Rows:
        """Check rows at predict and read the columns that are used."""
        check_is_fitted(self)
        return self.fitted_.schema.read(self._check_table(X, reset=False), self.fitted_.used_features)

    def _read_all(self, X: Any) -> Rows:
        """Check rows at predict and read all columns."""
        check_is_fitted(self)
        return self.fitted_.schema.read(self._check_table(X, reset=False))

    def _growth(self, schema: Schema, reader: TargetReader, classes: AnyArray | None) -> Growth:
        """Check the parameters that do not concern the outcome."""
        reader.read_decision(classes)
        monotonic = read_monotonic(self.monotonic_cst, schema)
        if monotonic is not None:
            reader.check_monotonic(classes)
        return Growth(
            feature_weight=read_feature_prior(self.feature_prior, schema),
            monotonic=monotonic,
            interactions=read_interactions(self.interaction_cst, schema, with_planes=self.partitions == "oblique"),
            **self._check_plain(),
        )

    def _check_plain(self) -> dict[str, Any]:
        """Check the parameters that concern neither columns nor classes; return those that concern growth."""
        read_unseen(self.unseen)
        read_weights(self.weights)
        return {
            "partition_prior": as_partition_prior(self.partition_prior),
            "round_thresholds": read_thresholds(self.thresholds, self.partition_prior),
            "smoothing": check_real("smoothing", self.smoothing, low=0, low_ok=True),
            "max_depth": check_optional_integer("max_depth", self.max_depth, low=0),
            "min_samples_leaf": check_integer("min_samples_leaf", self.min_samples_leaf, low=1),
            "min_weight_fraction_leaf": check_real(
                "min_weight_fraction_leaf", self.min_weight_fraction_leaf, low=0, high=0.5, low_ok=True, high_ok=True
            ),
            "oblique": read_partitions(self.partitions),
            "max_bins": read_max_bins(self.max_bins, self.partitions),
            "n_threads": self._n_threads(),
            "engine": self._engine,
            **self._check_own_parameters(),
        }

    def _n_threads(self) -> int:
        if self.n_jobs is None:
            return 1
        n_jobs = check_integer("n_jobs", self.n_jobs, low=-_MOST_THREADS)
        if n_jobs == 0 or n_jobs > _MOST_THREADS:
            raise ValueError(
                f"n_jobs must be a number of threads up to {_MOST_THREADS}, -1 for all cores, or None for one; "
                f"got {short_repr(self.n_jobs)}."
            )
        return n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)

    def _take_over(self, fitted: Fitted) -> Self:
        """Become the estimator of a fitted result."""
        self.fitted_ = fitted
        self.n_features_in_ = fitted.schema.n_features
        if fitted.schema.names is not None:
            self.feature_names_in_ = np.array(fitted.schema.names, dtype=object)
        return self

    @classmethod
    def from_fitted(cls, fitted: Fitted, parameters: dict[str, Any]) -> Self:
        """Make an estimator of a fitted result, with these parameters.

        Parameters
        ----------
        fitted
            The fitted model: the `fitted_` of an estimator of the same class.
        parameters
            Parameters of the new estimator.

        Returns
        -------
        Self
            A fitted estimator.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> other = BayesianTreeClassifier.from_fitted(model.fitted_, model.get_params(deep=False))
        >>> other.get_n_leaves() == model.get_n_leaves()
        True
        """
        return cls(**parameters)._take_over(fitted)

    @property
    def schema_(self) -> Schema:
        """Names, kinds and categories of the columns.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.schema_.names[0], model.schema_.columns[0].kind.value
        ('sepal length (cm)', 'number')
        """
        check_is_fitted(self)
        return self.fitted_.schema

    @property
    def categories_(self) -> tuple[AnyArray | None, ...]:
        """The categories of each feature, sorted or in their own order; None for a feature of numbers.

        Examples
        --------
        >>> from baytree import BayesianTreeClassifier
        >>> model = BayesianTreeClassifier().fit([["red", 1.0], ["blue", 2.0], ["red", 3.0]], [0, 1, 0])
        >>> model.categories_
        (array(['blue', 'red'], dtype=object), None)
        """
        return self.schema_.categories

    @property
    def outcome_(self) -> Outcome:
        """The outcome with its prior at the root.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.outcome_.name, model.outcome_.prior.round(3)
        ('categorical', array([0.667, 0.667, 0.667]))
        """
        check_is_fitted(self)
        return self.fitted_.outcome

    @property
    def prior_(self) -> FloatArray:
        """Parameters of the outcome's prior at the root: given, set from y, or chosen by the evidence.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.prior_.round(3)
        array([0.667, 0.667, 0.667])
        """
        return self.outcome_.prior

    @property
    def feature_importances_(self) -> FloatArray:
        """Each feature's share of the gain in log marginal likelihood; of several trees, the mean over all of them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.feature_importances_.round(2)
        array([0., 0., 0., 1.])
        """
        check_is_fitted(self)
        return self.fitted_.feature_importances

    def explain(
        self,
        X: Any,
        *,
        immutable: Any = (),
        directions: Any = None,
        allow_missing: bool = False,
        max_features: int = 2,
        n_changes: int = 3,
    ) -> list[Explanation]:
        """Explain each row: why it gets its decision, how sure that is, and what would change it.

        A single tree is explained by the path of the row: what each step adds to the probability of the decision, and
        the odds of each split. A tree space or forest is explained by the contributions of columns to the average over
        its trees; its readable tree is an illustration, and the explanation says where it disagrees.

        Parameters
        ----------
        X
            Rows, one or many: a table like that of `fit`.
        immutable
            Names or positions of columns that no change may touch: age, sex.
        directions
            Dict from column to 1 (a change may only raise it) or -1 (only lower it).
        allow_missing
            Whether a change may make a value missing.
        max_features
            Most columns that one change may touch; of an average over trees at most two.
        n_changes
            Most changes in the list. Of a single tree the most usual come first (like most training rows), and the
            nearest is always there; of an average the nearest come first.

        Returns
        -------
        list of Explanation
            One for each row; print it, show it in a notebook, or take its ``to_dict()``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> X.columns = ["sepal length", "sepal width", "petal length", "petal width"]
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> explanation = model.explain(X[:1])[0]
        >>> print(explanation)
        0
        because petal width = 0.2 <= 0.8  (+0.6503; split beyond doubt; column 66.2 %, else petal length 33.8 %)
        leaf 1, 50 training rows, Dirichlet(25.797, 0.214542, 0.214542):
            0: 0.9836  (90 % between 0.9341 and 1)
            1: 0.00818  (90 % between 2.219e-08 and 0.04146)
            2: 0.00818  (90 % between 2.219e-08 and 0.04146)
        to change it: petal width from 0.2 to more than 0.8 but at most 1.75 -> 1 (0.8943; like 54 training rows)
        or: petal width from 0.2 to more than 1.75 -> 2 (0.9611; like 46 training rows)
        not used: sepal length, sepal width, petal length
        >>> explanation.decision, explanation.leaf
        ('0', 1)
        """
        rows = self._read_all(X)
        allowed = read_allowed(
            self.schema_,
            immutable=immutable,
            directions=directions,
            allow_missing=allow_missing,
            max_features=max_features,
            n_changes=n_changes,
        )
        return explain(self.fitted_, rows, allowed, self._n_threads())

    def stability(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        exposure: Any = None,
        event: Any = None,
        n_refits: int = 30,
        random_state: Any = None,
        verbose: int = 0,
    ) -> Stability:
        """Refit the tree on Bayesian-bootstrap weights of its rows, to see which splits and decisions are kept.

        The odds of a split say how the rows at hand compare it with no split. Stability says what happens to it when
        the rows are drawn anew. Each refit gives every row an exponential weight of mean 1 (a row of weight w the sum
        of w of them) and grows the tree again with the same settings and the same prior.

        A split of the tree is *kept* in a refit if three things hold. Some node of the refit holds corresponding rows:
        of all its nodes the one that overlaps most has ``|A and B| / |A or B| >= 0.5``. That node is split on the same
        column. Its split sends at least 90 % of the rows of the tree's node to the same side, and those that change
        sides are at most half of the smaller side. Hyperplanes need one column in common.

        Of a tree space or a forest the tree to read is compared with those of the refits.

        Parameters
        ----------
        X, y, sample_weight, exposure, event
            The rows of the fit.
        n_refits
            Number of refits. Each takes a few times as long as growing the tree without calibration.
        random_state
            Seed of the weights. None: they follow from the rows alone, so that the same rows give the same answer.
        verbose
            Whether to show the progress on standard error.

        Returns
        -------
        Stability
            Print it, or read its ``splits``, ``decisions`` (of a regressor ``change``), ``by_row`` and ``n_leaves``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = BayesianTreeClassifier(max_depth=2).fit(X, y)
        >>> print(model.stability(X, y))
        kept  split (2 splits in 30 refits on Bayesian-bootstrap weights)
        96.7 %  petal width (cm) <= 0.8  n=150; else another threshold 3.3 %
          70 %    petal width (cm) <= 1.75  n=100; else petal length (cm) 30 %
        2.4 % of the rows get another decision in a refit, on average. The refits have 3 to 3 leaves.
        """
        check_is_fitted(self)
        n_refits = check_integer("n_refits", n_refits, low=1)
        source = self._source_of_fit(X, y, sample_weight, exposure=exposure, event=event)
        return stability_of(self, source, n_refits, random_state, show=bool(verbose))

    def reasons(self, X: Any, k: int = 4, *, codes: Any = None, towards: Any = None) -> Any:
        """Return the columns that push the decision on each row most: the main reasons, for a letter.

        The contributions are path-dependent Shapley values of the model that predicts, as in ``explain``: of a tree
        space or forest those of the average. Only columns that push towards the decision are listed, so that a row may
        have fewer than `k`.

        Parameters
        ----------
        X
            Rows, one or many: a table like that of `fit`.
        k
            Most reasons of a row.
        codes
            Dict from column to the code of its reason, or to a pair of a code and a text.
        towards
            A class: what pushes towards it is listed, whatever is decided. For numbers ``"high"`` or ``"low"``. None:
            the decision on the row.

        Returns
        -------
        pandas.DataFrame
            Columns ``row`` (position in X), ``rank``, ``feature``, ``contribution`` (to the probability of the class,
            or to the mean) and ``value``; with `codes` also ``code`` and ``text``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from baytree import BayesianForestClassifier
        >>> data = load_breast_cancer(as_frame=True)
        >>> y = data.target_names[data.target]
        >>> model = BayesianForestClassifier(20, random_state=0).fit(data.data, y)
        >>> reasons = model.reasons(data.data[:1], k=2, towards="malignant", codes={"worst radius": "A1"})
        >>> reasons[["rank", "feature", "code"]].values.tolist()
        [[1, 'worst concave points', None], [2, 'worst radius', 'A1']]
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an optional dependency
        except ImportError:
            raise ImportError("reasons needs pandas: pip install pandas, or use explain(X)[i].contributions.") from None
        names = ["row", "rank", "feature", "contribution", "value", *([] if codes is None else ["code", "text"])]
        reasons = self._reasons(X, k, codes, towards)
        columns = {name: [getattr(one, name) for one in reasons] for name in names}
        objects = {"feature", "value", "code", "text"}  # no missing text becomes a number
        return pd.DataFrame(
            {name: pd.Series(values, dtype=object if name in objects else None) for name, values in columns.items()}
        )

    def _reasons(self, X: Any, k: int, codes: Any, towards: Any) -> list[Reason]:
        return reasons_of(self.fitted_, self._read_all(X), k, codes, towards, self._n_threads())

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file; ``baytree.load`` reads it. The file is data, never code.

        It is JSON or, where the model is large, a zip archive of JSON and arrays. The same model gives the same bytes.

        Parameters
        ----------
        path
            File to write. A failed write leaves an older file as it was.

        Examples
        --------
        >>> import baytree, tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> file = Path(tempfile.mkdtemp()) / "iris.json"
        >>> model.save(file)
        >>> baytree.load(file).get_n_leaves() == model.get_n_leaves()
        True
        """
        check_is_fitted(self)
        self._growth(self.schema_, self._target_reader(), self.fitted_.classes)  # what no fit takes, no file takes
        write_model(type(self).__name__, self.get_params(deep=False), self.fitted_, path)
