"""What both classifiers say from their class probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import stats

from .._typing import FloatArray
from .._validation import check_real


class ClassProbabilities(ABC):
    """Everything that follows from class probabilities and their quantiles."""

    @abstractmethod
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the expected probability of each class, shape (n_rows, n_classes)."""

    @abstractmethod
    def predict_quantiles(self, X: Any, quantiles: Any) -> FloatArray:
        """Return quantiles of each class probability, shape (n_rows, n_classes, n_quantiles)."""

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

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
        """
        level = check_real("level", level, low=0, high=1)
        return self.predict_quantiles(X, [0.5 - level / 2, 0.5 + level / 2])

    def predict_dist(self, X: Any) -> Any:
        """Return the predictive distribution of each row: ``scipy.stats.multinomial`` of one draw."""
        return stats.multinomial(1, self.predict_proba(X))
