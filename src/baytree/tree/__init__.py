"""Trees, tree spaces and forests as one store of arrays, and the kinds of split that they are made of."""

from ._best_trees import Selection as Selection
from ._best_trees import best_trees as best_trees
from ._best_trees import draw_trees as draw_trees
from ._choices import NO_CHILD as NO_CHILD
from ._choices import NO_SPLIT as NO_SPLIT
from ._choices import RAGGED as RAGGED
from ._choices import UNDEFINED as UNDEFINED
from ._choices import take_splits as take_splits
from ._evidence import Evidence as Evidence
from ._node_arrays import depth_of as depth_of
from ._node_arrays import depth_of_graph as depth_of_graph
from ._node_arrays import sum_from_leaves as sum_from_leaves
from ._overlap import corresponding_nodes as corresponding_nodes
from ._overlap import divides_alike as divides_alike
from ._overlap import goes_left as goes_left
from ._pruning import most_probable_pruning as most_probable_pruning
from ._pruning import prune_to_leaf_count as prune_to_leaf_count
from ._splits import CategorySet as CategorySet
from ._splits import Hyperplane as Hyperplane
from ._splits import PresentMissing as PresentMissing
from ._splits import Split as Split
from ._splits import SplitKind as SplitKind
from ._splits import Threshold as Threshold
from ._store import TreeStore as TreeStore
from ._store import concatenate_stores as concatenate_stores
from ._unseen import both_ways as both_ways
