"""Given trees on other rows: what their nodes hold, in memory and at a source, against loops over the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor
from baytree.estimators._fit import prepare
from baytree.estimators._prior_search import settle_outcome
from baytree.growth import HistogramData, TableData, add_rows, held_out_log_likelihood, refit
from baytree.leaves import ConstantLeaves
from baytree.sources import TableSpec, open_source
from tests import strategies
from tests.comparison import LEAF_ARRAYS, assert_same_store, oracle_settings
from tests.reference import outcomes, route
from tests.reference.given import nodes_of as given_nodes
from tests.reference.tree import Problem, feature_posterior, log_odds_split
from tests.sources import OUTCOMES, divided, model_of, table_of

FIGURES = (*LEAF_ARRAYS, "log_prior_leaf", "log_prior_split", "log_odds_split", "feature_posterior")
EXTRAS = {"poisson": "exposure", "negative_binomial": "exposure", "exponential": "event"}


def in_memory(model, frame, names):
    """The rows of a frame as a fit of the model reads them."""
    table = frame.drop(columns=["y", *names.values()])
    extras = {name: frame[names[name]] if name in names else None for name in ("exposure", "event")}
    weight = frame[names["weight"]] if "weight" in names else None
    source = model._memory_source(table, frame["y"], weight, extras)
    return prepare(model, source, model._target_reader())


def in_batches(model, frame, names):
    """Read the rows in parts of different sizes and in another order."""
    beside = {"target": "y", "weight": None, "exposure": None, "event": None} | names
    specs = TableSpec.read(None, None, None, ["y", *names.values()])
    parts = divided(frame, 4)
    source = open_source(lambda: iter(parts), beside, specs, cache=False)
    return prepare(model, source, model._target_reader())


def settled(outcome, *, weighted, n=600, **parameters):
    """The rows in memory and in batches, with the outcome that a fit of them finds, and an oracle of it."""
    model = model_of(outcome, **parameters)
    frame, names = table_of(outcome, weighted=weighted, n=n)
    memory, batches = in_memory(model, frame, names), in_batches(model, frame, names)
    fitted = settle_outcome(memory.family, None, memory.data)
    return memory.data, batches.data, fitted, oracle_of(outcome, memory.data.target)


def oracle_of(outcome, target):
    """Closed forms in plain Python, with the rows as they were read."""
    weight = [1.0] * len(target.y) if target.weight is None else target.weight.tolist()
    if outcome == "classes":
        return outcomes.Categorical(target.y.tolist(), weight, 3)
    extras = {EXTRAS[outcome]: target.extras[EXTRAS[outcome]].tolist()} if outcome in EXTRAS else {}
    more = {"dispersion": 0.5} if outcome == "negative_binomial" else {}
    return outcomes.REAL[outcome](target.y.tolist(), weight, **extras, **more)


def rows_of_nodes(tree, rows):
    """The rows that pass each node of a tree."""
    result = [[] for _ in range(tree.node_count)]
    for i, row in enumerate(rows.dense()):
        for node in route.path_of(tree, row):
            result[node].append(i)
    return result


def assert_has_the_rows(tree, rows, oracle):
    """Compare what every node of a tree has of some rows with a loop over them."""
    for node, inside in enumerate(rows_of_nodes(tree, rows)):
        prior = tree.prior[node].tolist()
        assert tree.n_node_samples[node] == len(inside)
        assert_allclose(
            tree.weighted_n_node_samples[node], sum(oracle.weight[i] for i in inside), rtol=1e-12, atol=1e-12
        )
        assert_allclose(tree.posterior[node], oracle.update(inside, prior), rtol=1e-8)
        assert_allclose(tree.log_likelihood[node], oracle.log_likelihood(inside, prior), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_leaf_sums_are_the_same_at_a_source_and_in_memory(outcome, weighted):
    memory, batches, fitted, _ = settled(outcome, weighted=weighted)
    assert (type(memory), type(batches)) == (TableData, HistogramData)
    tree = memory.grow(fitted)
    assert tree.n_leaves > 3
    there, here = batches.leaf_sums(tree, fitted), memory.leaf_sums(tree, fitted)
    assert there.n_rows.tolist() == here.n_rows.tolist() == tree.n_node_samples[tree.is_leaf].tolist()
    assert_array_equal(there.statistics, tree.leaves.statistics[tree.is_leaf])  # sums of whole numbers, to the last bit
    assert_allclose(here.statistics, there.statistics, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_a_tree_on_its_own_rows_is_the_tree(outcome, weighted, smoothing):
    memory, batches, fitted, oracle = settled(outcome, weighted=weighted, smoothing=smoothing)
    for data in (batches, memory):
        tree = data.grow(fitted)
        again = refit(tree, data, fitted)
        assert_same_tree(again, tree)
        assert_has_the_rows(again, memory.rows, oracle)
    assert_same_tree(refit(batches.grow(fitted), memory, fitted), batches.grow(fitted))


def assert_same_tree(one, other, but=()):
    """Two trees have the same splits, and the same figures but for rounding."""
    assert_same_store(one, other, but=(*FIGURES, "statistics", "split_likelihood"))
    for name in set(FIGURES) - set(but):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("parameters", [{"max_bins": 16}, {"lookahead": 1}, {"partitions": "oblique"}])
@pytest.mark.parametrize("outcome", ["classes", "normal"])
def test_every_kind_of_tree_on_its_own_rows_is_the_tree(outcome, parameters):
    model = model_of(outcome, prune=False, **{"max_bins": None} | parameters)
    frame, names = table_of(outcome, weighted=True, n=300)
    prepared = in_memory(model, frame, names)
    data, fitted = prepared.data, settle_outcome(prepared.family, None, prepared.data)
    tree = data.grow(fitted)
    assert tree.n_leaves > 3
    # Looking ahead, the odds of a split are those of what it leads to; of equal hyperplanes another may be found.
    but = {"lookahead": ("log_odds_split", "feature_posterior"), "partitions": ("feature_posterior",)}
    assert_same_tree(refit(tree, data, fitted), tree, but.get(next(iter(parameters)), ()))


@strategies.examples(5)
@given(strategies.raw_problems(), st.data())
def test_a_tree_on_other_rows_equals_the_oracle(problem, data):
    X, y, weight, parameters = problem
    drawn = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=len(X)))
    parameters = parameters | {"monotonic_cst": None, "max_leaf_nodes": None, "prune": False}
    model = BayesianTreeClassifier(**parameters)
    prepared = prepare(model, model._memory_source(X, y, weight, {}), model._target_reader())
    fitted = settle_outcome(prepared.family, parameters["prior"], prepared.data)
    tree = prepared.data.grow(fitted)
    refitted = refit(tree, prepared.data.take(np.array(drawn)), fitted)

    weight = [1.0] * len(y) if weight is None else weight
    oracle = outcomes.Categorical(y[drawn].tolist(), [weight[i] for i in drawn], len(np.unique(y)))
    matrix = prepared.data.rows.matrix[drawn].tolist()
    assert_scored_as(
        refitted, given_nodes(tree, Problem(matrix, oracle, oracle_settings(fitted.prior, parameters))), oracle
    )


def assert_scored_as(tree, nodes, oracle):
    """Compare every figure of a tree with the oracle's."""
    close = {"rtol": 1e-9, "atol": 1e-9}
    assert_array_equal(tree.n_node_samples, [len(node.rows) for node in nodes])
    assert_allclose(tree.prior, [node.prior for node in nodes], **close)
    assert_allclose(tree.posterior, [oracle.update(node.rows, node.prior) for node in nodes], **close)
    assert_allclose(tree.log_likelihood, [node.partitions[0].log_likelihood for node in nodes], **close)
    assert_allclose(tree.log_prior_leaf, [node.partitions[0].log_prior for node in nodes], **close)
    for name in ("log_prior", "log_likelihood"):
        expected = [getattr(node.mode, name) if node.children else -np.inf for node in nodes]
        assert_allclose(getattr(tree, f"{name}_split"), expected, err_msg=name, **close)
    assert_allclose(tree.feature_posterior, [feature_posterior(node, tree.n_features) for node in nodes], **close)
    assert_allclose(tree.log_odds_split, [log_odds_split(node) for node in nodes], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tree_on_other_rows_has_their_posteriors(outcome, weighted):
    memory, _, fitted, oracle = settled(outcome, weighted=weighted, max_bins=None)
    some = np.arange(len(memory)) % 3 == 0
    tree = memory.take(some).grow(fitted)
    rest = memory.take(~some)
    refitted, both = refit(tree, rest, fitted), add_rows(tree, rest, fitted)
    for name in ("children_left", "children_right", "kind", "feature", "threshold", "depth"):
        assert_array_equal(getattr(refitted, name), getattr(tree, name))
    assert_has_the_rows(refitted, rest.rows, oracle_of(outcome, rest.target))
    assert_has_the_rows(both, memory.rows, oracle)
    assert_allclose(refit(tree, memory, fitted).posterior, both.posterior, rtol=1e-9)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_held_out_rows_are_as_probable_as_all_given_those_that_were_seen(outcome):
    memory, _, fitted, oracle = settled(outcome, weighted=True, max_bins=None)
    seen = np.arange(len(memory)) % 2 == 0
    tree, held_out = memory.take(seen).grow(fitted), memory.take(~seen)
    log_likelihood = held_out_log_likelihood(tree, held_out.leaf_sums(tree, fitted), fitted)
    expected = 0.0
    for node, node_rows in enumerate(rows_of_nodes(tree, memory.rows)):
        if tree.is_leaf[node]:
            prior, before = tree.prior[node].tolist(), [i for i in node_rows if seen[i]]
            expected += oracle.log_likelihood(node_rows, prior) - oracle.log_likelihood(before, prior)
    assert_allclose(log_likelihood, expected, rtol=1e-7)


@pytest.mark.parametrize("outcome", ["classes", "normal", "poisson"])
def test_a_smoothed_tree_keeps_its_priors_and_knows_its_gains(outcome):
    memory, _, fitted, oracle = settled(outcome, weighted=True, smoothing=0.2, max_bins=None)
    tree = memory.grow(fitted)
    assert tree.split_likelihood is not None
    assert_allclose(refit(tree, memory, fitted).split_likelihood, tree.split_likelihood, rtol=1e-8)
    some = memory.take(np.arange(len(memory)) % 2 == 0)
    tree = some.grow(fitted)
    both = add_rows(tree, memory.take(np.arange(len(memory)) % 2 == 1), fitted)
    assert_array_equal(both.prior, tree.prior)
    assert_has_the_rows(both, memory.rows, oracle)
    inside, gain = rows_of_nodes(tree, memory.rows), both.gain()
    for node in tree.internal_nodes.tolist():
        prior = tree.prior[node].tolist()
        sides = [inside[side[node]] for side in (tree.children_left, tree.children_right)]
        apart = sum(oracle.log_likelihood(side, prior) for side in sides)
        assert_allclose(both.log_likelihood_split[node], apart, rtol=1e-7)
        assert_allclose(gain[node], apart - oracle.log_likelihood(inside[node], prior), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("outcome", ["classes", "normal", "poisson"])
def test_smoothed_priors_are_those_of_the_rows_that_are_given(outcome):
    """A child's prior is that of its parent and a part of the child's own rows: of these rows, not of older ones."""
    delta = 0.3
    memory, _, fitted, _ = settled(outcome, weighted=True, smoothing=delta, max_bins=None)
    tree = memory.take(np.arange(len(memory)) % 2 == 0).grow(fitted)
    again = refit(tree, memory, fitted)
    inside, weight = rows_of_nodes(tree, memory.rows), memory.target.weight
    rows = fitted.statistics(memory.target) * (1.0 if weight is None else weight[:, None])
    prior = {0: fitted.prior}
    for node in tree.internal_nodes.tolist():
        for child in (int(tree.children_left[node]), int(tree.children_right[node])):
            prior[child] = fitted.update(prior[node], delta * rows[inside[child]].sum(axis=0))
    assert_allclose(again.prior, [prior[node] for node in range(tree.node_count)], rtol=1e-9)
    of_rows = [fitted.update(prior[node], rows[inside[node]].sum(axis=0)) for node in range(tree.node_count)]
    assert_allclose(again.posterior, of_rows, rtol=1e-9)


def test_a_leaf_without_rows_has_its_prior():
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    model = BayesianTreeClassifier(prior=1.0)
    data = in_memory(model, pd.DataFrame(X, columns=["x"]).assign(y=y), {}).data
    outcome = model.fit(X, y).outcome_
    left = data.take(y == 0)
    tree = refit(model.tree_, left, outcome)
    assert tree.n_node_samples.tolist() == [10, 10, 0]
    assert tree.posterior.tolist() == [[11, 1], [11, 1], [1, 1]]
    assert tree.log_likelihood[2] == 0


def test_rows_that_are_too_large_are_refused():
    X, y = np.arange(20.0)[:, None], np.repeat([0.0, 1.0], 10) + np.tile([0.0, 0.1], 10)
    model = BayesianTreeRegressor().fit(X, y)
    before = model.fitted_
    with pytest.raises(ValueError, match="too large to be added to the posteriors"):
        model.partial_fit(X, np.full(20, 1e200))
    assert model.fitted_ is before


def test_leaves_that_look_at_a_row_are_refused():
    class OtherLeaves:
        """Not constant."""

    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    model = BayesianTreeClassifier().fit(X, y)
    data = in_memory(model, pd.DataFrame(X, columns=["x"]).assign(y=y), {}).data
    with pytest.raises(ValueError, match="needs constant leaves"):
        refit(replace(model.tree_, leaves=OtherLeaves()), data, model.outcome_)
    assert isinstance(model.tree_.leaves, ConstantLeaves)
