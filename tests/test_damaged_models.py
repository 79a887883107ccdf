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
from baytree.tree import SplitKind
from tests.documents import (
    SPACE,
    TREE,
    X,
    Y,
    assert_damaged,
    document,
    of_array,
    signed,
    space_document,
    values_of,
    with_value,
)


@pytest.mark.parametrize("version", [0, 2, 4, 10**30, "1", None, True, 1.5])
def test_a_version_it_does_not_know_is_refused(version):
    assert_damaged(document() | {"version": version}, "version")


def test_the_first_release_writes_the_first_format():
    assert TREE["version"] == FORMAT_VERSION == 1


@pytest.mark.parametrize("entry", list(TREE))
def test_a_document_that_lacks_an_entry_is_refused(entry):
    changed = document()
    del changed[entry]
    if entry == "baytree":  # says who wrote it, and is not needed to read it
        assert from_dict(signed(changed)).get_n_leaves() > 1
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


@given(st.sampled_from([TREE, SPACE]), st.data())
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


@pytest.mark.parametrize("entry", ["schema", "classes", "outcome", "arrays", "grown", "parameters", "estimator"])
@pytest.mark.parametrize("value", ["text", -1, [], {}, None, {"float": "x"}, {"unknown": 1}], ids=str)
def test_an_entry_that_is_wrong_is_refused(entry, value):
    if (entry, value) == ("parameters", {}):  # all of them have defaults
        assert from_dict(signed(document() | {entry: value})).get_n_leaves() > 1
        return
    assert_damaged(document() | {entry: value})


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
    assert SplitKind.CATEGORY_SET in changed["arrays"]["kind"]["values"]
    changed["schema"]["kinds"][column] = kind
    if categories != "as before":
        changed["schema"]["categories"][column] = categories
    assert_damaged(changed)


def test_every_array_is_written():
    assert set(TREE["arrays"]) == {field.name for field in fields(Tree)}
    assert set(SPACE["arrays"]) == {field.name for field in fields(Space)} - {"n_features"}


@pytest.mark.parametrize("made", [document, space_document])
@pytest.mark.parametrize("name", ["more", "n_features", "router", "__class__"])
def test_an_array_that_should_not_be_there_is_refused(made, name):
    changed = made()
    changed["arrays"][name] = changed["arrays"]["depth"]
    assert_damaged(changed)


@pytest.mark.parametrize(
    ("made", "name"),
    [(document, name) for name in TREE["arrays"]] + [(space_document, name) for name in SPACE["arrays"]],
)
@pytest.mark.parametrize("damage", ["absent", "shorter", "other shape", "text", "number", "null", "other type"])
def test_an_array_that_is_wrong_is_refused(made, name, damage):
    changed = made()
    arrays = changed["arrays"]
    width = int(np.prod(arrays[name]["shape"][1:]))
    if damage == "absent":
        del arrays[name]
    elif damage == "shorter":
        arrays[name]["values"] = arrays[name]["values"][:-width]
        arrays[name]["shape"][0] -= 1
    elif damage == "other shape":
        arrays[name]["shape"][0] += 1
    elif damage == "text":
        arrays[name] |= {"array": "<U5", "values": ["wrong"] * len(arrays[name]["values"])}
    elif damage == "other type":
        arrays[name] |= {"array": "<f4"}
    else:
        arrays[name] = {"number": 3, "null": None}[damage]
    assert_damaged(changed)


@pytest.mark.parametrize("name", ["value", "prior", "posterior"])
def test_an_array_of_another_width_is_refused(name):
    changed = document()
    array = changed["arrays"][name]
    array["shape"][-1] -= 1
    array["values"] = array["values"][: int(np.prod(array["shape"]))]
    assert_damaged(changed)


def test_another_number_of_classes_is_refused():
    changed = document()
    changed["classes"] |= {"values": [0, 1], "shape": [2]}
    assert_damaged(changed)


def test_classes_out_of_order_are_refused():
    changed = document()
    changed["classes"]["values"] = [1, 0, 2]
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
        ("value", "nan", "number"),
        ("value", -0.5, "sum to one"),
        ("value", 0.9, "sum to one"),
        ("prior", 0.0, "out of range"),
        ("prior", -1.0, "out of range"),
        ("posterior", "nan", "out of range"),
        ("posterior", "inf", "out of range"),
        ("log_likelihood", "nan", "not finite"),
        ("log_likelihood", "inf", "not finite"),
        ("log_prior_leaf", "nan", "not finite"),
        ("log_prior_split", "nan", "no number"),
        ("log_likelihood_split", "nan", "no number"),
        ("log_odds_split", "nan", "no number"),
        ("n_node_samples", 0, "no rows"),
        ("n_node_samples", -5, "no rows"),
        ("weighted_n_node_samples", 0.0, "no rows"),
        ("weighted_n_node_samples", "inf", "no rows"),
        ("feature_posterior", -0.5, "shares"),
        ("feature_posterior", "nan", "shares"),
        ("depth", 1, "depth"),
    ],
)
def test_values_that_cannot_be_are_refused(name, value, words):
    assert TREE["arrays"]["kind"]["values"][0] in (SplitKind.THRESHOLD, SplitKind.HYPERPLANE)
    assert_damaged(with_value(document(), name, 0, value), words)


@pytest.mark.parametrize("name", ["feature", "threshold", "missing_go_to_left", "has_missing", "log_prior_split"])
def test_a_leaf_that_has_part_of_a_split_is_refused(name):
    leaf = TREE["arrays"]["kind"]["values"].index(0)
    value = True if TREE["arrays"][name]["array"] == "|b1" else 0
    assert_damaged(with_value(document(), name, leaf, value), "leaf")


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


@pytest.mark.parametrize("monotonic", [[2, 0, 0, 0, 0, 0], [1, 0], "text", 3])
def test_directions_that_are_none_are_refused(monotonic):
    changed = space_document()
    shape = [len(monotonic)] if isinstance(monotonic, list) else []
    encoded = {"array": "<i8", "shape": shape, "values": monotonic} if shape else monotonic
    assert_damaged(changed | {"monotonic": encoded})


@pytest.mark.parametrize("child", [0, -2, 10**6, 2**62])
@pytest.mark.parametrize("name", ["children_left", "children_right"])
def test_a_child_that_is_out_of_range_is_refused(name, child):
    assert_damaged(of_array(name, values=[child, *values_of(name)[1:]]))


def test_a_cycle_is_refused():
    left = values_of("children_left")
    parent = next(i for i in range(1, len(left)) if left[i] > 0)
    left[0], left[parent] = left[parent], left[0]
    assert_damaged(of_array("children_left", values=left))


def test_two_parents_of_one_node_are_refused():
    right = values_of("children_right")
    right[0] = values_of("children_left")[0]
    assert_damaged(of_array("children_right", values=right))


@pytest.mark.parametrize("feature", [-2, -1, 6, 2**40])
def test_a_feature_that_is_out_of_range_is_refused(feature):
    assert_damaged(of_array("feature", values=[feature, *values_of("feature")[1:]]))


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
def test_a_hyperplane_that_is_wrong_is_refused(name, entry):
    assert_damaged(of_array(name, values=[entry, *values_of(name)[1:]]))


@pytest.mark.parametrize("excess", [-1, 1, 10**12])
def test_a_depth_that_is_wrong_is_refused(excess):
    """The evidence is summed up depth by depth: a wrong one would be a wrong sum, or an endless one."""
    *depths, last = values_of("depth")
    assert_damaged(of_array("depth", values=[*depths, last + excess]))


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
    ("name", "place", "value"),
    [
        ("children_left", 0, 0),
        ("children_right", -1, 10**6),
        ("children_left", 0, -1),
        ("feature", 0, 6),
        ("feature", 0, -2),
        ("kind", 0, 0),
        ("kind", 0, 7),
        ("depth", 0, 1),
        ("depth", -1, 0),
        ("choice_start", 0, 1),
        ("choice_start", -1, 0),
        ("choice_start", 1, 10**6),
        ("category_start", -1, 0),
        ("hyperplane_start", -1, 0),
        ("value", 0, "nan"),
        ("log_ceiling", 0, "nan"),
        ("log_likelihood", 0, "-inf"),
        ("posterior", 0, -1.0),
    ],
)
def test_a_space_that_leads_astray_is_refused(name, place, value):
    assert_damaged(with_value(space_document(), name, place, value))
