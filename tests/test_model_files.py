"""Model files as bytes: archives, equal bytes, files of every format, full disks, and any damage."""

from __future__ import annotations

import cProfile
import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import baytree
from baytree import (
    BayesianForestClassifier,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    ModelFileError,
    TreeSpaceClassifier,
    load,
)
from baytree.estimators import from_document
from baytree.export import from_dict, to_dict
from baytree.persistence import FORMAT_VERSION, _files
from baytree.persistence._trees import arrays_of
from tests.documents import DOCUMENTS, RAW, X, Y, assert_same_trees, document, signed
from tests.mutations import damage, damage_bytes
from tests.saved_models import FOLDER, MODELS, predictions

SAVED = sorted(FOLDER.glob("*.model"))


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """The path of a model that is written as an archive, though it is small."""
    monkeypatch.setattr(_files, "_MOST_VALUES_AS_TEXT", 0)
    BayesianTreeClassifier(prior=0.1, partition_prior=0.99, partitions="oblique").fit(RAW, Y).save(
        tmp_path / "model.zip"
    )
    return tmp_path / "model.zip"


def test_a_large_model_is_an_archive_and_comes_back(tmp_path):
    table = np.random.default_rng(0).random((500, 4000))
    model = BayesianTreeRegressor(prior=[0.0, 1e-3, 0.5, 1e-9]).fit(table, table[:, 0])
    assert sum(array.size for array in arrays_of(model.tree_).values()) > 2**16
    model.save(tmp_path / "one")
    loaded = load(tmp_path / "one")
    assert zipfile.is_zipfile(tmp_path / "one")
    assert_same_trees(loaded.tree_, model.tree_)
    assert_array_equal(loaded.predict_interval(table), model.predict_interval(table), strict=True)
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").stat().st_size < len(json.dumps(to_dict(model)))


def test_an_archive_holds_the_same_document(archive):
    loaded = load(archive)
    with zipfile.ZipFile(archive) as members:
        held = json.loads(members.read("model.json"))
        names = {f"{folder}/{name}" for folder, arrays in held["stores"].items() for name in arrays}
        assert set(held["stores"]) == {"trees", "grown_tree"}
        assert set(members.namelist()) == {"model.json", *names}
    plain = to_dict(loaded)
    for content in (held, plain):
        del content["stores"], content["sha256"]
    assert held == plain


def rewritten(path, **changes):
    """The archive with some members changed; None: left out."""
    with zipfile.ZipFile(path) as members:
        content = {name: members.read(name) for name in members.namelist()} | changes
    return _files._archive({name: value for name, value in content.items() if value is not None})


def member(path, name):
    with zipfile.ZipFile(path) as members:
        return members.read(name)


def compressed(path, method):
    with zipfile.ZipFile(path) as members:
        content = {name: members.read(name) for name in members.namelist()}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as members:
        for name, data in content.items():
            members.writestr(name, data)
    return made.getvalue()


def test_an_archive_that_is_none_of_ours_is_refused(archive):
    whole = archive.read_bytes()
    damaged = {
        "no document": rewritten(archive, **{"model.json": None}),
        "no JSON": rewritten(archive, **{"model.json": b"{"}),
        "an array less": rewritten(archive, **{"trees/threshold": None}),
        "a longer array": rewritten(archive, **{"trees/threshold": b"\0" * 8000}),
        "another array": rewritten(archive, **{"trees/feature": bytes(len(member(archive, "trees/feature")))}),
        "another array of a pruned tree": rewritten(
            archive, **{"grown_tree/feature": bytes(len(member(archive, "grown_tree/feature")))}
        ),
        "compressed": compressed(archive, zipfile.ZIP_DEFLATED),
        "packed": compressed(archive, zipfile.ZIP_LZMA),
        "only a mark": b"PK",
        "empty": b"PK\5\6" + bytes(18),
    }
    for content in damaged.values():
        archive.write_bytes(content)
        with pytest.raises(ModelFileError, match=r"not a baytree model|damaged"):
            load(archive)
    archive.write_bytes(whole)
    assert load(archive).get_n_leaves() > 1


def test_an_archive_cannot_grow_when_it_is_read(archive):
    """Ten gigabytes of zeros in ten megabytes: refused before anything is unpacked."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("model.json", b" " * 10**7)
    archive.write_bytes(content.getvalue())
    with pytest.raises(ModelFileError, match="compressed"):
        load(archive)


def test_text_that_would_fill_the_memory_is_refused():
    changed = document()
    wide = {"array": "<U20000", "shape": [20_000], "values": ["x" * 20_000] + [""] * 19_999}
    changed["parameters"]["prior"] = wide
    with pytest.raises(ModelFileError, match="wider than its text"):
        from_dict(signed(changed))
    with pytest.raises(ValueError, match="different lengths"):
        to_dict(BayesianTreeClassifier().fit(X, Y).set_params(prior=np.array(wide["values"])))


def test_a_tree_that_is_no_pruning_of_what_was_grown_is_refused():
    model = BayesianTreeClassifier(prior=0.1, partition_prior=0.99).fit(X, np.where(np.arange(150) % 13 == 0, 2 - Y, Y))
    grown = clone(model).set_params(prune=False).fit(X, np.where(np.arange(150) % 13 == 0, 2 - Y, Y))
    assert model.get_n_leaves() < grown.get_n_leaves()
    assert from_dict(to_dict(model)).fitted_.grown.n_leaves == grown.get_n_leaves()
    swapped = to_dict(model)
    stores = swapped["stores"]
    stores["trees"], stores["grown_tree"] = stores["grown_tree"], stores["trees"]
    other = to_dict(model)
    other["stores"]["grown_tree"]["threshold"]["values"][0] += 1
    for changed in (swapped, other):
        with pytest.raises(ModelFileError, match="no pruning of the one that was grown"):
            from_dict(signed(changed))


# Formats.


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_saved_model_of_every_format_loads_and_predicts_the_same(path):
    """Where the present format is not released yet and has changed: ``python -m tests.saved_models``."""
    expected = json.loads(path.with_suffix(".predictions").read_text("utf-8"))
    predicted = predictions(load(path))
    assert predicted.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(predicted[name], values, rtol=1e-12)


def test_a_parameter_that_came_after_a_file_has_its_default():
    changed = document()
    del changed["parameters"]["smoothing"], changed["parameters"]["n_jobs"]
    loaded = from_dict(signed(changed))
    assert (loaded.smoothing, loaded.n_jobs) == (0.0, None)


def test_there_is_a_saved_model_of_every_format_and_kind():
    kinds = [*MODELS, "archive"]
    wanted = {f"format_{version}_{kind}" for version in range(1, FORMAT_VERSION + 1) for kind in kinds}
    assert {path.stem for path in SAVED} == wanted


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, 10**30])
def test_a_newer_format_is_refused_with_a_sentence(version):
    with pytest.raises(ModelFileError, match=r"format version \d+, but this baytree reads 1 and older: upgrade"):
        from_dict(signed(document() | {"version": version}))


def test_the_docs_name_every_entry_of_a_document():
    page = Path(__file__).parents[1] / "docs" / "file_format.md"
    if not page.exists():
        pytest.skip("needs the repository, not only the package")
    text = page.read_text("utf-8")
    parts = ("schema", "fitted_on", "outcome", "decision", "stores")
    entries = {*document(), *(name for part in parts for name in document()[part]), *document("forest")["forest"]}
    for whole in DOCUMENTS.values():
        entries |= {name for arrays in whole["stores"].values() for name in arrays}
    assert not [name for name in entries if f"`{name}`" not in text]


def test_the_error_is_public_and_a_value_error():
    assert issubclass(baytree.ModelFileError, ValueError)


# Disks.


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize("as_text", [10**6, 0], ids=["text", "archive"])
def test_a_full_disk_leaves_the_old_file(as_text, tmp_path):
    """The limit on the size of files is real, and so is the error of the system."""
    path = tmp_path / "model"
    BayesianTreeClassifier(max_depth=0).fit(RAW, Y).save(path)
    before = path.read_bytes()
    code = f"""
import resource, signal
from baytree import BayesianTreeClassifier
from baytree.persistence import _files
from tests.documents import RAW, Y
model = BayesianTreeClassifier(prior=0.1).fit(RAW, Y)
_files._MOST_VALUES_AS_TEXT = {as_text}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    model.save({str(path)!r})
except OSError as error:
    print("refused:", type(error).__name__)
"""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout == "refused: OSError\n"
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="whoever may write everywhere is not refused")
def test_a_folder_that_may_not_be_written_to_leaves_the_old_file(tmp_path):
    path = tmp_path / "model"
    model = BayesianTreeClassifier(max_depth=0).fit(RAW, Y)
    model.save(path)
    before = path.read_bytes()
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            BayesianTreeClassifier(prior=0.1).fit(RAW, Y).save(path)
        assert path.read_bytes() == before
    finally:
        tmp_path.chmod(0o700)


# Any damage: 5,000 mutations in all.


MOST_TIMES = 4  # the work of a sound model


class Work:
    """What reading takes: functions entered, and bytes in use at once. The same every time, as seconds are not."""

    def __enter__(self):
        tracemalloc.start()
        return self

    def __exit__(self, *error):
        tracemalloc.stop()

    def of(self, call):
        profile = cProfile.Profile()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        profile.runcall(call)
        _, peak = tracemalloc.get_traced_memory()
        return np.array([sum(entry.callcount for entry in profile.getstats()), peak - before])


def small_models():
    """Models with all kinds of splits that are read in less than a millisecond."""
    tree = BayesianTreeClassifier(prior=0.1, partitions="oblique", max_depth=3).fit(RAW, Y)
    regressor = BayesianTreeRegressor(max_depth=2).fit(RAW, Y)
    forest = BayesianForestClassifier(n_estimators=2, max_depth=2, random_state=0).fit(RAW, Y)
    return [tree, regressor, TreeSpaceClassifier(max_nodes=5, max_depth=2).fit(RAW, Y), forest]


def assert_refused_or_sound(read, *arguments):
    """Only a ModelFileError is raised; a model that loads all the same gives sound answers, or refuses the rows."""
    try:
        model = read(*arguments)
    except ModelFileError:
        return False
    try:
        probability = model.predict_proba(RAW[:3]) if hasattr(model, "predict_proba") else None
    except ValueError:
        return True
    assert probability is None or np.all(np.isfinite(probability))
    return True


@pytest.mark.parametrize("part", range(4))
@pytest.mark.filterwarnings("ignore")  # names may be among what was lost, and numbers may be huge
def test_documents_with_any_damage_are_refused_with_bounded_work(part):
    random = np.random.default_rng(part)
    texts = [json.dumps(to_dict(model)) for model in small_models()]
    n_loaded = 0

    def read(document):
        nonlocal n_loaded
        n_loaded += assert_refused_or_sound(from_dict, document)

    for text in texts:  # whatever is done but once
        read(json.loads(text))
    with Work() as work:
        most = MOST_TIMES * np.max([work.of(lambda written=text: read(json.loads(written))) for text in texts], axis=0)
        n_loaded = 0
        for i in range(800):
            changed = json.loads(texts[i % len(texts)])
            for _ in range(random.integers(1, 4)):
                damage(changed, random)
            document = signed(changed) if random.random() < 0.9 else changed
            assert np.all(work.of(lambda written=document: read(written)) <= most)
    assert n_loaded > 0  # such as another name of a column


@pytest.mark.parametrize("kind", ["text", "archive"])
def test_files_with_any_damage_are_refused_with_bounded_work(kind, tmp_path, monkeypatch):
    if kind == "archive":
        monkeypatch.setattr(_files, "_MOST_VALUES_AS_TEXT", 0)
    random, path, contents = np.random.default_rng(len(kind)), tmp_path / "model", []
    for model in small_models():
        model.save(path)
        contents.append(path.read_bytes())

    def read(content):
        assert_refused_or_sound(lambda written: from_document(*_files.read_content(written, "model")), content)

    for content in contents:  # whatever is done but once
        read(content)
    with Work() as work:
        most = MOST_TIMES * np.max([work.of(lambda written=content: read(written)) for content in contents], axis=0)
        for i in range(900):
            changed = damage_bytes(contents[i % len(contents)], random)
            assert np.all(work.of(lambda written=changed: read(written)) <= most)
