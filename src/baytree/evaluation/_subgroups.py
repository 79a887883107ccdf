"""Figures by subgroup, for columns of the model and others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import BoolArray
from ..figures import Figure, mean, share_of
from ..fitted import Fitted
from ..metrics import impacts_of
from ..table import subgroup_masks
from ._held_out import HeldOutPredictions
from ._measures import bin_of, predicted_and_observed
from ._thresholds import Thresholds, thresholds_of


@dataclass(frozen=True)
class Subgroup:
    """Some of the held-out rows."""

    column: str
    name: str
    n: float
    figures: dict[str, Figure]  # by title, in the order of TITLES
    thresholds: Thresholds | None  # of two classes


def subgroups_of(fitted: Fitted, held_out: HeldOutPredictions) -> list[Subgroup]:
    """The figures of every subgroup of every column that was named."""
    groups = []
    for column, values in held_out.rows.subgroups.items():
        parts = [(name, rows) for name, rows in subgroup_masks(values) if held_out.weight[rows].sum() > 0]
        ratios = _impact_ratios(fitted, held_out, parts)
        for (name, rows), ratio in zip(parts, ratios, strict=True):
            groups.append(_subgroup(fitted, held_out, column, name, rows, ratio))
    return groups


def _impact_ratios(
    fitted: Fitted, held_out: HeldOutPredictions, parts: list[tuple[str, BoolArray]]
) -> list[Figure | None]:
    """Of two classes: how often each subgroup is predicted to be of the other class, relative to the highest rate."""
    if held_out.codes is None or len(fitted.outcome.labels) != 2:
        return [None] * len(parts)
    chosen, weight = held_out.codes != fitted.decision.positive, held_out.weight
    rates = [float(np.average(chosen[rows], weights=weight[rows])) for _, rows in parts]
    return [impact.ratio for impact in impacts_of(chosen, weight, parts, int(np.argmax(rates)))]


def _subgroup(
    fitted: Fitted, held_out: HeldOutPredictions, column: str, name: str, rows: BoolArray, ratio: Figure | None
) -> Subgroup:
    seen = bin_of(fitted, held_out, rows)
    figures = {"observed": seen.observed, "predicted": _mean_prediction(fitted, held_out, rows, seen.predicted)}
    figures |= (
        _class_figures(fitted, held_out, rows) if fitted.outcome.predicts_classes else _number_figures(held_out, rows)
    )
    if ratio is not None:
        figures["impact"] = ratio
    return Subgroup(column, name, seen.n, figures, thresholds_of(fitted, held_out, rows))


def _mean_prediction(fitted: Fitted, held_out: HeldOutPredictions, rows: BoolArray, average: float) -> Figure:
    """The mean prediction; where it is not a plain mean of the rows, without an interval."""
    is_share = fitted.outcome.predicts_classes
    if held_out.rows.extras:
        return Figure(average, is_share=is_share)
    return replace(mean(predicted_and_observed(fitted, held_out)[0][rows], held_out.weight[rows]), is_share=is_share)


def _class_figures(fitted: Fitted, held_out: HeldOutPredictions, rows: BoolArray) -> dict[str, Figure]:
    """Rates of the decision: of two classes with both kinds of error, of more the share of right decisions."""
    assert held_out.codes is not None  # noqa: S101
    codes, weight, y, labels = held_out.codes[rows], held_out.weight[rows], held_out.y[rows], fitted.outcome.labels
    right = {"right": share_of(labels[codes] == y, weight)}
    if len(labels) != 2:
        return right
    positive_code = fitted.decision.positive
    positive = y == labels[positive_code]
    return {
        "decided": share_of(codes == positive_code, weight),
        "missed": share_of(codes[positive] != positive_code, weight[positive]),
        "wrongly": share_of(codes[~positive] == positive_code, weight[~positive]),
    } | right


def _number_figures(held_out: HeldOutPredictions, rows: BoolArray) -> dict[str, Figure]:
    weight, y = held_out.weight[rows], np.asarray(held_out.y, dtype=np.float64)[rows]
    if held_out.rows.extras or held_out.mean is None or held_out.mean.ndim > 1:
        return {}
    error = held_out.mean[rows] - y
    figures = {"error": mean(error, weight), "size": mean(np.abs(error), weight)}
    if held_out.interval is not None:
        low, high = held_out.interval[rows].T
        figures["coverage"] = share_of((low <= y) & (y <= high), weight)
    return figures


TITLES = {
    "observed": "observed",
    "predicted": "mean prediction",
    "decided": "predicted as {positive}",
    "impact": "impact ratio of {other}",
    "missed": "{positive} missed",
    "wrongly": "{other} predicted as {positive}",
    "right": "accuracy",
    "error": "mean error",
    "size": "mean absolute error",
    "coverage": "coverage of 90 % intervals",
}


def splits_using(fitted: Fitted, column: str) -> list[int] | None:
    """The splits that use a column; None where the model does not have it."""
    schema = fitted.schema
    names = [schema.name(i) for i in range(schema.n_features)]
    if column not in names:
        return None
    feature = names.index(column)
    return [node for node in fitted.trees.internal_nodes.tolist() if feature in fitted.trees.split(node).features]
