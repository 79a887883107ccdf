"""Checks of what a file holds, so that nothing later runs off the ends of arrays, in circles, or on nonsense."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..decision import Decision
from ..fitted import MISSING, FittedOn
from ..outcomes import CategoricalOutcome, Outcome
from ..table import Kind, Schema
from ..tree import LEAF, NO_SPLIT, RAGGED, RAGGED_NAMES, Space, SplitArrays, SplitKind, Tree

_WHOLE = {"children_left", "children_right", "feature", "n_node_samples", "depth", "choice_start"}
_TRUTH = {"missing_go_to_left", "has_missing", "unseen_go_to_left", "complete"}
_FACTS = {
    "fingerprint": r"[0-9a-f]{64}",
    "date": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "version": r"[0-9A-Za-z.+-]{1,60}",
}
_NOT_NAN = ("log_prior_split", "log_likelihood_split", "log_odds_split", "log_ceiling")


def check_categories(kind: Kind, categories: Any) -> AnyArray | None:
    """Refuse categories that do not fit the kind of their column."""
    if (categories is not None) != (kind in (Kind.CATEGORY, Kind.ORDERED)):
        raise ValueError("a column has categories that its kind does not have")
    if categories is None:
        return None
    if not isinstance(categories, np.ndarray) or categories.ndim != 1:
        raise ValueError("the categories of a column are not a vector")
    are_text = categories.dtype.kind == "O" and all(isinstance(category, str) for category in categories)
    if not are_text and (categories.dtype != np.float64 or not np.all(np.isfinite(categories))):
        raise ValueError("a category is neither text nor a number")
    if len(set(categories.tolist())) != len(categories):
        raise ValueError("a category is there twice")
    return categories


def check_fitted_on(fitted_on: FittedOn | None, schema: Schema) -> None:
    """Refuse facts that cannot be those of a fit."""
    if fitted_on is None:
        return
    whole = type(fitted_on.n_rows) is int and fitted_on.n_rows > 0 and fitted_on.n_columns == schema.n_features
    if not whole or not isinstance(fitted_on.weight, float) or not 0 < fitted_on.weight < np.inf:
        raise ValueError("the size of what the model was fitted on is wrong")
    for name, pattern in _FACTS.items():
        text = getattr(fitted_on, name)
        if not isinstance(text, str) or re.fullmatch(pattern, text, re.ASCII) is None:
            raise ValueError(f"the {name} of what the model was fitted on is wrong")


def check_rules(decision: Decision, missing: Any, classes: AnyArray | None) -> None:
    """Refuse rules of decision, and for values that were not seen, that no fit would make."""
    if missing not in MISSING:
        raise ValueError("what is done with missing values is not known")
    costs, threshold, n_classes = decision.costs, decision.threshold, 0 if classes is None else len(classes)
    if decision.positive not in (0, 1) or isinstance(decision.positive, bool):
        raise ValueError("the class that the threshold is for is not one of two")
    if threshold is not None and not (isinstance(threshold, float) and 0 < threshold < 1 and n_classes == 2):
        raise ValueError("the threshold of the decision is out of range")
    if costs is None:
        return
    right = isinstance(costs, np.ndarray) and costs.dtype == np.float64 and costs.shape == (n_classes, n_classes)
    if not right or threshold is not None or not np.all(np.isfinite(costs)):
        raise ValueError("the costs of the decision are not all there")


def check_outcome(outcome: Outcome, classes: Any) -> None:
    """Refuse priors that are none, other numbers that are none, and classes that do not fit the outcome."""
    for field in fields(outcome):  # type: ignore[arg-type]
        value = getattr(outcome, field.name)
        if field.name != "prior" and not (isinstance(value, float) and np.isfinite(value)):
            raise ValueError(f"the {field.name} of the outcome is no number")
        if field.name in ("scale", "size", "spread") and value <= 0:
            raise ValueError(f"the {field.name} of the outcome is not positive")
    if not isinstance(outcome.prior, np.ndarray) or outcome.prior.ndim != 1:
        raise ValueError("the prior of the outcome is not a vector")
    _check_parameters(outcome, np.atleast_2d(outcome.prior))
    if isinstance(outcome, CategoricalOutcome) != (classes is not None):
        raise ValueError("the classes do not fit the outcome")
    if classes is None:
        return
    if not isinstance(classes, np.ndarray) or classes.shape != outcome.prior.shape:
        raise ValueError("there is not one class for each parameter of the prior")
    if np.any(classes[1:] <= classes[:-1]):
        raise ValueError("the classes are not in order")


def _check_parameters(outcome: Outcome, parameters: AnyArray) -> None:
    n_parameters = len(outcome.parameter_names) or len(outcome.prior)
    if parameters.dtype != np.float64 or parameters.shape[1:] != (n_parameters,):
        raise ValueError("the parameters of a prior or posterior are not all there")
    names = outcome.parameter_names or ("",) * n_parameters
    positive = np.array([name not in outcome.any_sign for name in names])
    if not np.all(np.isfinite(parameters)) or np.any(parameters[:, positive] <= 0):
        raise ValueError("a parameter of a prior or posterior is out of range")


def check_tree(tree: Tree, schema: Schema, outcome: Outcome, classes: AnyArray | None) -> None:
    """Refuse arrays that are not a tree."""
    _check_arrays(tree, schema.n_features, outcome, classes)
    n = tree.node_count
    if n != len(tree.feature):
        raise ValueError("the array depth has a wrong type or shape")
    leaf = tree.children_left == LEAF
    if np.any(leaf != tree.is_leaf) or np.any(leaf != (tree.children_right == LEAF)):
        raise ValueError("a node is half a leaf")
    internal = np.flatnonzero(~leaf)
    left, right = tree.children_left[internal], tree.children_right[internal]
    if not np.array_equal(np.sort(np.concatenate([[0], left, right])), np.arange(n)):
        raise ValueError("the nodes do not form a tree")
    if np.any(left <= internal) or np.any(right <= internal):
        raise ValueError("a node comes before its parent")
    if tree.depth[0] != 0 or np.any(tree.depth[[left, right]] != tree.depth[internal] + 1):
        raise ValueError("the depth of a node is wrong")
    posterior = tree.feature_posterior
    if not np.all((posterior >= 0) & (posterior <= 1)) or not np.allclose(posterior.sum(axis=1), 1):
        raise ValueError("the shares of the features do not sum to one")
    check_splits(tree, schema)


def check_pruning(tree: Tree, unpruned: Tree) -> None:
    """Refuse a tree that is not the top of the one it was pruned from."""
    place = [0] * tree.node_count
    for node in tree.internal_nodes.tolist():  # parents come before their children
        for children in ("children_left", "children_right"):
            below = int(getattr(unpruned, children)[place[node]])
            if below == LEAF:
                raise ValueError("the tree is no pruning of the one that was grown")
            place[int(getattr(tree, children)[node])] = below
    if any(tree.split(node) != unpruned.split(place[node]) for node in tree.internal_nodes.tolist()):
        raise ValueError("the tree is no pruning of the one that was grown")


def check_space(space: Space, schema: Schema, outcome: Outcome, classes: AnyArray | None) -> None:
    """Refuse arrays that are not a tree space."""
    _check_arrays(space, schema.n_features, outcome, classes)
    start = space.choice_start
    if start[0] != 0 or np.any(np.diff(start) < 0) or start[-1] != space.n_choices:
        raise ValueError("the choices of the nodes do not follow each other")
    children = np.stack([space.children_left, space.children_right])
    if np.any(children <= space.owner) or np.any(children >= space.node_count):
        raise ValueError("a choice leads nowhere")
    if space.depth[0] != 0 or np.any(np.diff(space.depth) < 0):
        raise ValueError("the nodes are not in order of their depth")
    if np.any(space.depth[children] != space.depth[space.owner] + 1):
        raise ValueError("the depth of a node is wrong")
    if not np.array_equal(np.unique(children), np.arange(1, space.node_count)):
        raise ValueError("a node has no parent")
    if np.any(space.is_of(SplitKind.NONE)):
        raise ValueError("a choice is no split")
    check_splits(space, schema)


def _check_arrays(grown: Tree | Space, n_features: int, outcome: Outcome, classes: AnyArray | None) -> None:
    """Refuse arrays of a wrong type or shape, and values out of range."""
    n, n_splits, n_parameters = len(grown.depth), len(grown.feature), len(outcome.prior)
    of_splits = {field.name for field in fields(SplitArrays)}
    width = {"feature_posterior": n_features + 1, "prior": n_parameters, "posterior": n_parameters}
    for name, array in grown.arrays().items():
        if name in RAGGED_NAMES:
            continue
        length = n_splits if name in of_splits else n + 1 if name == "choice_start" else n
        shape = (n, width[name]) if name in width else (n, 1, array.shape[-1]) if name == "value" else (length,)
        if n == 0 or array.dtype != _dtype(name) or array.shape != shape:
            raise ValueError(f"the array {name} has a wrong type or shape")
        if name in _NOT_NAN and np.any(np.isnan(array)):
            raise ValueError(f"the array {name} holds something that is no number")
    for parameters in (grown.prior, grown.posterior):
        _check_parameters(outcome, parameters)
    if not np.all(np.isfinite(grown.log_likelihood + grown.log_prior_leaf)):
        raise ValueError("the log likelihood of a node is not finite")
    weights = grown.weighted_n_node_samples
    if np.any(grown.n_node_samples < 1) or not np.all(np.isfinite(weights) & (weights > 0)):
        raise ValueError("a node has no rows")
    _check_value(grown, classes)


def _dtype(name: str) -> type:
    if name == "kind":
        return np.uint8
    return np.int64 if name in _WHOLE else np.bool_ if name in _TRUTH else np.float64


def _check_value(grown: Tree | Space, classes: AnyArray | None) -> None:
    """Class probabilities sum to one; means may be infinite, as those of durations are."""
    if grown.value.shape[2] != (1 if classes is None else len(classes)):
        raise ValueError("the array value has a wrong shape")
    if np.any(np.isnan(grown.value)):
        raise ValueError("the estimate of a node is no number")
    shares = grown.value[:, 0]
    if classes is not None and (np.any(shares < 0) or not np.allclose(shares.sum(axis=1), 1)):
        raise ValueError("the class probabilities of a node do not sum to one")


def check_splits(splits: SplitArrays, schema: Schema) -> None:
    """Refuse splits whose parts do not fit together."""
    _check_ragged(splits)
    kind, feature = splits.kind, splits.feature
    if np.any(kind > max(SplitKind)):
        raise ValueError("a split is of an unknown kind")
    is_split = kind != SplitKind.NONE
    if np.any((feature[is_split] < 0) | (feature[is_split] >= schema.n_features)):
        raise ValueError("a node is split along a feature that does not exist")
    for name, filler in NO_SPLIT.items():
        if np.any(getattr(splits, name)[~is_split] != filler):
            raise ValueError("a leaf has a split")
    _check_thresholds(splits, schema)
    _check_category_sets(splits, schema)
    _check_hyperplanes(splits, schema)


def _check_thresholds(splits: SplitArrays, schema: Schema) -> None:
    in_order = splits.is_of(SplitKind.THRESHOLD)
    of_numbers = in_order | splits.is_of(SplitKind.HYPERPLANE)
    if not np.all(np.isfinite(splits.threshold[of_numbers])):
        raise ValueError("a threshold is not finite")
    by_value = in_order | splits.is_of(SplitKind.PRESENT_MISSING)
    if np.any(schema.is_nominal[splits.feature[by_value]]):
        raise ValueError("a threshold splits a feature without an order")
    apart = splits.is_of(SplitKind.PRESENT_MISSING)
    if not np.all(np.isposinf(splits.threshold[apart])) or not np.all(splits.has_missing[apart]):
        raise ValueError("a split between present and missing does not fit its node")
    if np.any(splits.missing_go_to_left[apart]):
        raise ValueError("a split between present and missing does not fit its node")


def _check_ragged(splits: SplitArrays) -> None:
    """Refuse arrays with several entries for a split that are not all there, or of a wrong type."""
    kinds: dict[str, Any] = {
        "category_goes_left": np.bool_,
        "hyperplane_coefficient": np.float64,
        "hyperplane_missing_value": np.float64,
    }
    owners = {"category_start": SplitKind.CATEGORY_SET, "hyperplane_start": SplitKind.HYPERPLANE}
    for name, others in RAGGED.items():
        for own in (name, *others):
            array = getattr(splits, own)
            if array.dtype != kinds.get(own, np.int64) or array.ndim != 1:
                raise ValueError(f"the array {own} has a wrong type or shape")
        start = getattr(splits, name)
        if len(start) != len(splits.feature) + 1 or start[0] != 0 or np.any(np.diff(start) < 0):
            raise ValueError(f"the entries of {name} do not follow each other")
        if any(len(getattr(splits, other)) != start[-1] for other in others):
            raise ValueError(f"the entries that {name} tells of are not all there")
        if np.any(splits.is_of(owners[name]) != (np.diff(start) > 0)):
            raise ValueError(f"the entries that {name} tells of do not fit the kinds of the splits")


def _check_category_sets(splits: SplitArrays, schema: Schema) -> None:
    """Refuse categories that do not exist."""
    for i in np.flatnonzero(splits.is_of(SplitKind.CATEGORY_SET)):
        categories = schema.columns[splits.feature[i]].categories
        own = splits.category[splits.category_start[i] : splits.category_start[i + 1]]
        if categories is None or not schema.columns[splits.feature[i]].is_nominal or not np.isnan(splits.threshold[i]):
            raise ValueError("a node divides categories that its feature does not have")
        if np.any((own < 0) | (own >= len(categories))) or np.any(np.diff(own) <= 0):
            raise ValueError("a node divides categories that its feature does not have")


def _check_hyperplanes(splits: SplitArrays, schema: Schema) -> None:
    """Refuse hyperplanes of features that are no numbers, or with coefficients that are none."""
    feature, planes = splits.hyperplane_feature, splits.is_of(SplitKind.HYPERPLANE)
    if np.any((feature < 0) | (feature >= schema.n_features)) or np.any(schema.is_nominal[feature]):
        raise ValueError("a hyperplane has a feature that is no number")
    finite = np.isfinite(splits.hyperplane_coefficient) & np.isfinite(splits.hyperplane_missing_value)
    if not np.all(finite & (splits.hyperplane_coefficient != 0)):
        raise ValueError("a hyperplane has a coefficient that is not finite")
    if np.any(splits.feature[planes] != feature[splits.hyperplane_start[:-1][planes]]):
        raise ValueError("a hyperplane does not fit its node")
