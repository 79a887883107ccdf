"""Draw the picture of docs/linear_leaves.md: steps against lines, with the posterior band of the mean."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from baytree import BayesianTreeRegressor

IMAGES = Path(__file__).parent / "images"
BLUE, GREY = "#0072b2", "#999999"


def draw_linear() -> None:
    """A bent line with noise, by a tree with constant leaves and by one with linear leaves."""
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(0, 10, 120))[:, None]
    y = np.where(x[:, 0] < 6, 2 * x[:, 0], 24 - 2 * x[:, 0]) + random.normal(size=len(x))
    grid = np.linspace(0, 10, 500)[:, None]
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
    for ax, leaf in zip(axes, ("constant", "linear"), strict=True):
        model = BayesianTreeRegressor(leaf=leaf).fit(x, y)
        low, high = model.predict_interval(grid, level=0.9, kind="mean").T
        ax.plot(x[:, 0], y, ".", color=GREY, markersize=4)
        ax.fill_between(grid[:, 0], low, high, color=BLUE, alpha=0.25, linewidth=0)
        ax.plot(grid[:, 0], model.predict(grid), color=BLUE)
        ax.set(title=f'leaf="{leaf}": {model.get_n_leaves()} leaves', xlabel="x")
    axes[0].set_ylabel("y")
    figure.savefig(IMAGES / "linear_leaves.png", dpi=200)
    plt.close(figure)
