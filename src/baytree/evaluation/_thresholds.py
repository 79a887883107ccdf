"""The decisions of every threshold for the positive of two classes, on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray
from ..figures import Figure, share
from ..fitted import Fitted
from ._held_out import HeldOutPredictions


@dataclass(frozen=True)
class Thresholds:
    """Confusion counts for each of some thresholds."""

    values: FloatArray  # ascending
    of_model: int  # position of the model's threshold; that of the most probable class where costs have none
    positives: float  # rows of the positive class
    negatives: float
    true_positives: FloatArray  # by threshold: rows of the positive class predicted as such
    false_positives: FloatArray

    def rates(self, i: int) -> dict[str, Figure]:
        """The usual rates at a threshold."""
        tp, fp = float(self.true_positives[i]), float(self.false_positives[i])
        fn, tn = self.positives - tp, self.negatives - fp
        return {
            "sensitivity": share(tp, fn),
            "specificity": share(tn, fp),
            "precision": share(tp, fp),
            "negative predictive value": share(tn, fn),
            "decided": share(tp + fp, fn + tn),
            "accuracy": share(tp + tn, fp + fn),
        }


RATES = {
    "sensitivity": "proportion of {positive} that is predicted as {positive}",
    "specificity": "proportion of {other} that is predicted as {other}",
    "precision": "proportion of the rows predicted as {positive} that are {positive}",
    "negative predictive value": "proportion of the rows predicted as {other} that are {other}",
    "decided": "proportion of all rows that is predicted as {positive}",
    "accuracy": "proportion of all rows that is predicted correctly",
}


def thresholds_of(fitted: Fitted, held_out: HeldOutPredictions, chosen: BoolArray | None = None) -> Thresholds | None:
    """Count the rows, or some of them, at every percent and at the model's own threshold; None without two classes."""
    labels = fitted.outcome.labels
    if len(labels) != 2 or held_out.probabilities is None:
        return None
    of_model = fitted.decision.threshold_of_positive(2)
    of_model = 0.5 if of_model is None else of_model
    percents = np.arange(101) / 100
    at = np.sort(np.append(percents[np.abs(percents - of_model) > 1e-9], of_model))
    rows = np.ones(len(held_out.y), dtype=bool) if chosen is None else chosen
    positive_code = fitted.decision.positive
    score, weight = held_out.probabilities[rows, positive_code], held_out.weight[rows]
    positive = held_out.y[rows] == labels[positive_code]
    counts = [_weight_from(at, score[side], weight[side]) for side in (positive, ~positive)]
    totals = float(weight[positive].sum()), float(weight[~positive].sum())
    return Thresholds(at, int(np.searchsorted(at, of_model)), *totals, *counts)


def _weight_from(at: FloatArray, score: FloatArray, weight: FloatArray) -> FloatArray:
    """The weight of the scores from each threshold on."""
    order = np.argsort(score, kind="stable")
    before = np.append(0.0, np.cumsum(weight[order]))
    return np.asarray(before[-1] - before[np.searchsorted(score[order], at, side="left")])


def curve_of(fitted: Fitted, held_out: HeldOutPredictions, max_points: int = 200) -> tuple[FloatArray, FloatArray]:
    """Rows of the positive and of the other class that are decided for, over all thresholds from high to low."""
    assert held_out.probabilities is not None  # noqa: S101
    positive_code = fitted.decision.positive
    score, weight = held_out.probabilities[:, positive_code], held_out.weight
    positive = held_out.y == fitted.outcome.labels[positive_code]
    cuts = np.unique(score)[::-1]
    if len(cuts) > max_points:
        cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, max_points).astype(np.int64))]
    true, false = (_weight_from(cuts[::-1], score[side], weight[side])[::-1] for side in (positive, ~positive))
    return np.append(0.0, true), np.append(0.0, false)
