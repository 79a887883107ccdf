"""Fit a model to rows wherever they live."""

from __future__ import annotations

from typing import Any, TypeVar

from .._progress import Progress
from ..estimators import fit_source
from ..sources import TableSpec, ctrl_c_is_remembered, open_source, raise_if_asked

Model = TypeVar("Model")


def fit(
    model: Model,
    source: Any,
    target: Any = "y",
    weight: Any = None,
    exposure: Any = None,
    event: Any = None,
    *,
    dtypes: Any = None,
    bins: Any = None,
    categories: Any = None,
    cache: bool = True,
    verbose: int = 0,
) -> Model:
    """Fit a single-tree estimator to a table that need not fit into memory, nor leave its database.

    Parameters
    ----------
    model
        `BayesianTreeClassifier` or `BayesianTreeRegressor`. Columns of numbers are divided into `max_bins` quantile
        bins, 255 where it is None.
    source
        A data frame; the path of a Parquet file or folder, a pattern such as ``"loans/*.parquet"``, or a list of
        these; a pyarrow data set; a function that returns an iterator of frames, the same ones whenever it is called;
        a Dask data frame or array; an Ibis table. Folders named like ``city=Bonn`` make a column ``city``.
    target, weight, exposure, event
        Names of columns: y, weights, and what `fit` of a regressor takes under these names. All other columns are
        features. Beside a Dask array they are Dask arrays, too.
    dtypes, bins, categories
        What is known of features, as dicts by the names of columns (positions beside a Dask array); what is given is
        not looked for, and a fit that is given all of it reads the rows once. `dtypes`: "number", "bool", "category"
        or "ordered", or a dtype of NumPy, pandas, polars or pyarrow. `bins`: the ascending numbers at which bins end,
        which thresholds then are; or the lowest and the highest value of each bin, in two columns. `categories`: a
        list, of an ordered column in its order. `describe` returns all three.
    cache
        Batches only: keep the codes of the rows in a temporary folder instead of reading the table for every level.
    verbose
        1 tells on standard error how far the fit is and about how long it will take, once it takes more than two
        seconds; with rich where it is installed.

    Returns
    -------
    model
        The model, fitted. The tree is the same, bit for bit, as that of ``model.fit`` with the same `max_bins`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, engines
    >>> frame = load_iris(as_frame=True).frame
    >>> def batches():
    ...     return iter([frame[:75], frame[75:]])
    >>> model = engines.fit(BayesianTreeClassifier(), batches, target="target")
    >>> model.get_n_leaves()
    5
    """
    beside = {"target": target, "weight": weight, "exposure": exposure, "event": event}
    specs = TableSpec.read(dtypes, bins, categories, list(beside.values()))
    rows = open_source(source, beside, specs, cache=cache)
    with Progress("Reading the table", show=bool(verbose)) as progress, ctrl_c_is_remembered():

        def at_level(depth: int, n_open: int, n_rows: int) -> None:
            raise_if_asked()
            progress.begin(f"Level {depth + 1}: {n_open:,} open nodes, {n_rows:,} rows")

        try:
            fitted: Model = fit_source(model, rows, at_level)
            return fitted
        finally:
            rows.close()
