"""Trees and tree spaces as parallel arrays, and the kinds of split that they are made of."""

from ._arrays import NO_SPLIT as NO_SPLIT
from ._arrays import RAGGED as RAGGED
from ._arrays import RAGGED_NAMES as RAGGED_NAMES
from ._arrays import SplitArrays as SplitArrays
from ._arrays import joined as joined
from ._best_trees import Selection as Selection
from ._best_trees import best_trees as best_trees
from ._best_trees import draw_trees as draw_trees
from ._both_ways import as_space as as_space
from ._both_ways import both_ways as both_ways
from ._both_ways import nodes_by_depth as nodes_by_depth
from ._both_ways import side_by_side as side_by_side
from ._forest import Forest as Forest
from ._space import Space as Space
from ._splits import CategorySet as CategorySet
from ._splits import Hyperplane as Hyperplane
from ._splits import PresentMissing as PresentMissing
from ._splits import Split as Split
from ._splits import SplitKind as SplitKind
from ._splits import Threshold as Threshold
from ._tree import LEAF as LEAF
from ._tree import UNDEFINED as UNDEFINED
from ._tree import Tree as Tree
