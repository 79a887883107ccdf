"""The document of a model: what it holds, and how it is read with care. docs/model_files.md describes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from .._validation import shown
from ..decision import Decision
from ..fitted import Fitted, FittedForest, FittedOn, FittedSpace, FittedTree
from ..outcomes import OUTCOMES, Outcome
from ..table import Column, Kind, Schema
from ..tree import Forest, Space, Tree
from ._check import (
    check_categories,
    check_fitted_on,
    check_outcome,
    check_pruning,
    check_rules,
    check_space,
    check_tree,
)
from ._check_forest import check_forest
from ._error import ModelFileError
from ._values import Decoder, encode, encode_beside

FORMAT = "baytree model"
FORMAT_VERSION = 1
_KINDS: dict[type, str] = {FittedTree: "tree", FittedSpace: "space", FittedForest: "forest"}


def document_of(
    estimator: str, parameters: dict[str, Any], fitted: Fitted, beside: dict[str, bytes] | None = None
) -> dict[str, Any]:
    """A fitted estimator, given by the name of its class, its parameters and what it found, as plain data.

    The arrays of the tree or the space are part of the document, or put `beside` it as bytes.
    """
    tree = fitted.tree_to_read if isinstance(fitted, FittedForest) else fitted
    unpruned = tree.unpruned if isinstance(tree, FittedTree) else None
    state = fitted.outcome.state()  # first: an outcome of the user's own says that it has none
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "baytree": version("baytree"),
        "estimator": estimator,
        "parameters": {name: encode(value) for name, value in parameters.items()},
        "schema": _encode_schema(fitted.schema),
        "classes": encode(fitted.classes),
        "outcome": {
            "name": fitted.outcome.name,
            "state": {name: encode(value) for name, value in state.items()},
        },
        "fitted_on": None if fitted.fitted_on is None else asdict(fitted.fitted_on),
        "decision": {own.name: encode(getattr(fitted.decision, own.name)) for own in fields(Decision)},
        "missing": fitted.missing,
        "monotonic": encode(None if isinstance(fitted, FittedTree) else fitted.monotonic),
        "grown": _KINDS[type(fitted)],
        "arrays": _encode_arrays(tree.tree if isinstance(tree, FittedTree) else tree.space, "arrays", beside),
        "unpruned": None if unpruned is None else _encode_arrays(unpruned, "unpruned", beside),
    }
    if isinstance(fitted, FittedForest):
        document["forest"] = {
            "arrays": _encode_arrays(fitted.forest, "forest", beside),
            "smoothing": fitted.smoothing,
            "agreement": fitted.agreement,
            "seed": fitted.seed,
        }
    return document | {"sha256": _checksum(document)}


def _checksum(document: dict[str, Any]) -> str:
    """Of everything but the checksum itself."""
    rest = {name: value for name, value in document.items() if name != "sha256"}
    text = json.dumps(rest, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_document(
    document: Any, known: Mapping[str, Mapping[str, Any]], beside: Mapping[str, bytes] | None = None
) -> tuple[str, dict[str, Any], Fitted]:
    """The class of the estimator, its parameters and what it found; `known` are the classes with their defaults."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError("This is not a baytree model: it lacks the mark of one.")
    _check_version(document.get("version"))
    try:
        if document["sha256"] != _checksum(document):
            raise ValueError("its checksum does not fit what it holds")  # noqa: TRY301
        with np.errstate(over="ignore", invalid="ignore"):
            return _read(document, known, Decoder(beside))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ModelFileError(f"The baytree model is damaged: {type(error).__name__}: {error}") from error


def _check_version(version: Any) -> None:
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelFileError(
            f"The model has format version {shown(version)}, but this baytree reads {FORMAT_VERSION} and older: "
            "upgrade baytree."
        )
    if type(version) is not int or version < 1:
        raise ModelFileError(f"The baytree model is damaged: its format version is {shown(version)}.")


def _read(
    document: dict[str, Any], known: Mapping[str, Mapping[str, Any]], decoder: Decoder
) -> tuple[str, dict[str, Any], Fitted]:
    estimator = document["estimator"]
    parameters = decoder.decode_all(document["parameters"])
    if not set(parameters) <= set(known[estimator]):
        raise ValueError("the parameters are not those of the estimator")
    parameters = {**known[estimator], **parameters}  # what a file lacks came later
    schema, classes = _read_schema(document["schema"], decoder), decoder.decode(document["classes"])
    state = decoder.decode_all(document["outcome"]["state"])
    outcome: Outcome = OUTCOMES[document["outcome"]["name"]](**state)
    check_outcome(outcome, classes)
    fitted_on = None if document["fitted_on"] is None else FittedOn(**document["fitted_on"])
    check_fitted_on(fitted_on, schema)
    decision = Decision(**decoder.decode_all(document["decision"]))
    rules: dict[str, Any] = {"fitted_on": fitted_on, "decision": decision, "missing": document["missing"]}
    check_rules(decision, document["missing"], classes)
    arrays, unpruned = _decode_arrays(document["arrays"], decoder), document["unpruned"]
    monotonic = decoder.decode(document["monotonic"])
    if monotonic is not None and (monotonic.shape != (schema.n_features,) or not np.isin(monotonic, (-1, 0, 1)).all()):
        raise ValueError("the directions of the features are not 1, 0 or -1")
    if document["grown"] == _KINDS[FittedSpace]:
        space = Space(**arrays, n_features=schema.n_features)
        check_space(space, schema, outcome, classes)
        return estimator, parameters, FittedSpace(space, outcome, schema, classes, monotonic, **rules)
    tree = Tree(**arrays)
    check_tree(tree, schema, outcome, classes)
    grown = None if unpruned is None else Tree(**_decode_arrays(unpruned, decoder))
    if grown is not None:
        check_tree(grown, schema, outcome, classes)
        check_pruning(tree, grown)
    fitted = FittedTree(tree, outcome, schema, classes, grown)
    if document["grown"] == _KINDS[FittedTree]:
        return estimator, parameters, replace(fitted, **rules)
    if document["grown"] != _KINDS[FittedForest]:
        raise ValueError("it holds something of an unknown kind")
    return estimator, parameters, _read_forest(document["forest"], decoder, fitted, monotonic, rules)


def _read_forest(
    document: dict[str, Any], decoder: Decoder, tree: FittedTree, monotonic: Any, rules: dict[str, Any]
) -> FittedForest:
    arrays = _decode_arrays(document["arrays"], decoder)
    forest = Forest(**arrays, n_features=tree.schema.n_features)
    own = {name: document[name] for name in ("agreement", "seed", "smoothing")}
    check_forest(forest, own, tree.schema, tree.outcome)
    return FittedForest(forest, tree.outcome, tree.schema, tree.classes, tree, **own, monotonic=monotonic, **rules)


def _encode_arrays(grown: Tree | Space | Forest, folder: str, beside: dict[str, bytes] | None) -> dict[str, Any]:
    return {
        name: encode(array) if beside is None else encode_beside(array, f"{folder}/{name}", beside)
        for name, array in grown.arrays().items()
    }


def _decode_arrays(document: dict[str, Any], decoder: Decoder) -> dict[str, Any]:
    arrays = decoder.decode_all(document)
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{name} is not an array")
    return arrays


def _encode_schema(schema: Schema) -> dict[str, Any]:
    return {
        "names": None if schema.names is None else list(schema.names),
        "kinds": [column.kind.value for column in schema.columns],
        "categories": [encode(column.categories) for column in schema.columns],
    }


def _read_schema(document: dict[str, Any], decoder: Decoder) -> Schema:
    names, kinds = document["names"], [Kind(kind) for kind in document["kinds"]]
    if names is not None and (len(names) != len(kinds) or not all(isinstance(name, str) for name in names)):
        raise ValueError("the names of the columns are not all there")
    pairs = zip(kinds, document["categories"], strict=True)
    columns = tuple(Column(kind, check_categories(kind, decoder.decode(categories))) for kind, categories in pairs)
    return Schema(columns, None if names is None else tuple(names))
