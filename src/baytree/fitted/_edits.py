"""Edits that people made to a fitted tree, and what each of them cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .._words import count_text, estimate_text, exact_odds_text


def edit_lines(edits: Sequence[Edit]) -> list[str]:
    """Edits as text, each in one line of printable characters: for comments in exported models."""
    lines = []
    for number, edit in enumerate(edits, 1):
        given = (edit.who, edit.when, edit.why)
        text = "; ".join([f"{edit.text}: {edit.facts}", *(part for part in given if part)])
        lines.append(f"{number}. " + "".join(c if c.isprintable() else " " for c in text))
    return lines


@dataclass(frozen=True)
class DecisionChange:
    """Rows for which an edit changed the decision.

    Attributes
    ----------
    n_rows
        Number of training rows.
    before, after
        The class that was predicted for them, and the one that is predicted now.
    conditions
        Conditions that these rows meet, and no others.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, edit
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
    >>> print(draft.remove(2).decision_changes[0])
    46 rows: from 2 to 1 where petal width (cm) > 1.75
    """

    n_rows: int
    before: str
    after: str
    conditions: tuple[str, ...]

    def __str__(self) -> str:
        where = " and ".join(self.conditions)
        return f"{count_text(self.n_rows, 'row')}: from {self.before} to {self.after}" + (
            f" where {where}" * bool(where)
        )


@dataclass(frozen=True)
class Edit:
    """One edit of a tree, and what it changed.

    Attributes
    ----------
    text
        The edit in words.
    log_odds
        Log of the posterior odds of the tree after the edit against the tree before.
    loss_before, loss_after
        Cross-validated loss of the two trees: minus the log probability (or density) of an outcome, on average. For
        classes it is the log loss of the predicted probabilities.
    n_rows
        Training rows of the nodes that were edited.
    n_decisions
        Training rows for which another class is predicted; 0 where numbers are predicted.
    decision_changes
        The largest groups of these rows.
    who, why, when
        The author of the edit, the reason and the date, as the caller gave them; None where not given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, edit
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
    >>> print(draft.move(2, 1.7, why="fewer digits"))
    Move node 2 from petal width (cm) <= 1.75 to <= 1.7
    odds 1:1 against the tree before; loss 0.1683, as before; no decision changes
    """

    text: str
    log_odds: float
    loss_before: float
    loss_after: float
    n_rows: int
    n_decisions: int = 0
    decision_changes: tuple[DecisionChange, ...] = ()
    who: str | None = None
    why: str | None = None
    when: str | None = None

    @property
    def odds(self) -> float:
        """Posterior odds of the tree after the edit against the tree before: below 1, the edit has a cost."""
        return math.exp(min(self.log_odds, 700.0))

    @property
    def loss_change(self) -> float:
        """The change of the cross-validated loss: above 0, predictions are worse."""
        return self.loss_after - self.loss_before

    @property
    def loss_text(self) -> str:
        """The change of the loss in words."""
        before, after = estimate_text(self.loss_before), estimate_text(self.loss_after)
        return f"loss {after}, as before" if before == after else f"loss {before} before, {after} after"

    @property
    def decisions_text(self) -> str:
        """The change of decisions in words."""
        if self.n_decisions == 0:
            return "no decision changes"
        return f"another decision for {count_text(self.n_decisions, 'row')}"

    @property
    def facts(self) -> str:
        """The odds and effects in one line."""
        odds = exact_odds_text(self.log_odds)
        return f"odds {odds} against the tree before; {self.loss_text}; {self.decisions_text}"

    def __str__(self) -> str:
        return "\n".join([self.text, self.facts, *(f"  {change}" for change in self.decision_changes)])
