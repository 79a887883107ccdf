"""The document of a model: what it holds, and how it is read with care. docs/file_format.md describes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np

from .._typing import AnyArray
from .._validation import short_repr
from ..decision import Decision
from ..fitted import Fitted, FittedOn, ForestFacts, ModelKind, OutOfBag
from ..growth import enforce_monotonic
from ..outcomes import OUTCOMES, Outcome
from ..table import Column, Kind, Schema
from ..tree import TreeStore
from ._check import (
    check_categories,
    check_fitted_on,
    check_forest_facts,
    check_monotonic,
    check_numbers,
    check_outcome,
    check_record,
    check_rules,
)
from ._edits import encode_edits, read_edits
from ._error import ModelFileError
from ._trees import arrays_of, check_pruning, read_store
from ._values import Decoder, encode, encode_beside

FORMAT = "baytree model"
FORMAT_VERSION = 1
_STORES: dict[ModelKind, tuple[set[str], set[str]]] = {  # those that a result of a kind has, and those that it may have
    ModelKind.TREE: ({"trees"}, {"grown_tree"}),
    ModelKind.SPACE: ({"trees"}, set()),
    ModelKind.FOREST: ({"trees", "tree_of_all_rows"}, {"grown_tree_of_all_rows"}),
}

T = TypeVar("T")


def document_of(
    estimator: str, parameters: dict[str, Any], fitted: Fitted, beside: dict[str, bytes] | None = None
) -> dict[str, Any]:
    """A fitted estimator, given by the name of its class, its parameters and its `fitted_`, as plain data.

    The arrays of the trees are part of the document, or put `beside` it as bytes.
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
        "decision": {item.name: encode(getattr(fitted.decision, item.name)) for item in fields(Decision)},
        "unseen": fitted.unseen,
        "monotonic": encode(fitted.monotonic),
        "kind": fitted.kind.value,
        "forest": None if forest is None else {"seed": forest.seed, "agreement": forest.agreement},
        "stores": {name: _encode_store(store, name, beside) for name, store in stores.items() if store is not None},
    }
    if forest is not None and forest.out_of_bag is not None:
        document["out_of_bag"] = _encode_out_of_bag(forest.out_of_bag, beside)
    document |= encode_edits(fitted)
    return document | {"sha256": _checksum(document)}


def _checksum(document: dict[str, Any]) -> str:
    """The checksum of everything but the checksum itself."""
    rest = {name: value for name, value in document.items() if name != "sha256"}
    text = json.dumps(rest, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_document(
    document: Any, known: Mapping[str, Mapping[str, Any]], beside: Mapping[str, bytes] | None = None
) -> tuple[str, dict[str, Any], Fitted]:
    """Read the class of the estimator, its parameters and its `fitted_`; `known` maps classes to their defaults."""
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
            f"The model has format version {short_repr(version)}, but this baytree reads {FORMAT_VERSION} and older: "
            "upgrade baytree."
        )
    if type(version) is not int or version < 1:
        raise ModelFileError(f"The baytree model is damaged: its format version is {short_repr(version)}.")


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
    fitted_on = _read_record(FittedOn, document["fitted_on"])
    check_fitted_on(fitted_on, schema)
    check_record(document["decision"], Decision)
    decision = Decision(**decoder.decode_all(document["decision"]))
    check_rules(decision, document["unseen"], outcome.classes)
    monotonic = decoder.decode(document["monotonic"])
    check_monotonic(monotonic, schema)
    fitted = _read_trees(document, decoder, schema, outcome, monotonic)
    edits = read_edits(document, decoder, fitted.trees, len(outcome.labels))
    fitted = replace(fitted, fitted_on=fitted_on, decision=decision, unseen=document["unseen"], **edits)
    return estimator, parameters, fitted


def _read_record(kind: type[T], values: dict[str, Any] | None) -> T | None:
    if values is None:
        return None
    check_record(values, kind)
    return kind(**values)


def _read_trees(
    document: dict[str, Any], decoder: Decoder, schema: Schema, outcome: Outcome, monotonic: AnyArray | None
) -> Fitted:
    """The stores of a fitted result, each in its place."""
    kind = ModelKind(document["kind"])
    stores = _read_stores(document["stores"], kind, decoder, schema, outcome)
    if kind is not ModelKind.SPACE:
        stores = {name: enforce_monotonic(store, monotonic) for name, store in stores.items()}
    forest = _read_forest_facts(document, decoder)
    check_forest_facts(forest, kind)
    trees, grown = stores["trees"], stores.get("grown_tree")
    fitted = Fitted(trees, outcome, schema, kind, grown_tree=grown, forest=forest, monotonic=monotonic)
    if kind is not ModelKind.FOREST:
        return fitted
    tree, grown = stores["tree_of_all_rows"], stores.get("grown_tree_of_all_rows")
    read = Fitted(tree, fitted.readable_outcome, schema, grown_tree=grown, monotonic=monotonic)
    return replace(fitted, tree_of_all_rows=read)


def _read_forest_facts(document: dict[str, Any], decoder: Decoder) -> ForestFacts | None:
    values, figures = document["forest"], None
    if "out_of_bag" in document:
        check_record(document["out_of_bag"], OutOfBag)
        figures = OutOfBag(**decoder.decode_all(document["out_of_bag"]))
    if values is None:
        if figures is not None:
            raise ValueError("there are out-of-bag figures of no forest")
        return None
    check_record(values, ForestFacts, but=("out_of_bag",))
    return ForestFacts(**values, out_of_bag=figures)


def _read_stores(
    documents: dict[str, Any], kind: ModelKind, decoder: Decoder, schema: Schema, outcome: Outcome
) -> dict[str, TreeStore]:
    """The stores that a result of a kind has, by name."""
    needed, optional = _STORES[kind]
    if not needed <= documents.keys() <= needed | optional:
        raise ValueError("the trees are not those of their kind")
    stores = {}
    for name, arrays in documents.items():
        is_model = name in ("trees", "grown_tree")
        of_store = outcome if is_model else outcome.of_single_tree()
        kind_of_store = kind if name == "trees" else ModelKind.TREE
        stores[name] = read_store(_decode_arrays(arrays, decoder), kind_of_store, schema, of_store)
    for pruned, grown in (("trees", "grown_tree"), ("tree_of_all_rows", "grown_tree_of_all_rows")):
        if grown in stores:
            check_pruning(stores[pruned], stores[grown])
    return stores


def _encode_store(store: TreeStore, folder: str, beside: dict[str, bytes] | None) -> dict[str, Any]:
    return {name: _encode_array(array, f"{folder}/{name}", beside) for name, array in arrays_of(store).items()}


def _encode_array(array: AnyArray, name: str, beside: dict[str, bytes] | None) -> dict[str, Any]:
    result: dict[str, Any] = encode(array) if beside is None else encode_beside(array, name, beside)
    return result


def _encode_out_of_bag(figures: OutOfBag, beside: dict[str, bytes] | None) -> dict[str, Any]:
    return {"score": encode(figures.score), "mean": _encode_array(figures.mean, "out_of_bag/mean", beside)}


def _decode_arrays(document: dict[str, Any], decoder: Decoder) -> dict[str, AnyArray]:
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
        "numbers": [_encode_numbers(column) for column in schema.columns],
    }


def _read_schema(document: dict[str, Any], decoder: Decoder) -> Schema:
    names, kinds = document["names"], [Kind(kind) for kind in document["kinds"]]
    if names is not None and (len(names) != len(kinds) or not all(isinstance(name, str) for name in names)):
        raise ValueError("the names of the columns are not all there")
    numbers = document.get("numbers", [None] * len(kinds))  # what a file lacks came later
    trios = zip(kinds, document["categories"], numbers, strict=True)
    columns = tuple(
        Column(kind, check_categories(kind, decoder.decode(categories)), *check_numbers(kind, ends))
        for kind, categories, ends in trios
    )
    return Schema(columns, None if names is None else tuple(names))


def _encode_numbers(column: Column) -> list[Any] | None:
    return None if column.low is None else [column.low, column.high, column.is_integer]
