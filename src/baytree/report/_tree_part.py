"""The sections that the script fills: the drawing of the tree, and the form for single cases."""

from __future__ import annotations

from html import escape

from ..fitted import Fitted
from ._contents import curve_text
from ._html import element, paragraph, section
from ._sections import text_part


def tree_part(fitted: Fitted) -> str:
    """The section with the drawing of the tree."""
    toolbar = element(
        "div",
        '<label for="search">Find a column<input id="search" type="search" autocomplete="off"></label>',
        element("span", id="found", role="status"),
        _button("open-all", "Expand all"),
        _button("close-all", "Collapse all"),
        _button("fit", "Fit to view"),
        _button("zoom-out", "−", "Zoom out"),
        element("span", "100 %", id="zoom", role="status", aria_label="Zoom"),
        _button("zoom-in", "+", "Zoom in"),
        class_="toolbar screen",
    )
    drawing = element("div", id="view", class_="view") + element("div", id="map", class_="map screen")
    help_text = paragraph(
        "Click a split to expand or collapse the branch below it, and a leaf to read its rule. With the keyboard, use "
        "the arrow keys to move, Enter to expand or collapse, F to show one branch alone, and + and - to zoom.",
        class_="soft",
    )
    return section(
        "tree",
        "Tree",
        element("div", id="legend", class_="legend"),
        toolbar,
        element("div", id="crumbs", class_="crumbs screen"),
        element("div", drawing, class_="drawing"),
        element("p", id="left-out", class_="soft screen"),
        paragraph(curve_text(fitted), class_="soft"),
        element("div", id="detail", class_="screen", aria_live="polite"),
        element("details", element("summary", "How to use this drawing"), help_text, class_="screen"),
        "<noscript><p>The drawing and the form need JavaScript. The text and the rules show the tree.</p></noscript>",
        text_part(fitted),
    )


def case_part(fitted: Fitted) -> str:
    """The section with the form for single cases, where the script computes what the model predicts."""
    unseen = (
        ""
        if fitted.unseen == "average"
        else " A value that no training row had at a split follows the branch with more training rows."
    )
    return section(
        "case",
        "Single cases",
        paragraph(
            f"The values you enter stay on this page. An empty field counts as a missing value.{unseen}", class_="soft"
        ),
        '<form id="form"><div id="fields" class="fields"></div><p id="rest" class="soft"></p>'
        '<p><button class="main" type="submit">Predict</button></p></form>'
        "<details><summary>Paste a case</summary>"
        '<label for="paste">Values in the order of the columns, a line of names above a line of values, or JSON</label>'
        '<p><textarea id="paste" rows="3" cols="40"></textarea></p>'
        '<p><button id="fill" type="button">Fill in</button></p></details>'
        '<details><summary>Columns that may change</summary><div id="allowed" class="fields"></div></details>',
        element("div", id="answer", class_="answer", aria_live="polite"),
    )


def _button(name: str, text: str, label: str | None = None) -> str:
    return element("button", escape(text), type="button", id=name, **({} if label is None else {"aria_label": label}))
