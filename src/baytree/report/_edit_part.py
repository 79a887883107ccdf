"""The part of the page on edits: what people changed in the tree, why, and the cost of it."""

from __future__ import annotations

from .._words import amount_text, estimate_text, exact_odds_text
from ..fitted import Edit, Fitted
from ._html import paragraph, section, table

_MOST_GROUPS = 3  # of rows with another decision


def edit_part(fitted: Fitted) -> str:
    """The history of edits as a table, with notes on decisions that were set; nothing for a tree as it was grown."""
    if not fitted.edits:
        return ""
    header = ["number", "edit", "odds", "loss before", "loss after", "other decisions", "by", "reason"]
    rows = [(str(number), *_cells(edit)) for number, edit in enumerate(fitted.edits, 1)]
    n_set = 0 if fitted.set_decisions is None else int((fitted.set_decisions >= 0).sum())
    parts = [
        paragraph(
            "People edited the tree after it was grown. The odds compare the tree after each edit with the tree before "
            "it: 1:20 means that the edited tree is twenty times less probable, given the data. The loss is "
            "cross-validated for fixed splits; lower is better. Other decisions are counted in training rows."
        ),
        table(header, rows, (2, 3, 4, 5), class_="stack", label="edits"),
    ]
    if n_set:
        leaves = "1 leaf" if n_set == 1 else f"{n_set:,} leaves"
        parts.append(
            paragraph(
                f"The decision of {leaves} was set by people and does not depend on the probabilities. The slider for "
                "the threshold does not change it. Figures for other thresholds follow from the probabilities alone."
            )
        )
    return section("edits", "Edits", *parts)


def _cells(edit: Edit) -> tuple[str, ...]:
    changes = "".join(f"; {change}" for change in edit.decision_changes[:_MOST_GROUPS])
    by = ", ".join(part for part in (edit.who, edit.when) if part)
    return (
        edit.text + changes,
        exact_odds_text(edit.log_odds),
        estimate_text(edit.loss_before),
        estimate_text(edit.loss_after),
        amount_text(edit.n_decisions),
        by or "–",
        edit.why or "–",
    )
