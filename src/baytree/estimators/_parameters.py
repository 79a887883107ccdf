"""Reading the parameters that all estimators have."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_integer, check_positive_array, check_real, short_repr
from .._words import within_sentence
from ..fitted import UNSEEN
from ..priors import is_paper
from ..table import Schema

_MOST_BINS = 65535
WEIGHTS = ("counts", "importance")  # meanings of sample_weight


def read_partitions(partitions: Any) -> bool:
    """Read the `partitions` parameter: whether hyperplanes are among them."""
    if not isinstance(partitions, str) or partitions not in ("axis", "oblique"):
        raise ValueError(f"partitions must be 'axis' or 'oblique'; got {short_repr(partitions)}.")
    return partitions == "oblique"


def read_thresholds(thresholds: Any, partition_prior: Any) -> bool:
    """Read the `thresholds` parameter: whether they are round; those of the paper are midpoints."""
    if not isinstance(thresholds, str) or thresholds not in ("round", "midpoint"):
        raise ValueError(f"thresholds must be 'round' or 'midpoint'; got {short_repr(thresholds)}.")
    return thresholds == "round" and not is_paper(partition_prior)


def read_unseen(unseen: Any) -> str:
    """Read the `unseen` parameter: where values go that a split has not seen."""
    if not isinstance(unseen, str) or unseen not in UNSEEN:
        raise ValueError(f"unseen must be {' or '.join(map(repr, UNSEEN))}; got {short_repr(unseen)}.")
    return unseen


def read_leaf(leaf: Any) -> str:
    """Read the `leaf` parameter: what a leaf holds."""
    if not isinstance(leaf, str) or leaf not in ("constant", "linear"):
        raise ValueError(f"leaf must be 'constant' or 'linear'; got {short_repr(leaf)}.")
    return leaf


def has_constant_leaves(estimator: Any) -> bool:
    """Whether rows can be added to the leaves: if not, `partial_fit` is not there, as scikit-learn wants it."""
    if isinstance(estimator.leaf, str) and estimator.leaf == "linear":
        raise AttributeError("partial_fit needs constant leaves: make it leaf='constant', or fit all rows together.")
    return True


def refuse_with_leaf_models(estimator: Any) -> None:
    """Refuse parameters that have no meaning beside models in the leaves."""
    alone = {"partitions": "axis", "lookahead": 0, "smoothing": 0, "outcome": "normal"}
    alone |= dict.fromkeys(("interaction_cst", "forced_splits"))
    for name, value in alone.items():
        given = getattr(estimator, name, value)
        if given is not value and not (isinstance(given, type(value) | float) and given == value):
            raise ValueError(f"leaf='linear' needs {name}={value!r}; got {short_repr(given)}.")


def read_weights(weights: Any) -> bool:
    """Read the `weights` parameter: whether weights only compare rows."""
    if weights is not None and (not isinstance(weights, str) or weights not in WEIGHTS):
        raise ValueError(f"weights must be None or {' or '.join(map(repr, WEIGHTS))}; got {short_repr(weights)}.")
    return weights == "importance"


def read_max_bins(max_bins: Any, partitions: Any) -> int | None:
    """Read the `max_bins` parameter: None, or the most bins of a column."""
    if max_bins is None:
        return None
    number = check_integer("max_bins", max_bins, low=2)
    if number > _MOST_BINS:
        raise ValueError(f"max_bins must be at most {_MOST_BINS}; got {short_repr(max_bins)}.")
    if partitions == "oblique":
        raise ValueError(
            'Hyperplanes need every value: write partitions="axis" beside max_bins, or leave out max_bins.'
        )
    return number


def read_feature_prior(feature_prior: Any, schema: Schema) -> FloatArray:
    """Read the `feature_prior` parameter: one weight per feature, or a dict by name or position (others: 1)."""
    n_features = schema.n_features
    if feature_prior is None:
        return np.ones(n_features)
    by_column = schema.by_position("feature_prior", feature_prior)
    if by_column is not None:
        for column, weight in by_column.items():
            check_real(f"feature_prior of {within_sentence(schema.describe(column))}", weight, low=0, low_ok=True)
        feature_prior = [by_column.get(i, 1.0) for i in range(n_features)]
    given = np.asarray(feature_prior)
    is_left_out = given == 0 if given.shape == (n_features,) else np.zeros(n_features, dtype=bool)
    if n_features and is_left_out.all():
        raise ValueError("feature_prior is zero throughout: at least one feature must have weight.")
    weights = check_positive_array(
        "feature_prior",
        np.where(is_left_out, 1.0, given) if is_left_out.any() else feature_prior,
        length=n_features,
        one_per=f"feature ({n_features} of them), or zero to leave it out",
    )
    return np.where(is_left_out, 0.0, weights)
