"""HTML for notebooks: escaped, self-contained, in the colours of the page it is shown on; a tree to open and close."""

from __future__ import annotations

from html import escape

import numpy as np

from .._typing import IntArray
from .._words import summary_text
from ..fitted import Fitted, split_facts

# No colours of its own: text and lines follow the notebook's theme, light or dark.
STYLE = "font-family:monospace;font-size:0.9em;line-height:1.5;overflow-wrap:anywhere;white-space:normal"
FAINT = "opacity:0.7"
_DEPTH = 3


def escape_html(text: object) -> str:
    """Text of any origin, whose direction of writing stays its own."""
    return f"<bdi>{escape(str(text), quote=True)}</bdi>"


def faint(text: object) -> str:
    """Text in a fainter colour."""
    return f'<span style="{FAINT}">{escape_html(text)}</span>'


def tree_html(fitted: Fitted) -> str:
    """Draw a tree to depth 3: splits with odds and the choice of column, leaves with estimate, interval and rows."""
    tree = fitted.trees
    leaves = np.flatnonzero(tree.is_leaf & (tree.depth <= _DEPTH))
    lines = dict(zip(leaves.tolist(), _leaf_lines(fitted, leaves), strict=True))

    def draw(node: int) -> str:
        n_rows = f"n={tree.n_node_samples[node]:,}"
        if node in lines:
            return f"{'<br>'.join(map(escape_html, lines[node]))} {faint(n_rows)}"
        if tree.depth[node] >= _DEPTH:
            return faint(f"… {n_rows}")
        split = tree.split(node)
        rule, yes_left = split.question(fitted.schema)
        facts = f"[{'; '.join(split_facts(fitted, node))}]"
        sides = tree.children_left[node], tree.children_right[node]
        pairs = zip(("yes", "no"), sides if yes_left else sides[::-1], strict=True)
        branches = "".join(f"<li>{name}: {draw(int(child))}</li>" for name, child in pairs)
        return (
            f"<details open><summary>{escape_html(rule)} {faint(facts)}</summary>"
            f'<ul style="list-style:none;margin:0;padding-left:1.5em">{branches}</ul></details>'
        )

    return f'<div style="{STYLE}">{draw(0)}</div>'


def _leaf_lines(fitted: Fitted, leaves: IntArray) -> list[list[str]]:
    """The estimate of each leaf: of its predicted class, or all estimates of a number."""
    decisions = fitted.decisions()
    result = []
    for leaf, summary in zip(leaves.tolist(), fitted.summaries(leaves), strict=True):
        name = decisions.name(leaf)
        shown = {name: summary[name]} if name in summary else summary
        result.append([summary_text(name, *numbers) for name, numbers in shown.items()])
    return result
