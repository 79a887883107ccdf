"""Everything but the data that decides which tree is grown, and how."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _core
from .._typing import FloatArray, IntArray
from ..priors import PartitionPrior


@dataclass(frozen=True)
class Search:
    """How much work the search for the best hyperplane of a node is."""

    sizes: tuple[int, ...] = (2, 3, 4, 6, 8, 12, 20)  # numbers of features
    few_rows: int = 4096  # that a large node is searched on at first
    many_rows: int = 16384  # and then
    most_responses: int = 8  # orders of the outcome that directions are fitted to
    n_refits: int = 3  # fits of the direction to the rows nearby
    n_rounds: int = 12  # of changes of one coefficient after the other
    n_shakes: int = 24  # other directions to climb from
    round_off: bool = True  # coefficients of few digits
    n_values: int = 256  # of a feature that tell which are far out
    fit_few: bool = False  # directions are fitted to few rows, and nothing but the threshold to more

    def to_core(self) -> _core.HyperplaneEffort:
        """The same in the compiled core's form."""
        return _core.HyperplaneEffort(
            list(self.sizes),
            self.few_rows,
            self.many_rows,
            self.most_responses,
            self.n_refits,
            self.n_rounds,
            self.n_shakes,
            self.round_off,
            self.n_values,
            self.fit_few,
        )


@dataclass(frozen=True)
class Engine:
    """How the compiled core works; no tree depends on it, but for the widths of searches that are not exhaustive."""

    subtree_rows: int = 32768  # nodes of up to so many rows are grown as subtrees, on sorted lists
    n_bins: int = 256  # larger ones on histograms of so many bins
    oblique_share: float = 0.5  # of the split that hyperplanes have; docs/oblique.md compares
    oblique_charge: float = 1.0  # how much of the log of their number each hyperplane pays
    search: Search = field(default_factory=Search)  # for hyperplanes
    forest_factor: float | None = None  # on the weights of rows while a tree of a forest grows; None: the outcome's
    forest_whole: bool = True  # rows count whole numbers of times in the trees of a forest
    lookahead_width: int = 8  # features of a node that look-ahead follows
    lookahead_per_feature: int = 1  # by so many best partitions, and by a split in the middle


@dataclass(frozen=True)
class Growth:
    """What the user set."""

    partition_prior: PartitionPrior
    feature_weight: FloatArray
    smoothing: float
    max_depth: int | None
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    monotonic: IntArray | None
    n_threads: int
    max_leaf_nodes: int | None = None
    lookahead: int = 0
    oblique: bool = False
    max_bins: int | None = None  # quantile bins of a column of numbers; None: every value is told apart
    many_trees: bool = False  # a tree space is explored
    engine: Engine = field(default_factory=Engine)

    @property
    def in_any_order(self) -> bool:
        """Whether sums that depend on the order of rows would decide: hyperplanes, look-ahead, tree spaces."""
        return self.oblique or self.lookahead > 0 or self.many_trees

    def settings(self) -> _core.Settings:
        """The same in the compiled core's form."""
        monotonic = None if self.monotonic is None else self.monotonic.astype(np.int8)
        rules = _core.Rules(self.max_depth, self.min_samples_leaf, self.min_weight_fraction_leaf, monotonic)
        engine = self.engine
        share = engine.oblique_share if self.oblique else 0.0
        oblique = _core.Oblique(share, engine.oblique_charge, engine.search.to_core())
        prior = self.partition_prior.to_core(self.feature_weight)
        return _core.Settings(prior, rules, self.smoothing, oblique)

    def look_ahead(self) -> _core.Lookahead:
        """The look-ahead in the compiled core's form."""
        return _core.Lookahead(self.lookahead, self.engine.lookahead_width, self.engine.lookahead_per_feature)
