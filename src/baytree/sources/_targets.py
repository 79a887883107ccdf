"""Class labels and numbers as targets: how they are read, and which outcome they have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import check_labels, check_outcomes, check_real, check_sample_weight, check_truth, shown
from ..decision import Decision, read_decision
from ..outcomes import (
    EXTRAS,
    REGRESSION_OUTCOMES,
    CategoricalOutcome,
    ClassOptions,
    Family,
    Grids,
    Outcome,
    Target,
    TargetRange,
    on_grids,
    read_outcome,
)

_MOST_LABELS = 2**16  # whole numbers that are looked up in a table


class Learnt(NamedTuple):
    """A target as its outcome wants it."""

    target: Target
    classes: AnyArray | None
    counted: BoolArray | None  # which rows count; None: all


@dataclass(frozen=True)
class TargetPlan:
    """How the target of some rows is read, as far as it is settled; it travels to where the rows are."""

    reader: TargetReader
    classes: AnyArray | None = None
    by_class: FloatArray | None = None  # the weight of each class
    grids: Grids | None = None

    @property
    def has_classes(self) -> bool:
        """Whether y holds class labels."""
        return isinstance(self.reader, ClassReader)

    def look(self, y: Any, weight: Any, extras: dict[str, Any]) -> tuple[Target, BoolArray | None]:
        """The target as it was given, of the rows that count; wrong values are refused."""
        target, counted = without_weight_zero(self.reader.read(self.reader.check_y(y), weight, extras))
        if self.has_classes:
            check_labels(target.y)
        elif len(target.y):
            self.reader.family_of(None).of(target, None)  # errors tell the row
        return target, counted

    def fixed_point(self, y: Any, weight: Any, extras: dict[str, Any]) -> tuple[Target, BoolArray | None]:
        """The target in whole numbers, of the rows that count."""
        target, counted = self.look(y, weight, extras)
        return self.settled(target), counted

    def settled(self, target: Target) -> Target:
        """A target that was looked at, in whole numbers."""
        if self.classes is not None:
            target = replace(target, y=class_codes(target.y, self.classes))
        if self.by_class is not None:
            target = replace(target, weight=self.by_class[target.y] * (1.0 if target.weight is None else target.weight))
        return target if self.grids is None else on_grids(target, self.grids)

    def with_classes(
        self, classes: AnyArray, class_rows: FloatArray, class_largest: FloatArray, target_range: TargetRange
    ) -> tuple[TargetPlan, TargetRange]:
        """The plan with the classes and their weights, and the range of the weights that they lead to."""
        plan, reader = replace(self, classes=classes), self.reader
        if not isinstance(reader, ClassReader) or reader.class_weight is None:
            return plan, target_range
        if isinstance(reader.class_weight, str) and "weight" in target_range.ranges:
            raise ValueError("class_weight='balanced' beside weights needs the rows in memory: give a dict by label.")
        by_class = reader.weights_of(Target(np.arange(len(classes)), class_rows), classes)
        if by_class is None or np.any(by_class == 0):
            raise ValueError("class_weight leaves out a class: leave its rows out instead.")
        weights = by_class * class_largest
        ranges = target_range.ranges | {"weight": (0.0, float(weights.max()))}
        whole = target_range.whole_weights and np.array_equal(by_class, np.rint(by_class))
        return replace(plan, by_class=by_class), TargetRange(target_range.n_rows, ranges, bool(whole))


class TargetReader(Protocol):
    """Reads y and all that belongs to it."""

    def check_y(self, y: Any) -> AnyArray:
        """Read y as an array, without a look at what it means."""

    def read(self, y: AnyArray, sample_weight: Any, extras: dict[str, Any]) -> Target:
        """Read what belongs to the rows beside y."""

    def learn(self, target: Target) -> Learnt:
        """Read the target of a fit."""

    def read_more(self, target: Target, outcome: Outcome) -> tuple[Target, BoolArray | None]:
        """Read a target that is to be added to a fitted model, and say which rows count."""

    def check_order(self, classes: AnyArray | None) -> None:
        """Refuse targets whose predictions cannot rise or fall."""

    def family_of(self, classes: AnyArray | None) -> Family:
        """The outcome that the target has, but for its prior."""

    def calibrates(self) -> bool:
        """Whether the spread of predictions is to be measured."""

    def read_decision(self, classes: AnyArray | None) -> Decision:
        """What is decided, given probabilities."""


@dataclass(frozen=True)
class ClassReader:
    """Class labels, with weights by class."""

    class_weight: Any = None
    classes: AnyArray | None = None  # all there are, where y may lack some
    decision: Any = None

    def check_y(self, y: Any) -> AnyArray:
        """Read labels of any type."""
        return check_outcomes(y)

    def read(self, y: AnyArray, sample_weight: Any, extras: dict[str, Any]) -> Target:
        """Weights; there are no extras."""
        refuse_extras(extras, CategoricalOutcome.name, ())
        return Target(y, check_sample_weight(sample_weight, len(y)))

    def learn(self, target: Target) -> Learnt:
        """Labels become codes; rows and classes of weight zero are no rows and no classes."""
        target, counts = without_weight_zero(target)
        classes, codes = _read_labels(target.y, self.classes)
        target = replace(target, y=codes)
        by_class = self.weights_of(target, classes)
        if by_class is None:
            return Learnt(target, classes, counts)
        has_weight = by_class[target.y] > 0
        counts = _both(counts, has_weight)
        target = self._weighted(target.take(has_weight), by_class)
        codes = (np.cumsum(by_class > 0) - 1)[target.y]
        return Learnt(replace(target, y=codes), classes[by_class > 0], counts)

    def read_more(self, target: Target, outcome: Outcome) -> tuple[Target, BoolArray | None]:
        """The same for classes that are known."""
        classes = np.zeros(0) if outcome.classes is None else outcome.classes
        if isinstance(self.class_weight, str):
            raise ValueError(
                "partial_fit cannot balance classes that it sees bit by bit: give class_weight as a dict from label to "
                "weight."
            )
        target, counts = without_weight_zero(target)
        weightless = [label for label, weight in (self.class_weight or {}).items() if weight == 0]
        if weightless and np.isin(target.y, weightless).any():
            has_weight = ~np.isin(target.y, weightless)
            target, counts = target.take(has_weight), _both(counts, has_weight)
        target = replace(target, y=class_codes(target.y, classes))
        by_class = self.weights_of(target, np.append(classes, weightless) if weightless else classes)
        return (target if by_class is None else self._weighted(target, by_class)), counts

    def check_order(self, classes: AnyArray | None) -> None:
        """Of two classes, the probability of the second rises or falls."""
        if classes is not None and len(classes) > 2:
            raise ValueError(f"monotonic_cst needs two classes, y has {len(classes)}: which should rise?")

    def family_of(self, classes: AnyArray | None) -> Family:
        """Of so many classes."""
        return Family(CategoricalOutcome, ClassOptions(0 if classes is None else len(classes), classes))

    def calibrates(self) -> bool:
        """Probabilities have no spread."""
        return False

    def read_decision(self, classes: AnyArray | None) -> Decision:
        """By the `decision` parameter."""
        return read_decision(self.decision, np.zeros(0) if classes is None else classes)

    @staticmethod
    def _weighted(target: Target, by_class: FloatArray) -> Target:
        return replace(target, weight=by_class[target.y] * (1.0 if target.weight is None else target.weight))

    def weights_of(self, target: Target, classes: AnyArray) -> FloatArray | None:
        """The weight of each class."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            count = np.bincount(target.y, weights=target.weight, minlength=len(classes))
            return np.asarray(count.sum() / (len(classes) * np.maximum(count, np.finfo(float).tiny)))
        if not isinstance(self.class_weight, dict):
            raise TypeError(
                f"class_weight must be None, 'balanced' or a dict from label to weight; got {shown(self.class_weight)}."
            )
        labels = list(classes)
        for label, value in self.class_weight.items():
            if label not in labels:
                raise ValueError(f"class_weight names the class {label!r}, which is not in y: remove it.")
            check_real(f"class_weight[{label!r}]", value, low=0, low_ok=True)
        result = np.array([float(self.class_weight.get(label, 1.0)) for label in labels])
        if not result.any():
            raise ValueError("class_weight is zero throughout: at least one class must have weight.")
        return result


@dataclass(frozen=True)
class NumberReader:
    """Numbers: real values, counts, durations, or what an outcome of the user's own takes."""

    outcome: Any
    calibrate: Any = False

    @property
    def family(self) -> Family:
        """What the `outcome` parameter means."""
        return read_outcome(self.outcome)

    def check_y(self, y: Any) -> AnyArray:
        """Read numbers; an outcome of the user's own may take anything."""
        own = self.family.is_own
        return check_outcomes(y, multi_output=own, y_numeric=not own)

    def read(self, y: AnyArray, sample_weight: Any, extras: dict[str, Any]) -> Target:
        """Weights, and the extras that the outcome takes."""
        family = self.family
        refuse_extras(extras, family.outcome.name, tuple(extra.name for extra in family.outcome.extras))
        given = {
            extra.name: extra.read(extra.name, extras[extra.name], len(y))
            for extra in family.outcome.extras
            if extras.get(extra.name) is not None
        }
        return Target(y, check_sample_weight(sample_weight, len(y)), given)

    def learn(self, target: Target) -> Learnt:
        """Numbers stay as they are."""
        target, counts = without_weight_zero(target)
        return Learnt(target, None, counts)

    def read_more(self, target: Target, outcome: Outcome) -> tuple[Target, BoolArray | None]:
        """Check the numbers as at fit."""
        target, counts = without_weight_zero(target)
        self.family.of(target, outcome.prior)
        return target, counts

    def check_order(self, classes: AnyArray | None) -> None:
        """Every mean can rise or fall."""

    def family_of(self, classes: AnyArray | None) -> Family:  # noqa: ARG002
        """That of the `outcome` parameter."""
        return self.family

    def calibrates(self) -> bool:
        """As the user said."""
        return check_truth("calibrate", self.calibrate)

    def read_decision(self, classes: AnyArray | None) -> Decision:  # noqa: ARG002
        """Numbers are not decided upon."""
        return Decision()


def _read_labels(y: AnyArray, classes: AnyArray | None) -> tuple[AnyArray, AnyArray]:
    """The classes, unless they are known, and the position of each label among them."""
    few = _few_numbers(y) if classes is None else None
    if few is not None:
        return few
    check_labels(y)
    classes = np.unique(y) if classes is None else classes
    return classes, class_codes(y, classes)


def _few_numbers(y: AnyArray) -> tuple[AnyArray, AnyArray] | None:
    """The same of labels that are whole numbers in a short range, without sorting: such labels are always right."""
    if y.dtype.kind not in "biu" or len(y) == 0:
        return None
    low, high = int(y.min()), int(y.max())
    if high - low > _MOST_LABELS or max(abs(low), abs(high)) >= 2**62:
        return None
    offset = y.astype(np.int64, copy=False)
    if low != 0:
        offset = offset - low
    found = np.ones(high - low + 1, dtype=bool) if high - low <= 1 else np.bincount(offset) > 0
    if 2 * np.count_nonzero(found) > len(y):
        return None  # scikit-learn doubts that these are classes
    codes = offset if found.all() else (np.cumsum(found) - 1)[offset]
    return (np.flatnonzero(found) + low).astype(y.dtype), codes


def class_codes(y: AnyArray, classes: AnyArray) -> AnyArray:
    """The position of each label among the classes."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = classes[codes] != y
    if np.any(unknown):
        label = y[np.argmax(unknown)]
        raise ValueError(f"y has the class {shown(label)}, which is not one of the classes {shown(classes.tolist())}.")
    return codes


def without_weight_zero(target: Target) -> tuple[Target, BoolArray | None]:
    """Drop rows of weight zero: they are no rows."""
    if target.weight is None or target.weight.all():
        return target, None
    counts = target.weight > 0
    return target.take(counts), counts


def _both(counts: BoolArray | None, of_them: BoolArray) -> BoolArray:
    """Which rows count, where `of_them` is told of those that count so far."""
    if counts is None:
        return of_them
    result = counts.copy()
    result[counts] = of_them
    return result


def refuse_extras(extras: dict[str, Any], outcome: str, allowed: tuple[str, ...]) -> None:
    """Refuse extras that an outcome does not take, and say which ones do."""
    for name, value in extras.items():
        if value is None or name in allowed:
            continue
        takers = [taker for taker, family in REGRESSION_OUTCOMES.items() if EXTRAS[name] in family.extras]
        raise ValueError(f"{name} is for outcome={' or '.join(map(repr, takers))} only; outcome is {outcome!r}.")
