"""The fit of rows that live elsewhere: what is read, settled and grown is the same as in memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import check_labels, unchanged_on_error
from ..fitted import FittedTree
from ..growth import ColumnBins, DividedSource, Elsewhere, Growth, Sample, Tell, n_shares, put_in_order
from ..outcomes import Extent, Family, Grids, Outcome, Reach, Target, on_grids
from ..table import Schema
from ._base import Estimator as AnyEstimator
from ._base import read_missing
from ._calibrate import calibrate, has_spread
from ._fitted_on import facts
from ._halves import Halves
from ._sampled import data_of_sample
from ._targets import ClassReader, TargetReader, class_codes, without_weight_zero
from ._tree import SingleTree

DEFAULT_BINS = 255
Estimator = TypeVar("Estimator", bound=SingleTree)


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
        """A first look: the target as it is, of the rows that count."""
        target, counts = without_weight_zero(self.reader.read(self.reader.check_y(y), weight, extras))
        if self.has_classes:
            check_labels(target.y)
        elif len(target.y):
            self.reader.family_of(None).of(target, None)  # errors tell the row
        return target, counts

    def whole(self, y: Any, weight: Any, extras: dict[str, Any]) -> tuple[Target, BoolArray | None]:
        """The target in whole numbers, of the rows that count."""
        target, counts = self.look(y, weight, extras)
        return self.settled(target), counts

    def settled(self, target: Target) -> Target:
        """A target that was looked at, in whole numbers."""
        if self.classes is not None:
            target = replace(target, y=class_codes(target.y, self.classes))
        if self.by_class is not None:
            target = replace(target, weight=self.by_class[target.y] * (1.0 if target.weight is None else target.weight))
        return target if self.grids is None else on_grids(target, self.grids)


@dataclass(frozen=True)
class Found:
    """What a first pass over the rows finds: columns, the reach of the target, its classes."""

    schema: Schema
    reach: Reach
    classes: AnyArray | None = None
    class_rows: FloatArray | None = None  # how many rows each class has
    class_reach: FloatArray | None = None  # the largest weight of each class


class Source(DividedSource, Protocol):
    """Rows that live somewhere, and what can be asked of them, in this order."""

    columns: tuple[ColumnBins, ...]  # settled once the totals are known

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> Found:
        """What the columns and the targets are."""

    def bins(self, max_bins: int, left_out: BoolArray) -> tuple[ColumnBins, ...]:
        """The bins of every column; those that are left out have one."""

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """`WholeOutcome.totals_of` all rows; from here on the rows are whole numbers of this plan."""

    def sample(self, shares: int) -> Sample:
        """The rows whose marks are in the first of so many shares."""

    def close(self) -> None:
        """Give up what was kept for the fit."""


def look_elsewhere(model: Any, source: Source) -> tuple[Schema, tuple[ColumnBins, ...]]:
    """What the columns of rows that live elsewhere are, and their bins, as a fit of the estimator would find them."""
    _refuse_others(model)
    model._check_plain()
    max_bins = DEFAULT_BINS if model.max_bins is None else model.max_bins
    found = source.look(TargetPlan(model._target_reader()), model.categorical_features, max_bins)
    return found.schema, source.bins(max_bins, np.zeros(found.schema.n_features, dtype=bool))


def _refuse_others(model: Any) -> None:
    """Refuse what is no estimator of a single tree."""
    wanted = "BayesianTreeClassifier or BayesianTreeRegressor"
    if isinstance(model, type):
        raise TypeError(f"model must be an estimator, not a class: write {model.__name__}().")
    if not isinstance(model, AnyEstimator):
        raise TypeError(f"model must be a {wanted}; got {type(model).__name__}.")
    if not isinstance(model, SingleTree):
        raise TypeError(
            f"Rows that live elsewhere grow a single tree; {type(model).__name__} holds many: fit it in memory, or "
            f"give a {wanted}."
        )


def fit_elsewhere(model: Estimator, source: Source, tell: Tell | None = None) -> Estimator:
    """Fit an estimator to rows that live elsewhere; returns it."""
    _refuse_others(model)
    with unchanged_on_error(model):
        if model.max_bins is None:
            model.set_params(max_bins=DEFAULT_BINS)
        plan = TargetPlan(model._target_reader())
        family = plan.reader.family_of(None)
        refuse_what_needs_rows(model, family)
        model._check_plain()
        found = source.look(plan, model.categorical_features, model.max_bins)
        plan, reach = _with_classes(plan, found)
        family = plan.reader.family_of(plan.classes)
        growth = model._growth(found.schema, plan.reader, plan.classes)
        plan = replace(plan, grids=family.grids(reach))
        source.bins(model.max_bins, growth.feature_weight == 0)
        totals = source.totals(plan, family)
        model._take_over(_grow(model, source, plan, found, source.columns, totals, growth, tell))
    return model


def refuse_what_needs_rows(model: SingleTree, family: Family) -> None:
    """Refuse, before anything is read, what sums of whole numbers cannot tell."""
    if family.is_own:
        raise ValueError("An outcome of your own is no sum of whole numbers: fit it in memory.")
    if model.lookahead:
        raise ValueError("lookahead needs the rows in memory: make it 0.")
    if model.partitions == "oblique":
        raise ValueError("Hyperplanes need the rows in memory: make partitions 'axis'.")


def _with_classes(plan: TargetPlan, found: Found) -> tuple[TargetPlan, Reach]:
    """The classes, their weights, and the reach of the weights that they lead to."""
    reader, classes = plan.reader, found.classes
    if not isinstance(reader, ClassReader) or classes is None:
        return plan, found.reach
    plan = replace(plan, classes=classes)
    if reader.class_weight is None or found.class_rows is None or found.class_reach is None:
        return plan, found.reach
    if isinstance(reader.class_weight, str) and "weight" in found.reach.ranges:
        raise ValueError("class_weight='balanced' beside weights needs the rows in memory: give a dict by label.")
    one_each = Target(np.arange(len(classes)), found.class_rows)
    by_class = reader.weights_of(one_each, classes)
    if by_class is None or np.any(by_class == 0):
        raise ValueError("class_weight leaves out a class: leave its rows out instead.")
    weights = by_class * found.class_reach
    ranges = found.reach.ranges | {"weight": (0.0, float(weights.max()))}
    whole = found.reach.whole_weights and np.array_equal(by_class, np.rint(by_class))
    return replace(plan, by_class=by_class), Reach(found.reach.n_rows, ranges, bool(whole))


def _grow(
    model: SingleTree,
    source: Source,
    plan: TargetPlan,
    found: Found,
    bins: tuple[ColumnBins, ...],
    totals: list[int],
    growth: Growth,
    tell: Tell | None,
) -> FittedTree:
    grids = plan.grids
    if grids is None:
        raise ValueError("the target is not on grids")
    family, schema = plan.reader.family_of(plan.classes), found.schema
    extent = Extent(found.reach.n_rows, float(totals[0]) * grids.weight_unit)
    rows = Elsewhere(source, bins, schema.is_nominal, grids, extent)
    outcome = family.settle(family.whole.summary(totals, grids), model.prior, _Trials(rows, source, growth, tell))
    grown = put_in_order(rows.grow(outcome, growth, tell), growth.monotonic)
    tree = grown.most_probable_pruning() if model.prune else grown
    fitted = FittedTree(tree, outcome, schema, plan.classes, None if tree is grown else grown)
    if plan.reader.calibrates() and has_spread(outcome):
        sample = data_of_sample(source.sample(n_shares(extent.n_rows)), bins, schema, grids, plan.classes)
        fitted = calibrate(
            fitted, sample, lambda part: model._grow(part.encoded(growth), outcome, growth, calibrated=False)
        )
    about = facts((extent.n_rows, len(bins)), extent.weight, _fingerprint(bins, totals))
    return replace(
        fitted,
        fitted_on=about,
        decision=plan.reader.read_decision(plan.classes),
        missing=read_missing(model.missing),
    )


def _fingerprint(bins: tuple[ColumnBins, ...], totals: list[int]) -> str:
    """64 hexadecimal digits, the same for equal tables wherever they live."""
    digest = hashlib.sha256(repr(totals).encode())
    for own in bins:
        digest.update(own.lows.tobytes() + own.highs.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class _Trials:
    """Trees that are grown to settle a prior."""

    rows: Elsewhere
    source: DividedSource
    growth: Growth
    tell: Tell | None

    def log_evidence(self, outcome: Outcome) -> float:
        """But for the factor that no prior changes."""
        return self.rows.grow(outcome, self.growth, self.tell, factors=False).log_evidence()

    def leaves(self, outcome: Outcome) -> tuple[FloatArray, FloatArray]:
        """Prior and posterior of the leaves of the tree that the rows grow."""
        tree = self.rows.grow(outcome, self.growth, self.tell, factors=False)
        return tree.prior[tree.is_leaf], tree.posterior[tree.is_leaf]

    def log_evidence_by_halves(self, outcome: Outcome) -> float:
        """Of all rows where the halves are too small; a dispersion changes the factor, too."""
        found = Halves.of(self.rows, self.source).log_evidence(outcome, self.growth, self.tell)
        return self.rows.grow(outcome, self.growth, self.tell).log_evidence() if found is None else found
