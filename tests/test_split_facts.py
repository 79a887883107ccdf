"""Two numbers of a split: its odds against no split, and the probability of its column beside those of others."""

import numpy as np
import pytest

from baytree import BayesianForestClassifier, BayesianTreeClassifier
from baytree._words import exact_odds_text, odds_text, percent_text
from baytree.explain import tree_html
from baytree.export import to_text
from baytree.fitted import column_choice, missing_values, split_facts


@pytest.mark.parametrize(
    ("odds", "text", "exact"),
    [
        (3.0, "3:1", "3:1"),
        (1222.4, "1,222:1", "1,222:1"),
        (999_000.0, "999,000:1", "999,000:1"),
        (2e6, "beyond doubt", "10⁶:1"),
        (1e93, "beyond doubt", "10⁹³:1"),
        (0.05, "1:20", "1:20"),
        (1e-9, "1:10⁹", "1:10⁹"),
    ],
)
def test_odds_beyond_a_million_are_beyond_doubt(odds, text, exact):
    assert odds_text(np.log(odds)) == text
    assert exact_odds_text(np.log(odds)) == exact


def test_infinite_odds_are_written():
    assert odds_text(np.inf) == "beyond doubt"
    assert exact_odds_text(np.inf) == "∞:1"
    assert odds_text(-np.inf) == "1:∞"


def table_of(n=300):
    r = np.random.default_rng(0)
    X = r.normal(size=(n, 3))
    y = (X[:, 0] + 0.6 * r.normal(size=n) > 0).astype(int)
    X[:, 1] = y + 0.6 * r.normal(size=n)
    X[r.random(n) < 0.3 * y, 0] = np.nan
    return X, y


def test_the_column_has_its_share_of_the_posterior():
    X, y = table_of()
    model = BayesianTreeClassifier().fit(X, y)
    for node in model.tree_.internal_nodes.tolist():
        shares = model.tree_.feature_posterior[node]
        choice = column_choice(model.fitted_, node)
        assert choice.share == shares[model.tree_.feature[node]]
        others = {f"x{i}": share for i, share in enumerate(shares[:-1]) if i != model.tree_.feature[node]}
        assert all(others[name] == share for name, share in choice.others)
        assert [share for _, share in choice.others] == sorted(
            (share for share in others.values() if share >= 0.0005), reverse=True
        )


def test_texts_and_notebooks_have_both_numbers_and_the_missing_values():
    X, y = table_of()
    model = BayesianTreeClassifier(max_depth=1).fit(X, y)
    split, n_missing = model.tree_.split(0), int(np.isnan(X[:, 0]).sum())
    assert split.features == (0,)  # its missing values tell more
    side = "yes" if split.missing_left else "no"
    odds, column, rows = split_facts(model.fitted_, 0)
    assert odds.startswith("split ")
    assert column.startswith("column ")
    assert column == "column > 99.9 %"
    assert rows == f"n=300, {n_missing} missing: {side}"
    first = to_text(model).splitlines()[0]
    assert first.endswith(f"[{odds}; {column}; {rows}]")
    assert f"{odds}; {column}; {rows}" in tree_html(model.fitted_).replace("&gt;", ">").replace("&lt;", "<")


def test_the_next_column_is_named():
    r = np.random.default_rng(0)
    signal = r.normal(size=400)
    X = np.c_[signal + 0.2 * r.normal(size=400), signal + 0.2 * r.normal(size=400)]
    model = BayesianTreeClassifier(max_depth=1).fit(X, signal > 0)
    chosen, other = model.tree_.feature[0], 1 - model.tree_.feature[0]
    shares = [percent_text(float(model.feature_posterior_[i])) for i in (chosen, other)]
    assert split_facts(model.fitted_, 0)[1] == f"column {shares[0]}, else x{other} {shares[1]}"


def test_no_missing_values_are_not_mentioned():
    X, y = table_of()
    model = BayesianTreeClassifier(max_depth=1).fit(np.nan_to_num(X), y)
    assert missing_values(model.fitted_, 0) is None
    assert "missing" not in to_text(model)


def test_a_tree_that_compared_no_columns_does_not_tell_a_share():
    X, y = table_of()
    alone = BayesianTreeClassifier(max_depth=1).fit(X[:, [2]] + y[:, None], y)
    of_a_forest = BayesianForestClassifier(2, partitions="axis", random_state=0).fit(X, y).trees_[0]
    for model in (alone, of_a_forest):
        assert column_choice(model.fitted_, 0) is None
        assert "column" not in to_text(model)
