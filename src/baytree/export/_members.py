"""What a fitted result consists of and predicts, for exports: trees or tree spaces whose predictions are averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_real, shown
from ..estimators import Model, fitted_of
from ..fitted import Fitted, FittedForest, FittedSpace, FittedTree, class_outcome, distribution_of, real_outcome
from ..tree import Space, Tree

_MOST_TREES = 200  # of a tree space, where a target holds single trees alone


@dataclass(frozen=True)
class Member:
    """One tree, or one tree space, and its share in the prediction; shares sum to one."""

    share: float
    grown: Tree | Space


def carried(model: Model) -> Fitted:
    """The fitted result of which an export carries the predictions: splits alone say where rows go."""
    return fitted_of(model).routed


def members_of(fitted: Fitted) -> list[Member]:
    """The members as they are."""
    if isinstance(fitted, FittedForest):
        return [Member(1 / fitted.forest.n_trees, own.tree) for own in fitted.trees()]
    return [Member(1.0, fitted.tree if isinstance(fitted, FittedTree) else fitted.space)]


def trees_of(fitted: Fitted, target: str) -> list[tuple[float, Tree]]:
    """The members as single trees, for a target that holds nothing else; a tree space must have few."""
    if not isinstance(fitted, FittedSpace):
        return [(member.share, member.grown) for member in members_of(fitted) if isinstance(member.grown, Tree)]
    trees = fitted.best_trees(_MOST_TREES + 1)
    in_leaves = np.concatenate([own.tree.value[own.tree.is_leaf, 0] for own in trees])
    # Trees that are held to a direction are put in order, and then are not those that are averaged.
    averaged = {*map(tuple, in_leaves.tolist())} <= {*map(tuple, fitted.space.value[:, 0].tolist())}
    if len(trees) > _MOST_TREES or not averaged:
        raise ValueError(
            f"{target} cannot hold a tree space that is more than {_MOST_TREES} trees: export modal_tree_, or explore "
            "less (max_nodes)."
        )
    weights = fitted.tree_weights(_MOST_TREES + 1).tolist()
    return [(weight, own.tree) for weight, own in zip(weights, trees, strict=True)]


def value_names(fitted: Fitted) -> list[str]:
    """Names of what is predicted: class probabilities, or the mean; an outcome of the user's own may have several."""
    if fitted.classes is not None:
        return [f"probability_{name}" for name in fitted.class_names]
    n_values = members_of(fitted)[0].grown.value.shape[2]
    return ["mean"] if n_values == 1 else [f"mean_{i}" for i in range(n_values)]


def leaf_columns(fitted: FittedTree, interval: float | None, std: bool) -> dict[str, FloatArray]:
    """What an export of a single tree has of every node beside what is predicted, by name."""
    _check_std(fitted, std)
    deviation = {"std": np.asarray(real_outcome(fitted.outcome).std(fitted.tree.posterior))} if std else {}
    return deviation if interval is None else deviation | _interval_ends(fitted, interval)


def _interval_ends(fitted: FittedTree, interval: float) -> dict[str, FloatArray]:
    level = check_real("interval", interval, low=0, high=1)
    sides = {"low": (1 - level) / 2, "high": (1 + level) / 2}
    posterior = fitted.tree.posterior
    if fitted.classes is not None:
        ends = class_outcome(fitted.outcome).quantiles(posterior, np.array([*sides.values()]))
        names = fitted.class_names
        return {f"{side}_{name}": ends[:, c, i] for c, name in enumerate(names) for i, side in enumerate(sides)}
    if not fitted.has_distribution():
        raise ValueError(f"The outcome {fitted.outcome.name!r} has no distribution: leave interval out.")
    frozen = distribution_of(fitted.outcome, "outcome")(posterior)
    return {side: frozen.ppf(quantile) for side, quantile in sides.items()}


def averaged(fitted: Fitted, interval: float | None, std: bool) -> list[tuple[Member, FloatArray]]:
    """The members with what each of their nodes adds to an average, one column for each number that is averaged.

    These are the values of `value_names` and, for a standard deviation, the mean and the mean square about a number
    that all nodes share: the variance is the second less the square of the first.
    """
    if interval is not None:
        raise ValueError("The interval of an average over trees is not in their leaves: leave interval out.")
    _check_std(fitted, std)
    members = members_of(fitted)
    center = _finite_median(members[0].grown.value[:, 0, 0])
    result = []
    for member in members:
        columns = member.grown.value[:, 0]
        if std:
            columns = np.column_stack([columns, _moments(fitted, member.grown, center)])
        if isinstance(member.grown, Space):
            share = member.grown.leaf_share[:, None]
            columns = np.multiply(share, columns, out=np.zeros_like(columns), where=share > 0)
        result.append((member, columns))
    return result


def _finite_median(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else 0.0


def has_std(fitted: Fitted) -> bool:
    """Whether the standard deviation of what is predicted can be carried."""
    if not fitted.has_distribution():
        return False
    return not isinstance(fitted, FittedSpace) or bool(np.isfinite(_variances(fitted, fitted.space)).all())


def _check_std(fitted: Fitted, std: Any) -> None:
    if not isinstance(std, bool):
        raise TypeError(f"std must be True or False; got {shown(std)}.")
    if not std or has_std(fitted):
        return
    if fitted.classes is not None:
        raise ValueError("Classes have no standard deviation: leave std out.")
    if not fitted.has_distribution():
        raise ValueError(f"The outcome {fitted.outcome.name!r} has no distribution: leave std out.")
    raise ValueError("A node of the tree space has an infinite variance, which would hide all others: leave std out.")


def _variances(fitted: Fitted, grown: Tree | Space) -> FloatArray:
    return np.asarray(distribution_of(fitted.leaf_outcome, "outcome")(grown.posterior).var())


def _moments(fitted: Fitted, grown: Tree | Space, center: float) -> FloatArray:
    """Mean and mean square of every node about a number; where they are infinite, the second alone says so."""
    mean = np.asarray(distribution_of(fitted.leaf_outcome, "outcome")(grown.posterior).mean()) - center
    square = _variances(fitted, grown) + mean**2
    finite = np.isfinite(square)
    moments = np.stack([np.where(finite, mean, 0.0), np.where(finite, square, np.inf)], axis=1)
    return moments * [fitted.widening, fitted.widening**2]
