"""Which class is decided for, given class probabilities: the most probable, by a threshold, or at the least cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from ._typing import AnyArray, FloatArray, IntArray
from ._validation import check_real, short_repr
from ._words import number_text, percent_text


@dataclass(frozen=True, eq=False)
class Decision:
    """A rule from probabilities to classes; without threshold and costs the most probable class.

    Attributes
    ----------
    threshold
        With two classes: the least probability of `positive` for which that class is predicted; None for no threshold.
    positive
        With two classes: the position of the positive class, which the threshold, reports and figures are about.
    costs
        Entry ``[i, j]`` is the cost of deciding for class j where class i is true; None for no costs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier(decision=0.2).fit(X[:100], y[:100])
    >>> model.fitted_.decision.text(["no", "yes"])
    'yes if its probability is at least 20 %, otherwise no'
    """

    threshold: float | None = None
    positive: int = 1
    costs: FloatArray | None = None

    @property
    def is_most_probable(self) -> bool:
        """Whether the most probable class is decided for."""
        return self.threshold is None and self.costs is None

    def codes(self, probabilities: FloatArray) -> IntArray:
        """The position of the class that is decided for, one for each row; ties go to the first class."""
        if self.costs is not None:
            return np.argmin(probabilities @ self.costs, axis=1)
        if self.threshold is not None:
            return np.where(probabilities[:, self.positive] >= self.threshold, self.positive, 1 - self.positive)
        return np.argmax(probabilities, axis=1)

    def threshold_of_positive(self, n_classes: int) -> float | None:
        """The threshold on the probability of the positive of two classes; None where there is none."""
        if n_classes != 2:
            return None
        if self.costs is None:
            if self.threshold is None:  # a tie goes to the first class
                return float(np.nextafter(0.5, 1)) if self.positive == 1 else 0.5
            return self.threshold
        positive, other = self.positive, 1 - self.positive
        gain = self.costs[positive, other] - self.costs[positive, positive]
        loss = self.costs[other, positive] - self.costs[other, other]
        return float(loss / (gain + loss)) if gain > 0 and loss > 0 else None

    def with_positive(self, positive: int) -> Decision:
        """Return the rule in terms of the other of two classes."""
        if positive == self.positive:
            return self
        # The class at the threshold stays with the class that it was decided for.
        threshold = None if self.threshold is None else float(np.nextafter(1 - self.threshold, 1))
        return replace(self, positive=positive, threshold=threshold)

    def text(self, class_names: Sequence[str]) -> str:
        """The rule in words."""
        if self.costs is not None:
            return f"the class with the lowest expected cost ({', '.join(self._cost_texts(class_names))})"
        if self.threshold is not None:
            name, other = class_names[self.positive], class_names[1 - self.positive]
            return f"{name} if its probability is at least {percent_text(self.threshold)}, otherwise {other}"
        return "the most probable class"

    def _cost_texts(self, class_names: Sequence[str], most: int = 6) -> list[str]:
        costs = np.zeros((0, 0)) if self.costs is None else self.costs
        pairs = [(i, j) for i in range(len(costs)) for j in range(len(costs)) if costs[i, j] != (i != j)]
        cost_texts = [
            f"{class_names[j]} for {class_names[i]} costs {number_text(float(costs[i, j]))}" for i, j in pairs[:most]
        ]
        rest = len(costs) * (len(costs) - 1) > len(pairs)
        more = [f"{len(pairs) - most} more"] if len(pairs) > most else []
        return cost_texts + more + (["any other error 1" if pairs else "every error 1"] if rest else [])


def read_decision(decision: Any, classes: AnyArray) -> Decision:
    """Read the `decision` parameter: None, a threshold or one by label, a cost matrix, or a dict of costs by label."""
    if decision is None:
        return Decision()
    if _is_number(decision):
        return _threshold(decision, 1, decision, classes)
    if isinstance(decision, dict) and len(decision) == 1 and _is_number(next(iter(decision.values()))):
        [(label, threshold)] = decision.items()
        return _threshold(threshold, position_of(label, classes, "decision"), decision, classes)
    costs = _costs_by_label(decision, classes) if isinstance(decision, dict) else _cost_matrix(decision, classes)
    if not np.all(np.isfinite(costs)):
        raise ValueError("decision holds a cost that is not finite.")
    # The positive class is the one whose errors cost more; the second where they cost the same.
    is_first = len(classes) == 2 and costs[0, 1] - costs[0, 0] > costs[1, 0] - costs[1, 1]
    return Decision(costs=costs, positive=0 if is_first else 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _threshold(threshold: Any, positive: int, decision: Any, classes: AnyArray) -> Decision:
    if len(classes) != 2:
        raise ValueError(
            f"decision={short_repr(decision)} is a threshold for one of two classes, y has {len(classes)}: give costs "
            "instead."
        )
    return Decision(threshold=check_real("decision", float(threshold), low=0, high=1), positive=positive)


def position_of(label: Any, classes: AnyArray, parameter: str) -> int:
    """The position of a class that a parameter names; text names a class by how it is written."""
    labels = classes.tolist()
    written = [str(name) for name in labels]
    if label in labels:
        return int(labels.index(label))
    if isinstance(label, str) and label in written:
        return written.index(label)
    raise ValueError(f"{parameter} names the class {short_repr(label)}, which is not one of {short_repr(labels)}.")


def _costs_by_label(decision: dict[Any, Any], classes: AnyArray) -> FloatArray:
    """Costs of errors that are named; every other error costs 1."""
    labels = classes.tolist()
    costs = 1.0 - np.eye(len(labels))
    for true, by_decided in decision.items():
        if not isinstance(by_decided, dict):
            raise TypeError(
                "decision must be a dict of dicts: {true class: {class decided for: cost}}; got "
                f"{short_repr(by_decided)} for {short_repr(true)}."
            )
        for decided, cost in by_decided.items():
            true_class, decided_class = (position_of(label, classes, "decision") for label in (true, decided))
            name = f"The cost of {short_repr(decided)} for {short_repr(true)} in decision"
            costs[true_class, decided_class] = check_real(name, cost, low=-np.inf)
    return costs


def _cost_matrix(decision: Any, classes: AnyArray) -> FloatArray:
    wanted = (
        "decision must be None, a threshold in (0, 1), a dict {class: threshold}, a dict of costs or a matrix of costs "
        "with a row for each true class and a column for each class decided for"
    )
    if isinstance(decision, str):
        raise TypeError(f"{wanted}; got {short_repr(decision)}.")
    try:
        costs = np.array(decision, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{wanted}; got {short_repr(decision)}.") from None
    if costs.shape != (len(classes), len(classes)):
        raise ValueError(f"{wanted}, so of shape {(len(classes),) * 2}; got shape {costs.shape}.")
    return costs
