"""The splits of a tree in C: conditions on ``x``, the numbers of a row (NaN where missing), and paths to leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..tree import NO_CHILD, CategorySet, Hyperplane, PresentMissing, Split, Threshold, TreeStore

_MOST_NESTED = 20  # ifs within each other; compilers have limits


def number(value: float) -> str:
    """A double to the last bit."""
    value = float(value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value:.1f}" if value.is_integer() and abs(value) < 1e6 else value.hex()


def goes_left(split: Split, prefix: str) -> str:
    """Whether a row goes left; `prefix` is that of the functions of the header."""
    match split:
        case Threshold():
            value, threshold = f"x[{split.feature}]", number(split.threshold)
            # Nothing is above or below NaN.
            return f"!({value} > {threshold})" if split.missing_left else f"{value} <= {threshold}"
        case PresentMissing():
            return _is_present(split.feature)
        case CategorySet():
            return _in_category_set(split)
        case Hyperplane():
            return f"{_weighted_sum(split, prefix)} <= {number(split.threshold)}"


def _is_present(feature: int) -> str:
    return f"x[{feature}] == x[{feature}]"


def _is_among(feature: int, positions: Iterable[int]) -> str:
    return " || ".join(f"x[{feature}] == {number(position)}" for position in positions) or "0"


def _in_category_set(split: CategorySet) -> str:
    present = _is_present(split.feature)
    if not split.unseen_left:
        inside = _is_among(split.feature, split.left)
        return f"!({present}) || {inside}" if split.missing_left else inside
    outside = f"!({_is_among(split.feature, split.right)})"
    return outside if split.missing_left else f"{present} && {outside}"


def _weighted_sum(split: Hyperplane, prefix: str) -> str:
    """The products are added one by one, from the first."""
    total = number(0.0)
    for feature, coefficient, instead in zip(split.features, split.coefficients, split.missing_values, strict=True):
        value = f"({_is_present(feature)} ? x[{feature}] : {number(instead)})"
        total = f"{prefix}add({total}, {number(coefficient)}, {value})"
    return total


def paths(tree: TreeStore, prefix: str, label: str) -> list[tuple[str, list[str]]]:
    """The path to a leaf as functions: the name of each, and the lines of its body.

    The last, of the name ``find`` and the label, begins at the root. Others take over where too many ifs would be
    within each other.
    """
    functions: list[tuple[str, list[str]]] = []
    begins = [0]
    while begins:
        first, lines = begins.pop(), list[str]()
        stack: list[tuple[int, int | None]] = [(1, first)]  # None: an if ends
        while stack:
            depth, node = stack.pop()
            indent = "    " * depth
            if node is None:
                lines.append(f"{indent}}}")
            elif tree.children_left[node] == NO_CHILD:
                lines.append(f"{indent}return {node};")
            elif depth > _MOST_NESTED:
                lines.append(f"{indent}return {_name(prefix, label, node)}(x);")
                begins.append(node)
            else:
                lines.append(f"{indent}if ({goes_left(tree.split(node), prefix)}) {{")
                stack += [(depth, int(tree.children_right[node])), (depth, None)]
                stack.append((depth + 1, int(tree.children_left[node])))
        functions.append((_name(prefix, label, first), lines))
    return functions[::-1]


def _name(prefix: str, label: str, node: int) -> str:
    return f"{prefix}find{label}" + (f"_from{node}" if node else "")
