"""The compiled core of baytree."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

class Columns:
    """The columns of a table as integer codes."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    def codes(self, column: int) -> object:
        """The rank of each row's value among the distinct values of a column."""

def encode(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    is_categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_bins: int,
    keep_values: bool,
    n_threads: int,
) -> Columns:
    """Encode a float64 matrix without infinite values; NaN is a gap."""

def encode_sparse(
    n_rows: int,
    value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    is_categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_bins: int,
    keep_values: bool,
    n_threads: int,
) -> Columns:
    """The same of a matrix by column (compressed sparse columns)."""

class PartitionPrior:
    """Prior of the partitions of a node."""

    def __init__(
        self,
        split: float,
        by_depth: bool,
        by_distance: bool,
        subsets: bool,
        proper: bool,
        feature_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...

class Limits:
    """Partitions outside of these do not exist."""

    def __init__(self, max_depth: int | None, min_samples_leaf: int, min_weight_fraction_leaf: float) -> None: ...

class Oblique:
    """Cuts along hyperplanes of several features."""

    def __init__(self, share: float, charge: float) -> None: ...

class Settings:
    """
    Everything but the data and the outcome's prior that decides on a tree.
    """

    def __init__(
        self,
        prior: PartitionPrior,
        limits: Limits,
        smoothing: float,
        monotonic: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        oblique: Oblique,
    ) -> None: ...

class Lookahead:
    """How far a node looks before it chooses."""

    def __init__(self, levels: int, width: int, per_feature: int) -> None: ...

class Budget:
    """How much of the tree space is explored."""

    def __init__(self, max_nodes: int, seconds: float | None, root_only: bool, progress: object | None) -> None: ...

class CategoricalCounts:
    """Class labels, each counted a whole number of times."""

    def __init__(
        self,
        y: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_classes: int,
    ) -> None: ...

@overload
def grow(
    columns: Columns,
    outcome: CategoricalCounts,
    outcome_prior: Sequence[float],
    settings: Settings,
    lookahead: Lookahead,
    subtree_rows: int,
    n_threads: int,
) -> dict: ...
@overload
def grow(
    columns: Columns,
    outcome: CategoricalWeights,
    outcome_prior: Sequence[float],
    settings: Settings,
    lookahead: Lookahead,
    subtree_rows: int,
    n_threads: int,
) -> dict: ...
@overload
def grow(
    columns: Columns,
    outcome: Normal,
    outcome_prior: Sequence[float],
    settings: Settings,
    lookahead: Lookahead,
    subtree_rows: int,
    n_threads: int,
) -> dict: ...
@overload
def grow(
    columns: Columns,
    outcome: GammaRate,
    outcome_prior: Sequence[float],
    settings: Settings,
    lookahead: Lookahead,
    subtree_rows: int,
    n_threads: int,
) -> dict: ...
@overload
def grow(
    columns: Columns,
    outcome: Custom,
    outcome_prior: Sequence[float],
    settings: Settings,
    lookahead: Lookahead,
    subtree_rows: int,
    n_threads: int,
) -> dict:
    """Grow the tree; returns one array per field of its nodes."""

@overload
def tree_space(
    columns: Columns,
    outcome: CategoricalCounts,
    outcome_prior: Sequence[float],
    settings: Settings,
    budget: Budget,
    subtree_rows: int,
    n_threads: int,
) -> dict: ...
@overload
def tree_space(
    columns: Columns,
    outcome: CategoricalWeights,
    outcome_prior: Sequence[float],
    settings: Settings,
    budget: Budget,
    subtree_rows: int,
    n_threads: int,
) -> dict: ...
@overload
def tree_space(
    columns: Columns,
    outcome: Normal,
    outcome_prior: Sequence[float],
    settings: Settings,
    budget: Budget,
    subtree_rows: int,
    n_threads: int,
) -> dict: ...
@overload
def tree_space(
    columns: Columns,
    outcome: GammaRate,
    outcome_prior: Sequence[float],
    settings: Settings,
    budget: Budget,
    subtree_rows: int,
    n_threads: int,
) -> dict: ...
@overload
def tree_space(
    columns: Columns,
    outcome: Custom,
    outcome_prior: Sequence[float],
    settings: Settings,
    budget: Budget,
    subtree_rows: int,
    n_threads: int,
) -> dict:
    """
    Explore the tree space; returns one array per field of its nodes and of its choices.
    """

@overload
def partition_space(
    columns: Columns, outcome: CategoricalCounts, outcome_prior: Sequence[float], settings: Settings
) -> dict: ...
@overload
def partition_space(
    columns: Columns, outcome: CategoricalWeights, outcome_prior: Sequence[float], settings: Settings
) -> dict: ...
@overload
def partition_space(columns: Columns, outcome: Normal, outcome_prior: Sequence[float], settings: Settings) -> dict: ...
@overload
def partition_space(
    columns: Columns, outcome: GammaRate, outcome_prior: Sequence[float], settings: Settings
) -> dict: ...
@overload
def partition_space(columns: Columns, outcome: Custom, outcome_prior: Sequence[float], settings: Settings) -> dict:
    """List every partition of the rows."""

class CategoricalWeights:
    """Class labels with real weights."""

    def __init__(
        self,
        y: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_classes: int,
    ) -> None: ...

class Normal:
    """Real outcomes, shifted and scaled to mean 0 and variance 1."""

    def __init__(
        self,
        y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    ) -> None: ...

class GammaRate:
    """Events over an exposure: counts, durations."""

    def __init__(
        self,
        events: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        exposure: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        log_factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        predicts_duration: bool,
    ) -> None: ...

class Custom:
    """An outcome whose likelihood and update are Python functions."""

    def __init__(
        self,
        statistics: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        log_marginal: object,
        update: object,
        mean: object,
    ) -> None: ...

def route(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    lower: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    upper: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    gaps_lower: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    unseen_lower: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    level_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    level: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    level_lower: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    oblique_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    oblique_feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    oblique_coefficient: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    oblique_gap_value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple:
    """The leaf of every row, and whether no value is infinite."""

def weigh_leaves(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    lower: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    upper: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    gaps_lower: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    unseen_lower: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    level_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    level: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    level_lower: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    oblique_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    oblique_feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    oblique_coefficient: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    oblique_gap_value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    choice_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    leaf_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    choice_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple:
    """
    How probably each row ends in each node of a tree space: a sparse matrix by row (start, node, weight).
    """
