"""What programs in Python and in C have in common: conditions on the numbers of a row, and the way to a leaf."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from .._validation import shown
from ..tree import NO_CHILD, CategorySet, Hyperplane, PresentMissing, Split, Threshold, TreeStore

_MOST_NESTED = 20  # ifs within each other; compilers have limits


@dataclass(frozen=True)
class Language:
    """How a language speaks of ``x``, the numbers of a row, in which a missing value is NaN."""

    number: Callable[[float], str]
    false: str
    both: str
    either: str
    negation: str
    choice: str  # with {condition}, {yes} and {no}
    begin_if: str  # with {condition}
    end_if: str
    give: str  # with {value}
    prefix: str  # of the names of functions beside the main one, with {name} for that of the main one

    def named(self, name: Any, keywords: Iterable[str]) -> Self:
        """The language for a function of a name, which must be one."""
        if not isinstance(name, str) or not name.isascii() or not name.isidentifier() or name in keywords:
            raise ValueError(
                f"name must be the name of a function: letters, digits and underscores; got {shown(name)}."
            )
        return replace(self, prefix=self.prefix.format(name=name))

    def goes_left(self, split: Split) -> str:
        """Whether a row goes left."""
        match split:
            case Threshold():
                value, threshold = self._value(split.feature), self.number(split.threshold)
                # Nothing is above or below NaN.
                return self._not(f"{value} > {threshold}") if split.missing_left else f"{value} <= {threshold}"
            case PresentMissing():
                return self._is_present(split.feature)
            case CategorySet():
                return self._category_set(split)
            case Hyperplane():
                return f"{self._sum(split)} <= {self.number(split.threshold)}"

    @staticmethod
    def _value(feature: int) -> str:
        return f"x[{feature}]"

    def _not(self, condition: str) -> str:
        return f"{self.negation}({condition})"

    def _is_present(self, feature: int) -> str:
        return f"{self._value(feature)} == {self._value(feature)}"

    def _is_among(self, feature: int, positions: Iterable[int]) -> str:
        equal = [f"{self._value(feature)} == {self.number(position)}" for position in positions]
        return self.either.join(equal) or self.false

    def _category_set(self, split: CategorySet) -> str:
        present = self._is_present(split.feature)
        if not split.unseen_left:
            inside = self._is_among(split.feature, split.left)
            return f"{self._not(present)}{self.either}{inside}" if split.missing_left else inside
        outside = self._not(self._is_among(split.feature, split.right))
        return outside if split.missing_left else f"{present}{self.both}{outside}"

    def _sum(self, split: Hyperplane) -> str:
        """The products are added one by one, from the first."""
        total = self.number(0.0)
        for feature, coefficient, instead in zip(split.features, split.coefficients, split.missing_values, strict=True):
            value = self.choice.format(
                condition=self._is_present(feature), yes=self._value(feature), no=self.number(instead)
            )
            total = f"{self.prefix}add({total}, {self.number(coefficient)}, {value})"
        return total

    def ways(self, tree: TreeStore, label: str) -> list[tuple[str, list[str]]]:
        """The way to a leaf as functions: the name of each, and the lines of its body.

        The last, of the name ``find`` and the label, begins at the root. Others take over where ifs would be too many
        within each other.
        """
        result: list[tuple[str, list[str]]] = []
        begins = [0]
        while begins:
            first, lines = begins.pop(), list[str]()
            stack: list[tuple[int, int | None]] = [(1, first)]  # None: an if ends
            while stack:
                depth, node = stack.pop()
                if node is None:
                    lines.append("    " * depth + self.end_if)
                elif tree.children_left[node] == NO_CHILD:
                    lines.append("    " * depth + self.give.format(value=node))
                elif depth > _MOST_NESTED:
                    lines.append("    " * depth + self.give.format(value=f"{self._find(label, node)}(x)"))
                    begins.append(node)
                else:
                    condition = self.goes_left(tree.split(node))
                    lines.append("    " * depth + self.begin_if.format(condition=condition))
                    stack.append((depth, int(tree.children_right[node])))
                    stack += [(depth, None)] if self.end_if else []
                    stack.append((depth + 1, int(tree.children_left[node])))
            result.append((self._find(label, first), lines))
        return result[::-1]

    def _find(self, label: str, node: int) -> str:
        return f"{self.prefix}find{label}" + (f"_from{node}" if node else "")


def _python_number(number: float) -> str:
    value = float(number)
    if math.isfinite(value):
        return repr(value)
    return "math.nan" if math.isnan(value) else "math.inf" if value > 0 else "-math.inf"


def _c_number(number: float) -> str:
    """A double to the last bit."""
    value = float(number)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value:.1f}" if value.is_integer() and abs(value) < 1e6 else value.hex()


PYTHON = Language(
    number=_python_number,
    false="False",
    both=" and ",
    either=" or ",
    negation="not ",
    choice="({yes} if {condition} else {no})",
    begin_if="if {condition}:",
    end_if="",
    give="return {value}",
    prefix="_{name}_",
)
C = Language(
    number=_c_number,
    false="0",
    both=" && ",
    either=" || ",
    negation="!",
    choice="({condition} ? {yes} : {no})",
    begin_if="if ({condition}) {{",
    end_if="}",
    give="return {value};",
    prefix="{name}_",
)
