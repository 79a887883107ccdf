"""Whole numbers instead of real ones: sums of them do not depend on the order, so not on where the rows live either.

y, weights and exposures are rounded to multiples of a power of two, about a billionth of their range. Whole numbers and
short binary fractions stay what they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import special

from .._typing import AnyArray, FloatArray, IntArray
from ._target import Target

BITS = 30  # of a number on its grid
_FACTOR_BITS = 60  # of the log of a factor
_SUM_BITS = 52  # of sums that float64 holds exactly
_AVERAGE_BITS = 61  # of a sum of numbers up to 1
_DIGIT = 31
_MOST_COUNTED = 2**27


@dataclass(frozen=True)
class SampleSize:
    """The number of rows, and their total weight."""

    n_rows: int
    weight: float

    @property
    def is_small(self) -> bool:
        """Whether a table may have an entry for every whole weight up to that of all rows."""
        return self.weight <= max(2**20, 8 * self.n_rows) and self.weight <= _MOST_COUNTED


@dataclass(frozen=True)
class TargetRange:
    """Row count and value ranges of all targets, from which their grids are chosen."""

    n_rows: int
    ranges: dict[str, tuple[float, float]]  # lowest and highest value of y, "weight" and extras, by name
    whole_weights: bool = True  # all weights are whole numbers as they are

    @classmethod
    def of(cls, target: Target, *, of_y: bool) -> TargetRange:
        """Measure the targets of some rows, at least one; class labels have no range."""
        columns = {"y": np.asarray(target.y, dtype=np.float64)} if of_y else {}
        if target.weight is not None:
            columns["weight"] = target.weight
        ranges = {
            name: (float(values.min()), float(values.max())) for name, values in (columns | target.extras).items()
        }
        whole = target.weight is None or np.array_equal(target.weight, np.rint(target.weight))
        return cls(len(target.y), ranges, bool(whole))

    def __or__(self, other: TargetRange) -> TargetRange:
        pairs = {name: (self.ranges[name], other.ranges[name]) for name in self.ranges}
        ranges = {name: (min(a[0], b[0]), max(a[1], b[1])) for name, (a, b) in pairs.items()}
        return TargetRange(self.n_rows + other.n_rows, ranges, self.whole_weights and other.whole_weights)


@dataclass(frozen=True)
class Grid:
    """The multiples of a unit from `base` units on; numbers that must be positive are at least one unit."""

    base: int
    unit: float
    positive: bool = False
    bits: int = BITS

    @classmethod
    def over(cls, low: float, high: float, *, bits: int = BITS, positive: bool = False) -> Grid:
        """The finest grid of so many bits that reaches from low to high, but no finer than float64 is there."""
        width, largest = high - low, max(abs(low), abs(high))
        if not math.isfinite(width):
            raise ValueError("y, weights or exposures are too large for float64: give them in larger units.")
        exponent = math.frexp(width if width > 0 else largest)[1] - bits
        unit = math.ldexp(1.0, max(exponent, math.frexp(largest)[1] - 53, -1000) if largest > 0 else 0)
        return cls(math.floor(low / unit + 0.5), unit, positive, bits)

    def whole(self, values: AnyArray | float) -> IntArray:
        """The numbers of the grid's points nearest to some values."""
        points = np.floor(np.asarray(values, dtype=np.float64) / self.unit + 0.5).astype(np.int64) - self.base
        return np.maximum(points, 1) if self.positive else points

    def value(self, whole: AnyArray | int) -> FloatArray:
        """The values of points."""
        return np.asarray((np.asarray(whole) + self.base) * self.unit, dtype=np.float64)

    def nearest(self, values: AnyArray | float) -> FloatArray:
        """The nearest points."""
        return self.value(self.whole(values))

    @property
    def highest(self) -> float:
        """An upper bound of all values."""
        return (abs(self.base) + 2.0**self.bits) * self.unit


ONE = Grid(0, 1.0, bits=0)  # of what is 1 or 0


@dataclass(frozen=True)
class Grids:
    """Grids of y (None for class labels), of the weights (None if every row counts once) and of the extras."""

    y: Grid | None
    weight: Grid | None
    extras: dict[str, Grid] = field(default_factory=dict)
    whole_weights: bool = True

    @classmethod
    def over(cls, target_range: TargetRange, *, from_zero: bool, positive: bool) -> Grids:
        """Choose the grids of targets in a range; y is taken from zero, or from its lowest value."""
        y, weight = target_range.ranges.get("y"), target_range.ranges.get("weight")
        bits = min(BITS, _SUM_BITS - math.ceil(math.log2(max(target_range.n_rows, 2))))
        return cls(
            None if y is None else Grid.over(0.0 if from_zero else y[0], y[1], positive=positive),
            None if weight is None else Grid.over(0.0, weight[1], bits=bits, positive=True),
            {
                name: ONE if name == "event" else Grid.over(0.0, high, positive=True)
                for name, (_, high) in target_range.ranges.items()
                if name not in ("y", "weight")
            },
            target_range.whole_weights,
        )

    @property
    def weight_unit(self) -> float:
        """The weight of one unit."""
        return 1.0 if self.weight is None else self.weight.unit

    def factor_unit(self, sizes: float = 1.0) -> float:
        """A unit for the logs of factors: no factor of these numbers exceeds the grid."""
        exposure = self.extras.get("exposure", ONE)
        most = 0.0 if self.y is None else self.y.highest
        size = max(sizes * exposure.highest, 1.0)
        logs = max(abs(math.log(exposure.unit)), abs(math.log(exposure.highest)), 1.0)
        bound = most * logs + 3 * float(special.gammaln(most + size + 2)) + abs(math.log(sizes * exposure.unit)) + 1
        return math.ldexp(1.0, math.frexp(bound)[1] - _FACTOR_BITS)


def round_to_grids(target: Target, grids: Grids) -> Target:
    """Round a target to grids, so that its sums are sums of whole numbers."""
    return replace(
        target,
        y=target.y if grids.y is None else grids.y.nearest(target.y),
        weight=None if grids.weight is None or target.weight is None else grids.weight.nearest(target.weight),
        extras={name: grids.extras[name].nearest(values) for name, values in target.extras.items()},
        grids=grids,
    )


def grid_of_y(grids: Grids | None) -> Grid:
    """The grid of numbers that are predicted."""
    if grids is None or grids.y is None:
        raise ValueError("y is not on a grid")
    return grids.y


def grids_of(target: Target) -> Grids:
    """The grids of a target that has some."""
    if target.grids is None:
        raise ValueError("the target is not on grids")
    return target.grids


def integer_weight(target: Target) -> IntArray:
    """The weight of each row of a target on grids, in units."""
    if target.weight is None or target.grids is None or target.grids.weight is None:
        return np.ones(len(target.y), dtype=np.int64)
    return target.grids.weight.whole(target.weight)


def sum_of_products(*factors: IntArray) -> int:
    """The sum over rows of the product of up to three whole numbers of 31 bits each, exactly."""
    bound = math.prod(max(abs(int(factor.max(initial=0))), abs(int(factor.min(initial=0)))) for factor in factors)
    if bound * len(factors[0]) < 2**62:
        return int(math.prod(factors[1:], start=factors[0]).sum())
    mask = 2**_DIGIT - 1
    first = factors[0] if len(factors) == 1 else factors[0] * factors[1]
    parts = [(first >> _DIGIT, _DIGIT), (first & mask, 0)]
    if len(factors) > 2:
        times = [(part * factors[2], power) for part, power in parts]
        parts = [split for p, power in times for split in ((p >> _DIGIT, power + _DIGIT), (p & mask, power))]
    return sum(int(part.sum()) << power for part, power in parts)


def average_in_any_order(values: FloatArray, weight: FloatArray | None) -> float:
    """The average of numbers from 0 to 1, by sums of whole numbers: the same to the last bit for any order of rows."""
    unit = math.ldexp(1.0, math.ceil(math.log2(len(values))) - _AVERAGE_BITS)
    weight = np.ones(1) if weight is None else weight / weight.max()
    total = int(np.broadcast_to(to_units(weight, unit), values.shape).sum())
    return int(to_units(values * weight, unit).sum()) / total


def to_units(values: FloatArray, unit: float) -> IntArray:
    """Real numbers as the nearest multiples of a unit."""
    return np.floor(values / unit + 0.5).astype(np.int64)


def counts_and_exposure(target: Target) -> list[IntArray]:
    """The whole numbers of counts."""
    exposure = grids_of(target).extras.get("exposure", ONE).whole(target.extra_values("exposure"))
    return [grid_of_y(target.grids).whole(target.y), exposure]


def sums_in_units(totals: list[int], units: tuple[float, float], grids: Grids) -> tuple[float, float]:
    """Events and exposure of all rows, from their totals."""
    events, exposure = (float(total) * unit * grids.weight_unit for total, unit in zip(totals[1:], units, strict=True))
    return events, exposure


def rate_rows(events: float, exposure: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Events, exposures and weights of one or two rows that sum up to these, without rounding."""
    if events == 0:
        return np.zeros(1), np.array([exposure]), np.ones(1)
    each = math.ldexp(1.0, math.frexp(exposure / events)[1] - 1)  # so that events times each is over half of all
    rest = exposure - events * each
    if rest <= 0:
        return np.ones(1), np.array([exposure / events]), np.array([events])
    return np.array([1.0, 0.0]), np.array([each, rest]), np.array([events, 1.0])


def count_rows(events: float, exposure: float) -> Target:
    """Rows that count so many events in so much exposure."""
    counts, exposures, weight = rate_rows(events, exposure)
    return Target(counts, weight, {"exposure": exposures})
