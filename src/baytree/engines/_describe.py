"""The results of the first pass of a fit, for other fits to the same table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators import Model, columns_of_source
from ..sources import KINDS, RemoteSource, TableSpec, open_source, remember_interrupts
from ..table import Kind


def describe(
    model: Model,
    source: Any,
    target: Any = "y",
    weight: Any = None,
    exposure: Any = None,
    event: Any = None,
    *,
    features: Any = None,
    drop: Any = None,
) -> dict[str, dict[Any, Any]]:
    """Find dtypes, bins and categories of the columns of a source, for any number of fits to it.

    Parameters
    ----------
    model
        The estimator that is to be fitted; its `max_bins` and `categorical_features` matter.
    source, target, weight, exposure, event, features, drop
        As in `fit`.

    Returns
    -------
    dict
        ``dtypes``, ``bins`` and ``categories``, each a dict by the names of columns: give them to `fit` as
        ``fit(model, source, **described)``. The trees are the same, bit for bit, as without. An ordered column of
        more categories than `max_bins` has no entry in ``categories``: the fit finds its bins. All of it are lists,
        numbers and text, so that ``json.dump`` can write it to a file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, engines
    >>> frame = load_iris(as_frame=True).frame
    >>> model = BayesianTreeClassifier(max_bins=3)
    >>> described = engines.describe(model, frame, target="target")
    >>> described["bins"]["petal width (cm)"]
    [[0.1, 0.6], [1.0, 1.6], [1.7, 2.5]]
    >>> engines.fit(model, frame, target="target", **described).get_n_leaves()
    4
    """
    targets = {"target": target, "weight": weight, "exposure": exposure, "event": event}
    rows = open_source(source, targets, TableSpec(), features=features, drop=drop)
    with remember_interrupts():
        try:
            return describe_source(model, rows)
        finally:
            rows.close()


def describe_source(model: Model, rows: RemoteSource) -> dict[str, dict[Any, Any]]:
    """The description of an open source, in lists, numbers and text."""
    schema, bins = columns_of_source(model, rows)
    name_of = {kind: name for name, kind in KINDS.items()}
    columns = dict(zip(range(schema.n_features) if schema.names is None else schema.names, schema.columns, strict=True))
    return {
        "dtypes": {name: name_of[column.kind] for name, column in columns.items()},
        "bins": {
            name: np.stack([ends.lows, ends.highs], axis=1).tolist() or [[]]  # no bin, for a column without values
            for (name, column), ends in zip(columns.items(), bins, strict=True)
            if column.kind is Kind.NUMBER
        },
        # Given categories have a bin each, so those of which a fit puts some into one bin are left for it to find.
        "categories": {
            name: column.categories.tolist()
            for (name, column), ends in zip(columns.items(), bins, strict=True)
            if column.categories is not None and not np.any(ends.lows < ends.highs)
        },
    }
