"""Quantile bins, written down as docs/large_data.md states them."""

from __future__ import annotations

import math
from fractions import Fraction


def bins(values, max_bins, weight=None):
    """(lowest, highest) value of each bin; a bin ends at the first value up to which the weight is k / max_bins of all.

    Rows of weight zero have no bin; without weights every row counts once.
    """
    weight = [1] * len(values) if weight is None else weight
    rows = [(v + 0.0, Fraction(w)) for v, w in zip(values, weight, strict=True) if not math.isnan(v) and w > 0]
    distinct = sorted({value for value, _ in rows})
    total = sum(w for _, w in rows)
    upto = {value: sum(w for v, w in rows if v <= value) for value in distinct}
    ends = distinct
    if len(distinct) > max_bins:
        ends = sorted({min(v for v in distinct if upto[v] * max_bins >= k * total) for k in range(1, max_bins + 1)})
    lows = [min(value for value in distinct if value > before) for before in [-math.inf, *ends[:-1]] if rows]
    return list(zip(lows, ends, strict=True))


def middles(values, max_bins, weight=None):
    """Every value as the middle of its bin, so that an exact tree of the middles is a tree of the bins.

    A value beyond all bins, which only rows of weight zero have, stays what it is.
    """
    ranges = bins(values, max_bins, weight)
    result = []
    for value in values:
        if math.isnan(value):
            result.append(math.nan)
            continue
        low, high = next((pair for pair in ranges if value <= pair[1]), (value, value))
        result.append(low if low == high else low / 2 + high / 2)
    return result
