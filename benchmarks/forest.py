"""Forests and what people would use instead: ``python -m benchmarks.forest [DATA]``.

Without a folder, on tables that scikit-learn bundles or generates, five folds each: no default was chosen on these. The
defaults were chosen on the tables of a folder DATA: the paper's sets, coded as its authors did, ten folds (ripley: its
own part for testing), and, raw, the other sets of the folder, ``clf_*.csv`` (five folds) and ``reg_*.csv`` (ten folds).

Classes: accuracy, log loss, calibration error. Numbers: R2, negative log density in units of the standard deviation of
y, share of test rows inside the 90 % interval, its width. Seconds are CPU time of the fit; leaves those of one tree.
Below the means of a model stand its differences from the first model and their standard errors, by what they vary over
the folds of each set.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
)
from benchmarks import paper_sets
from benchmarks.data import raw_table
from benchmarks.forest_tables import bundled
from benchmarks.measure import calibration_error

Part = tuple[Any, Any, Any, Any]  # X and y to fit, X and y to test
Figures = dict[str, dict[str, list[float]]]  # by set and name, one a fold
Results = dict[str, Figures]  # by model


def variant(base: type[Any], settings: dict[str, Any], **parameters: Any) -> Callable[[], Any]:
    """A forest whose engine has other settings: forest_factor, or those of the search for hyperplanes."""
    direct = {name: value for name, value in settings.items() if name.startswith(("forest_", "oblique_"))}
    search = {name: value for name, value in settings.items() if name not in direct}
    engine = replace(base._engine, search=replace(base._engine.search, **search), **direct)
    kind = type(base.__name__, (base,), {"_engine": engine, "__init__": base.__init__})
    return lambda: kind(random_state=0, **parameters)


def raw(model: Any) -> Any:
    """A model that takes no categories, on columns coded one category a column."""
    text = make_column_selector(dtype_exclude="number")
    coded = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), text), remainder="passthrough", sparse_threshold=0
    )
    return make_pipeline(coded, model)


def models_of(*, numbers: bool) -> dict[str, Callable[[], Any]]:
    """What is compared."""
    forest = BayesianForestRegressor if numbers else BayesianForestClassifier
    tree = BayesianTreeRegressor if numbers else BayesianTreeClassifier
    random = RandomForestRegressor if numbers else RandomForestClassifier
    extra = ExtraTreesRegressor if numbers else ExtraTreesClassifier
    boosting = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    result: dict[str, Callable[[], Any]] = {
        "forest": lambda: forest(random_state=0),
        "forest, axis": lambda: forest(partitions="axis", random_state=0),
        "one tree": tree,
        "random forest": lambda: raw(random(100, random_state=0)),
        "extra trees": lambda: raw(extra(100, random_state=0)),
        "boosting": lambda: boosting(categorical_features="from_dtype", random_state=0),
    }
    try:
        import lightgbm  # noqa: PLC0415

        of_kind = lightgbm.LGBMRegressor if numbers else lightgbm.LGBMClassifier
        result["LightGBM"] = lambda: of_kind(random_state=0, verbose=-1, n_jobs=1)
    except ImportError:
        pass
    for factor in (1, 2, 8, 16):
        result[f"factor {factor}"] = variant(forest, {"forest_factor": float(factor)})
        result[f"factor {factor}, axis"] = variant(forest, {"forest_factor": float(factor)}, partitions="axis")
    for share in (0.5, 0.7, 0.8, 1.0, "sqrt"):
        result[f"features {share}"] = variant(forest, {}, max_features=share)
        result[f"features {share}, axis"] = variant(forest, {}, max_features=share, partitions="axis")
    result["prune"] = variant(forest, {}, prune=True)
    result["resample"] = variant(forest, {}, bootstrap="resample")
    result["real weights"] = variant(forest, {"forest_whole": False})
    result["all sizes"] = variant(forest, {"sizes": (2, 3, 4, 6, 8, 12, 20)})
    result["sizes 2 20"] = variant(forest, {"sizes": (2, 20)})
    result["no refit"] = variant(forest, {"n_refits": 0})
    result["3 refits"] = variant(forest, {"n_refits": 3})
    result["1 round"] = variant(forest, {"n_rounds": 1})
    result["3 rounds"] = variant(forest, {"n_rounds": 3})
    result["4096 rows"] = variant(forest, {"few_rows": 4096})
    result["256 rows"] = variant(forest, {"few_rows": 256})
    result["all responses"] = variant(forest, {"most_responses": 8})
    result["charge 0.5"] = variant(forest, {"oblique_charge": 0.5})
    return result


def tables(folder: Path | None, sets: list[str], folds: int, seeds: int) -> Iterator[tuple[str, bool, list[Part]]]:
    """Name, whether numbers are predicted, and the parts of each set: so many folds for each seed."""

    def split(kind: type[Any], n_folds: int, X: Any, y: Any) -> list[Part]:
        divided = [kind(n_folds, shuffle=True, random_state=seed).split(X, y) for seed in range(seeds)]
        return [(X.iloc[a], y[a], X.iloc[b], y[b]) for splits in divided for a, b in islice(splits, folds)]

    if folder is None:
        for name, numbers, X, y in bundled():
            if not sets or name in sets:
                yield name, numbers, split(KFold if numbers else StratifiedKFold, 5, X, y)
        return
    for name in paper_sets.NAMES:
        if not sets or name in sets:
            data = paper_sets.load(name, folder)
            if data.X_test is not None:
                yield name, False, [(pd.DataFrame(data.X), data.y, pd.DataFrame(data.X_test), data.y_test)]
                continue
            X = pd.DataFrame(data.X, columns=list(data.feature_names))
            yield name, False, split(KFold, 10, X, data.y)
    for path in sorted([*folder.glob("clf_*.csv"), *folder.glob("reg_*.csv")]):
        if sets and path.stem not in sets:
            continue
        X, y = raw_table(path)
        numbers = path.stem.startswith("reg")
        yield path.stem, numbers, split(KFold, 10, X, y.astype(float)) if numbers else split(StratifiedKFold, 5, X, y)


def leaves_of(model: Any) -> float:
    """Leaves of one tree, on average."""
    if isinstance(model, (BayesianForestClassifier, BayesianForestRegressor)):
        return float(model.fitted_.trees.is_leaf.sum() / model.fitted_.trees.n_trees)
    last = model[-1] if hasattr(model, "steps") else model
    trees = getattr(last, "estimators_", None)
    if trees is not None:
        return float(np.mean([tree.get_n_leaves() for tree in np.ravel(trees)]))
    return float(last.get_n_leaves()) if hasattr(last, "get_n_leaves") else float("nan")


def figures_of(make: Callable[[], Any], part: Part, *, numbers: bool) -> dict[str, float]:
    """Fit, predict and measure."""
    X, y, X_test, y_test = part
    start = time.process_time()
    model = make().fit(X, y)
    result = {"seconds": time.process_time() - start, "leaves": leaves_of(model)}
    if not numbers:
        probability = model.predict_proba(X_test)
        result["accuracy"] = 100 * float(accuracy_score(y_test, model.classes_[np.argmax(probability, axis=1)]))
        result["log loss"] = float(log_loss(y_test, np.clip(probability, 1e-15, 1), labels=model.classes_))
        result["calibration"] = calibration_error(y_test, probability, model.classes_)
        return result
    result["R2"] = float(r2_score(y_test, model.predict(X_test)))
    if hasattr(model, "predict_dist"):
        low, high = model.predict_interval(X_test).T
        result["-log density"] = float(-model.predict_dist(X_test).logpdf(y_test).mean() - np.log(y.std()))
        result["inside"] = 100 * float(np.mean((low <= y_test) & (y_test <= high)))
        result["width"] = float((high - low).mean() / y.std())
    return result


def difference(by_set: Figures, first: Figures, name: str) -> tuple[float, float]:
    """By how much a figure differs from the first model's, mean over the sets, and the standard error."""
    differences = [np.subtract(by_set[of_set][name], first[of_set][name]) for of_set in by_set]
    variance = [float(np.var(one, ddof=1)) / len(one) for one in differences if len(one) > 1]
    return float(np.mean([np.mean(one) for one in differences])), float(np.sqrt(np.sum(variance)) / len(differences))


def show(title: str, rows: Results) -> None:
    """Print, for each model, its figures by set and their means."""
    names = ["accuracy", "log loss", "calibration", "R2", "-log density", "inside", "width", "leaves", "seconds"]
    print(f"\n{title}")
    for model, by_set in rows.items():
        columns = [name for name in names if all(name in figures for figures in by_set.values())]
        print(f"\n  {model:26s}" + "".join(f"{name:>14s}" for name in columns))
        for of_set, figures in by_set.items():
            print(f"    {of_set:24s}" + "".join(f"{np.mean(figures[name]):14.4g}" for name in columns))
        means = [np.mean([np.mean(figures[name]) for figures in by_set.values()]) for name in columns]
        print(f"    {'mean of ' + str(len(by_set)):24s}" + "".join(f"{mean:14.4g}" for mean in means), flush=True)
        first = next(iter(rows.values()))
        if by_set is first or not all(name in figures for figures in first.values() for name in columns):
            continue
        differences = [difference(by_set, first, name) for name in columns]
        for label, values in zip(("difference", "its standard error"), zip(*differences, strict=True), strict=True):
            print(f"    {label:24s}" + "".join(f"{value:14.2g}" for value in values), flush=True)


def main() -> None:
    """Measure what is asked for and print it; each fit is written down as it ends."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.forest", description=__doc__)
    options.add_argument("data", type=Path, nargs="?", help="a folder; none: what scikit-learn bundles or generates")
    options.add_argument("--sets", nargs="*", default=[], help="names of sets; none: all")
    options.add_argument("--models", nargs="*", default=[], help="names of models; none: all but the variants")
    options.add_argument("--variants", action="store_true", help="the variants too")
    options.add_argument("--folds", type=int, default=10, help="at most so many of each division of a set")
    options.add_argument("--seeds", type=int, default=1, help="so many divisions of each set into folds")
    options.add_argument("--out", type=Path, help="a file for one line of JSON a fit")
    given = options.parse_args()
    results: dict[bool, Results] = {False: {}, True: {}}
    for name, numbers, parts in tables(given.data, given.sets, given.folds, given.seeds):
        models = models_of(numbers=numbers)
        chosen = given.models or [m for m in models if given.variants or m in ORDINARY]
        for model in chosen:
            if model not in models:
                continue
            figures = []
            for fold, part in enumerate(parts):
                figures.append(figures_of(models[model], part, numbers=numbers))
                if given.out:
                    with given.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([name, model, fold, figures[-1]]) + "\n")
            results[numbers].setdefault(model, {})[name] = {key: [one[key] for one in figures] for key in figures[0]}
        print(".", end="", flush=True)
    for numbers, title in ((False, "Classes"), (True, "Numbers")):
        if results[numbers]:
            show(title, results[numbers])


ORDINARY = (
    "forest",
    "forest, axis",
    "one tree",
    "random forest",
    "extra trees",
    "boosting",
    "LightGBM",
)

if __name__ == "__main__":
    main()
