"""Models as plain dictionaries, the content of a model file."""

from __future__ import annotations

from typing import Any

from ..estimators import Estimator, FittedEstimator, estimator_of, from_document
from ..persistence import document_of


def to_dict(model: FittedEstimator) -> dict[str, Any]:
    """Return a fitted model as strings, numbers, lists and dictionaries, fit for JSON. Of a pipeline, its last step.

    Parameters
    ----------
    model
        A fitted model, or a pipeline that ends in one.

    Returns
    -------
    dict
        What a model file holds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import to_dict
    >>> to_dict(model)["estimator"]
    'BayesianTreeClassifier'
    """
    estimator = estimator_of(model)
    return document_of(type(estimator).__name__, estimator.get_params(deep=False), estimator.fitted_)


def from_dict(document: dict[str, Any]) -> Estimator:
    """Return the model that `to_dict` described.

    Parameters
    ----------
    document
        What `to_dict` returned.

    Returns
    -------
    estimator
        The fitted model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import from_dict, to_dict
    >>> from_dict(to_dict(model)).predict(X[:1])
    array([0])
    """
    return from_document(document)
