"""Reading model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .estimators import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor
from .persistence import model_from_dict, read_document

ESTIMATORS: dict[str, type] = {
    estimator.__name__: estimator
    for estimator in (BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor)
}


def load(path: str | Path) -> Any:
    """Read a model that ``save`` wrote. The file is data: reading it runs no code.

    Parameters
    ----------
    path
        A file that a model's ``save`` wrote, with this or an earlier version of baytree.

    Returns
    -------
    estimator
        The fitted model, with the same predictions bit for bit.
    """
    return model_from_dict(read_document(path), ESTIMATORS)
