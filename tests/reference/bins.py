"""Quantile bins, written down as docs/engines.md states them."""

from __future__ import annotations

import math


def bins(values, max_bins):
    """(lowest, highest) value of each bin; a bin ends at the value of rank ceil(k n / max_bins), k = 1, 2, ..."""
    present = sorted(value + 0.0 for value in values if not math.isnan(value))
    distinct = sorted(set(present))
    n = len(present)
    if len(distinct) > max_bins:
        ends = sorted({present[-(-k * n // max_bins) - 1] for k in range(1, max_bins + 1)})
    else:
        ends = distinct
    lows = [min(value for value in distinct if value > before) for before in [-math.inf, *ends[:-1]] if n]
    return list(zip(lows, ends, strict=True))


def middles(values, max_bins):
    """Every value as the middle of its bin, so that an exact tree of the middles is a tree of the bins."""
    own = bins(values, max_bins)
    result = []
    for value in values:
        if math.isnan(value):
            result.append(math.nan)
            continue
        low, high = next(pair for pair in own if value <= pair[1])
        result.append(low if low == high else low / 2 + high / 2)
    return result
