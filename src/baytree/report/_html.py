"""HTML as text, every name and value escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def element(tag: str, *content: str, **attributes: object) -> str:
    """An element with content that is HTML already; attributes are escaped (``class_`` for class, ``aria_x``)."""
    names = (name.rstrip("_").replace("_", "-") for name in attributes)
    pairs = zip(names, attributes.values(), strict=True)
    written = "".join(f' {name}="{escape(str(value), quote=True)}"' for name, value in pairs)
    return f"<{tag}{written}>{''.join(content)}</{tag}>"


def paragraph(text: str, **attributes: object) -> str:
    """A paragraph of plain text."""
    return element("p", escape(text), **attributes)


def section(name: str, title: str, *content: str) -> str:
    """A part of the page with a heading."""
    heading = element("h2", escape(title), id=f"{name}-title")
    return element("section", heading, *content, id=name, aria_labelledby=f"{name}-title")


class Cell(str):
    """A cell that is HTML already, or has attributes of its own."""

    attributes: dict[str, object]

    def __new__(cls, text: str, *, html: bool = False, **attributes: object) -> Cell:
        """A cell; its text is escaped unless it is HTML."""
        made = super().__new__(cls, text if html else escape(text))
        made.attributes = attributes
        return made


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Iterable[int] = (),
    *,
    label: str | None = None,
    class_: str = "",
) -> str:
    """A table of plain text; the first cell of a row is its heading, `numbers` are the columns of figures.

    On narrow screens every row becomes a block, in which each cell has the title of its column before it.
    """
    figures = set(numbers)
    head = "".join(
        element("th", escape(cell), scope="col", **({"class_": "number"} if i in figures else {}))
        for i, cell in enumerate(header)
    )
    body = "".join(element("tr", *(_cell(i, cell, header, figures) for i, cell in enumerate(row))) for row in rows)
    inner = element("table", element("thead", element("tr", head)), element("tbody", body))
    classes = f"scroll {class_}".strip()
    return element("div", inner, class_=classes, tabindex=0, role="region", aria_label=label or header[0])


def _cell(i: int, cell: str, header: Sequence[str], figures: set[int]) -> str:
    attributes: dict[str, object] = {"class_": "number"} if i in figures else {}
    attributes |= {"data_label": header[i]} if i else {"scope": "row"}
    if isinstance(cell, Cell):
        return element("td" if i else "th", str(cell), **(attributes | cell.attributes))
    return element("td" if i else "th", escape(cell), **attributes)


def bar(share: float) -> str:
    """A bar as long as a share."""
    width = round(160 * min(max(share, 0.0), 1.0), 1)
    return (
        '<svg class="share" viewBox="0 0 160 12" width="160" height="12" aria-hidden="true">'
        f'<rect class="bar" width="{width}" height="12"/></svg>'
    )
