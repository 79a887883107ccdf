"""Format numbers, categories and odds for people to read."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

_DIGITS = 6  # of a number that stands in the data: a value, a threshold
_ESTIMATE_DIGITS = 4  # of a number that was worked out
_LARGEST = 1e15  # up to here numbers are written out
_BEYOND_DOUBT = math.log(1e6)  # log odds that nobody tells from others beyond them
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def number_text(number: float) -> str:
    """A value or a threshold to read: 59,780; 1987; 0.1361; all digits before the point and six in all."""
    return _digits_text(number, _DIGITS)


def amount_text(number: float) -> str:
    """A count to read: 1,239; with weights it may be 12.5."""
    return _digits_text(number, _DIGITS, grouped_from=1000)


def estimate_text(number: float) -> str:
    """An estimate to read: 59,780; 177.1; 0.0412; all digits before the point and four in all."""
    return _digits_text(number, _ESTIMATE_DIGITS) if math.isfinite(number) else "not finite"


def _digits_text(number: float, digits: int, grouped_from: float = 10_000) -> str:
    """Digits in groups of three, four alone excepted (years); powers of ten only where a number is tiny or huge."""
    size = abs(number)
    if not math.isfinite(size) or (size != 0 and not 1e-4 <= size < _LARGEST):
        return f"{number:.{digits}g}"
    places = 0 if size == 0 else max(0, digits - 1 - math.floor(math.log10(size)))
    text = f"{number:{grouping(size, grouped_from)}.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def grouping(size: float, grouped_from: float = 10_000) -> str:
    """The mark between groups of digits, as a format has it: none below ten thousand."""
    return "," if size >= grouped_from else ""


def percent_text(share: float) -> str:
    """A probability or a share to read: 30 %, 98.4 %, < 0.1 %."""
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")


def range_text(low: float, high: float, *, share: bool = False) -> str:
    """An interval to read: 86 to 300; of shares 2.5 to 6 %."""
    if not share:
        return f"{estimate_text(low)} to {estimate_text(high)}"
    return f"{percent_text(low).removesuffix(' %')} to {percent_text(high)}"


def count_text(n: float, one: str, many: str | None = None) -> str:
    """A number of things: 1 row, 48,842 rows."""
    return f"{amount_text(n)} {one if n == 1 else many or one + 's'}"


def list_text(names: list[str], max_names: int) -> str:
    """List the first names, and how many more there are."""
    return ", ".join(names[:max_names]) + (f" and {len(names) - max_names:,} more" if len(names) > max_names else "")


def within_sentence(text: str) -> str:
    """A phrase that starts a sentence, as it stands within one: the names in it stay as they are."""
    return text[:1].lower() + text[1:]


def shorten(text: str, max_length: int = 200) -> str:
    """Cut a text to a maximum length."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def category_text(category: Any) -> str:
    """A category as text: numbers in full, and quotes where the bare text could be misread in a list."""
    if isinstance(category, float):
        return f"{category:.17g}" if float(f"{category:.15g}") != category else f"{category:.15g}"
    plain = category.isprintable() and category == category.strip() and not set(category) & set(',{}"')
    plain = plain and category != "missing"
    return category if plain and category else json.dumps(category, ensure_ascii=not category.isprintable())


def odds_text(log_odds: float) -> str:
    """Odds as people say them: 3:1, 1:20, 1,222:1; over a million to one ``beyond doubt``."""
    return "beyond doubt" if log_odds >= _BEYOND_DOUBT else exact_odds_text(log_odds)


def exact_odds_text(log_odds: float) -> str:
    """Odds with their size: 3:1, 1:20, 10⁹³:1."""
    size = abs(log_odds)
    if size < _BEYOND_DOUBT:
        number = f"{np.exp(size):.3g}" if size < np.log(100) else f"{np.exp(size):,.0f}"
    else:
        number = "10" + f"{size / np.log(10):.0f}".translate(_SUPERSCRIPTS) if np.isfinite(size) else "∞"
    return f"{number}:1" if log_odds >= 0 else f"1:{number}"


def summary_text(name: str, estimate: float, low: float, high: float) -> str:
    """An estimate with its 90 % interval, where there is one."""
    interval = "" if np.isnan(low) else f"  (90 % between {estimate_text(low)} and {estimate_text(high)})"
    return f"{name}: {estimate_text(estimate)}{interval}"
