"""Shapley values of games that are products: the gain in the probability of a path from knowing each feature."""

from __future__ import annotations

from functools import cache
from math import ceil

import numpy as np

from .._typing import FloatArray


def shapley(known: FloatArray, unknown: FloatArray, joint: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Shapley values of games, one a row, and the value of each game where nothing is known.

    Parameters
    ----------
    known, unknown
        The factor of each feature that counts alone, where it is known and where it is not, (n_games, n_alone).
    joint
        The common factor of further features by the subset of them that is known, (n_games, 2**n_joint): the bits of a
        column's number tell which.

    Returns
    -------
    values, empty
        (n_games, n_alone + n_joint) and (n_games,).
    """
    n_alone = known.shape[1]
    n_joint = 0 if joint is None else joint.shape[1].bit_length() - 1
    t, weight = _quadrature(max(1, ceil((n_alone + n_joint) / 2)))
    factor = unknown[:, :, None] * (1 - t) + known[:, :, None] * t
    before, after = np.ones_like(factor), np.ones_like(factor)
    np.cumprod(factor[:, :-1], axis=1, out=before[:, 1:])
    after[:, :-1] = np.cumprod(factor[:, :0:-1], axis=1)[:, ::-1]
    together = weight[None] if joint is None else weight * _expected_factor(joint, t)
    alone = (known - unknown) * np.sum(before * after * together[:, None], axis=2)
    if joint is None:
        return alone, unknown.prod(axis=1)
    product = weight * factor.prod(axis=1)
    gains = [np.sum(product * _expected_gain(joint, i, t), axis=1) for i in range(n_joint)]
    return np.column_stack([alone, *gains]), unknown.prod(axis=1) * joint[:, 0]


@cache
def _quadrature(n_points: int) -> tuple[FloatArray, FloatArray]:
    """Points and weights between 0 and 1 with which polynomials below degree 2 n are integrated exactly."""
    point, weight = np.polynomial.legendre.leggauss(n_points)
    return (point + 1) / 2, weight / 2


def _expected_factor(joint: FloatArray, t: FloatArray) -> FloatArray:
    """The expected factor where each feature is known with probability t, (n_games, n_points)."""
    return np.asarray(joint @ _subset_probabilities(joint.shape[1].bit_length() - 1, t))


def _expected_gain(joint: FloatArray, i: int, t: FloatArray) -> FloatArray:
    """The gain in the expected factor from knowing one feature."""
    n_joint = joint.shape[1].bit_length() - 1
    by_bit = joint.reshape(len(joint), -1, 2, 2**i)  # the third axis is the bit of the feature
    return np.asarray(
        (by_bit[:, :, 1] - by_bit[:, :, 0]).reshape(len(joint), -1) @ _subset_probabilities(n_joint - 1, t)
    )


def _subset_probabilities(n: int, t: FloatArray) -> FloatArray:
    """The probability of every subset of n features, (2**n, n_points)."""
    size = np.array([subset.bit_count() for subset in range(2**n)])[:, None]
    return np.asarray(t**size * (1 - t) ** (n - size))
