"""A tree as one rule per leaf."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._words import summary_text
from ..estimators import Model, fitted_tree_of
from ..explain import Box, Categories, Demand, boxes_of
from ..fitted import FittedTree
from ..table import Column, Kind


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


def to_rules(model: Model) -> Rules:
    """Return a fitted tree as one rule per leaf; every row of the training table meets exactly one.

    All splits along a feature on the way to a leaf make one condition: bounds of numbers, or a set of categories.
    Missing values are mentioned where the training rows on the way had some. Categories that were never seen go to the
    larger side at each split, and no rule mentions them.

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
    fitted = fitted_tree_of(model)
    boxes = boxes_of(fitted.tree, fitted.schema)
    summaries = fitted.summaries(np.array([box.leaf for box in boxes]))
    return Rules(
        Rule(
            conditions=tuple(_conditions(fitted, box)),
            n=int(fitted.tree.n_node_samples[box.leaf]),
            estimate={name: estimate for name, (estimate, _, _) in summary.items()},
            interval={name: (low, high) for name, (_, low, high) in summary.items()},
            leaf=box.leaf,
        )
        for box, summary in zip(boxes, summaries, strict=True)
    )


def _conditions(fitted: FittedTree, box: Box) -> Iterator[str]:
    schema = fitted.schema
    for feature, demand in box.demands.items():
        name, column = schema.name(feature), schema.columns[feature]
        if demand.categories is None:
            yield _range(name, demand, column)
        else:
            yield f"{name} {_set(demand, demand.categories, column)}"
    for node, left in box.hyperplanes:
        split = fitted.tree.split(node)
        yield f"{split.subject(schema)} {split.condition(schema, left=left)}"


def _range(name: str, demand: Demand, column: Column) -> str:
    """Bounds of numbers, of ordered categories, or a truth value."""
    if not demand.has_numbers:
        return f"{name} is missing"
    low, high = math.isfinite(demand.low), math.isfinite(demand.high)
    if not low and not high:
        return f"{name} is present"
    or_missing = " or missing" if demand.missing and demand.missing_known else ""
    if low and high and column.kind is not Kind.TRUTH:
        return f"{column.bound_text(demand.low)} < {name} <= {column.bound_text(demand.high)}{or_missing}"
    return f"{name} {column.condition(demand.high if high else demand.low, left=high)}{or_missing}"


def _set(demand: Demand, categories: Categories, column: Column) -> str:
    """The shorter of the two sets, with ``in`` or ``not in``; missing counts as a category where it occurred."""
    names = column.category_texts()
    inside = [name for name, here in zip(names, categories.here, strict=True) if here]
    outside = [name for name, here in zip(names, categories.here, strict=True) if not here]
    if demand.missing_known:
        (inside if demand.missing else outside).append("missing")
    if len(inside) <= len(outside):
        return f"in {{{', '.join(inside)}}}"
    return f"not in {{{', '.join(outside)}}}"
