"""Facts about the training data of a model and the growth of a forest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from .._typing import FloatArray


@dataclass(frozen=True)
class FittedOn:
    """Facts about the training data of a model, and the date of the fit.

    Attributes
    ----------
    n_rows, n_columns
        Rows that count (those of weight zero do not) and columns.
    weight
        Total weight of the rows.
    fingerprint
        Hash of the table, 64 hexadecimal digits: equal tables have the same.
    date
        When it was fitted, UTC: ``2026-07-31T12:00:00Z``.
    version
        Version of baytree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> model.fitted_.fitted_on.n_rows, model.fitted_.fitted_on.n_columns
    (150, 4)
    """

    n_rows: int
    n_columns: int
    weight: float
    fingerprint: str
    date: str
    version: str

    def and_then(self, more: FittedOn) -> FittedOn:
        """These facts after rows were added to the posteriors."""
        both = hashlib.sha256((self.fingerprint + more.fingerprint).encode())
        return replace(
            more, n_rows=self.n_rows + more.n_rows, weight=self.weight + more.weight, fingerprint=both.hexdigest()
        )


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What the trees that do not have a training row predict for it (NaN where all have it), and its score."""

    mean: FloatArray
    score: float


@dataclass(frozen=True)
class ForestFacts:
    """The seed of a forest's random weights, how near its readable tree comes to it, and its out-of-bag figures."""

    seed: int = 0
    agreement: float = 1.0
    out_of_bag: OutOfBag | None = None
