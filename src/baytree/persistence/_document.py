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
from ..fitted import Fitted, FittedOn, ForestFacts, Kind
from ..growth import put_in_order
from ..outcomes import OUTCOMES, Outcome
from ..table import Column, Schema
from ..table import Kind as ColumnKind
from ..tree import TreeStore
from ._check import check_categories, check_fitted_on, check_forest_facts, check_outcome, check_rules
from ._error import ModelFileError
from ._trees import arrays_of, check_pruning, read_store
from ._values import Decoder, encode, encode_beside

FORMAT = "baytree model"
FORMAT_VERSION = 1


def document_of(
    estimator: str, parameters: dict[str, Any], fitted: Fitted, beside: dict[str, bytes] | None = None
) -> dict[str, Any]:
    """A fitted estimator, given by the name of its class, its parameters and what it found, as plain data.

    The arrays of the tree or the space are part of the document, or put `beside` it as bytes.
    """
    state = fitted.outcome.state()  # first: an outcome of the user's own says that it has none
    read, forest = fitted.tree_of_all_rows, fitted.forest
    stores = {
        "trees": fitted.trees,
        "grown_tree": fitted.grown_tree,
        "tree_of_all_rows": None if read is None else read.trees,
        "grown_tree_of_all_rows": None if read is None else read.grown_tree,
    }
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "baytree": version("baytree"),
        "estimator": estimator,
        "parameters": {name: encode(value) for name, value in parameters.items()},
        "schema": _encode_schema(fitted.schema),
        "outcome": {
            "name": fitted.outcome.name,
            "state": {name: encode(value) for name, value in state.items()},
        },
        "fitted_on": None if fitted.fitted_on is None else asdict(fitted.fitted_on),
        "decision": {own.name: encode(getattr(fitted.decision, own.name)) for own in fields(Decision)},
        "unseen": fitted.unseen,
        "monotonic": encode(fitted.monotonic),
        "kind": fitted.kind.value,
        "forest": None if forest is None else asdict(forest),
        "stores": {name: _encode_store(store, name, beside) for name, store in stores.items() if store is not None},
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
    schema = _read_schema(document["schema"], decoder)
    outcome: Outcome = OUTCOMES[document["outcome"]["name"]](**decoder.decode_all(document["outcome"]["state"]))
    check_outcome(outcome)
    fitted_on = None if document["fitted_on"] is None else FittedOn(**document["fitted_on"])
    check_fitted_on(fitted_on, schema)
    decision = Decision(**decoder.decode_all(document["decision"]))
    check_rules(decision, document["unseen"], outcome.classes)
    monotonic = decoder.decode(document["monotonic"])
    if monotonic is not None and (monotonic.shape != (schema.n_features,) or not np.isin(monotonic, (-1, 0, 1)).all()):
        raise ValueError("the directions of the features are not 1, 0 or -1")
    kind = Kind(document["kind"])
    fitted = _read_trees(document, kind, decoder, schema, outcome, monotonic)
    return estimator, parameters, replace(fitted, fitted_on=fitted_on, decision=decision, unseen=document["unseen"])


def _read_trees(
    document: dict[str, Any], kind: Kind, decoder: Decoder, schema: Schema, outcome: Outcome, monotonic: Any
) -> Fitted:
    """The stores of a fitted result, each in its place."""
    stores = {name: _decode_store(own, decoder, schema, outcome) for name, own in document["stores"].items()}
    if kind is not Kind.SPACE:
        stores = {name: put_in_order(store, monotonic) for name, store in stores.items()}
    trees, grown = stores.pop("trees"), stores.pop("grown_tree", None)
    if (kind is not Kind.SPACE and not trees.is_plain) or (kind is not Kind.FOREST and trees.n_trees > 1):
        raise ValueError("the trees are not of their kind")
    fitted = Fitted(trees, outcome, schema, kind, monotonic=monotonic)
    if kind is Kind.TREE:
        return replace(fitted, grown_tree=_checked(trees, grown))
    if kind is Kind.FOREST:
        tree, forest = stores.pop("tree_of_all_rows"), ForestFacts(**document["forest"])
        check_forest_facts(forest.seed, forest.agreement)
        grown = _checked(tree, stores.pop("grown_tree_of_all_rows", None))
        of_all = Fitted(tree, outcome, schema, grown_tree=grown)
        fitted = replace(fitted, forest=forest, tree_of_all_rows=of_all)
    if stores:
        raise ValueError("it holds something of an unknown kind")
    return fitted


def _checked(tree: TreeStore, grown: TreeStore | None) -> TreeStore | None:
    """The tree that another is a pruning of, if it is."""
    for store in (tree, grown):
        if store is not None and (not store.is_plain or store.n_trees > 1):
            raise ValueError("a single tree is none")
    if grown is not None:
        check_pruning(tree, grown)
    return grown


def _encode_store(store: TreeStore, folder: str, beside: dict[str, bytes] | None) -> dict[str, Any]:
    return {
        name: encode(array) if beside is None else encode_beside(array, f"{folder}/{name}", beside)
        for name, array in arrays_of(store).items()
    }


def _decode_store(document: dict[str, Any], decoder: Decoder, schema: Schema, outcome: Outcome) -> TreeStore:
    arrays = decoder.decode_all(document)
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{name} is not an array")
    return read_store(arrays, schema, outcome)


def _encode_schema(schema: Schema) -> dict[str, Any]:
    return {
        "names": None if schema.names is None else list(schema.names),
        "kinds": [column.kind.value for column in schema.columns],
        "categories": [encode(column.categories) for column in schema.columns],
    }


def _read_schema(document: dict[str, Any], decoder: Decoder) -> Schema:
    names, kinds = document["names"], [ColumnKind(kind) for kind in document["kinds"]]
    if names is not None and (len(names) != len(kinds) or not all(isinstance(name, str) for name in names)):
        raise ValueError("the names of the columns are not all there")
    pairs = zip(kinds, document["categories"], strict=True)
    columns = tuple(Column(kind, check_categories(kind, decoder.decode(categories))) for kind, categories in pairs)
    return Schema(columns, None if names is None else tuple(names))
