"""Draw the pictures of the README and of the pages: ``make figures``."""

from __future__ import annotations

import re
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, partition_space, report
from benchmarks.paper_sets import make_ripley
from docs.figures_edit import draw_edit
from docs.figures_idea import draw_idea
from docs.figures_linear import draw_linear
from docs.figures_tree import draw_annotated_tree

IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"  # safe for colour-blind readers


def main() -> None:
    """Draw all pictures."""
    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    model = BayesianTreeClassifier().fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    draw_splits(left, X, y)
    draw_leaves(right, model)
    figure.savefig(IMAGES / "posterior.png", dpi=200)

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    draw_intervals(left)
    draw_survival(right)
    figure.savefig(IMAGES / "outcomes.png", dpi=200)

    figure, axes = plt.subplots(1, 3, figsize=(9, 3.0), layout="constrained")
    draw_space(axes)
    figure.savefig(IMAGES / "tree_space.png", dpi=200)

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    draw_oblique(axes)
    figure.savefig(IMAGES / "oblique.png", dpi=200)

    draw_annotated_tree(model, IMAGES / "annotated_tree.png")
    draw_idea()
    draw_linear()
    draw_edit()
    draw_gallery()
    photograph_page(model, X, y)


def photograph_page(model, X, y) -> None:
    """The report in a browser: a case in the tree, the decision, subgroups, a phone; and a large tree."""
    folder = Path(tempfile.mkdtemp())
    page_file = report.write(model, X, y, folder / "report.html", title="Breast cancer", subgroups=["mean radius"])
    large_file = report.write(*large_model(), folder / "large.html", title="A large tree", folds=2)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 780})
        page.goto(page_file.as_uri())
        photograph(page, "#decision", "report_decision.png")
        photograph(page, "#subgroups", "report_subgroups.png", height=560)
        fill_in(page)
        photograph(page, "#tree", "report.png", height=760)
        page.goto(large_file.as_uri())
        photograph(page, "#tree", "report_large.png", height=880)
        phone = browser.new_page(viewport={"width": 390, "height": 800}, device_scale_factor=2)
        phone.goto(page_file.as_uri())
        fill_in(phone)
        photograph(phone, "#answer", "report_phone.png")
        browser.close()


def photograph(page, part, name, height=None) -> None:
    """What is seen when a part of the page is at the top of the window."""
    if height is not None:
        page.set_viewport_size({"width": page.viewport_size["width"], "height": height})
    page.locator(part).evaluate("element => element.scrollIntoView()")
    page.screenshot(path=IMAGES / name)


def fill_in(page) -> None:
    """A case."""
    for name, value in (("worst perimeter", "110"), ("worst smoothness", "0.14")):
        page.locator("#fields").get_by_label(name).fill(value)
    page.get_by_role("button", name="What does the model say?").click()


def large_model():
    """A tree of 500 leaves, and its rows."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.random((60_000, 8)), columns=[f"measurement {i}" for i in range(1, 9)])
    score = sum(np.floor(5 * table.iloc[:, i]) % 2 * (1.2 - 0.1 * i) + 2 * table.iloc[:, i] for i in range(8))
    y = np.where(score + random.normal(0, 0.6, len(score)) > np.median(score), "yes", "no")
    return BayesianTreeClassifier(max_leaf_nodes=500, prune=False).fit(table, y), table, y


def draw_gallery() -> None:
    """The pictures of docs/plots.md, drawn by its own code, in order."""
    page = (IMAGES.parent / "plots.md").read_text(encoding="utf-8")
    names = re.findall(r"!\[.*?\]\(images/(.*?)\)", page)
    plt.close("all")
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    exec(compile(code, "plots.md", "exec"), {})  # noqa: S102 (the code of our own page)
    for number, name in zip(plt.get_fignums(), names, strict=True):
        plt.figure(number).savefig(IMAGES / name, dpi=200)


def draw_splits(axes, X, y) -> None:
    """Posterior probability of every split of the two best features."""
    space = partition_space(X, y)
    for name, colour in (("worst perimeter", BLUE), ("worst radius", ORANGE)):
        of_feature = space[space["feature"] == list(X.columns).index(name)]
        scale = (of_feature["threshold"] - X[name].min()) / np.ptp(X[name])
        axes.semilogy(scale, np.exp(of_feature["log_posterior"]), ".", color=colour, markersize=3, label=name)
    axes.set(
        title="How probable is each first split?",
        xlabel="threshold, as a share of the feature's range",
        ylabel="posterior probability",
        ylim=(1e-12, 1),
        xlim=(0.2, 0.4),
    )
    axes.legend(frameon=False, loc="upper right", markerscale=3)


def draw_intervals(axes) -> None:
    """90 % intervals of held-out rows of scikit-learn's diabetes table, in order of their prediction."""
    X, y = load_diabetes(return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), test_size=0.33, random_state=0)
    model = BayesianTreeRegressor().fit(X[train], y[train])
    order = test[np.argsort(model.predict(X[test]), kind="stable")]
    low, high = model.predict_interval(X[order], level=0.9).T
    inside = (y[order] >= low) & (y[order] <= high)
    place = np.arange(len(order))
    axes.fill_between(place, low, high, step="mid", color=BLUE, alpha=0.2, lw=0)
    axes.step(place, model.predict(X[order]), where="mid", color=BLUE, lw=1.2)
    axes.plot(place[inside], y[order][inside], ".", color=GREY, markersize=4)
    axes.plot(place[~inside], y[order][~inside], "x", color=ORANGE, markersize=4)
    axes.set(
        title=f"{inside.mean():.0%} of new patients in the 90 % interval",
        xlabel="held-out patients, by prediction",
        ylabel="progression after a year",
    )


def draw_space(axes) -> None:
    """One tree and the average over all, on Ripley's mixture; log loss on new rows against max_nodes."""
    X, y = make_ripley(250, random_state=0)
    X_new, y_new = make_ripley(20_000, random_state=1)
    greedy = BayesianTreeClassifier().fit(X, y)
    models = {n: TreeSpaceClassifier(max_nodes=n).fit(X, y) for n in (0, 30, 100, 300, 1000, 3000, 10_000)}
    names = {"one tree (greedy-modal)": greedy, "average over the tree space": models[3000]}
    side, low, high = 200, X.min(axis=0), X.max(axis=0)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, side).T), axis=-1).reshape(-1, 2)
    for ax, (name, model) in zip(axes[:2], names.items(), strict=True):
        surface = model.predict_proba(grid)[:, 1].reshape(side, side)
        ax.imshow(
            surface, extent=(low[0], high[0], low[1], high[1]), origin="lower", cmap="RdBu_r", vmin=-0.15, vmax=1.15
        )
        for label, colour in ((0, "#053061"), (1, "#67001f")):
            ax.plot(*X[y == label].T, ".", color=colour, markersize=2)
        ax.set(title=f"{name}\nlog loss {log_loss(y_new, model.predict_proba(X_new)):.3f}", aspect="auto")
        ax.set_xticks([])
        ax.set_yticks([])
    losses = [log_loss(y_new, model.predict_proba(X_new)) for model in models.values()]
    axes[2].plot(range(len(models)), losses, "o-", color=BLUE, markersize=4, lw=1.2)
    axes[2].set_xticks(range(len(models)), [f"{n:,}" for n in models], rotation=45)
    axes[2].set(title="by nodes explored", xlabel="max_nodes", ylabel="log loss on new rows")


def draw_oblique(axes) -> None:
    """Splits along one feature and hyperplanes, on two features of the breast cancer table."""
    data = load_breast_cancer(as_frame=True)
    names = ["worst area", "worst smoothness"]
    X, malignant = data.data[names], data.target == 0
    low, high, side = X.min().to_numpy(), X.max().to_numpy(), 300
    grid = np.stack(np.meshgrid(*np.linspace(low, high, side).T), axis=-1).reshape(-1, 2)
    for ax, partitions in zip(axes, ("axis", "oblique"), strict=True):
        model = BayesianTreeClassifier(partitions=partitions).fit(X.to_numpy(), malignant)
        surface = model.predict_proba(grid)[:, 1].reshape(side, side)
        extent = (low[0], high[0], low[1], high[1])
        ax.imshow(surface, extent=extent, origin="lower", cmap="RdBu_r", vmin=-0.15, vmax=1.15, aspect="auto")
        for label, colour in ((False, "#053061"), (True, "#67001f")):
            ax.plot(*X[malignant == label].to_numpy().T, ".", color=colour, markersize=2.5)
        ax.set(title=f'partitions="{partitions}": {model.get_n_leaves()} leaves', xlabel=names[0])
    axes[0].set_ylabel(names[1])


def draw_survival(axes) -> None:
    """Survival curves of the leaves of a tree for durations, some of them censored."""
    X, duration, event = make_survival()
    model = BayesianTreeRegressor(outcome="exponential", min_samples_leaf=30).fit(X, duration, event=event)
    time = np.linspace(0, 10, 200)
    for leaf, colour in zip(np.flatnonzero(model.tree_.is_leaf), (BLUE, ORANGE, "#009e73"), strict=True):
        shape, rate = model.tree_.posterior[leaf]
        hazard = stats.gamma(shape, scale=1 / rate)
        axes.fill_between(
            time, np.exp(-hazard.ppf(0.95) * time), np.exp(-hazard.ppf(0.05) * time), color=colour, alpha=0.25, lw=0
        )
        path = model.tree_.path(leaf)
        names = [
            f"{('age', 'dose')[model.tree_.feature[a]]} {'≤' if model.tree_.children_left[a] == b else '>'} "
            f"{model.tree_.threshold[a]:.2g}"
            for a, b in pairwise(path)
        ]
        axes.plot(time, stats.lomax(shape, scale=rate).sf(time), color=colour, label=", ".join(names), lw=1.2)
    axes.set(
        title="Survival by leaf, with 90 % bands", xlabel="years", ylabel="share still without an event", ylim=(0, 1)
    )
    axes.legend(frameon=False, fontsize=8)


def make_survival():
    """Six hundred patients; hazards depend on age and dose, and a third is lost to follow-up."""
    random = np.random.default_rng(0)
    age, dose = random.uniform(30, 80, 600), random.uniform(0, 10, 600)
    hazard = np.where(age > 60, np.where(dose > 5, 0.15, 0.5), 0.1)
    death, lost = random.exponential(1 / hazard), random.exponential(8, 600)
    return np.column_stack([age, dose]), np.minimum(death, lost), death <= lost


def draw_leaves(axes, model) -> None:
    """Posterior density of the probability of a malignant tumour in each leaf."""
    p = np.linspace(0, 1, 801)
    for leaf in np.flatnonzero(model.tree_.is_leaf):
        benign, malignant = model.tree_.posterior[leaf]
        density = stats.beta(malignant, benign).pdf(p)
        colour = ORANGE if malignant > benign else BLUE
        axes.fill_between(p, density, color=colour, alpha=0.25, lw=0)
        axes.plot(p, density, color=colour, lw=1.2)
        top = density.argmax()
        axes.annotate(
            f"n={model.tree_.n_node_samples[leaf]}",
            (p[top], density[top]),
            ha="center",
            va="bottom",
            color=GREY,
            fontsize=8,
        )
    axes.set(title="Posterior in each leaf", xlabel="probability that the tumour is malignant", xlim=(0, 1))
    axes.set_ylim(0, axes.get_ylim()[1] * 1.08)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


if __name__ == "__main__":
    main()
