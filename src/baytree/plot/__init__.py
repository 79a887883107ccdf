"""Pictures of trees and of what they know. Needs matplotlib: ``pip install 'baytree[plot]'``."""

from . import _axes as _axes  # first: it says what is missing where matplotlib is
from ._calibration import calibration as calibration
from ._confusion import confusion as confusion
from ._dependence import dependence as dependence
from ._features import feature_posterior as feature_posterior
from ._forest import forest as forest
from ._intervals import intervals as intervals
from ._leaves import leaves as leaves
from ._partitions import partition_posterior as partition_posterior
from ._regression import regression as regression
from ._roc import roc as roc
from ._sizes import sizes as sizes
from ._stability import stability as stability
from ._subgroups import subgroups as subgroups
from ._surface import surface as surface
from ._trees import tree as tree
from ._trees import trees as trees
from ._uncertainty import uncertainty as uncertainty

__all__ = [
    "calibration",
    "confusion",
    "dependence",
    "feature_posterior",
    "forest",
    "intervals",
    "leaves",
    "partition_posterior",
    "regression",
    "roc",
    "sizes",
    "stability",
    "subgroups",
    "surface",
    "tree",
    "trees",
    "uncertainty",
]
