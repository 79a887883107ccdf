"""Write the page."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .._validation import check_integer
from ..estimators import FittedEstimator, estimator_of, fitted_of, read_rows
from ..fitted import FittedTree
from ..persistence import write_text
from ._contents import contents_of, curve_text
from ._html import element, paragraph, section
from ._metrics import hold_out
from ._sections import (
    alternatives_part,
    feature_part,
    limits_part,
    provenance_part,
    quality,
    rules_part,
    summary_text,
    text_part,
)


def write(
    model: FittedEstimator,
    X: Any,
    y: Any,
    path: str | Path,
    *,
    title: str | None = None,
    source: str | None = None,
    held_out: tuple[Any, Any] | None = None,
    folds: int = 5,
) -> Path:
    """Write a fitted model as one HTML page that works offline, in print, by keyboard and with a screen reader.

    Parameters
    ----------
    model
        A fitted tree or tree space, or a pipeline that ends in one.
    X, y
        The rows it was fitted to. They are not written to the page; the quality is measured by cross-validation.
    path
        File to write.
    title
        Heading of the page.
    source
        Where the rows come from, in words: a file, a query, a date.
    held_out
        A pair ``(X, y)`` of rows that the model has not seen, to measure its quality on instead.
    folds
        Folds of the cross-validation.

    Returns
    -------
    pathlib.Path
        The file.
    """
    estimator, fitted = estimator_of(model), fitted_of(model)
    check_consistent_length(X, y)
    folds = check_integer("folds", folds, low=2)
    for name, value in (("title", title), ("source", source)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a string or None; got {type(value).__name__}.")
    read_rows(model, X)  # refuses a table that is not the model's
    target = getattr(y, "name", None)  # of a pandas or polars series
    target = None if target is None or target == "" else str(target)
    parts = [
        quality(fitted, hold_out(model, X, y, held_out, folds)),
        _tree_part(fitted.modal),
        _case_part(),
        feature_part(fitted),
        alternatives_part(fitted),
        rules_part(fitted.modal),
        limits_part(fitted),
        provenance_part(estimator, np.asarray(y), target, source),
    ]
    heading = title or f"{type(estimator).__name__}: what it says and how sure it is"
    lead = summary_text(fitted, len(np.asarray(y)), target)
    return write_text(path, _page(heading, lead, parts, contents_of(fitted, target)))


_SECTIONS = {
    "quality": "Quality",
    "tree": "The tree",
    "case": "Try a case",
    "features": "What decides",
    "alternatives": "What else",
    "rules": "Rules",
    "limits": "Limits",
    "provenance": "Provenance",
}


def _page(title: str, lead: str, parts: list[str], contents: dict[str, Any]) -> str:
    style, script = (resources.files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    links = "".join(element("li", element("a", name, href=f"#{anchor}")) for anchor, name in _SECTIONS.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        '<a class="skip" href="#tree">To the tree</a>'
        + element("header", element("h1", escape(title)), paragraph(lead, class_="lead"))
        + element("nav", element("ul", links), aria_label="Contents")
        + element("main", *parts)
        + f'<script type="application/json" id="model">{_json(contents)}</script><script>{script}</script>'
        + "</body></html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(contents: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(_without_infinity(contents), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, code)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _without_infinity(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _without_infinity(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinity(inner) for inner in value]
    return value


def _button(name: str, text: str) -> str:
    return element("button", text, type="button", id=name)


def _tree_part(fitted: FittedTree) -> str:
    toolbar = element(
        "div",
        '<label for="search">Find a column<input id="search" type="search" autocomplete="off"></label>',
        _button("zoom-in", "Zoom in"),
        _button("zoom-out", "Zoom out"),
        _button("zoom-fit", "Fit"),
        element("span", "100 %", id="zoom", role="status", aria_label="Zoom"),
        _button("open-all", "Open all"),
        _button("close-all", "Close all"),
        element("span", id="found", role="status"),
        class_="toolbar",
    )
    canvas = element("div", id="canvas", class_="canvas", role="tree", aria_label="The decision tree")
    return section(
        "tree",
        "The tree",
        paragraph(
            "Click a split to open or close what is below it, a leaf for its rule. By keyboard: arrows to move, Enter "
            f"to open or close, + and - to zoom. {curve_text(fitted)}",
            class_="soft",
        ),
        toolbar,
        element("div", canvas, id="view", class_="view"),
        element("div", id="detail", aria_live="polite"),
        "<noscript><p>The drawing and the form need JavaScript; the text and the rules say the same.</p></noscript>",
        text_part(fitted),
    )


def _case_part() -> str:
    return section(
        "case",
        "Try a case",
        paragraph("Nothing that you enter leaves this page. Empty fields count as missing.", class_="soft"),
        '<form id="form"><div id="fields" class="fields"></div><p id="rest" class="soft"></p>'
        '<p><button class="main" type="submit">What does the model say?</button></p></form>'
        "<details><summary>Paste a case</summary>"
        '<label for="paste">Values in the order of the table, a line of names above a line of values, or JSON</label>'
        '<p><textarea id="paste" rows="3" cols="60"></textarea></p>'
        '<p><button id="fill" type="button">Fill in</button></p></details>',
        element("div", id="answer", class_="answer", aria_live="polite"),
    )
