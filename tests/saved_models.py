"""Models as the formats of files keep them: one of each kind, with what it predicts.

``python -m tests.saved_models`` writes those of the present format, which it does until that is released; files of
released formats stay as they are.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from baytree.persistence import FORMAT_VERSION, _files
from tests.documents import RAW, Y

FOLDER = Path(__file__).parent / "saved_models"
ROWS = RAW.iloc[::5]
MODELS = {
    "tree_classifier": BayesianTreeClassifier(prior=0.1, partitions="oblique"),
    "tree_regressor": BayesianTreeRegressor(),
    "tree_counts": BayesianTreeRegressor(outcome="poisson"),
    "tree_durations": BayesianTreeRegressor(outcome="exponential"),
    "tree_overdispersed": BayesianTreeRegressor(outcome="negative_binomial"),
    "tree_smoothed": BayesianTreeClassifier(smoothing=0.1),
    "tree_monotonic": BayesianTreeRegressor(monotonic_cst={"a": 1}),
    "space_classifier": TreeSpaceClassifier(max_nodes=10),
    "space_regressor": TreeSpaceRegressor(max_nodes=10),
    "forest_classifier": BayesianForestClassifier(n_estimators=3, random_state=0),
    "forest_regressor": BayesianForestRegressor(n_estimators=3, random_state=0),
}


def predictions(model):
    """What a model predicts for some rows, as JSON holds it."""
    result = {"predict": model.predict(ROWS), "interval": model.predict_interval(ROWS)}
    if hasattr(model, "predict_proba"):
        result["proba"] = model.predict_proba(ROWS)
    return {name: np.asarray(values, dtype=float).tolist() for name, values in result.items()}


def write():
    """Write all of them, the first also as an archive."""
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    FOLDER.mkdir(exist_ok=True)
    for name, model in MODELS.items():
        model.fit(RAW, Y + 1 if "duration" in name else Y)
        stem = FOLDER / f"format_{FORMAT_VERSION}_{name}"
        model.save(stem.with_suffix(".model"))
        stem.with_suffix(".predictions").write_text(json.dumps(predictions(model)), "utf-8")
    kept, _files._MOST_VALUES_AS_TEXT = _files._MOST_VALUES_AS_TEXT, 0
    MODELS["tree_classifier"].save(FOLDER / f"format_{FORMAT_VERSION}_archive.model")
    _files._MOST_VALUES_AS_TEXT = kept
    first = FOLDER / f"format_{FORMAT_VERSION}_tree_classifier.predictions"
    (FOLDER / f"format_{FORMAT_VERSION}_archive.predictions").write_bytes(first.read_bytes())


if __name__ == "__main__":
    write()
