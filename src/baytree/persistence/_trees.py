"""Tree stores in files: which arrays are written, and how they are read with care.

Nothing is written that follows from the rest: depths, left children of plain trees, sums over inner nodes where they
are the sums of the leaves. What is read is checked, so that nothing later runs off the ends of arrays or in circles.
"""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray
from ..fitted import ModelKind
from ..leaves import ConstantLeaves, ModelLeaves
from ..outcomes import Outcome, fixed_point_outcome
from ..table import Schema
from ..tree import NO_CHILD, NO_SPLIT, RAGGED, SplitKind, TreeStore, depth_of, depth_of_graph, sum_from_leaves
from ._check import check_parameters, check_posterior
from ._leaf_models import arrays_of_models, read_models, split_models

_RAGGED = tuple(name for start, others in RAGGED.items() for name in (start, *others))
_KEPT = (*NO_SPLIT, *_RAGGED, "children_right", "n_node_samples", "log_prior_leaf")
_OF_KIND = {
    ModelKind.TREE: ("log_odds_split", "feature_posterior"),
    ModelKind.SPACE: ("complete",),
    ModelKind.FOREST: ("log_odds_split",),
}
_OF_GRAPHS = ("choice_start", "children_left")
_OF_SMOOTHING = ("split_likelihood",)
_OF_MISSING = ("n_missing",)
_OPTIONAL = ("log_odds_split", "feature_posterior", "complete", *_OF_SMOOTHING, *_OF_MISSING)

_WHOLE = (
    "feature",
    "n_node_samples",
    *_OF_MISSING,
    "children_right",
    *_OF_GRAPHS,
    *RAGGED,
    "category",
    "hyperplane_feature",
)
_LOGS = ("log_prior_split", "log_prior_leaf", "log_odds_split")
_TRUTH = ("missing_go_to_left", "has_missing", "unseen_go_to_left", "category_goes_left", "complete")
_TYPES: dict[str, type] = {"kind": np.uint8, "roots": np.int64} | dict.fromkeys(_TRUTH, np.bool_)


def arrays_of(store: TreeStore) -> dict[str, AnyArray]:
    """The arrays of a store that a file keeps."""
    leaves = store.leaves
    models: dict[str, AnyArray] = {}
    if isinstance(leaves, ModelLeaves):
        models = arrays_of_models(leaves)
    elif not isinstance(leaves, ConstantLeaves) or not leaves.is_constant:
        raise TypeError("Only constant leaves can be written to a model file.")
    arrays: dict[str, AnyArray] = {name: getattr(store, name) for name in _KEPT}
    arrays |= {name: getattr(store, name) for name in _OPTIONAL if _is_kept(getattr(store, name))}
    if store.n_trees > 1:
        arrays["roots"] = store.roots
    if not store.is_plain:
        arrays["choice_start"] = store.choice_start
    if not np.array_equal(store.children_left, _next_node(store.kind, store.children_left)):
        arrays["children_left"] = store.children_left
    constant = np.array_equal(leaves.prior, np.broadcast_to(leaves.prior[0], leaves.prior.shape))
    arrays["prior"] = leaves.prior[:1] if constant else leaves.prior
    of_leaves = leaves.statistics[store.is_leaf] if store.is_plain else leaves.statistics
    is_sum = store.is_plain and np.array_equal(_sum_from_leaves(of_leaves, store), leaves.statistics)
    return arrays | {"statistics": of_leaves if is_sum else leaves.statistics} | models


def read_store(arrays: dict[str, AnyArray], kind: ModelKind, schema: Schema, outcome: Outcome) -> TreeStore:
    """The store that a file keeps, of a tree, a tree space or a forest; refuses arrays that are none."""
    arrays, models = split_models(arrays)
    n_nodes, n_choices = len(arrays["log_prior_leaf"]), len(arrays["kind"])
    if n_nodes == 0 or n_choices < n_nodes or (n_choices > n_nodes and kind is not ModelKind.SPACE):
        raise ValueError("the nodes and the choices are not those of their kind")
    _check_names(arrays, kind, is_plain=n_choices == n_nodes)
    _check_types(arrays)
    _check_shapes(arrays, n_nodes, n_choices, schema.n_features)
    roots = arrays.get("roots", np.zeros(1, dtype=np.int64))
    is_leaf, right = arrays["kind"] == SplitKind.NONE, arrays["children_right"]
    left = arrays.get("children_left", _next_node(arrays["kind"], right))
    start = arrays.get("choice_start", np.arange(n_choices + 1, dtype=right.dtype))
    _check_graph(start, left, right, is_leaf, roots, n_nodes)
    is_plain = n_nodes == n_choices
    depth = depth_of(left, right, roots, n_nodes) if is_plain else depth_of_graph(start, left, right)
    structure = {name: arrays[name] for name in (*_KEPT, *_OPTIONAL) if name in arrays}
    structure |= {"roots": roots, "choice_start": start, "children_left": left, "depth": depth.astype(right.dtype)}
    leaves = _read_leaves(arrays, left, right, depth, outcome, is_plain=is_plain)
    if models and kind is not ModelKind.TREE:
        raise ValueError("only single trees hold models in their leaves")
    node_leaves = read_models(models, leaves, schema) if models else leaves
    store = TreeStore(leaves=node_leaves, n_features=schema.n_features, **structure)
    _check_numbers(store)
    _check_splits(store, schema)
    return store


def check_pruning(tree: TreeStore, grown: TreeStore) -> None:
    """Refuse a tree that is not the top of the one it was pruned from."""
    place = [0] * tree.node_count
    for node in tree.internal_nodes.tolist():  # parents come before their children
        for children in ("children_left", "children_right"):
            below = int(getattr(grown, children)[place[node]])
            if below == NO_CHILD:
                raise ValueError("the tree is no pruning of the one that was grown")
            place[int(getattr(tree, children)[node])] = below
    if any(tree.split(node) != grown.split(place[node]) for node in tree.internal_nodes.tolist()):
        raise ValueError("the tree is no pruning of the one that was grown")


def _sum_from_leaves(of_leaves: AnyArray, store: TreeStore) -> AnyArray:
    return sum_from_leaves(of_leaves, store.children_left, store.children_right, store.depth)


def _next_node(kind: AnyArray, like: AnyArray) -> AnyArray:
    """The left children of plain trees that are numbered depth first, as they grow."""
    return np.where(kind == SplitKind.NONE, NO_CHILD, np.arange(1, len(kind) + 1)).astype(like.dtype)


def _is_narrow(arrays: dict[str, AnyArray]) -> bool:
    """Whether whole numbers and logs take four bytes, as in forests, which have many nodes, and their trees."""
    return arrays["children_right"].dtype == np.int32


def _is_kept(array: AnyArray | None) -> bool:
    """Whether a store has an array that not all have."""
    return array is not None and len(array) > 0


def _check_names(arrays: dict[str, AnyArray], kind: ModelKind, *, is_plain: bool) -> None:
    """Refuse arrays that are not all there, and others."""
    needed = {*_KEPT, *_OF_KIND[kind], "prior", "statistics"}
    if not is_plain:
        needed |= {*_OF_GRAPHS}
    if len(arrays["prior"]) != 1 and not _is_narrow(arrays):
        needed |= {*_OF_SMOOTHING}
    allowed = (
        needed | {"children_left", *_OF_SMOOTHING, *_OF_MISSING} | ({"roots"} if kind is ModelKind.FOREST else set())
    )
    if not needed <= arrays.keys() <= allowed:
        raise ValueError("the arrays of the trees are not those of a store")


def _check_types(arrays: dict[str, AnyArray]) -> None:
    """Refuse arrays of a wrong type."""
    narrow = _is_narrow(arrays)
    types = _TYPES | dict.fromkeys(_WHOLE, np.int32 if narrow else np.int64)
    types |= dict.fromkeys(_LOGS, np.float32 if narrow else np.float64)
    for name, array in arrays.items():
        if array.dtype != types.get(name, np.float64):
            raise ValueError(f"the array {name} has a wrong type")


def _check_shapes(arrays: dict[str, AnyArray], n_nodes: int, n_choices: int, n_features: int) -> None:
    """Refuse arrays of a wrong shape; the lengths of others are checked with what they hold."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(
        (*NO_SPLIT, *_OF_GRAPHS, *_OF_SMOOTHING, *_OF_MISSING), (n_choices,)
    )
    shapes |= dict.fromkeys(("n_node_samples", "log_prior_leaf", "log_odds_split", "complete"), (n_nodes,))
    shapes |= {"children_right": (n_choices,), "choice_start": (n_nodes + 1,)}
    shapes |= {"feature_posterior": (n_nodes, n_features + 1)}
    for name, array in arrays.items():
        n_dimensions = 2 if name in ("prior", "statistics") else 1
        if array.shape != shapes[name] if name in shapes else array.ndim != n_dimensions:
            raise ValueError(f"the array {name} has a wrong shape")


def _check_graph(
    start: AnyArray, left: AnyArray, right: AnyArray, is_leaf: AnyArray, roots: AnyArray, n_nodes: int
) -> None:
    """Refuse nodes and choices that are no trees: every node but the roots has a parent before it."""
    if start[0] != 0 or np.any(np.diff(start) < 1) or start[-1] != len(left):
        raise ValueError("the choices of the nodes do not follow each other")
    if len(roots) == 0 or roots[0] != 0 or np.any(np.diff(roots) < 1) or roots[-1] >= n_nodes:
        raise ValueError("the roots do not follow each other")
    if np.any((left == NO_CHILD) != is_leaf) or np.any((right == NO_CHILD) != is_leaf):
        raise ValueError("a node is half a leaf")
    if len(left) > n_nodes and not (is_leaf[start[:-1]].all() and np.count_nonzero(is_leaf) == n_nodes):
        raise ValueError("no split is not the first choice of every node")
    splits = np.flatnonzero(~is_leaf)
    owner = np.repeat(np.arange(n_nodes), np.diff(start))[splits]
    ends = np.append(roots[1:], n_nodes)
    end = np.repeat(ends, np.diff(np.append(roots, n_nodes)))[owner]
    children = np.concatenate([left[splits], right[splits]])
    if np.any(children <= np.tile(owner, 2)) or np.any(children >= np.tile(end, 2)):
        raise ValueError("a node comes before its parent, or is outside of its tree")
    is_plain = n_nodes == len(left)
    reached = np.concatenate([roots, children if is_plain else np.unique(children)])
    if not np.array_equal(np.sort(reached), np.arange(n_nodes)):
        raise ValueError("the nodes do not form trees")


def _read_leaves(
    arrays: dict[str, AnyArray], left: AnyArray, right: AnyArray, depth: AnyArray, outcome: Outcome, *, is_plain: bool
) -> ConstantLeaves:
    statistics, prior, n_nodes = arrays["statistics"], arrays["prior"], len(depth)
    if is_plain and len(statistics) == np.count_nonzero(left == NO_CHILD):
        statistics = sum_from_leaves(statistics, left, right, depth)
    if len(statistics) != n_nodes or len(prior) not in (1, n_nodes):
        raise ValueError("the statistics or priors of the nodes are not all there")
    check_parameters(outcome, prior)
    if statistics.shape[1] != fixed_point_outcome(outcome).n_statistics or not np.all(np.isfinite(statistics)):
        raise ValueError("the statistics of a node are out of range")
    leaves = ConstantLeaves(outcome, np.broadcast_to(prior, (n_nodes, prior.shape[1])), statistics)
    check_posterior(outcome, leaves.prior, leaves.posterior)
    if not np.all(np.isfinite(leaves.weight) & (leaves.weight > 0)) or np.any(np.isnan(leaves.value)):
        raise ValueError("a node has no rows")
    return leaves


def _check_numbers(store: TreeStore) -> None:
    """Refuse numbers that are out of range."""
    if np.any(store.n_node_samples < 1):
        raise ValueError("a node has no rows")
    for name in ("log_prior_split", "log_prior_leaf", "log_odds_split", "split_likelihood"):
        array = getattr(store, name)
        if array is not None and np.any(np.isnan(array)):
            raise ValueError(f"the array {name} holds something that is no number")
    if not np.all(np.isfinite(store.log_leaf)):
        raise ValueError("the log likelihood of a node is not finite")
    posterior = store.feature_posterior
    if posterior is None:
        return
    if not np.all((posterior >= 0) & (posterior <= 1)) or not np.allclose(posterior.sum(axis=1), 1):
        raise ValueError("the shares of the features do not sum to one")


def _check_splits(store: TreeStore, schema: Schema) -> None:
    """Refuse splits whose parts do not fit together."""
    _check_ragged(store)
    kind, feature = store.kind, store.feature
    if np.any(kind > max(SplitKind)):
        raise ValueError("a split is of an unknown kind")
    is_split = kind != SplitKind.NONE
    if np.any((feature[is_split] < 0) | (feature[is_split] >= schema.n_features)):
        raise ValueError("a node is split along a feature that does not exist")
    for name, filler in NO_SPLIT.items():
        if np.any(getattr(store, name)[~is_split] != filler):
            raise ValueError("a leaf has a split")
    missing, most = store.n_missing, store.has_missing * store.n_node_samples[store.owner]
    if missing is not None and np.any((missing < store.has_missing) | (missing > most)):
        raise ValueError("a split has more missing values than rows, or none where it says so")
    _check_thresholds(store, schema)
    _check_category_sets(store, schema)
    _check_hyperplanes(store, schema)


def _check_thresholds(store: TreeStore, schema: Schema) -> None:
    in_order = store.is_of(SplitKind.THRESHOLD)
    of_numbers = in_order | store.is_of(SplitKind.HYPERPLANE)
    if not np.all(np.isfinite(store.threshold[of_numbers])):
        raise ValueError("a threshold is not finite")
    by_value = in_order | store.is_of(SplitKind.PRESENT_MISSING)
    if np.any(schema.is_nominal[store.feature[by_value]]):
        raise ValueError("a threshold splits a feature without an order")
    apart = store.is_of(SplitKind.PRESENT_MISSING)
    if not np.all(np.isposinf(store.threshold[apart])) or not np.all(store.has_missing[apart]):
        raise ValueError("a split between present and missing does not fit its node")
    if np.any(store.missing_go_to_left[apart]):
        raise ValueError("a split between present and missing does not fit its node")


def _check_ragged(store: TreeStore) -> None:
    """Refuse arrays with several entries for a split that are not all there."""
    owners = {"category_start": SplitKind.CATEGORY_SET, "hyperplane_start": SplitKind.HYPERPLANE}
    for name, others in RAGGED.items():
        start = getattr(store, name)
        if len(start) != len(store.feature) + 1 or start[0] != 0 or np.any(np.diff(start) < 0):
            raise ValueError(f"the entries of {name} do not follow each other")
        if any(len(getattr(store, other)) != start[-1] for other in others):
            raise ValueError(f"the entries that {name} tells of are not all there")
        if np.any(store.is_of(owners[name]) != (np.diff(start) > 0)):
            raise ValueError(f"the entries that {name} tells of do not fit the kinds of the splits")


def _check_category_sets(store: TreeStore, schema: Schema) -> None:
    """Refuse categories that do not exist."""
    for i in np.flatnonzero(store.is_of(SplitKind.CATEGORY_SET)):
        categories = schema.columns[store.feature[i]].categories
        members = store.category[store.category_start[i] : store.category_start[i + 1]]
        if categories is None or not schema.columns[store.feature[i]].is_nominal or not np.isnan(store.threshold[i]):
            raise ValueError("a node divides categories that its feature does not have")
        if np.any((members < 0) | (members >= len(categories))) or np.any(np.diff(members) <= 0):
            raise ValueError("a node divides categories that its feature does not have")


def _check_hyperplanes(store: TreeStore, schema: Schema) -> None:
    """Refuse hyperplanes of features that are no numbers, or with coefficients that are none."""
    feature, planes = store.hyperplane_feature, store.is_of(SplitKind.HYPERPLANE)
    if np.any((feature < 0) | (feature >= schema.n_features)) or np.any(schema.is_nominal[feature]):
        raise ValueError("a hyperplane has a feature that is no number")
    finite = np.isfinite(store.hyperplane_coefficient) & np.isfinite(store.hyperplane_missing_value)
    if not np.all(finite & (store.hyperplane_coefficient != 0)):
        raise ValueError("a hyperplane has a coefficient that is zero or not finite")
    if np.any(store.feature[planes] != feature[store.hyperplane_start[:-1][planes]]):
        raise ValueError("a hyperplane does not fit its node")
