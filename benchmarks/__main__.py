"""Print every ratio we promise, beside the promise: ``python -m benchmarks``."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, _core
from benchmarks import engines, exact
from benchmarks.data import classification, mixed_frame
from benchmarks.measure import extra_memory_of_fit, memory_of_a_space_node, milliseconds, seconds_of


def report(what: str, value: float, promise: str, detail: str = "") -> None:
    """Print one line of the table."""
    print(f"{what:58s} {value:8.2f}   {promise:14s} {detail}", flush=True)


def exact_fit() -> None:
    """Fit at 100,000 x 20 against sorting the columns and against scikit-learn's tree."""
    X, y = classification(100_000)
    model = BayesianTreeClassifier()
    leaves = model.fit(X, y).get_n_leaves()
    plain = np.zeros(X.shape[1], dtype=np.uint8)
    fit, argsort, encode = seconds_of(
        lambda: BayesianTreeClassifier().fit(X, y),
        lambda: np.argsort(X, axis=0),
        lambda: _core.encode(X, plain, model._engine.n_bins, 0, False, 1),
        repeats=25,
    )
    detail = f"{milliseconds(fit)} (encoding {milliseconds(encode)}) against {milliseconds(argsort)}"
    report("fit 100,000 x 20, one thread / np.argsort of the columns", fit / argsort, "at most 2", detail)
    fit, tree, limited = seconds_of(
        lambda: BayesianTreeClassifier().fit(X, y),
        lambda: DecisionTreeClassifier(random_state=0).fit(X, y),
        lambda: DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y),
        repeats=3,
    )
    report("DecisionTreeClassifier().fit / that", tree / fit, "at least 20", milliseconds(tree))
    name = f"DecisionTreeClassifier(max_leaf_nodes={leaves}).fit / that"
    report(name, limited / fit, "", milliseconds(limited))


def normal_fit() -> None:
    """Regression at 100,000 x 20: one growth against scikit-learn's tree, and all that a default fit does."""
    X, y = make_friedman1(100_000, 20, noise=1.0, random_state=0)
    bare, theirs, ours = seconds_of(
        lambda: BayesianTreeRegressor(prior=[14, 0.3, 2, 15], prune=False, calibrate=False).fit(X, y),
        lambda: DecisionTreeRegressor(random_state=0).fit(X, y),
        lambda: BayesianTreeRegressor().fit(X, y),
        repeats=8,
    )
    detail = f"{milliseconds(theirs)} against {milliseconds(bare)}"
    report("DecisionTreeRegressor().fit / one growth", theirs / bare, "at least 10", detail)
    report("BayesianTreeRegressor().fit / one growth", ours / bare, "at most 3", milliseconds(ours))


def settled_prior() -> None:
    """Pruning and the search for a prior against the greedy tree."""
    X, y = classification(100_000)
    greedy, pruned, searched = seconds_of(
        lambda: BayesianTreeClassifier(prune=False).fit(X, y),
        lambda: BayesianTreeClassifier().fit(X, y),
        lambda: BayesianTreeClassifier(prior="evidence").fit(X, y),
        repeats=8,
    )
    report("fit 100,000 x 20 with pruning / without", pruned / greedy, "at most 1.05", milliseconds(greedy))
    report('fit with prior="evidence" / fit', searched / pruned, "at most 12", milliseconds(searched))


def calibration() -> None:
    """A default fit, which calibrates probabilities on held-out rows, against the growth of its tree."""
    for n_rows, promise, repeats in ((100_000, "at most 1.5", 8), (300, "", 100)):
        X, y = classification(n_rows)
        bare, default = seconds_of(
            lambda X=X, y=y: BayesianTreeClassifier(calibrate=False).fit(X, y),
            lambda X=X, y=y: BayesianTreeClassifier().fit(X, y),
            repeats=repeats,
        )
        report(f"fit {n_rows:,} x 20 with calibration / without", default / bare, promise, milliseconds(default))
        if n_rows == 300:
            report("fit 300 x 20 with calibration, milliseconds", 1e3 * default, "at most 15")


def raw_tables() -> None:
    """Missing values and categories against the same numbers without."""
    X, y = classification(100_000)
    missing = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    categories = np.floor(X * 10) % 50
    plain, with_missing, with_categories = seconds_of(
        lambda: BayesianTreeClassifier().fit(X, y),
        lambda: BayesianTreeClassifier().fit(missing, y),
        lambda: BayesianTreeClassifier(categorical_features=np.arange(10)).fit(
            np.column_stack([categories[:, :10], X[:, 10:]]), y
        ),
        repeats=5,
    )
    report("fit with one value in ten missing / without", with_missing / plain, "", milliseconds(with_missing))
    report(
        "fit with ten columns of 50 categories / without", with_categories / plain, "", milliseconds(with_categories)
    )


def tree_space() -> None:
    """The tree space and look-ahead against the greedy tree with the same prior."""
    X, y = classification(100_000)
    greedy, prunings, space = seconds_of(
        lambda: BayesianTreeClassifier(prior=1.0).fit(X, y),
        lambda: TreeSpaceClassifier(space="prunings").fit(X, y),
        lambda: TreeSpaceClassifier().fit(X, y),
        repeats=5,
    )
    report(
        "average over prunings / greedy tree, 100,000 x 20", prunings / greedy, "at most 1.3", milliseconds(prunings)
    )
    report("TreeSpaceClassifier().fit / greedy tree", space / greedy, "at most 30", milliseconds(space))
    greedy, ahead = seconds_of(
        lambda: BayesianTreeClassifier().fit(X, y),
        lambda: BayesianTreeClassifier(lookahead=1).fit(X, y),
        repeats=2,
    )
    report("BayesianTreeClassifier(lookahead=1).fit / greedy tree", ahead / greedy, "", milliseconds(ahead))


def oblique() -> None:
    """Hyperplanes against splits along the axes alone."""
    X, y = classification(100_000)
    axis, hyperplanes = seconds_of(
        lambda: BayesianTreeClassifier().fit(X, y),
        lambda: BayesianTreeClassifier(partitions="oblique").fit(X, y),
        repeats=3,
    )
    report('fit with partitions="oblique" / "axis"', hyperplanes / axis, "at most 10", milliseconds(hyperplanes))


def growth_with_rows() -> None:
    """Twice the rows against the rows."""
    X, y = classification(100_000)
    X2, y2 = classification(200_000)
    one, double = seconds_of(
        lambda: BayesianTreeClassifier().fit(X, y),
        lambda: BayesianTreeClassifier().fit(X2, y2),
        repeats=15,
    )
    report("fit 200,000 x 20 / fit 100,000 x 20", double / one, "at most 2.2")


def small_fit() -> None:
    """Small tables, where checking the input is most of the work."""
    X, y = classification(300)
    ours, theirs = seconds_of(
        lambda: BayesianTreeClassifier().fit(X, y),
        lambda: DecisionTreeClassifier(random_state=0).fit(X, y),
        repeats=200,
    )
    detail = f"{milliseconds(ours)} against {milliseconds(theirs)}"
    report("fit 300 x 20 / DecisionTreeClassifier().fit", ours / theirs, "at most 1", detail)


def prediction() -> None:
    """Rows per second on trees of the same size."""
    X, y = classification(100_000)
    ours = BayesianTreeClassifier().fit(X, y)
    theirs = DecisionTreeClassifier(max_leaf_nodes=ours.get_n_leaves(), random_state=0).fit(X, y)
    our_time, their_time = seconds_of(lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X), repeats=31)
    detail = f"{milliseconds(our_time)} against {milliseconds(their_time)} for 100,000 rows"
    report("predict_proba rows a second / scikit-learn's", their_time / our_time, "at least 2", detail)
    one = np.ascontiguousarray(X[:1])
    single, other = seconds_of(lambda: ours.predict_proba(one), lambda: theirs.predict_proba(one), repeats=2000)
    detail = f"{milliseconds(single)} against {milliseconds(other)}"
    report("predict_proba of one row, milliseconds", 1e3 * single, "at most 0.1", detail)


def frames() -> None:
    """Prediction from a data frame with text, against HistGradientBoosting on the same frame."""
    frame, y = mixed_frame(50_000)
    ours = BayesianTreeClassifier().fit(frame, y)
    as_categories = frame.astype({name: "category" for name in frame.columns if name.startswith("text")})
    theirs = HistGradientBoostingClassifier(random_state=0, max_iter=20).fit(as_categories, y)
    text, categories, boosting = seconds_of(
        lambda: ours.predict_proba(frame),
        lambda: ours.predict_proba(as_categories),
        lambda: theirs.predict_proba(as_categories),
        repeats=7,
    )
    detail = f"{milliseconds(text)} against {milliseconds(boosting)}"
    report("predict_proba of a frame of text / HistGradientBoosting", text / boosting, "at most 1", detail)
    detail = f"{milliseconds(categories)}"
    report("the same with columns of categories", categories / boosting, "at most 1", detail)
    one = frame.iloc[:1]
    single, _ = seconds_of(lambda: ours.predict_proba(one), lambda: None, repeats=500)
    report("predict_proba of a frame of one row, milliseconds", 1e3 * single, "at most 1")


def memory() -> None:
    """Peak memory beside the input."""
    for n_jobs in (1, 2, 8):
        share = extra_memory_of_fit(1_000_000, 20, n_jobs)
        report(f"extra memory of fit 1,000,000 x 20, n_jobs={n_jobs} / input", share, "at most 1.25")
    kilobytes = memory_of_a_space_node() / 1000
    report("kilobytes a node of a tree space, 30 features", kilobytes, "about 2")


if __name__ == "__main__":
    print(f"{'':58s} {'ratio':>8s}   promise")
    exact_fit()
    normal_fit()
    engines.in_memory()
    settled_prior()
    calibration()
    raw_tables()
    tree_space()
    oblique()
    exact.limits_and_distances()
    exact.all_threads()
    growth_with_rows()
    exact.many_rows()
    small_fit()
    prediction()
    frames()
    memory()
    engines.memory()
