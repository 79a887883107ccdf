"""The partition space of a table, written out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_X_y

from . import _core
from ._typing import AnyArray
from ._validation import check_finite, check_integer, check_labels, check_positive_array, check_sample_weight
from .growing import midpoint
from .outcomes import REGRESSION_OUTCOMES, CategoricalOutcome, Outcome, Target
from .priors import as_partition_prior


def partition_space(
    X: Any,
    y: Any,
    *,
    outcome: str = "categorical",
    prior: Any = None,
    partition_prior: Any = 0.99,
    feature_prior: Any = None,
    min_samples_leaf: int = 1,
    sample_weight: Any = None,
) -> AnyArray:
    """List every partition of a table with its probability.

    Parameters
    ----------
    X, y
        Table of finite numbers and outcomes.
    outcome
        ``"categorical"``, or a regressor's ``"normal"``, ``"poisson"`` or ``"exponential"``.
    prior, partition_prior, feature_prior, min_samples_leaf, sample_weight
        As in the estimators and their ``fit``.

    Returns
    -------
    record array
        The trivial partition first (feature -1, threshold NaN), then every cut, feature by feature and in
        ascending order, with the fields ``feature``, ``threshold``, ``log_likelihood``, ``log_prior`` and
        ``log_posterior`` (normalised: the probabilities sum to one). ``pandas.DataFrame(result)`` makes it a table.

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
    families: dict[str, type[Outcome]] = {"categorical": CategoricalOutcome, **REGRESSION_OUTCOMES}
    if not isinstance(outcome, str) or outcome not in families:
        raise ValueError(f"outcome must be one of {', '.join(map(repr, families))}; got {outcome!r}.")
    family = families[outcome]
    settings = as_partition_prior(partition_prior)
    min_samples_leaf = check_integer("min_samples_leaf", min_samples_leaf, low=1)
    names = getattr(X, "columns", None)
    X, y = check_X_y(X, y, dtype=np.float64, ensure_all_finite=False)
    check_finite(X, names)
    d = X.shape[1]
    weights = (
        np.ones(d)
        if feature_prior is None
        else check_positive_array("feature_prior", feature_prior, length=d, one_per=f"feature ({d} of them)")
    )
    target = Target(y, check_sample_weight(sample_weight, len(X)))
    if target.weight is not None:
        counts = target.weight > 0
        X, target = X[counts], target.take(counts)
    if outcome == "categorical":
        check_labels(target.y)
        target = replace(target, y=np.unique(target.y, return_inverse=True)[1])
    fitted = family.of(target, prior)
    found = _core.partition_space(
        X,
        _core.encode(X, 0, 1),
        fitted.to_core(target),
        fitted.core_prior().tolist(),
        settings.to_core(weights),
        _core.Limits(None, min_samples_leaf, 0.0),
    )
    cuts = found["feature"]
    threshold = midpoint(X[found["lower_row"], cuts], X[found["upper_row"], cuts])
    log_likelihood = np.append(found["log_likelihood_trivial"], found["log_likelihood"])
    log_likelihood = fitted.log_likelihood_from_core(
        log_likelihood, np.full(len(log_likelihood), target.total_weight())
    )
    log_prior = np.append(found["log_prior_trivial"], found["log_prior"])
    log_joint = log_likelihood + log_prior
    columns = {
        "feature": np.append(-1, cuts.astype(np.int64)),
        "threshold": np.append(np.nan, threshold),
        "log_likelihood": log_likelihood,
        "log_prior": log_prior,
        "log_posterior": log_joint - np.logaddexp.reduce(log_joint),
    }
    space = np.empty(len(log_joint), dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        space[name] = column
    return space.view(np.recarray)
