"""Bayesian-bootstrap weights of rows: draws of the distribution that the rows come from.

A row that counts once has an exponential weight of mean 1, a row of weight w the sum of w of them: a Gamma(w) draw. The
draws follow from hashes of the rows, so that they do not depend on the order of the rows.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from .._typing import AnyArray, FloatArray
from ..outcomes import Target
from ..table import Rows
from ._row_hash import hash_of_values, mix_bits

_STEP = np.uint64(0x9E3779B97F4A7C15)  # of splitmix64
_SMALLEST = 1e-12  # every row keeps some weight: no row and no class is lost


def hash_each_row(rows: Rows, target: Target) -> AnyArray:
    """Hash rows by their values; duplicates have different hashes, by how many of them come before."""
    hashes = hash_of_values(rows, target)
    order = np.argsort(hashes, kind="stable")
    is_first = np.append(True, np.diff(hashes[order]) != 0)
    place = np.arange(len(order))
    copies = np.empty(len(order), dtype=np.uint64)
    copies[order] = (place - np.maximum.accumulate(np.where(is_first, place, 0))).astype(np.uint64)
    with np.errstate(over="ignore"):
        return mix_bits(hashes + copies * _STEP)


def bootstrap_weights(hashes: AnyArray, weight: FloatArray | None, seed: int, draw: int) -> FloatArray:
    """One draw of the weights of all rows, from the hashes of `hash_each_row`; `weight` None: each row counts once."""
    uniform = uniforms_of_rows(hashes, seed, draw, stream=0)
    if weight is None:
        return np.maximum(-np.log(uniform), _SMALLEST)
    return np.maximum(special.gammaincinv(weight, uniform), _SMALLEST * weight)


def uniforms_of_rows(hashes: AnyArray, seed: int, draw: int, stream: int) -> FloatArray:
    """A number in (0, 1) for each row, one of several streams of a draw."""
    with np.errstate(over="ignore"):
        key = mix_bits(np.array([seed], dtype=np.uint64) * _STEP + np.uint64(draw + 1))
        bits = mix_bits(mix_bits(hashes ^ key) + _STEP * np.array([stream + 1], dtype=np.uint64))
    return ((bits >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
