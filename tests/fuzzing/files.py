"""Model files: the same model comes back, and damage is noticed."""

from __future__ import annotations

import json
import pickle
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from numpy.testing import assert_array_equal

from baytree import BayesianForestClassifier, BayesianForestRegressor, ModelFileError, load
from baytree.export import from_dict, to_dict
from baytree.persistence._document import _checksum
from tests.fuzzing.case import Case, assert_same_structure
from tests.mutations import damage


def check_files(case: Case) -> str:
    """What is saved, pickled or written as a dictionary comes back the same."""
    model = (case.tree() if case.random.random() < 0.6 else case.space()).fit(case.table, case.y, case.weight)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
        copies = [load(Path(folder) / "model.json"), pickle.loads(pickle.dumps(model)), from_dict(to_dict(model))]
    for other in copies:
        assert_same_structure(model, other)
        assert_array_equal(model.predict(case.table), other.predict(case.table))
    return "files"


def check_damaged_files(case: Case) -> str:
    """A damaged document is refused in one sentence, or gives a model with sound predictions."""
    model = (case.tree() if case.random.random() < 0.6 else case.space()).fit(case.table, case.y, case.weight)
    document, rows = json.dumps(to_dict(model)), case.table.rename(columns=str)
    warnings.simplefilter("ignore")  # names may be among what was lost, and numbers may be huge
    for _ in range(20):
        damaged = json.loads(document)
        for _ in range(case.random.integers(1, 4)):
            damage(damaged, case.random)
        if case.random.random() < 0.7:
            damaged["sha256"] = _checksum(damaged)
        start = time.monotonic()
        try:
            read = from_dict(damaged)
        except ModelFileError:
            continue
        try:
            assert np.all(np.isfinite(read.predict_interval(rows))) or not case.is_classifier
            read.explain(rows[:1])
        except ValueError:
            pass
        assert time.monotonic() - start < 20
    return "damaged files"


def check_forest_files(case: Case) -> str:
    """Forests, among them of columns whose directions balance exactly, and spaces come back the same."""
    options = {"partitions": "oblique", "prune": bool(case.random.random() < 0.3)}
    X = (
        case.table
        if case.random.random() < 0.5
        else case.random.integers(0, 3, size=(max(case.n, 30), 4)).astype(float)
    )
    y = (
        case.y
        if len(case.y) == len(X)
        else (np.asarray(X).sum(axis=1) + case.random.normal(size=len(X)) > 4).astype(int)
    )
    if len(np.unique(y)) < 2:
        return "forest files: left out"
    is_classifier = case.is_classifier or len(y) != case.n
    kind = BayesianForestClassifier if is_classifier else BayesianForestRegressor
    bootstrap = str(case.random.choice(["bayesian", "resample"]))
    more = {} if is_classifier else {"outcome": case.outcome}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of calibration in tables that are mostly copies
        model = kind(8, random_state=case.seed % 2**31, bootstrap=bootstrap, oob_score=True, **options, **more).fit(
            X, y
        )
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        again = load(Path(folder) / "model")
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.oob_score_ == model.oob_score_ or (np.isnan(again.oob_score_) and np.isnan(model.oob_score_))
    return "forest files"
