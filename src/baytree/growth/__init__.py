"""From rows to trees: the settings, the encoding of columns, the call of the compiled core, what it answers."""

from ._encode import encode_rows as encode_rows
from ._folds import folds_of as folds_of
from ._folds import some_folds_of as some_folds_of
from ._forest import Plan as Plan
from ._forest import grow_forest as grow_forest
from ._forest import in_forest_units as in_forest_units
from ._forest import node_priors as node_priors
from ._forest import rows_in_trees as rows_in_trees
from ._grow import explore_space as explore_space
from ._grow import grow_tree as grow_tree
from ._grow import list_partitions as list_partitions
from ._in_any_order import in_any_order as in_any_order
from ._monotonic import put_in_order as put_in_order
from ._monotonic import read_monotonic as read_monotonic
from ._settings import Engine as Engine
from ._settings import Growth as Growth
from ._settings import Search as Search
from ._update import update_tree as update_tree
