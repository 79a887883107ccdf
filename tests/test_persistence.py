"""Model files: the same model comes back, damage is noticed, and nothing in a file is run."""

from __future__ import annotations

import json
import os
import pickle
import stat
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    PartitionPrior,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    load,
)
from baytree.export import from_dict, to_dict
from baytree.persistence import write_text
from tests import strategies
from tests.documents import RAW, X, Y, assert_same_trees

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
    assert_same_trees(one.fitted_.trees, other.fitted_.trees)
    if one.fitted_.grown_tree is not None:
        assert_same_trees(one.fitted_.grown_tree, other.fitted_.grown_tree)


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
    model.set_params(prior=(1, 2.5, 3), feature_prior=np.array([1, 2, 3, 4], dtype=np.int8), smoothing=np.float32(0.5))
    loaded = round_trip(model, tmp_path)
    assert list(loaded.prior) == [1, 2.5, 3]
    assert_array_equal(loaded.feature_prior, np.array([1, 2, 3, 4], dtype=np.int8), strict=True)
    assert loaded.smoothing == 0.5


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


@pytest.mark.parametrize("kind", [TreeSpaceClassifier, TreeSpaceRegressor])
def test_a_tree_space_comes_back(kind, tmp_path):
    model = kind(max_nodes=60).fit(RAW, Y)
    loaded = round_trip(model, tmp_path)
    assert vars(loaded).keys() == vars(model).keys()
    assert_same_trees(loaded.space_, model.space_)
    assert_array_equal(loaded.predict(RAW), model.predict(RAW))
    assert_array_equal(loaded.weights_, model.weights_)
    assert [a.rule for a in loaded.alternatives()] == [a.rule for a in model.alternatives()]
    assert loaded.log_evidence_ == model.log_evidence_


def single_trees():
    """Trees that were taken from a tree space or a forest; some are held to a direction or have smoothed priors."""
    y = np.where(np.arange(len(Y)) % 7 == 0, 1, Y)
    for options in ({}, {"monotonic_cst": {"a": 1}}, {"smoothing": 0.1}):
        space = TreeSpaceRegressor(max_nodes=60, **options).fit(RAW, y)
        forest = BayesianForestRegressor(4, random_state=0, calibrate=False, **options).fit(RAW, y)
        yield from (*space.best_trees(3), space.readable_tree_, *forest.trees_, forest.readable_tree_)


def test_a_tree_that_was_taken_from_many_comes_back(tmp_path):
    for model in single_trees():
        loaded = round_trip(model, tmp_path)
        assert_same_trees(loaded.tree_, model.tree_)
        assert_array_equal(loaded.predict(RAW), model.predict(RAW), strict=True)
        assert_array_equal(loaded.predict_interval(RAW), model.predict_interval(RAW), strict=True)


def test_a_tree_whose_nodes_are_in_another_order_comes_back(tmp_path):
    """The left child need not be the next node."""
    model = BayesianTreeClassifier(max_depth=1).fit(X, Y)
    tree = model.tree_
    assert tree.node_count == 3
    leaves = tree.leaves.take(np.array([0, 2, 1]))
    children = {"children_left": tree.children_right, "children_right": tree.children_left}
    fitted = replace(model.fitted_, trees=replace(tree, leaves=leaves, **children))
    other = BayesianTreeClassifier.from_fitted(fitted, model.get_params(deep=False))
    assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert_same_trees(round_trip(other, tmp_path).tree_, other.tree_)


# Files.


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    model = BayesianTreeClassifier(prior=1.0).fit(X, Y)
    model.save(path)
    before = path.read_bytes()

    def fail(*arguments, **options):
        raise OSError("the disk is full")

    for target in ("pathlib.Path.replace", "pathlib.Path.chmod"):
        with monkeypatch.context() as patched:
            patched.setattr(target, fail)
            with pytest.raises(OSError, match="the disk is full"):
                model.set_params(max_depth=1).fit(X, Y).save(path)
        assert [file.name for file in tmp_path.iterdir()] == ["model.json"]
        assert path.read_bytes() == before
    model.save(path)
    assert load(path).get_depth() == 1


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_text(path, "before")

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "after")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text("utf-8") == "before"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_text(tmp_path / "nowhere" / "page.html", "text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_text(tmp_path / "folder", "text")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("as_archive", [False, True])
def test_out_of_bag_figures_come_back(as_archive, tmp_path, monkeypatch):
    if as_archive:
        monkeypatch.setattr("baytree.persistence._files._MOST_VALUES_AS_TEXT", 0)
    model = BayesianForestClassifier(60, oob_score=True, random_state=0).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert loaded.oob_score_ == model.oob_score_
    assert_array_equal(loaded.oob_decision_function_, model.oob_decision_function_, strict=True)
    durations = BayesianForestRegressor(60, outcome="exponential", oob_score=True, random_state=0)
    durations.fit(X, Y + 1.0, event=X[:, 0] > 5)
    assert np.isnan(durations.oob_score_)
    assert np.isnan(round_trip(durations, tmp_path).oob_score_)
    with pytest.raises(AttributeError, match="oob_score=True"):
        _ = round_trip(durations.set_params(oob_score=False).fit(X, Y + 1.0), tmp_path).oob_prediction_


@pytest.mark.parametrize("seed", [20, 82])
def test_a_forest_whose_directions_balance_exactly_can_be_loaded(seed, tmp_path):
    """Least squares give a coefficient of zero there: a hyperplane of fewer features, that no file may hold."""
    random = np.random.default_rng(seed)
    n_values = int(random.integers(2, 4))
    rows = random.integers(0, n_values, size=(400, 5)).astype(float)
    y = rows[:, 0] + rows[:, 1] + random.normal(size=400) > n_values - 1
    model = BayesianForestClassifier(60, bootstrap="bayesian", random_state=seed).fit(rows, y)
    assert np.all(model.fitted_.trees.hyperplane_coefficient != 0)
    assert_array_equal(round_trip(model, tmp_path).predict_proba(rows), model.predict_proba(rows), strict=True)


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    """Whatever the reason: the file keeps the model that it has."""
    path = tmp_path / "model.json"
    model = BayesianForestClassifier(5, random_state=0).fit(X, Y)
    model.save(path)
    before = path.read_bytes()
    trees = model.fitted_.trees
    threshold = np.where(trees.is_leaf, trees.threshold, np.inf)
    for wrong in (
        replace(model.fitted_, trees=replace(trees, threshold=threshold)),  # which is refused
        replace(model.fitted_, trees=replace(trees, depth=trees.depth + 1)),  # which would come back otherwise
        replace(model.fitted_, unseen="nowhere"),
    ):
        broken = BayesianForestClassifier.from_fitted(wrong, model.get_params(deep=False))
        with pytest.raises(RuntimeError, match="was not saved"):
            broken.save(path)
        assert path.read_bytes() == before


POSIX = pytest.mark.skipif(os.name != "posix", reason="links, pipes and permissions of POSIX")


@POSIX
def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link, dangling = tmp_path / "folder" / "model.json", tmp_path / "link", tmp_path / "dangling"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("folder/model.json")
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    dangling.symlink_to("folder/other.json")
    write_text(dangling, "new")
    assert (tmp_path / "folder" / "other.json").read_text() == "new"
    assert dangling.is_symlink()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        write_text(tmp_path / "loop", "new")
    assert sorted(file.name for file in (tmp_path / "folder").iterdir()) == ["model.json", "other.json"]


@POSIX
def test_a_pipe_and_a_device_are_written_to_and_stay(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    BayesianTreeClassifier().fit(X, Y).save(pipe)
    reader.join(20)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert json.loads(read[0])["estimator"] == "BayesianTreeClassifier"
    write_text("/dev/null", "text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@POSIX
def test_the_umask_and_the_folder_of_a_new_file(tmp_path):
    before = os.umask(0o077)
    try:
        write_text(tmp_path / "private", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
    write_text(tmp_path / ("é" * 127), "a name of 254 bytes")


@POSIX
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everything")
def test_a_write_protected_file_is_not_replaced(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("kept")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="write-protected"):
        write_text(path, "new")
    assert path.read_text() == "kept"


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual(tmp_path):
    path, plain = tmp_path / "model.json", tmp_path / "plain"
    plain.write_text("as any program writes it")
    write_text(path, "one")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    write_text(path, "two\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_bytes() == b"two\n"


@pytest.mark.parametrize("kind", [BayesianForestRegressor, TreeSpaceRegressor])
def test_averages_with_directions_come_back(kind, tmp_path):
    options = {"n_estimators": 3, "random_state": 0} if kind is BayesianForestRegressor else {}
    model = kind(monotonic_cst=[1, 0, 0, 0], **options).fit(X, X[:, 0] + X[:, 1])
    loaded = round_trip(model, tmp_path)
    assert_array_equal(loaded.predict(X), model.predict(X), strict=True)
    assert_array_equal(loaded.fitted_.readable.monotonic, [1, 0, 0, 0])
