"""Draw the picture of docs/edit.md: what each threshold of a split costs."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from baytree import BayesianTreeClassifier, edit

IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"


def draw_edit() -> None:
    """The odds of thresholds of the first split of a tree of one split, and two round ones."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = BayesianTreeClassifier(max_depth=1).fit(X, y)
    draft = edit.start(model, X, y)
    best, name = float(draft.tree_.threshold[0]), X.columns[draft.tree_.feature[0]]
    grid = np.linspace(best - 12, best + 12, 241)
    figure, ax = plt.subplots(figsize=(6.5, 3.0), layout="constrained")
    ax.plot(grid, [_odds(draft, threshold) for threshold in grid], color=BLUE, drawstyle="steps-mid")
    for threshold in (best, 110.0, 115.0):
        odds, is_best = _odds(draft, threshold), threshold == best
        ax.plot(threshold, odds, "o", color=GREY if is_best else ORANGE)
        label = f"{threshold:g}\nbest" if is_best else f"{threshold:g}\n1:{1 / odds:.3g}"
        ax.annotate(label, (threshold, odds), xytext=(0, 7), textcoords="offset points", ha="center", va="bottom")
    ax.set(yscale="log", xlabel=f"threshold of {name}", ylabel="odds against the best")
    ax.set(xlim=(best - 6, best + 12), ylim=(1e-9, 1e2))
    figure.savefig(IMAGES / "edit.png", dpi=200)
    plt.close(figure)


def _odds(draft, threshold) -> float:
    odds = draft.move(0, float(threshold)).odds
    draft.undo()
    return odds
