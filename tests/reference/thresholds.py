"""The number of fewest decimal digits between two values, with exact decimal arithmetic."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal

EXACT = Context(prec=1100, Emin=-10_000, Emax=10_000)  # digits and exponents enough for every float64 number


def midpoint(lower: float, upper: float) -> float:
    """Halfway, or the lower value where float64 has no number between."""
    distance = upper - lower
    middle = lower + distance / 2 if math.isfinite(distance) else lower / 2 + upper / 2
    return middle if lower <= middle < upper else lower


def middle_half(lower: float, upper: float) -> tuple[float, float]:
    """The ends of the middle half of the gap."""
    distance = upper - lower
    if math.isfinite(distance):
        return lower + distance / 4, upper - distance / 4
    return 0.75 * lower + 0.25 * upper, 0.25 * lower + 0.75 * upper


def shortest(number: float) -> Decimal:
    """The decimal of fewest digits that stands for a number, the nearest to it among those."""
    texts = (f"{number:.{digits - 1}e}" for digits in range(1, 18))
    return Decimal(next(text for text in texts if float(text) == number))


def roundest(lower: float, upper: float) -> float:
    """Of the numbers in the middle half the one of fewest digits, then the nearest to the midpoint, then the lower."""
    low, high = middle_half(lower, upper)

    def allowed(decimal: Decimal) -> bool:
        number = float(decimal)
        return lower <= number < upper and low <= number <= high

    if allowed(Decimal(0)):
        return 0.0
    middle = shortest(midpoint(lower, upper))
    for n_digits in range(1, 18):
        step = Decimal(1).scaleb(middle.adjusted() - n_digits + 1, EXACT)
        below = EXACT.multiply(EXACT.divide(middle, step).to_integral_value(ROUND_FLOOR), step)
        candidates = [decimal for decimal in (below, EXACT.add(below, step)) if allowed(decimal)]
        if candidates:
            return float(min(candidates, key=lambda decimal: (abs(EXACT.subtract(decimal, middle)), decimal)))
    return midpoint(lower, upper)


def n_digits_of(number: float) -> int:
    """How many significant digits a number has in decimal; zero has none."""
    return len(shortest(number).normalize(EXACT).as_tuple().digits) if number else 0
