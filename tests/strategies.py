"""Hypothesis strategies: small tables of every kind that has ever mattered."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, PartitionPrior
from baytree.outcomes import REGRESSION_OUTCOMES
from baytree.table import Kind
from tests.reference import outcomes

NEIGHBOURS = [1.0, np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2), -0.0, 0.0, 5e-324]
HUGE = [-1.7e308, -1.0, 1.0, 1.7e308]
DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.float32, np.float64]


def examples(times):
    """Settings of a test that needs so many times the examples of the others, be they quick or thorough."""
    return settings(max_examples=math.ceil(times * settings().max_examples))


@st.composite
def columns(draw, n_rows):
    """One column: few or many distinct values, constant, neighbouring floats, the ends of float64."""
    pool = draw(
        st.sampled_from(
            [
                st.sampled_from([0.0, 1.0]),
                st.sampled_from([3.0]),
                st.integers(-3, 3).map(float),
                st.sampled_from(NEIGHBOURS),
                st.sampled_from(HUGE),
                st.floats(-1e3, 1e3),
            ]
        )
    )
    return draw(st.lists(pool, min_size=n_rows, max_size=n_rows))


@st.composite
def tables(draw, min_rows=1, max_rows=14, max_features=3):
    n_rows = draw(st.integers(min_rows, max_rows))
    n_features = draw(st.integers(1, max_features))
    return np.array([draw(columns(n_rows)) for _ in range(n_features)]).T


@st.composite
def labels(draw, n_rows, max_classes=4):
    """Class codes, 0 up to the highest that occurs, all of them present."""
    y = draw(st.lists(st.integers(0, max_classes - 1), min_size=n_rows, max_size=n_rows))
    return np.unique(y, return_inverse=True)[1]


def weights(n_rows):
    whole = st.lists(st.integers(1, 3).map(float), min_size=n_rows, max_size=n_rows)
    real = st.lists(st.floats(0.1, 5), min_size=n_rows, max_size=n_rows)
    return st.one_of(st.none(), whole, real)


@st.composite
def parameters(draw, n_features, n_classes):
    """Parameters of a classifier, as keyword arguments of the estimator."""
    prior = draw(
        st.one_of(
            st.none(),
            st.floats(0.05, 20),
            st.lists(st.floats(0.05, 20), min_size=n_classes, max_size=n_classes),
        )
    )
    partition_prior = PartitionPrior(
        split=draw(st.sampled_from([0.99, 0.5, 0.999, 0.1])),
        by_depth=draw(st.booleans()),
        location=draw(st.sampled_from(["uniform", "distance"])),
        proper=draw(st.booleans()),
        choose=draw(st.sampled_from(["column", "partition"])),
    )
    feature_prior = draw(st.one_of(st.none(), st.lists(st.floats(0.1, 10), min_size=n_features, max_size=n_features)))
    return {
        "prior": prior,
        "partition_prior": partition_prior,
        "feature_prior": feature_prior,
        "smoothing": draw(st.sampled_from([0.0, 0.1, 1.0])),
        "max_depth": draw(st.sampled_from([None, 0, 1, 2])),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 2, 3])),
        "min_weight_fraction_leaf": draw(st.sampled_from([0.0, 0.0, 0.2])),
        "max_leaf_nodes": draw(st.sampled_from([None, None, 1, 2, 3])),
        "prune": draw(st.booleans()),
    }


@st.composite
def problems(draw, **fixed):
    """Table, labels, weights and parameters, some of them fixed. About half of the trees have splits."""
    X = draw(tables(min_rows=draw(st.sampled_from([1, 6, 10]))))
    y = draw(labels(len(X)))
    if draw(st.booleans()):
        middle = np.sort(X, axis=0)[len(X) // 2]
        y = np.unique((middle <= X).sum(axis=1), return_inverse=True)[1]
    willing = {"prior": 0.05, "max_depth": None, "max_leaf_nodes": None} if draw(st.booleans()) else {}
    return X, y, draw(weights(len(X))), draw(parameters(X.shape[1], len(np.unique(y)))) | willing | fixed


def real_prior(name):
    """Parameters of a real outcome's prior as it declares them, or None for its default."""
    family = REGRESSION_OUTCOMES[name]
    each = [st.floats(-5, 5) if part in family.any_sign else st.floats(0.05, 20) for part in family.parameter_names]
    return st.one_of(st.none(), st.tuples(*each).map(list))


@st.composite
def normal_targets(draw, n):
    pool = draw(st.sampled_from([st.floats(-5, 5), st.sampled_from([0.0, 1.0, 1.5]), st.floats(1e3, 1.001e3)]))
    # Values nearer to each other than standard y can tell apart count as equal; the oracle would not know.
    return np.array(draw(st.lists(pool, min_size=n, max_size=n))).round(6)


def numbers(pool):
    """One number a row."""
    return lambda n: st.lists(pool, min_size=n, max_size=n).map(lambda drawn: np.array(drawn, dtype=float))


# Of every outcome of a regressor, by its name, and of everything that some of them take beside y.
REAL_TARGETS = {
    "normal": normal_targets,
    "poisson": numbers(st.integers(0, 6)),
    "negative_binomial": numbers(st.integers(0, 6)),
    "exponential": numbers(st.floats(0.01, 5)),
}
EXTRAS = {"exposure": st.floats(0.1, 4), "event": st.booleans()}
OPTIONS = {"negative_binomial": {"dispersion": st.sampled_from([0.05, 0.5, 2.0])}}  # of outcomes that have some


@st.composite
def real_problems(draw, *, raw=False, max_rows=14, max_features=3):
    """A table with a real outcome of any kind: `outcome`, what fit takes, the oracle's outcome, parameters."""
    size = {"min_rows": 2, "max_rows": max_rows, "max_features": max_features}
    X, categorical = draw(raw_tables(**size)) if raw else (draw(tables(**size)), [])
    n = len(X)
    weight = draw(weights(n))
    name = draw(st.sampled_from(sorted(REAL_TARGETS)))
    y = draw(REAL_TARGETS[name](n))
    family = REGRESSION_OUTCOMES[name]
    declared = [extra.name for extra in family.extras]
    extras = {one: draw(st.one_of(st.none(), st.lists(EXTRAS[one], min_size=n, max_size=n))) for one in declared}
    options = draw(st.fixed_dictionaries(OPTIONS.get(name, {})))
    settings = draw(parameters(X.shape[1], 2))
    if raw:
        settings |= draw(raw_settings(X.shape[1], categorical))
    settings["prior"] = draw(real_prior(name))
    oracle = outcomes.REAL[name](y.tolist(), [1.0] * n if weight is None else list(weight), **extras, **options)
    return X, family.options(**options) if options else name, y, weight, extras, oracle, settings


@st.composite
def raw_tables(draw, min_rows=1, max_rows=14, max_features=3):
    """Numbers and codes of categories, some missing; returns the table and the positions of categorical columns."""
    n_rows = draw(st.integers(min_rows, max_rows))
    n_features = draw(st.integers(1, max_features))
    table, categorical = [], []
    for i in range(n_features):
        if draw(st.booleans()):
            categorical.append(i)
            top = draw(st.sampled_from([0, 1, 2, 4, 7, 13]))
            column = draw(st.lists(st.integers(0, top).map(float), min_size=n_rows, max_size=n_rows))
        else:
            column = draw(columns(n_rows))
        missing = draw(st.sampled_from([st.just(False), st.integers(0, 3).map(lambda k: k == 0), st.just(True)]))
        table.append([np.nan if draw(missing) else value for value in column])
    return np.array(table).T, categorical


@st.composite
def raw_problems(draw, min_rows=(2, 8, 12), max_rows=14, max_features=3):
    """A classification problem on a raw table, with everything that may be set, monotonic constraints included."""
    X, categorical = draw(raw_tables(draw(st.sampled_from(min_rows)), max_rows, max_features))
    y = draw(labels(len(X), draw(st.sampled_from([2, 2, 4]))))
    n_classes = len(np.unique(y))
    settings = draw(parameters(X.shape[1], n_classes)) | draw(raw_settings(X.shape[1], categorical))
    if n_classes > 2:
        settings["monotonic_cst"] = None
    willing = {"prior": 0.05, "max_depth": None, "max_leaf_nodes": None} if draw(st.booleans()) else {}
    return X, y, draw(weights(len(X))), settings | willing


@st.composite
def raw_settings(draw, n_features, categorical):
    """Parameters that concern raw tables."""
    prior = PartitionPrior(
        location=draw(st.sampled_from(["uniform", "distance"])),
        subsets=draw(st.sampled_from([True, True, False])),
        proper=draw(st.booleans()),
        by_depth=draw(st.booleans()),
        choose=draw(st.sampled_from(["column", "partition"])),
    )
    directions = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features)
    monotonic = draw(st.one_of(st.none(), directions))
    if monotonic is not None:
        monotonic = [0 if i in categorical else direction for i, direction in enumerate(monotonic)]
    return {
        "partition_prior": replace(prior, split=draw(st.sampled_from([0.99, 0.5]))),
        "categorical_features": categorical,
        "monotonic_cst": monotonic if monotonic is None or any(monotonic) else None,
    }


@st.composite
def fitted_trees(draw):
    """A classifier or a regressor on numbers, categories and missing values, most with splits, and its table."""
    X, categorical = draw(raw_tables(min_rows=8, max_rows=16))
    filled = np.nan_to_num(X, nan=-7.0)
    above = filled > np.sort(filled, axis=0)[len(X) // 2 - 1]
    noise = np.array(draw(st.lists(st.integers(0, 9), min_size=len(X), max_size=len(X))))
    if draw(st.booleans()):
        y = noise % 3 if draw(st.booleans()) else above.sum(axis=1) % draw(st.sampled_from([2, 3]))
        model = BayesianTreeClassifier(prior=draw(st.sampled_from([0.05, 0.3])), categorical_features=categorical)
    else:
        y = 10.0 * above @ np.arange(1, X.shape[1] + 1) + noise
        model = BayesianTreeRegressor(prior=[0.0, 0.01, 0.5, 0.05], categorical_features=categorical)
    return model.fit(X, y), X


LABELS = ["tiny", "small", "middle", "large", "huge"]  # in their order, which is not that of the alphabet


def frame_column(kind, codes, missing):
    """A column of a pandas frame that holds codes as numbers, categories with or without an order, or truth values."""
    if kind is Kind.NUMBER:
        return pd.Series(np.where(missing, np.nan, np.array(codes, dtype=float)))
    if kind is Kind.TRUTH:
        values = pd.array([bool(code % 2) for code in codes], dtype="boolean")
        values[missing] = pd.NA
        return pd.Series(values if missing.any() else values.astype(bool))
    names = [None if gone else LABELS[code] for code, gone in zip(codes, missing, strict=True)]
    return pd.Series(pd.Categorical(names, LABELS, ordered=kind is Kind.ORDERED))


@st.composite
def fitted_frames(draw):
    """A classifier or a regressor on a frame with columns of every kind, most with splits, and the frame."""
    n = draw(st.integers(8, 16))
    columns, signal = {}, np.zeros(n)
    for i in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(list(Kind)))
        codes = np.array(draw(st.lists(st.integers(0, len(LABELS) - 1), min_size=n, max_size=n)))
        gone = draw(st.sampled_from([st.just(False), st.integers(0, 3).map(lambda k: k == 0)]))
        missing = np.array(draw(st.lists(gone, min_size=n, max_size=n)))
        columns[f"c{i}"] = frame_column(kind, codes, missing)
        effect = codes % 2 if kind is Kind.TRUTH else codes > 2 if kind is not Kind.CATEGORY else codes % 3 == 0
        signal += (i + 1) * np.where(missing, 0.5, effect)
    frame = pd.DataFrame(columns)
    noise = np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)))
    if draw(st.booleans()):
        model = BayesianTreeClassifier(prior=draw(st.sampled_from([0.05, 0.3])))
        return model.fit(frame, noise % 3 if draw(st.booleans()) else signal > np.median(signal)), frame
    return BayesianTreeRegressor(prior=[0.0, 0.01, 0.5, 0.05]).fit(frame, 10 * signal + noise), frame
