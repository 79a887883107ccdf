"""A tree as one rule per leaf."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..boxes import Box, Demand, Levels, boxes_of
from ..rules import Wording, feature_name, level_name, number_text, summary_text
from ._single import single_tree


@dataclass(frozen=True)
class Rule:
    """What leads to one leaf, and what it says."""

    conditions: tuple[str, ...]  # all of them hold: "30 < age <= 50"
    n: int  # training rows
    estimate: dict[str, float]  # class -> probability, or outcome -> its mean
    interval: dict[str, tuple[float, float]]  # 90 % credible interval of each
    leaf: int

    def __str__(self) -> str:
        says = "; ".join(summary_text(name, value, *self.interval[name]) for name, value in self.estimate.items())
        parts = [f"({part})" if part.endswith(" or missing") else part for part in self.conditions]
        condition = f"if {' and '.join(parts)}" if parts else "always"
        return f"{condition}\n    {says}  n={self.n}"


class Rules(tuple[Rule, ...]):
    """The rules of a tree in the order of its leaves; prints two lines each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__


def to_rules(model: Any) -> Rules:
    """Return a fitted tree as one rule per leaf; every row of the training table meets exactly one.

    All cuts along a feature on the way to a leaf make one condition: bounds of numbers, or a set of levels. Gaps are
    told of where the training rows on the way had some. Levels that were never seen go with the larger part at each
    cut, and no rule speaks of them.

    Parameters
    ----------
    model
        A fitted tree; of a tree space its modal tree is used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeRegressor
    >>> from baytree.export import to_rules
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> rules = to_rules(BayesianTreeRegressor(max_leaf_nodes=3).fit(X, y))
    >>> rules[1].conditions, rules[1].n
    (('0.8 < petal width (cm) <= 1.75',), 54)
    """
    model = single_tree(model)
    wording, boxes = Wording(model, model.tree_), boxes_of(model.tree_, model.categories_)
    summaries = model._summaries(np.array([box.leaf for box in boxes]))
    return Rules(
        Rule(
            conditions=tuple(_conditions(wording, box)),
            n=int(model.tree_.n_node_samples[box.leaf]),
            estimate={name: estimate for name, (estimate, _, _) in summary.items()},
            interval={name: (low, high) for name, (_, low, high) in summary.items()},
            leaf=box.leaf,
        )
        for box, summary in zip(boxes, summaries, strict=True)
    )


def _conditions(wording: Wording, box: Box) -> Iterator[str]:
    for feature, demand in box.demands.items():
        name = feature_name(feature, wording.names)
        if demand.levels is None:
            yield _numbers(name, demand)
        else:
            yield f"{name} {_set(demand, demand.levels, wording.categories[feature])}"
    for node, left in box.planes:
        yield f"{wording.feature(node)} {wording.condition(node, left=left)}"


def _numbers(name: str, demand: Demand) -> str:
    if not demand.has_numbers:
        return f"{name} is missing"
    low, high = math.isfinite(demand.low), math.isfinite(demand.high)
    if not low and not high:
        return f"{name} is present"
    or_missing = " or missing" if demand.gap and demand.gap_known else ""
    if low and high:
        return f"{number_text(demand.low)} < {name} <= {number_text(demand.high)}{or_missing}"
    return f"{name} {f'<= {number_text(demand.high)}' if high else f'> {number_text(demand.low)}'}{or_missing}"


def _set(demand: Demand, levels: Levels, names: Any) -> str:
    """The shorter of the two sets, with ``in`` or ``not in``; gaps count as a level where there were any."""
    inside = [level_name(name) for name, here in zip(names, levels.here, strict=True) if here]
    outside = [level_name(name) for name, here in zip(names, levels.here, strict=True) if not here]
    if demand.gap_known:
        (inside if demand.gap else outside).append("missing")
    if len(inside) <= len(outside):
        return f"in {{{', '.join(inside)}}}"
    return f"not in {{{', '.join(outside)}}}"
