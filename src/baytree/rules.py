"""Cuts in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ._typing import AnyArray, FloatArray
from .cuts import CutArrays


def feature_name(feature: int, names: Any) -> str:
    """Name of a feature, ``x3`` where the table had no names."""
    return f"x{feature}" if names is None else str(names[feature])


def number_text(number: float) -> str:
    """A number to read: six digits, or all before the point."""
    return f"{number:.6g}" if abs(number) < 1e5 else f"{number:.15g}"


def level_name(level: Any) -> str:
    """A level as text: numbers in full, and quotes where the bare text could be misread in a list."""
    if isinstance(level, float):
        return f"{level:.17g}" if float(f"{level:.15g}") != level else f"{level:.15g}"
    plain = level.isprintable() and level == level.strip() and not set(level) & set(',{}"') and level != "missing"
    return level if plain and level else json.dumps(level, ensure_ascii=not level.isprintable())


def format_odds(log_odds: float) -> str:
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


class Wording:
    """Words for the cuts of a fitted model."""

    def __init__(self, model: Any, cuts: CutArrays, number: Callable[[float], str] = number_text) -> None:
        self.cuts = cuts
        self.names = getattr(model, "feature_names_in_", None)
        self.categories = model.categories_
        self.number = number

    def feature(self, cut: int) -> str:
        """The feature that is cut along; of a hyperplane the sum: ``glucose + 0.4 × bmi``."""
        terms = self.cuts.terms_of(cut)
        if terms.start == terms.stop:
            return feature_name(int(self.cuts.feature[cut]), self.names)
        pairs = zip(self.cuts.oblique_coefficient[terms], self.cuts.oblique_feature[terms], strict=True)
        text = ""
        for coefficient, feature in pairs:
            sign = ("" if coefficient > 0 else "-") if not text else (" + " if coefficient > 0 else " - ")
            size = "" if abs(coefficient) == 1 else f"{number_text(abs(coefficient))} × "
            text += f"{sign}{size}{feature_name(int(feature), self.names)}"
        return text

    def condition(self, cut: int, *, left: bool = True) -> str:
        """What must hold of a row for it to go to one side: ``<= 3``, ``in {red, blue}``, ``is missing``."""
        cuts = self.cuts
        if cuts.divides_levels[cut]:
            return self._set(cut, left=left)
        if np.isinf(cuts.threshold[cut]):
            return "is present" if left else "is missing"
        relation = "<=" if left else ">"
        goes_here = bool(cuts.has_missing[cut] and cuts.missing_go_to_left[cut] == left)
        # A hyperplane's threshold is rounded already as far as it can be.
        threshold = f"{cuts.threshold[cut]:.15g}" if cuts.is_oblique[cut] else self.number(cuts.threshold[cut])
        return f"{relation} {threshold}{' or missing' if goes_here else ''}"

    def _set(self, cut: int, *, left: bool) -> str:
        """The shorter of the two sets, with ``in`` or ``not in``; gaps count as a level."""
        here, there = self._members(cut, left=left), self._members(cut, left=not left)
        inside = len(here) < len(there) or (len(here) == len(there) and left)
        names = here if inside else there
        return f"{'in' if inside else 'not in'} {{{', '.join(names)}}}"

    def levels(self, cut: int, *, left: bool = True) -> tuple[str, ...]:
        """The levels that a cut sends to one side."""
        levels = self.categories[int(self.cuts.feature[cut])]
        return tuple(level_name(levels[i]) for i in self.cuts.levels_of(cut, left=left))

    def _members(self, cut: int, *, left: bool) -> list[str]:
        names = list(self.levels(cut, left=left))
        gaps_here = self.cuts.has_missing[cut] and self.cuts.missing_go_to_left[cut] == left
        return [*names, "missing"] if gaps_here else names

    def value(self, cut: int, row: FloatArray) -> float | str | None:
        """What a row of the matrix has where a cut looks: a number, a level, or None where it is missing."""
        terms = self.cuts.terms_of(cut)
        if terms.start < terms.stop:
            cells = row[self.cuts.oblique_feature[terms]]
            cells = np.where(np.isnan(cells), self.cuts.oblique_gap_value[terms], cells)
            return float(self.cuts.oblique_coefficient[terms] @ cells)
        feature = int(self.cuts.feature[cut])
        cell = float(row[feature])
        levels: AnyArray | None = self.categories[feature]
        if np.isnan(cell):
            return None
        if levels is None:
            return cell
        return level_name(levels[int(cell)]) if cell >= 0 else "another level"
