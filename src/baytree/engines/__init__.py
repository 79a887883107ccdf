"""Fitting and prediction on any source of rows: frames, batches, Dask, databases."""

from ._describe import describe as describe
from ._fit import fit as fit
from ._predict import predict as predict

__all__ = ["describe", "fit", "predict"]
