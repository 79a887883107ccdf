"""Tables as they come: data frames, arrays and sparse matrices become rows of numbers and a schema."""

from ._frames import check_frame as check_frame
from ._frames import check_unique as check_unique
from ._merge import PartSchema as PartSchema
from ._rows import Rows as Rows
from ._schema import MAX_CATEGORIES as MAX_CATEGORIES
from ._schema import MOST_INTEGER as MOST_INTEGER
from ._schema import Column as Column
from ._schema import Kind as Kind
from ._schema import Schema as Schema
from ._schema import choose_categorical as choose_categorical
from ._schema import column_position as column_position
from ._schema import describe_column as describe_column
from ._schema import nearest_name as nearest_name
from ._schema import too_many_categories as too_many_categories
from ._subgroups import subgroup_masks as subgroup_masks
from ._tables import as_table as as_table
from ._tables import is_frame as is_frame
from ._tables import may_hold_text as may_hold_text
from ._values import UNSEEN as UNSEEN
