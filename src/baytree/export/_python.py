"""A model as a function in plain Python, without any import but `math`."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from ..decision import Decision
from ..estimators import Model
from ..fitted import Fitted
from ..table import Column, Kind
from ..tree import TreeStore
from ._code import PYTHON, Language
from ._members import averaged, carried, leaf_columns, value_names

_number = PYTHON.number

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


def to_python(model: Model, *, name: str = "predict", interval: float | None = None, std: bool = False) -> str:
    """Return the text of a Python function that predicts one row, without a dependency.

    It takes a dictionary by column name, or a sequence where the training table had no names, and returns a dictionary
    with the entries that `to_sql` names: ``leaf`` (of a single tree), ``probability_…`` of each class and
    ``prediction``, or ``mean``. Only the columns that the model uses need be there.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest; of a pipeline the last step.
    name
        Name of the function.
    interval
        Probability of an interval, for ``low`` and ``high`` (of each class: ``low_…`` and ``high_…``); None for none.
        Trees only.
    std
        Whether to add ``std``, the standard deviation of what is predicted; not of classes.

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
    language = PYTHON.named(name, keyword.kwlist)
    if fitted.has_one_leaf:
        parts, body = _of_tree(fitted, interval, std, language)
    else:
        parts, body = _of_members(fitted, interval, std, language)
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


def _find(tree: TreeStore, label: str, language: Language) -> str:
    """Functions that find the leaf; the last is the one to call."""
    ways = language.ways(tree, label)
    return "".join(f"\n\ndef {name}(x):\n" + "".join(f"{line}\n" for line in lines) for name, lines in ways)


def _labels(classes: AnyArray) -> list[str]:
    return [ascii(label) for label in classes.tolist()]


def _of_tree(fitted: Fitted, interval: float | None, std: bool, language: Language) -> tuple[str, str]:
    tree, more = fitted.trees, leaf_columns(fitted, interval, std)
    outputs = dict(zip(value_names(fitted), tree.value[:, 0].T, strict=True))
    best, labels = fitted.node_codes, _labels(fitted.outcome.labels)
    entries = []
    for leaf in np.flatnonzero(tree.is_leaf).tolist():
        pairs = [("leaf", str(leaf)), *((name, _number(values[leaf])) for name, values in outputs.items())]
        if labels:
            pairs.append(("prediction", labels[best[leaf]]))
        pairs += [(name, _number(values[leaf])) for name, values in more.items()]
        entries.append(f"    {leaf}: {_dictionary(pairs)},\n")
    leaves = f"\n\n{language.prefix}leaves = {{\n{''.join(entries)}}}\n"
    return _find(tree, "", language) + leaves, f"    return dict({language.prefix}leaves[{language.prefix}find(x)])\n"


def _dictionary(pairs: Sequence[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{name!a}: {value}' for name, value in pairs)}}}"


def _of_members(fitted: Fitted, interval: float | None, std: bool, language: Language) -> tuple[str, str]:
    """The average over trees and tree spaces."""
    members = averaged(fitted, interval, std)
    names, prefix, parts = value_names(fitted), language.prefix, []
    lines = [f"    total = {[0.0] * members[0][1].shape[1]}\n"]
    for i, (member, values) in enumerate(members):
        if member.trees.is_plain:
            parts.append(_find(member.trees, str(i), language))
            parts.append(f"\n\n{prefix}leaves{i} = {_leaf_values(member.trees, values)}\n")
            lines.append(f"    n = [{prefix}leaves{i}[{prefix}find{i}(x)]]\n")
        else:
            parts.append(f"\n\n{prefix}own{i} = [\n{''.join(f'    {_list(own)},{chr(10)}' for own in values)}]\n")
            lines += [f"    n = list({prefix}own{i})\n", *_choices(member.trees, language)]
        lines.append(f"    total = [{prefix}add(t, {_number(member.share)}, v) for t, v in zip(total, n[0])]\n")
    if fitted.outcome.predicts_classes:
        pairs = [(name, f"total[{i}] / sum(total)") for i, name in enumerate(names)]
        chosen = _decision(fitted.decision, lines)
        pairs.append(("prediction", f"[{', '.join(_labels(fitted.outcome.labels))}][{chosen}]"))
    else:
        pairs = [(name, f"total[{i}]") for i, name in enumerate(names)]
        if std:
            pairs.append(("std", "math.sqrt(max(total[-1] - total[-2] * total[-2], 0.0))"))
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


def _leaf_values(tree: TreeStore, values: FloatArray) -> str:
    leaves = np.flatnonzero(tree.is_leaf).tolist()
    return f"{{{', '.join(f'{leaf}: {_list(values[leaf])}' for leaf in leaves)}}}"


def _choices(space: TreeStore, language: Language) -> list[str]:
    """What their choices add to the nodes, from the deepest up."""
    lines = []
    for node in range(space.node_count - 1, -1, -1):
        for choice in space.splits_of(node):
            left, right = int(space.children_left[choice]), int(space.children_right[choice])
            below = f"n[{left}] if {language.goes_left(space.split(choice))} else n[{right}]"
            add = f"{language.prefix}add(t, {_number(space.choice_share[choice])}, v)"
            lines.append(f"    n[{node}] = [{add} for t, v in zip(n[{node}], {below})]\n")
    return lines


def _list(values: Any) -> str:
    return f"[{', '.join(_number(value) for value in values)}]"
