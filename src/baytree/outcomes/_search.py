"""A prior that the rows choose: the search of `prior="evidence"` along one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

T = TypeVar("T")

_FIRST = 5  # values evenly spread over the range, on a log scale
_MORE = 4  # values between the best so far and its neighbours


def most_probable(low: float, high: float, make: Callable[[float], T], evidence: Callable[[T], float]) -> T:
    """The prior with the highest evidence of nine along one parameter; of equal ones that of the lowest parameter.

    Evidence need not have one maximum, so the whole range is scanned first, and then searched around the best.
    """
    tried = {value: evidence(make(value)) for value in np.geomspace(low, high, _FIRST).tolist()}
    for _ in range(_MORE):
        value = _between(tried)
        tried[value] = evidence(make(value))
    return make(max(sorted(tried), key=tried.__getitem__))


def _between(tried: dict[float, float]) -> float:
    """The middle, on a log scale, of the wider of the gaps beside the best."""
    values = sorted(tried)
    best = values.index(max(values, key=tried.__getitem__))
    gaps = [(values[i], values[i + 1]) for i in (best - 1, best) if 0 <= i < len(values) - 1]
    wider = max(gaps, key=lambda gap: round(float(np.log(gap[1] / gap[0])), 9))
    return float(np.sqrt(wider[0] * wider[1]))
