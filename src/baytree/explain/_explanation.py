"""Why a row got its answer: the path through the tree, in words and numbers, and what would have changed it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from .._words import count_text, number_text, odds_text, summary_text
from ._counterfactual import Counterfactual
from ._html import STYLE, escape_html, faint

_SHOWN_UNUSED = 5


@dataclass(frozen=True)
class Step:
    """One split on the way down.

    Attributes
    ----------
    feature
        Name of the feature.
    value
        The row's value: a number, a truth value, a category; None where it is missing.
    condition
        The condition that it meets: ``<= 3``, ``in {red, blue}``, ``is missing``.
    threshold
        Of a split between numbers.
    seen
        False: no training row at this split had such a value.
    log_odds
        Log odds of the split against no split.
    runner_up, runner_up_share
        The second most probable feature at this node, and its probability.
    filled
        Missing values in a hyperplane, and what they count as.
    both_ways
        Whether a value that was not seen goes both ways.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> step = model.explain(X[:1])[0].steps[0]
    >>> step.feature, step.condition, step.runner_up
    ('petal width (cm)', '<= 0.8', 'petal length (cm)')
    """

    feature: str
    value: float | bool | str | None
    condition: str
    threshold: float | None
    seen: bool
    log_odds: float
    runner_up: str | None
    runner_up_share: float
    filled: tuple[tuple[str, float], ...] = ()
    both_ways: bool = False

    def __str__(self) -> str:
        return f"{self.text()}  ({self.odds()})"

    def odds(self) -> str:
        """The odds of the split, and the runner-up feature."""
        text = f"odds {odds_text(self.log_odds)}"
        if self.runner_up is not None and self.runner_up_share >= 0.005:
            text += f"; else {self.runner_up}, {self.runner_up_share:.0%}"
        return text

    def text(self, condition: str | None = None) -> str:
        """The row's value and the condition that it meets: of this split, or of several along the same feature."""
        condition_met = condition or self.condition
        if isinstance(self.value, bool):
            return f"{self.feature} {condition_met}"
        value = number_text(self.value) if isinstance(self.value, float) else self.value
        if self.threshold is not None and value == number_text(self.threshold):
            value = repr(self.value)  # the digits that tell them apart
        subject = f"{self.feature} is missing" if self.value is None else f"{self.feature} = {value}"
        if self.filled:
            missing = ", ".join(f"{name} is missing and counts as {number_text(mean)}" for name, mean in self.filled)
            return f"{subject} {condition_met}, where {missing}"
        if not self.seen:
            return f"{subject}, not seen here, {self.unseen}: {condition_met}"
        if self.value is not None:
            return f"{subject} {condition_met}"
        return subject if condition_met == "is missing" else f"{subject}: {condition_met}"

    @property
    def unseen(self) -> str:
        """The treatment of a value that was not seen, as text."""
        return "goes both ways, here the larger one" if self.both_ways else "goes to the larger side"


@dataclass(frozen=True)
class PrunedSplit:
    """A split that was grown and is not in the tree: what it led to was less probable than a leaf."""

    feature: str
    log_odds: float  # of the best tree below, against the leaf

    def __str__(self) -> str:
        return f"a further split on {self.feature} was {odds_text(-self.log_odds)} against"


@dataclass(frozen=True)
class Explanation:
    """The path of one row, the estimates of its leaf, and changes that lead to another decision.

    The decision is the predicted class or, for a number, whether the estimate is above that of the whole table.
    docs/explain.md explains which changes are listed, and how they are found.

    Attributes
    ----------
    steps
        The splits on the path, a `Step` each.
    leaf, n_rows
        Number of the leaf, and its training rows.
    decision
        What is decided, in words.
    estimate, interval
        Class to probability, or outcome to its mean; the 90 % credible interval of each.
    family, posterior
        Name and parameters of the posterior in the leaf.
    unused
        Features that the path does not use.
    conditions
        For each feature with more than one split: all that it meets, as one condition.
    changes
        Changes that lead to another decision, a `Counterfactual` each, the most usual first.
    pruned
        A split below the leaf that was grown and pruned, with its odds; or None.
    note
        What a reader must know first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> explanation = model.explain(X[:1])[0]
    >>> explanation.decision, explanation.n_rows, round(explanation.estimate['0'], 3)
    ('0', 50, 0.974)
    """

    steps: tuple[Step, ...]
    leaf: int
    n_rows: int
    decision: str
    estimate: dict[str, float]
    interval: dict[str, tuple[float, float]]
    family: str
    posterior: dict[str, float]
    unused: tuple[str, ...]
    conditions: dict[str, str]
    changes: tuple[Counterfactual, ...]
    pruned: PrunedSplit | None = None
    note: str = ""

    @property
    def nearest(self) -> Counterfactual | None:
        """The smallest of the changes; None where no change that is allowed leads to another decision."""
        return min(self.changes, key=lambda change: (change.distance, len(change.changes)), default=None)

    def __str__(self) -> str:
        lines = [self._headline(), *([self.note] if self.note else [])]
        lines += [f"{'because' if i == 0 else '    and'} {reason}" for i, reason in enumerate(self.reasons())]
        lines.append(f"{self._leaf()}:")
        lines += [f"    {line}" for line in self._estimates()]
        lines += [] if self.pruned is None else [f"    {self.pruned}"]
        lines += self._changes()
        if self.unused:
            lines.append(f"not used: {self._unused_text()}")
        return "\n".join(lines)

    def _headline(self) -> str:
        """The class; of a number the estimate with its interval first."""
        if self.decision in self.estimate:
            return self.decision
        return f"{summary_text('predicted', self.estimate['outcome'], *self.interval['outcome'])}; {self.decision}"

    def reasons(self) -> list[str]:
        """The path, one line for each feature."""
        lines = []
        for step in self.steps:
            same_feature = [other for other in self.steps if other.feature == step.feature]
            if step.feature not in self.conditions or len(same_feature) == 1:
                lines.append(str(step))
            elif same_feature[0] is step:
                weakest = min(same_feature, key=lambda other: other.log_odds)
                unseen = min(same_feature, key=lambda other: other.seen)
                line = unseen.text(self.conditions[step.feature])
                lines.append(f"{line}  ({len(same_feature)} splits, the weakest with {weakest.odds()})")
        return lines

    def _leaf(self) -> str:
        numbers = ", ".join(map(number_text, self.posterior.values()))
        return f"leaf {self.leaf}, {count_text(self.n_rows, 'training row')}, {self.family}({numbers})"

    def _estimates(self) -> list[str]:
        return [summary_text(name, estimate, *self.interval[name]) for name, estimate in self.estimate.items()]

    def _changes(self) -> list[str]:
        return [f"{'or' if i else 'to change it'}: {change}" for i, change in enumerate(self.changes)]

    def _unused_text(self) -> str:
        text, more = ", ".join(self.unused[:_SHOWN_UNUSED]), len(self.unused) - _SHOWN_UNUSED
        return f"{text} and {more} more" if more > 0 else text

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as strings, numbers, lists and dictionaries, fit for JSON; None for no number."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def _repr_html_(self) -> str:
        steps = "".join(f"<li>{escape_html(reason)}</li>" for reason in self.reasons())
        note = f" {faint(self.note)}" if self.note else ""
        lines = [
            f"<b>{escape_html(self._headline())}</b>{note}",
            f'<ol style="margin:0">{steps}</ol>',
            f"{escape_html(self._leaf())}",
        ]
        lines += [f"<br>{escape_html(line)}" for line in self._estimates()]
        lines += [] if self.pruned is None else [f"<br>{faint(self.pruned)}"]
        lines += [f"<br>{escape_html(change)}" for change in self._changes()]
        if self.unused:
            lines.append(f"<br>{faint('not used: ' + self._unused_text())}")
        return f'<div style="{STYLE}">{"".join(lines)}</div>'


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
