"""Which class is decided for, given class probabilities: the most probable, by a threshold, or at the least cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
        With two classes: from this probability of `positive` on, that class; None for no threshold.
    positive
        Position of the class that the threshold is for.
    costs
        Entry ``[i, j]`` is the cost of deciding for class j where class i is true; None for no costs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier(decision=0.2).fit(X[:100], y[:100])
    >>> model.fitted_.decision.text(["no", "yes"])
    'yes from a probability of 20 % on, otherwise no'
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

    def threshold_of_second(self, n_classes: int) -> float | None:
        """The threshold on the probability of the second of two classes; None where there is none."""
        if n_classes != 2:
            return None
        if self.costs is None:
            if self.threshold is None:
                return float(np.nextafter(0.5, 1))  # a tie goes to the first class
            return self.threshold if self.positive == 1 else 1 - self.threshold
        gain, loss = self.costs[1, 0] - self.costs[1, 1], self.costs[0, 1] - self.costs[0, 0]
        return float(loss / (gain + loss)) if gain > 0 and loss > 0 else None

    def text(self, class_names: Sequence[str]) -> str:
        """The rule in words."""
        if self.costs is not None:
            return f"the class of the least expected cost ({', '.join(self._cost_texts(class_names))})"
        if self.threshold is not None:
            name, other = class_names[self.positive], class_names[1 - self.positive]
            return f"{name} from a probability of {percent_text(self.threshold)} on, otherwise {other}"
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
    """Read the `decision` parameter: None, a threshold, a cost matrix, or a dict of costs by label."""
    if decision is None:
        return Decision()
    if isinstance(decision, Real) and not isinstance(decision, bool | np.bool_):
        if len(classes) != 2:
            raise ValueError(
                f"decision={short_repr(decision)} is a threshold for the second of two classes, y has {len(classes)}: "
                "give costs instead."
            )
        return Decision(threshold=check_real("decision", float(decision), low=0, high=1))
    costs = _costs_by_label(decision, classes) if isinstance(decision, dict) else _cost_matrix(decision, classes)
    if not np.all(np.isfinite(costs)):
        raise ValueError("decision holds a cost that is not finite.")
    return Decision(costs=costs)


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
            for label in (true, decided):
                if label not in labels:
                    raise ValueError(
                        f"decision names the class {short_repr(label)}, which is not one of {short_repr(labels)}."
                    )
            name = f"The cost of {short_repr(decided)} for {short_repr(true)} in decision"
            costs[labels.index(true), labels.index(decided)] = check_real(name, cost, low=-np.inf)
    return costs


def _cost_matrix(decision: Any, classes: AnyArray) -> FloatArray:
    wanted = (
        "decision must be None, a threshold in (0, 1), a dict of costs or a matrix of costs with a row for each true "
        "class and a column for each class decided for"
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
