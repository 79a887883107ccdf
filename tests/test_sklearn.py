"""The estimators behave as scikit-learn's own do."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    PartitionPrior,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from tests.comparison import assert_same_store

FITTED_NAMES = [
    "classes_",
    "feature_importances_",
    "feature_names_in_",
    "feature_posterior_",
    "log_evidence_",
    "log_posterior_",
    "n_features_in_",
    "tree_",
]


UNUSUAL = [
    BayesianTreeClassifier(prior=0.5, smoothing=0.2),
    BayesianTreeClassifier(partition_prior=PartitionPrior(proper=False, by_depth=False)),
    BayesianTreeClassifier(partition_prior=PartitionPrior(location="distance")),
    BayesianTreeClassifier(max_depth=3, max_leaf_nodes=5, min_weight_fraction_leaf=0.01),
    BayesianTreeClassifier(n_jobs=2),
    BayesianTreeClassifier(prior="evidence"),
    BayesianTreeClassifier(lookahead=1, max_depth=4),
    BayesianTreeClassifier(partitions="oblique"),
    BayesianTreeRegressor(smoothing=0.2, partition_prior=PartitionPrior(location="distance"), n_jobs=2),
    BayesianTreeRegressor(prior="evidence", max_depth=4, max_leaf_nodes=8),
    BayesianTreeRegressor(outcome="exponential"),
    BayesianTreeRegressor(partitions="oblique"),
    TreeSpaceClassifier(space="prunings", prior="evidence"),
    TreeSpaceRegressor(space="roots", max_nodes=50, n_jobs=2),
    BayesianForestClassifier(3, partitions="axis", bootstrap="resample", max_features=0.5, n_jobs=2),
]
# What parameters may change; names, tags, types of input and errors are those of the class.
OF_PARAMETERS = {
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimator_sparse_matrix",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit1d",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_readonly_memmap_input",
    "check_regressors_train",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_shape",
}
IGNORED = ("ignore:Intervals are not calibrated", "ignore:.* rows are equal to another one")


@parametrize_with_checks(
    [
        BayesianTreeClassifier(),
        BayesianTreeRegressor(),
        TreeSpaceClassifier(),
        TreeSpaceRegressor(),
        BayesianForestClassifier(),
        BayesianForestRegressor(),
        BayesianTreeClassifier(leaf="linear"),
        BayesianTreeRegressor(leaf="linear"),
    ]
)
@pytest.mark.filterwarnings(*IGNORED)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def checks_of_parameters():
    """Each estimator with unusual parameters, and the checks of scikit-learn's that these could fail."""
    for unusual in UNUSUAL:
        for estimator, check in estimator_checks_generator(unusual):
            if check.func.__name__ in OF_PARAMETERS:
                yield pytest.param(estimator, check, id=f"{estimator}-{check.func.__name__}")


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_parameters()))
@pytest.mark.filterwarnings(*IGNORED)
def test_scikit_learn_check_of_unusual_parameters(estimator, check):
    check(estimator)


def unusual_model():
    return BayesianTreeClassifier(
        prior=[0.5, 2.0, 1.0],
        partition_prior=PartitionPrior(split=0.9, by_depth=False),
        feature_prior=np.arange(1.0, 5.0),
        smoothing=0.1,
        class_weight={0: 2.0},
        max_depth=4,
    )


def test_clone_has_equal_parameters_and_no_fit():
    model = unusual_model().fit(*load_iris(return_X_y=True))
    cloned = clone(model)
    assert vars(cloned).keys() == model.get_params(deep=False).keys()
    for name, value in model.get_params().items():
        assert_array_equal(cloned.get_params()[name], value)


def test_parameters_set_are_parameters_got():
    model = BayesianTreeClassifier().set_params(**unusual_model().get_params(deep=False))
    assert model.partition_prior == PartitionPrior(split=0.9, by_depth=False)
    assert model.prior == [0.5, 2.0, 1.0]
    assert_array_equal(model.feature_prior, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="no_such_parameter"):
        model.set_params(no_such_parameter=1)


def test_init_stores_its_arguments_as_they_are():
    arguments = {name: object() for name in BayesianTreeClassifier().get_params(deep=False)}
    model = BayesianTreeClassifier(**arguments)
    assert all(getattr(model, name) is value for name, value in arguments.items())


def test_nothing_is_fitted_before_fit():
    model = BayesianTreeClassifier()
    assert vars(model).keys() == model.get_params(deep=False).keys()
    assert [name for name in FITTED_NAMES if hasattr(model, name)] == []


def test_everything_is_fitted_after_fit():
    model = BayesianTreeClassifier().fit(*load_iris(return_X_y=True, as_frame=True))
    assert [name for name in FITTED_NAMES if not hasattr(model, name)] == []


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_a_copy_predicts_the_same_bit_for_bit(copied):
    X, y = load_iris(return_X_y=True)
    model = unusual_model().fit(X, y)
    same = copied(model)
    assert_array_equal(same.predict_proba(X), model.predict_proba(X), strict=True)
    assert_same_store(model.tree_, same.tree_, strict=True)


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_a_copied_tree_is_read_only_too(copied):
    tree = copied(BayesianTreeClassifier().fit(*load_iris(return_X_y=True))).tree_
    leaves = {name: getattr(tree.leaves, name) for name in ("prior", "statistics", "posterior", "value")}
    arrays = tree.arrays() | leaves
    assert [name for name, array in arrays.items() if array.flags.writeable] == []


def test_grid_search_by_roc_auc_scores_every_candidate():
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"prior": [None, 1.0], "partition_prior": [0.5, PartitionPrior(by_depth=False)]}
    search = GridSearchCV(BayesianTreeClassifier(), grid, scoring="roc_auc", cv=3).fit(X, y)
    assert np.all(search.cv_results_["mean_test_score"] > 0.85)


def test_a_pipeline_passes_weights_on():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    pipeline = make_pipeline(StandardScaler(), BayesianTreeClassifier())
    pipeline.fit(X, y, bayesiantreeclassifier__sample_weight=weight)
    alone = BayesianTreeClassifier().fit(pipeline[0].transform(X), y, sample_weight=weight)
    assert_array_equal(pipeline.predict_proba(X), alone.predict_proba(pipeline[0].transform(X)))


def test_cross_val_predict_gives_probabilities():
    X, y = load_iris(return_X_y=True)
    proba = cross_val_predict(BayesianTreeClassifier(prior=1.0), X, y, method="predict_proba", cv=3)
    assert proba.shape == (150, 3)
    assert_allclose(proba.sum(axis=1), 1)
    assert np.mean(proba.argmax(axis=1) == y) > 0.9


def test_score_is_weighted_accuracy():
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(max_depth=1).fit(X, y)
    weight = np.arange(150.0)
    assert model.score(X, y, weight) == accuracy_score(y, model.predict(X), sample_weight=weight)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "virginica"]),
        np.array(["b", "ab", "a"], dtype=object),
        np.array([7, -3, 100], dtype=np.int16),
        np.array([2**62, -5, 0]),
        np.array([0.0, -1.0, 5.0]),
        np.array([3, 200, 255], dtype=np.uint8),
    ],
    ids=lambda labels: f"{labels.dtype}",
)
def test_labels_of_any_kind_come_back(labels):
    X, codes = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(prior=1.0).fit(X, labels[codes])
    assert_array_equal(model.classes_, np.sort(labels), strict=True)
    predicted = model.predict(X)
    assert predicted.dtype == labels.dtype
    assert np.mean(predicted == labels[codes]) > 0.95
    of_class = np.argsort(np.argsort(labels))  # column of each label
    plain = BayesianTreeClassifier(prior=1.0).fit(X, of_class[codes])
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_boolean_labels_come_back():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier().fit(X, y == 1)
    assert_array_equal(model.classes_, [False, True], strict=True)
    assert model.predict(X).dtype == bool
    assert_array_equal(model.predict(X), BayesianTreeClassifier().fit(X, y).predict(X) == 1)


@pytest.mark.parametrize("dtype", [None, "category", "string"])
def test_labels_of_a_series_come_back(dtype):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["one", "two", "three"])[y]
    model = BayesianTreeClassifier(prior=1.0).fit(X, pd.Series(labels, dtype=dtype))
    assert list(model.classes_) == ["one", "three", "two"]
    assert np.mean(model.predict(X) == labels) > 0.95


def test_column_names_are_kept_and_checked():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BayesianTreeClassifier().fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={X.columns[0]: "other"}))


def test_a_refit_on_an_array_forgets_the_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BayesianTreeClassifier().fit(X, y).fit(X.to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")


def test_a_refit_equals_a_first_fit():
    X, y = load_iris(return_X_y=True)
    first = BayesianTreeClassifier().fit(X, y)
    again = BayesianTreeClassifier().fit(X[:, :2], y > 0).fit(X, y)
    assert vars(again).keys() == vars(first).keys()
    assert_array_equal(again.predict_proba(X), first.predict_proba(X))


def test_html_is_shown_before_and_after_fit():
    model = unusual_model()
    assert "BayesianTreeClassifier" in model._repr_html_()
    assert "BayesianTreeClassifier" in model.fit(*load_iris(return_X_y=True))._repr_html_()
