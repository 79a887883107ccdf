"""The paper's tables and figures, and what lies beyond them: ``python -m benchmarks.reproduce --help``."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import sklearn

from benchmarks.paper_sets import NAMES, DataSet, load, read_csv

from . import figures, peers, tables
from .models import BEYOND, PAPER, REGRESSION
from .page import write_html, write_markdown
from .runs import complete, folds

PARTS = ("paper", "beyond", "regression", "figures")
_TITLE = "baytree: the paper reproduced, and what lies beyond"


def reproduce(
    data: str | Path | None,
    out: str | Path,
    *,
    parts: tuple[str, ...] = PARTS,
    repeats: int = 1,
    sets: tuple[str, ...] = NAMES,
    ebm: bool = False,
    show: bool | None = None,
) -> Path:
    """Run the comparisons and write ``report.md`` and ``report.html``; returns the path of the latter.

    `data` is a folder of CSV files, as in `benchmarks.paper_sets.load`; the regression sets are the files ``reg_*.csv``
    in it. The folder `out` also keeps every finished fit (``runs.jsonl``), so that a stopped run goes on. The folds are
    shuffled `repeats` times, with the seeds 0, 1, ... With `ebm`, "beyond" compares the explainable boosting machine
    too, which is slow. `show` is that of `Progress`.
    """
    if "figures" in parts:
        figures.check_matplotlib()
    if ebm:
        peers.check_ebm()
    paper_sets = [load(name, data) for name in sets]
    regression_sets = _regression_sets(data) if "regression" in parts else []
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)

    classifiers = PAPER if {"paper", "beyond"} & set(parts) else {}
    if "beyond" in parts:
        classifiers = classifiers | BEYOND | peers.classifiers(ebm=ebm)
    regressors = REGRESSION | peers.regressors()
    runs = [run for one in paper_sets for run in folds(one, classifiers, repeats)]
    runs += [run for one in regression_sets for run in folds(one, regressors, repeats, is_regression=True)]
    results = complete(runs, folder / "runs.jsonl", show=show)

    written: list[tables.Table] = []
    if "paper" in parts:
        written += [tables.accuracy_table(results, paper_sets), tables.time_table(results, paper_sets)]
    if "beyond" in parts:
        written += [tables.beyond_table(results, paper_sets, list(classifiers))]
        written += [tables.difference_table(results, paper_sets, list(classifiers))]
    if regression_sets:
        written += [tables.regression_table(results, regression_sets, list(regressors))]
    ripley = next((one for one in paper_sets if one.name == "ripley"), None)
    drawn = figures.draw_all(folder, ripley) if "figures" in parts else []
    write_markdown(folder / "report.md", _TITLE, _provenance(repeats), written, drawn)
    write_html(folder / "report.html", _TITLE, _provenance(repeats), written, drawn)
    return folder / "report.html"


def _regression_sets(data: str | Path | None) -> list[DataSet]:
    """Every reg_*.csv of the folder; text as codes in order, missing values as they are."""
    if not data:
        return []
    sets = []
    for path in sorted(Path(data).glob("reg_*.csv")):
        columns = read_csv(path)
        *features, target = columns
        X = np.column_stack([_as_numbers(columns[name]) for name in features])
        sets.append(DataSet(path.stem.removeprefix("reg_"), X, _as_numbers(columns[target]), tuple(features)))
    return sets


def _as_numbers(values: list[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    try:
        return np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        return np.unique(values, return_inverse=True)[1].astype(np.float64)


def _provenance(repeats: int) -> str:
    seeds = "seed 0" if repeats == 1 else f"seeds 0 to {repeats - 1}"
    return (
        f"Made by make reproduce with baytree {version('baytree')}, scikit-learn {sklearn.__version__}, Python "
        f"{platform.python_version()}; folds shuffled with the {seeds}. The paper is Nuti, Jiménez Rugama and Cross, "
        "An Explainable Bayesian Decision Tree Algorithm, Frontiers in Applied Mathematics and Statistics 7 (2021); "
        "its figures are cited, all others measured."
    )
