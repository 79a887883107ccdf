"""The impact ratio: how often each subgroup gets the favourable decision, relative to the group that gets it most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from .._validation import short_repr
from ..figures import Figure, Z, share_of
from ..table import subgroup_masks
from ._read import read_groups, read_weight


@dataclass(frozen=True)
class GroupImpact:
    """How often a subgroup gets the favourable decision.

    Attributes
    ----------
    name
        The subgroup: a value, or a range of many numbers.
    n
        Its rows.
    rate
        Share of them with the favourable decision, with its 90 % interval.
    ratio
        The rate divided by that of the reference group, with its 90 % interval; 1 for the reference group.
    is_reference
        Whether this is the reference group.

    Examples
    --------
    >>> from baytree import metrics
    >>> first, second = metrics.impact_ratio([1, 1, 1, 0, 1, 0, 0, 0], list("aaaabbbb"))
    >>> float(second.ratio), first.is_reference
    (0.3333333333333333, True)
    """

    name: str
    n: float
    rate: Figure
    ratio: Figure
    is_reference: bool


def impact_ratio(
    favourable: Any, groups: Any, *, reference: Any = None, sample_weight: Any = None
) -> list[GroupImpact]:
    """Compute the impact ratio of subgroups: how often each gets the favourable decision, relative to a reference.

    Regulators in the United States take a ratio below 0.8 as a sign of adverse impact. The interval of a ratio is that
    of its logarithm (Katz), with half a row added to each count (Walter).

    Parameters
    ----------
    favourable
        For each row whether its decision is the favourable one, such as ``model.predict(X) == "good"``.
    groups
        The subgroup of each row. Many different numbers are put into quarters.
    reference
        The value of the reference group. None: the group with the highest rate.
    sample_weight
        How often each row counts.

    Returns
    -------
    list of GroupImpact

    Examples
    --------
    >>> from baytree import metrics
    >>> approved = [True] * 60 + [False] * 40 + [True] * 45 + [False] * 55
    >>> for group in metrics.impact_ratio(approved, ["a"] * 100 + ["b"] * 100):
    ...     print(group.name, group.rate, group.ratio)
    a 60 % (51.8 to 67.8 %) 1
    b 45 % (37 to 53.2 %) 0.75 (0.6009 to 0.9412)
    """
    decided = np.asarray(favourable)
    if decided.ndim != 1 or decided.dtype.kind not in "biuf" or not np.all((decided == 0) | (decided == 1)):
        raise TypeError("favourable must hold True or False for each row.")
    chosen = decided.astype(bool)
    weight, values = read_weight(sample_weight, len(chosen)), read_groups(groups, len(chosen))
    parts = [(name, rows) for name, rows in subgroup_masks(values) if weight[rows].sum() > 0]
    names = [name for name, _ in parts]
    rates = [share_of(chosen[rows], weight[rows]) for _, rows in parts]
    if reference is None:
        place = int(np.argmax([rate.estimate for rate in rates]))
    else:
        holding = [i for i, (_, rows) in enumerate(parts) if np.any(rows & (values == reference))]
        if not holding:
            raise ValueError(f"reference={short_repr(reference)} is none of the groups {', '.join(names)}.")
        place = holding[0]
    return impacts_of(chosen, weight, parts, place)


def impacts_of(
    chosen: BoolArray, weight: FloatArray, parts: list[tuple[str, BoolArray]], place: int
) -> list[GroupImpact]:
    """The rates and ratios of subgroups, of which the one at `place` is the reference."""
    counts = [(float(weight[rows & chosen].sum()), float(weight[rows].sum())) for _, rows in parts]
    return [
        GroupImpact(
            name,
            counts[i][1],
            share_of(chosen[rows], weight[rows]),
            Figure(1.0) if i == place else ratio_of_shares(counts[i], counts[place]),
            i == place,
        )
        for i, (name, rows) in enumerate(parts)
    ]


def ratio_of_shares(group: tuple[float, float], other: tuple[float, float]) -> Figure:
    """The ratio of two shares, each given as hits and rows, with the interval of its logarithm."""
    (hits, n), (other_hits, other_n) = group, other
    if n <= 0 or other_n <= 0 or other_hits <= 0:
        return Figure()
    centre = math.log((hits + 0.5) / (n + 0.5)) - math.log((other_hits + 0.5) / (other_n + 0.5))
    variance = 1 / (hits + 0.5) - 1 / (n + 0.5) + 1 / (other_hits + 0.5) - 1 / (other_n + 0.5)
    half, estimate = Z * math.sqrt(max(variance, 0.0)), (hits / n) / (other_hits / other_n)
    low, high = math.exp(centre - half), math.exp(centre + half)
    return Figure(estimate, 0.0 if hits == 0 else min(low, estimate), max(high, estimate))
