"""A model as a function in plain Python, without any import but `math`."""

from __future__ import annotations

import keyword
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..decision import Decision
from ..estimators import Model
from ..fitted import Fitted, FittedTree
from ..table import Column, Kind
from ..tree import Space, Tree
from ._code import Language, check_name
from ._members import carried, interval_ends, members_of, value_names


def _number(number: float) -> str:
    value = float(number)
    if math.isfinite(value):
        return repr(value)
    return "math.nan" if math.isnan(value) else "math.inf" if value > 0 else "-math.inf"


def _language(name: str) -> Language:
    return Language(
        number=_number,
        false="False",
        both=" and ",
        either=" or ",
        negation="not ",
        choice="({yes} if {condition} else {no})",
        begin_if="if {condition}:",
        end_if="",
        give="return {value}",
        prefix=f"_{name}_",
    )


_TEXT = '''"""A model of baytree as plain Python: {name}(row) predicts one row."""

import math


def _{name}_number(value):
    if value is None or value != value:
        return math.nan
    if isinstance(value, str) or math.isinf(value):
        raise ValueError(f"not a finite number: {{value!r}}")
    return float(value)


def _{name}_position(value, categories, unseen):
    if value is None or value != value:
        return math.nan
    if isinstance(value, str) != all(isinstance(category, str) for category in categories):
        raise ValueError(f"not a category of the right type: {{value!r}}")
    return categories.get(value, unseen)


def _{name}_add(total, coefficient, value):
    return total + coefficient * value
{parts}

def {name}(row):
    """Predict one row, {row}, as a dictionary; a missing value is None or NaN."""
    x = {{}}
{reading}{body}'''


def to_python(model: Model, *, name: str = "predict", interval: float | None = None) -> str:
    """Return the text of a Python function that predicts one row, without a dependency.

    It takes a dictionary by column name, or a sequence where the training table had no names, and returns a dictionary
    with the entries that `to_sql` names: ``leaf`` (of a single tree), ``probability_…`` of each class and
    ``prediction``, or ``mean``. Only the columns that the model uses need be there.

    Parameters
    ----------
    model
        A fitted tree or tree space; of a pipeline the last step.
    name
        Name of the function.
    interval
        Probability of an interval, for ``low`` and ``high`` (of each class: ``low_…`` and ``high_…``); None for none.
        Trees only.

    Returns
    -------
    str
        The text of a module.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeRegressor
    >>> from baytree.export import to_python
    >>> X, y = load_iris(return_X_y=True)
    >>> text = to_python(BayesianTreeRegressor(outcome="poisson", prior=[1, 1], max_depth=1).fit(X, y))
    >>> names = {}
    >>> exec(text, names)
    >>> names["predict"]([5.1, 3.5, 1.4, 0.2])
    {'leaf': 1, 'mean': 0.0196078431372549}
    """
    fitted = carried(model)
    language = _language(check_name(name, keyword.kwlist))
    if isinstance(fitted, FittedTree):
        parts, body = _of_tree(fitted, interval, language)
    else:
        parts, body = _of_members(fitted, interval, language)
    reading = "".join(
        f"    x[{feature}] = {_reading(fitted, feature, language)}\n" for feature in fitted.used_features.tolist()
    )
    row = "its values in order" if fitted.schema.names is None else "a dictionary by column name"
    return _TEXT.format(name=name, row=row, parts=parts, reading=reading, body=body)


def _reading(fitted: Fitted, feature: int, language: Language) -> str:
    """A value of a row as a number."""
    schema, column = fitted.schema, fitted.schema.columns[feature]
    value = f"row[{feature if schema.names is None else ascii(schema.names[feature])}]"
    if column.categories is None:
        return f"{language.prefix}number({value})"
    unseen = "math.nan" if column.kind is Kind.ORDERED else "-1.0"  # without a place in the order it is missing
    return f"{language.prefix}position({value}, {_positions(column)}, {unseen})"


def _positions(column: Column) -> str:
    categories = [] if column.categories is None else column.categories.tolist()
    return f"{{{', '.join(f'{category!a}: {float(i)}' for i, category in enumerate(categories))}}}"


def _find(tree: Tree, label: str, language: Language) -> str:
    """Functions that find the leaf; the last is the one to call."""
    ways = language.ways(tree, label)
    return "".join(f"\n\ndef {name}(x):\n" + "".join(f"{line}\n" for line in lines) for name, lines in ways)


def _labels(classes: AnyArray) -> list[str]:
    return [ascii(label) for label in classes.tolist()]


def _of_tree(fitted: FittedTree, interval: float | None, language: Language) -> tuple[str, str]:
    tree, ends = fitted.tree, interval_ends(fitted, interval)
    outputs = dict(zip(value_names(fitted), tree.value[:, 0].T, strict=True))
    best = fitted.node_codes
    entries = []
    for leaf in np.flatnonzero(tree.is_leaf).tolist():
        pairs = [("leaf", str(leaf)), *((name, _number(values[leaf])) for name, values in outputs.items())]
        if fitted.classes is not None:
            pairs.append(("prediction", _labels(fitted.classes)[best[leaf]]))
        pairs += [(name, _number(values[leaf])) for name, values in ends.items()]
        entries.append(f"    {leaf}: {_dictionary(pairs)},\n")
    leaves = f"\n\n{language.prefix}leaves = {{\n{''.join(entries)}}}\n"
    return _find(tree, "", language) + leaves, f"    return dict({language.prefix}leaves[{language.prefix}find(x)])\n"


def _dictionary(pairs: Sequence[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{name!a}: {value}' for name, value in pairs)}}}"


def _of_members(fitted: Fitted, interval: float | None, language: Language) -> tuple[str, str]:
    """The average over trees and tree spaces."""
    interval_ends(fitted, interval)  # of an average there are none
    names, prefix, parts = value_names(fitted), language.prefix, []
    lines = [f"    total = {[0.0] * len(names)}\n"]
    for i, member in enumerate(members_of(fitted)):
        if isinstance(member.grown, Tree):
            parts.append(_find(member.grown, str(i), language))
            parts.append(f"\n\n{prefix}leaves{i} = {_leaf_values(member.grown)}\n")
            lines.append(f"    n = [{prefix}leaves{i}[{prefix}find{i}(x)]]\n")
        else:
            own = member.grown.leaf_share[:, None] * member.grown.value[:, 0]
            parts.append(f"\n\n{prefix}own{i} = [\n{''.join(f'    {_list(values)},{chr(10)}' for values in own)}]\n")
            lines += [f"    n = list({prefix}own{i})\n", *_choices(member.grown, language)]
        lines.append(f"    total = [{prefix}add(t, {_number(member.share)}, v) for t, v in zip(total, n[0])]\n")
    if fitted.classes is None:
        pairs = [(name, f"total[{i}]") for i, name in enumerate(names)]
    else:
        pairs = [(name, f"total[{i}] / sum(total)") for i, name in enumerate(names)]
        chosen = _decision(fitted.decision, lines)
        pairs.append(("prediction", f"[{', '.join(_labels(fitted.classes))}][{chosen}]"))
    return "".join(parts), "".join([*lines, f"    return {_dictionary(pairs)}\n"])


def _decision(decision: Decision, lines: list[str]) -> str:
    """The position of the class that is decided for; `lines` are what is worked out before."""
    if decision.threshold is not None:
        share = f"total[{decision.positive}] / sum(total)"
        return f"{decision.positive} if {share} >= {_number(decision.threshold)} else {1 - decision.positive}"
    if decision.costs is None:
        return "total.index(max(total))"
    columns = ", ".join(map(_list, decision.costs.T))
    lines.append(f"    cost = [sum(t / sum(total) * c for t, c in zip(total, column)) for column in [{columns}]]\n")
    return "cost.index(min(cost))"


def _leaf_values(tree: Tree) -> str:
    pairs = ((leaf, tree.value[leaf, 0]) for leaf in np.flatnonzero(tree.is_leaf).tolist())
    return f"{{{', '.join(f'{leaf}: {_list(values)}' for leaf, values in pairs)}}}"


def _choices(space: Space, language: Language) -> list[str]:
    """What their choices add to the nodes, from the deepest up."""
    lines = []
    for node in range(space.node_count - 1, -1, -1):
        for choice in space.choices_of(node):
            left, right = int(space.children_left[choice]), int(space.children_right[choice])
            below = f"n[{left}] if {language.goes_left(space.split(choice))} else n[{right}]"
            add = f"{language.prefix}add(t, {_number(space.choice_share[choice])}, v)"
            lines.append(f"    n[{node}] = [{add} for t, v in zip(n[{node}], {below})]\n")
    return lines


def _list(values: Any) -> str:
    return f"[{', '.join(_number(value) for value in values)}]"
