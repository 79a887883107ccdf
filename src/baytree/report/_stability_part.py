"""The part of the page on refits: which splits and decisions are kept when the rows are drawn anew."""

from __future__ import annotations

from .._words import amount_text, count_text, percent_text
from ..fitted import Stability
from ._html import Cell, bar, paragraph, section, table

_MOST_SPLITS = 20  # those nearest to the root


def stability_part(stability: Stability | None, reason: str = "") -> str:
    """The section, or why there is none."""
    if stability is None:
        return section("stability", "Stability", paragraph(f"Not measured: {reason}"))
    shown = sorted(stability.splits, key=lambda split: (split.depth, split.node))[:_MOST_SPLITS]
    rows = [
        (
            str(split.node),
            split.split,
            amount_text(split.n_rows),
            Cell(f"{bar(split.kept)} {percent_text(split.kept).replace(' ', chr(160))}", html=True),
            split.instead() or "–",
        )
        for split in shown
    ]
    left_off = len(stability.splits) - len(shown)
    return section(
        "stability",
        "Stability",
        paragraph(
            f"The tree was grown again {count_text(stability.n_refits, 'time')}, each time with random weights for its "
            f"rows (a Bayesian bootstrap). {stability.summary()}"
        ),
        table(
            ["node", "split", "rows", "kept", "in the other refits"],
            rows,
            (2,),
            class_="stack tall",
            label="stability",
        )
        if rows
        else paragraph("The tree has no split."),
        paragraph(f"{count_text(left_off, 'deeper split')} not shown.", class_="soft") if left_off else "",
        paragraph(
            "A split is kept if the refit has a node with corresponding rows (Jaccard index of at least 1/2), splits "
            "it on the same column and sends at least 90 % of its rows to the same side. If several columns measure "
            "the same thing, refits choose different ones: the split is unstable, but the predictions hardly change.",
            class_="soft",
        ),
    )
