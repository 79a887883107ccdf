"""The members of a fitted model, for exports: trees or tree spaces whose predictions are averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_real, short_repr
from ..estimators import Model, fitted_of
from ..fitted import Fitted, ModelKind, class_outcome, distribution_of, real_outcome
from ..leaves import ModelLeaves
from ..tree import TreeStore

_MOST_TREES = 200  # of a tree space, where a target holds single trees alone


@dataclass(frozen=True)
class Member:
    """The tree or tree space below one root, and its weight in the prediction; weights sum to one."""

    share: float
    trees: TreeStore


def exportable(model: Model, *, but: type[ModelLeaves] | None = None) -> Fitted:
    """The fitted model that an export can write: splits route its rows, and leaves are constant, but for some kinds."""
    fitted = fitted_of(model).routed
    if but is None or not (isinstance(fitted.trees.leaves, but) and fitted.has_one_leaf):
        fitted.check_constant("An export")
    return fitted


def members_of(fitted: Fitted) -> list[Member]:
    """The trees or tree spaces that are averaged."""
    n_trees = fitted.trees.n_trees
    return [Member(1 / n_trees, fitted.trees.tree(t)) for t in range(n_trees)]


def trees_of(fitted: Fitted, target: str) -> list[tuple[float, TreeStore]]:
    """The members as single trees, for a target that holds nothing else; a tree space must have few."""
    if fitted.trees.is_plain:
        return [(member.share, member.trees) for member in members_of(fitted)]
    trees = fitted.best_trees(_MOST_TREES + 1) if fitted.kind is ModelKind.SPACE else []
    in_leaves = (
        np.concatenate([tree.trees.leaves.value[tree.trees.is_leaf] for tree in trees]) if trees else np.zeros(0)
    )
    # Trees that are held to a direction are put in order, and then are not those that are averaged.
    is_average = bool(trees) and {*map(tuple, in_leaves.tolist())} <= {*map(tuple, fitted.trees.leaves.value.tolist())}
    if len(trees) > _MOST_TREES or not is_average:
        raise ValueError(
            f"{target} cannot hold a tree space that is more than {_MOST_TREES} trees: export readable_tree_, or "
            "explore less (max_nodes)."
        )
    weights = fitted.tree_weights(_MOST_TREES + 1).tolist()
    return [(weight, tree.trees) for weight, tree in zip(weights, trees, strict=True)]


def leaf_columns(fitted: Fitted, interval: float | None, std: bool) -> dict[str, FloatArray]:
    """The values of each node that an export of a single tree adds to the prediction, by name."""
    if (std or interval is not None) and not fitted.trees.leaves.is_constant:
        raise ValueError("The std and the interval of a linear leaf depend on the row: leave them out of the export.")
    _check_std(fitted, std)
    deviation = {"std": np.asarray(real_outcome(fitted.outcome).std(fitted.trees.calibrated))} if std else {}
    return deviation if interval is None else deviation | _interval_ends(fitted, interval)


def _interval_ends(fitted: Fitted, interval: float) -> dict[str, FloatArray]:
    level = check_real("interval", interval, low=0, high=1)
    sides = {"low": (1 - level) / 2, "high": (1 + level) / 2}
    posterior = fitted.trees.calibrated
    if fitted.outcome.predicts_classes:
        ends = class_outcome(fitted.outcome).quantiles(posterior, np.array([*sides.values()]))
        names = fitted.class_names
        return {f"{side}_{name}": ends[:, c, i] for c, name in enumerate(names) for i, side in enumerate(sides)}
    if not fitted.has_distribution():
        raise ValueError(f"The outcome {fitted.outcome.name!r} has no distribution: leave interval out.")
    frozen = distribution_of(fitted.outcome, "outcome")(posterior)
    return {side: frozen.ppf(quantile) for side, quantile in sides.items()}


def member_values(fitted: Fitted, interval: float | None, std: bool) -> list[tuple[Member, FloatArray]]:
    """The members with what each of their nodes adds to an average, one column for each number that is averaged.

    These are the values of `Fitted.value_names` and, for a standard deviation, the mean and the mean square about a
    number that all nodes share: the variance is the second less the square of the first.
    """
    if interval is not None:
        raise ValueError("The interval of an average over trees is not in their leaves: leave interval out.")
    _check_std(fitted, std)
    members = members_of(fitted)
    center = _finite_median(members[0].trees.leaves.value[:, 0])
    result = []
    for member in members:
        columns = member.trees.leaves.value
        if std:
            columns = np.column_stack([columns, _moments(fitted, member.trees, center)])
        if not fitted.trees.is_plain:  # then all members are added up from the deepest nodes, a plain one too
            share = member.trees.leaf_share[:, None]
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
    return fitted.kind is not ModelKind.SPACE or bool(np.isfinite(_variances(fitted, fitted.trees)).all())


def _check_std(fitted: Fitted, std: Any) -> None:
    if not isinstance(std, bool):
        raise TypeError(f"std must be True or False; got {short_repr(std)}.")
    if not std or has_std(fitted):
        return
    if fitted.outcome.predicts_classes:
        raise ValueError("Classes have no standard deviation: leave std out.")
    if not fitted.has_distribution():
        raise ValueError(f"The outcome {fitted.outcome.name!r} has no distribution: leave std out.")
    raise ValueError("A node of the tree space has an infinite variance, which would hide all others: leave std out.")


def _variances(fitted: Fitted, trees: TreeStore) -> FloatArray:
    return np.asarray(distribution_of(fitted.leaf_outcome, "outcome")(trees.calibrated).var())


def _moments(fitted: Fitted, trees: TreeStore, center: float) -> FloatArray:
    """Mean and mean square of every node about a number; where they are infinite, the second alone says so."""
    mean = np.asarray(distribution_of(fitted.leaf_outcome, "outcome")(trees.calibrated).mean()) - center
    square = _variances(fitted, trees) + mean**2
    finite = np.isfinite(square)
    moments = np.stack([np.where(finite, mean, 0.0), np.where(finite, square, np.inf)], axis=1)
    return moments * [fitted.widening, fitted.widening**2]
