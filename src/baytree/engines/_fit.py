"""Fit a model to rows of any source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from .._progress import Progress
from ..estimators import fit_source, refuse_other_models
from ..priors import is_paper
from ..sources import RemoteSource, TableSpec, open_source, raise_remembered_interrupt, remember_interrupts
from ._checkpoint import Checkpoint
from ._describe import describe_source
from ._journal import journaled

Model = TypeVar("Model", bound=BaseEstimator)


def fit(
    model: Model,
    source: Any,
    target: Any = "y",
    weight: Any = None,
    exposure: Any = None,
    event: Any = None,
    *,
    features: Any = None,
    drop: Any = None,
    dtypes: Any = None,
    bins: Any = None,
    categories: Any = None,
    cache: bool = True,
    checkpoint: str | Path | None = None,
    verbose: int = 0,
) -> Model:
    """Fit a tree, a forest or the prunings of a tree to data that need not fit into memory, or stay in a database.

    Parameters
    ----------
    model
        `BayesianTreeClassifier` or `BayesianTreeRegressor`; a forest with ``partitions="axis"``; a tree space with
        ``space="prunings"``. Columns of numbers are divided into `max_bins` quantile bins, 255 where it is None.
    source
        A data frame; the path of a Parquet or CSV file or of a folder of Parquet files, a pattern such as
        ``"loans/*.parquet"``, or a list of these; a pyarrow data set or scanner; a function that returns an iterator
        of frames, the same ones whenever it is called; a LazyFrame of polars; a Dask data frame or array; a Spark data
        frame; an Ibis table; a relation of DuckDB. Folders named like ``city=Bonn`` make a column ``city``.
    target, weight, exposure, event
        Names of the columns that hold y, weights, and the arguments of the same names of a regressor's `fit`. With a
        Dask array, these are Dask arrays as well.
    features, drop
        The names of the features, in their order, or of the columns that are left out, such as an id. By default all
        columns without another role are features. Columns that are not features are not read.
    dtypes, bins, categories
        Specifications of features, as dicts by the names of columns (with a Dask array, by position). The fit need
        not find what is specified, and reads the rows only once if all of it is. `dtypes` has "number", "bool",
        "category" or "ordered", or a dtype of NumPy, pandas, polars or pyarrow. `bins` has the ascending limits of
        bins, which become thresholds, or two columns with the lowest and the highest value of each bin. `categories`
        has lists, in order for an ordered column. `describe` returns all three.
    cache
        For batches: store the encoded rows in a temporary folder, instead of reading the table for every level.
    checkpoint
        A folder, in which the fit stores the results of its passes over the rows: sums for each level of a tree, and
        where intervals or probabilities are calibrated, some thousand encoded rows. A fit that was interrupted goes on
        at the last finished level, with the same tree, when it is called again with the same arguments. Another fit and
        other rows are refused. A fit that finishes removes what it stored.
    verbose
        1 shows the current pass over the rows or level of the tree, its progress and the elapsed time on standard
        error, once the fit takes more than a second.

    Returns
    -------
    model
        The fitted model. The tree is identical, bit for bit, to that of ``model.fit`` with the same `max_bins`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, engines
    >>> frame = load_iris(as_frame=True).frame
    >>> def batches():
    ...     return iter([frame[:75], frame[75:]])
    >>> model = engines.fit(BayesianTreeClassifier(), batches, target="target")
    >>> model.get_n_leaves()
    3
    """
    targets = {"target": target, "weight": weight, "exposure": exposure, "event": event}
    are_midpoints = getattr(model, "thresholds", None) == "midpoint" or is_paper(
        getattr(model, "partition_prior", None)
    )
    not_features = [*targets.values(), *(drop if isinstance(drop, (list, tuple)) else [])]
    specs = TableSpec.read(dtypes, bins, categories, not_features, round_ends=not are_midpoints)
    with Progress("Opening the source", unit="rows", show=bool(verbose)) as progress, remember_interrupts():

        def at_level(text: str) -> None:
            raise_remembered_interrupt()
            progress.begin(text)

        def open_rows(specs: TableSpec) -> RemoteSource:
            return open_source(source, targets, specs, features=features, drop=drop, cache=cache, progress=progress)

        kept = None
        if checkpoint is not None:
            given = {"features": features, "drop": drop, "dtypes": dtypes, "bins": bins, "categories": categories}
            kept = _open_checkpoint(checkpoint, model, targets, given)
            if not any([dtypes, bins, categories]):
                specs = _described(model, kept, open_rows)
        rows = open_rows(specs)
        if kept is not None:
            rows = replace(rows, encoding=journaled(rows.encoding, kept))
        try:
            fitted: Model = fit_source(model, rows, at_level)
        finally:
            rows.close()
        if kept is not None:
            kept.remove()
        return fitted


def _open_checkpoint(folder: Any, model: BaseEstimator, targets: dict[str, Any], given: dict[str, Any]) -> Checkpoint:
    """Open the checkpoint of a fit with these arguments."""
    refuse_other_models(model)
    names = {name: column for name, column in targets.items() if column is None or isinstance(column, str)}
    return Checkpoint.open(folder, model, names | given)


def _described(model: BaseEstimator, kept: Checkpoint, open_rows: Callable[[TableSpec], RemoteSource]) -> TableSpec:
    """The columns, which are found in the first fit with a checkpoint and stored there."""
    described = kept.description()
    if described is None:
        rows = open_rows(TableSpec())
        try:
            described = describe_source(model, rows)
        finally:
            rows.close()
        kept.store_description(described)
    return TableSpec.read(described["dtypes"], described["bins"], described["categories"], [])
