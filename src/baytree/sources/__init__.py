"""Where the rows of a fit are: one protocol, one file for each kind of place."""

from ._batches import read_dataset as read_dataset
from ._column_specs import WORDS as WORDS
from ._column_specs import TableSpec as TableSpec
from ._ctrl_c import ctrl_c_is_remembered as ctrl_c_is_remembered
from ._ctrl_c import raise_if_asked as raise_if_asked
from ._frames import eager as eager
from ._frames import frames_of as frames_of
from ._kinds import SourceKind as SourceKind
from ._kinds import kind_of as kind_of
from ._memory import MemorySource as MemorySource
from ._memory import read_target as read_target
from ._open import open_source as open_source
from ._open import predict_dask_array as predict_dask_array
from ._source import DEFAULT_BINS as DEFAULT_BINS
from ._source import EncodingSource as EncodingSource
from ._source import Need as Need
from ._source import RemoteSource as RemoteSource
from ._source import Source as Source
from ._source import TableSummary as TableSummary
from ._source import refuse_needs as refuse_needs
from ._targets import ClassReader as ClassReader
from ._targets import NumberReader as NumberReader
from ._targets import TargetPlan as TargetPlan
from ._targets import TargetReader as TargetReader
from ._targets import refuse_extras as refuse_extras
