"""Why a row got its answer: the path through the tree, in words and numbers, and what would have changed it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from .._words import count_text, estimate_text, number_text, odds_text, percent_text, summary_text
from ._contribution import Contribution, signed_text
from ._counterfactual import Counterfactual
from ._notebook import STYLE, escape_html, faint

_SHOWN_UNUSED = 5
_SHOWN_CONTRIBUTIONS = 4  # for the decision, and as many against it
_LEAST_SHARE = 0.0005  # probability of a column that is named


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
    change
        What the step changes: the estimate of the child less that of the parent, in the probability of the decision
        or in the mean.
    log_odds
        Log odds of the split against no split: whether this node should be split.
    share, runner_up, runner_up_share
        Why on this column: its probability at this node, and the most probable other column with its own.
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
    change: float = 0.0
    share: float = 1.0

    def __str__(self) -> str:
        return f"{self.text()}  ({signed_text(self.change)}; {self.odds()})"

    def odds(self) -> str:
        """Two questions about the split: whether there should be one, and why on this column."""
        text = f"split {odds_text(self.log_odds)}"
        if self.runner_up is not None and self.runner_up_share >= _LEAST_SHARE:
            text += f"; column {percent_text(self.share)}, else {self.runner_up} {percent_text(self.runner_up_share)}"
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
    """Why a row got its decision, and changes that lead to another one.

    The decision is the predicted class or, for a number, whether the estimate is above that of the whole table. A
    single tree is explained by the path of the row. A tree space or forest is explained by the contributions of columns
    to the average over its trees, and a tree with linear leaves by their contributions to the prediction.
    docs/explain.md explains which changes are listed, and how they are found.

    Attributes
    ----------
    steps
        Of a single tree: the splits on the path, a `Step` each.
    leaf, n_rows
        Of a single tree: number of the leaf, and its training rows.
    decision
        What is decided, in words.
    estimate, interval
        Class to probability, or outcome to its mean; the 90 % credible interval of each.
    family, posterior
        Name of the posterior and, of a single tree, its parameters in the leaf.
    unused
        Columns that have no part in the prediction of this row.
    conditions
        Of a single tree: for each feature with more than one split all that it meets, as one condition.
    changes
        Changes that lead to another decision, a `Counterfactual` each: of a single tree the most usual first, of an
        average the nearest first.
    pruned
        A split below the leaf that was grown and pruned, with its odds; or None.
    note
        What a reader must know first.
    contributions, base
        What each column adds to the probability of the decision, or to the mean, a `Contribution` each, the largest
        first; and the estimate where no column is known. Base and contributions add up to the estimate.
    direction
        -1 where a lower number speaks for the decision, otherwise 1.
    illustration
        Of an average: the explanation of the readable tree, which may decide otherwise.
    n_terms
        Of a tree with linear leaves: the number of terms in the model of the leaf. None: leaves are constant.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> explanation = model.explain(X[:1])[0]
    >>> explanation.decision, explanation.n_rows, round(explanation.estimate['0'], 3)
    ('0', 50, 0.984)
    """

    steps: tuple[Step, ...]
    leaf: int | None
    n_rows: int | None
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
    contributions: tuple[Contribution, ...] = ()
    base: float = math.nan
    direction: int = 1
    illustration: Explanation | None = None
    n_terms: int | None = None

    @property
    def nearest(self) -> Counterfactual | None:
        """The smallest of the changes; None where no change that is allowed leads to another decision."""
        return min(self.changes, key=lambda change: (change.distance, len(change.changes)), default=None)

    @property
    def disagrees(self) -> bool:
        """Whether the readable tree, which illustrates an average, decides otherwise."""
        if self.illustration is None:
            return False
        if self.decision in self.estimate:
            return self.illustration.decision != self.decision
        return self.illustration.direction != self.direction

    def __str__(self) -> str:
        lines = [self._headline(), *([self.note] if self.note else []), *self._reason_lines()]
        lines += [] if self.leaf is None else [f"{self._leaf()}:"]
        lines += [f"{'' if self.leaf is None else '    '}{line}" for line in self._estimates()]
        lines += [] if self.pruned is None else [f"    {self.pruned}"]
        lines += self._changes()
        lines += self._illustration()
        if self.unused:
            lines.append(f"not used: {self._unused_text()}")
        return "\n".join(lines)

    def _reason_lines(self) -> list[str]:
        pairs = [("because", self.because()), ("despite", self.despite())]
        return [f"{word if i == 0 else '    and'} {line}" for word, lines in pairs for i, line in enumerate(lines)]

    def _headline(self) -> str:
        """The class; of a number the estimate with its interval first."""
        if self.decision in self.estimate:
            return self.decision
        return f"{summary_text('predicted', self.estimate['outcome'], *self.interval['outcome'])}; {self.decision}"

    def because(self) -> list[str]:
        """What pushed towards the decision, one line for each column: steps of the path, or contributions."""
        return self._path_lines(1) if self._is_of_path else self._contribution_lines(1)

    def despite(self) -> list[str]:
        """What pushed against the decision."""
        return self._path_lines(-1) if self._is_of_path else self._contribution_lines(-1)

    @property
    def _is_of_path(self) -> bool:
        """Whether the path alone explains the prediction: a single tree with constant leaves."""
        return self.leaf is not None and self.n_terms is None

    def _contribution_lines(self, way: int) -> list[str]:
        in_direction = [one for one in self.contributions if one.contribution * self.direction * way > 0]
        lines, rest = list(map(str, in_direction[:_SHOWN_CONTRIBUTIONS])), in_direction[_SHOWN_CONTRIBUTIONS:]
        if rest:
            lines.append(
                f"{count_text(len(rest), 'more column')}  ({signed_text(sum(one.contribution for one in rest))})"
            )
        return lines

    def _path_lines(self, way: int) -> list[str]:
        lines = []
        for feature in dict.fromkeys(step.feature for step in self.steps):
            steps = [step for step in self.steps if step.feature == feature]
            change = sum(step.change for step in steps)
            if (change * self.direction >= 0) != (way > 0):
                continue
            if feature not in self.conditions or len(steps) == 1:
                lines += list(map(str, steps))
                continue
            weakest, unseen = min(steps, key=lambda step: step.log_odds), min(steps, key=lambda step: step.seen)
            facts = f"{signed_text(change)}; {len(steps)} splits, the weakest: {weakest.odds()}"
            lines.append(f"{unseen.text(self.conditions[feature])}  ({facts})")
        return lines

    def _illustration(self) -> list[str]:
        """The readable tree in one line, and whether it disagrees."""
        tree = self.illustration
        if tree is None:
            return []
        said = "disagrees" if self.disagrees else "agrees"
        value = tree.estimate[tree.decision] if tree.decision in tree.estimate else next(iter(tree.estimate.values()))
        what = f"{tree.decision} ({estimate_text(value)})"
        steps = " and ".join(step.text() for step in tree.steps)
        return [f"the readable tree {said}: {what}{', since ' if steps else ''}{steps}"]

    def _leaf(self) -> str:
        if self.n_terms:
            where = " and ".join(step.text() for step in self.steps)
            rows, terms = count_text(self.n_rows or 0, "training row"), count_text(self.n_terms, "term")
            return f"leaf {self.leaf}{where and f' ({where})'}, {rows}, a model of {terms}"
        numbers = ", ".join(map(number_text, self.posterior.values()))
        return f"leaf {self.leaf}, {count_text(self.n_rows or 0, 'training row')}, {self.family}({numbers})"

    def _estimates(self) -> list[str]:
        return [summary_text(name, estimate, *self.interval[name]) for name, estimate in self.estimate.items()]

    def _changes(self) -> list[str]:
        if not self.changes:
            return ["no allowed change leads to another decision"]
        return [f"{'or' if i else 'to change it'}: {change}" for i, change in enumerate(self.changes)]

    def _unused_text(self) -> str:
        text, more = ", ".join(self.unused[:_SHOWN_UNUSED]), len(self.unused) - _SHOWN_UNUSED
        return f"{text} and {more} more" if more > 0 else text

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as strings, numbers, lists and dictionaries, fit for JSON; None for no number."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def _repr_html_(self) -> str:
        lines = [f"<b>{escape_html(self._headline())}</b>{f' {faint(self.note)}' if self.note else ''}"]
        for word, reasons in (("because", self.because()), ("despite", self.despite())):
            items = "".join(f"<li>{escape_html(reason)}</li>" for reason in reasons)
            lines += [f'<div>{word}<ul style="margin:0">{items}</ul></div>'] if reasons else []
        lines += [] if self.leaf is None else [f"{escape_html(self._leaf())}<br>"]
        lines.append("<br>".join(map(escape_html, self._estimates())))
        lines += [] if self.pruned is None else [f"<br>{faint(self.pruned)}"]
        lines += [f"<br>{escape_html(change)}" for change in self._changes()]
        lines += [f"<br>{faint(line)}" for line in self._illustration()]
        if self.unused:
            lines.append(f"<br>{faint('not used: ' + self._unused_text())}")
        return f'<div style="{STYLE}">{"".join(lines)}</div>'


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
