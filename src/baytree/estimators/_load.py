"""Reading model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..fitted import ModelKind
from ..persistence import ModelFileError, read_document, read_file
from ._base import Estimator
from ._classifier import BayesianTreeClassifier
from ._forest import BaseForest
from ._forest_classifier import BayesianForestClassifier
from ._forest_regressor import BayesianForestRegressor
from ._predictions import ClassPredictions, NumberPredictions
from ._regressor import BayesianTreeRegressor
from ._space import BaseTreeSpace
from ._space_classifier import TreeSpaceClassifier
from ._space_regressor import TreeSpaceRegressor
from ._tree import SingleTree

ESTIMATORS: dict[str, type[Estimator]] = {
    estimator.__name__: estimator
    for estimator in (
        BayesianTreeClassifier,
        BayesianTreeRegressor,
        TreeSpaceClassifier,
        TreeSpaceRegressor,
        BayesianForestClassifier,
        BayesianForestRegressor,
    )
}
_OF_KIND: dict[ModelKind, type] = {
    ModelKind.TREE: SingleTree,
    ModelKind.SPACE: BaseTreeSpace,
    ModelKind.FOREST: BaseForest,
}


def load(path: str | Path) -> Any:
    """Read a model that ``save`` wrote. The file is data: reading it runs no code.

    What is no model, is damaged or is of a newer format raises `ModelFileError`, a ValueError.

    Parameters
    ----------
    path
        A file that a model's ``save`` wrote.

    Returns
    -------
    estimator
        The fitted model, with the same predictions bit for bit.

    Examples
    --------
    >>> import baytree, tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> file = Path(tempfile.mkdtemp()) / "iris.json"
    >>> baytree.BayesianTreeClassifier().fit(X, y).save(file)
    >>> baytree.load(file).predict(X[:1])
    array([0])
    """
    return from_document(*read_file(path))


def from_document(document: Any, beside: dict[str, bytes] | None = None) -> Estimator:
    """The estimator that a document describes; the arrays of a large one are beside it."""
    known = {name: kind().get_params(deep=False) for name, kind in ESTIMATORS.items()}
    name, parameters, fitted = read_document(document, known, beside)
    made, predicts = ESTIMATORS[name], ClassPredictions if fitted.outcome.predicts_classes else NumberPredictions
    if not issubclass(made, _OF_KIND[fitted.kind]) or not issubclass(made, predicts):
        raise ModelFileError(f"The baytree model is damaged: it holds no fitted {name}.")
    estimator = made.from_fitted(fitted, parameters)
    try:
        estimator._growth(fitted.schema, estimator._target_reader(), fitted.classes)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ModelFileError(f"The baytree model is damaged: {error}") from error
    return estimator
