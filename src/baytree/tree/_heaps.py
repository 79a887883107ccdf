"""Heaps of (negative score, what): the best comes first, and rounding does not decide."""

from __future__ import annotations

import heapq
from typing import Any


def pop_best(heap: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Take the entry of the highest score; of entries that are equal but for rounding, the first in order."""
    best = heapq.heappop(heap)
    equal = [best]
    while heap and heap[0][0] <= best[0] + 1e-9 * (1 + abs(best[0])):
        equal.append(heapq.heappop(heap))
    equal.sort(key=lambda entry: entry[1:])
    for entry in equal[1:]:
        heapq.heappush(heap, entry)
    return equal[0]
