"""From rows to trees: the settings, the encoding of columns, the call of the compiled core, what it answers."""

from ._elsewhere import ColumnBins as ColumnBins
from ._elsewhere import Elsewhere as Elsewhere
from ._elsewhere import Routes as Routes
from ._elsewhere import Sums as Sums
from ._elsewhere import SumSource as SumSource
from ._elsewhere import Tell as Tell
from ._encode import bins_of_columns as bins_of_columns
from ._encode import encode_rows as encode_rows
from ._folds import folds_of as folds_of
from ._folds import some_folds_of as some_folds_of
from ._grow import explore_space as explore_space
from ._grow import grow_tree as grow_tree
from ._grow import list_partitions as list_partitions
from ._in_any_order import in_any_order as in_any_order
from ._monotonic import put_in_order as put_in_order
from ._monotonic import read_monotonic as read_monotonic
from ._sample import MODULUS as MODULUS
from ._sample import NUMBER_MODULUS as NUMBER_MODULUS
from ._sample import TIMES as TIMES
from ._sample import Sample as Sample
from ._sample import column_factor as column_factor
from ._sample import n_shares as n_shares
from ._sample import number_factor as number_factor
from ._settings import Engine as Engine
from ._settings import Growth as Growth
from ._update import update_tree as update_tree
