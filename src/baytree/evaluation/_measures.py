"""The figures of a model on held-out rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..figures import Figure, mean, ratio, share, share_of
from ..fitted import Fitted
from ..metrics import area_figure, auc_values, gini_figure, ks_figure
from ._held_out import HeldOutPredictions

HOW = (
    "Intervals are 90 % intervals: of a Beta posterior (Jeffreys' prior) for shares, by the standard error for means, "
    "of a Gamma posterior for ratios of events, and of DeLong et al. (1988) for the area under the curve and Gini."
)


@dataclass(frozen=True)
class Metric:
    """A figure with its name and meaning, or the reason why there is none."""

    name: str
    meaning: str
    figure: Figure = field(default_factory=Figure)
    reason: str = ""  # where the figure is not defined


def metrics_of(fitted: Fitted, held_out: HeldOutPredictions) -> list[Metric]:
    """The figures that matter for the outcome."""
    if fitted.outcome.predicts_classes:
        return _class_metrics(fitted, held_out)
    if held_out.mean is None or held_out.mean.ndim > 1:
        return []
    if "event" in held_out.rows.extras:
        return _duration_metrics(held_out, held_out.mean)
    return _number_metrics(fitted, held_out, held_out.mean)


def _class_metrics(fitted: Fitted, held_out: HeldOutPredictions) -> list[Metric]:
    p, codes, weight, labels = held_out.probabilities, held_out.codes, held_out.weight, fitted.outcome.labels
    assert p is not None and codes is not None  # noqa: S101, PT018
    is_class = held_out.y[:, None] == labels[None, :]
    p_true = p[np.arange(len(p)), is_class.argmax(axis=1)]
    right = labels[codes] == held_out.y
    counts = (is_class * weight[:, None]).sum(axis=0)
    common = int(counts.argmax())
    accuracy = [
        Metric("Accuracy", "proportion of rows that is predicted correctly", share_of(right, weight)),
        Metric(
            "  without a model",
            f"accuracy of predicting {fitted.class_names[common]} for every row",
            share(float(counts[common]), float(counts.sum() - counts[common])),
        ),
    ]
    costs = fitted.decision.costs
    metrics = [] if costs is None else _costs(costs, is_class.argmax(axis=1), codes, weight, fitted.class_names)
    metrics += accuracy if costs is None else []
    metrics += [
        Metric(
            "Log loss",
            "mean of -log of the probability of the true class; 0 is perfect",
            mean(-_safe_log(p_true), weight),
        ),
        Metric(
            "Brier score", "mean squared error of the probabilities; 0 is perfect", mean(_brier(p, is_class), weight)
        ),
    ]
    if len(labels) == 2:
        positive = fitted.decision.positive
        names = fitted.class_names[positive], fitted.class_names[1 - positive]
        metrics += _ranking(p[:, positive], is_class[:, positive], weight, names)
    return metrics if costs is None else [*metrics, *accuracy]


def _costs(costs: FloatArray, y: IntArray, codes: IntArray, weight: FloatArray, names: tuple[str, ...]) -> list[Metric]:
    """The mean cost of the decisions, at which a rule by costs aims, and that of the best constant decision."""
    always = [mean(costs[y, code], weight) for code in range(costs.shape[1])]
    best = min(range(len(always)), key=lambda code: always[code].estimate)
    return [
        Metric(
            "Cost of a decision",
            "mean over rows, by the costs of the decision rule; lower is better",
            mean(costs[y, codes], weight),
        ),
        Metric("  without a model", f"cost of predicting {names[best]} for every row", always[best]),
    ]


def _safe_log(p: FloatArray) -> FloatArray:
    """Finite where a model calls what happened impossible; as in scikit-learn."""
    return np.log(np.maximum(p, np.finfo(float).eps))


def _brier(p: FloatArray, is_class: AnyArray) -> FloatArray:
    return np.sum((p - is_class) ** 2, axis=1) / 2


def _ranking(score: FloatArray, positive: BoolArray, weight: FloatArray, names: tuple[str, str]) -> list[Metric]:
    """Area under the curve, Gini and KS; `names` are those of the positive class and of the other one."""
    meanings = {
        "Area under the curve": "probability that {0} scores higher than {1}, for a random row of each; 0.5 is chance",
        "Gini": "twice the area under the curve less 1; 0 is chance",
        "KS": "largest difference between the shares of {0} and {1} above a threshold; 0 is chance",
    }
    meanings = {name: meaning.format(*names) for name, meaning in meanings.items()}
    counts = weight > 0
    positive, score, weight = positive[counts], score[counts], weight[counts]
    if positive.all() or not positive.any():
        reason = "not defined: the held-out rows have one class only"
        return [Metric(name, meaning, reason=reason) for name, meaning in meanings.items()]
    area = area_figure(auc_values(positive, score, weight))
    figures = area, gini_figure(area), ks_figure(positive, score, weight)
    return [Metric(name, meaning, figure) for (name, meaning), figure in zip(meanings.items(), figures, strict=True)]


def _number_metrics(fitted: Fitted, held_out: HeldOutPredictions, predicted: FloatArray) -> list[Metric]:
    exposure = held_out.rows.extras.get("exposure")
    y, weight = np.asarray(held_out.y, dtype=np.float64), held_out.weight
    error = y - (predicted if exposure is None else predicted * exposure)
    if not np.all(np.isfinite(error)):
        return [
            Metric(
                "Mean absolute error",
                "mean absolute difference from the outcome",
                reason="not defined: some predictions are infinite",
            )
        ]
    squared = error**2
    metrics = [
        Metric("Mean absolute error", "mean absolute difference from the outcome", mean(np.abs(error), weight)),
        Metric("Root mean squared error", "square root of the mean squared error", mean(squared, weight, _root)),
    ]
    spread = float(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
    meaning = "proportion of the variance of the outcome that is explained"
    if spread > 0:
        metrics.append(Metric("R squared", meaning, mean(squared, weight, lambda m: 1 - m / spread)))
    else:
        metrics.append(Metric("R squared", meaning, reason="not defined: all held-out outcomes are equal"))
    if fitted.outcome.counts:
        expected = predicted if exposure is None else predicted * exposure
        meaning = "observed count divided by the predicted count; 1 is perfect"
        metrics.append(Metric("Observed over predicted", meaning, ratio(float(weight @ y), float(weight @ expected))))
    if held_out.interval is not None:
        inside = (y >= held_out.interval[:, 0]) & (y <= held_out.interval[:, 1])
        meaning = "proportion of outcomes in their 90 % prediction interval; 90 % is the aim"
        metrics.append(Metric("Coverage", meaning, share_of(inside, weight)))
    return metrics


def _root(m: float) -> float:
    return math.sqrt(max(m, 0.0))


def _duration_metrics(held_out: HeldOutPredictions, predicted: FloatArray) -> list[Metric]:
    """Metrics of durations that may be censored: errors are not known, events and their probability are."""
    y, weight, event = np.asarray(held_out.y, dtype=np.float64), held_out.weight, held_out.rows.extras["event"]
    meaning = "events over those that the predicted means let expect; 1 is right"
    if not np.all(np.isfinite(predicted)):
        return [Metric("Observed over predicted", meaning, reason="not defined: some predictions are infinite")]
    overall = float(weight @ y) / max(float(weight @ event), 0.5)
    surprise = [event * np.log(m) + y / m for m in (predicted, np.full(len(y), overall))]
    return [
        Metric("Observed over predicted", meaning, ratio(float(weight @ event), float(weight @ (y / predicted)))),
        Metric("Log loss", "surprise at the durations, in nats; less is better", mean(surprise[0], weight)),
        Metric("  without a model", "log loss of predicting one mean for all rows", mean(surprise[1], weight)),
    ]


@dataclass(frozen=True)
class CalibrationBin:
    """Rows with about the same prediction."""

    predicted: float
    observed: Figure
    n: float


def calibration_of(fitted: Fitted, held_out: HeldOutPredictions, n_bins: int = 10) -> list[CalibrationBin]:
    """Predictions in bins of about equal numbers of rows, and what was observed there, with intervals.

    Of two classes the probability of the positive one, of more that of the most probable class, of numbers the mean, of
    counts the rate, of durations the mean.
    """
    predicted = predicted_and_observed(fitted, held_out)[0]
    groups = np.array_split(np.argsort(predicted, kind="stable"), min(n_bins, len(predicted)))
    return [bin_of(fitted, held_out, rows) for rows in groups if held_out.weight[rows].sum() > 0]


def predicted_and_observed(fitted: Fitted, held_out: HeldOutPredictions) -> tuple[FloatArray, FloatArray]:
    """Predictions and observations, one number for each row."""
    labels, p = fitted.outcome.labels, held_out.probabilities
    if p is None:
        assert held_out.mean is not None  # noqa: S101
        predicted = held_out.mean if held_out.mean.ndim == 1 else held_out.mean[:, 0]
        return predicted, np.asarray(held_out.y, dtype=np.float64)
    if len(labels) == 2:
        positive = fitted.decision.positive
        return p[:, positive], (held_out.y == labels[positive]).astype(float)
    return p.max(axis=1), (labels[p.argmax(axis=1)] == held_out.y).astype(float)


def bin_of(fitted: Fitted, held_out: HeldOutPredictions, rows: AnyArray) -> CalibrationBin:
    """The prediction for some rows, and what was observed there."""
    predicted, observed = (values[rows] for values in predicted_and_observed(fitted, held_out))
    weight, extras = held_out.weight[rows], {name: values[rows] for name, values in held_out.rows.extras.items()}
    n = float(weight.sum())
    if "event" in extras:
        # Time per event: an interval of the rate, turned over.
        rate = ratio(float(weight @ extras["event"]), float(weight @ observed))
        with np.errstate(divide="ignore"):
            middle, low, high = (float(np.divide(1.0, number)) for number in (rate.estimate, rate.high, rate.low))
        return CalibrationBin(_harmonic_mean(predicted, weight * observed), Figure(middle, low, high), n)
    if "exposure" in extras:
        exposed = weight * extras["exposure"]
        rate = ratio(float(weight @ observed), float(exposed.sum()))
        return CalibrationBin(float(np.average(predicted, weights=exposed)), rate, n)
    hits = float(weight @ observed)
    observed_figure = share(hits, n - hits) if fitted.outcome.predicts_classes else mean(observed, weight)
    return CalibrationBin(float(np.average(predicted, weights=weight)), observed_figure, n)


def _harmonic_mean(values: FloatArray, weight: FloatArray) -> float:
    """The mean duration that rows with these means, exposed for so long, would show."""
    return float(weight.sum() / (weight / values).sum())
