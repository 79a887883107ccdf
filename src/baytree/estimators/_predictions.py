"""The prediction methods of classifiers and regressors, for trees, tree spaces and forests alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, FloatArray
from .._validation import check_quantiles, check_real
from ..fitted import ModelKind, class_outcome
from ..outcomes import REGRESSION_OUTCOMES, Calibration, ForestCalibration
from ._base import Estimator


class ClassPredictions(Estimator):
    """Class labels and their probabilities."""

    @property
    def classes_(self) -> AnyArray:
        """Class labels, sorted.

        Examples
        --------
        >>> from baytree import BayesianTreeClassifier
        >>> model = BayesianTreeClassifier().fit([[1.0], [2.0]], ["yes", "no"])
        >>> model.classes_
        array(['no', 'yes'], dtype='<U3')
        """
        check_is_fitted(self)
        return self.fitted_.classes

    @property
    def calibration_(self) -> Calibration | ForestCalibration:
        """How class probabilities are calibrated.

        Trees have a `Calibration`: the discount on the counts of a leaf, and the strength with which it is drawn to the
        overall rates. Forests have a `ForestCalibration`: the exponent and the intercepts of the average over trees.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> round(model.calibration_.discount, 2), round(model.calibration_.strength, 1)
        (0.76, 5.8)
        """
        check_is_fitted(self)
        outcome = class_outcome(self.fitted_.outcome)
        if self.fitted_.kind is ModelKind.SPACE:
            raise AttributeError("A tree space has no calibration_: its class probabilities are not calibrated.")
        return outcome.forest_calibration if self.fitted_.kind is ModelKind.FOREST else outcome.calibration

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the expected probability of each class.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Posterior means, in the order of `classes_`. Each row sums to one.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.predict_proba(X[:1]).round(3)
        array([[0.984, 0.008, 0.008]])
        """
        rows = self._read(X)
        return self.fitted_.mean(rows, self._n_threads())

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        array of shape (n_rows, n_classes)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.predict_log_proba(X[:1]).round(3)
        array([[-0.016, -4.806, -4.806]])
        """
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the class that is decided for: the most probable, or by `decision`. Ties go to the first class.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        array of shape (n_rows,)
            Class labels.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.predict(X[::60])
        array([0, 1, 2])
        """
        rows = self._read(X)
        return self.fitted_.classes[self.fitted_.class_codes(rows, self._n_threads())]

    def predict_quantiles(self, X: Any, quantiles: Any) -> FloatArray:
        """Return quantiles of each class probability.

        Parameters
        ----------
        X
            Rows.
        quantiles
            Numbers in [0, 1].

        Returns
        -------
        array of shape (n_rows, n_classes, n_quantiles)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.predict_quantiles(X[:1], [0.05, 0.5, 0.95]).round(3)
        array([[[0.934, 0.993, 1.   ],
                [0.   , 0.001, 0.041],
                [0.   , 0.001, 0.041]]])
        """
        wanted = check_quantiles(quantiles)
        rows = self._read(X)
        return self.fitted_.class_quantiles(rows, wanted, self._n_threads())

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Return the central credible interval of each class probability.

        Parameters
        ----------
        X
            Rows.
        level
            Posterior probability that the interval holds, in (0, 1).

        Returns
        -------
        array of shape (n_rows, n_classes, 2)
            Lower and upper end.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.predict_interval(X[:1], level=0.9).round(3)
        array([[[0.934, 1.   ],
                [0.   , 0.041],
                [0.   , 0.041]]])
        """
        level = check_real("level", level, low=0, high=1)
        return self.predict_quantiles(X, [0.5 - level / 2, 0.5 + level / 2])

    def predict_dist(self, X: Any) -> Any:
        """Return the predictive distribution of each row.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        frozen scipy.stats distribution
            A multinomial of one draw.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> model.predict_dist(X[:1]).pmf([1, 0, 0]).round(3)
        array([0.984])
        """
        return stats.multinomial(1, self.predict_proba(X))


class NumberPredictions(Estimator):
    """Numbers and their distributions."""

    outcome: Any

    def __sklearn_tags__(self) -> Tags:
        """Durations are positive, and so spread out that no model predicts them with a high R2."""
        tags = super().__sklearn_tags__()
        family = REGRESSION_OUTCOMES.get(self.outcome) if isinstance(self.outcome, str) else None
        positive = family is not None and family.positive_only
        tags.target_tags.positive_only = positive
        tags.regressor_tags.poor_score = positive
        return tags

    @property
    def spread_(self) -> float:
        """The factor by which predictive distributions are wider than the leaves alone say; 1 where not calibrated.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BayesianTreeRegressor().fit(X, y)
        >>> round(model.spread_, 2)
        1.08
        """
        check_is_fitted(self)
        return float(getattr(self.fitted_.outcome, "spread", 1.0))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the expected outcome of each row (counts: per unit of exposure).

        Parameters
        ----------
        X
            Rows.
        return_std
            Whether to return the standard deviation of the predictive distribution too. It is infinite where a leaf
            leaves it so, as leaves with few durations do; `predict_interval` is not.

        Returns
        -------
        array of shape (n_rows,)
            Means; with `return_std`, a pair of means and standard deviations.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BayesianTreeRegressor().fit(X, y)
        >>> mean, std = model.predict(X[:2], return_std=True)
        >>> mean.round(1), std.round(1)
        (array([192.9,  83.8]), array([71.5, 37.9]))
        """
        rows = self._read(X)
        mean = self.fitted_.mean(rows, self._n_threads())
        mean = mean[:, 0] if mean.shape[1] == 1 else mean
        return (mean, self.fitted_.std(rows, self._n_threads())) if return_std else mean

    def predict_dist(self, X: Any) -> Any:
        """Return the predictive distribution of each row.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        Returns
        -------
        frozen scipy.stats distribution
            One vectorised distribution with scipy's methods (``cdf``, ``ppf``, ``rvs`` and so on); of several trees a
            `Mixture` with the same methods.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BayesianTreeRegressor().fit(X, y)
        >>> model.predict_dist(X[:1]).ppf(0.5).round(1)
        array([192.9])
        """
        rows = self._read(X)
        return self.fitted_.distribution(rows, "outcome", self._n_threads())

    def predict_quantiles(self, X: Any, quantiles: Any) -> FloatArray:
        """Return quantiles of the predictive distribution.

        Parameters
        ----------
        X
            Rows: a table like that of `fit`.

        quantiles
            Numbers in [0, 1].

        Returns
        -------
        array of shape (n_rows, n_quantiles)

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BayesianTreeRegressor().fit(X, y)
        >>> model.predict_quantiles(X[:1], [0.1, 0.5, 0.9]).round(0)
        array([[101., 193., 284.]])
        """
        wanted = check_quantiles(quantiles)
        rows = self._read(X)
        return self.fitted_.quantiles(rows, wanted, "outcome", self._n_threads())

    def predict_interval(self, X: Any, level: float = 0.9, kind: str = "outcome") -> FloatArray:
        """Return the central interval that holds the outcome, or its mean, with a given probability.

        Parameters
        ----------
        X
            Rows.
        level
            Probability, in (0, 1).
        kind
            ``"outcome"``: of the outcome of a new row; ``"mean"``: of the mean outcome.

        Returns
        -------
        array of shape (n_rows, 2)
            Lower and upper end.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BayesianTreeRegressor().fit(X, y)
        >>> model.predict_interval(X[:1]).round(0), model.predict_interval(X[:1], kind="mean").round(0)
        (array([[ 75., 310.]]), array([[184., 202.]]))
        """
        level = check_real("level", level, low=0, high=1)
        if kind not in ("outcome", "mean"):
            raise ValueError(f"kind must be 'outcome' or 'mean'; got {kind!r}.")
        rows = self._read(X)
        ends = np.array([0.5 - level / 2, 0.5 + level / 2])
        return self.fitted_.quantiles(rows, ends, kind, self._n_threads())
