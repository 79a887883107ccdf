"""The smallest change by trying everything, and what any change must do."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from . import route


def decision_of_nodes(model):
    """Class, or side of the root's estimate."""
    if model.fitted_.classes is not None:
        return model.fitted_.node_codes
    return model.tree_.value[:, 0, 0] > model.tree_.value[0, 0, 0]


def scale_of(tree, feature):
    edges = tree.threshold[(tree.feature == feature) & np.isfinite(tree.threshold)]
    span = float(min(max(edges) / 2 - min(edges) / 2, np.finfo(float).max / 2)) * 2 if len(edges) else 1.0
    return span or abs(edges[0]) or 1.0


def grid(model, feature):
    """Every value of a feature that a tree may tell from others, and that stands for something."""
    column = model.schema_.columns[feature]
    if column.categories is not None:
        return [math.nan, *map(float, range(len(column.categories)))]
    if column.kind == "truth value":
        return [math.nan, 0.0, 1.0]
    tree = model.tree_
    edges = tree.threshold[(tree.feature == feature) & np.isfinite(tree.threshold)]
    ends = [
        edges,
        np.floor(edges),
        np.floor(edges) + 1,
        np.nextafter(edges, np.inf),
        [column.low or 0.0, column.high or 0.0],
    ]
    return [math.nan, 0.0, *np.unique(np.concatenate(ends))]


def distance(model, feature, old, new):
    if math.isnan(old) or math.isnan(new) or model.schema_.columns[feature].kind == "category":
        return 1.0
    whole = model.schema_.columns[feature].kind in ("ordered category", "truth value")
    scale = np.longdouble(1.0 if whole else scale_of(model.tree_, feature))
    return float(min(abs(np.longdouble(new) - np.longdouble(old)) / scale, np.longdouble(1e300)))


def known(tree, leaf, feature, value):
    """Whether every split of the feature on the way has seen such a value."""
    nodes = [node for node in tree.path(leaf)[:-1] if tree.feature[node] == feature]
    return all(route.has_seen(tree, node, {feature: value}) for node in nodes)


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


def is_allowed(model, feature, old, new, immutable=(), directions=(), allow_missing=False):
    """Whether a change may be made."""
    column = model.schema_.columns[feature]
    if column.low is not None and not math.isnan(new) and not column.low <= new <= column.high:
        return False
    if column.is_integer and not math.isnan(new) and not float(new).is_integer():
        return False
    if feature in immutable or (math.isnan(new) and not allow_missing):
        return False
    way = dict(directions).get(feature, 0)
    return way == 0 or math.isnan(old) or (not math.isnan(new) and (new >= old if way > 0 else new <= old))


def brute_force(model, row, n_features, **allowed):
    """The distance of the nearest other decision, by trying everything that is allowed."""
    tree, decisions = model.tree_, decision_of_nodes(model)
    decision = decisions[route.leaf_of(tree, row)]
    best = math.inf
    for features in combinations(range(len(row)), n_features):
        for values in product(*(grid(model, feature) for feature in features)):
            changed = row.copy()
            changed[list(features)] = values
            pairs = [(f, value) for f, value in zip(features, values, strict=True) if not same(value, row[f])]
            if not all(is_allowed(model, feature, row[feature], value, **allowed) for feature, value in pairs):
                continue
            leaf = route.leaf_of(tree, changed)
            if decisions[leaf] != decision and all(known(tree, leaf, feature, value) for feature, value in pairs):
                best = min(best, sum(distance(model, feature, row[feature], value) for feature, value in pairs))
    return best


def apply_changes(X, i, counterfactual):
    """A row with its changes made, as a table of the same kind."""
    row = X[i : i + 1].copy()
    for change in counterfactual.changes:
        if isinstance(row, pd.DataFrame):
            row[change.feature] = pd.Series([change.new], index=row.index, dtype=object)
        else:
            row[0, change.column] = math.nan if change.new is None else change.new
    return row


def assert_changes_the_decision(model, X, i, counterfactual):
    row = apply_changes(X, i, counterfactual)
    decisions = decision_of_nodes(model)
    leaf = model.apply(row)[0]
    assert leaf == counterfactual.leaf
    assert decisions[leaf] != decisions[model.apply(X[i : i + 1])[0]]
    if model.fitted_.classes is not None:
        assert str(model.predict(row)[0]) == counterfactual.decision
        assert counterfactual.estimate == model.predict_proba(row)[0, decisions[leaf]]
    else:
        assert counterfactual.estimate == model.predict(row)[0]


def assert_smallest(model, X, i, counterfactual, n_features, **allowed):
    matrix = model._read_all(X).matrix
    nearest = min(brute_force(model, matrix[i], size, **allowed) for size in range(1, n_features + 1))
    if counterfactual is None:
        assert nearest == math.inf
        return
    assert len(counterfactual.changes) <= n_features
    assert_changes_the_decision(model, X, i, counterfactual)
    changed = model._read_all(apply_changes(X, i, counterfactual)).matrix[0]
    for change in counterfactual.changes:
        assert known(model.tree_, counterfactual.leaf, change.column, changed[change.column])
    assert counterfactual.distance == pytest.approx(nearest, rel=1e-9, abs=1e-300)
