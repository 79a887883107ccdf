"""Starting to edit a tree, on a table in memory or at any other source."""

from __future__ import annotations

from typing import Any

from ..estimators import FittedEstimator, estimator_of, prepare_for_edits
from ..sources import TableSpec, open_source
from ._draft import Draft


def start(
    model: FittedEstimator,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    exposure: Any = None,
    event: Any = None,
    who: str | None = None,
    when: str | None = None,
) -> Draft:
    """Start to edit a fitted tree: every edit tells its odds, the change of the loss and of decisions.

    Odds are those of the posterior on these rows: the probability of the tree after the edit, divided by that of the
    tree before. The model is not changed; `Draft.finish` returns a new one.

    Parameters
    ----------
    model
        A fitted single tree with constant leaves; of a pipeline the last step.
    X, y, sample_weight, exposure, event
        The rows of the fit, as in ``fit``. For rows that are elsewhere, X is a source as in `engines.fit` (a Parquet
        path, a Dask data frame, an Ibis table), and y and the others are names of its columns.
    who, when
        The author of the edits and their date, for the history. Nothing is filled in.

    Returns
    -------
    Draft
        The tree, to be edited.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, edit
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y, who="A. Smith")
    >>> print(draft.swap(0, "petal length (cm)"))
    Swap node 0 from petal width (cm) <= 0.8 to petal length (cm) <= 2.4
    odds 1:2 against the tree before; loss 0.1683, as before; no decision changes
    """
    estimator = estimator_of(model)
    source = None
    if isinstance(y, str):
        targets = {"target": y, "weight": sample_weight, "exposure": exposure, "event": event}
        specs = TableSpec.read(None, None, None, list(targets.values()))
        names = estimator.fitted_.schema.names
        source = open_source(X, targets, specs, features=None if names is None else list(names), cache=True)
    try:
        extras = {"exposure": exposure, "event": event}
        data = prepare_for_edits(estimator, source, (X, y, sample_weight, extras))
        return Draft(estimator, data, source, who, when)
    except BaseException:
        if source is not None:
            source.close()
        raise
