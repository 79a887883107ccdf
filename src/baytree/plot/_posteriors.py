"""The posteriors of the nodes of a tree, as numbers to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._typing import FloatArray, IntArray
from .._words import estimate_text, percent_text, range_text
from ..fitted import Fitted, class_outcome, distribution_of
from ._axes import BLUE, VERMILION, class_colour

_TAIL = 0.001  # on either side, beyond which a density is not drawn
_POINTS = 121
_MANY = 6  # classes: with more, a node shows only its predicted class
Curve = tuple[FloatArray, FloatArray]  # values and their densities


@dataclass(frozen=True)
class Estimate:
    """An estimate in a node, with its 90 % interval (NaN where it is not known)."""

    value: float
    low: float
    high: float
    colour: str


@dataclass(frozen=True)
class NodePosterior:
    """The posterior of one node: the probability of each class, or one number."""

    labels: tuple[str, ...]  # lines of text: the most probable class or the expected number first
    estimates: tuple[Estimate, ...]
    main: int  # position of the estimate to highlight
    curve: Curve | None  # density of that, where it is one number with a density


@dataclass(frozen=True)
class Posteriors:
    """The posteriors of some nodes, on one scale."""

    quantity: str  # what the estimates are: "probability of malignant"
    low: float
    high: float
    classes: tuple[tuple[str, str], ...]  # names and colours, where a node has an estimate for each
    nodes: dict[int, NodePosterior]
    is_share: bool = False
    of_decided_class: bool = False  # whether a node has one estimate, that of the class it decides for: of many classes

    @property
    def caption(self) -> str:
        """A sentence that explains the small pictures."""
        if self.of_decided_class:
            return "Bars, from 0 to 100 %: probability of the class that is decided for, with 90 % intervals"
        if self.classes:
            return "Bars: expected probability of each class, with 90 % intervals"
        if all(node.curve is None for node in self.nodes.values()):
            return f"Dots, from {estimate_text(self.low)} to {estimate_text(self.high)}: {self.quantity}"
        ends = "0 to 100 %" if self.is_share else f"{estimate_text(self.low)} to {estimate_text(self.high)}"
        return f"Curves, from {ends}: posterior density of the {self.quantity}"


def posteriors_of(fitted: Fitted, nodes: IntArray) -> Posteriors:
    """The posteriors of some nodes of a fitted tree."""
    if not fitted.outcome.predicts_classes:
        return _number_posteriors(fitted, nodes)
    names = fitted.class_names
    if len(names) > _MANY:
        node_posteriors = {int(node): _decided_class_posterior(fitted, int(node)) for node in nodes}
        return Posteriors(
            "probability of its class", 0.0, 1.0, (), node_posteriors, is_share=True, of_decided_class=True
        )
    node_posteriors = {int(node): _class_posterior(fitted, int(node)) for node in nodes}
    if len(names) == 2:
        name = names[fitted.decision.positive]
        return Posteriors(f"probability of {name}", 0.0, 1.0, (), node_posteriors, is_share=True)
    legend = tuple((name, class_colour(i)) for i, name in enumerate(names))
    return Posteriors("probability", 0.0, 1.0, legend, node_posteriors, is_share=True)


def _class_posterior(fitted: Fitted, node: int) -> NodePosterior:
    names, posterior, best = fitted.class_names, fitted.trees.calibrated[node], int(fitted.node_codes[node])
    values = fitted.node_means[node]
    intervals = class_outcome(fitted.outcome).quantiles(posterior[None, :], np.array([0.05, 0.95]))[0]
    if len(names) == 2:
        positive = fitted.decision.positive
        low, high = intervals[positive].tolist()
        estimate = Estimate(float(values[positive]), low, high, VERMILION if best == positive else BLUE)
        curve = _beta_curve(stats.beta(posterior[positive], posterior[1 - positive]))
        labels = names[best], f"{percent_text(estimate.value)} {names[positive]}", _interval(estimate)
        return NodePosterior(labels, (estimate,), 0, curve)
    estimates = tuple(
        Estimate(float(value), float(low), float(high), class_colour(i))
        for i, (value, (low, high)) in enumerate(zip(values, intervals, strict=True))
    )
    labels = names[best], percent_text(estimates[best].value), _interval(estimates[best])
    return NodePosterior(labels, estimates, best, None)


def _decided_class_posterior(fitted: Fitted, node: int) -> NodePosterior:
    """The posterior of the predicted class alone."""
    best = int(fitted.node_codes[node])
    outcome = class_outcome(fitted.outcome)
    low, high = outcome.quantiles(fitted.trees.calibrated[[node]], np.array([0.05, 0.95]))[0, best]
    estimate = Estimate(float(fitted.node_means[node, best]), float(low), float(high), class_colour(best))
    labels = fitted.class_names[best], percent_text(estimate.value), _interval(estimate)
    return NodePosterior(labels, (estimate,), 0, None)


def _interval(estimate: Estimate) -> str:
    return range_text(estimate.low, estimate.high, share=True)


def _number_posteriors(fitted: Fitted, nodes: IntArray) -> Posteriors:
    distributions = [_mean_distribution(fitted, int(node)) for node in nodes]
    estimates = [
        _estimate(fitted.node_means[node], distribution)
        for node, distribution in zip(nodes, distributions, strict=True)
    ]
    low, high = _common_range(estimates, distributions)
    node_posteriors = {}
    for node, distribution, estimate in zip(nodes, distributions, estimates, strict=True):
        labels = " ".join(estimate_text(value) for value in fitted.node_means[node])
        if distribution is None:
            node_posteriors[int(node)] = NodePosterior((labels,), (estimate,), 0, None)
        else:
            curve = _curve(distribution, low, high)
            interval = range_text(estimate.low, estimate.high)
            node_posteriors[int(node)] = NodePosterior((labels, interval), (estimate,), 0, curve)
    return Posteriors("mean outcome", low, high, (), node_posteriors)


def _mean_distribution(fitted: Fitted, node: int) -> Any:
    """Distribution of the mean outcome in a node; None where an outcome of the user's own has none."""
    if not fitted.has_distribution("mean"):
        return None
    return distribution_of(fitted.outcome, "mean")(fitted.trees.calibrated[[node]])


def _estimate(values: FloatArray, distribution: Any) -> Estimate:
    """An estimate of the mean; the first number where the mean of an outcome has several."""
    low, high = (np.nan, np.nan) if distribution is None else (_quantile(distribution, q) for q in (0.05, 0.95))
    return Estimate(float(values[0]), low, high, BLUE)


def _quantile(distribution: Any, q: float) -> float:
    return float(np.ravel(distribution.ppf(q))[0])


def _common_range(estimates: list[Estimate], distributions: list[Any]) -> tuple[float, float]:
    """A range that shows all estimates, and all densities except very wide ones."""
    values = np.array([estimate.value for estimate in estimates])
    far = [[_quantile(d, q) for q in (_TAIL, 0.05, 0.95, 1 - _TAIL)] for d in distributions if d is not None]
    quantiles = np.array(far).reshape(-1, 4)
    everything = np.append(values, quantiles)
    everything = everything[np.isfinite(everything)]
    if len(everything) == 0:
        return 0.0, 1.0
    middle = values[np.isfinite(values)] if np.isfinite(values).any() else np.array([np.median(everything)])
    widths = quantiles[:, 2] - quantiles[:, 1]
    usual = float(np.quantile(widths, 0.5, method="lower")) if far else 0.0
    room = max(float(np.ptp(middle)), 2 * usual)
    low = max(float(everything.min()), float(middle.min()) - room)
    high = min(float(everything.max()), float(middle.max()) + room)
    margin = 0.0 if low < high else abs(low) / 10 or 1.0
    return low - margin, high + margin


def _beta_curve(distribution: Any) -> Curve | None:
    """Mean densities between neighbouring points: that of a Beta distribution may be infinite at 0 or 1."""
    begin, end = (_quantile(distribution, q) for q in (_TAIL, 1 - _TAIL))
    if not begin < end:
        return None
    ends = np.linspace(begin, end, _POINTS - 1)
    density = np.diff(distribution.cdf(ends)) / np.diff(ends)
    middle = (ends[1:] + ends[:-1]) / 2
    return np.concatenate([[begin], middle, [end]]), np.concatenate([density[:1], density, density[-1:]])


def _curve(distribution: Any, low: float, high: float) -> Curve | None:
    """Density between its far quantiles, so that a sharp peak has as many points as a flat one."""
    begin, end = max(_quantile(distribution, _TAIL), low), min(_quantile(distribution, 1 - _TAIL), high)
    if not begin < end or not hasattr(distribution, "pdf"):
        return None
    values = np.linspace(begin, end, _POINTS)
    density = np.asarray(distribution.pdf(values), dtype=np.float64)
    usable = np.isfinite(density)
    return (values[usable], density[usable]) if density[usable].any() else None
