"""The decision on a row: the predicted class or, for a number, whether the estimate is above the overall one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import FloatArray, IntArray
from .._words import number_text
from ..fitted import Fitted
from ..table import Rows


@dataclass(frozen=True)
class RowDecisions:
    """Decisions of the model that predicts, by the expected outcomes of rows."""

    fitted: Fitted

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The decisions in words, by code."""
        if self.fitted.outcome.predicts_classes:
            return self.fitted.class_names
        overall = number_text(float(self.fitted.overall_means[0]))
        return f"at most the overall {overall}", f"above the overall {overall}"

    def codes(self, mean: FloatArray) -> IntArray:
        """The decision for each expected outcome."""
        if self.fitted.outcome.predicts_classes:
            return self.fitted.decision.codes(mean)
        return (mean[:, 0] > self.fitted.overall_means[0]).astype(np.int64)

    def column(self, code: int) -> int:
        """The position, among the predicted numbers, of the one that speaks for a decision or against it."""
        return code if self.fitted.outcome.predicts_classes else 0

    def direction(self, code: int) -> int:
        """1 where a higher number speaks for the decision, otherwise -1."""
        return 1 if self.fitted.outcome.predicts_classes or code == 1 else -1

    def means(self, X: FloatArray, n_threads: int = 1) -> FloatArray:
        """The expected outcomes of a matrix of all columns."""
        return self.fitted.mean(Rows(np.ascontiguousarray(X)), n_threads)
