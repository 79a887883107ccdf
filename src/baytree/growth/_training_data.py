"""What a fit asks of its rows, wherever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .._typing import FloatArray, IntArray
from ..outcomes import Family, Outcome, Target
from ..table import Schema
from ..tree import TreeStore
from ._settings import Growth

if TYPE_CHECKING:
    from ._table_data import TableData


class LeafSums(NamedTuple):
    """What the outcomes of some rows add up to in each leaf of a tree, and how many rows these are."""

    statistics: FloatArray  # by leaf, in the order of the nodes
    n_rows: IntArray


class TrainingData(Protocol):
    """Rows whose columns and targets are settled: trees can be grown on them, and given trees scored."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def growth(self) -> Growth:
        """How trees are grown."""

    def __len__(self) -> int:
        """How many rows these are; of half of a source, how many it has as a whole."""

    def grow(self, outcome: Outcome, *, factors: bool = True) -> TreeStore:
        """The tree of an outcome; `factors`: with the logs of factors that no partition changes."""

    def score(self, tree: TreeStore, outcome: Outcome) -> TreeStore:
        """A given tree with the posteriors, priors and odds that these rows give its nodes."""

    def target_for_prior(self, family: Family, prior: Any) -> Target:
        """A target that has the same prior as the rows; wrong values are refused with their row."""

    def leaf_sums(self, tree: TreeStore, outcome: Outcome) -> LeafSums:
        """What the rows add up to in the leaves of a tree."""

    def halves(self, outcome: Outcome) -> tuple[TrainingData, TrainingData]:
        """Two halves of the rows, chosen by what is in them."""

    def sample(self, outcome: Outcome) -> TableData:
        """The rows, or a few thousand of them in memory where these stand for all, chosen by what is in them."""

    def size(self) -> tuple[tuple[int, int], float, str]:
        """Rows and columns, the total weight of the rows, and a hash of the table."""
