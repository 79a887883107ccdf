"""Calibration of the class probabilities of a forest: of the average over its trees.

An average of deep trees is too cautious where its trees agree, and may favour a class. The calibrated probability of
class c is in proportion to

    exp(intercepts[c]) * p[c] ** exponent

of the averages p. The two are those of the highest posterior, given averages over trees that lack a row. Beforehand the
exponent is Gamma distributed with its mode at 1, and the intercepts are normal with mean 0 and standard deviation 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import optimize

from .._typing import FloatArray, IntArray

_PRIOR_RATE = 4.0  # of the exponent; its shape is one more
_LARGEST_EXPONENT = 10.0
_SMALLEST = 1e-300  # probability, for logarithms
_DECIMALS = 4  # of the figures, so that they do not depend on the order in which rows are added up
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(48)


class ForestCalibration(NamedTuple):
    """How the class probabilities of a forest are calibrated: in proportion to ``exp(intercepts) * p ** exponent``.

    Attributes
    ----------
    exponent
        Exponent of the averages p over the trees: 1 without calibration, above 1 where they are too cautious.
    intercepts
        One number for each class, of mean 0: 0 without calibration.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> BayesianForestClassifier(10, random_state=0, calibrate=False).fit(X, y).calibration_
    ForestCalibration(exponent=1.0, intercepts=array([0., 0., 0.]))
    """

    exponent: float
    intercepts: FloatArray

    def probabilities(self, p: FloatArray) -> FloatArray:
        """Calibrated probabilities of averages, which lie along the last axis."""
        scores = np.exp(self.intercepts) * p**self.exponent
        return np.asarray(scores / scores.sum(axis=-1, keepdims=True))

    def values(self, values: FloatArray, p: FloatArray) -> FloatArray:
        """Calibrated values of single classes, (n_rows, n_classes, n_values), of rows whose averages are p.

        The other classes keep their proportions to each other; a value of p itself becomes its calibrated probability.
        """
        scores, rest = np.exp(self.intercepts) * p**self.exponent, 1 - p
        of_others = scores.sum(axis=1, keepdims=True) - scores
        factor = np.divide(of_others, rest**self.exponent, out=np.zeros_like(p), where=rest > 0)
        own = np.exp(self.intercepts)[:, None] * values**self.exponent
        other = factor[..., None] * (1 - values) ** self.exponent
        total = own + other
        return np.divide(own, total, out=np.ones_like(own), where=total > 0)

    def contributions(self, added: FloatArray, base: FloatArray) -> FloatArray:
        """What features add to calibrated probabilities, given what they add to averages, (n_rows, n_features, n).

        The averages change in a straight line from `base`, (n_rows, n), to the prediction, all features at once, and
        each change of the calibrated probabilities belongs to the features in proportion to what they add (Aumann and
        Shapley 1974). The sum over features is the whole change.
        """
        change, result = added.sum(axis=1), np.zeros_like(added)
        for step, p, q in self._way(base, change):
            relative = added / p[:, None]
            result += step * q[:, None] * (relative - (q[:, None] * relative).sum(axis=2, keepdims=True))
        rounding = self.probabilities(base + change) - self.probabilities(base) - result.sum(axis=1)
        size = np.abs(result)
        total = size.sum(axis=1, keepdims=True)
        return result + np.divide(size, total, out=size, where=total > 0) * rounding[:, None]

    def errors(self, errors: FloatArray, added: FloatArray, base: FloatArray) -> FloatArray:
        """Standard errors of `contributions`, given those of what features add to averages.

        They are bounds with more than two classes, whose errors may depend on each other in any way.
        """
        result = np.zeros_like(errors)
        for step, p, calibrated in self._way(base, added.sum(axis=1)):
            of_class, q = errors / p[:, None], calibrated[:, None]
            of_others = (q * of_class).sum(axis=2, keepdims=True) - q * of_class
            result += step * q * ((1 - q) * of_class + of_others)
        return result

    def _way(self, base: FloatArray, change: FloatArray) -> Iterator[tuple[float, FloatArray, FloatArray]]:
        """Places between base and base + change: the part of the way times the exponent, averages, probabilities."""
        for node, weight in zip((_NODES + 1) / 2, _NODE_WEIGHTS / 2, strict=True):
            place = node**2 * (3 - 2 * node)  # close together at the ends, where a probability may be small
            p = np.maximum(base + place * change, _SMALLEST)
            yield weight * 6 * node * (1 - node) * self.exponent, p, self.probabilities(p)


class OutOfBagProbabilities(NamedTuple):
    """Averages over the trees that lack a row: over all of these trees, and over two halves of them."""

    whole: FloatArray  # (n_rows, n_classes)
    halves: tuple[FloatArray, FloatArray]
    gain: FloatArray  # by row: how much all trees of the forest gain on these trees, where these gain 1 on their halves
    code: IntArray  # of the class
    weight: FloatArray

    def in_order(self) -> OutOfBagProbabilities:
        """The rows in an order that does not depend on that of the table."""
        order = np.lexsort((*self.whole.T, self.weight, self.code))
        halves = self.halves[0][order], self.halves[1][order]
        return OutOfBagProbabilities(self.whole[order], halves, self.gain[order], self.code[order], self.weight[order])

    def loss(self, exponent: float, intercepts: FloatArray) -> tuple[float, float, FloatArray]:
        """Log loss of the calibrated probabilities, as all trees would have it, and its derivatives.

        The fewer trees are averaged, the noisier their average is. Its variance is in proportion to 1 / k for k trees:
        what k trees gain on halves of them, all K trees gain (1 - k / K) times more.
        """
        parts = [(self.whole, 1 + self.gain), *((half, -self.gain / 2) for half in self.halves)]
        loss, of_exponent, of_intercepts = 0.0, 0.0, np.zeros(len(intercepts))
        row = np.arange(len(self.code))
        for p, factor in parts:
            log_p = np.log(np.maximum(p, _SMALLEST))
            scores = exponent * log_p + intercepts
            scores -= scores.max(axis=1, keepdims=True)
            q = np.exp(scores)
            total = q.sum(axis=1)
            weight = self.weight * factor
            loss += float(weight @ (np.log(total) - scores[row, self.code]))
            slope = q / total[:, None]
            slope[row, self.code] -= 1
            slope *= weight[:, None]
            of_exponent += float((slope * log_p).sum())
            of_intercepts += slope.sum(axis=0)
        return loss, of_exponent, of_intercepts


def estimate_forest_calibration(rows: OutOfBagProbabilities) -> ForestCalibration:
    """The calibration of the highest posterior."""
    rows, n_classes = rows.in_order(), rows.whole.shape[1]

    def negative_log_posterior(figures: FloatArray) -> tuple[float, FloatArray]:
        exponent, intercepts = float(np.exp(figures[0])), figures[1:]
        loss, of_exponent, of_intercepts = rows.loss(exponent, intercepts)
        loss += _PRIOR_RATE * (exponent - figures[0]) + intercepts @ intercepts / 2
        slope = exponent * of_exponent + _PRIOR_RATE * (exponent - 1)
        return loss, np.concatenate([[slope], of_intercepts + intercepts])

    bounds = [(-np.log(_LARGEST_EXPONENT), np.log(_LARGEST_EXPONENT)), *[(None, None)] * n_classes]
    options = {"maxiter": 500, "ftol": 1e-15, "gtol": 1e-9 * max(float(rows.weight.sum()), 1.0)}
    found = optimize.minimize(
        negative_log_posterior, np.zeros(n_classes + 1), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).x
    intercepts = found[1:] - found[1:].mean()
    return ForestCalibration(round(float(np.exp(found[0])), _DECIMALS), intercepts.round(_DECIMALS))
