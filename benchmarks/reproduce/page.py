"""Tables and figures as a Markdown page and as one HTML file."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from .tables import Table

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222;
  background: #fff; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
figure { margin: 1.5rem 0; } img { max-width: 100%; background: #fff; } figcaption { color: #555; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818; } th, td { border-color: #444; }
  figcaption { color: #aaa; } }
@media print { body { margin: 0; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_markdown(path: Path, title: str, intro: str, tables: list[Table], figures: list[tuple[str, str]]) -> None:
    """Write the page as Markdown; figures are files beside it."""
    parts = [f"# {title}", intro]
    for table in tables:
        lines = [" | ".join(table.header), " | ".join("---" for _ in table.header)]
        lines += [" | ".join(cell.replace("|", "\\|") for cell in row) for row in table.rows]
        parts += [f"## {table.title}", table.text, "\n".join(f"| {line} |" for line in lines)]
    if figures:
        parts.append("## Figures")
    parts += [f"![{caption}]({name})\n\n{caption}" for name, caption in figures]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def write_html(path: Path, title: str, intro: str, tables: list[Table], figures: list[tuple[str, str]]) -> None:
    """Write the page as one HTML file that needs nothing else."""
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{escape(intro)}</p>"]
    for table in tables:
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
        parts.append(
            f"<h2>{escape(table.title)}</h2><p>{escape(table.text)}</p>"
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )
    if figures:
        parts.append("<h2>Figures</h2>")
    for name, caption in figures:
        picture = base64.b64encode((path.parent / name).read_bytes()).decode("ascii")
        parts.append(
            f'<figure><img src="data:image/png;base64,{picture}" alt="{escape(caption)}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    path.write_text(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n",
        encoding="utf-8",
    )
