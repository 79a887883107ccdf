"""The coverage on made tables as tables of docs/benchmarks.md and of the README."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.honesty.tables import SHAPES

# The coverage of each shape, by model, setting and number of rows.
Coverage = dict[tuple[str, str, int], list[float]]

_BEFORE, _AFTER = ("conjugate", "default"), ("calibrated", "default")
_START, _END = "<!-- honesty: simulated -->", "<!-- end of honesty -->"


def write_pages(coverage: Coverage, root: Path = Path()) -> None:
    """Put the tables between their marks."""
    for name, lines in (("README.md", means_table(coverage)), ("docs/benchmarks.md", full_table(coverage))):
        page = root / name
        before, rest = page.read_text("utf-8").split(_START)
        page.write_text("\n".join([before + _START, *lines, _END + rest.split(_END)[1]]), "utf-8")


def full_table(coverage: Coverage) -> list[str]:
    """A line for each model, setting and number of rows; a column for each shape."""
    head = ["| model | rows | " + " | ".join(SHAPES) + " | mean |", "|---|---:|" + "---:|" * (len(SHAPES) + 1)]
    lines = [
        f"| {model}, {setting} | {n:,} | {' | '.join(map(_percent, shares))} | {_percent(np.nanmean(shares))} |"
        for (model, setting, n), shares in coverage.items()
    ]
    return head + lines


def means_table(coverage: Coverage) -> list[str]:
    """A line for each model: means over the shapes before and after calibration."""
    sizes = sorted(set.intersection(*({n for m, _, n in coverage if m == model} for model, _, _ in coverage)))
    columns = [(n, settings) for n in sizes for settings in (_BEFORE, _AFTER)]
    titles = [f"{n:,} rows, {'before' if settings is _BEFORE else 'after'}" for n, settings in columns]
    lines = [f"| model | {' | '.join(titles)} |", "|---|" + "---:|" * len(columns)]
    for model in dict.fromkeys(model for model, _, _ in coverage):
        cells = []
        for n, settings in columns:
            shares = next(coverage[model, setting, n] for setting in settings if (model, setting, n) in coverage)
            cells.append(_percent(np.nanmean(shares)))
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return lines


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
