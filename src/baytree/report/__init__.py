"""A fitted model as one HTML page that works offline and in print."""

from ._figures import metrics_of as metrics_of
from ._held_out import Dataset as Dataset
from ._held_out import Fold as Fold
from ._held_out import HeldOutPredictions as HeldOutPredictions
from ._held_out import align_probabilities as align_probabilities
from ._held_out import folds_of as folds_of
from ._held_out import merge_folds as merge_folds
from ._write import write as write

__all__ = ["write"]
