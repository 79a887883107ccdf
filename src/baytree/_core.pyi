"""The compiled core of baytree."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

def thresholds_between(
    lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    round_numbers: bool,
) -> object:
    """The threshold between each two values that are neighbours."""

class Columns:
    """The columns of a table as integer codes."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    def codes(self, column: int) -> object:
        """
        The rank of each row's value among the distinct values of a column, or its bin.
        """

    def bins(self, column: int) -> tuple:
        """
        The lowest and the highest value of each quantile bin; empty where there are none.
        """

def scan(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)], n_threads: int
) -> tuple:
    """
    The sum of the bits of each column modulo 2**64, its lowest and highest number, and whether all are integers.
    """

def encode(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    is_categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_bins: int,
    max_bins: int,
    keep_values: bool,
    n_threads: int,
    weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None = None,
) -> Columns:
    """
    Encode a float64 matrix without infinite values; NaN is a missing value. max_bins is 0 where every value has a code.

    Quantile bins count weights.
    The columns keep a view of the matrix: it must not change as long as they are in use.
    """

def encode_sparse(
    n_rows: int,
    value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    is_categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_bins: int,
    max_bins: int,
    keep_values: bool,
    n_threads: int,
    weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None = None,
) -> Columns:
    """Encode a matrix by column (compressed sparse columns)."""

class PartitionPrior:
    """Prior of the partitions of a node."""

    def __init__(
        self,
        split: float,
        by_depth: bool,
        by_distance: bool,
        subsets: bool,
        proper: bool,
        by_column: bool,
        feature_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...

class Oblique:
    """Splits along hyperplanes of several features."""

    def __init__(self, share: float, charge: float, effort: HyperplaneEffort | None = None) -> None: ...

class HyperplaneEffort:
    """How much work the search for a hyperplane is."""

    def __init__(
        self,
        sizes: Sequence[int],
        few_rows: int,
        many_rows: int,
        most_responses: int,
        n_refits: int,
        n_rounds: int,
        n_shakes: int,
        round_off: bool,
        n_values: int,
        fit_few: bool,
    ) -> None: ...

class PathRules:
    """Which columns may stand together on a path."""

    def __init__(self, n_features: int, sets: Sequence[Sequence[int]]) -> None: ...

class Rules:
    """What the nodes of a tree may do."""

    def __init__(
        self,
        max_depth: int | None,
        min_samples_leaf: int,
        min_weight_fraction_leaf: float,
        monotonic: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        paths: PathRules | None,
    ) -> None: ...

class Settings:
    """
    Everything but the data and the outcome's prior that decides on a tree.
    """

    def __init__(
        self, prior: PartitionPrior, rules: Rules, smoothing: float, round_thresholds: bool, oblique: Oblique
    ) -> None: ...
    def draw_features(self, seed: int, tree: int, n_features: int) -> None:
        """
        Let each node of the tree with this number use so many features, drawn for it alone.
        """

    def set_row_factor(self, planned: float, of_tree: float) -> None:
        """Tell what rows count beyond their weights, without being more."""

class Lookahead:
    """How far a node looks before it chooses."""

    def __init__(self, levels: int, width: int, per_feature: int) -> None: ...

class ForestPlan:
    """Which trees a forest has, and how they differ from each other."""

    def __init__(
        self, seed: int, first: int, n_trees: int, resample: bool, whole: bool, factor: float, n_features: int
    ) -> None: ...

class Budget:
    """How much of the tree space is explored."""

    def __init__(self, max_nodes: int, seconds: float | None, root_only: bool, progress: object | None) -> None: ...

class Outcome:
    """The outcomes of the rows of a table."""

class CategoricalCounts(Outcome):
    """Class labels, each counted a whole number of times."""

    def __init__(
        self,
        y: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_classes: int,
    ) -> None: ...

class CategoricalWeights(Outcome):
    """Class labels with real weights."""

    def __init__(
        self,
        y: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_classes: int,
    ) -> None: ...

class Normal(Outcome):
    """Real outcomes, shifted and scaled to mean 0 and variance 1."""

    def __init__(
        self,
        y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    ) -> None: ...

class FixedPointNormal(Outcome):
    """Real outcomes, in whole numbers."""

    def __init__(
        self,
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        weight_unit: float,
        scale: Sequence[float],
        centre: int,
    ) -> None: ...

class GammaRate(Outcome):
    """Events over an exposure, with a Gamma prior: counts, durations."""

    def __init__(
        self,
        events: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        exposure: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        log_factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        predicts_duration: bool = False,
    ) -> None: ...

class BetaRate(Outcome):
    """Events over an exposure, with a Beta prior: overdispersed counts."""

    def __init__(
        self,
        events: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        exposure: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        log_factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        predicts_duration: bool = False,
    ) -> None: ...

class FixedPointGammaRate(Outcome):
    """Events over an exposure, in whole numbers."""

    def __init__(
        self,
        events: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        exposure: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        log_factor: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        weight_unit: float,
        scale: Sequence[float],
        predicts_duration: bool = False,
    ) -> None: ...

class FixedPointBetaRate(Outcome):
    """Events over an exposure, in whole numbers."""

    def __init__(
        self,
        events: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        exposure: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        log_factor: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        weight_unit: float,
        scale: Sequence[float],
        predicts_duration: bool = False,
    ) -> None: ...

class Custom(Outcome):
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

def grow(
    columns: Columns,
    outcome: Outcome,
    outcome_prior: Sequence[float],
    settings: Settings,
    lookahead: Lookahead,
    subtree_rows: int,
    n_threads: int,
) -> dict:
    """Grow the tree; returns one array per field of its nodes."""

def refit(
    columns: Columns,
    outcome: Outcome,
    outcome_prior: Sequence[float],
    settings: Settings,
    structure: TreeStructure,
    subtree_rows: int,
    n_threads: int,
) -> dict:
    """
    The nodes that a tree structure has on the rows of a table, and those that it lets grow; one array per field.
    """

def tree_space(
    columns: Columns,
    outcome: Outcome,
    outcome_prior: Sequence[float],
    settings: Settings,
    budget: Budget,
    subtree_rows: int,
    n_threads: int,
) -> dict:
    """
    Explore the tree space; returns one array per field of its nodes and of its choices.
    """

def partition_space(columns: Columns, outcome: Outcome, outcome_prior: Sequence[float], settings: Settings) -> dict:
    """List every partition of the rows."""

def grow_forest(
    columns: Columns,
    outcome: Outcome,
    outcome_prior: Sequence[float],
    settings: Settings,
    lookahead: Lookahead,
    plan: ForestPlan,
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    subtree_rows: int,
    n_threads: int,
) -> dict:
    """
    Grow the trees of a forest; returns one array per field of their nodes.
    """

def forest_weights(
    columns: Columns,
    outcome: Outcome,
    settings: Settings,
    plan: ForestPlan,
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple:
    """
    How often each of some rows counts in each tree, with all that are equal to it, and the weight of these together.
    """

class LeafSearch:
    """How a tree with models in its leaves is searched."""

    def __init__(self, width: int, few_rows: int, n_rounds: int, extrapolate: bool) -> None: ...

class LeafModels:
    """Models for the leaves of a table, with terms that evidence chooses."""

    def fit(
        self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> dict:
        """The model of some rows; one array per field."""

def linear_leaves(
    columns: Columns,
    feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    category: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    direction: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    most_terms: int,
    y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    prior: Sequence[float],
) -> LeafModels:
    """Linear models of y, which is shifted and scaled as for Normal."""

def logistic_leaves(
    columns: Columns,
    feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    category: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    direction: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    most_terms: int,
    classes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    prior: Sequence[float],
) -> LeafModels:
    """
    Logistic models of class codes, with the parameters of a Dirichlet prior.
    """

def grow_leaf_models(
    columns: Columns,
    outcome: Outcome,
    outcome_prior: Sequence[float],
    settings: Settings,
    models: LeafModels,
    search: LeafSearch,
    n_threads: int,
) -> tuple:
    """
    Grow a tree with models in its leaves; returns one array per field of its nodes, and of their models.
    """

class Levels:
    """Grows a tree from the sums of its open nodes."""

    @overload
    def grow(
        self,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        sums: Annotated[
            NDArray[numpy.int64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
        ],
        low: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        high: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> None:
        """Split the first open nodes, of which these are the sums."""

    @overload
    def grow(
        self,
        weights: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)] | None,
        n_threads: int,
    ) -> None: ...
    @overload
    def grow(
        self,
        weights: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)] | None,
        n_threads: int,
    ) -> None:
        """
        Split the first open nodes, of which this is what the rows of each class weigh.
        """

    @property
    def n_codes(self) -> int: ...
    @property
    def open(self) -> object:
        """The nodes whose sums are wanted, in this order."""

    def routes(self) -> dict:
        """How rows go down the tree so far, by their codes."""

    def tree(self, n_features: int) -> dict:
        """One array per field of the nodes."""

def levels(
    columns: Columns,
    outcome: Outcome,
    outcome_prior: Sequence[float],
    settings: Settings,
    unit: float,
    structure: TreeStructure | None = None,
) -> Levels:
    """
    Start to grow a tree from histograms of its open nodes; or to score a tree structure.
    """

def columns_without_rows(
    bins: Sequence[
        tuple[
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ]
    ],
    has_missing: Sequence[bool],
    is_categorical: Sequence[bool],
    keep_values: bool,
) -> Columns:
    """Columns that are known by their bins alone."""

def interval_counts(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    columns: Sequence[int],
    ends: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]],
    most_distinct: int,
    weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    n_threads: int,
) -> list:
    """
    Values of some columns between ends: their number or weight, the lowest, and all where they are few.
    """

def values_in_intervals(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    columns: Sequence[int],
    ends: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]],
    chosen: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)]],
    weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    n_threads: int,
) -> list:
    """
    For some columns: the values that lie in chosen intervals, and the weights of their rows.
    """

def hash_sums(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)]) -> object:
    """The sum of the hashes of the values of each column, modulo 2**64."""

def row_hashes(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)], n_threads: int
) -> object:
    """The sum of the hashes of the values of each row, modulo 2**64."""

def encode_part(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    highs: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]],
    has_missing: Sequence[bool],
    is_left_out: Sequence[bool],
    two_bytes: bool,
    n_threads: int,
) -> object:
    """
    The bin of each value, those of a row side by side; NaN is behind the last. A bin up to infinity takes all.
    """

class Routes:
    """
    How rows go down a tree by their codes, and which of its nodes are open.
    """

    def __init__(
        self,
        feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        lower: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        upper: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        goes_lower: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        opened: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_open: int,
    ) -> None: ...

@overload
def open_nodes(
    codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    routes: Routes,
    n_threads: int,
) -> object: ...
@overload
def open_nodes(
    codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    routes: Routes,
    n_threads: int,
) -> object:
    """The open node that each row is in, or -1."""

@overload
def tally_classes(
    codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    routes: Routes,
    classes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    n_classes: int,
    n_threads: int,
) -> tuple: ...
@overload
def tally_classes(
    codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    routes: Routes,
    classes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    n_classes: int,
    n_threads: int,
) -> tuple:
    """
    What the rows of the open nodes weigh by code and class and, where weights are given, how many they are.
    """

@overload
def tally_numbers(
    codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    routes: Routes,
    numbers: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    n_threads: int,
) -> tuple: ...
@overload
def tally_numbers(
    codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    routes: Routes,
    numbers: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    n_threads: int,
) -> tuple:
    """Rows, sums and extremes of the open nodes, by code."""

@overload
def columns_of_codes(
    codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    bins: Sequence[
        tuple[
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ]
    ],
    has_missing: Sequence[bool],
    is_categorical: Sequence[bool],
    keep_values: bool,
) -> Columns: ...
@overload
def columns_of_codes(
    codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    bins: Sequence[
        tuple[
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ]
    ],
    has_missing: Sequence[bool],
    is_categorical: Sequence[bool],
    keep_values: bool,
) -> Columns:
    """Columns whose codes are known; they keep a view of them."""

def add_wide(
    into: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")],
    other: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu", writable=False)],
) -> None:
    """Add whole numbers of 128 bits, halves side by side."""

class TreeStructure:
    """A tree whose splits are given, in depth-first order."""

    def __init__(
        self,
        children_left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        children_right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        missing_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        unseen_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        category_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category_goes_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        hyperplane_feature: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_coefficient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_missing_value: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        grow: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        forbidden_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        forbidden: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_features: int,
    ) -> None: ...

class ForestRouter:
    """Routes rows down all trees of a forest."""

    def __init__(
        self,
        children_left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        children_right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        missing_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        unseen_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        category_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category_goes_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        hyperplane_feature: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_coefficient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_missing_value: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        tree_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_features: int,
    ) -> None: ...
    def mean(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_threads: int,
    ) -> tuple:
        """
        What the trees predict for every row, on average, and whether no value is infinite.

        `columns` as in `Router.route`.
        """

    def leaves(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_threads: int,
    ) -> tuple:
        """
        The leaf of every row in every tree, numbered throughout the forest, and whether no value is infinite.

        `columns` as in `Router.route`.
        """

class Shapley:
    """Path-dependent Shapley values of the trees of a graph."""

    def __init__(
        self,
        children_left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        children_right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        missing_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        unseen_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        category_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category_goes_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        hyperplane_feature: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_coefficient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_missing_value: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        choice_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        leaf_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        choice_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        left_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_features: int,
    ) -> None: ...
    def contributions(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        value: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        max_sets: int,
        n_pairs: int,
        stream: int,
        n_threads: int,
    ) -> tuple:
        """
        Values and their variances by row, feature and number, and the base by row and number.

        `value` is by row (or 1 for all rows), node and number. Values are exact, with variance 0, where a row needs at
        most `max_sets` sets of features; otherwise `n_pairs` pairs of orders are drawn from a stream of numbers.
        """

class Router:
    """Routes rows down a tree; its arrays are checked and copied once."""

    def __init__(
        self,
        children_left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        children_right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        missing_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        unseen_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        category_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category_goes_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        hyperplane_feature: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_coefficient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_missing_value: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_features: int,
    ) -> None: ...
    def route(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_threads: int,
    ) -> tuple:
        """
        The leaf of every row, and whether no value is infinite.

        `columns` has the column of X that holds each feature,
        -1 for those that X does not hold and the tree does not use;
        None: feature f is in column f.
        """

    def count_missing(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_threads: int,
    ) -> object:
        """
        How many rows come to each node without a value of its feature.

        `columns` as in `route`.
        """

class SpaceRouter:
    """Routes rows down all trees of a tree space."""

    def __init__(
        self,
        children_left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        children_right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        missing_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        unseen_go_to_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        category_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        category_goes_left: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        hyperplane_feature: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_coefficient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hyperplane_missing_value: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        choice_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        leaf_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        choice_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_features: int,
    ) -> None: ...
    def weigh(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        n_threads: int,
    ) -> tuple:
        """
        How probably each row ends in each node, a sparse matrix by row: start, node, weight.

        `columns` as in `Router.route`.
        """
