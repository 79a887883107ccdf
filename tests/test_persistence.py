"""Model files: the same model comes back, damage is noticed, and nothing in a file is run."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from baytree import BayesianTreeClassifier, PartitionPrior, TreeSpaceClassifier, TreeSpaceRegressor, load
from baytree.export import from_dict, to_dict
from baytree.tree import Tree
from tests import strategies

X, Y = load_iris(return_X_y=True)

LABELS = {
    "str": np.array(["setosa", "vérsicolor", "\n\"'\\"]),
    "int": np.array([-5, 0, 2**62]),
    "int8": np.array([-128, 0, 127], dtype=np.int8),
    "uint64": np.array([0, 1, 2**64 - 1], dtype=np.uint64),
    "float": np.array([-1.0, 0.0, 1e6]),
    "float32": np.array([1.0, 2.0, 3.0], dtype=np.float32),
    "object of str": np.array(["a", "b", "c"], dtype=object),
    "bool": np.array([False, True, True]),
}

PARAMETERS = {
    "defaults": {},
    "number": {"prior": 1.0, "smoothing": 0.1, "max_depth": 3, "n_jobs": 2},
    "numpy numbers": {"prior": np.float32(0.5), "max_depth": np.int64(3), "partition_prior": np.float64(0.9)},
    "array": {"prior": np.array([1.0, 0.1, 2.0]), "feature_prior": np.arange(1, 5)},
    "list": {"prior": [1.0, 0.1, 2.0], "feature_prior": [1, 2, 3, 4]},
    "partition prior": {
        "partition_prior": PartitionPrior(split=0.5, by_depth=False, location="distance", proper=False)
    },
    "class weights": {"class_weight": {0: 0.5, np.int64(2): 3}},
    "balanced": {"class_weight": "balanced", "max_leaf_nodes": 3},
}


def round_trip(model, tmp_path):
    model.save(tmp_path / "model.json")
    return load(tmp_path / "model.json")


def assert_same_model(one, other):
    assert type(one) is type(other)
    assert vars(one).keys() == vars(other).keys()
    assert_array_equal(one.classes_, other.classes_, strict=True)
    for name, array in one.tree_.arrays().items():
        assert_array_equal(other.tree_.arrays()[name], array, strict=True)
        assert not other.tree_.arrays()[name].flags.writeable


RAW = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(
    d=pd.cut(X[:, 3], [0, 0.5, 1.2, 1.6, 3], labels=["small", "<b>", "large", "\u202ehuge"]),
    c=np.where(X[:, 2] > 5.5, np.nan, X[:, 2]),
)


def document():
    """A fresh document of a model with several leaves, levels, gaps and hyperplanes."""
    return to_dict(BayesianTreeClassifier(prior=0.1, partitions="oblique").fit(RAW, Y))


def of_array(name, **changes):
    """A document in which one array of the tree has other entries."""
    changed = document()
    changed["fitted"]["tree"][name] |= changes
    return changed


def values_of(name):
    return list(document()["fitted"]["tree"][name]["values"])


def assert_damaged(changed):
    with pytest.raises(ValueError, match=r"damaged|not a baytree model|version"):
        from_dict(json.loads(json.dumps(changed)))


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
def test_labels_of_any_kind_come_back(labels, tmp_path):
    model = BayesianTreeClassifier(prior=1.0).fit(X, labels[Y])
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded)
    assert_array_equal(loaded.predict(X), model.predict(X), strict=True)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X), strict=True)


@pytest.mark.parametrize("parameters", PARAMETERS.values(), ids=PARAMETERS.keys())
def test_parameters_come_back(parameters, tmp_path):
    model = BayesianTreeClassifier(**parameters).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded)
    for name, value in model.get_params().items():
        assert_array_equal(loaded.get_params()[name], value)
    assert_array_equal(loaded.fit(X, Y).predict_proba(X), model.predict_proba(X))


def test_parameters_that_are_numbers_of_other_kinds_come_back(tmp_path):
    model = BayesianTreeClassifier().fit(X, Y)
    model.set_params(prior=np.array([np.inf, np.nan, 1.0]), feature_prior=(1, 2), smoothing=float("nan"))
    loaded = round_trip(model, tmp_path)
    assert_array_equal(loaded.prior, [np.inf, np.nan, 1.0])
    assert list(loaded.feature_prior) == [1, 2]
    assert np.isnan(loaded.smoothing)


def test_column_names_come_back_and_are_checked(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    loaded = round_trip(BayesianTreeClassifier().fit(frame, Y), tmp_path)
    assert_array_equal(loaded.feature_names_in_, ["a", "b", "c", "d"])
    assert loaded.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["b", "a", "c", "d"]])


@given(strategies.problems())
def test_every_model_comes_back_bit_for_bit(problem):
    X, y, weight, parameters = problem
    model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    text = json.dumps(to_dict(model), allow_nan=False)
    loaded = from_dict(json.loads(text))
    assert_same_model(model, loaded)
    assert loaded.get_params() == model.get_params()
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X), strict=True)


def test_the_file_is_the_dictionary(tmp_path):
    model = BayesianTreeClassifier(prior=1.0).fit(X, Y)
    model.save(str(tmp_path / "model.json"))
    assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8")) == to_dict(model)


def test_the_file_is_strict_json(tmp_path):
    """The trees have infinite entries, which JSON has no word for."""
    model = BayesianTreeClassifier(prior=1.0).fit(X, Y)
    assert np.isinf(model.tree_.log_prior_split).any()
    model.save(tmp_path / "model.json")

    def refuse(token):
        raise AssertionError(token)

    json.loads((tmp_path / "model.json").read_text(encoding="utf-8"), parse_constant=refuse)


def test_a_saved_model_saves_the_same_file(tmp_path):
    BayesianTreeClassifier(prior=[1.0, 2.0, 3.0]).fit(X, Y).save(tmp_path / "one.json")
    load(tmp_path / "one.json").save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_a_model_that_cannot_be_written_leaves_no_file(tmp_path):
    model = BayesianTreeClassifier().fit(X, Y).set_params(prior=object())
    with pytest.raises(TypeError, match="object cannot be written"):
        model.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.json")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a model",
        b"\xff\xfe\x00\x80",
        b"null",
        b"[]",
        b"{}",
        b'{"format": "another"}',
        b"1" * 10_000,
        b"[" * 200_000,
        pickle.dumps({"format": "baytree model"}),
    ],
    ids=["empty", "text", "binary", "null", "list", "dict", "other format", "long number", "deep", "pickle"],
)
def test_a_file_that_is_no_model_is_refused(content, tmp_path):
    (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(ValueError, match="not a baytree model"):
        load(tmp_path / "model.json")


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "model.json"
    BayesianTreeClassifier(prior=1.0).fit(X, Y).save(path)
    content = path.read_bytes()
    for size in np.linspace(0, len(content) - 1, 30).astype(int):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match="not a baytree model"):
            load(path)


@pytest.mark.parametrize("version", [5, 10**30, "1", None, 1.5])
def test_a_version_it_does_not_know_is_refused(version):
    assert_damaged(document() | {"version": version})


@pytest.mark.parametrize("entry", ["format", "version", "estimator", "parameters", "fitted"])
def test_a_document_that_lacks_an_entry_is_refused(entry):
    changed = document()
    del changed[entry]
    assert_damaged(changed)


@pytest.mark.parametrize("entry", ["n_features", "feature_names", "categories", "classes", "tree"])
@pytest.mark.parametrize("value", ["absent", "text", -1, [], {"float": "x"}, {"unknown": 1}], ids=str)
def test_a_fitted_entry_that_is_wrong_is_refused(entry, value):
    changed = document()
    changed["fitted"][entry] = value
    if value == "absent":
        del changed["fitted"][entry]
    assert_damaged(changed)


@pytest.mark.parametrize("name", [field.name for field in fields(Tree)])
@pytest.mark.parametrize("damage", ["absent", "shorter", "other shape", "text", "number", "null"])
def test_an_array_that_is_wrong_is_refused(name, damage):
    changed = document()
    tree = changed["fitted"]["tree"]
    width = int(np.prod(tree[name]["shape"][1:]))
    if damage == "absent":
        del tree[name]
    elif damage == "shorter":
        tree[name]["values"] = tree[name]["values"][:-width]
        tree[name]["shape"][0] -= 1
    elif damage == "other shape":
        tree[name]["shape"][0] += 1
    elif damage == "text":
        tree[name] |= {"array": "<U5", "values": ["wrong"] * len(tree[name]["values"])}
    else:
        tree[name] = {"number": 3, "null": None}[damage]
    assert_damaged(changed)


@pytest.mark.parametrize("name", ["value", "prior", "posterior"])
def test_an_array_of_another_width_is_refused(name):
    changed = document()
    array = changed["fitted"]["tree"][name]
    array["shape"][-1] -= 1
    array["values"] = array["values"][: int(np.prod(array["shape"]))]
    assert_damaged(changed)


def test_another_number_of_classes_is_refused():
    changed = document()
    changed["fitted"]["classes"] |= {"values": [0, 1], "shape": [2]}
    assert_damaged(changed)


def test_another_number_of_column_names_is_refused():
    changed = document()
    changed["fitted"]["feature_names"] = {"array": "|O", "shape": [2], "values": ["a", "b"]}
    assert_damaged(changed)


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


@pytest.mark.parametrize("feature", [-2, -1, 4, 2**40])
def test_a_feature_that_is_out_of_range_is_refused(feature):
    assert_damaged(of_array("feature", values=[feature, *values_of("feature")[1:]]))


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("oblique_feature", -1),
        ("oblique_feature", 3),  # holds levels
        ("oblique_feature", 4),
        ("oblique_feature", 2**40),
        ("oblique_coefficient", "inf"),
        ("oblique_gap_value", "nan"),
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
    prior = from_dict(changed).prior
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


@pytest.mark.parametrize("kind", [TreeSpaceClassifier, TreeSpaceRegressor])
def test_a_tree_space_comes_back(kind, tmp_path):
    model = kind(max_nodes=60, n_trees=3, random_state=0).fit(RAW, Y)
    loaded = round_trip(model, tmp_path)
    for name, array in model.space_.arrays().items():
        assert_array_equal(getattr(loaded.space_, name), array, strict=True)
    assert_array_equal(loaded.predict(RAW), model.predict(RAW))
    assert_array_equal(loaded.weights_, model.weights_)
    assert [a.rule for a in loaded.alternatives()] == [a.rule for a in model.alternatives()]
    assert loaded.log_evidence_ == model.log_evidence_


def space_document():
    return to_dict(TreeSpaceClassifier(max_nodes=60, partitions="oblique").fit(RAW, Y))


@pytest.mark.parametrize("name", list(space_document()["fitted"]["space"]))
@pytest.mark.parametrize("change", ["number", "shorter", "type", "gone"])
def test_an_array_of_a_space_that_is_wrong_is_refused(name, change):
    changed = space_document()
    arrays = changed["fitted"]["space"]
    if change == "number":
        arrays[name] = 3
    elif change == "gone":
        del arrays[name]
    elif change == "type":
        arrays[name] |= {"array": "<f4"}
    else:
        shape = arrays[name]["shape"]
        values = arrays[name]["values"][: -int(np.prod(shape[1:]))]
        arrays[name] |= {"shape": [shape[0] - 1, *shape[1:]], "values": values}
    assert_damaged(changed)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("children_left", 0, 0),
        ("children_right", -1, 10**6),
        ("children_left", 0, -1),
        ("feature", 0, 4),
        ("feature", 0, -2),
        ("depth", 0, 1),
        ("depth", -1, 0),
        ("choice_start", 0, 1),
        ("choice_start", -1, 0),
        ("choice_start", 1, 10**6),
        ("level_start", -1, 0),
    ],
)
def test_a_space_that_leads_astray_is_refused(name, place, value):
    changed = space_document()
    changed["fitted"]["space"][name]["values"][place] = value
    assert_damaged(changed)
