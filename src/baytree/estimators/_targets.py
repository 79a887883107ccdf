"""Class labels and numbers as targets: how they are checked, and which outcome they have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Tags

from .._typing import AnyArray, FloatArray
from .._validation import check_labels, check_real, shown
from ..growing import Growth
from ..outcomes import (
    REGRESSION_OUTCOMES,
    CategoricalOutcome,
    CustomOutcome,
    ExponentialOutcome,
    Outcome,
    PoissonOutcome,
    Target,
)
from ..outcomes._base import RealOutcome, check_numbers
from ..outcomes._categorical import DEFAULT_PSEUDO_OBSERVATIONS
from ._base import Estimator


class ClassTarget(Estimator):
    """Class labels, with weights by class."""

    classes_: AnyArray
    outcome_: CategoricalOutcome
    class_weight: Any
    _pseudo_observations = DEFAULT_PSEUDO_OBSERVATIONS  # of the prior where none is given

    def _check_target(self, target: Target) -> tuple[Target, AnyArray | None]:
        check_labels(target.y)
        given = self.__dict__.pop("_classes", None)
        if given is not None:
            self.classes_ = given
            target = self._check_more_target(target)
        else:
            self.classes_, codes = np.unique(target.y, return_inverse=True)
            target = replace(target, y=codes)
        by_class = self._class_weights(target)
        if by_class is None:
            return target, None
        counts = by_class[target.y] > 0
        target = target.take(counts)
        weight = by_class[target.y] * (1.0 if target.weight is None else target.weight)
        # A class of weight zero is no class.
        self.classes_ = self.classes_[by_class > 0]
        return replace(target, y=(np.cumsum(by_class > 0) - 1)[target.y], weight=weight), counts

    def _check_more_target(self, target: Target) -> Target:
        codes = np.minimum(np.searchsorted(self.classes_, target.y), len(self.classes_) - 1)
        unknown = self.classes_[codes] != target.y
        if np.any(unknown):
            label = target.y[np.argmax(unknown)]
            raise ValueError(f"y has the class {label!r}, which is not one of the classes {list(self.classes_)}.")
        return replace(target, y=codes)

    def _growth(self) -> Growth:
        growth = super()._growth()
        if growth.monotonic is not None and len(self.classes_) > 2:
            raise ValueError(f"monotonic_cst needs two classes, y has {len(self.classes_)}: which should rise?")
        return growth

    def _make_outcome(self, target: Target, prior: Any) -> CategoricalOutcome:
        return CategoricalOutcome.of(target, prior, len(self.classes_), self._pseudo_observations)

    def _class_weights(self, target: Target) -> FloatArray | None:
        if self.class_weight is None:
            return None
        classes = self.classes_
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


class RealTarget(Estimator):
    """Numbers: real values, counts, durations, or what an outcome of the user's own takes."""

    outcome_: RealOutcome
    outcome: Any

    def __sklearn_tags__(self) -> Tags:
        """Durations are positive, and so spread out that no model predicts them with a high R2."""
        tags = super().__sklearn_tags__()
        durations = isinstance(self.outcome, str) and self.outcome == ExponentialOutcome.name
        tags.target_tags.positive_only = durations
        tags.regressor_tags.poor_score = durations
        return tags

    def _target_checks(self) -> dict[str, bool]:
        own = not isinstance(self.outcome, str)
        return {"multi_output": own, "y_numeric": not own}

    def _family(self) -> type[Outcome] | None:
        """The outcome's class; None for one of the user's own."""
        if not isinstance(self.outcome, str):
            return None
        if self.outcome not in REGRESSION_OUTCOMES:
            names = ", ".join(map(repr, REGRESSION_OUTCOMES))
            raise ValueError(f"outcome must be one of {names} or an object of your own; got {self.outcome!r}.")
        return REGRESSION_OUTCOMES[self.outcome]

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, extras: dict[str, Any], *, reset: bool
    ) -> tuple[FloatArray, Target]:
        family = self._family()
        n_rows = len(y) if hasattr(y, "__len__") else 0
        for name, owner in (("exposure", PoissonOutcome), ("event", ExponentialOutcome)):
            if extras.get(name) is None:
                continue
            if family is not owner:
                raise ValueError(f"{name} is for outcome={owner.name!r} only; outcome is {self.outcome!r}.")
            extras[name] = (check_event if name == "event" else check_exposure)(extras[name], n_rows)
        return super()._check_rows(X, y, sample_weight, extras, reset=reset)

    def _check_target(self, target: Target) -> tuple[Target, AnyArray | None]:
        return target, None

    def _check_more_target(self, target: Target) -> Target:
        type(self.outcome_).of(target, self.outcome_.prior, **self._definition())
        return target

    def _definition(self) -> dict[str, Any]:
        return {"definition": self.outcome} if self._family() is None else {}

    def _make_outcome(self, target: Target, prior: Any) -> Outcome:
        family = self._family()
        return CustomOutcome.of(target, prior, self.outcome) if family is None else family.of(target, prior)


def check_exposure(exposure: Any, n_rows: int) -> FloatArray:
    """Read one finite number per row."""
    return check_numbers("exposure", exposure, n_rows)


def check_event(event: Any, n_rows: int) -> FloatArray:
    """Read one True or False per row, as 1.0 and 0.0."""
    array = np.asarray(event)
    if array.shape != (n_rows,):
        raise ValueError(f"event must hold one True or False per row of X ({n_rows} of them); got shape {array.shape}.")
    if array.dtype.kind not in "biuf" or not np.all((array == 0) | (array == 1)):
        raise ValueError(
            "event must be True or False (or 1 or 0) in every row: whether the duration ended in an event."
        )
    return array.astype(np.float64)
