"""Whatever is wrong with the input, one sentence says so and nothing changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from baytree import BayesianTreeClassifier, PartitionPrior, partition_space
from baytree.export import to_dict, to_text

X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]] * 5)
Y = np.array([0, 0, 1, 1] * 5)
HUGE = 2**70  # beyond what the compiled core can count to
NAN = float("nan")

BAD_PARAMETERS = [
    (
        "prior",
        [0, -1.0, NAN, np.inf, "flat", True, [1.0], [1.0, 2.0, 3.0], [1.0, 0.0], [1.0, NAN], [[1.0, 1.0]], {0: 1}],
    ),
    ("partition_prior", [0, 1, -0.1, 1.5, NAN, "0.5", None, True, [0.5], PartitionPrior]),
    ("feature_prior", [[1.0], [1.0, 1.0, 1.0], [0.0, 0.0], [1.0, -1.0], [1.0, NAN], [1.0, np.inf], 3.0, "ab"]),
    ("smoothing", [-0.1, NAN, np.inf, "a", None]),
    ("max_depth", [-1, 1.5, "2", True]),
    ("min_samples_leaf", [0, -1, 1.5, None]),
    ("min_weight_fraction_leaf", [-0.1, 0.6, NAN, None]),
    ("max_leaf_nodes", [0, -3, 2.5, "a"]),
    ("n_jobs", [0, 1.5, "2"]),
    ("class_weight", [{2: 1.0}, {"0": 1.0}, [1, 2], {0: -1.0}, {0: NAN}, {0: "a"}, {0: 0, 1: 0}, "uniform", 2.0]),
]

METHODS = {
    "predict": lambda model, X: model.predict(X),
    "predict_proba": lambda model, X: model.predict_proba(X),
    "predict_log_proba": lambda model, X: model.predict_log_proba(X),
    "predict_interval": lambda model, X: model.predict_interval(X),
    "predict_quantiles": lambda model, X: model.predict_quantiles(X, [0.5]),
    "predict_dist": lambda model, X: model.predict_dist(X),
    "posterior": lambda model, X: model.posterior(X),
    "apply": lambda model, X: model.apply(X),
    "decision_path": lambda model, X: model.decision_path(X),
    "explain": lambda model, X: model.explain(X),
    "score": lambda model, X: model.score(X, Y[: len(X)]),
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def fitted():
    return BayesianTreeClassifier(prior=1.0).fit(X, Y)


def bad(cases):
    return [pytest.param(name, value, id=f"{name}={value!r}") for name, values in cases for value in values]


def assert_one_sentence(error, words):
    """The message is a single line and says what it is about."""
    assert type(error) in (ValueError, TypeError)
    assert "\n" not in str(error)
    assert words in str(error)


def assert_fit_refused(model, words, X=X, y=Y, sample_weight=None):
    """Fitting fails with one sentence, and every attribute is the very object it was."""
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError)) as caught:
        model.fit(X, y, sample_weight=sample_weight)
    assert_one_sentence(caught.value, words)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize(("name", "value"), bad(BAD_PARAMETERS))
def test_a_bad_parameter_is_named_and_the_old_fit_stays(name, value):
    model = fitted()
    good, proba = model.get_params()[name], model.predict_proba(X)
    model.set_params(**{name: value})
    assert_fit_refused(model, name)
    assert_array_equal(model.set_params(**{name: good}).predict_proba(X), proba)


@pytest.mark.parametrize("name", ["max_depth", "min_samples_leaf", "max_leaf_nodes"])
def test_a_limit_beyond_all_tables_is_a_limit(name):
    """Nothing is deeper or larger than 2 ** 70: a tree without that limit, or a single leaf."""
    model = BayesianTreeClassifier(prior=1.0, **{name: HUGE}).fit(X, Y)
    assert model.get_n_leaves() == (1 if name == "min_samples_leaf" else fitted().get_n_leaves())


def test_more_threads_than_can_be_are_refused():
    assert_fit_refused(BayesianTreeClassifier(n_jobs=HUGE), "n_jobs")


@pytest.mark.parametrize("value", [np.zeros(60), np.full(60, "one")], ids=["zeros", "strings"])
def test_the_message_about_a_long_array_is_one_line(value):
    wide = np.random.default_rng(0).normal(size=(20, 60))
    assert_fit_refused(BayesianTreeClassifier(feature_prior=value), "feature_prior", X=wide)
    assert_fit_refused(BayesianTreeClassifier(prior=value), "prior", X=np.ones((180, 1)), y=np.arange(180) % 60)
    assert_fit_refused(BayesianTreeClassifier(class_weight=value), "class_weight")


def test_a_prior_whose_sum_overflows_is_refused():
    assert_fit_refused(BayesianTreeClassifier(prior=1.5e308), "prior")


@pytest.mark.parametrize(
    ("name", "value"),
    bad(
        [
            ("split", [0, 1, -0.5, NAN, "0.5", None, True]),
            ("location", ["log", None, 3]),
            ("by_depth", [1, "yes", None]),
            ("proper", [0, "no", None]),
            ("subsets", [0, 0.5, "yes", None]),
            ("choose", ["threshold", None, True]),
        ]
    ),
)
def test_a_bad_field_of_the_partition_prior_is_named(name, value):
    with pytest.raises((ValueError, TypeError)) as caught:
        PartitionPrior(**{name: value})
    assert_one_sentence(caught.value, name)


@pytest.mark.parametrize(
    "weight",
    [
        np.append(np.ones(19), -1.0),
        np.append(np.ones(19), NAN),
        np.append(np.ones(19), np.inf),
        np.zeros(20),
        np.ones(19),
        np.ones((20, 1)),
        ["a"] * 20,
        "balanced",
        -1.0,
    ],
    ids=["negative", "nan", "inf", "zero", "short", "matrix", "strings", "string", "negative number"],
)
def test_bad_weights_are_refused(weight):
    assert_fit_refused(fitted(), "sample_weight", sample_weight=weight)


def test_weights_whose_sum_overflows_are_refused():
    assert_fit_refused(fitted(), "sample_weight", sample_weight=np.full(20, 1e308))


@pytest.mark.parametrize(("value", "words"), [(np.inf, "inf"), (-np.inf, "-inf")])
def test_what_is_infinite_is_named_by_column(value, words):
    broken = X.copy()
    broken[7, 1] = value
    for table, column in [(broken, "Column 1 "), (pd.DataFrame(broken, columns=["age", "income"]), "Column 'income' ")]:
        assert_fit_refused(fitted(), column, X=table)
        assert_fit_refused(fitted(), words, X=table)
        assert_fit_refused(fitted(), "row 7", X=table)


def test_finite_values_that_sum_to_infinity_are_fine():
    large = np.where(X > 1, 1.7e308, X)
    assert_array_equal(BayesianTreeClassifier(prior=1.0).fit(large, Y).predict(large), Y)


@every_method
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("column", [0, 1])
def test_predicting_from_what_is_infinite_names_the_column(method, value, column):
    """In an array also in a column that the tree does not use; in a frame such a column is not read."""
    model, rows = fitted(), X.copy()
    names = ["age", "income"]
    framed = BayesianTreeClassifier(prior=1.0).fit(pd.DataFrame(X, columns=names), Y)
    rows[-1, column] = value
    with pytest.raises(ValueError, match="Column") as caught:
        method(model, rows)
    assert_one_sentence(caught.value, f"Column {column} ")
    if column not in framed.tree_.feature and method is not METHODS["explain"]:
        method(framed, pd.DataFrame(rows, columns=names))
        return
    with pytest.raises(ValueError, match="Column") as caught:
        method(framed, pd.DataFrame(rows, columns=names))
    assert_one_sentence(caught.value, f"Column {names[column]!r} ")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_last_of_many_rows_is_looked_at(n_jobs):
    rows = np.tile(X, (1000, 1))
    rows[-1, 1] = np.inf
    with pytest.raises(ValueError, match=r"Column 1 .* row 19999"):
        fitted().set_params(n_jobs=n_jobs).predict(rows)


def test_a_tree_of_one_leaf_still_refuses_what_is_infinite():
    model = BayesianTreeClassifier().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="Column 1 "):
        model.predict([[0.0, np.inf]])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.empty((0, 2)), "0 sample"),
        (np.empty((20, 0)), "0 feature"),
        (np.ones((20, 2, 2)), "dim 3"),
        (np.array(3.0), "scalar"),
        (X[:, 0], "1D array"),
        (X + 1j, "Complex"),
    ],
    ids=["no rows", "no columns", "3-d", "0-d", "1-d", "complex"],
)
def test_tables_that_are_none_are_refused(table, words):
    """These messages are scikit-learn's, some of several lines."""
    model = fitted()
    before = dict(vars(model))
    with pytest.raises(ValueError, match=words):
        model.fit(table, Y[: len(table)] if table.ndim else Y)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (Y[:-1], "inconsistent numbers of samples"),
        (np.linspace(0, 1, 20), "continuous"),
        (np.append(Y[:-1], NAN), "y contains NaN"),
        (np.ones((20, 2)), "y should be a 1d array"),
        (None, "y"),
        (np.array([1, "a"] * 10, dtype=object), "label"),
        (np.array(["a", None] * 10, dtype=object), "y "),
    ],
    ids=["short", "continuous", "nan", "matrix", "None", "mixed", "with None"],
)
def test_labels_that_are_none_are_refused(y, words):
    assert_fit_refused(fitted(), words, y=y)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_too_many_classes_are_refused():
    n = 2**16 + 1
    assert_fit_refused(fitted(), "classes", X=np.zeros((n, 1)), y=np.arange(n), sample_weight=np.ones(n))


@every_method
def test_predicting_before_fitting_is_refused(method):
    model = BayesianTreeClassifier()
    with pytest.raises(NotFittedError):
        method(model, X)
    assert vars(model).keys() == model.get_params(deep=False).keys()


@pytest.mark.parametrize(
    "use",
    [
        lambda model, path: model.get_depth(),
        lambda model, path: model.get_n_leaves(),
        lambda model, path: model.feature_importances_,
        lambda model, path: model.feature_posterior_,
        lambda model, path: model.log_posterior_,
        lambda model, path: model.log_evidence_,
        lambda model, path: model.save(path),
        lambda model, path: to_dict(model),
        lambda model, path: to_text(model),
    ],
)
def test_using_a_tree_before_fitting_is_refused(use, tmp_path):
    with pytest.raises(NotFittedError):
        use(BayesianTreeClassifier(), tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


@every_method
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (X[:, :1], "X has 1 features"),
        (np.hstack([X, X]), "X has 4 features"),
        (X[0], "1D array"),
        (X[:0], "0 sample"),
    ],
    ids=["fewer", "more", "1-d", "no rows"],
)
def test_predicting_from_other_columns_is_refused(method, rows, words):
    with pytest.raises(ValueError, match=words):
        method(fitted(), rows)


@every_method
@pytest.mark.parametrize("names", [["age", "wealth"], ["income", "age"]])
def test_predicting_from_columns_of_other_names_is_refused(method, names):
    model = BayesianTreeClassifier(prior=1.0).fit(pd.DataFrame(X, columns=["age", "income"]), Y)
    with pytest.raises(ValueError, match="feature names"):
        method(model, pd.DataFrame(X, columns=names))


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, NAN, "0.9", None, [0.9]])
def test_a_bad_level_is_named(level):
    with pytest.raises((ValueError, TypeError)) as caught:
        fitted().predict_interval(X, level=level)
    assert_one_sentence(caught.value, "level")


@pytest.mark.parametrize("quantiles", [-0.1, 1.1, [0.5, NAN], [[0.1, 0.2]], None, "half", ["0.5", "x"], {}])
def test_bad_quantiles_are_named(quantiles):
    with pytest.raises((ValueError, TypeError)) as caught:
        fitted().predict_quantiles(X, quantiles)
    assert_one_sentence(caught.value, "quantiles")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"prior": -1.0}, "prior"),
        ({"prior": [1.0]}, "prior"),
        ({"partition_prior": 1.0}, "partition_prior"),
        ({"feature_prior": [1.0]}, "feature_prior"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"sample_weight": np.zeros(20)}, "sample_weight"),
        ({"X": np.where(X == 7, np.inf, X)}, "Column 1 "),
        ({"X": pd.DataFrame(np.where(X == 7, np.inf, X), columns=["age", "income"])}, "Column 'income' "),
        ({"y": np.linspace(0, 1, 20)}, "different numbers"),
        ({"y": np.linspace(0, 1, 20), "outcome": "categorical"}, "continuous"),
        ({"y": Y[:-1]}, "inconsistent numbers of samples"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_partition_space_of_bad_input_is_refused(arguments, words):
    with pytest.raises((ValueError, TypeError)) as caught:
        partition_space(**{"X": X, "y": Y} | arguments)
    assert_one_sentence(caught.value, words)
