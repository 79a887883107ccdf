"""Edits of a tree: the odds of each against the oracle, its effects, undoing, sources and errors."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from baytree import (
    BayesianForestClassifier,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    PartitionPrior,
    edit,
    report,
)
from baytree.edit import _effects
from baytree.export import from_dict, to_c, to_dict, to_onnx, to_sklearn, to_sql, to_text
from baytree.growth import assign_folds, refit
from baytree.tree import CategorySet, Threshold
from tests import strategies
from tests.browser import Opened, launch
from tests.comparison import assert_same_store, oracle_settings
from tests.documents import assert_damaged
from tests.edited import assert_same_splits, shape_below, table_of_kinds
from tests.reference import edits as oracle
from tests.reference import outcomes
from tests.reference.tree import Problem
from tests.sources import OUTCOMES, divided, fitted_in_memory, model_of, table_of

browser = pytest.fixture(scope="module")(launch)

FREE = {"monotonic_cst": None, "max_leaf_nodes": None}


@st.composite
def one_edit(draw, draft):
    """An edit of a draft, as a function without arguments; it may be impossible."""
    tree, schema = draft.tree_, draft.finish().schema_
    node = draw(st.integers(0, tree.node_count - 1))
    column = draw(st.integers(0, tree.n_features - 1))
    kind = draw(st.sampled_from(["split", "swap", "remove", "move", "regrow", "forbid", "round"]))
    threshold = draw(st.sampled_from([-1.5, -0.5, 0.0, 0.5, 1.0, 1.5, 2.5]))
    n = 0 if schema.columns[column].categories is None else len(schema.columns[column].categories)
    chosen = draw(st.sets(st.integers(0, max(n - 1, 0)), max_size=n))
    levels = draw(st.sampled_from([None, 0, 1]))
    if kind == "split":
        what = {"categories": [schema.columns[column].categories[i] for i in chosen]} if n else {"threshold": threshold}
        return lambda: draft.split(node, column, **what)
    return {
        "swap": lambda: draft.swap(node, column),
        "remove": lambda: draft.remove(node),
        "move": lambda: draft.move(node, threshold),
        "regrow": lambda: draft.regrow(node, max_depth=levels),
        "forbid": lambda: draft.forbid(column, below=node),
        "round": draft.round,
    }[kind]


@strategies.examples(8)
@given(strategies.raw_problems(), st.data())
def test_the_odds_of_every_edit_are_those_of_the_oracle(problem, data):
    X, y, weight, parameters = problem
    parameters |= FREE
    model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    draft = edit.start(model, X, y, sample_weight=weight)
    weight = [1.0] * len(y) if weight is None else list(weight)
    rows = X[[w > 0 for w in weight]]
    brute = problem_of(draft, model, [w for w in weight if w > 0], parameters)
    before, bytes_before = oracle.log_posterior(draft.tree_, brute), [state_of(draft)]
    assert_allclose(before, model.log_posterior_, rtol=1e-9)
    for _ in range(3):
        decided = draft.finish().predict(rows)
        try:
            made = data.draw(one_edit(draft))()
        except ValueError:
            assert state_of(draft) == bytes_before[-1]
            continue
        after = oracle.log_posterior(draft.tree_, brute)
        assert_allclose(made.log_odds, after - before, rtol=1e-7, atol=1e-7)
        assert made.n_decisions == np.sum(draft.finish().predict(rows) != decided)
        assert sum(change.n_rows for change in made.decision_changes) == made.n_decisions
        before = after
        bytes_before.append(state_of(draft))
    for state in bytes_before[-2::-1]:
        assert state_of(draft.undo()) == state
    with pytest.raises(ValueError, match="no edit to undo"):
        draft.undo()
    for state in bytes_before[1:]:
        assert state_of(draft.redo()) == state


def problem_of(draft, model, weight, parameters, kind=Problem):
    """The rows of a draft as the oracle has them: categories are positions."""
    data = draft._data
    of_rows = outcomes.Categorical(data.target.y.tolist(), weight, len(model.classes_))
    return kind(data.rows.dense().tolist(), of_rows, oracle_settings(model.prior_, parameters))


def state_of(draft):
    """The file of a draft, as text."""
    return json.dumps(to_dict(draft.finish()))


@strategies.examples(6)
@given(strategies.raw_problems(), st.data())
def test_a_swap_takes_the_best_split_of_the_column(problem, data):
    X, y, _, parameters = problem
    parameters |= FREE | {"smoothing": 0.0}
    model = BayesianTreeClassifier(**parameters).fit(X, y)
    draft = edit.start(model, X, y)
    node = data.draw(st.integers(0, draft.tree_.node_count - 1))
    column = data.draw(st.integers(0, X.shape[1] - 1))
    brute = problem_of(draft, model, [1.0] * len(y), parameters)
    best = oracle.best_score(draft.tree_, brute, node, column)
    if best == -math.inf:
        with pytest.raises(ValueError, match="has no split at node"):
            draft.swap(node, column)
        return
    draft.swap(node, column)
    tree = draft.tree_
    assert tree.split(node).features == (column,)
    assert_allclose(tree.log_prior_split[node] + tree.log_likelihood_split[node], best, rtol=1e-9)


@strategies.examples(6)
@given(strategies.raw_problems(), st.data())
def test_what_is_forbidden_and_grown_anew_is_what_the_oracle_grows(problem, data):
    X, y, _, parameters = problem
    parameters |= FREE | {"prune": False}
    model = BayesianTreeClassifier(**parameters).fit(X, y)
    draft = edit.start(model, X, y)
    if draft.tree_.n_leaves == 1:
        return
    node = data.draw(st.sampled_from(draft.tree_.internal_nodes.tolist()))
    column = draft.tree_.split(node).features[0]
    brute, X = problem_of(draft, model, [1.0] * len(y), parameters, oracle.ProblemWithout), draft._data.rows.dense()
    grown = oracle.grown_below(draft.tree_, brute, node)
    assert shape_below(draft.tree_, node, X) == oracle.shape_of(grown)
    brute.forbidden = frozenset({column})
    grown = oracle.grown_below(draft.tree_, brute, node)
    draft.forbid(column, below=node)
    assert shape_below(draft.tree_, node, X) == oracle.shape_of(grown)
    uses = draft.tree_.feature_uses()[:, column]
    assert not uses[[at for at in range(draft.tree_.node_count) if node in draft.tree_.path(at)]].any()
    draft.regrow(node)
    assert shape_below(draft.tree_, node, X) == oracle.shape_of(grown)
    with pytest.raises(ValueError, match=r"was forbidden at node|categorical"):
        draft.split(node, column, threshold=0.0)


@pytest.mark.parametrize("prune", [True, False])
def test_growing_the_whole_tree_anew_gives_the_tree_of_a_fit(prune):
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier(prune=prune).fit(X, y)
    draft = edit.start(model, X, y)
    draft.remove(0)
    back = draft.regrow(0)
    assert_array_equal(draft.tree_.threshold, model.tree_.threshold)
    assert_allclose(draft.tree_.log_posterior(), model.log_posterior_)
    assert_allclose(back.log_odds, -draft.edits[0].log_odds)


def test_the_loss_is_that_of_leaves_without_the_rows_of_a_fold():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = BayesianTreeClassifier(calibrate=False, prior=0.7).fit(X, y, sample_weight=weight)
    draft = edit.start(model, X, y, sample_weight=weight)
    folds = assign_folds(draft._data.rows, draft._data.target, _effects._FOLDS)
    assert len(set(folds.tolist())) == _effects._FOLDS
    made = draft.remove(2)
    for tree, shown in ((model.tree_, made.loss_before), (draft.tree_, made.loss_after)):
        assert_allclose(shown, oracle.loss(tree, y, weight, folds, X, [0.7] * 3, 3), rtol=1e-9)
    assert made.loss_change == made.loss_after - made.loss_before


def test_rows_with_another_decision_are_described():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
    before = draft.finish().predict(X)
    made = draft.swap(0, "mean texture")
    after = draft.finish().predict(X)
    assert made.n_decisions == np.sum(before != after) > 10
    for change in made.decision_changes:
        inside = np.ones(len(X), dtype=bool)
        for condition in change.conditions:
            inside &= X.eval(_as_query(condition, X)).to_numpy()
        assert inside.sum() == change.n_rows
        assert {str(label) for label in before[inside]} == {change.before}
        assert {str(label) for label in after[inside]} == {change.after}


def _as_query(condition, X):
    """A condition as pandas reads it."""
    for name in sorted(X.columns, key=len, reverse=True):
        if f"{name} " in condition:
            return condition.replace(f"{name} ", f"`{name}` ").replace(",", "")
    raise AssertionError(condition)


def test_thresholds_are_rounded_as_far_as_the_odds_allow():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    model = BayesianTreeRegressor(thresholds="midpoint").fit(X, y)
    draft = edit.start(model, X, y)
    draft.round(odds=1)
    assert draft.edits[-1].log_odds >= -1e-6
    digits = [n_digits(at) for at in draft.tree_.threshold[draft.tree_.internal_nodes]]
    draft.undo().round(odds=1e9)
    fewer = [n_digits(at) for at in draft.tree_.threshold[draft.tree_.internal_nodes]]
    assert sum(fewer) < sum(digits) < sum(n_digits(at) for at in model.tree_.threshold[model.tree_.internal_nodes])
    assert draft.tree_.n_leaves == model.get_n_leaves()
    assert draft.round(odds=1e9).log_odds == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match="odds"):
        draft.round(odds=0.5)


def n_digits(number):
    return len(repr(float(number)).replace(".", "").strip("0-"))


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_edits_at_a_source_are_those_in_memory(outcome, weighted):
    frame, names = table_of(outcome, weighted=weighted)
    model = fitted_in_memory(model_of(outcome), frame, names)
    features = frame.drop(columns=["y", *names.values()])
    columns = {"sample_weight" if name == "weight" else name: column for name, column in names.items()}
    parts = divided(frame, 4)
    with edit.start(model, lambda: iter(parts), "y", **columns) as there:
        here = edit.start(model, features, frame["y"], **{name: frame[column] for name, column in columns.items()})
        assert_same_splits(there.tree_, here.tree_)
        node, other = int(here.tree_.internal_nodes[1]), int(here.tree_.feature[here.tree_.internal_nodes[-1]])
        for change in (
            lambda draft: draft.swap(node, other),
            lambda draft: draft.remove(node),
            lambda draft: draft.forbid(int(here.tree_.feature[0])),
            lambda draft: draft.regrow(0, max_depth=2),
            lambda draft: draft.round(),
        ):
            one, two = change(there), change(here)
            assert (one.text, one.n_rows, one.n_decisions) == (two.text, two.n_rows, two.n_decisions)
            assert one.decision_changes == two.decision_changes
            assert_allclose(one.log_odds, two.log_odds, rtol=1e-7, atol=1e-6)
            assert_same_splits(there.tree_, here.tree_)
            assert math.isfinite(one.loss_after)
        assert_allclose(refit(there.tree_, here._data, here._outcome).posterior, there.tree_.posterior, rtol=1e-9)


def test_edits_of_a_table_in_a_database(duckdb):
    frame, names = table_of("classes", weighted=True)
    model = fitted_in_memory(model_of("classes"), frame, names)
    table = duckdb(frame)
    with edit.start(model, table, "y", sample_weight="w") as draft:
        here = edit.start(model, frame.drop(columns=["y", "w"]), frame["y"], sample_weight=frame["w"])
        column = int(model.tree_.feature[0])
        there = draft.forbid(column)
        assert_allclose(there.log_odds, here.forbid(column).log_odds, rtol=1e-9)
        assert there.text == f"Forbid {model.schema_.name(column)}"
        assert_same_splits(draft.tree_, here.tree_)


def test_a_threshold_within_a_bin_is_refused():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier(max_bins=4).fit(X, y)
    draft = edit.start(model, X, y)
    feature, inside = int(draft.tree_.feature[0]), float(np.median(X[:, 0]) + 1e-3)
    with pytest.raises(ValueError, match="lies within a bin"):
        draft.split(0, 0, threshold=inside + 0.3)
    draft.move(0, float(draft.tree_.threshold[0]))
    assert draft.tree_.feature[0] == feature


def test_splits_of_every_kind_of_column():
    X, y = table_of_kinds()
    draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
    assert draft.split(0, "colour", categories=["red"]).text == "Split node 0 on colour in {red}"
    assert draft.tree_.split(0).right == (0, 1)
    draft.undo().remove(0)
    assert draft.split(0, "size", threshold="m").text == "Split node 0 on size <= m"
    assert draft.tree_.n_leaves == 2
    assert draft.split(1, "member").text == "Split node 1 on member is true"
    assert draft.split(4, "income", threshold=0).n_rows == np.sum(X["size"] == "l")
    split = draft.tree_.split(4)
    assert split.has_missing
    other = Threshold(split.feature, 0.0, not split.missing_left, True)
    outline = [*draft._outline]
    outline[4] = type(outline[4])(other)
    assert draft._data.grow_below(tuple(outline), draft._outcome).log_posterior() < draft.tree_.log_posterior()
    model = draft.finish()
    assert_array_equal(load_of(model).predict(X), model.predict(X))
    assert_same_store(refit(model.tree_, draft._data, model.outcome_), model.tree_, but=("log_odds_split",))
    at = model.tree_.internal_nodes
    gain = model.tree_.log_likelihood_split + model.tree_.log_prior_split - model.tree_.log_leaf
    assert_allclose(model.tree_.log_odds_split[at], gain[at])


def load_of(model):
    """The model, saved and read."""
    return from_dict(json.loads(json.dumps(to_dict(model))))


def test_decisions_that_people_set():
    X, y = table_of_kinds()
    model = BayesianTreeClassifier().fit(X, y)
    draft = edit.start(model, X, y, who="the committee", when="2026-11-19")
    leaf = int(np.flatnonzero(draft.tree_.is_leaf)[0])
    code = int(model.fitted_.node_codes[leaf])
    label = model.classes_[1 - code]
    made = draft.set_decision(leaf, label, reason="by law")
    assert (made.log_odds, made.loss_change, made.n_decisions) == (0, 0, draft.tree_.n_node_samples[leaf])
    assert (made.who, made.why, made.when) == ("the committee", "by law", "2026-11-19")
    edited = draft.finish()
    in_leaf = edited.apply(X) == leaf
    assert set(edited.predict(X)[in_leaf]) == {label}
    assert_array_equal(edited.predict(X)[~in_leaf], model.predict(X)[~in_leaf])
    assert_array_equal(edited.predict_proba(X), model.predict_proba(X))
    assert {one.decision for one in edited.explain(X[in_leaf])} == {label}
    again = load_of(edited)
    assert_array_equal(again.predict(X), edited.predict(X))
    assert again.fitted_.edits == edited.fitted_.edits
    assert f"THEN '{label}'" in to_sql(edited)
    for export in (to_c, to_onnx, to_sklearn):
        with pytest.raises(ValueError, match="decides by probabilities alone"):
            export(edited)
    more = edit.start(edited, X, y)
    other = [at for at in more.tree_.internal_nodes.tolist() if at not in more.tree_.path(leaf)]
    if other:
        more.remove(other[0])
        assert set(more.finish().predict(X)[in_leaf]) == {label}
    more.remove(0)
    assert more.finish().fitted_.set_decisions is None
    assert len(more.finish().fitted_.edits) > 1


def test_history_as_a_table():
    X, y = load_iris(return_X_y=True)
    draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y, who="A. Smith")
    assert list(draft.history) == list(draft.history.columns)
    assert len(draft.history) == 0
    draft.remove(2, why="too few flowers")
    draft.split(2, 0, threshold=6)
    history = draft.history
    assert history["who"].tolist() == ["A. Smith"] * 2
    assert history["why"].tolist() == ["too few flowers", None]
    assert_allclose(history["odds"], [made.odds for made in draft.edits])
    assert repr(draft) == "<Draft of a tree with 3 leaves after 2 edits>"
    draft.undo().regrow(2)
    with pytest.raises(ValueError, match="no edit to redo"):
        draft.redo()
    assert len(draft.history) == 2


def test_monotonic_predictions_stay_monotonic():
    X, y = load_diabetes(return_X_y=True)
    model = BayesianTreeRegressor(monotonic_cst={2: 1}).fit(X, y)
    draft = edit.start(model, X, y)
    draft.split(0, 2, threshold=0.0)
    grid = np.repeat(X[:20], 30, axis=0)
    grid[:, 2] = np.tile(np.linspace(-0.1, 0.1, 30), 20)
    means = draft.finish().predict(grid).reshape(20, 30)
    assert np.all(np.diff(means, axis=1) >= 0)
    falling = edit.start(BayesianTreeRegressor(monotonic_cst={2: -1}).fit(X, y), X, y)
    with pytest.raises(ValueError, match="monotonic_cst"):
        falling.split(0, 2, threshold=0.0)


def test_a_tree_with_hyperplanes_and_look_ahead():
    X, y = load_iris(return_X_y=True)
    for parameters in ({"partitions": "oblique"}, {"lookahead": 1}, {"smoothing": 0.2}):
        prior = PartitionPrior(split=0.9)
        draft = edit.start(BayesianTreeClassifier(partition_prior=prior, **parameters).fit(X, y), X, y)
        draft.regrow(0)
        draft.forbid(3)
        assert not draft.tree_.feature_uses()[:, 3].any()
        assert draft.tree_.n_leaves > 2
        assert math.isfinite(draft.edits[-1].log_odds)


def test_pipelines_are_edited_by_their_last_step():
    X, y = load_iris(return_X_y=True)
    forest = BayesianForestClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(TypeError, match="readable_tree_"):
        edit.start(forest, X, y)
    edit.start(forest.readable_tree_, X, y)


WRONG = {
    "which the nodes are": (lambda draft: draft.remove(99), "nodes of the tree are 0 to 4"),
    "a node that is text": (lambda draft: draft.remove("root"), "number of a node"),
    "a leaf": (lambda draft: draft.remove(1), "Node 1 is a leaf"),
    "no leaf": (lambda draft: draft.set_decision(0, 1), "Node 0 is split"),
    "no class": (lambda draft: draft.set_decision(1, "rose"), "label names the class 'rose'"),
    "no column": (lambda draft: draft.swap(0, 7), "column gives column 7"),
    "no threshold": (lambda draft: draft.split(0, 1), "threshold is missing"),
    "a threshold that is text": (lambda draft: draft.split(0, 1, threshold="2"), "threshold must be a number"),
    "an endless threshold": (lambda draft: draft.move(0, math.inf), "finite"),
    "categories of numbers": (lambda draft: draft.split(0, 1, categories=[1]), "has an order"),
    "no rows on a side": (lambda draft: draft.move(0, 99.0), "Node 0 cannot be split so"),
    "a reason that is no text": (lambda draft: draft.remove(0, why=3), "why must be text"),
    "levels": (lambda draft: draft.regrow(0, max_depth=-1), "max_depth"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments_are_refused_and_change_nothing(what):
    change, message = WRONG[what]
    X, y = load_iris(return_X_y=True)
    draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
    before = state_of(draft)
    with pytest.raises((ValueError, TypeError), match=message):
        change(draft)
    assert state_of(draft) == before
    assert draft.edits == ()


def test_wrong_categories_and_labels_are_refused():
    X, y = table_of_kinds()
    draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
    for categories, message in (("red", "must be a list"), (["black"], "names 'black'"), ([], "neither none nor all")):
        with pytest.raises((ValueError, TypeError), match=message):
            draft.split(0, "colour", categories=categories)
    with pytest.raises(ValueError, match="give categories="):
        draft.split(0, "colour", threshold=1.0)
    with pytest.raises(ValueError, match="threshold names 'xl'"):
        draft.split(0, "size", threshold="xl")
    with pytest.raises(ValueError, match="needs the rows of the fit"):
        edit.start(BayesianTreeClassifier().fit(X, y), X.assign(colour="black"), y)
    with pytest.raises(TypeError, match="who must be text"):
        edit.start(draft.finish(), X, y, who=3)
    number = edit.start(BayesianTreeRegressor().fit(X, X["age"]), X, X["age"])
    with pytest.raises(ValueError, match="predicts numbers"):
        number.set_decision(int(np.flatnonzero(number.tree_.is_leaf)[0]), 1)
    average = BayesianTreeClassifier(unseen="average").fit(X, y)
    draft = edit.start(average, X, y)
    with pytest.raises(ValueError, match="unseen='majority'"):
        draft.set_decision(draft.tree_.node_count - 1, "yes")
    random = np.random.default_rng(0).normal(size=(60, 2))
    linear = BayesianTreeRegressor(leaf="linear").fit(random, random[:, 0])
    with pytest.raises(ValueError, match="constant leaves"):
        edit.start(linear, random, random[:, 0])


def test_category_sets_say_where_other_categories_go():
    X, y = table_of_kinds()
    draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y)
    draft.split(0, "colour", categories=["blue"])
    split = draft.tree_.split(0)
    assert isinstance(split, CategorySet)
    larger_left = draft.tree_.n_node_samples[1] > draft.tree_.n_node_samples[int(draft.tree_.children_right[0])]
    assert split.unseen_left == larger_left


NAME = "<script>window.hacked = 1</script> */ \" --\n\u2028 ' & ]]>"


def hostile_model():
    """An edited model whose columns, classes, author and reasons are markup."""
    X, y = table_of_kinds()
    X, y = X.rename(columns={"age": NAME}), np.where(y == "yes", NAME, "no")
    draft = edit.start(BayesianTreeClassifier().fit(X, y), X, y, who=NAME, when=NAME)
    draft.swap(0, NAME, why=NAME)
    draft.set_decision(int(np.flatnonzero(draft.tree_.is_leaf)[0]), NAME, reason=NAME)
    return draft.finish(), X, y


def test_hostile_texts_of_edits_are_text_in_exports(tmp_path):
    model, X, y = hostile_model()
    history = [line for line in to_sql(model).split("\n") if line.startswith("-- ")]
    assert len(history) == 2
    draft = edit.start(model, X, y)
    plain = edit.start(BayesianTreeClassifier().fit(X, y), X, y, who=NAME)
    plain.remove(0, why=NAME)
    for text in (to_c(plain.finish()).split("*/")[0], to_onnx(plain.finish()).metadata_props[0].value):
        assert len(text.strip().split("\n")) <= 2
        assert "hacked" in text
    assert to_text(draft.finish()).count("\n2. ") == 1
    assert from_dict(json.loads(json.dumps(to_dict(model)))).fitted_.edits == model.fitted_.edits


def test_the_history_is_on_the_page_and_in_print(browser, tmp_path):
    model, X, y = hostile_model()
    path = report.write(model, X, y, tmp_path / "page.html", refits=0, references=False)
    opened = Opened(browser, path)
    assert opened.faults == []
    assert opened.page.evaluate("window.hacked") is None
    rows = opened.page.locator("#edits tbody tr")
    assert rows.count() == 2
    assert "window.hacked" in rows.nth(0).inner_text()
    assert "set by people" in opened.page.locator("#edits").inner_text()
    opened.page.emulate_media(media="print")
    assert rows.nth(1).is_visible()
    leaf = int(np.flatnonzero(model.fitted_.set_decisions >= 0)[0])
    rule = opened.page.locator("#rules tbody tr").filter(has=opened.page.locator(f"th:text-is('{leaf}')"))
    assert "window.hacked" in rule.inner_text()


def test_pages_of_trees_as_they_were_grown_have_no_history(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = report.write(BayesianTreeClassifier().fit(X, y), X, y, tmp_path / "page.html", refits=0, references=False)
    assert 'id="edits"' not in path.read_text("utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda edits: edits[0].update(text=3),
        lambda edits: edits[0].update(n_rows=True),
        lambda edits: edits[0].update(log_odds="much"),
        lambda edits: edits[0].pop("why"),
        lambda edits: edits[0].update(decision_changes=5),
        lambda edits: edits[1]["decision_changes"]["list"][0]["dict"].pop(),
        lambda edits: edits.append(None),
    ],
)
def test_damaged_edits_are_refused(change):
    document = to_dict(hostile_model()[0])
    change(document["edits"])
    assert_damaged(document)


@pytest.mark.parametrize("codes", [[5], [-2], "text"])
def test_damaged_decisions_are_refused(codes):
    document = to_dict(hostile_model()[0])
    values = document["set_decisions"]["values"]
    document["set_decisions"] = (
        codes if codes == "text" else document["set_decisions"] | {"values": codes * len(values)}
    )
    assert_damaged(document)
