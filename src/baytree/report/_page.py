"""The HTML document: the parts of the report, the style, the script and the data that the script reads."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from ._html import element

SECTIONS = {
    "summary": "Summary",
    "tree": "Tree",
    "edits": "Edits",
    "decision": "Decision",
    "quality": "Quality",
    "stability": "Stability",
    "alternatives": "Alternative splits",
    "subgroups": "Subgroups",
    "case": "Single cases",
    "rules": "Rules",
    "features": "Columns",
    "limits": "Limits",
    "provenance": "Provenance",
}
_SCRIPTS = ("words.js", "model.js", "tree.js", "decision.js", "leaves.js", "changes.js", "case.js")


def page(title: str, head: str, parts: dict[str, str], contents: dict[str, Any]) -> str:
    """The document; `parts` are the sections by their anchor, and empty ones are left out."""
    files = resources.files(__package__).joinpath("page")
    style = files.joinpath("page.css").read_text("utf-8")
    script = (
        '"use strict";\n(() => {\n' + "".join(files.joinpath(name).read_text("utf-8") for name in _SCRIPTS) + "})();\n"
    )
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    shown = [anchor for anchor in SECTIONS if parts.get(anchor)]
    links = "".join(element("li", element("a", SECTIONS[anchor], href=f"#{anchor}")) for anchor in shown)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        '<a class="skip" href="#tree">Skip to the tree</a>'
        + element("header", head)
        + element("nav", element("ul", links), aria_label="Contents")
        + element("main", *(parts[anchor] for anchor in shown))
        + f'<script type="application/json" id="model">{_json(contents)}</script><script>{script}</script>'
        + "</body></html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(contents: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(_replace_infinity(contents), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, code)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _replace_infinity(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _replace_infinity(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_infinity(inner) for inner in value]
    return value
