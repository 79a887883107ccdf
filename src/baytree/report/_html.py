"""HTML and SVG as text, every name and value escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ._metrics import Bin


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


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of plain text; the first cell of a row is its heading, `numbers` are the columns of figures."""
    kind = [{"class_": "number"} if i in numbers else {} for i in range(len(header))]
    head = "".join(element("th", escape(cell), scope="col", **kind[i]) for i, cell in enumerate(header))
    body = "".join(
        element(
            "tr",
            *(
                element("td" if i else "th", escape(cell), **kind[i], **({} if i else {"scope": "row"}))
                for i, cell in enumerate(row)
            ),
        )
        for row in rows
    )
    inner = element("table", element("thead", element("tr", head)), element("tbody", body))
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=header[0])


def calibration_chart(bins: Sequence[Bin], predicted: str, observed: str) -> str:
    """Predicted against observed, with intervals; on the dashed line they agree."""
    ends = [number for one in bins for number in (one.predicted, one.low, one.high)]
    low, high = min(ends), max(ends)
    if all(0 <= number <= 1 for number in ends):
        low, high = 0.0, 1.0
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return round(60 + 380 * (value - low) / span, 1)

    def y(value: float) -> float:
        return round(320 - 300 * (value - low) / span, 1)

    marks = [
        f'<line class="range" x1="{x(b.predicted)}" x2="{x(b.predicted)}" y1="{y(b.low)}" y2="{y(b.high)}"/>'
        f'<circle class="mark" cx="{x(b.predicted)}" cy="{y(b.observed)}" r="4"/>'
        for b in bins
    ]
    ticks = [
        f'<text x="{x(value)}" y="338" text-anchor="middle">{value:.3g}</text>'
        f'<text x="54" y="{y(value) + 4}" text-anchor="end">{value:.3g}</text>'
        for value in (low, low + span / 2, high)
    ]
    inside = (
        f'<path class="axis" d="M60 20 V320 H440"/><line class="ideal" x1="60" y1="320" x2="440" y2="20"/>'
        f"{''.join(marks)}{''.join(ticks)}"
        f'<text x="250" y="360" text-anchor="middle">{escape(predicted)}</text>'
        f'<text x="60" y="12">{escape(observed)}</text>'
    )
    label = f"{observed} against {predicted}; the table below has the figures"
    return element("svg", inside, class_="chart", viewBox="0 0 460 370", role="img", aria_label=label)


def bar(share: float) -> str:
    """A bar as long as a share."""
    width = round(160 * min(max(share, 0.0), 1.0), 1)
    return f'<svg width="160" height="12" aria-hidden="true"><rect class="bar" width="{width}" height="12"/></svg>'
