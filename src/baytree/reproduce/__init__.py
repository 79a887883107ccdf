"""The paper's tables and figures, and what lies beyond them, in one command: ``baytree reproduce``."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import sklearn

from .. import datasets
from .._validation import check_integer, shown
from ..datasets import DataSet
from . import _figures, _peers, _tables
from ._models import BEYOND, PAPER, REGRESSION
from ._page import write_html, write_markdown
from ._runs import complete, folds
from ._tables import Table

__all__ = ["PARTS", "reproduce"]

PARTS = ("paper", "beyond", "regression", "figures")


def reproduce(
    data: str | Path | None,
    out: str | Path,
    *,
    parts: tuple[str, ...] = PARTS,
    repeats: int = 1,
    sets: tuple[str, ...] = datasets.NAMES,
    ebm: bool = False,
    quiet: bool = False,
) -> Path:
    """Run the comparisons and write ``report.md`` and ``report.html``.

    Parameters
    ----------
    data
        Folder of CSV files, as in `baytree.datasets.load`; regression sets are the files ``reg_*.csv`` in it.
    out
        Folder for the pages. It also keeps every finished fit (``runs.jsonl``): called again, the work goes on.
    parts
        Which of "paper" (tables 1 and 2), "beyond", "regression" and "figures".
    repeats
        How many shufflings of the folds, with the seeds 0, 1, ...
    sets
        Which of the paper's sets.
    ebm
        Whether "beyond" compares the explainable boosting machine too, which is slow.
    quiet
        No progress bar.

    Returns
    -------
    Path
        The HTML page.

    Examples
    --------
    >>> import tempfile
    >>> from baytree.reproduce import reproduce
    >>> try:
    ...     reproduce(None, tempfile.mkdtemp(), parts=("tables",))
    ... except ValueError as error:
    ...     print(error)
    parts must be some of paper, beyond, regression, figures; got 'tables'.
    """
    repeats = check_integer("repeats", repeats, low=1)
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"parts must be some of {', '.join(PARTS)}; got {shown(part)}.")
    if "figures" in parts:
        _figures.check_matplotlib()
    if ebm:
        _peers.check_ebm()
    loaded = [datasets.load(name, data) for name in sets]
    numbers = _regression_sets(data) if "regression" in parts else []
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)

    models = PAPER if {"paper", "beyond"} & set(parts) else {}
    if "beyond" in parts:
        models = models | BEYOND | _peers.for_classes(ebm=ebm)
    of_numbers = REGRESSION | _peers.for_numbers()
    runs = [run for one in loaded for run in folds(one, models, repeats)]
    runs += [run for one in numbers for run in folds(one, of_numbers, repeats, is_regression=True)]
    results = complete(runs, folder / "runs.jsonl", quiet=quiet)

    tables: list[Table] = []
    if "paper" in parts:
        tables += [_tables.accuracy_table(results, loaded), _tables.time_table(results, loaded)]
    if "beyond" in parts:
        tables += [_tables.beyond_table(results, loaded, list(models))]
        tables += [_tables.difference_table(results, loaded, list(models))]
    if numbers:
        tables += [_tables.regression_table(results, numbers, list(of_numbers))]
    ripley = next((one for one in loaded if one.name == "ripley"), None)
    drawn = _figures.draw_all(folder, ripley) if "figures" in parts else []
    title = "baytree: the paper reproduced, and what lies beyond"
    write_markdown(folder / "report.md", title, _provenance(repeats), tables, drawn)
    write_html(folder / "report.html", title, _provenance(repeats), tables, drawn)
    return folder / "report.html"


def _regression_sets(data: str | Path | None) -> list[DataSet]:
    """Every reg_*.csv of the folder; text as codes in order, missing values as they are."""
    if not data:
        return []
    found = []
    for path in sorted(Path(data).glob("reg_*.csv")):
        columns = datasets.read_csv(path)
        *features, target = columns
        X = np.column_stack([_as_numbers(columns[name]) for name in features])
        found.append(DataSet(path.stem.removeprefix("reg_"), X, _as_numbers(columns[target]), tuple(features)))
    return found


def _as_numbers(values: list[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    try:
        return np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        return np.unique(values, return_inverse=True)[1].astype(np.float64)


def _provenance(repeats: int) -> str:
    return (
        f"Made by baytree reproduce with baytree {version('baytree')}, scikit-learn {sklearn.__version__}, Python "
        f"{platform.python_version()}; folds shuffled with the seed{f's 0 to {repeats - 1}' if repeats > 1 else ' 0'}. "
        "The paper is Nuti, Jiménez "
        "Rugama and Cross, An Explainable Bayesian Decision Tree Algorithm, Frontiers in Applied Mathematics and "
        "Statistics 7 (2021); its figures are cited, all others measured."
    )
