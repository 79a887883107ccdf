"""From runs to tables: means, paired differences with intervals, ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from baytree._typing import FloatArray
from benchmarks.paper_sets import DataSet

from . import paper
from .models import PAPER
from .runs import Results


@dataclass(frozen=True)
class Table:
    """A title, a sentence, a header and rows of text."""

    title: str
    text: str
    header: list[str]
    rows: list[list[str]]


def figures_of(results: Results, name: str, model: str, figure: str) -> FloatArray:
    """A figure of all folds and repeats, in their order."""
    keys = sorted(key for key in results if key[:2] == (name, model))
    return np.array([results[key].get(figure, np.nan) for key in keys])


def standard_error(values: FloatArray) -> float:
    """Of the mean over folds; not known of one test set."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def paired_interval(difference: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Interval of a mean difference over folds.

    Folds share training rows, so the variance is raised by test / training rows, 1/9 for ten folds (Nadeau and
    Bengio, *Inference for the generalization error*, 2003).
    """
    k = len(difference)
    if k < 2:
        return float("nan"), float("nan")
    reach = stats.t.ppf(0.5 + level / 2, k - 1) * np.sqrt((1 / k + 1 / 9) * difference.var(ddof=1))
    return float(difference.mean() - reach), float(difference.mean() + reach)


def accuracy_table(results: Results, sets: list[DataSet]) -> Table:
    """Table 1 of the paper beside ours."""
    header = ["set", "d", "n", "DT", "paper", "RF 5", "paper"]
    header += ["GMT, literal", "GMT", "paper", "GMT − paper", "± s.e.", "baytree"]
    rows = []
    for data in sets:
        ours = {model: 100 * figures_of(results, data.name, model, "accuracy") for model in PAPER}
        tree, forest, gmt = paper.ACCURACY[data.name]
        n = f"{len(data.y)}" if data.y_test is None else f"{len(data.y)}/{len(data.y_test)}"
        rows.append(
            [
                data.name,
                f"{data.X.shape[1]}",
                n,
                f"{ours['DT'].mean():.1f}",
                f"{tree:.1f}",
                f"{ours['RF 5'].mean():.1f}",
                f"{forest:.1f}",
                f"{ours['GMT, literal prior'].mean():.1f}",
                f"{ours['GMT'].mean():.1f}",
                f"{gmt:.1f}",
                _signed(ours["GMT"].mean() - gmt),
                _number(standard_error(ours["GMT"]), ".1f"),
                f"{ours['baytree'].mean():.1f}",
            ]
        )
    text = (
        "Accuracy in percent: ours, and the paper's beside it. Shuffled ten-fold cross-validation; Ripley's set has a "
        "part for testing of its own, so there is no error over folds. DT and RF are scikit-learn's with the seed 0; "
        "the paper's seeds are not known. GMT has the paper's prior and no pruning, baytree is today's default."
    )
    return Table("Accuracy (table 1 of the paper)", text, header, rows)


def time_table(results: Results, sets: list[DataSet]) -> Table:
    """Table 2 of the paper as ratios, beside ours."""
    rows = []
    for data in sets:
        times = {m: np.median(figures_of(results, data.name, m, "fit_time")) for m in ("DT", "RF 5", "GMT")}
        tree, forest, gmt = paper.TRAIN_TIME[data.name]
        rows.append(
            [
                data.name,
                f"{1000 * times['DT']:.1f}",
                f"{times['RF 5'] / times['DT']:.2f}",
                _number(forest / tree if tree else float("nan"), ".2f"),
                f"{times['GMT'] / times['DT']:.2f}",
                _number(gmt / tree if tree else float("nan"), ".2f"),
            ]
        )
    text = "Time of one fit as a ratio to that of DT (median over folds). The paper prints 0.0 ms for DT on small sets."
    header = ["set", "DT, ms", "RF 5 / DT", "paper", "GMT / DT", "paper"]
    return Table("Training time (table 2 of the paper)", text, header, rows)


def beyond_table(results: Results, sets: list[DataSet], models: list[str]) -> Table:
    """All models by all figures, averaged over the sets, with their mean rank."""
    accuracy = {m: np.array([figures_of(results, d.name, m, "accuracy").mean() for d in sets]) for m in models}
    ranks = stats.rankdata([-accuracy[m] for m in models], axis=0).mean(axis=1)
    rows = []
    for model, rank in zip(models, ranks, strict=True):
        mean = {
            figure: float(np.mean([np.mean(figures_of(results, d.name, model, figure)) for d in sets]))
            for figure in ("log_loss", "brier", "ece", "leaves", "fit_time", "predict_time")
        }
        rows.append(
            [
                model,
                f"{100 * accuracy[model].mean():.1f}",
                f"{rank:.1f}",
                f"{mean['log_loss']:.3f}",
                f"{mean['brier']:.3f}",
                f"{mean['ece']:.3f}",
                _number(mean["leaves"], ".0f"),
                f"{1000 * mean['fit_time']:.1f}",
                f"{1000 * mean['predict_time']:.1f}",
            ]
        )
    header = ["model", "accuracy, %", "mean rank", "log loss", "Brier", "ECE", "leaves", "fit, ms", "predict, ms"]
    text = (
        f"Means over the {len(sets)} sets. Rank 1 is the most accurate model of a set. ECE: expected calibration "
        "error, 15 bins. Leaves of a forest are those of all its trees. RF 100 uses all cores."
    )
    return Table("One explainable tree beside what you would use instead", text, header, rows)


def difference_table(results: Results, sets: list[DataSet], models: list[str]) -> Table:
    """The default against every other model, set by set."""
    others = [model for model in models if model != "baytree"]
    rows = []
    for data in sets:
        row = [data.name]
        for other in others:
            difference = 100 * (
                figures_of(results, data.name, "baytree", "accuracy")
                - figures_of(results, data.name, other, "accuracy")
            )
            low, high = paired_interval(difference)
            interval = "" if np.isnan(low) else f" ({_signed(low)} to {_signed(high)})"
            row.append(_signed(difference.mean()) + interval)
        rows.append(row)
    text = (
        "Accuracy of baytree minus that of each other model, in points, paired over folds, with 95 % intervals "
        "(variance corrected for shared training rows, Nadeau and Bengio 2003)."
    )
    return Table("Paired differences", text, ["set", *others], rows)


def regression_table(results: Results, sets: list[DataSet], models: list[str]) -> Table:
    """R2 of all, density and coverage of those that predict a distribution."""
    rows = []
    for data in sets:
        for model in models:
            figures = {
                f: figures_of(results, data.name, model, f) for f in ("r2", "density", "coverage", "leaves", "fit_time")
            }
            rows.append(
                [
                    data.name,
                    model,
                    f"{figures['r2'].mean():.3f} ± {standard_error(figures['r2']):.3f}",
                    _number(figures["density"].mean(), ".3f"),
                    _number(figures["coverage"].mean(), ".3f"),
                    _number(figures["leaves"].mean(), ".0f"),
                    f"{1000 * figures['fit_time'].mean():.1f}",
                ]
            )
    header = ["set", "model", "R2", "−log density", "coverage of 90 %", "leaves", "fit, ms"]
    text = "Ten folds; R2 with its standard error. Density and intervals are those of the predictive distribution."
    return Table("Regression", text, header, rows)


def _signed(value: float) -> str:
    """With its sign, and no minus before zero."""
    return f"{round(value, 1) + 0.0:+.1f}"


def _number(value: float, form: str) -> str:
    return "–" if np.isnan(value) else format(value, form)
