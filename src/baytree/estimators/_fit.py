"""The one fit of every estimator at every source: schema, target, prior, growth, pruning, calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .._validation import unchanged_on_error, warn_of_weights
from ..fitted import Fitted
from ..growth import ColumnBins, OnLevel
from ..outcomes import Family
from ..sources import (
    Capability,
    RemoteSource,
    Source,
    SourceKind,
    TableSpec,
    TableSummary,
    TargetPlan,
    TargetReader,
    check_capabilities,
    kind_of,
    open_source,
    raise_remembered_interrupt,
    remember_interrupts,
)
from ..table import Schema
from ._facts import facts_of
from ._parameters import read_unseen, read_weights
from ._prior_search import settle_outcome

if TYPE_CHECKING:
    from ._base import Estimator

T = TypeVar("T")


def fit_source(model: Any, source: Source, on_level: OnLevel | None = None) -> Any:
    """Fit an estimator to the rows of a source; returns it."""
    refuse_other_models(model)
    with unchanged_on_error(model):
        model._take_over(fit(model, source, model._target_reader(), on_level))
    return model


def fit_elsewhere(model: Any, source: Any, targets: dict[str, Any]) -> Any:
    """Fit an estimator to rows that are not in memory; `targets` has the columns of its other arguments."""
    if not isinstance(targets["target"], str) and kind_of(source) is not SourceKind.DASK_ARRAY:
        raise TypeError(
            f"The rows of X ({type(source).__name__}) are not in memory: give y as the name of its column, or collect "
            "X first."
        )
    rows = open_source(source, targets, TableSpec())
    with remember_interrupts():
        try:
            return fit_source(model, rows, lambda _: raise_remembered_interrupt())
        finally:
            rows.close()


def columns_of_source(model: Any, source: RemoteSource) -> tuple[Schema, tuple[ColumnBins, ...]]:
    """The columns of a source and their bins, as a fit of the estimator would find them."""
    refuse_other_models(model)
    model._check_plain()
    plan = TargetPlan(model._target_reader())
    plan, summary = _settle_target(plan, source.summarise(plan, model.categorical_features, model.max_bins))
    return summary.schema, source.bins(plan, model.max_bins, summary)


def refuse_other_models(model: Any) -> None:
    """Refuse what is no estimator of baytree."""
    if isinstance(model, type):
        raise TypeError(f"model must be an estimator, not a class: write {model.__name__}().")
    if not hasattr(model, "_required"):
        raise TypeError(f"model must be an estimator of baytree; got {type(model).__name__}.")


class PreparedFit(NamedTuple):
    """Rows with their columns, classes and grids, ready for growth."""

    data: Any  # TrainingData; of rows in memory TableData
    plan: TargetPlan
    family: Family


def fit(estimator: Estimator, source: Source, reader: TargetReader, on_level: OnLevel | None = None) -> Fitted:
    """Fit an estimator to the rows of a source; returns the fitted result."""
    data, plan, family = prepare(estimator, source, reader, on_level)
    if estimator.weights is None:
        warn_of_weights(data.total_weight(), len(data), stacklevel=4)
    with _in_background(partial(facts_of, data), data.growth.n_threads) as facts:
        outcome = settle_outcome(family, estimator.prior, data)
        fitted = estimator._grow(data, outcome, calibrated=reader.calibrates())
    return replace(
        fitted,
        fitted_on=facts(),
        decision=reader.read_decision(plan.classes),
        unseen=read_unseen(estimator.unseen),
    )


@contextmanager
def _in_background(work: Callable[[], T], n_threads: int) -> Iterator[Callable[[], T]]:
    """Run `work` in a second thread, if allowed, while the block runs; yields a function that returns its result."""
    if n_threads == 1:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        try:
            job = pool.submit(work)
        except RuntimeError:  # no memory for another thread
            job = None
        if job is None:
            yield work
        else:
            yield job.result


def prepare(estimator: Estimator, source: Source, reader: TargetReader, on_level: OnLevel | None = None) -> PreparedFit:
    """Read the schema and the target of a fit, as far as its prior."""
    check_capabilities(source, required_capabilities(estimator, reader))
    estimator._check_plain()
    max_bins = source.bins_by_default if estimator.max_bins is None else estimator.max_bins
    plan = TargetPlan(reader)
    summary = source.summarise(plan, estimator.categorical_features, max_bins)
    plan, summary = _settle_target(plan, summary)
    growth = replace(estimator._growth(summary.schema, reader, plan.classes), max_bins=max_bins)
    family = reader.family_of(plan.classes)
    data = _with_numbers(source.training_data(plan, summary, family, growth, on_level))
    return PreparedFit(data, plan, family)


def _with_numbers(data: Any) -> Any:
    """Training data whose schema knows the range of every column of numbers."""
    return replace(data, schema=data.schema.with_numbers(data.numbers_of_columns(), data.growth.feature_weight > 0))


def required_capabilities(estimator: Any, reader: TargetReader) -> list[Capability]:
    """The capabilities that a fit needs beyond histograms of its rows."""
    needs = estimator._required()
    if reader.family_of(None).is_own:
        needs.append(Capability.OWN_OUTCOME)
    if read_weights(estimator.weights):
        needs.append(Capability.IMPORTANCE)
    if getattr(estimator, "lookahead", 0):
        needs.append(Capability.LOOKAHEAD)
    if estimator.partitions == "oblique":
        needs.append(Capability.HYPERPLANES)
    if getattr(estimator, "leaf", "constant") != "constant":
        needs.append(Capability.LEAF_MODELS)
    return needs


def _settle_target(plan: TargetPlan, summary: TableSummary) -> tuple[TargetPlan, TableSummary]:
    """The classes with their weights and, where rows are not in memory, the grids of whole numbers."""
    target_range = summary.target_range
    if target_range is None:
        return replace(plan, classes=summary.classes), summary
    if summary.classes is not None and summary.class_rows is not None and summary.class_largest is not None:
        plan, target_range = plan.with_classes(summary.classes, summary.class_rows, summary.class_largest, target_range)
    family: Family = plan.reader.family_of(plan.classes)
    return replace(plan, grids=family.grids(target_range)), replace(summary, target_range=target_range)
