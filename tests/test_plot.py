"""The plots: what they say, that nothing overlaps, and that they leave matplotlib as it was."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from scipy import sparse
from sklearn.datasets import load_iris

from baytree import (
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    plot,
)
from baytree._words import percent_text
from baytree.plot._posteriors import posteriors_of
from baytree.plot._words import escape_text, text_width, wrap_text
from tests.comparison import hyperplanes
from tests.own_outcomes import Rates, TwoRates

mpl.use("Agg")
HOSTILE = ["<script>$x_1$</script>", "emoji 😀 $ \x00\n𓀀", "שלום مرحبا", "_under_$", "漢字 \u202eabc"]


@pytest.fixture(autouse=True)
def _figures_are_closed():
    assert not plt.get_fignums()
    yield
    plt.close("all")


def mixed_table(n=400):
    """Numbers with missing values, categories, and names that are hard to draw."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(size=(n, len(HOSTILE))), columns=HOSTILE)
    X["kind"] = random.choice(["$a$", "_b_", "😀", "مرحبا", "<b>"], n)
    X.loc[::5, HOSTILE[0]] = np.nan
    signal = 2.0 * (X[HOSTILE[0]] > 0.5) + X["kind"].isin(["$a$", "😀"]) + 3.0 * X[HOSTILE[0]].isna()
    return X, signal.to_numpy() + random.uniform(0, 0.8, n)


TABLE, SIGNAL = mixed_table()
LABELS = {
    "two": np.where(SIGNAL > 1.5, "$yes$", "_no_"),
    "three": np.array(["_under", "$x$", "😀"])[np.minimum(SIGNAL.astype(int), 2)],
    "one": np.full(len(SIGNAL), "only"),
}
Y = {
    **LABELS,
    "normal": SIGNAL,
    "poisson": SIGNAL.round(),
    "exponential": SIGNAL + 0.1,
    "custom": SIGNAL.round(),
}
REGRESSIONS = ("normal", "poisson", "exponential", "custom")


def fitted(kind, X=TABLE, y=None, **parameters):
    y = Y[kind] if y is None else y
    if kind in LABELS:
        return BayesianTreeClassifier(**parameters).fit(X, y)
    return BayesianTreeRegressor(outcome=Rates() if kind == "custom" else kind, **parameters).fit(X, y)


MODELS = {kind: fitted(kind) for kind in Y}
MODELS["stump"] = fitted("two", max_depth=0)
MODELS["mean alone"] = fitted("normal", max_depth=0)
MODELS["space"] = TreeSpaceClassifier(max_nodes=30).fit(TABLE, Y["two"])
MODELS["space of numbers"] = TreeSpaceRegressor(max_nodes=30).fit(TABLE, Y["normal"])
OUTCOMES = {**Y, "stump": Y["two"], "mean alone": SIGNAL, "space": Y["two"], "space of numbers": SIGNAL}
CLASSIFIERS = [name for name, model in MODELS.items() if model.fitted_.classes is not None]
REGRESSORS = [name for name in MODELS if name not in CLASSIFIERS]


def draw(figure):
    """Draw it as if to save it: glyphs that are missing and the like are warnings, and warnings are errors."""
    figure.canvas.draw()
    return figure.canvas.get_renderer()


def texts_of(ax):
    return {text.get_text() for text in ax.texts}


def drawn_anew_and_on(function, n_panels=1):
    """Draw on a figure of its own and on Axes that are given; both ways return the Axes."""
    axes = function(ax=None)
    given = plt.subplots(1, 2)[1]
    plt.figure()
    current, n_figures = plt.gcf(), len(plt.get_fignums())
    ax = given[0] if n_panels == 1 else tuple(given)
    assert function(ax=ax) is ax if n_panels == 1 else all(a is b for a, b in zip(function(ax=ax), ax, strict=True))
    assert plt.gcf() is current
    assert len(plt.get_fignums()) == n_figures
    one = axes if n_panels == 1 else axes[0]
    assert isinstance(one, Axes)
    draw(one.figure)
    return axes


@pytest.mark.parametrize("name", MODELS)
def test_trees(name):
    assert_nothing_overlaps(drawn_anew_and_on(lambda ax: plot.tree(MODELS[name], ax=ax)))
    assert_nothing_overlaps(plot.tree(MODELS[name], max_depth=1))


@pytest.mark.parametrize("name", MODELS)
def test_leaves(name):
    model = MODELS[name]
    ax = drawn_anew_and_on(lambda ax: plot.leaves(model, ax=ax))
    assert len(ax.get_yticks()) == model.get_n_leaves()


@pytest.mark.parametrize("name", MODELS)
def test_feature_posteriors(name):
    ax = drawn_anew_and_on(lambda ax: plot.feature_posterior(MODELS[name], ax=ax))
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[-1] == "no split"
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(1)


def test_a_feature_posterior_counts_the_others():
    ax = plot.feature_posterior(MODELS["two"], max_features=1)
    assert {"5 other features", "no split"} < {label.get_text() for label in ax.get_yticklabels()}
    assert plot.feature_posterior(MODELS["two"], node=1).get_title() == "Which feature should split node 1?"


@pytest.mark.parametrize("name", MODELS)
def test_surfaces(name):
    features = (HOSTILE[0], "kind")
    drawn_anew_and_on(
        lambda ax: plot.surface(MODELS[name], TABLE, OUTCOMES[name], features=features, ax=ax), n_panels=2
    )


def test_a_surface_without_outcomes_has_no_points():
    left, right = plot.surface(MODELS["two"], TABLE, features=(1, -2))
    assert not left.collections
    assert right.get_title() == "How unsure is it?"


def test_a_surface_is_what_the_model_predicts():
    X = np.random.default_rng(0).uniform(size=(300, 2))
    model = BayesianTreeClassifier(partitions="oblique").fit(X, X @ [1, 2] > 1.4)
    assert hyperplanes(model.tree_).any()
    left, right = plot.surface(model, X, X @ [1, 2] > 1.4)
    shown = left.images[0].get_array()
    assert set(np.unique(shown)) <= set(model.tree_.value[:, 0, 1])
    assert len(np.unique(shown)) == model.get_n_leaves()
    assert right.images[0].get_array().min() > 0


def test_other_features_are_held_at_their_median_or_most_common_category():
    X = pd.DataFrame({"a": [0.0, 1.0] * 50, "b": [1.0, 2.0, 9.0, np.nan] * 25, "c": ["u", "v", "v", None] * 25})
    model = BayesianTreeClassifier().fit(X, [0, 1] * 50)
    rows = plot._surface.Table(model.schema_, model._read_all(X)).typical_rows({0: np.array([5.0])})
    assert rows.matrix.tolist() == [[5.0, 2.0, 1.0]]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_calibration(name):
    drawn_anew_and_on(lambda ax: plot.calibration(MODELS[name], TABLE, OUTCOMES[name], ax=ax))


def test_calibration_of_one_class_of_three():
    ax = plot.calibration(MODELS["three"], TABLE, Y["three"], label="$x$", bins=4)
    draw(ax.figure)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"probability of \$x\$"]
    every = plot.calibration(MODELS["three"], TABLE, Y["three"])
    legend = " ".join(text.get_text() for text in every.get_legend().get_texts())
    assert all(escape_text(label) in legend for label in MODELS["three"].classes_)


def test_the_points_of_a_calibration_are_frequencies():
    X, y = np.repeat([[0.0], [1.0]], 50, axis=0), np.r_[np.arange(50) < 10, np.arange(50) < 45]
    model = BayesianTreeClassifier(prior=1e-6, calibrate=False).fit(X, y)
    ax = plot.calibration(model, X, y)
    assert ax.lines[1].get_xydata().round(4).tolist() == [[0.2, 0.2], [0.9, 0.9]]


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("feature", [HOSTILE[0], "kind"])
def test_regressions(name, feature):
    ax = drawn_anew_and_on(lambda ax: plot.regression(MODELS[name], TABLE, OUTCOMES[name], feature, ax=ax))
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"data", "prediction"} <= set(legend)
    has_interval = name != "custom"
    assert any("interval of the outcome" in text for text in legend) == has_interval
    assert any("interval of the mean" in text for text in legend) == has_interval


def test_a_regression_draws_what_is_predicted():
    X = np.linspace(0, 1, 200)[:, None]
    y = np.where(X[:, 0] > 0.5, 3.0, 1.0) + np.random.default_rng(0).normal(0, 0.1, 200)
    model = BayesianTreeRegressor().fit(X, y)
    x, drawn = plot.regression(model, X, y, 0).lines[0].get_data()
    assert np.array_equal(drawn, model.predict(x[:, None]))


@pytest.mark.parametrize("feature", [HOSTILE[0], HOSTILE[1], "kind"])
@pytest.mark.parametrize(
    ("kind", "scale"),
    [
        ("two", "log"),
        ("two", "linear"),
        ("three", "log"),
        ("normal", "log"),
        ("poisson", "linear"),
        ("exponential", "log"),
    ],
)
def test_partition_posteriors(feature, kind, scale):
    options = {} if kind in LABELS else {"outcome": kind}
    ax = plot.partition_posterior(TABLE, Y[kind], feature, scale=scale, **options)
    draw(ax.figure)


def test_partition_posteriors_on_axes():
    drawn_anew_and_on(lambda ax: plot.partition_posterior(TABLE, Y["two"], 0, ax=ax))


def test_a_partition_posterior_has_the_probabilities_of_the_splits():
    X, y = np.array([[0.0], [0.5], [1.25], [1.5], [1.75]]), [1, 1, 1, 0, 0]
    likelihoods = np.array([1 / 60, 1 / 36, 1 / 12, 1 / 40])
    for scale in ("log", "linear"):
        ax = plot.partition_posterior(X, y, 0, scale=scale, prior=1.0, partition_prior=0.5)
        thresholds, heights = ax.lines[0].get_data()
        shares = heights if scale == "linear" else 10**heights
        assert thresholds.tolist() == [0.2, 0.9, 1.4, 1.6]
        assert np.allclose(shares / shares[0], likelihoods / likelihoods[0])
    no_split = 10 ** plot.partition_posterior(X, y, 0, prior=1.0, partition_prior=0.5).lines[1].get_ydata()[0]
    drawn = plot.partition_posterior(X, y, 0, prior=1.0, partition_prior=0.5).lines[0].get_ydata()
    assert np.sum(10**drawn) + no_split == pytest.approx(1)


@pytest.mark.parametrize("name", ["space", "space of numbers"])
def test_trees_of_a_space(name):
    space = MODELS[name]
    ax = drawn_anew_and_on(lambda ax: plot.trees(space, n=2, ax=ax))
    titles = [text for text in texts_of(ax) if text.startswith("weight")]
    weights = space.weights_[:2] / space.weights_[:2].sum()
    assert {title.split("\n")[0] for title in titles} == {f"weight {weight:.0%}" for weight in weights}
    assert_nothing_overlaps(ax)
    assert plot.trees(space, n=99, max_depth=1) is not None


def flat_texts(ax):
    """What is drawn, line breaks aside."""
    return [" ".join(text.get_text().split()) for text in ax.texts]


@pytest.mark.parametrize("max_depth", [None, 1])
def test_every_node_of_a_small_tree_says_what_it_is(max_depth):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BayesianTreeClassifier(max_depth=2).fit(X, y == 2)
    tree, texts = model.tree_, flat_texts(plot.tree(model, max_depth=max_depth))
    drawn = [node for node in range(tree.node_count) if max_depth is None or tree.depth[node] <= max_depth]
    for node in drawn:
        node_texts = [
            text
            for text in texts
            if text.endswith(f"n = {tree.n_node_samples[node]}") or f"n = {tree.n_node_samples[node]} …" in text
        ]
        if tree.is_leaf[node] or tree.depth[node] == max_depth:
            assert any(str(model.classes_[tree.value[node, 0].argmax()]) in text for text in node_texts)
            assert any(f"{percent_text(tree.value[node, 0, 1])} True" in text for text in node_texts)
            assert any(text.endswith("leaves") for text in node_texts) != tree.is_leaf[node]
        else:
            split = tree.split(node)
            rule = f"{split.subject(model.schema_)} {split.condition(model.schema_)}"
            assert any(text.startswith(rule) and "split " in text and "column " in text for text in node_texts)
    assert sum("n = " in text for text in texts) == len(drawn)
    assert {"yes", "no"} <= set(texts)
    assert any("posterior density of the probability of True" in text for text in texts)


def node_boxes(ax):
    """The boxes of nodes have a frame; the bars in them have none."""
    return [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_linewidth() > 0]


def assert_nothing_overlaps(ax):
    """Neither boxes nor texts meet, and every text of a node is in its box."""
    renderer = draw(ax.figure)
    boxes = np.array([box.get_window_extent(renderer).extents for box in node_boxes(ax)])
    texts = [text for text in ax.texts if text.get_text()]
    extents = np.array([text.get_window_extent(renderer).extents for text in texts])
    assert_apart(boxes)
    assert_apart(extents)
    inside = [e for e, text in zip(extents, texts, strict=True) if "n = " in text.get_text()]
    for x0, y0, x1, y1 in inside:
        holds = (boxes[:, 0] <= x0 + 1) & (boxes[:, 1] <= y0 + 1) & (boxes[:, 2] >= x1 - 1) & (boxes[:, 3] >= y1 - 1)
        assert holds.sum() == 1
    figure = ax.figure.bbox.extents
    assert np.all(extents[:, :2] >= figure[:2] - 1)
    assert np.all(extents[:, 2:] <= figure[2:] + 1)


def assert_apart(extents):
    a, b = extents[:, None], extents[None]
    overlap = (np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])).min(axis=-1)
    np.fill_diagonal(overlap, -1)
    assert overlap.max() <= 0.5


@pytest.fixture(scope="module")
def deep():
    """Eight levels, about sixty leaves, and names of sixty characters."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(20_000, 6))
    chance = random.uniform(size=64)[(X > 0.5) @ (1 << np.arange(6))]
    names = [f"the quarterly seasonally adjusted total of feature number {i:03d}" for i in range(6)]
    y = random.uniform(size=len(X)) < chance
    model = BayesianTreeClassifier(partition_prior=0.99, max_depth=8, max_leaf_nodes=64, prune=False)
    model.fit(pd.DataFrame(X, columns=names), y)
    assert model.get_depth() == 8
    assert model.get_n_leaves() >= 60
    return model


def test_a_deep_tree_with_long_names_has_room(deep):
    for most, n_boxes in ((24, 47), (None, deep.tree_.node_count)):
        ax = plot.tree(deep, max_leaves=most)
        assert_nothing_overlaps(ax)
        assert min(text.get_fontsize() for text in ax.texts) > 6
        assert len(node_boxes(ax)) == n_boxes
    assert plot.tree(deep).figure.get_figwidth() < 30


def test_long_words_and_many_classes_have_room():
    X = np.arange(30.0)[:, None].repeat(10, axis=0)
    X = pd.DataFrame({"x" * 200: X[:, 0], "W" * 60: -X[:, 0]})
    labels = np.array([f"class {i} {'W' * 60}" for i in range(15)])
    model = BayesianTreeClassifier(prior=0.1).fit(X, labels[(np.arange(300) // 20)])
    ax = plot.tree(model)
    assert_nothing_overlaps(ax)
    assert any("probability of the class that is decided for" in text for text in texts_of(ax))


def test_a_tree_on_small_axes_is_made_to_fit(deep):
    figure, (ax, _) = plt.subplots(1, 2, figsize=(12, 4))
    plot.tree(deep, max_depth=3, ax=ax)
    renderer, room = draw(figure), ax.get_window_extent()
    for text in ax.texts:
        x0, y0, x1, y1 = text.get_window_extent(renderer).extents
        assert x0 >= room.x0 - 2
        assert x1 <= room.x1 + 2
        assert y0 >= room.y0 - 2
        assert y1 <= room.y1 + 2


def test_figures_stay_within_what_can_be_saved(monkeypatch):
    large = plot.tree(MODELS["normal"])
    monkeypatch.setattr(plot._sheet, "_WIDEST", 3.0)
    ax = plot.tree(MODELS["normal"])
    assert ax.figure.get_size_inches()[0] == pytest.approx(3.0)
    assert ax.texts[0].get_fontsize() < large.texts[0].get_fontsize() / 2
    assert_nothing_overlaps(ax)


@pytest.mark.parametrize("name", ["two", "normal", "poisson", "exponential", "stump", "mean alone"])
def test_densities_have_an_area_of_one(name):
    model = MODELS[name]
    posteriors = posteriors_of(model.fitted_, np.flatnonzero(model.tree_.is_leaf))
    for node in posteriors.nodes.values():
        values, density = node.curve
        assert 0.95 < np.trapezoid(density, values) < 1.01
        assert posteriors.low <= values.min() <= values.max() <= posteriors.high


def test_a_leaf_that_knows_nothing_does_not_hide_the_others():
    random = np.random.default_rng(0)
    X, y = random.uniform(size=(60, 2)), random.exponential(size=60)
    model = BayesianTreeRegressor(outcome="exponential", prior=(0.5, 1.0)).fit(X, y, event=X[:, 0] < 0.5)
    assert np.isinf(model.tree_.value).any()
    posteriors = posteriors_of(model.fitted_, np.flatnonzero(model.tree_.is_leaf))
    assert 0 <= posteriors.low < posteriors.high < 20
    assert_nothing_overlaps(plot.tree(model))
    draw(plot.leaves(model).figure)
    draw(plot.regression(model, X, y, 0).figure)


def test_the_density_of_a_leaf_fills_its_picture():
    ax = plot.tree(MODELS["two"])
    heights = [np.ptp(curve.get_paths()[0].vertices[:, 1]) for curve in ax.collections]
    assert min(heights) > 0
    assert np.allclose(heights, heights[0])


def test_names_are_drawn_as_they_stand():
    assert escape_text("a$b$ _c_\n\td") == r"a\$b\$ _c_ d"
    assert escape_text("𓀀") == "□"
    lines = wrap_text("a rather long name of several words", 1.0, 8, 2).split("\n")
    assert len(lines) == 2
    assert lines[-1].endswith("…")
    assert all(text_width(line, 8) <= 1.0 for line in lines)
    assert wrap_text("short", 1.0, 8) == "short"
    assert wrap_text("", 1.0, 8) == ""


def test_sparse_tables_and_tables_without_names():
    X = sparse.random(300, 4, density=0.5, random_state=0, format="csr")
    y = np.asarray(X[:, [1]].todense()).ravel() > 0.3
    model = BayesianTreeClassifier().fit(X, y)
    draw(plot.surface(model, X, y, features=(0, 1))[0].figure)
    assert "x1 <= " in str(sorted(texts_of(plot.tree(model))))


ERRORS = {
    "model must be a tree, a tree space or a forest of baytree, or a pipeline or threshold classifier that ends": (
        TypeError,
        lambda: plot.tree(3),
    ),
    "ax must be None or a matplotlib Axes; got 3": (TypeError, lambda: plot.tree(MODELS["two"], ax=3)),
    "max_depth must be a whole number": (ValueError, lambda: plot.tree(MODELS["two"], max_depth=-1)),
    "node must be one of the tree's 1 nodes; got 7": (
        ValueError,
        lambda: plot.feature_posterior(MODELS["stump"], node=7),
    ),
    "calibration needs a classifier; this model predicts numbers": (
        TypeError,
        lambda: plot.calibration(MODELS["normal"], TABLE, SIGNAL),
    ),
    "y holds the label 'maybe', which is none of the model's classes": (
        ValueError,
        lambda: plot.calibration(MODELS["two"], TABLE, np.full(len(TABLE), "maybe")),
    ),
    "label must be one of the classes": (
        ValueError,
        lambda: plot.calibration(MODELS["two"], TABLE, Y["two"], label="maybe"),
    ),
    "regression needs a regressor; this model predicts classes": (
        TypeError,
        lambda: plot.regression(MODELS["two"], TABLE, SIGNAL, 0),
    ),
    "y must hold one number per row of X": (
        ValueError,
        lambda: plot.regression(MODELS["normal"], TABLE, SIGNAL[:3], 0),
    ),
    "feature names the column 'kinds', which X does not have.*kind": (
        ValueError,
        lambda: plot.regression(MODELS["normal"], TABLE, SIGNAL, "kinds"),
    ),
    "feature gives column 17": (ValueError, lambda: plot.partition_posterior(TABLE, Y["two"], 17)),
    "scale must be 'log' or 'linear'; got 'sqrt'": (
        ValueError,
        lambda: plot.partition_posterior(TABLE, Y["two"], 0, scale="sqrt"),
    ),
    "features must be two features": (ValueError, lambda: plot.surface(MODELS["two"], TABLE, features="ab")),
    "features must be two different features; got 'kind' twice": (
        ValueError,
        lambda: plot.surface(MODELS["two"], TABLE, features=("kind", -1)),
    ),
    "surface draws two panels": (
        TypeError,
        lambda: plot.surface(MODELS["two"], TABLE, ax=plt.figure().add_subplot()),
    ),
    "y must hold one outcome per row of X": (
        ValueError,
        lambda: plot.surface(MODELS["two"], TABLE, Y["two"][:3]),
    ),
    "space must be a tree space of baytree, whose trees have weights": (
        TypeError,
        lambda: plot.trees(MODELS["two"]),
    ),
}


@pytest.mark.parametrize("message", ERRORS)
def test_what_cannot_be_drawn_is_said_in_a_sentence(message):
    error, call = ERRORS[message]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("function", [plot.tree, plot.leaves, plot.feature_posterior])
def test_models_must_be_fitted(function):
    with pytest.raises(ValueError, match="not fitted"):
        function(BayesianTreeClassifier())


def test_a_failed_plot_leaves_no_figure():
    for error, call in ERRORS.values():
        n_figures = len(plt.get_fignums())
        if call is not ERRORS["surface draws two panels"][1]:
            with pytest.raises(error):
                call()
            assert len(plt.get_fignums()) == n_figures


def test_an_outcome_of_several_means_has_a_tree_but_no_surface():
    model = BayesianTreeRegressor(outcome=TwoRates()).fit(TABLE, Y["poisson"])
    draw(plot.tree(model).figure)
    plt.close("all")
    with pytest.raises(ValueError, match="whose mean is one number"):
        plot.surface(model, TABLE)
    with pytest.raises(ValueError, match="whose mean is one number"):
        plot.regression(model, TABLE, Y["poisson"], 0)
    assert not plt.get_fignums()


def test_the_code_of_the_page_draws():
    page = (Path(__file__).parents[1] / "docs" / "plots.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(code, "plots.md", "exec"), names)
    assert len(plt.get_fignums()) == page.count("![")


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("baytree.plot", "matplotlib"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"baytree.plot needs matplotlib: pip install 'baytree\[plot\]'"):
        importlib.import_module("baytree.plot")


def test_the_picture_of_a_tree_counts_the_terms_of_its_leaves():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(400, 3))
    y = np.where(X[:, 1] > 0, 3 * X[:, 0] + X[:, 2], 1 - 2 * X[:, 0]) + 0.2 * random.normal(size=400)
    model = BayesianTreeRegressor(leaf="linear").fit(X, y)
    tree = model.tree_
    assert tree.n_leaves == 2
    drawn = [text.get_text() for text in plot.tree(model).texts]
    for n_terms, n in zip(tree.leaves.n_terms[tree.is_leaf], tree.n_node_samples[tree.is_leaf], strict=True):
        text_of_leaf = next(text for text in drawn if f"n = {n}\n" in text and "model of" in text)
        assert text_of_leaf.endswith(f"model of {n_terms} term{'s' if n_terms > 1 else ''}")
