"""What a hyperplane asks of one of its features, the others being what they are."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from .cuts import CutArrays

_LARGEST = math.nextafter(math.inf, 0.0)


@dataclass(frozen=True)
class Plane:
    """One cut along a hyperplane: rows whose sum is at most the threshold go left."""

    features: tuple[int, ...]
    coefficients: tuple[float, ...]
    gap_values: tuple[float, ...]
    threshold: float

    @classmethod
    def of(cls, cuts: CutArrays, cut: int) -> Self:
        """Read a cut."""
        terms = cuts.terms_of(cut)
        return cls(
            tuple(cuts.oblique_feature[terms].tolist()),
            tuple(cuts.oblique_coefficient[terms].tolist()),
            tuple(cuts.oblique_gap_value[terms].tolist()),
            float(cuts.threshold[cut]),
        )

    def goes_left(self, row: Sequence[float]) -> bool:
        """Where a row goes; the sum is taken in the order of the compiled core."""
        total = 0.0
        for feature, coefficient, gap_value in zip(self.features, self.coefficients, self.gap_values, strict=True):
            cell = row[feature]
            total += coefficient * (cell if cell == cell else gap_value)
        return total <= self.threshold

    def coefficient(self, feature: int) -> float:
        """The coefficient of a feature."""
        return self.coefficients[self.features.index(feature)]

    def bounds(self, feature: int, row: Sequence[float], *, left: bool) -> tuple[float, float]:
        """The numbers of one feature that send a row to one side: above the first, at most the second."""
        rising = self.coefficient(feature) > 0
        changed = list(row)

        def goes_below(number: float) -> bool:
            """True up to some number and False from there on: rounding keeps the order."""
            changed[feature] = number
            return self.goes_left(changed) == rising

        edge = last_float(goes_below, self._crossing(feature, row))
        return (-math.inf, edge) if left == rising else (edge, math.inf)

    def _crossing(self, feature: int, row: Sequence[float]) -> float:
        """Where the sum meets the threshold, but for rounding."""
        rest = self.threshold
        for other, coefficient, gap_value in zip(self.features, self.coefficients, self.gap_values, strict=True):
            if other != feature:
                rest -= coefficient * (row[other] if row[other] == row[other] else gap_value)
        return rest / self.coefficient(feature)


def last_float(holds: Callable[[float], bool], guess: float) -> float:
    """The largest float for which a condition holds that is true up to there; -inf for none, inf for all of them."""
    low, high = _ordinal(-_LARGEST), _ordinal(_LARGEST)
    if not holds(-_LARGEST):
        return -math.inf
    if holds(_LARGEST):
        return math.inf
    if math.isfinite(guess):
        near = max(low, _ordinal(guess) - 8), min(high, _ordinal(guess) + 8)
        low, high = near if holds(_float(near[0])) and not holds(_float(near[1])) else (low, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(_float(middle)) else (low, middle)
    return _float(low)


def _ordinal(number: float) -> int:
    """Floats as whole numbers in the same order, without holes."""
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _float(ordinal: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<q", abs(ordinal)))
    return number if ordinal >= 0 else -number
