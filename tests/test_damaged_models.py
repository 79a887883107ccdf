"""Documents of models that are damaged, by accident or on purpose: each is refused, and nothing in it is run."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baytree import load
from baytree.export import from_dict
from baytree.persistence import FORMAT_VERSION
from baytree.persistence._document import _checksum
from baytree.persistence._values import encode
from baytree.tree import SplitKind, TreeStore
from tests.documents import (
    ARRAYS,
    DOCUMENTS,
    TREE,
    X,
    Y,
    arrays_in,
    assert_damaged,
    document,
    of_array,
    signed,
    values_of,
    with_value,
)


@pytest.mark.parametrize("version", [0, 2, 4, 10**30, "1", None, True, 1.5])
def test_a_version_it_does_not_know_is_refused(version):
    assert_damaged(document() | {"version": version}, "version")


def test_the_first_release_writes_the_first_format():
    assert TREE["version"] == FORMAT_VERSION == 1


def test_the_documents_have_every_kind_of_split():
    for kind in ("tree", "space", "forest"):
        assert set(values_of("kind", kind)) == set(SplitKind)


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("entry", list(TREE))
def test_a_document_that_lacks_an_entry_is_refused(entry, kind):
    changed = document(kind)
    del changed[entry]
    if entry == "baytree":  # says who wrote it, and is not needed to read it
        assert from_dict(signed(changed)).fitted_.trees.node_count > 1
    elif entry == "sha256":
        with pytest.raises(ValueError, match="damaged"):
            from_dict(changed)
    else:
        assert_damaged(changed)


def places(value, path=()):
    """The way to every number, text and truth value inside of a document."""
    if isinstance(value, dict):
        return [place for name, inner in value.items() for place in places(inner, (*path, name))]
    if isinstance(value, list):
        return [place for i, inner in enumerate(value) for place in places(inner, (*path, i))]
    return [path]


@given(st.sampled_from(list(DOCUMENTS.values())), st.data())
def test_any_change_without_a_new_checksum_is_noticed(given_document, data):
    changed = copy.deepcopy(given_document)
    *path, last = data.draw(st.sampled_from(places(changed)))
    inner = changed
    for step in path:
        inner = inner[step]
    inner[last] = data.draw(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
        ).filter(lambda value: (type(value), value) != (type(inner[last]), inner[last]))
    )
    with pytest.raises(ValueError, match=r"checksum|not a baytree model|version"):
        from_dict(changed)


def test_the_checksum_is_of_what_the_document_says():
    """Not of the order or the spaces in which JSON happens to say it."""
    assert _checksum(dict(reversed(TREE.items()))) == TREE["sha256"]
    assert from_dict(json.loads(json.dumps(TREE, indent=3, sort_keys=True))).get_n_leaves() > 1


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("entry", list(TREE))
@pytest.mark.parametrize("value", ["text", -1, [], {}, None, {"float": "x"}, {"unknown": 1}], ids=str)
def test_an_entry_that_is_wrong_is_refused(entry, value, kind):
    """But for parameters that are absent, which have defaults, and for what says who wrote it, and where from."""
    changed = document(kind) | {entry: value}
    is_none = value is None and (entry == "fitted_on" or DOCUMENTS[kind][entry] is None)
    if entry == "baytree" or (entry, value) == ("parameters", {}) or is_none:
        assert from_dict(signed(changed)).fitted_.trees.node_count > 1
    elif entry == "sha256":
        with pytest.raises(ValueError, match="checksum"):
            from_dict(changed)
    else:
        assert_damaged(changed)


@pytest.mark.parametrize(
    "figures",
    [None, [], {}, {"score": 0.5}, {"score": "high", "mean": encode(np.zeros(2))}, {"score": 0.5, "mean": 1.0}],
    ids=str,
)
def test_out_of_bag_figures_that_are_wrong_are_refused(figures):
    assert_damaged(document("forest") | {"out_of_bag": figures})
    assert_damaged(document("tree") | {"out_of_bag": {"score": 0.5, "mean": encode(np.zeros(2))}})


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("entry", ["fitted_on", "decision", "forest", "outcome", "schema"])
def test_an_entry_that_lacks_a_part_is_refused(entry, kind):
    for part in DOCUMENTS[kind][entry] or {}:
        changed = document(kind)
        del changed[entry][part]
        if part != "numbers":  # which a file may lack
            assert_damaged(changed)


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("entry", ["fitted_on", "decision", "forest"])
def test_an_entry_that_has_a_part_too_many_is_refused(entry, kind):
    changed = document(kind)
    assert_damaged(changed | {entry: (changed[entry] or {}) | {"more": 1}})


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("value", ["tree", "space", "forest", "smoothed"])
def test_trees_of_another_kind_are_refused(value, kind):
    if value != DOCUMENTS[kind]["kind"]:
        assert_damaged(document(kind) | {"kind": value})


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("store", ["trees", "grown_tree", "tree_of_all_rows", "grown_tree_of_all_rows", "more"])
def test_a_store_that_is_missing_or_should_not_be_there_is_refused(store, kind):
    changed = document(kind)
    if store not in changed["stores"]:
        belongs = {"tree": {"grown_tree"}, "forest": {"grown_tree_of_all_rows"}}.get(changed["kind"], set())
        if store in belongs:
            return  # such a file is sound
        changed["stores"][store] = changed["stores"]["trees"]
        assert_damaged(changed)
    elif store.startswith("grown"):  # what was grown need not be kept
        del changed["stores"][store]
        assert from_dict(signed(changed)).fitted_.grown_tree is None
    else:
        del changed["stores"][store]
        assert_damaged(changed)


@pytest.mark.parametrize("name", ["seed", "agreement"])
@pytest.mark.parametrize("value", ["absent", "text", -1.5, None, True, [], {"float": "nan"}], ids=str)
def test_facts_of_a_forest_that_are_wrong_are_refused(name, value):
    changed = document("forest")
    changed["forest"][name] = value
    if value == "absent":
        changed["forest"] = {"more": 1}
    if (name, value) == ("agreement", -1.5):  # a tree may be that far from its forest
        assert from_dict(signed(changed)).readable_agreement_ == value
    else:
        assert_damaged(changed)


@pytest.mark.parametrize("entry", ["names", "kinds", "categories"])
@pytest.mark.parametrize("value", ["absent", "text", -1, [], [1, 2, 3, 4, 5, 6], {"float": "x"}], ids=str)
def test_a_schema_that_is_wrong_is_refused(entry, value):
    changed = document()
    changed["schema"][entry] = value
    if value == "absent":
        del changed["schema"][entry]
    assert_damaged(changed)


@pytest.mark.parametrize(
    ("column", "kind", "categories"),
    [
        (0, "category", None),
        (3, "number", "as before"),
        (3, "ordered category", "as before"),  # which no set can split
        (0, "no such kind", None),
        (3, "category", {"array": "|O", "shape": [1], "values": ["small"]}),
        (3, "category", {"array": "|O", "shape": [4], "values": ["<b>", "<b>", "small", "large"]}),
        (3, "category", {"array": "|O", "shape": [4], "values": ["<b>", None, "small", "large"]}),
        (3, "category", {"array": "<f8", "shape": [4], "values": [1.0, 2.0, 3.0, "nan"]}),
        (3, "category", {"array": "|O", "shape": [2, 2], "values": ["<b>", "b", "small", "large"]}),
    ],
)
def test_columns_that_do_not_fit_their_categories_are_refused(column, kind, categories):
    changed = document()
    assert SplitKind.CATEGORY_SET in values_of("kind")
    changed["schema"]["kinds"][column] = kind
    if categories != "as before":
        changed["schema"]["categories"][column] = categories
    assert_damaged(changed)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_array_is_written_that_does_not_follow_from_others(kind):
    fitted = from_dict(document(kind)).fitted_
    given = {field.name for field in fields(TreeStore)} - {"leaves", "n_features", "choice_weight"}
    kept = {name for name in given if getattr(fitted.trees, name) is not None}
    there = {name for name in kept if len(getattr(fitted.trees, name)) or name.startswith(("category", "hyperplane"))}
    there |= {"prior", "statistics"}
    follow = {"depth", "roots", "choice_start", "children_left"}
    follow -= {"space": {"choice_start", "children_left"}, "forest": {"roots"}}.get(kind, set())
    assert set(arrays_in(DOCUMENTS[kind])) == there - follow


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize(
    "name", ["more", "n_features", "routing", "__class__", "depth", "choice_weight", "posterior", "value", "leaves"]
)
def test_an_array_that_should_not_be_there_is_refused(kind, name):
    changed = document(kind)
    for arrays in changed["stores"].values():
        arrays[name] = arrays["feature"]
    assert_damaged(changed)


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("name", ["roots", "choice_start", "children_left", "complete", "feature_posterior"])
def test_an_array_of_another_kind_is_refused(kind, name):
    changed = document(kind)
    if name not in arrays_in(changed):
        other = next(other for other in DOCUMENTS if name in arrays_in(DOCUMENTS[other]))
        arrays_in(changed)[name] = arrays_in(document(other))[name]
        assert_damaged(changed)


@pytest.mark.parametrize(("kind", "store", "name"), ARRAYS)
@pytest.mark.parametrize("damage", ["absent", "shorter", "other shape", "text", "number", "null", "other type"])
def test_an_array_that_is_wrong_is_refused(kind, store, name, damage):
    changed = document(kind)
    arrays = arrays_in(changed, store)
    width = int(np.prod(arrays[name]["shape"][1:]))
    if damage == "absent":
        del arrays[name]
        if name == "n_missing":  # trees of spaces and forests have no counts of missing values
            assert from_dict(signed(changed)).fitted_.trees.node_count > 1
            return
    elif damage == "shorter":
        arrays[name]["values"] = arrays[name]["values"][:-width]
        arrays[name]["shape"][0] -= 1
    elif damage == "other shape":
        arrays[name]["shape"][0] += 1
    elif damage == "text":
        arrays[name] |= {"array": "<U5", "values": ["wrong"] * len(arrays[name]["values"])}
    elif damage == "other type":
        arrays[name] |= {"array": "<f8" if arrays[name]["array"] == "<f4" else "<f4"}
    else:
        arrays[name] = {"number": 3, "null": None}[damage]
    assert_damaged(changed)


@pytest.mark.parametrize(("kind", "store", "name"), [array for array in ARRAYS if array[2] in ("prior", "statistics")])
def test_an_array_of_another_width_is_refused(kind, store, name):
    changed = document(kind)
    array = arrays_in(changed, store)[name]
    array["shape"][-1] -= 1
    array["values"] = array["values"][: int(np.prod(array["shape"]))]
    assert_damaged(changed)


def test_another_number_of_classes_is_refused():
    changed = document()
    changed["outcome"]["state"]["classes"] |= {"values": [0, 1], "shape": [2]}
    assert_damaged(changed)


def test_classes_out_of_order_are_refused():
    changed = document()
    changed["outcome"]["state"]["classes"]["values"] = [1, 0, 2]
    assert_damaged(changed, "order")


def test_another_number_of_column_names_is_refused():
    changed = document()
    changed["schema"]["names"] = ["a", "b"]
    assert_damaged(changed)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("kind", 5, "kind"),
        ("kind", 0, "leaf"),
        ("kind", SplitKind.PRESENT_MISSING, ""),
        ("threshold", "nan", "threshold"),
        ("threshold", "inf", "threshold"),
        ("log_prior_leaf", "nan", "no number"),
        ("log_prior_leaf", "inf", "not finite"),
        ("log_prior_split", "nan", "no number"),
        ("log_odds_split", "nan", "no number"),
        ("split_likelihood", "nan", "no number"),
        ("n_missing", 10**6, "missing values"),
        ("n_node_samples", 0, "no rows"),
        ("n_node_samples", -5, "no rows"),
    ],
)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_values_of_splits_that_cannot_be_are_refused(kind, name, value, words):
    place = values_of("kind", kind).index(SplitKind.THRESHOLD)
    if name in arrays_in(DOCUMENTS[kind]):
        assert_damaged(with_value(name, place, value, kind), words)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("prior", 0.0, "out of range"),
        ("prior", -1.0, "out of range"),
        ("prior", "nan", "out of range"),
        ("prior", "inf", "out of range"),
        ("statistics", "nan", "out of range"),
        ("statistics", "inf", "out of range"),
        ("statistics", "-inf", "out of range"),
        ("statistics", -1.0, ""),
        ("feature_posterior", -0.5, "shares"),
        ("feature_posterior", 0.7, "shares"),
        ("feature_posterior", "nan", "shares"),
    ],
)
@pytest.mark.parametrize(("kind", "store"), sorted({array[:2] for array in ARRAYS}))
def test_values_of_nodes_that_cannot_be_are_refused(kind, store, name, value, words):
    if name in arrays_in(DOCUMENTS[kind], store):
        assert_damaged(with_value(name, 0, value, kind, store), words)


def test_a_node_without_weight_is_refused():
    changed = document()
    arrays_in(changed)["statistics"]["values"][:3] = [0.0, 0.0, 0.0]
    assert_damaged(changed, "no rows")


@pytest.mark.parametrize("name", ["feature", "threshold", "missing_go_to_left", "has_missing", "log_prior_split"])
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_leaf_that_has_part_of_a_split_is_refused(kind, name):
    leaf = values_of("kind", kind).index(0)
    value = True if arrays_in(DOCUMENTS[kind])[name]["array"] == "|b1" else 0
    assert_damaged(with_value(name, leaf, value, kind), "leaf")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"array": "<f8", "shape": [3], "values": [1.0, "nan", 1.0]}, "out of range"),
        ({"array": "<f8", "shape": [3], "values": [1.0, -1.0, 1.0]}, "out of range"),
        ({"array": "<f8", "shape": [2], "values": [1.0, 1.0]}, ""),
        ("text", ""),
        (None, ""),
    ],
)
def test_a_prior_that_is_none_is_refused(state, words):
    changed = document()
    changed["outcome"]["state"]["prior"] = state
    assert_damaged(changed, words)


@pytest.mark.parametrize("name", ["normal", "poisson", "own", None, ["categorical"]])
def test_an_outcome_that_does_not_fit_is_refused(name):
    changed = document()
    changed["outcome"]["name"] = name
    assert_damaged(changed)


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("monotonic", [[2, 0, 0, 0, 0, 0], [1, 0], [0.5] * 6, "text", 3])
def test_directions_that_are_none_are_refused(kind, monotonic):
    shape = [len(monotonic)] if isinstance(monotonic, list) else []
    dtype = "<f8" if 0.5 in np.atleast_1d(monotonic) else "<i8"
    encoded = {"array": dtype, "shape": shape, "values": monotonic} if shape else monotonic
    assert_damaged(document(kind) | {"monotonic": encoded})


def splits(kind, name):
    """The places of the children on one side."""
    return [place for place, child in enumerate(values_of(name, kind)) if child >= 0]


def starts(kind):
    """Where the choices of every node begin."""
    return values_of("choice_start", kind) if kind == "space" else range(len(values_of("kind", kind)) + 1)


SIDES = [(kind, "children_right") for kind in DOCUMENTS] + [("space", "children_left")]


@pytest.mark.parametrize("child", [0, -1, -2, 10**6, 2**31 - 1, 2**62])
@pytest.mark.parametrize(("kind", "name"), SIDES)
def test_a_child_that_is_out_of_range_is_refused(kind, name, child):
    for place in splits(kind, name)[:: max(1, len(splits(kind, name)) // 5)]:
        assert_damaged(with_value(name, place, child, kind))


@pytest.mark.parametrize(("kind", "name"), SIDES)
def test_a_cycle_is_refused(kind, name):
    owner = np.repeat(np.arange(len(values_of("log_prior_leaf", kind))), np.diff(starts(kind)))
    for place in splits(kind, name):
        for above in {int(owner[place]), int(owner[place]) - 1, 0} - {-1}:
            assert_damaged(with_value(name, place, above, kind))


@pytest.mark.parametrize("kind", [kind for kind in DOCUMENTS if kind != "space"])
def test_two_parents_of_one_node_are_refused(kind):
    """Left children follow their parents; in a tree space nodes may have several."""
    for place in splits(kind, "children_right"):
        assert_damaged(with_value("children_right", place, place + 1, kind))


@pytest.mark.parametrize("feature", [-2, -1, 6, 2**31 - 1, 2**40])
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_feature_that_is_out_of_range_is_refused(kind, feature):
    for place in splits(kind, "children_right"):
        assert_damaged(with_value("feature", place, feature, kind))


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("hyperplane_feature", -1),
        ("hyperplane_feature", 3),  # holds categories
        ("hyperplane_feature", 6),
        ("hyperplane_feature", 2**40),
        ("hyperplane_coefficient", "inf"),
        ("hyperplane_coefficient", 0.0),
        ("hyperplane_missing_value", "nan"),
    ],
)
@pytest.mark.parametrize("kind", ["tree", "space", "forest"])
def test_a_hyperplane_that_is_wrong_is_refused(kind, name, entry):
    assert_damaged(with_value(name, 0, entry, kind))


@pytest.mark.parametrize("kind", ["tree", "space", "forest"])
@pytest.mark.parametrize("category", [-1, 4, 2**40])
def test_a_category_that_is_wrong_is_refused(kind, category):
    assert_damaged(with_value("category", 0, category, kind))
    categories = values_of("category", kind)
    assert_damaged(of_array("category", categories[::-1], kind))


def test_a_node_at_two_depths_is_refused():
    """The evidence is summed up depth by depth: a wrong one would be a wrong sum, or an endless one."""
    changed = document("space")
    right = arrays_in(changed)["children_right"]["values"]
    first, *_, last = splits("space", "children_right")
    right[first] = right[last]
    assert_damaged(changed)


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("other", ["BayesianTree", "TreeSpace", "BayesianForest"])
@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_the_model_of_another_class_is_refused(kind, other, task):
    changed = document(kind) | {"estimator": other + task, "parameters": {}}
    if other + task != DOCUMENTS[kind]["estimator"]:
        assert_damaged(changed, other + task)


@pytest.mark.parametrize("name", ["SVC", "sklearn.svm.SVC", "os.system", "BayesianTree", "", None, ["a"], {}])
def test_no_other_class_is_made(name):
    assert_damaged(document() | {"estimator": name})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smoothing", {"float": "nan"}),
        ("smoothing", "text"),
        ("max_depth", -1),
        ("partition_prior", 1.5),
        ("feature_prior", {"list": [1, 2]}),
        ("partitions", "slanted"),
        ("monotonic_cst", {"dict": [["no such column", 1]]}),
        ("n_jobs", 0),
    ],
)
def test_a_parameter_that_no_fit_would_take_is_refused(name, value):
    changed = document()
    changed["parameters"][name] = value
    assert_damaged(changed, name)


@pytest.mark.parametrize("name", ["no_such_parameter", "__class__", "fit", "tree_"])
def test_no_other_parameter_is_set(name):
    changed = document()
    changed["parameters"][name] = 1
    assert_damaged(changed)


@pytest.mark.parametrize(
    "dtype", ["V8", "c16", "M8[s]", "S3", "i4,i4", [["a", "<i4"]], {"names": ["a"], "formats": ["O"]}, 3]
)
def test_no_other_type_of_array_is_made(dtype):
    changed = document()
    changed["parameters"]["prior"] = {"array": dtype, "shape": [1], "values": [1]}
    assert_damaged(changed)


def test_nested_objects_stay_plain_data():
    """An object array holds what JSON can say, whatever names it uses."""
    changed = document()
    changed["parameters"]["prior"] = {
        "array": "|O",
        "shape": [2],
        "values": [{"dict": [["__reduce__", "os.system"]]}, {"list": [{"float": "inf"}, "exec('raise')"]}],
    }
    prior = from_dict(signed(changed)).prior
    assert prior.tolist() == [{"__reduce__": "os.system"}, [np.inf, "exec('raise')"]]


class Trap:
    """Unpickling it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_in_place_of_a_model_is_not_unpickled(tmp_path):
    trap, path = tmp_path / "trapped", tmp_path / "model.json"
    path.write_bytes(pickle.dumps(Trap(trap)))
    with pytest.raises(ValueError, match="not a baytree model"):
        load(path)
    assert not trap.exists()
    pickle.loads(path.read_bytes())
    assert trap.exists()  # the trap works


def test_a_dictionary_is_not_changed_by_reading_it():
    given_document = document()
    kept = copy.deepcopy(given_document)
    from_dict(given_document).fit(X[:, :2], Y > 0)
    assert given_document == kept


@pytest.mark.parametrize(
    ("kind", "name", "place", "value"),
    [
        ("space", "children_left", 1, 0),
        ("space", "children_right", -1, 10**6),
        ("space", "children_left", 1, -1),
        ("space", "children_left", 0, 1),
        ("space", "feature", 1, 6),
        ("space", "feature", 1, -2),
        ("space", "kind", 0, SplitKind.THRESHOLD),
        ("space", "kind", 1, 0),
        ("space", "kind", 1, 7),
        ("space", "choice_start", 0, 1),
        ("space", "choice_start", -1, 0),
        ("space", "choice_start", 1, 0),
        ("space", "choice_start", 1, 1),
        ("space", "choice_start", 1, 10**6),
        ("space", "category_start", -1, 0),
        ("space", "hyperplane_start", -1, 0),
        ("space", "log_prior_leaf", 0, "-inf"),
        ("space", "statistics", 0, "-inf"),
        ("forest", "roots", 0, 1),
        ("forest", "roots", 1, 0),
        ("forest", "roots", 1, 1),
        ("forest", "roots", 1, 2**40),
        ("forest", "roots", -1, 10**6),
        ("forest", "roots", -1, -1),
        ("forest", "category_start", -1, 0),
        ("forest", "hyperplane_start", 0, 1),
        ("forest", "kind", 0, 0),
        ("forest", "kind", -1, SplitKind.THRESHOLD),
    ],
)
def test_nodes_that_lead_astray_are_refused(kind, name, place, value):
    assert_damaged(with_value(name, place, value, kind))


def test_a_choice_that_is_there_twice_is_refused():
    """No split, once more in place of a split: its rows would count twice."""
    changed = document("space")
    arrays = arrays_in(changed)
    kinds = arrays["kind"]["values"]
    place = next(i for i in range(1, len(kinds)) if kinds[i] == SplitKind.THRESHOLD)
    for name in ("kind", "feature", "threshold", "missing_go_to_left", "has_missing", "unseen_go_to_left"):
        arrays[name]["values"][place] = arrays[name]["values"][0]
    for name in ("children_left", "children_right", "log_prior_split"):
        arrays[name]["values"][place] = arrays[name]["values"][0]
    assert_damaged(changed)
