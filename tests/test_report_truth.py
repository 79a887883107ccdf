"""The page tells of the model that was fitted, measured as it was fitted, and of whom it treats how."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import FixedThresholdClassifier, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from baytree import (
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    metrics,
    report,
)
from baytree.cli import main
from baytree.evaluation import (
    calibration_of,
    hold_out,
    metrics_of,
    read_dataset,
    read_subgroups,
    subgroups_of,
    thresholds_of,
)
from baytree.table import subgroup_masks
from tests.own_outcomes import Mean, Rates, TwoRates

DATA = load_breast_cancer(as_frame=True)
X, Y = DATA.data, DATA.target_names[DATA.target]
RANDOM = np.random.default_rng(0)


def written(model, X, y, tmp_path, *, references=False, **options):
    options["references"] = references
    page = report.write(model, X, y, tmp_path / "page.html", **options).read_text(encoding="utf-8")
    return re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)


def durations(n=1500):
    table = pd.DataFrame({"x": RANDOM.random(n)})
    mean = np.where(table["x"] > 0.5, 10.0, 2.5)
    time, end = RANDOM.exponential(mean), RANDOM.exponential(8.0, n)
    return table, np.minimum(time, end), time <= end


def test_durations_are_measured_with_their_events(tmp_path):
    """Without the events the page of this model showed predicted means of 1.8 to 4.2."""
    table, time, event = durations()
    model = BayesianTreeRegressor(outcome="exponential").fit(table, time, event=event)
    given = read_dataset(model.fitted_, table, time, event=event)
    held_out = hold_out(model, given, None, 5)
    bins = calibration_of(model.fitted_, held_out)
    assert min(b.predicted for b in bins) == pytest.approx(2.5, rel=0.2)
    assert max(b.predicted for b in bins) == pytest.approx(10, rel=0.4)
    inside = [b.observed.low <= b.predicted <= b.observed.high for b in bins]
    assert np.mean(inside) >= 0.6
    figures = {metric.name: metric.figure for metric in metrics_of(model.fitted_, held_out)}
    assert figures["Observed over predicted"].low < 1 < figures["Observed over predicted"].high
    assert figures["Log loss"].estimate < figures["  without a model"].estimate
    page = written(model, table, time, tmp_path, event=event)
    assert "other rows than those" not in page
    assert "Mean absolute error" not in page


def test_counts_are_measured_with_their_exposure(tmp_path):
    table = pd.DataFrame({"x": RANDOM.random(1200)})
    exposure = RANDOM.uniform(0.1, 5, 1200)
    counts = RANDOM.poisson(np.where(table["x"] > 0.5, 4.0, 1.0) * exposure)
    model = BayesianTreeRegressor(outcome="poisson").fit(table, counts, exposure=exposure)
    held_out = hold_out(model, read_dataset(model.fitted_, table, counts, exposure=exposure), None, 5)
    bins = calibration_of(model.fitted_, held_out)
    assert {round(b.predicted) for b in bins} == {1, 4}
    figures = {metric.name: metric.figure for metric in metrics_of(model.fitted_, held_out)}
    assert figures["Mean absolute error"].estimate == pytest.approx(np.abs(held_out.mean * exposure - counts).mean())
    assert figures["Observed over predicted"].estimate == pytest.approx(counts.sum() / (held_out.mean @ exposure))
    assert "per unit of exposure" in written(model, table, counts, tmp_path, exposure=exposure)


def test_weights_count_in_figures_as_rows_do():
    weight = RANDOM.integers(1, 4, len(Y))
    model = BayesianTreeClassifier().fit(X, Y, weight)
    split = slice(None, None, 2)
    once = read_dataset(model.fitted_, X[split], Y[split], weight[split])
    again = np.repeat(np.arange(len(Y))[split], weight[split])
    twice = read_dataset(model.fitted_, X.iloc[again], Y[again])
    one, other = (metrics_of(model.fitted_, hold_out(model, once, rows, 5)) for rows in (once, twice))
    for metric, same in zip(one, other, strict=True):
        assert metric.figure.estimate == pytest.approx(same.figure.estimate)
        # The bias of KS comes from random weights, one draw for each row given.
        assert metric.figure.low == pytest.approx(same.figure.low, abs=0.01 if metric.name == "KS" else 1e-9)
    by_threshold = [thresholds_of(model.fitted_, hold_out(model, once, rows, 5)) for rows in (once, twice)]
    assert np.allclose(by_threshold[0].true_positives, by_threshold[1].true_positives)


def test_cross_validation_fits_with_the_weights():
    weight = np.where(np.arange(len(Y)) % 2 == 0, 1.0, 3.0)
    model = BayesianTreeClassifier().fit(X, Y, weight)
    given = read_dataset(model.fitted_, X, Y, weight)
    plain = read_dataset(model.fitted_, X, Y)
    one, other = (hold_out(model, rows, None, 4).probabilities for rows in (given, plain))
    assert not np.allclose(one, other)


def test_groups_stay_together(tmp_path):
    """Every customer is there four times, so rows of the same customer tell of each other."""
    customer = np.repeat(np.arange(150), 4)
    table = pd.DataFrame({"customer's own number": customer + RANDOM.random(600) / 10, "noise": RANDOM.random(600)})
    y = np.repeat(RANDOM.random(150) < 0.5, 4)
    model = BayesianTreeClassifier(prior=0.1, partition_prior=0.9999, prune=False).fit(table, y)
    divided_rows = hold_out(model, read_dataset(model.fitted_, table, y), None, 5)
    together = hold_out(model, read_dataset(model.fitted_, table, y, None, customer), None, 5)
    accuracy = [metrics_of(model.fitted_, held_out)[0].figure.estimate for held_out in (divided_rows, together)]
    assert accuracy[0] > 0.9
    assert accuracy[1] < 0.65
    assert "keeps groups of rows together" in written(model, table, y, tmp_path, groups=customer)
    with pytest.raises(ValueError, match="groups must hold one group per row"):
        written(model, table, y, tmp_path, groups=customer[:5])


def test_the_page_says_what_the_model_was_fitted_on(tmp_path):
    model = BayesianTreeClassifier().fit(X, Y)
    page = written(model, X, Y, tmp_path)
    assert "fitted on 569 rows" in page
    assert "the same rows" in page
    assert "other rows than those" not in page
    half = written(model, X[::2], Y[::2], tmp_path)
    assert "fitted on 569 rows" in half
    assert "to other rows than those of this report: to 569 rows on 20" in half
    assert "while the report was written with 285 rows" in half
    assert "grown from 285" not in half
    reordered = written(model, X[::-1], Y[::-1], tmp_path)
    assert "with as many rows as the model was fitted to (569 rows), but their fingerprint differs" in reordered
    measured = written(model, X[::2], Y[::2], tmp_path, held_out=(X[1::2], Y[1::2]))
    assert "The figures below are from the rows given as held out." in measured


def test_a_file_tells_what_its_model_was_fitted_on(tmp_path, capsys):
    frame = X.iloc[:, :4].assign(diagnosis=Y, weight=1.0 + (np.arange(len(Y)) % 3), ward=np.arange(len(Y)) % 50)
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame[::2].to_csv(tmp_path / "half.csv", index=False)
    BayesianTreeClassifier().fit(frame.iloc[:, :4], Y, frame["weight"]).save(tmp_path / "model.json")
    for name in ("all", "half"):
        arguments = [str(tmp_path / f"{name}.csv"), "--target", "diagnosis", "--weight", "weight"]
        more = ["--groups", "ward", "--subgroups", "mean radius", "--out", str(tmp_path / f"{name}.html")]
        assert main(["report", *arguments, *more, "--model", str(tmp_path / "model.json")]) == 0
    whole, half = ((tmp_path / f"{name}.html").read_text("utf-8") for name in ("all", "half"))
    assert "of weight 1,137 in all" in whole
    assert "other rows than those" not in whole
    assert "other rows than those" in half
    assert 'id="subgroups"' in half
    assert main(["report", *arguments[:3], "--groups", "wards", "--out", str(tmp_path / "x.html")]) == 1
    assert "did you mean 'ward'?" in capsys.readouterr().err
    assert main(["report", *arguments[:3], "--decision", "0.2", "--out", str(tmp_path / "x.html")]) == 0
    assert "malignant if its probability is at least 20 %" in (tmp_path / "x.html").read_text("utf-8")


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: FixedThresholdClassifier(model, threshold=0.2)])
def test_pipelines_and_wrappers_have_pages(wrap, tmp_path):
    pipeline = make_pipeline(StandardScaler(), BayesianTreeClassifier()).set_output(transform="pandas")
    model = wrap(pipeline).fit(X, Y)
    page = written(model, X, Y, tmp_path, subgroups=["mean radius"])
    assert "other rows than those" not in page
    assert "fitted on 569 rows" in page
    if isinstance(model, FixedThresholdClassifier):
        assert "malignant if its probability is at least 20 %" in page
    weighted = pipeline.fit(X, Y, bayesiantreeclassifier__sample_weight=np.arange(len(Y)) % 3 + 1.0)
    assert "other rows" not in written(weighted, X, Y, tmp_path, sample_weight=np.arange(len(Y)) % 3 + 1.0)


def test_confusion_and_rates_are_those_of_the_decision():
    model = BayesianTreeClassifier(decision=0.2).fit(X, Y)
    held_out = hold_out(model, read_dataset(model.fitted_, X, Y), None, 5)
    thresholds = thresholds_of(model.fitted_, held_out)
    decided = np.where(held_out.probabilities[:, 1] >= 0.2, "malignant", "benign")
    (tn, fp), (fn, tp) = confusion_matrix(Y, decided)
    assert thresholds.values[thresholds.of_model] == 0.2
    assert thresholds.true_positives[thresholds.of_model] == tp
    assert thresholds.false_positives[thresholds.of_model] == fp
    rates = thresholds.rates(thresholds.of_model)
    assert rates["sensitivity"].estimate == tp / (tp + fn)
    assert rates["sensitivity"].low == pytest.approx(stats.beta(tp + 0.5, fn + 0.5).ppf(0.05))
    assert rates["specificity"].estimate == tn / (tn + fp)
    assert (held_out.codes == (decided == "malignant")).all()


def test_the_held_out_probabilities_are_those_of_scikit_learn():
    from sklearn.model_selection import StratifiedKFold

    model = BayesianTreeClassifier().fit(X, Y)
    held_out = hold_out(model, read_dataset(model.fitted_, X, Y), None, 5)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert np.allclose(held_out.probabilities, cross_val_predict(model, X, Y, cv=folds, method="predict_proba"))


def test_subgroups_have_their_own_figures(tmp_path):
    sex = RANDOM.choice(["f", "m"], len(Y))
    model = BayesianTreeClassifier().fit(X, Y)
    given = read_dataset(model.fitted_, X, Y)
    given.subgroups.update(read_subgroups(X, {"sex": sex}, len(Y)))
    held_out = hold_out(model, given, None, 5)
    for subgroup in subgroups_of(model.fitted_, held_out):
        rows = sex == subgroup.name
        second, decided = Y[rows] == "malignant", held_out.codes[rows] == 1
        assert subgroup.n == rows.sum()
        assert subgroup.figures["observed"].estimate == pytest.approx(second.mean())
        assert subgroup.figures["predicted"].estimate == pytest.approx(held_out.probabilities[rows, 1].mean())
        assert subgroup.figures["decided"].estimate == pytest.approx(decided.mean())
        assert subgroup.figures["missed"].estimate == pytest.approx((second & ~decided).sum() / second.sum())
        assert subgroup.figures["wrongly"].estimate == pytest.approx((~second & decided).sum() / (~second).sum())
        for figure in (figure for name, figure in subgroup.figures.items() if name != "impact"):
            assert figure.low <= figure.estimate <= figure.high
    ratios = metrics.impact_ratio(held_out.codes == 0, sex)
    for subgroup, impact in zip(subgroups_of(model.fitted_, held_out), ratios, strict=True):
        assert subgroup.figures["impact"].estimate == impact.ratio.estimate
    page = written(model, X, Y, tmp_path, subgroups=["worst perimeter", "mean area"])
    assert re.search(r"of the tree uses? this column: 0", page)
    assert "No split of the tree uses this column" in page
    assert "The model does not have this column" in written(model, X, Y, tmp_path, subgroups={"sex": sex})


def test_subgroups_of_numbers_and_of_many_classes(tmp_path):
    y = X["mean area"].to_numpy()
    model = BayesianTreeRegressor().fit(X.iloc[:, :3], y)
    page = written(model, X.iloc[:, :3], y, tmp_path, subgroups={"ward": RANDOM.choice(["A", "B"], len(y))})
    assert "mean absolute error" in page
    table, kinds = load_iris(return_X_y=True)
    flowers = BayesianTreeClassifier().fit(table, kinds)
    page = written(flowers, table, kinds, tmp_path, subgroups=[0])
    assert "most probable class is right" in page
    assert "Confusion matrix" in page


def test_columns_are_divided_into_subgroups():
    names = [name for name, _ in subgroup_masks(np.array([1.0, 2.0, None, 2.0], dtype=object))]
    assert names == ["1", "2", "missing"]
    many = subgroup_masks(np.arange(100.0).astype(object))
    assert [name for name, _ in many] == ["0 to 24", "over 24 to 49", "over 49 to 74", "over 74 to 99"]
    assert sum(rows.sum() for _, rows in many) == 100
    text = subgroup_masks(np.array([f"city {i % 30}" for i in range(900)] + ["city 0"], dtype=object))
    assert text[-1][0] == "11 others"
    assert sum(rows.sum() for _, rows in text) == 901
    assert [name for name, _ in subgroup_masks(np.array([True, False], dtype=object))] == ["no", "yes"]


def test_limits_say_what_weights_of_classes_do(tmp_path):
    rare = np.where((Y == "malignant") & (np.arange(len(Y)) % 8 == 0), "yes", "no")
    model = BayesianTreeClassifier(class_weight="balanced").fit(X, rare)
    page = written(model, X, rare, tmp_path)
    assert "fitted with class_weight=&#x27;balanced&#x27;" in page
    (said, seen) = re.search(
        r"probability of yes is ([\d.]+) %, and the observed proportion is ([\d.]+) %", page
    ).groups()
    assert float(said) > 2 * float(seen)
    assert (
        "class_weight"
        not in re.findall(
            r"<ul>.*?</ul>", written(model.set_params(class_weight=None).fit(X, rare), X, rare, tmp_path)
        )[-1]
    )


def test_the_first_split_of_a_tree_and_of_a_tree_space_are_told_apart(tmp_path):
    tree = written(BayesianTreeClassifier().fit(X, Y), X, Y, tmp_path)
    space = written(TreeSpaceClassifier(max_nodes=60).fit(X, Y), X, Y, tmp_path)
    assert "given this split alone" in tree
    assert "averaged over all trees of the space" in space


def test_bad_input_is_refused(tmp_path):
    model = BayesianTreeClassifier().fit(X, Y)
    for options, error, message in (
        ({"exposure": np.ones(len(Y))}, ValueError, "exposure is not for the outcome 'categorical'"),
        ({"sample_weight": -np.ones(len(Y))}, ValueError, "negative"),
        ({"subgroups": "sex"}, TypeError, "subgroups must be a list"),
        ({"subgroups": ["sex"]}, ValueError, "subgroups names the column 'sex', which X does not have"),
        ({"subgroups": {"sex": ["f"]}}, ValueError, "one value per row"),
        ({"held_out": X}, TypeError, r"held_out must be a pair \(X, y\)"),
        ({"held_out": {"X": X}}, ValueError, "held_out must be a dict with X and y"),
        ({"held_out": (X, Y), "subgroups": {"sex": Y}}, ValueError, "held_out has rows of its own"),
        ({"immutable": ["sex"]}, ValueError, "immutable names the column 'sex'"),
        ({"directions": {"mean area": 2}}, ValueError, "directions must be 1 or -1"),
    ):
        with pytest.raises(error, match=message):
            written(model, X, Y, tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def every_kind():
    """Models of all outcomes and tables of all kinds, each with its rows."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": random.random(200),
            "text": random.choice(list("xyz"), 200),
            "truth": random.random(200) < 0.5,
            "missing": np.where(random.random(200) < 0.2, np.nan, random.random(200)),
        }
    )
    counts, kinds, two = random.poisson(3, 200) + 1.0, random.choice(list("uvw"), 200), random.choice(["n", "p"], 200)
    for custom in (Rates(), TwoRates(), Mean()):
        yield BayesianTreeRegressor(outcome=custom), frame, counts
    for outcome in ("normal", "poisson", "negative_binomial", "exponential"):
        yield TreeSpaceRegressor(outcome=outcome, max_nodes=20, unseen="average"), frame, counts
    yield TreeSpaceClassifier(max_nodes=30, decision=[[0, 1, 2], [1, 0, 1], [5, 1, 0]]), frame, kinds
    yield BayesianTreeClassifier(unseen="average", partitions="oblique", decision={"u": {"v": 3}}), frame, kinds
    yield BayesianTreeClassifier(), frame, np.full(200, "only")
    yield BayesianTreeClassifier(), pl.DataFrame(frame[["number", "text"]].to_dict("list")), pl.Series("t", two)
    yield BayesianTreeClassifier(), pa.table(frame[["number", "text"]].to_dict("list")), two
    yield BayesianTreeClassifier(), sparse.random(200, 5, density=0.3, format="csr", random_state=0), two
    yield BayesianTreeClassifier(), [[0.0], [1.0], [2.0]], [0, 1, 1]


@pytest.mark.parametrize(("model", "table", "y"), list(every_kind()), ids=lambda value: type(value).__name__)
def test_every_kind_of_model_and_table_has_a_page(model, table, y, tmp_path):
    sides = {"side": np.arange(len(np.asarray(y))) % 2}
    page = written(model.fit(table, y), table, y, tmp_path, subgroups=sides, folds=3)
    assert "other rows than those" not in page
    assert not re.search(r">(nan|inf|None)\b", page)


def test_with_costs_the_first_figure_is_a_cost():
    y = DATA.target
    plain = BayesianTreeClassifier().fit(X, y)
    costly = BayesianTreeClassifier(decision=[[0, 1], [5, 0]]).fit(X, y)
    held_out = hold_out(costly, read_dataset(costly.fitted_, X, y), None, 2)
    first, constant, *others = metrics_of(costly.fitted_, held_out)
    wrong = held_out.codes != held_out.y
    assert first.name == "Cost of a decision"
    assert first.figure.estimate == pytest.approx(np.mean(wrong * np.where(held_out.y == 1, 5, 1)))
    assert constant.figure.estimate == pytest.approx(min(5 * np.mean(y == 1), np.mean(y == 0)))
    assert "Accuracy" in [metric.name for metric in others]
    assert metrics_of(plain.fitted_, hold_out(plain, read_dataset(plain.fitted_, X, y), None, 2))[0].name == "Accuracy"
