"""Fitted results: a tree, a tree space or a forest with its outcome, its schema, its classes and what it was fitted on.

Estimators hold one; explanations, exports, plots, pages and files read nothing else.
"""

from ._forest import FittedForest as FittedForest
from ._trees import MISSING as MISSING
from ._trees import Decisions as Decisions
from ._trees import FittedOn as FittedOn
from ._trees import FittedSpace as FittedSpace
from ._trees import FittedTree as FittedTree
from ._trees import Summary as Summary
from ._trees import class_outcome as class_outcome
from ._trees import distribution_of as distribution_of
from ._trees import in_order as in_order
from ._trees import real_outcome as real_outcome

Fitted = FittedTree | FittedSpace | FittedForest
