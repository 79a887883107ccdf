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

from baytree import ModelFileError, load
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
            found = from_dict(damaged)
        except ModelFileError:
            continue
        try:
            assert np.all(np.isfinite(found.predict_interval(rows))) or not case.is_classifier
            found.explain(rows[:1])
        except ValueError:
            pass
        assert time.monotonic() - start < 20
    return "damaged files"
