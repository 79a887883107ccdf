"""The best pruning of every size, held to all prunings there are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, PartitionPrior, TreeSpaceClassifier, load
from baytree.tree import BestPrunings
from tests import strategies
from tests.comparison import all_prunings, assert_same_store, raw_frame


def assert_best_of_every_size(model):
    grown = model.grown_tree_
    if grown.n_leaves > 9:
        return
    prunings = list(all_prunings(grown))
    best = BestPrunings(grown)
    assert len(best.log_posterior) == grown.n_leaves
    for n_leaves, score in enumerate(best.log_posterior, start=1):
        of_size = {kept: value for value, kept in prunings if len(kept) == n_leaves - 1}
        close = 1e-8 * (1 + abs(score))
        assert_allclose(score, max(of_size.values()), atol=close)
        assert_allclose(of_size[frozenset(best.internal_nodes(n_leaves))], score, atol=close)
        assert_allclose(model.with_leaves(n_leaves).log_posterior_, score, atol=close)
        assert model.with_leaves(n_leaves).get_n_leaves() == n_leaves


@given(strategies.raw_problems())
def test_every_size_of_a_tree_of_classes_is_the_best(problem):
    X, y, weight, parameters = problem
    assert_best_of_every_size(BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight))


@given(strategies.real_problems(raw=True))
def test_every_size_of_a_tree_of_numbers_is_the_best(problem):
    X, name, y, weight, extras, _, parameters = problem
    model = BayesianTreeRegressor(outcome=name, calibrate=False, **parameters)
    assert_best_of_every_size(model.fit(X, y, sample_weight=weight, **extras))


@given(strategies.problems(prior=0.1, max_depth=None), st.integers(1, 6))
def test_a_limit_keeps_the_best_pruning_within_it(problem, max_leaf_nodes):
    X, y, weight, parameters = problem
    model = BayesianTreeClassifier(**parameters | {"prune": True, "max_leaf_nodes": max_leaf_nodes})
    model.fit(X, y, sample_weight=weight)
    if model.grown_tree_.n_leaves > 9:
        return
    allowed = [score for score, kept in all_prunings(model.grown_tree_) if len(kept) < max_leaf_nodes]
    assert model.get_n_leaves() <= max_leaf_nodes
    assert_allclose(model.log_posterior_, max(allowed), atol=1e-8 * (1 + abs(max(allowed))))


def large_tree():
    X, y = load_breast_cancer(return_X_y=True)
    return BayesianTreeClassifier(prior=0.05, partition_prior=PartitionPrior(0.999), prune=False).fit(X, y), X, y


def test_large_trees_have_a_pruning_of_every_size():
    model, *_ = large_tree()
    assert model.get_n_leaves() > 15
    best = BestPrunings(model.tree_)
    for n_leaves, score in enumerate(best.log_posterior, start=1):
        smaller = model.with_leaves(n_leaves)
        assert smaller.get_n_leaves() == n_leaves
        assert_allclose(smaller.log_posterior_, score, rtol=1e-12)
    few = BestPrunings(model.tree_, 0, 5)
    assert_array_equal(few.log_posterior, best.log_posterior[:5])
    assert few.internal_nodes(5) == best.internal_nodes(5)


def test_a_single_best_split_does_not_lead_away_from_the_best_tree():
    """Greedy growth takes the split of the larger gain first; the pair below the other one is worth more."""
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 40, axis=0).astype(float)
    X = np.column_stack([np.repeat([0.0, 1.0], 80), X])
    y = np.concatenate([np.tile([0, 1], 40), np.repeat([0, 1], 40)])
    model = BayesianTreeClassifier(max_leaf_nodes=3, prune=False).fit(X, y)
    assert model.log_posterior_ == max(s for s, kept in all_prunings(model.grown_tree_) if len(kept) == 2)


def test_a_refit_with_the_parameters_of_a_size_gives_the_same_tree():
    model, X, y = large_tree()
    smaller = model.with_leaves(6)
    assert smaller.get_params()["max_leaf_nodes"] == 6
    again = BayesianTreeClassifier(**smaller.get_params(deep=False)).fit(X, y)
    assert_same_store(again.tree_, smaller.tree_, but=("value",))  # which is calibrated anew


def test_files_keep_the_grown_tree_of_a_smaller_one(tmp_path):
    model, X, _ = large_tree()
    model.with_leaves(4).save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert_same_store(again.grown_tree_, model.tree_)
    assert_array_equal(again.with_leaves(7).predict_proba(X), model.with_leaves(7).predict_proba(X))


def test_leaves_that_a_limit_made_are_not_told_as_pruned_splits():
    model, X, _ = large_tree()
    smaller = model.with_leaves(2)
    assert smaller.tree_.log_odds_split[smaller.tree_.is_leaf].max() > 0
    assert all(e.pruned is None or e.pruned.log_odds <= 0 for e in smaller.explain(X[:40]))


def test_the_frame_lists_sizes_with_odds_against_the_best():
    model = BayesianTreeClassifier().fit(*load_iris(return_X_y=True))
    frame = model.sizes()
    assert frame.columns.tolist() == ["n_leaves", "log_posterior", "odds_against"]
    assert frame.n_leaves.tolist() == list(range(1, model.grown_tree_.n_leaves + 1))
    assert_allclose(np.log(frame.odds_against), frame.log_posterior.max() - frame.log_posterior, rtol=1e-9, atol=1e-9)
    assert model.sizes(max_leaves=2).odds_against.min() == 1


def test_the_loss_on_new_rows_is_that_of_each_size():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier().fit(X[:400], y[:400])
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X) - 400)
    frame = model.sizes(X[400:], y[400:], sample_weight=weight, n_folds=0)
    for n_leaves, loss in zip(frame.n_leaves, frame.loss, strict=True):
        proba = model.with_leaves(n_leaves).predict_proba(X[400:])
        assert_allclose(loss, log_loss(y[400:], proba, sample_weight=weight), rtol=1e-9)


def test_the_loss_of_numbers_is_that_of_their_predictive_densities():
    X, y = load_diabetes(return_X_y=True)
    model = BayesianTreeRegressor().fit(X[:300], y[:300])
    frame = model.sizes(X[300:], y[300:], n_folds=0)
    for n_leaves, loss in zip(frame.n_leaves, frame.loss, strict=True):
        mu, kappa, alpha, beta = model.with_leaves(n_leaves).posterior(X[300:]).T
        density = stats.t(2 * alpha, mu, np.sqrt(beta * (kappa + 1) / (alpha * kappa)))
        assert_allclose(loss, -density.logpdf(y[300:]).mean(), rtol=1e-9)


def test_the_loss_of_counts_uses_exposures():
    random = np.random.default_rng(0)
    X, exposure = random.normal(size=(300, 2)), random.uniform(0.5, 2, 300)
    y = random.poisson(exposure * np.where(X[:, 0] > 0, 4, 1))
    model = BayesianTreeRegressor(outcome="poisson").fit(X, y, exposure=exposure)
    frame = model.sizes(X, y, exposure=exposure, n_folds=0)
    shape, rate = model.posterior(X).T
    density = stats.nbinom(shape, rate / (rate + exposure)).logpmf(y)
    assert_allclose(frame.loss[model.get_n_leaves() - 1], -density.mean(), rtol=1e-9)


def test_both_ways_of_unseen_values_are_averaged_in_the_loss():
    frame, y = raw_frame()
    numbers = np.nan_to_num(frame["x"]) + np.random.default_rng(0).normal(size=len(y))
    model = BayesianTreeRegressor(unseen="average").fit(frame[["x", "noise"]].fillna(0), numbers)
    rows = frame[["x", "noise"]]
    assert rows["x"].isna().any()
    n_leaves = model.get_n_leaves()
    loss = model.sizes(rows, numbers, n_folds=0).loss[n_leaves - 1]
    weights, parameters = model.fitted_.posterior_mixture(model._read_all(rows))
    mu, kappa, alpha, beta = parameters.T
    scale = np.sqrt(beta * (kappa + 1) / (alpha * kappa))
    density = stats.t.pdf(numbers[:, None], 2 * alpha, mu, scale)
    assert n_leaves > 1
    assert_allclose(loss, -np.log((weights.toarray() * density).sum(axis=1)).mean(), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validated_losses_do_not_depend_on_the_order_of_the_rows(weighted):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(1).integers(1, 3, len(y)).astype(float) if weighted else None
    order = np.random.default_rng(0).permutation(len(y))
    model = BayesianTreeClassifier().fit(X, y, sample_weight=weight)
    frame = model.sizes(X, y, sample_weight=weight)
    other = model.sizes(X[order], y[order], sample_weight=None if weight is None else weight[order])
    pd.testing.assert_frame_equal(frame, other, rtol=1e-12)
    assert frame.loss.idxmin() >= 2
    assert (frame.loss_error > 0).all()


def test_cross_validated_rows_are_not_seen_by_the_tree_that_predicts_them():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 5)), random.integers(0, 2, 400)
    model = BayesianTreeClassifier(prior=0.05, partition_prior=0.999, prune=False, calibrate=False).fit(X, y)
    held_out, trained = model.sizes(X, y, max_leaves=10), model.sizes(X, y, max_leaves=10, n_folds=0)
    assert trained.loss[9] < np.log(2) < held_out.loss[9]


@pytest.mark.parametrize("options", [{"leaf": "linear"}, {"max_bins": 8}, {"partitions": "oblique"}, {"lookahead": 1}])
def test_every_kind_of_tree_has_sizes(options):
    X, y = load_diabetes(return_X_y=True)
    model = BayesianTreeRegressor(**options).fit(X, y)
    frame = model.sizes(X, y, n_folds=3)
    assert np.isfinite(frame.loss).all()
    assert frame.odds_against[model.get_n_leaves() - 1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X, y: m.with_leaves(99), "n_leaves is 99, but the grown tree has 4 leaves: give at most as many"),
        (lambda m, X, y: m.with_leaves(0), "n_leaves must be a whole number of at least 1; got 0"),
        (lambda m, X, y: m.sizes(X), "sizes needs X and y for the loss"),
        (lambda m, X, y: m.sizes(sample_weight=y), "sizes needs X and y for the loss"),
        (lambda m, X, y: m.sizes(X, y, n_folds=1), "n_folds is 1, but one fold leaves no other rows"),
        (lambda m, X, y: m.sizes(X, y % 2), "sizes needs the rows of the fit, but X and y have other classes"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        call(BayesianTreeClassifier().fit(X, y), X, y)


# Leaves that lead to one decision.


def assert_same_decisions(model, rows):
    merged = model.decision_tree()
    assert_array_equal(merged.predict(rows), model.predict(rows))
    tree, codes = merged.tree_, merged.fitted_.node_codes
    for node in tree.internal_nodes:
        left, right = tree.children_left[node], tree.children_right[node]
        are_leaves = tree.is_leaf[left] and tree.is_leaf[right]
        assert not (are_leaves and codes[left] == codes[right] == codes[node])
    return merged


@given(strategies.raw_problems(), st.sampled_from([None, 0.2, 0.7]))
def test_merged_leaves_decide_as_before(problem, threshold):
    X, y, weight, parameters = problem
    decision = threshold if len(np.unique(y)) == 2 else None
    model = BayesianTreeClassifier(decision=decision, **parameters | {"unseen": "majority"})
    model.fit(X, y, sample_weight=weight)
    rows = np.concatenate([X, np.where(np.isnan(X), 1.0, np.nan), X + 0.5 * (~np.isnan(X))])
    known = [np.isin(column, X[:, i]) | np.isnan(column) for i, column in enumerate(rows.T)]
    assert_same_decisions(model, rows[np.all(known, axis=0)])


def test_costs_merge_leaves_that_lead_to_one_decision():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier(decision={0: {1: 50}}).fit(X, y)
    merged = assert_same_decisions(model, X)
    assert merged.get_n_leaves() < model.get_n_leaves()
    assert merged.grown_tree_ is model.grown_tree_


def test_decision_trees_are_saved_and_explained(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    merged = BayesianTreeClassifier().fit(X, y).decision_tree()
    merged.save(tmp_path / "model.json")
    assert_array_equal(load(tmp_path / "model.json").predict(X), merged.predict(X))
    assert merged.explain(X[:5])[0].decision in ("0", "1")


def test_a_decision_tree_needs_one_way_and_one_decision_a_leaf():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="decision_tree needs unseen='majority'"):
        BayesianTreeClassifier(unseen="average").fit(X, y).decision_tree()
    with pytest.raises(ValueError, match="A decision tree holds one prediction for each leaf"):
        BayesianTreeClassifier(leaf="linear").fit(X, y).decision_tree()


# The plot.


def test_the_plot_marks_the_model_and_the_best_size():
    plot = pytest.importorskip("baytree.plot")
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier().fit(X, y)
    ax = plot.sizes(model, X, y)
    assert ax.get_xlabel() == "leaves"
    assert "held-out" in ax.get_ylabel()
    texts = [text.get_text() for text in ax.texts]
    assert "1:1" in texts
    alone = plot.sizes(model)
    assert alone.get_ylabel() == "odds of the best size"
    with pytest.raises(TypeError, match="sizes are those of a single tree"):
        plot.sizes(TreeSpaceClassifier(max_nodes=10).fit(X, y))


def test_the_plot_takes_a_pipeline():
    plot = pytest.importorskip("baytree.plot")
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), BayesianTreeClassifier()).fit(X, y)
    assert plot.sizes(pipeline, X, y, n_folds=3).get_title().startswith("How many leaves?")
    with pytest.raises(TypeError, match="model must be a tree"):
        plot.sizes(LogisticRegression(max_iter=1000).fit(X, y))
