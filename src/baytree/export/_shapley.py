"""Shapley values of games that are products: what knowing each feature adds to the chance that a path is taken."""

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
        column's number say which are.

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
    together = weight[None] if joint is None else weight * _expected(joint, t)
    alone = (known - unknown) * np.sum(before * after * together[:, None], axis=2)
    if joint is None:
        return alone, unknown.prod(axis=1)
    product = weight * factor.prod(axis=1)
    added = [np.sum(product * _added(joint, i, t), axis=1) for i in range(n_joint)]
    return np.column_stack([alone, *added]), unknown.prod(axis=1) * joint[:, 0]


@cache
def _quadrature(n_points: int) -> tuple[FloatArray, FloatArray]:
    """Points and weights between 0 and 1 with which polynomials below degree 2 n are integrated exactly."""
    point, weight = np.polynomial.legendre.leggauss(n_points)
    return (point + 1) / 2, weight / 2


def _expected(joint: FloatArray, t: FloatArray) -> FloatArray:
    """The expected factor where each feature is known with probability t, (n_games, n_points)."""
    return np.asarray(joint @ _chances(joint.shape[1].bit_length() - 1, t))


def _added(joint: FloatArray, i: int, t: FloatArray) -> FloatArray:
    """What knowing one feature adds to the expected factor."""
    n_joint = joint.shape[1].bit_length() - 1
    by_bit = joint.reshape(len(joint), -1, 2, 2**i)  # the third axis is the bit of the feature
    return np.asarray((by_bit[:, :, 1] - by_bit[:, :, 0]).reshape(len(joint), -1) @ _chances(n_joint - 1, t))


def _chances(n: int, t: FloatArray) -> FloatArray:
    """The probability of every subset of n features, (2**n, n_points)."""
    size = np.array([subset.bit_count() for subset in range(2**n)])[:, None]
    return np.asarray(t**size * (1 - t) ** (n - size))
