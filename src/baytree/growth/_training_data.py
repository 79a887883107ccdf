"""The interface between a fit and its training rows, in memory or at a source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .._typing import FloatArray, IntArray
from ..outcomes import Family, Outcome, Target
from ..table import Schema
from ..tree import Outline, TreeStore
from ._settings import Growth

if TYPE_CHECKING:
    from ._binning import ColumnBins
    from ._table_data import TableData


class LeafSums(NamedTuple):
    """Sums of the statistics of rows in each leaf of a tree, and the number of rows."""

    statistics: FloatArray  # one row per leaf, in the order of the nodes
    n_rows: IntArray


class TrainingData(Protocol):
    """Rows with a final schema and target, to grow trees on and to score given trees."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def growth(self) -> Growth:
        """The settings of growth."""

    def numbers_of_columns(self) -> list[tuple[float, float, bool]]:
        """The lowest and the highest number of each column, and whether all are integers; NaN for no number."""

    def __len__(self) -> int:
        """The number of rows; for half of a source, the number of rows of the source."""

    def total_weight(self) -> float:
        """The sum of the weights."""

    @property
    def bins(self) -> tuple[ColumnBins, ...]:
        """The bins of the columns."""

    def with_growth(self, growth: Growth) -> TrainingData:
        """Return the encoded rows with other settings, which do not change how columns are encoded."""

    def grow(self, outcome: Outcome, *, factors: bool = True) -> TreeStore:
        """Grow the tree of an outcome; `factors` includes the logs of factors that no split changes."""

    def prunings(self, outcome: Outcome) -> TreeStore:
        """The tree space of the tree of an outcome and its prunings."""

    def score(self, tree: TreeStore, outcome: Outcome) -> TreeStore:
        """Compute the posteriors, priors and odds of the nodes of a given tree from these rows."""

    def grow_below(self, outline: Outline, outcome: Outcome) -> TreeStore:
        """Score an outline on these rows, and grow the tree where the outline asks for it."""

    def count_missing(self, tree: TreeStore) -> TreeStore:
        """Count the rows that lack the feature of each split; None where that takes another pass over a source."""

    def target_for_prior(self, family: Family, prior: Any) -> Target:
        """A target that leads to the same prior as the rows; invalid values raise an error that names their row."""

    def leaf_sums(self, tree: TreeStore, outcome: Outcome) -> LeafSums:
        """The sums of statistics in the leaves of a tree."""

    def halves(self, outcome: Outcome) -> tuple[TrainingData, TrainingData]:
        """Two halves of the rows, divided by hashes of their values."""

    def sample(self, outcome: Outcome) -> TableData:
        """The rows, or a few thousand of them in memory, chosen by hashes of their values."""

    def size(self) -> tuple[tuple[int, int], float, str]:
        """Rows and columns, the total weight of the rows, and a hash of the table."""
