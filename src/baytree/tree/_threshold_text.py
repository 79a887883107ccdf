"""Thresholds to read, with as many digits as tell those of a tree apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from .._words import grouping, number_text
from ._splits import NumberText, SplitKind
from ._store import TreeStore

_MOST_DIGITS = 17  # which tell any two numbers apart


def threshold_text(tree: TreeStore, text: NumberText = number_text) -> NumberText:
    """Write numbers as `text` does, but thresholds along one feature that would read alike with more digits."""
    at = tree.is_of(SplitKind.THRESHOLD)
    return distinct_text(zip(tree.feature[at].tolist(), tree.threshold[at].tolist(), strict=True), text)


def distinct_text(numbers: Iterable[tuple[int, float]], text: NumberText = number_text) -> NumberText:
    """Write numbers as `text` does, but with more digits where two of one kind, which is given, would read alike."""
    alike: dict[tuple[int, str], list[float]] = defaultdict(list)
    for kind, number in sorted({*numbers}):
        alike[kind, text(number)].append(number)
    longer: dict[float, str] = {}
    for group in alike.values():
        if len(group) > 1:
            longer.update(zip(group, _distinct(group), strict=True))
    return lambda number: longer.get(number) or text(number)


def _distinct(numbers: list[float]) -> list[str]:
    """Texts of the fewest digits that differ for all numbers."""
    texts: list[str] = []
    for digits in range(1, _MOST_DIGITS + 1):
        texts = [f"{number:{grouping(abs(number))}.{digits}g}" for number in numbers]
        if len({*texts}) == len(texts):
            break
    return texts
