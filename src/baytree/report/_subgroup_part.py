"""The section on subgroups."""

from __future__ import annotations

import math
from html import escape

from .._words import amount_text, count_text, percent_text
from ..evaluation import TITLES, Subgroup, splits_using
from ..figures import Figure
from ..fitted import Fitted
from ._charts import dot
from ._decision_part import names_of
from ._html import Cell, element, paragraph, section, table


def subgroup_part(fitted: Fitted, subgroups: list[Subgroup]) -> str:
    """One table a column."""
    parts = [
        paragraph(
            "Figures by subgroup on held-out rows, each with its 90 % interval. If the intervals of two subgroups do "
            "not overlap, chance is an unlikely explanation of the difference. The figures do not tell whether a "
            "difference is fair."
        )
    ]
    place = 0
    for column in dict.fromkeys(group.column for group in subgroups):
        groups = [group for group in subgroups if group.column == column]
        parts += [element("h3", escape(column)), paragraph(_usage_text(fitted, column), class_="soft")]
        parts.append(_table(fitted, column, groups, place))
        place += len(groups)
    return section("subgroups", "Subgroups", *parts)


def _usage_text(fitted: Fitted, column: str) -> str:
    """Which splits use the column."""
    splits = splits_using(fitted, column)
    if splits is None:
        return "The model does not have this column; other columns may stand for it."
    if not splits and column in _term_columns(fitted):
        return "No split of the tree uses this column, but models in the leaves do."
    if not splits:
        return "No split of the tree uses this column; other columns may stand for it."
    nodes = fitted.trees.n_node_samples
    share = percent_text(float(nodes[splits[0]] / nodes[0]))
    numbers = ", ".join(map(str, splits[:12])) + (" and others" if len(splits) > 12 else "")
    return (
        f"{count_text(len(splits), 'split')} of the tree {'uses' if len(splits) == 1 else 'use'} this column: "
        f"{numbers}. "
        f"{share} of the training rows come to the first of them."
    )


def _term_columns(fitted: Fitted) -> set[str]:
    """The columns that models in the leaves use."""
    return {fitted.schema.name(feature) for feature in fitted.trees.leaves.used_features.tolist()}


def _table(fitted: Fitted, column: str, subgroups: list[Subgroup], place: int) -> str:
    other, positive = names_of(fitted) if len(fitted.class_names) == 2 else ("", "")
    titles = {
        key: title.format(positive=positive, other=other)
        for key, title in TITLES.items()
        if key in subgroups[0].figures
    }
    if positive:
        titles["observed"] = f"observed {positive}"
    elif fitted.outcome.predicts_classes:
        titles["observed"] = "most probable class is right"
    ends = {key: _axis_limits([group.figures[key] for group in subgroups]) for key in titles}
    rows = [
        (
            group.name,
            amount_text(group.n),
            *(_cell(group.figures[key], ends[key], f"group-{place + i}-{key}") for key in titles),
        )
        for i, group in enumerate(subgroups)
    ]
    return table(
        [column, "rows", *titles.values()], rows, range(1, len(titles) + 2), class_="stack groups", label=column
    )


def _cell(figure: Figure, ends: tuple[float, float], name: str) -> Cell:
    interval = figure.interval()
    text = f"{escape(figure.text())}<br><small>{escape(interval)}</small>" if interval else escape(figure.text())
    return Cell(f'<span id="{name}">{text}</span>{dot(figure, *ends)}', html=True)


def _axis_limits(figures: list[Figure]) -> tuple[float, float]:
    """Shares go from 0 to 1, other figures over what there is."""
    if figures[0].is_share:
        return 0.0, 1.0
    numbers = [n for figure in figures for n in (figure.low, figure.high, figure.estimate)]
    finite = [n for n in numbers if math.isfinite(n)]
    return (min(finite), max(finite)) if finite else (0.0, 0.0)
