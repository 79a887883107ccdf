"""Parameters in all the forms in which they may be given."""

from __future__ import annotations

import inspect
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    PartitionPrior,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)

ESTIMATORS = [
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    BayesianForestClassifier,
    BayesianForestRegressor,
]

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")


def test_parameters_have_the_same_order_in_all_estimators():
    orders = [list(inspect.signature(estimator).parameters) for estimator in ESTIMATORS]
    for one, other in combinations(orders, 2):
        assert [name for name in one if name in other] == [name for name in other if name in one]


def test_the_partition_prior_can_be_searched():
    grid = {"partition_prior__split": [0.5, 0.99], "partition_prior__by_depth": [True, False]}
    search = GridSearchCV(BayesianTreeClassifier(), grid, cv=2).fit(X, Y)
    assert isinstance(search.best_estimator_.partition_prior, PartitionPrior)
    assert search.best_estimator_.partition_prior.split in (0.5, 0.99)


def test_deep_parameters_belong_to_the_copy_alone():
    model = BayesianTreeRegressor(partition_prior=PartitionPrior(split=0.7))
    other = clone(model).set_params(partition_prior__split=0.9, max_depth=2)
    assert model.partition_prior.split == 0.7
    assert other.partition_prior == PartitionPrior(split=0.9)
    assert other.get_params()["partition_prior__split"] == 0.9
    assert "partition_prior__split" not in other.get_params(deep=False)
    with pytest.raises(ValueError, match="PartitionPrior has no parameter 'spilt'"):
        other.set_params(partition_prior__spilt=0.1)


@pytest.mark.parametrize("partitions", ["axis", "oblique"])
@pytest.mark.parametrize("form", [lambda X: X, pd.DataFrame, sparse.csr_matrix])
def test_a_zero_leaves_a_feature_out(form, partitions):
    model = BayesianTreeClassifier(prior=0.1, feature_prior=[0, 1, 2], partitions=partitions).fit(form(X), Y)
    without = BayesianTreeClassifier(prior=0.1, feature_prior=[1, 2], partitions=partitions).fit(form(X[:, 1:]), Y)
    assert 0 not in model.tree_.used_features
    assert_array_equal(model.predict(form(X)), without.predict(form(X[:, 1:])))
    assert_allclose(model.log_posterior_, without.log_posterior_)
    assert model.feature_posterior_[0] == 0


def test_a_zero_by_name():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert 0 not in TreeSpaceClassifier(feature_prior={"a": 0}, max_nodes=50).fit(frame, Y).space_.used_features
    with pytest.raises(ValueError, match="feature_prior is zero throughout"):
        BayesianTreeClassifier(feature_prior=[0, 0, 0]).fit(X, Y)
    with pytest.raises(ValueError, match="feature_prior"):
        BayesianTreeClassifier(feature_prior=[0, -1, 1]).fit(X, Y)


def test_a_prior_by_label():
    by_label = BayesianTreeClassifier(prior={"yes": 3.0, "no": 1.0}).fit(X, Y)
    assert_array_equal(by_label.prior_, [1.0, 3.0])
    with pytest.raises(ValueError, match="prior names the class 'perhaps', which is not one of the classes"):
        BayesianTreeClassifier(prior={"yes": 3.0, "perhaps": 1.0}).fit(X, Y)
    with pytest.raises(ValueError, match="prior lacks the class 'no'"):
        BayesianTreeClassifier(prior={"yes": 3.0}).fit(X, Y)


def test_the_prior_of_the_paper():
    assert_array_equal(BayesianTreeClassifier(prior="paper").fit(X, Y).prior_, [10.0, 10.0])
    assert_array_equal(TreeSpaceClassifier(prior="paper", max_nodes=5).fit(X, Y).prior_, [10.0, 10.0])
