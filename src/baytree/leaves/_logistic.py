"""Logistic leaves: the log odds of the classes are linear in a few terms.

The coefficients are those of contrasts between the classes: with ``V`` an orthonormal basis of the vectors that sum to
zero, the logits of the classes at a row are ``V U [1, z]``. Their posterior is normal around the mode (Laplace). So are
the logits of a row; the probabilities follow a logit-normal distribution. Predictions use the Dirichlet distribution
(Beta of two classes) with the same mean and the same variance.

Monotonic predictions are the medians of the probabilities, which are those of the mean logits: the mean of a
probability can fall where its logit rises and becomes less certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from .._typing import FloatArray, IntArray
from ..table import Rows
from ._models import ModelLeaves
from ._terms import rows_by_node

_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
QUADRATURE = (_POINTS, _WEIGHTS / _WEIGHTS.sum())  # points and weights for the standard normal distribution
PROBIT = np.pi / 8  # times a variance: how far it shrinks a logit, less one
_WEAKEST, _STRONGEST = 1e-3, 1e9  # sums of Dirichlet parameters


@dataclass(frozen=True, eq=False)
class LogisticLeaves(ModelLeaves):
    """The logistic model of every node; a node without terms has the Dirichlet distribution of a constant leaf.

    The coefficients of a node are those of each contrast in turn: an intercept, and one for each scaled term.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BayesianTreeClassifier(leaf="linear").fit(X, y)
    >>> model.get_n_leaves(), len(model.tree_.leaves.terms.of(0))
    (1, 10)
    """

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.posterior.shape[1]

    @property
    def n_coefficients(self) -> IntArray:
        """One for each contrast and each term, and the intercepts; none without terms."""
        counts = self.terms.counts
        return np.where(counts > 0, (counts + 1) * (self.n_classes - 1), 0)

    @cached_property
    def contrasts(self) -> FloatArray:
        """The basis of contrasts, shape (n_classes, n_classes - 1)."""
        return class_contrasts(self.n_classes)

    def parameters(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:
        """Parameters of the Dirichlet distribution of row[i] in node[i]."""
        result = self.posterior.take(node, axis=0)
        row = np.arange(len(node)) if row is None else row
        for leaf, at in rows_by_node(node):
            if len(self.terms.of(leaf)):
                z = self.terms.scaled(leaf, rows, row[at], clip=not self.extrapolate)
                result[at] = self._dirichlet(leaf, np.column_stack([np.ones(len(at)), z]))
        return result

    def means_at(self, node: int, z: FloatArray) -> FloatArray:
        """Expected class probabilities of rows with these scaled terms in a node."""
        return self.outcome.mean(self._dirichlet(node, np.column_stack([np.ones(len(z)), z])))

    def logits(self, node: int, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of the logits of rows, given ones and the scaled terms: (n, classes) and squares."""
        n_contrasts, width = self.n_classes - 1, z.shape[1]
        mean = z @ self.coefficients_of(node).reshape(n_contrasts, width).T @ self.contrasts.T
        blocks = self.covariance_of(node).reshape(n_contrasts, width, n_contrasts, width)
        of_contrasts = np.einsum("nk,akbl,nl->nab", z, blocks, z, optimize=True)
        return mean, np.einsum("ca,nab,db->ncd", self.contrasts, of_contrasts, self.contrasts, optimize=True)

    def forms(self, node: int) -> tuple[FloatArray, FloatArray]:
        """Logits of rows u of one and the scaled terms: b of each mean b'u, and Q of each variance u'Qu.

        Of two classes these are the log odds of the second; of more the logits of every class. Monotonic predictions do
        not depend on the variances, which are 0 here.
        """
        n_contrasts, width = self.n_classes - 1, len(self.terms.of(node)) + 1
        blocks = self.covariance_of(node).reshape(n_contrasts, width, n_contrasts, width)
        logits = self.contrasts if self.n_classes > 2 else self.contrasts[1:] - self.contrasts[:1]
        mean = logits @ self.coefficients_of(node).reshape(n_contrasts, width)
        variance = np.einsum("ca,akbl,cb->ckl", logits, blocks, logits, optimize=True)
        return mean, np.zeros_like(variance) if self.monotonic else variance

    def _dirichlet(self, node: int, z: FloatArray) -> FloatArray:
        mean, covariance = self.logits(node, z)
        if self.n_classes == 2:
            return _beta_of_logit(mean[:, 1] - mean[:, 0], 4 * covariance[:, 1, 1], at_median=self.monotonic)
        return _dirichlet_of_logits(mean, covariance)


def class_contrasts(n_classes: int) -> FloatArray:
    """Orthonormal contrasts between classes: each class against those before it (Helmert)."""
    result = np.zeros((n_classes, n_classes - 1))
    for a in range(n_classes - 1):
        result[: a + 1, a], result[a + 1, a] = -1.0, a + 1.0
    return result / np.sqrt((result**2).sum(axis=0))


def _beta_of_logit(mean: FloatArray, variance: FloatArray, *, at_median: bool) -> FloatArray:
    """Beta parameters with mean and variance of a probability whose logit is normal, by Gauss-Hermite quadrature.

    With the median instead of the mean, and the mean square of the distances from it.
    """
    points, weights = QUADRATURE
    at = mean[:, None] + np.sqrt(variance)[:, None] * points
    sides = (special.expit(sign * (mean if at_median else at)) for sign in (-1, 1))
    both = np.stack([side if at_median else side @ weights for side in sides], axis=1)
    spread = (special.expit(at) - both[:, 1:]) ** 2 @ weights
    return both * _strength(both[:, 0] * both[:, 1], spread)[:, None]


def _dirichlet_of_logits(mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Dirichlet parameters for normal logits: means by the probit approximation, the total variance to first order."""
    variance = np.einsum("ncc->nc", covariance)
    p = special.softmax(mean / np.sqrt(1 + PROBIT * variance), axis=1)
    slope = p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])
    spread = np.einsum("nab,nbc,nac->n", slope, covariance, slope, optimize=True)
    return p * _strength((p * (1 - p)).sum(axis=1), spread)[:, None]


def _strength(of_one_row: FloatArray, variance: FloatArray) -> FloatArray:
    """The sum of Dirichlet parameters for which probabilities vary so much; that of one row is p (1 - p)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = of_one_row / variance - 1
    return np.clip(np.where(np.isnan(strength), _STRONGEST, strength), _WEAKEST, _STRONGEST)
