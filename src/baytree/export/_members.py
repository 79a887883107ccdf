"""What a fitted result consists of and predicts, for exports: trees or tree spaces whose predictions are averaged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from .._validation import check_real
from ..estimators import Model, fitted_of
from ..fitted import Fitted, FittedForest, FittedSpace, FittedTree, class_outcome, distribution_of
from ..tree import Space, Tree

_MOST_TREES = 200  # of a tree space, where a target holds single trees alone


@dataclass(frozen=True)
class Member:
    """One tree, or one tree space, and its share in the prediction; shares sum to one."""

    share: float
    grown: Tree | Space


def carried(model: Model) -> Fitted:
    """The fitted result of which an export carries the predictions: splits alone say where rows go."""
    fitted = fitted_of(model).routed
    if isinstance(fitted, FittedForest) and fitted.missing == "average":
        raise ValueError("Exports of forests send what was not seen to the larger side: fit with missing='majority'.")
    return fitted


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


def interval_ends(fitted: Fitted, interval: float | None) -> dict[str, FloatArray]:
    """The ends of the interval in every node of a single tree, by name; none where no interval is asked for."""
    if interval is None:
        return {}
    if not isinstance(fitted, FittedTree):
        raise ValueError("The interval of an average over trees is not in their leaves: leave interval out.")
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
