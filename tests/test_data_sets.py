"""Real tables, raw: text, numbers and missing values as ``pandas.read_csv`` gives them. Needs BAYTREE_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from baytree import BayesianTreeClassifier, BayesianTreeRegressor

FOLDER = os.environ.get("BAYTREE_DATA", "")
NAMES = ["clf_credit_approval", "clf_german_credit", "clf_car", "reg_abalone", "reg_auto_mpg"]

pytestmark = pytest.mark.skipif(not FOLDER, reason="BAYTREE_DATA names no folder of data sets")


def raw_and_one_hot(name):
    table = pd.read_csv(Path(FOLDER) / f"{name}.csv")
    y = table.pop("target")
    text = list(table.select_dtypes(exclude="number"))
    return table.astype(dict.fromkeys(text, "category")), pd.get_dummies(table, columns=text).astype(float), y


def scores(name, table, y, **parameters):
    """Accuracy or R2 of ten folds."""
    classes = name.startswith("clf_")
    model = BayesianTreeClassifier(**parameters) if classes else BayesianTreeRegressor(**parameters)
    folds = (StratifiedKFold if classes else KFold)(10, shuffle=True, random_state=0)
    return cross_val_score(model, table, y, cv=folds)


@pytest.mark.parametrize("name", NAMES)
def test_raw_tables_are_as_good_as_one_hot_columns(name):
    """With the weight that one-hot columns give a feature, one share a category; classes also with equal weights."""
    raw, one_hot, y = raw_and_one_hot(name)
    weight = {column: raw[column].nunique() for column in raw if raw[column].dtype == "category"}
    settings = {"prune": False, **({"prior": "paper"} if name.startswith("clf_") else {})}
    coded = scores(name, one_hot, y, **settings)
    difference = scores(name, raw, y, feature_prior=weight, **settings) - coded
    assert difference.mean() >= -2 * difference.std(ddof=1) / np.sqrt(10)
    if name.startswith("clf_"):
        assert scores(name, raw, y, **settings).mean() >= coded.mean()


def test_raw_tables_are_as_well_calibrated_as_one_hot_columns_by_default():
    losses = []
    for name in (name for name in NAMES if name.startswith("clf_")):
        raw, one_hot, y = raw_and_one_hot(name)
        folds = StratifiedKFold(10, shuffle=True, random_state=0)
        losses.append(
            [
                -cross_val_score(BayesianTreeClassifier(), table, y, cv=folds, scoring="neg_log_loss").mean()
                for table in (raw, one_hot)
            ]
        )
    raw_loss, one_hot_loss = np.mean(losses, axis=0)
    assert raw_loss <= one_hot_loss


@pytest.mark.parametrize("name", NAMES)
def test_raw_tables_go_in_as_they_are(name):
    raw, _, y = raw_and_one_hot(name)
    text = pd.read_csv(Path(FOLDER) / f"{name}.csv").drop(columns="target")  # text as text
    model = (BayesianTreeClassifier() if name.startswith("clf_") else BayesianTreeRegressor()).fit(raw, y)
    other = (BayesianTreeClassifier() if name.startswith("clf_") else BayesianTreeRegressor()).fit(text, y)
    assert model.get_n_leaves() > 1
    np.testing.assert_array_equal(model.apply(raw), other.apply(text))
    counts = np.bincount(model.apply(raw), minlength=model.tree_.node_count)
    leaves = model.tree_.is_leaf
    np.testing.assert_array_equal(counts[leaves], model.tree_.n_node_samples[leaves])
