"""The data sets of the paper, from a folder of CSV files or from OpenML, coded as its authors did."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import check_random_state

from baytree._typing import AnyArray, FloatArray, IntArray

Columns = dict[str, list[str]]


@dataclass(frozen=True)
class DataSet:
    """A table with its outcomes; `X_test` and `y_test` where the set has a part for testing."""

    name: str
    X: FloatArray
    y: AnyArray
    feature_names: tuple[str, ...]
    X_test: FloatArray | None = None
    y_test: AnyArray | None = None


@dataclass(frozen=True)
class _Source:
    """Where a set is found, and what it must have to be the right one."""

    n_rows: int
    class_counts: tuple[int, int]
    openml: str | None = None  # name there
    one_hot: tuple[int, ...] = ()  # columns that the authors coded one column a category
    letters: bool = False  # letters in their order, N before W
    file: str | None = None
    test_file: str | None = None
    n_test_rows: int = 0


_SOURCES = {
    "heart": _Source(270, (150, 120), "heart-statlog", one_hot=(2, 6, 12)),
    "credit": _Source(30_000, (23_364, 6_636), "default-of-credit-card-clients", one_hot=(2, 3)),
    "haberman": _Source(306, (225, 81), "haberman"),
    "seismic": _Source(2_584, (2_414, 170), "seismic-bumps", letters=True),
    "ripley": _Source(250, (125, 125), file="ripley_train.csv", test_file="ripley_test.csv", n_test_rows=1_000),
    "gamma": _Source(19_020, (12_332, 6_688), "MagicTelescope"),
    "diabetic": _Source(1_151, (540, 611), "Diabetic_Retinopathy_Debrecen"),
    "eeg": _Source(14_980, (8_257, 6_723), "eeg-eye-state"),
}
NAMES = tuple(_SOURCES)


def load(name: str, data: str | Path | None = None) -> DataSet:
    """Load one of the paper's sets as numbers, coded as its authors did; refuses a table of another size.

    `data` is a folder of CSV files, one for each set (``heart.csv``, ..., ``ripley_train.csv``, ``ripley_test.csv``),
    with a header and the class, 0 or 1, in the last column. Without it, the environment variable BAYTREE_DATA names the
    folder. Without either, the set comes from OpenML through scikit-learn, which keeps it and checks its hash.
    """
    if name not in _SOURCES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}; got {name!r}.")
    source = _SOURCES[name]
    folder = data if data is not None else os.environ.get("BAYTREE_DATA")
    if folder:
        columns = read_csv(Path(folder) / (source.file or f"{name}.csv"))
        origin = f"{source.file or f'{name}.csv'} in {str(folder)!r}"
    else:
        columns = _from_openml(name, source)
        origin = f"the OpenML set {source.openml!r}"
    X, names, y = _coded(columns, source, origin)
    if len(y) != source.n_rows or tuple(np.bincount(y, minlength=2).tolist()) != source.class_counts:
        raise ValueError(
            f"{origin} has {len(y)} rows with {np.bincount(y, minlength=2).tolist()} of each class, but {name} has "
            f"{source.n_rows} with {list(source.class_counts)}: it is damaged or another set."
        )
    if source.test_file is None:
        return DataSet(name, X, y, names)
    X_test, _, y_test = _coded(read_csv(Path(str(folder)) / source.test_file), source, source.test_file)
    if len(y_test) != source.n_test_rows:
        raise ValueError(f"{source.test_file} has {len(y_test)} rows instead of {source.n_test_rows}: it is damaged.")
    return DataSet(name, X, y, names, X_test, y_test)


def make_ripley(n: int, random_state: Any = None) -> tuple[FloatArray, IntArray]:
    """Draw rows from Ripley's synthetic two-class problem.

    Two classes in the plane, alike in number, each an equal mixture of two normals with variance 0.03 in both
    directions; class 0 around (-0.7, 0.3) and (0.3, 0.3), class 1 around (-0.3, 0.7) and (0.4, 0.7) (B. D. Ripley,
    *Pattern Recognition and Neural Networks*, 1996).
    """
    random = check_random_state(random_state)
    centres = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
    y = np.arange(n) % 2
    X = centres[y, random.randint(2, size=n)] + np.sqrt(0.03) * random.normal(size=(n, 2))
    return X, y


def read_csv(path: Path) -> Columns:
    """The values of each column of a CSV file with a header, as text, by its name."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except FileNotFoundError:
        raise FileNotFoundError(f"{str(path)!r} does not exist: give the folder that holds {path.name}.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{str(path)!r} cannot be read as a CSV file: {error}.") from None
    if len(rows) < 2:
        raise ValueError(f"{str(path)!r} is damaged: it has no rows below its header.")
    uneven = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if uneven is not None:
        raise ValueError(f"{str(path)!r} is damaged: line {uneven + 1} does not have as many values as the header.")
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def _from_openml(name: str, source: _Source) -> Columns:
    where = f"Give a folder that holds {source.file or f'{name}.csv'} (data=..., or the variable BAYTREE_DATA)"
    if source.openml is None:
        raise ValueError(f"{name} is not on OpenML. {where}, or draw rows like it with make_ripley.")
    try:
        bunch = fetch_openml(name=source.openml, version=1, as_frame=False, parser="liac-arff")
    except Exception as error:  # no network, no such set, no cache: all the same to the caller
        raise ValueError(f"{name} could not be fetched from OpenML ({type(error).__name__}). {where}.") from error
    kinds = getattr(bunch, "categories", None) or {}
    columns: Columns = {}
    for i, feature in enumerate(bunch.feature_names):
        values = bunch.data[:, i]
        categories = kinds.get(feature)
        columns[feature] = [
            str(value if categories is None or isinstance(value, str) else categories[int(value)]) for value in values
        ]
    labels = np.unique(bunch.target, return_inverse=True)[1]
    counts = tuple(np.bincount(labels).tolist())
    columns["target"] = [str(label if counts == source.class_counts else 1 - label) for label in labels]
    return columns


def _coded(columns: Columns, source: _Source, origin: str) -> tuple[FloatArray, tuple[str, ...], IntArray]:
    """Numbers and names of the columns but the last, which holds the class."""
    *features, target = columns
    parts: list[FloatArray] = []
    names: list[str] = []
    number: Callable[[str], float] = _number_or_letter if source.letters else float
    for i, name in enumerate(features):
        try:
            values = np.array([number(value) for value in columns[name]])
        except (KeyError, ValueError):
            raise ValueError(f"Column {name!r} of {origin} holds something that is no number: it is damaged.") from None
        categories = np.unique(values) if i in source.one_hot else None
        if categories is None or len(categories) <= 2:
            parts.append(values)
            names.append(name)
        else:
            parts.extend((values == category).astype(np.float64) for category in categories)
            names.extend(f"{name} = {category:g}" for category in categories)
    if not set(columns[target]) <= {"0", "1"}:
        raise ValueError(f"The last column of {origin} must hold the class, 0 or 1.")
    return np.column_stack(parts), tuple(names), np.array(columns[target], dtype=np.int64)


def _number_or_letter(value: str) -> float:
    """Letters in their order: a, b, c, d are 0 to 3, N and W are 0 and 1."""
    letters = {"a": 0, "b": 1, "c": 2, "d": 3, "N": 0, "W": 1}
    return float(letters[value]) if value in letters else float(value)
