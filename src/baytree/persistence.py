"""Models as data: a JSON document with a version, and back. Reading one never runs code."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ._typing import AnyArray
from .cuts import RAGGED, CutArrays
from .outcomes import REGRESSION_OUTCOMES, CategoricalOutcome
from .priors import PartitionPrior
from .space import Space
from .table import Categories
from .tree import LEAF, Tree

FORMAT = "baytree model"
FORMAT_VERSION = 4
_OUTCOMES: dict[str, Any] = {CategoricalOutcome.name: CategoricalOutcome, **REGRESSION_OUTCOMES}


def model_to_dict(estimator: Any) -> dict[str, Any]:
    """Return a fitted estimator as a dictionary of strings, numbers, lists and dictionaries."""
    fitted: dict[str, Any] = {
        "n_features": int(estimator.n_features_in_),
        "feature_names": _encode(getattr(estimator, "feature_names_in_", None)),
        "categories": [_encode(levels) for levels in estimator.categories_],
        "classes": _encode(getattr(estimator, "classes_", None)),
        "outcome": {
            "name": estimator.outcome_.name,
            "state": {name: _encode(value) for name, value in estimator.outcome_.state().items()},
        },
    }
    part = estimator._consists_of
    arrays = getattr(estimator, f"{part}_").arrays()
    fitted[part] = {name: _encode(array) for name, array in arrays.items()}
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "baytree": version("baytree"),
        "estimator": type(estimator).__name__,
        "parameters": {name: _encode(value) for name, value in estimator.get_params(deep=False).items()},
        "fitted": fitted,
    }


def model_from_dict(document: Any, estimators: dict[str, Any]) -> Any:
    """Return the estimator that a document describes; `estimators` are those it may be."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("This is not a baytree model: it lacks the mark of one.")
    if not isinstance(document.get("version"), int) or document["version"] > FORMAT_VERSION:
        raise ValueError(
            f"The model has format version {document.get('version')!r}, this baytree reads up to {FORMAT_VERSION}: "
            "upgrade baytree."
        )
    try:
        kind = estimators[document["estimator"]]
        estimator = kind(**{name: _decode(value) for name, value in document["parameters"].items()})
        fitted = document["fitted"]
        estimator.n_features_in_ = int(fitted["n_features"])
        names = _decode(fitted["feature_names"])
        if names is not None:
            estimator.feature_names_in_ = _check_vector(names, estimator.n_features_in_, "feature names")
        state = {name: _decode(value) for name, value in fitted["outcome"]["state"].items()}
        estimator.outcome_ = _OUTCOMES[fitted["outcome"]["name"]](**state)
        part = kind._consists_of
        arrays = {name: _decode(value) for name, value in fitted[part].items()}
        if document["version"] == 1:
            arrays |= _without_levels(arrays["children_left"])
            fitted["categories"] = [None] * estimator.n_features_in_
        if document["version"] < 4:
            arrays |= _without_hyperplanes(len(arrays["feature"]))
        estimator.categories_ = _check_categories(fitted["categories"], estimator.n_features_in_)
        read = _read_space if part == "space" else _read_tree
        grown = read(arrays, estimator.categories_, len(estimator.outcome_.prior))
        setattr(estimator, f"{part}_", grown)
        classes = _decode(fitted["classes"])
        if classes is not None:
            estimator.classes_ = _check_vector(classes, grown.value.shape[2], "classes")
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"The baytree model is damaged: {type(error).__name__}: {error}") from error
    return estimator


def write_model(estimator: Any, path: str | Path) -> None:
    """Write a fitted estimator to a JSON file."""
    Path(path).write_text(json.dumps(model_to_dict(estimator), allow_nan=False), encoding="utf-8")


def read_document(path: str | Path) -> Any:
    """Read the document in a model file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is not a baytree model: it is not a JSON file ({error}).") from None


def _check_vector(value: Any, length: int, what: str) -> AnyArray:
    if not isinstance(value, np.ndarray) or value.shape != (length,):
        raise ValueError(f"the {what} are not a vector of {length}")
    return value


def _without_levels(children_left: AnyArray) -> dict[str, AnyArray]:
    """The arrays that version 1 of the format did not have."""
    n = len(children_left)
    nowhere, none = np.zeros(n, dtype=bool), np.zeros(0, dtype=np.int64)
    return {
        "has_missing": nowhere,
        "unseen_go_to_left": nowhere.copy(),
        "level_start": np.zeros(n + 1, dtype=np.int64),
        "level": none,
        "level_goes_left": none.astype(bool),
    }


def _without_hyperplanes(n: int) -> dict[str, AnyArray]:
    """The arrays that versions 1 to 3 of the format did not have."""
    none = np.zeros(0)
    return {
        "oblique_start": np.zeros(n + 1, dtype=np.int64),
        "oblique_feature": none.astype(np.int64),
        "oblique_coefficient": none,
        "oblique_gap_value": none.copy(),
    }


def _check_categories(encoded: Any, n_features: int) -> Categories:
    categories = tuple(_decode(levels) for levels in encoded)
    if len(categories) != n_features:
        raise ValueError("there is not one entry of categories for each feature")
    for levels in categories:
        if levels is not None and not (isinstance(levels, np.ndarray) and levels.ndim == 1):
            raise ValueError("the levels of a feature are not a vector")
        if levels is not None and levels.dtype.kind == "O" and not all(isinstance(level, str) for level in levels):
            raise ValueError("a level is neither text nor a number")
    return categories


def _check_cuts(cuts: CutArrays, categories: Categories) -> None:
    """Refuse cuts whose parts do not fit together."""
    _check_ragged(cuts)
    _check_levels(cuts, categories)
    _check_hyperplanes(cuts, categories)


def _check_ragged(cuts: CutArrays) -> None:
    """Refuse arrays with several entries for a cut that are not all there, or of a wrong type."""
    kinds = {"level_goes_left": np.bool_, "oblique_coefficient": np.float64, "oblique_gap_value": np.float64}
    for name, others in RAGGED.items():
        for own in (name, *others):
            array = getattr(cuts, own)
            if array.dtype != kinds.get(own, np.int64) or array.ndim != 1:
                raise ValueError(f"the array {own} has a wrong type or shape")
        start = getattr(cuts, name)
        if len(start) != len(cuts.feature) + 1 or start[0] != 0 or np.any(np.diff(start) < 0):
            raise ValueError(f"the entries of {name} do not follow each other")
        if any(len(getattr(cuts, other)) != start[-1] for other in others):
            raise ValueError(f"the entries that {name} tells of are not all there")


def _check_levels(cuts: CutArrays, categories: Categories) -> None:
    """Refuse levels that do not exist, or that belong to no cut."""
    divided = np.diff(cuts.level_start) > 0
    for cut in np.flatnonzero(divided | cuts.divides_levels):
        levels = categories[cuts.feature[cut]] if cuts.feature[cut] >= 0 else None
        own = cuts.level[cuts.level_start[cut] : cuts.level_start[cut + 1]]
        if levels is None or not cuts.divides_levels[cut] or np.any((own < 0) | (own >= len(levels))):
            raise ValueError("a node divides levels that its feature does not have")


def _check_hyperplanes(cuts: CutArrays, categories: Categories) -> None:
    """Refuse hyperplanes of features that are no numbers, or with coefficients that are none."""
    feature = cuts.oblique_feature
    if np.any((feature < 0) | (feature >= len(categories))) or any(categories[i] is not None for i in feature):
        raise ValueError("a hyperplane has a feature that is no number")
    if not np.all(np.isfinite(cuts.oblique_coefficient) & np.isfinite(cuts.oblique_gap_value)):
        raise ValueError("a hyperplane has a coefficient that is not finite")
    first = cuts.oblique_start[:-1][cuts.is_oblique]
    if np.any(cuts.feature[cuts.is_oblique] != feature[first]) or np.any(~np.isfinite(cuts.threshold[cuts.is_oblique])):
        raise ValueError("a hyperplane does not fit its node")


_WHOLE = {"children_left", "children_right", "feature", "n_node_samples", "depth", "choice_start"}
_TRUTH = {"missing_go_to_left", "has_missing", "unseen_go_to_left", "complete"}
_RAGGED = {name for group in RAGGED.items() for name in (group[0], *group[1])}


def _check_arrays(grown: Tree | Space, n_features: int, n_parameters: int) -> None:
    """Refuse arrays of a wrong type or shape."""
    n, n_cuts = len(grown.depth), len(grown.feature)
    of_cuts = {field.name for field in fields(CutArrays)}
    width = {"feature_posterior": n_features + 1, "prior": n_parameters, "posterior": n_parameters}
    for name, array in grown.arrays().items():
        if name in _RAGGED:
            continue
        dtype = np.int64 if name in _WHOLE else np.bool_ if name in _TRUTH else np.float64
        length = n_cuts if name in of_cuts else n + 1 if name == "choice_start" else n
        shape = (n, width[name]) if name in width else (n, 1, array.shape[-1]) if name == "value" else (length,)
        if n == 0 or array.dtype != dtype or array.shape != shape:
            raise ValueError(f"the array {name} has a wrong type or shape")
    if grown.value.shape[2] not in (1, n_parameters):
        raise ValueError("the array value has a wrong shape")


def _read_space(arrays: dict[str, Any], categories: Categories, n_parameters: int) -> Space:
    """Refuse arrays that are not a tree space."""
    space = Space(**arrays)
    _check_arrays(space, len(categories), n_parameters)
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
    if np.any((space.feature < 0) | (space.feature >= len(categories))):
        raise ValueError("a node is cut along a feature that does not exist")
    _check_cuts(space, categories)
    return space


def _read_tree(arrays: dict[str, Any], categories: Categories, n_parameters: int) -> Tree:
    """Refuse arrays that are not a tree, so that nothing later runs off their ends or in circles."""
    tree = Tree(**arrays)
    n, n_features = tree.node_count, len(categories)
    _check_arrays(tree, n_features, n_parameters)
    if n != len(tree.feature):
        raise ValueError("the array depth has a wrong type or shape")
    sprouts = np.flatnonzero(tree.children_left != LEAF)
    left, right = tree.children_left[sprouts], tree.children_right[sprouts]
    if not np.array_equal(np.sort(np.concatenate([[0], left, right])), np.arange(n)):
        raise ValueError("the nodes do not form a tree")
    if np.any(left <= sprouts) or np.any(right <= sprouts):
        raise ValueError("a node comes before its parent")
    if tree.depth[0] != 0 or np.any(tree.depth[[left, right]] != tree.depth[sprouts] + 1):
        raise ValueError("the depth of a node is wrong")
    if np.any(tree.feature[sprouts] < 0) or np.any(tree.feature[sprouts] >= n_features):
        raise ValueError("a node is cut along a feature that does not exist")
    _check_cuts(tree, categories)
    return tree


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return {"array": _encode_dtype(value), "shape": list(value.shape), "values": _encode_values(value)}
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (list, tuple)):
        return {"list": [_encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_encode(key), _encode(item)] for key, item in value.items()]}
    if isinstance(value, PartitionPrior):
        return {"PartitionPrior": asdict(value)}
    if hasattr(value, "__array__"):
        return _encode(np.asarray(value))
    raise TypeError(f"A value of type {type(value).__name__} cannot be written to a model file.")


def _encode_dtype(array: AnyArray) -> str:
    if array.dtype.kind in "iufbUO":
        return array.dtype.str
    raise TypeError(f"An array of dtype {array.dtype} cannot be written to a model file.")


def _encode_values(array: AnyArray) -> list[Any]:
    flat = array.ravel().tolist()
    if array.dtype.kind == "f":
        return [x if math.isfinite(x) else repr(x) for x in flat]
    return [_encode(x) for x in flat] if array.dtype.kind == "O" else flat


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _decode_array(np.dtype(value["array"]), value["shape"], value["values"])
    if "float" in value:
        return float(value["float"])
    if "list" in value:
        return [_decode(item) for item in value["list"]]
    if "dict" in value:
        return {_decode(key): _decode(item) for key, item in value["dict"]}
    if "PartitionPrior" in value:
        return PartitionPrior(**value["PartitionPrior"])
    raise ValueError("an unknown kind of value")


def _decode_array(dtype: np.dtype[Any], shape: list[int], values: list[Any]) -> AnyArray:
    if dtype.kind == "f":
        values = [float(x) for x in values]
    elif dtype.kind == "O":
        values = [_decode(x) for x in values]
    elif dtype.kind not in "iubU":
        raise ValueError(f"an array of dtype {dtype} is not allowed")
    elif dtype.kind == "U" and dtype.itemsize > 4 * max(map(len, values), default=0) + 4:
        raise ValueError("an array of text is wider than its text")
    result = np.empty(len(values), dtype=dtype)
    result[:] = values
    return result.reshape(shape)
