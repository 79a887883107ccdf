"""Reading targets: class labels or numbers, with weights and extras, and the outcome that they have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import check_labels, check_outcomes, check_real, check_sample_weight, check_truth, short_repr
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
    integer_weight,
    read_outcome,
    round_to_grids,
)

_MAX_LABEL_RANGE = 2**16  # of integer labels that are counted in a table


class TrainingTarget(NamedTuple):
    """A target for training: class labels are codes, and rows of weight zero are dropped."""

    target: Target
    classes: AnyArray | None
    has_weight: BoolArray | None  # which rows have positive weight; None if all have


@dataclass(frozen=True)
class TargetPlan:
    """How to read the target of some rows; it is sent to where the rows are."""

    reader: TargetReader
    classes: AnyArray | None = None
    by_class: FloatArray | None = None  # weight of each class
    grids: Grids | None = None

    @property
    def has_classes(self) -> bool:
        """Whether y holds class labels."""
        return isinstance(self.reader, ClassReader)

    def read(self, y: Any, weight: Any, extras: dict[str, Any]) -> tuple[Target, BoolArray | None]:
        """Read and check a target; returns that of the rows of positive weight, and which rows these are."""
        read = self.reader.read(self.reader.check_y(y), weight, extras, of_part=True)
        target, has_weight = without_weight_zero(read)
        if len(target.y) == 0:
            return target, has_weight
        if self.has_classes:
            check_labels(target.y)
        else:
            self.reader.family_of(None).of(target, None)  # its errors name the row
        return target, has_weight

    def to_fixed_point(self, target: Target) -> Target:
        """Convert a target that was read to fixed point."""
        if self.classes is not None:
            target = replace(target, y=class_codes(target.y, self.classes))
        if self.by_class is not None:
            target = replace(target, weight=self.by_class[target.y] * (1.0 if target.weight is None else target.weight))
        return target if self.grids is None else round_to_grids(target, self.grids)

    def integer_weight(self, target: Target) -> IntArray | None:
        """The weight of each row of a target that was read, in units; None where every row counts once."""
        target = self.to_fixed_point(target)
        return None if target.weight is None or target.grids is None else integer_weight(target)

    def with_classes(
        self, classes: AnyArray, class_rows: FloatArray, class_largest: FloatArray, target_range: TargetRange
    ) -> tuple[TargetPlan, TargetRange]:
        """The plan with the classes and their weights, and the range of the resulting weights."""
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
    """Reads y, weights and extras."""

    def check_y(self, y: Any) -> AnyArray:
        """Read y as an array, without interpreting it."""

    def read(self, y: AnyArray, sample_weight: Any, extras: dict[str, Any], *, of_part: bool = False) -> Target:
        """Read the weights and extras of the rows; all rows of a part may have weight zero."""

    def learn(self, target: Target) -> TrainingTarget:
        """Prepare the target of a fit."""

    def read_update(self, target: Target, outcome: Outcome) -> tuple[Target, BoolArray | None]:
        """Prepare the target of rows that are added to a fitted model; returns also which rows have positive weight."""

    def check_monotonic(self, classes: AnyArray | None) -> None:
        """Refuse targets whose predictions cannot be monotonic."""

    def family_of(self, classes: AnyArray | None) -> Family:
        """The outcome of the target, without its prior."""

    def calibrates(self) -> bool:
        """Whether the fit calibrates predictions."""

    def read_decision(self, classes: AnyArray | None) -> Decision:
        """The rule from probabilities to classes."""


@dataclass(frozen=True)
class ClassReader:
    """Class labels, with weights by class."""

    class_weight: Any = None
    classes: AnyArray | None = None  # all classes, if y may lack some
    decision: Any = None
    calibrate: Any = False

    def check_y(self, y: Any) -> AnyArray:
        """Read labels of any type."""
        return check_outcomes(y)

    def read(self, y: AnyArray, sample_weight: Any, extras: dict[str, Any], *, of_part: bool = False) -> Target:
        """Read the weights; there are no extras."""
        refuse_extras(extras, CategoricalOutcome.name, ())
        return Target(y, check_sample_weight(sample_weight, len(y), of_part=of_part))

    def learn(self, target: Target) -> TrainingTarget:
        """Replace labels by codes; rows and classes of weight zero are dropped."""
        target, has_weight = without_weight_zero(target)
        classes, codes = _read_labels(target.y, self.classes)
        target = replace(target, y=codes)
        by_class = self.weights_of(target, classes)
        if by_class is None:
            return TrainingTarget(target, classes, has_weight)
        in_weighted_class = by_class[target.y] > 0
        has_weight = _intersection(has_weight, in_weighted_class)
        target = self._multiply_weights(target.take(in_weighted_class), by_class)
        codes = (np.cumsum(by_class > 0) - 1)[target.y]
        return TrainingTarget(replace(target, y=codes), classes[by_class > 0], has_weight)

    def read_update(self, target: Target, outcome: Outcome) -> tuple[Target, BoolArray | None]:
        """Replace labels by codes of the fitted classes."""
        classes = outcome.labels
        if isinstance(self.class_weight, str):
            raise ValueError(
                "partial_fit cannot balance classes that it sees bit by bit: give class_weight as a dict from label to "
                "weight."
            )
        target, has_weight = without_weight_zero(target)
        weightless = [label for label, weight in (self.class_weight or {}).items() if weight == 0]
        if weightless and np.isin(target.y, weightless).any():
            in_weighted_class = ~np.isin(target.y, weightless)
            target, has_weight = target.take(in_weighted_class), _intersection(has_weight, in_weighted_class)
        target = replace(target, y=class_codes(target.y, classes))
        by_class = self.weights_of(target, np.append(classes, weightless) if weightless else classes)
        return (target if by_class is None else self._multiply_weights(target, by_class)), has_weight

    def check_monotonic(self, classes: AnyArray | None) -> None:
        """Refuse more than two classes; with two, the probability of the second can be monotonic."""
        if classes is not None and len(classes) > 2:
            raise ValueError(
                f"monotonic_cst needs two classes, of which the probability of the second rises or falls; y has "
                f"{len(classes)}."
            )

    def family_of(self, classes: AnyArray | None) -> Family:
        """The categorical outcome of these classes."""
        return Family(CategoricalOutcome, ClassOptions(0 if classes is None else len(classes), classes))

    def calibrates(self) -> bool:
        """Read the `calibrate` parameter."""
        return check_truth("calibrate", self.calibrate)

    def read_decision(self, classes: AnyArray | None) -> Decision:
        """Read the `decision` parameter."""
        return read_decision(self.decision, np.zeros(0) if classes is None else classes)

    @staticmethod
    def _multiply_weights(target: Target, by_class: FloatArray) -> Target:
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
                f"class_weight must be None, 'balanced' or a dict from label to weight; got "
                f"{short_repr(self.class_weight)}."
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
    """Numbers: real values, counts, durations, or the values of a custom outcome."""

    outcome: Any
    calibrate: Any = False

    @property
    def family(self) -> Family:
        """The outcome of the `outcome` parameter."""
        return read_outcome(self.outcome)

    def check_y(self, y: Any) -> AnyArray:
        """Read numbers; a custom outcome may take other values."""
        is_custom = self.family.is_own
        return check_outcomes(y, multi_output=is_custom, y_numeric=not is_custom)

    def read(self, y: AnyArray, sample_weight: Any, extras: dict[str, Any], *, of_part: bool = False) -> Target:
        """Read the weights, and the extras that the outcome takes."""
        family = self.family
        refuse_extras(extras, family.outcome.name, tuple(extra.name for extra in family.outcome.extras))
        values = {
            extra.name: extra.read(extra.name, extras[extra.name], len(y))
            for extra in family.outcome.extras
            if extras.get(extra.name) is not None
        }
        return Target(y, check_sample_weight(sample_weight, len(y), of_part=of_part), values)

    def learn(self, target: Target) -> TrainingTarget:
        """Drop rows of weight zero."""
        target, has_weight = without_weight_zero(target)
        return TrainingTarget(target, None, has_weight)

    def read_update(self, target: Target, outcome: Outcome) -> tuple[Target, BoolArray | None]:
        """Check the numbers as at fit."""
        target, has_weight = without_weight_zero(target)
        self.family.of(target, outcome.prior)
        return target, has_weight

    def check_monotonic(self, classes: AnyArray | None) -> None:
        """Accept all numbers: every mean can be monotonic."""

    def family_of(self, classes: AnyArray | None) -> Family:  # noqa: ARG002
        """The outcome of the `outcome` parameter."""
        return self.family

    def calibrates(self) -> bool:
        """Read the `calibrate` parameter."""
        return check_truth("calibrate", self.calibrate)

    def read_decision(self, classes: AnyArray | None) -> Decision:  # noqa: ARG002
        """The default, which numbers do not use."""
        return Decision()


def _read_labels(y: AnyArray, classes: AnyArray | None) -> tuple[AnyArray, AnyArray]:
    """The classes, and the position of each label among them."""
    integers = _integer_labels(y) if classes is None else None
    if integers is not None:
        return integers
    check_labels(y)
    classes = np.unique(y) if classes is None else classes
    return classes, class_codes(y, classes)


def _integer_labels(y: AnyArray) -> tuple[AnyArray, AnyArray] | None:
    """Find the classes of integers in a short range without sorting; None for other labels."""
    if y.dtype.kind not in "biu" or len(y) == 0:
        return None
    low, high = int(y.min()), int(y.max())
    if high - low > _MAX_LABEL_RANGE or max(abs(low), abs(high)) >= 2**62:
        return None
    offset = y.astype(np.int64, copy=False)
    if low != 0:
        offset = offset - low
    is_class = np.ones(high - low + 1, dtype=bool) if high - low <= 1 else np.bincount(offset) > 0
    if 2 * np.count_nonzero(is_class) > len(y):
        return None  # scikit-learn warns that these may not be classes
    codes = offset if is_class.all() else (np.cumsum(is_class) - 1)[offset]
    return (np.flatnonzero(is_class) + low).astype(y.dtype), codes


def class_codes(y: AnyArray, classes: AnyArray) -> AnyArray:
    """The position of each label among the classes."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = classes[codes] != y
    if np.any(unknown):
        label = y[np.argmax(unknown)]
        raise ValueError(
            f"y has the class {short_repr(label)}, which is not one of the classes {short_repr(classes.tolist())}."
        )
    return codes


def without_weight_zero(target: Target) -> tuple[Target, BoolArray | None]:
    """Drop rows of weight zero; the second result marks the remaining rows, or is None if none was dropped."""
    if target.weight is None or target.weight.all():
        return target, None
    has_weight = target.weight > 0
    return target.take(has_weight), has_weight


def _intersection(has_weight: BoolArray | None, of_remaining: BoolArray) -> BoolArray:
    """Combine two selections, of which the second is among the rows of the first."""
    if has_weight is None:
        return of_remaining
    result = has_weight.copy()
    result[has_weight] = of_remaining
    return result


def refuse_extras(extras: dict[str, Any], outcome: str, allowed: tuple[str, ...]) -> None:
    """Raise an error for extras that an outcome does not take, naming the outcomes that do."""
    for name, value in extras.items():
        if value is None or name in allowed:
            continue
        takers = [taker for taker, family in REGRESSION_OUTCOMES.items() if EXTRAS[name] in family.extras]
        raise ValueError(f"{name} is for outcome={' or '.join(map(repr, takers))} only; outcome is {outcome!r}.")
