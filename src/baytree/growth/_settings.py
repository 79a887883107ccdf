"""Settings of growth: all that decides which tree is grown, except the data."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _core
from .._typing import FloatArray, IntArray
from ..priors import PartitionPrior
from ._forced import ForcedTree
from ._interactions import ColumnSets


@dataclass(frozen=True)
class HyperplaneSearch:
    """The effort of the search for the best hyperplane of a node."""

    sizes: tuple[int, ...] = (2, 3, 4, 6, 8, 12, 20)  # numbers of features
    few_rows: int = 4096  # rows of a large node that the first search uses
    many_rows: int = 16384  # rows that the second search uses
    most_responses: int = 8  # orders of the outcome that directions are fitted to
    n_refits: int = 3  # fits of a direction to the rows near the hyperplane
    n_rounds: int = 12  # rounds of changing one coefficient after the other
    n_shakes: int = 24  # random directions from which the search starts again
    round_off: bool = True  # round coefficients to few digits
    n_values: int = 256  # values of a feature that are searched for outliers
    fit_few: bool = False  # fit directions to few rows, and only thresholds to more

    def to_core(self) -> _core.HyperplaneEffort:
        """Convert these settings for the compiled core."""
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
    """Settings of the compiled core; only those of searches that are not exhaustive can change a tree."""

    subtree_rows: int = 32768  # nodes of up to so many rows are grown as subtrees, on sorted lists
    n_bins: int = 256  # bins of the histograms of larger nodes
    oblique_share: float = 0.5  # share of the split prior that hyperplanes have; docs/oblique.md compares
    oblique_charge: float = 1.0  # multiplies the log of the number of hyperplanes in the prior of each
    search: HyperplaneSearch = field(default_factory=HyperplaneSearch)  # for hyperplanes
    forest_factor: float | None = None  # multiplies weights while a tree of a forest is grown; None: the outcome's
    forest_whole: bool = True  # the trees of a forest round weights to integers
    lookahead_width: int = 8  # features of a node that look-ahead follows
    lookahead_per_feature: int = 1  # best partitions that it follows for each, besides a split in the middle


@dataclass(frozen=True)
class LeafModelSettings:
    """Models in the leaves of a tree: how many terms one may have, and how far it may extrapolate."""

    max_terms: int = 10
    extrapolate: bool = False
    width: int = 5  # best splits of the outcome, and of the residual, that are scored with the models of both sides
    few_rows: int = 4096  # of a larger node that is searched on some of its rows
    n_rounds: int = 3  # of moving the best split to where the models of its two sides divide the rows

    def search(self) -> _core.LeafSearch:
        """Convert the settings of the search for the compiled core."""
        return _core.LeafSearch(self.width, self.few_rows, self.n_rounds, self.extrapolate)


@dataclass(frozen=True)
class Growth:
    """Settings of growth that follow from the parameters of an estimator."""

    partition_prior: PartitionPrior
    feature_weight: FloatArray
    smoothing: float
    max_depth: int | None
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    monotonic: IntArray | None
    n_threads: int
    interactions: ColumnSets | None = None  # columns that may stand on one path; None: all
    forced: ForcedTree | None = None  # what a tree begins with
    max_leaf_nodes: int | None = None
    lookahead: int = 0
    round_thresholds: bool = True  # thresholds of few digits, not midpoints
    oblique: bool = False
    max_bins: int | None = None  # quantile bins of a numeric column; None: one for each distinct value
    many_trees: bool = False  # explore a tree space
    leaf_models: LeafModelSettings | None = None  # None: constant leaves
    engine: Engine = field(default_factory=Engine)

    @property
    def needs_canonical_target(self) -> bool:
        """Whether rounding in sums over the rows could change the result: only plain trees are safe from it."""
        return self.oblique or self.lookahead > 0 or self.many_trees or self.leaf_models is not None

    def settings(self) -> _core.Settings:
        """Convert these settings for the compiled core."""
        monotonic = None if self.monotonic is None else self.monotonic.astype(np.int8)
        sets = self.interactions
        if sets is None and self.forced is not None and self.forced.forbids:  # rules of paths hold what is forbidden
            sets = (tuple(range(len(self.feature_weight))),)
        paths = None if sets is None else _core.PathRules(len(self.feature_weight), list(map(list, sets)))
        rules = _core.Rules(self.max_depth, self.min_samples_leaf, self.min_weight_fraction_leaf, monotonic, paths)
        engine = self.engine
        share = engine.oblique_share if self.oblique else 0.0
        oblique = _core.Oblique(share, engine.oblique_charge, engine.search.to_core())
        prior = self.partition_prior.to_core(self.feature_weight)
        return _core.Settings(prior, rules, self.smoothing, self.round_thresholds, oblique)

    def look_ahead(self) -> _core.Lookahead:
        """Convert the settings of look-ahead for the compiled core."""
        return _core.Lookahead(self.lookahead, self.engine.lookahead_width, self.engine.lookahead_per_feature)
