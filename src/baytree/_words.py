"""Numbers, categories and odds in words."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def number_text(number: float) -> str:
    """A number to read: six digits, or all before the point."""
    return f"{number:.6g}" if abs(number) < 1e5 else f"{number:.15g}"


def category_text(category: Any) -> str:
    """A category as text: numbers in full, and quotes where the bare text could be misread in a list."""
    if isinstance(category, float):
        return f"{category:.17g}" if float(f"{category:.15g}") != category else f"{category:.15g}"
    plain = category.isprintable() and category == category.strip() and not set(category) & set(',{}"')
    plain = plain and category != "missing"
    return category if plain and category else json.dumps(category, ensure_ascii=not category.isprintable())


def odds_text(log_odds: float) -> str:
    """Odds as people say them: 3:1, 1:20, over a million to one as a power of ten."""
    size = abs(log_odds)
    if size < np.log(1e6):
        number = f"{np.exp(size):.3g}" if size < np.log(100) else f"{np.exp(size):,.0f}"
    else:
        number = f"10^{size / np.log(10):.0f}"
    return f"{number}:1" if log_odds >= 0 else f"1:{number}"


def summary_text(name: str, estimate: float, low: float, high: float) -> str:
    """An estimate with its 90 % interval, where there is one."""
    interval = "" if np.isnan(low) else f"  (90 % between {low:.4g} and {high:.4g})"
    return f"{name}: {estimate:.4g}{interval}"
