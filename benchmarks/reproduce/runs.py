"""Fits and their figures, one line of JSON each, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, r2_score
from sklearn.model_selection import KFold

from baytree._progress import Progress
from baytree._typing import AnyArray, FloatArray
from benchmarks.paper_sets import DataSet

from .models import Model

Key = tuple[str, str, int, int]  # set, model, repeat, fold
Results = dict[Key, dict[str, float]]


@dataclass(frozen=True)
class Run:
    """One fit: what is fitted, on which rows of which set."""

    data: DataSet
    name: str
    model: Model
    repeat: int
    fold: int
    is_regression: bool = False

    @property
    def key(self) -> Key:
        """What tells it from the others."""
        return (self.data.name, self.name, self.repeat, self.fold)

    def parts(self) -> tuple[FloatArray, AnyArray, FloatArray, AnyArray]:
        """Rows to fit and rows to test: shuffled folds, or the set's own part for testing."""
        X, y = self.data.X, self.data.y
        if self.data.X_test is not None and self.data.y_test is not None:
            return X, y, self.data.X_test, self.data.y_test
        train, test = list(KFold(10, shuffle=True, random_state=self.repeat).split(X))[self.fold]
        return X[train], y[train], X[test], y[test]

    def figures(self) -> dict[str, float]:
        """Fit, predict and measure."""
        X, y, X_test, y_test = self.parts()
        model = self.model()
        start = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        if self.is_regression:
            result = _figures_of_numbers(model, X_test, y_test)
        else:
            probability = model.predict_proba(X_test)
            result = {"predict_time": time.perf_counter() - fitted} | _figures_of_classes(probability, y_test)
        return {"fit_time": fitted - start, "leaves": _n_leaves(model)} | result


def folds(data: DataSet, models: dict[str, Model], repeats: int, *, is_regression: bool = False) -> Iterator[Run]:
    """All runs of some models on a set; one where the set has a part for testing."""
    fixed = data.X_test is not None
    for repeat in range(1 if fixed else repeats):
        for fold in range(1 if fixed else 10):
            for name, model in models.items():
                yield Run(data, name, model, repeat, fold, is_regression)


def _n_leaves(peer: Any) -> float:
    """Leaves of a model of any library; of a forest in all its trees; NaN where nobody counts them."""
    if hasattr(peer, "estimators_"):
        return float(sum(tree.get_n_leaves() for tree in np.ravel(peer.estimators_)))
    return float(peer.get_n_leaves()) if hasattr(peer, "get_n_leaves") else float("nan")


def _figures_of_classes(probability: FloatArray, y: AnyArray) -> dict[str, float]:
    of_one = probability[:, 1]
    return {
        "accuracy": float(accuracy_score(y, of_one > 0.5)),
        "log_loss": float(log_loss(y, probability, labels=[0, 1])),
        "brier": float(brier_score_loss(y, of_one)),
        "ece": expected_calibration_error(of_one, y),
    }


def expected_calibration_error(probability: FloatArray, y: AnyArray, n_bins: int = 15) -> float:
    """Mean distance of the predicted probability from the frequency, over bins of equal width, by their rows."""
    of_row = np.minimum((probability * n_bins).astype(int), n_bins - 1)
    rows = np.bincount(of_row, minlength=n_bins)
    distance = np.bincount(of_row, weights=probability - y, minlength=n_bins)
    return float(np.abs(distance[rows > 0]).sum() / len(y))


def _figures_of_numbers(peer: Any, X: FloatArray, y: AnyArray) -> dict[str, float]:
    start = time.perf_counter()
    result = {"r2": float(r2_score(y, peer.predict(X)))}
    result["predict_time"] = time.perf_counter() - start
    if hasattr(peer, "predict_dist"):  # others predict no distributions
        low, high = peer.predict_interval(X, level=0.9).T
        result["density"] = float(-np.mean(peer.predict_dist(X).logpdf(y)))
        result["coverage"] = float(np.mean((low <= y) & (y <= high)))
    return result


def complete(runs: list[Run], store: Path, *, show: bool | None = None) -> Results:
    """Do the runs that the store lacks, writing down each as it ends."""
    done = read_store(store)
    left = [run for run in runs if run.key not in done]
    n_before = len(runs) - len(left)
    with (
        store.open("a", encoding="utf-8") as file,
        Progress("Fits", len(runs), done=n_before, show=show) as progress,
    ):
        for i, run in enumerate(left):
            progress.update(n_before + i, f"{run.data.name}, {run.name}")
            figures = run.figures()
            file.write(json.dumps([*run.key, figures]) + "\n")
            file.flush()
            done[run.key] = figures
        progress.update(len(runs), "Fits")
    return {run.key: done[run.key] for run in runs}


def read_store(store: Path) -> Results:
    """The runs that are written down; a line that a stop cut short does not count."""
    done: Results = {}
    if not store.exists():
        return done
    text = store.read_text(encoding="utf-8")
    lines = text.splitlines()
    if text and not text.endswith("\n"):
        lines.pop()
        store.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    for number, line in enumerate(lines, start=1):
        try:
            name, model, repeat, fold, figures = json.loads(line)
            done[(name, model, int(repeat), int(fold))] = {key: float(value) for key, value in figures.items()}
        except (ValueError, TypeError, AttributeError):
            raise ValueError(f"Line {number} of {str(store)!r} is damaged: remove the file to start anew.") from None
    return done
