"""A tree as one rule per leaf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._words import summary_text
from ..estimators import Model, readable_tree_of
from ..explain import boxes_of, conditions_of
from ..tree import threshold_text


@dataclass(frozen=True)
class Rule:
    """The conditions that lead to one leaf, and its estimates.

    Attributes
    ----------
    conditions
        Conditions that all hold: ``30 < age <= 50``.
    n
        Training rows.
    estimate
        Class to probability, or outcome to its mean.
    interval
        90 % credible interval of each.
    leaf
        Number of the leaf.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import to_rules
    >>> rule = to_rules(model)[0]
    >>> rule.conditions, rule.n, rule.leaf
    (('petal width (cm) <= 0.8',), 50, 1)
    """

    conditions: tuple[str, ...]
    n: int
    estimate: dict[str, float]
    interval: dict[str, tuple[float, float]]
    leaf: int

    def __str__(self) -> str:
        says = "; ".join(summary_text(name, value, *self.interval[name]) for name, value in self.estimate.items())
        parts = [f"({part})" if part.endswith(" or missing") else part for part in self.conditions]
        condition = f"if {' and '.join(parts)}" if parts else "always"
        return f"{condition}\n    {says}  n={self.n}"


class Rules(tuple[Rule, ...]):
    """The rules of a tree in the order of its leaves; prints two lines each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import to_rules
    >>> len(to_rules(model))
    3
    """

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
        A fitted tree, or a tree space or forest, whose readable tree is used.

    Returns
    -------
    Rules
        A tuple of `Rule`, in the order of the leaves; prints two lines each.

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
    fitted = readable_tree_of(model)
    boxes, number = boxes_of(fitted.trees, fitted.schema), threshold_text(fitted.trees)
    summaries = fitted.summaries(np.array([box.leaf for box in boxes]))
    return Rules(
        Rule(
            conditions=tuple(conditions_of(fitted.trees, fitted.schema, box, number)),
            n=int(fitted.trees.n_node_samples[box.leaf]),
            estimate={name: estimate for name, (estimate, _, _) in summary.items()},
            interval={name: (low, high) for name, (_, low, high) in summary.items()},
            leaf=box.leaf,
        )
        for box, summary in zip(boxes, summaries, strict=True)
    )
