"""The partition space of a table, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from .._typing import AnyArray
from .._validation import FEW_NUMBERS, short_repr
from ..growth import list_partitions
from ..outcomes import OUTCOMES, REGRESSION_OUTCOMES, CategoricalOutcome
from ..table import Schema
from ..tree import SplitKind
from ._base import Estimator
from ._classifier import BayesianTreeClassifier
from ._fit import prepare
from ._prior_search import settle_outcome
from ._regressor import BayesianTreeRegressor
from ._resolve import estimator_of, fitted_of, table_of


def partition_space(
    X: Any,
    y: Any,
    *,
    model: Any = None,
    outcome: Any = None,
    prior: Any = None,
    partition_prior: Any = 0.5,
    feature_prior: Any = None,
    categorical_features: Any = "from_dtype",
    min_samples_leaf: int = 1,
    sample_weight: Any = None,
    exposure: Any = None,
    event: Any = None,
) -> AnyArray:
    """List every partition of a table with its probability.

    Parameters
    ----------
    X, y
        Table and outcomes.
    model
        A fitted estimator, or a pipeline that ends in one, whose outcome, prior and other settings count: nothing else
        is given then but weights and the like.
    outcome
        ``"categorical"``, or what a regressor's `outcome` may be. None: categorical where y holds text, truth values or
        few whole numbers; other numbers must say what they are.
    prior, partition_prior, feature_prior, categorical_features, min_samples_leaf
        As in the estimators.
    sample_weight, exposure, event
        As in their ``fit``.

    Returns
    -------
    record array
        No split first (feature -1, threshold NaN), then every split, feature by feature and in ascending order, with
        the fields ``kind`` (as in `Tree`), ``feature``, ``threshold``, ``missing_go_to_left`` (of columns with missing
        values), ``categories`` (of categorical columns: a tuple of the categories on the left side, None for missing),
        ``log_likelihood``, ``log_prior`` and ``log_posterior`` (normalised: the probabilities sum to one; of
        categorical columns with more than eight categories only the sets that were scored are there).
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
    array([nan, 0.2, 0.9, 1.4, 1.6])
    >>> np.exp(space["log_likelihood"]).round(6)
    array([0.016667, 0.016667, 0.027778, 0.083333, 0.025   ])
    >>> printed = [beta(4, 3), beta(2, 1) * beta(3, 3), beta(3, 1) * beta(2, 3),
    ...            beta(4, 1) * beta(1, 3), beta(4, 2) * beta(1, 2)]
    >>> np.allclose(np.exp(space["log_likelihood"]), printed, rtol=1e-14)
    True
    >>> float(space["threshold"][np.argmax(space["log_posterior"])])
    1.4
    """
    extras = {name: value for name, value in (("exposure", exposure), ("event", event)) if value is not None}
    if model is not None:
        if outcome is not None or prior is not None:
            raise ValueError("model has an outcome and a prior of its own: give either model, or outcome and prior.")
        bare = clone(estimator_of(model)).set_params(prior=fitted_of(model).outcome.prior)
        return _partition_table(bare, table_of(model, X), y, sample_weight, extras)
    outcome = _guess_outcome(y) if outcome is None else outcome
    parameters = {
        "prior": prior,
        "partition_prior": partition_prior,
        "feature_prior": feature_prior,
        "categorical_features": categorical_features,
        "min_samples_leaf": min_samples_leaf,
    }
    if isinstance(outcome, str) and outcome not in OUTCOMES:
        raise ValueError(f"outcome must be one of {', '.join(map(repr, OUTCOMES))}; got {short_repr(outcome)}.")
    if isinstance(outcome, str) and outcome == "categorical":
        return _partition_table(BayesianTreeClassifier(**parameters), X, y, sample_weight, extras)
    return _partition_table(BayesianTreeRegressor(outcome=outcome, **parameters), X, y, sample_weight, extras)


def _guess_outcome(y: Any) -> str:
    """Guess the outcome of labels; for numbers that may be classes or not it must be given."""
    values = np.unique(np.asarray(y))
    if values.dtype.kind not in "iuf":
        return CategoricalOutcome.name
    if len(values) <= FEW_NUMBERS and np.all(values == np.rint(values)):
        return CategoricalOutcome.name
    raise ValueError(
        f"y holds {len(values)} different numbers: say outcome='categorical' if they are classes, or one of "
        f"{', '.join(map(repr, REGRESSION_OUTCOMES))}."
    )


def _partition_table(model: Estimator, X: Any, y: Any, sample_weight: Any, extras: dict[str, Any]) -> AnyArray:
    source = model._memory_source(X, y, sample_weight, extras)
    data, _, family = prepare(model, source, model._target_reader())
    outcome = settle_outcome(family, model.prior, data)
    partitions = list_partitions(data.columns, data.target, outcome, data.growth)
    log_likelihood = np.append(partitions["log_likelihood"], partitions["log_likelihood_split"])
    log_prior = np.append(partitions["log_prior_leaf"], partitions["log_prior_split"])
    log_joint = log_likelihood + log_prior
    columns = {
        "kind": np.append(np.uint8(SplitKind.NONE), partitions["kind"]),
        "feature": np.append(-1, partitions["feature"]),
        "threshold": np.append(np.nan, partitions["threshold"]),
        "missing_go_to_left": np.append(False, partitions["missing_go_to_left"]),
        "categories": _categories(partitions, data.schema),
        "log_likelihood": log_likelihood,
        "log_prior": log_prior,
        "log_posterior": log_joint - np.logaddexp.reduce(log_joint),
    }
    space = np.empty(len(log_joint), dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        space[name] = column
    return space.view(np.recarray)


def _categories(partitions: dict[str, Any], schema: Schema) -> AnyArray:
    """The categories on the left side of each partition; None for other kinds of split and for none."""
    result = np.full(len(partitions["feature"]) + 1, None, dtype=object)
    start, categories, goes_left = (
        partitions["category_start"],
        partitions["category"],
        partitions["category_goes_left"],
    )
    for i in np.flatnonzero(partitions["kind"] == SplitKind.CATEGORY_SET):
        names = schema.columns[partitions["feature"][i]].categories
        part = slice(start[i], start[i + 1])
        left = [] if names is None else names[categories[part][goes_left[part]]].tolist()
        result[i + 1] = (*left, *((None,) if partitions["missing_go_to_left"][i] else ()))
    return result
