"""The partition space of a table, written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._typing import AnyArray
from ._validation import shown
from .estimators import BayesianTreeClassifier, BayesianTreeRegressor
from .growing import encode_table
from .outcomes import REGRESSION_OUTCOMES


def partition_space(
    X: Any,
    y: Any,
    *,
    outcome: str = "categorical",
    prior: Any = None,
    partition_prior: Any = 0.99,
    feature_prior: Any = None,
    categorical_features: Any = "from_dtype",
    min_samples_leaf: int = 1,
    sample_weight: Any = None,
) -> AnyArray:
    """List every partition of a table with its probability.

    Parameters
    ----------
    X, y
        Table and outcomes.
    outcome
        ``"categorical"``, or a regressor's ``"normal"``, ``"poisson"`` or ``"exponential"``.
    prior, partition_prior, feature_prior, categorical_features, min_samples_leaf, sample_weight
        As in the estimators and their ``fit``.

    Returns
    -------
    record array
        The trivial partition first (feature -1, threshold NaN), then every cut, feature by feature and in
        ascending order, with the fields ``feature``, ``threshold``, ``missing_go_to_left`` (of columns with gaps),
        ``levels`` (of categorical columns: a tuple of the levels on the left side, None for a missing one),
        ``log_likelihood``, ``log_prior`` and ``log_posterior`` (normalised: the probabilities sum to one; of
        categorical columns with more than eight levels only the sets that were scored are there).
        ``pandas.DataFrame(result)`` makes it a table.

    Examples
    --------
    Figure 1 of the paper: five points, outcomes 1, 1, 1, 0, 0, prior Beta(1, 1). The likelihoods are
    B(4,3)/B(1,1), B(2,1)B(3,3)/B(1,1)^2, B(3,1)B(2,3)/B(1,1)^2, B(4,1)B(1,3)/B(1,1)^2 and
    B(4,2)B(1,2)/B(1,1)^2, that is 1/60, 1/60, 1/36, 1/12 and 1/40.

    >>> import numpy as np
    >>> from scipy.special import beta
    >>> from baytree import partition_space
    >>> X = np.array([[0.0], [0.5], [1.25], [1.5], [1.75]])
    >>> space = partition_space(X, [1, 1, 1, 0, 0], prior=1.0)
    >>> space["threshold"]
    array([  nan, 0.25 , 0.875, 1.375, 1.625])
    >>> np.exp(space["log_likelihood"]).round(6)
    array([0.016667, 0.016667, 0.027778, 0.083333, 0.025   ])
    >>> printed = [beta(4, 3), beta(2, 1) * beta(3, 3), beta(3, 1) * beta(2, 3),
    ...            beta(4, 1) * beta(1, 3), beta(4, 2) * beta(1, 2)]
    >>> np.allclose(np.exp(space["log_likelihood"]), printed, rtol=1e-14)
    True
    >>> float(space["threshold"][np.argmax(space["log_posterior"])])
    1.375
    """
    known = ("categorical", *REGRESSION_OUTCOMES)
    if not isinstance(outcome, str) or outcome not in known:
        raise ValueError(f"outcome must be one of {', '.join(map(repr, known))}; got {shown(outcome)}.")
    parameters = {
        "prior": prior,
        "partition_prior": partition_prior,
        "feature_prior": feature_prior,
        "categorical_features": categorical_features,
        "min_samples_leaf": min_samples_leaf,
    }
    model = (
        BayesianTreeClassifier(**parameters)
        if outcome == "categorical"
        else BayesianTreeRegressor(outcome=outcome, **parameters)
    )
    return _written_out(model, *model._prepare(X, y, sample_weight))


def _written_out(model: Any, X: Any, target: Any, growth: Any) -> AnyArray:
    fitted = model._make_outcome(target, model.prior)
    found = _core.partition_space(
        encode_table(X, model._is_categorical, growth),
        fitted.to_core(target),
        fitted.core_prior().tolist(),
        growth.settings(),
    )
    log_likelihood = np.append(found["log_likelihood"], found["log_likelihood_split"])
    weight = np.full(len(log_likelihood), target.total_weight())
    log_likelihood = fitted.log_likelihood_from_core(log_likelihood, weight)
    log_prior = np.append(found["log_prior_leaf"], found["log_prior_split"])
    log_joint = log_likelihood + log_prior
    columns = {
        "feature": np.append(-1, found["feature"]),
        "threshold": np.append(np.nan, found["threshold"]),
        "missing_go_to_left": np.append(False, found["missing_go_to_left"]),
        "levels": _levels(found, model.categories_),
        "log_likelihood": log_likelihood,
        "log_prior": log_prior,
        "log_posterior": log_joint - np.logaddexp.reduce(log_joint),
    }
    space = np.empty(len(log_joint), dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        space[name] = column
    return space.view(np.recarray)


def _levels(found: Any, categories: Any) -> AnyArray:
    """The levels on the left side of each partition; None for cuts of numbers and the trivial partition."""
    result = np.full(len(found["feature"]) + 1, None, dtype=object)
    for i in np.flatnonzero(found["kind"] == 3):
        part = slice(found["category_start"][i], found["category_start"][i + 1])
        own = found["category"][part][found["category_goes_left"][part]]
        gap = (None,) if found["missing_go_to_left"][i] else ()
        result[i + 1] = (*categories[found["feature"][i]][own].tolist(), *gap)
    return result
