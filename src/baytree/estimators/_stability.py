"""Refits of a tree on Bayesian-bootstrap weights of its rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._progress import Progress
from .._threads import map_on_threads
from ..fitted import Fitted, Stability, compare_with_refits
from ..growth import TableData, bootstrap_weights, hash_each_row
from ..sources import MemorySource, Source
from ._fit import prepare

if TYPE_CHECKING:
    from ._base import Estimator


def stability_of(
    estimator: Estimator, source: MemorySource, n_refits: int, random_state: Any, *, show: bool
) -> Stability:
    """Refit the tree of a fitted estimator, or the tree to read of several, on weighted rows and compare."""
    seed = 0 if random_state is None else int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    fitted = estimator.fitted_
    data: TableData = read_rows_of_fit(estimator, source, "stability")
    n_threads = data.growth.n_threads
    data.columns  # noqa: B018 - encoded once, before threads use it
    hashes = hash_each_row(data.rows, data.target)
    done = count(1)

    def refit(draw: int) -> Fitted:
        weight = bootstrap_weights(hashes, data.target.weight, seed, draw)
        tree = estimator._refit_tree(data.reweighted(weight, n_threads=1), fitted.outcome)
        tree = tree.with_outcome(fitted.readable.outcome)  # with the calibration of the fit
        progress.update(next(done))
        return replace(tree, decision=fitted.decision, unseen=fitted.unseen)

    with Progress("Stability", n_refits, unit="refits", show=True if show else None) as progress:
        refits = map_on_threads(refit, range(n_refits), n_threads)
        return compare_with_refits(fitted.readable, refits, data.rows)


def read_rows_of_fit(estimator: Estimator, source: Source, what: str) -> Any:
    """The rows of the fit, with the columns and classes that it found in them."""
    fitted = estimator.fitted_
    data, plan, _ = prepare(estimator, source, estimator._target_reader())
    same_classes = np.array_equal([] if plan.classes is None else plan.classes, fitted.outcome.labels)
    if not same_classes or _columns(data.schema) != _columns(fitted.schema):
        others = "columns or categories" if same_classes else "classes"
        raise ValueError(
            f"{what} needs the rows of the fit, but X and y have other {others}: give the table of the fit."
        )
    return data


def _columns(schema: Any) -> list[Any]:
    """The kinds and categories of the columns."""
    return [
        (column.kind, None if column.categories is None else tuple(map(str, column.categories)))
        for column in schema.columns
    ]
