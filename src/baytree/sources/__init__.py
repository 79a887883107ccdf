"""Sources of the rows of a fit: one interface, and a module for each kind of source."""

from ._column_specs import KINDS as KINDS
from ._column_specs import TableSpec as TableSpec
from ._frames import eager as eager
from ._frames import frames_of as frames_of
from ._interrupts import raise_remembered_interrupt as raise_remembered_interrupt
from ._interrupts import remember_interrupts as remember_interrupts
from ._memory import MemorySource as MemorySource
from ._memory import read_target as read_target
from ._open import SourceKind as SourceKind
from ._open import kind_of as kind_of
from ._open import open_source as open_source
from ._open import predict_dask_array as predict_dask_array
from ._open import predict_spark as predict_spark
from ._open import read_dataset as read_dataset
from ._source import DEFAULT_BINS as DEFAULT_BINS
from ._source import Capability as Capability
from ._source import EncodingSource as EncodingSource
from ._source import RemoteSource as RemoteSource
from ._source import Source as Source
from ._source import TableSummary as TableSummary
from ._source import check_capabilities as check_capabilities
from ._targets import ClassReader as ClassReader
from ._targets import NumberReader as NumberReader
from ._targets import TargetPlan as TargetPlan
from ._targets import TargetReader as TargetReader
from ._targets import refuse_extras as refuse_extras
