"""A tree as text."""

from __future__ import annotations

import numpy as np

from .._words import amount_text, estimate_text, grouping, number_text
from ..estimators import Model, readable_tree_of
from ..fitted import Fitted, edit_lines, split_facts
from ..leaves import ModelLeaves, leaf_headline, leaf_lines
from ..tree import NO_CHILD, threshold_text

_MANY = 6  # classes: with more, not all probabilities are listed
_TOLD = 2


def to_text(model: Model, *, decimals: int = 3, max_depth: int | None = None, numbers: bool = False) -> str:
    """Draw a fitted tree in text: splits with two numbers, leaves with their posterior.

    ``split`` has the odds of the split against leaving the node whole; beyond a million to one they are beyond doubt.
    ``column`` has the probability that the node is split on this column, and the most probable other column. ``n``
    counts training rows. Where some of them lack the value, their number and the branch that they take follow. A leaf
    with a linear model tells its prediction where every term is at its mean, and below it each term in a line, the most
    important first: a slope, or a factor on the odds, with its 90 % interval in brackets. Below a tree that people
    edited, there is the history of the edits.

    Parameters
    ----------
    model
        A fitted tree, or a tree space or forest, whose readable tree is drawn.
    decimals
        Most digits behind the point.
    max_depth
        Deepest level to draw; None for all.
    numbers
        Whether each line begins with the number of its node.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> from baytree.export import to_text
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(to_text(BayesianTreeClassifier(prior=1.0).fit(X, y), max_depth=2))
    petal width (cm) <= 0.8   [split beyond doubt; column 66 %, else petal length (cm) 34 %; n=150]
    ├─ yes: 0  p=0.982 0.009 0.009   Dirichlet(25.5536, 0.228586, 0.228586)  n=50
    └─ no:  petal width (cm) <= 1.75   [split beyond doubt; column 95.6 %, else petal length (cm) 4.4 %; n=100]
            ├─ yes: 1  p=0.008 0.893 0.098   Dirichlet(0.262421, 28.7373, 3.16803)  n=54
            └─ no:  2  p=0.010 0.031 0.960   Dirichlet(0.248859, 0.800667, 25.0802)  n=46
    """
    fitted = readable_tree_of(model)
    tree, schema = fitted.trees, fitted.schema
    number = threshold_text(tree, lambda value: _threshold(value, decimals))
    lines: list[str] = []
    # (node, text before its own line, text before its descendants' lines)
    stack = [(0, "", "")]
    while stack:
        node, head, indent = stack.pop()
        head += f"{node}: " if numbers else ""
        if tree.children_left[node] == NO_CHILD:
            lines.append(head + _leaf(fitted, node, decimals))
            lines += [f"{indent}    {line}" for line in _terms(fitted, node)]
            continue
        if max_depth is not None and tree.depth[node] >= max_depth:
            lines.append(head + f"...  n={amount_text(int(tree.n_node_samples[node]))}")
            continue
        question, yes_left = tree.split(node).question(schema, number)
        lines.append(head + f"{question}   [{'; '.join(split_facts(fitted, node))}]")
        sides = int(tree.children_left[node]), int(tree.children_right[node])
        yes, no = sides if yes_left else sides[::-1]
        stack.append((no, indent + "└─ no:  ", indent + " " * 8))
        stack.append((yes, indent + "├─ yes: ", indent + "│" + " " * 7))
    if fitted.edits:
        lines += ["", "Edits", *edit_lines(fitted.edits)]
    return "\n".join(lines)


def _threshold(value: float, decimals: int) -> str:
    """Digits behind the point, or as many in all where those would not tell much of a small or large number."""
    is_small, is_large = abs(value) < 10.0 ** (1 - decimals), abs(value) >= 1e7
    if value != 0 and (is_small or is_large):
        return f"{value:{grouping(abs(value))}.{decimals + 1}g}"
    text = f"{value:{grouping(abs(value))}.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _leaf(fitted: Fitted, node: int, decimals: int) -> str:
    """The prediction of a leaf, and its posterior; of many classes the most probable ones."""
    tree = fitted.trees
    numbers = ", ".join(map(number_text, tree.calibrated[node].tolist()))
    rows = f"n={amount_text(int(tree.n_node_samples[node]))}"
    if isinstance(tree.leaves, ModelLeaves) and tree.leaves.n_terms[node]:
        return f"{leaf_headline(tree.leaves, node, fitted.class_names)}   {rows}"
    if not fitted.outcome.predicts_classes:
        predicted = " ".join(estimate_text(value) for value in tree.value[node, 0])
        return f"{predicted}   {fitted.outcome.family}({numbers})  {rows}"
    code, names, p = int(fitted.node_codes[node]), fitted.class_names, tree.value[node, 0]
    if len(names) <= _MANY:
        probabilities = " ".join(f"{probability:.{decimals}f}" for probability in p)
        return f"{names[code]}  p={probabilities}   {fitted.outcome.family}({numbers})  {rows}"
    order = [int(i) for i in np.argsort(-p, kind="stable") if i != code][:_TOLD]
    others = ", ".join(f"{names[i]} {p[i]:.{decimals}f}" for i in order)
    return f"{names[code]}  p={p[code]:.{decimals}f}, then {others}  {rows}"


def _terms(fitted: Fitted, node: int) -> list[str]:
    """The terms of a leaf that has a model."""
    leaves = fitted.trees.leaves
    return leaf_lines(leaves, node, fitted.schema, fitted.class_names) if isinstance(leaves, ModelLeaves) else []
