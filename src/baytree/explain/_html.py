"""HTML for notebooks: escaped, self-contained, in the colours of the page it is shown on."""

from __future__ import annotations

from html import escape

# No colours of its own: text and lines follow the notebook's theme, light or dark.
STYLE = "font-family:monospace;font-size:0.9em;line-height:1.5;overflow-wrap:anywhere;white-space:normal"
FAINT = "opacity:0.7"


def escape_html(text: object) -> str:
    """Text of any origin, whose direction of writing stays its own."""
    return f"<bdi>{escape(str(text), quote=True)}</bdi>"


def faint(text: object) -> str:
    """Text in a fainter colour."""
    return f'<span style="{FAINT}">{escape_html(text)}</span>'
