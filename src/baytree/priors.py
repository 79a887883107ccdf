"""The prior of the partitions of a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from . import _core
from ._typing import FloatArray
from ._validation import check_real, short_repr


@dataclass(frozen=True)
class PartitionPrior:
    """How probable each partition of a node is before the data are seen.

    A node at depth l splits with probability ``s(l)``; then a feature is drawn, then one of its splits.

    Parameters
    ----------
    split
        q, the probability that a node splits; in (0, 1). At 0.5 the odds of a split are what the data say.
    by_depth
        ``s(l) = q ** (1 + l)`` if true, so that deep splits need more evidence; ``s(l) = q`` if not.
    location
        ``"uniform"``: all splits of a feature alike; ``"distance"``: in proportion to the distance
        between the two neighbouring values that the split falls between.
    subsets
        Categorical columns: if true, sets of categories against the rest, every size of a set alike; if false,
        single categories against the rest alone, each with the prior of one of the paper's dummy columns.
    proper
        If true, a node stays a leaf when a feature is drawn that cannot be split there, so the prior
        of every node sums to one and constant columns change nothing. If false, the literal prior of
        the paper: ``1 - s(l)`` for no split in every node, features weighted over all columns.
    choose
        ``"column"``: a node chooses its most probable column, whose probability is the sum over its splits, and then
        the best split of that column; ``"partition"``: it chooses the most probable split of all, as in the paper. In
        either case it stays a leaf unless that split is more probable than no split. With look-ahead the best subtree
        decides.

    Examples
    --------
    >>> from baytree import BayesianTreeClassifier, PartitionPrior
    >>> prior = PartitionPrior(split=0.9, location="distance")
    >>> BayesianTreeClassifier(partition_prior=prior).partition_prior
    PartitionPrior(split=0.9, by_depth=False, location='distance', proper=True, subsets=True, choose='column')
    """

    split: float = 0.5
    by_depth: bool = False
    location: Literal["uniform", "distance"] = "uniform"
    proper: bool = True
    subsets: bool = True
    choose: Literal["column", "partition"] = "column"

    def __post_init__(self) -> None:
        check_real("split", self.split, low=0, high=1)
        if self.location not in ("uniform", "distance"):
            raise ValueError(f"location must be 'uniform' or 'distance'; got {short_repr(self.location)}.")
        if self.choose not in ("column", "partition"):
            raise ValueError(f"choose must be 'column' or 'partition'; got {short_repr(self.choose)}.")
        for name in ("by_depth", "proper", "subsets"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be True or False; got {short_repr(getattr(self, name))}.")

    def to_core(self, feature_weight: FloatArray) -> _core.PartitionPrior:
        """Return the compiled core's form of this prior."""
        return _core.PartitionPrior(
            split=float(self.split),
            by_depth=self.by_depth,
            by_distance=self.location == "distance",
            subsets=self.subsets,
            proper=self.proper,
            by_column=self.choose == "column",
            feature_weight=feature_weight,
        )


PAPER = PartitionPrior(split=0.99, by_depth=True, choose="partition")  # partition_prior="paper"


def is_paper(value: Any) -> bool:
    """Whether the `partition_prior` parameter asks for all that the paper does at a node."""
    return isinstance(value, str) and value == "paper"


def as_partition_prior(value: Any) -> PartitionPrior:
    """Read the `partition_prior` parameter: a float is the probability of a split."""
    if isinstance(value, PartitionPrior):
        return value
    if is_paper(value):
        return PAPER
    if isinstance(value, str):
        raise ValueError(
            f"partition_prior must be a number between 0 and 1, 'paper' or a PartitionPrior; got {short_repr(value)}."
        )
    return PartitionPrior(split=check_real("partition_prior", value, low=0, high=1))
