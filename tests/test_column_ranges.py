"""The range of the numbers of each column in training: found at every fit, kept in files, checked there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from baytree import BayesianTreeClassifier
from baytree.export import from_dict
from tests.documents import assert_damaged, document, signed


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csc_matrix, sparse.csr_matrix])
def test_columns_know_the_range_of_their_numbers(as_matrix):
    X = np.zeros((1000, 4))
    X[:, 0] = np.arange(1000) - 3
    X[:, 1] = X[:, 0] / 2
    X[999, 2] = 0.5  # long after the first rows
    X[5, 3] = -7
    weight = np.ones(1000)
    weight[0] = 0  # a row of weight zero is no row of the training table
    model = BayesianTreeClassifier(max_depth=2).fit(as_matrix(X), np.arange(1000) > 400, sample_weight=weight)
    ranges = [(column.low, column.high, column.is_integer) for column in model.schema_.columns]
    assert ranges == [(-2, 996, True), (-1, 498, False), (0, 0.5, False), (-7, 0, True)]


def test_missing_values_categories_and_columns_without_values_have_no_part_in_ranges():
    X = pd.DataFrame({"a": [1.0, np.nan, 5.0], "b": list("xyx"), "c": [True, False, True], "d": [np.nan] * 3})
    columns = BayesianTreeClassifier().fit(X, [0, 1, 0]).schema_.columns
    assert [(column.low, column.high, column.is_integer) for column in columns] == [
        (1, 5, True),
        *[(None, None, False)] * 3,
    ]


@pytest.mark.parametrize(
    "numbers",
    [
        [1.0, 2.0],
        [2.0, 1.0, False],
        [1, 2.0, False],
        [1.0, {"float": "nan"}, False],
        [1.0, 2.0, 1],
        [1.5, 2.0, True],
        "text",
        {},
    ],
    ids=str,
)
def test_a_range_of_numbers_that_is_wrong_is_refused(numbers):
    changed = document()
    assert from_dict(signed(changed)).schema_.columns[0].low is not None
    changed["schema"]["numbers"][0] = numbers
    assert_damaged(changed)


def test_only_columns_of_numbers_have_a_range():
    changed = document()
    changed["schema"]["numbers"][3] = [0.0, 1.0, True]
    assert_damaged(changed)


def test_files_without_ranges_are_read():
    changed = document()
    del changed["schema"]["numbers"]
    assert from_dict(signed(changed)).schema_.columns[0].low is None


@pytest.mark.parametrize(
    "options", [{"monotonic_cst": {"AGE": 2}}, {"feature_prior": {"AGE": -1.0}}, {"monotonic_cst": {"AGE": 1, 0: 1}}]
)
def test_errors_write_the_names_of_columns_as_the_table_does(options):
    X = pd.DataFrame({"AGE": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="column 'AGE'"):
        BayesianTreeClassifier(**options).fit(X, [0, 1, 0])
