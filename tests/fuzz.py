"""Random tables, options and sequences of calls, held to the oracle and to what must always be true.

``python -m tests.fuzz --minutes 10`` (or ``make fuzz``) runs until the time is up or something is wrong; a failure
prints the seed that brings it back: ``python -m tests.fuzz --seed 12345``.
"""

from __future__ import annotations

import argparse
import copy
import json
import pickle
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from numpy.testing import assert_allclose, assert_array_equal

from baytree import (
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    ModelFileError,
    PartitionPrior,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    load,
    report,
)
from baytree.export import from_dict, shap_values, to_dict, to_rules, to_text
from baytree.outcomes import REGRESSION_OUTCOMES
from baytree.persistence._document import _checksum
from tests.comparison import assert_same_classes, assert_same_tree
from tests.databases import scored_by_sql
from tests.mutations import damage
from tests.reference import outcomes as oracles
from tests.scoring import as_arrow, scored

ORACLES = {
    "normal": oracles.Normal,
    "poisson": oracles.Poisson,
    "exponential": oracles.Exponential,
}


class Case:
    """One table with its target, weights and options, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random = np.random.default_rng(seed)
        self.n = int(random.choice([2, 5, 12, 30, 120]))
        self.kinds = [
            str(random.choice(["few", "many", "truth", "text", "ordered"])) for _ in range(random.integers(1, 6))
        ]
        self.table = pd.DataFrame({f"column {i}": self.column(kind) for i, kind in enumerate(self.kinds)})
        self.is_classifier = bool(random.random() < 0.5)
        self.outcome = str(random.choice(list(REGRESSION_OUTCOMES)))
        self.y = self.target()
        self.weight = self.weights()
        self.options = self.parameters()

    def column(self, kind):
        random, n = self.random, self.n
        missing = random.random(n) < random.choice([0.0, 0.0, 0.3])
        if kind == "truth":
            return random.random(n) < 0.5
        if kind in ("text", "ordered"):
            labels = [f"c{i}" for i in range(random.integers(1, 12))]
            values = [None if gone else label for gone, label in zip(missing, random.choice(labels, n), strict=True)]
            return pd.Categorical(values, labels, ordered=True) if kind == "ordered" else np.array(values, dtype=object)
        numbers = random.integers(-2, 3, n).astype(float) if kind == "few" else random.normal(size=n)
        return np.where(missing, np.nan, numbers * 10.0 ** random.integers(-3, 4))

    def target(self):
        random = self.random
        signal = self.table.apply(lambda column: pd.factorize(column)[0]).to_numpy().sum(axis=1)
        signal = (signal > np.median(signal)).astype(float)
        if self.is_classifier:
            n_classes = int(random.choice([2, 2, 3, 7]))
            noisy = random.random(self.n) < 0.2
            return np.where(noisy, random.integers(0, n_classes, self.n), signal).astype(int)
        if self.outcome == "normal":
            return (3 * signal + random.normal(size=self.n)) * 10.0 ** random.integers(-6, 7)
        if self.outcome == "exponential":
            return random.exponential(1 + 5 * signal) + 1e-9
        return random.poisson(1 + 9 * signal)

    def weights(self):
        kind = self.random.choice(["none", "none", "whole", "real"])
        if kind == "none":
            return None
        whole = self.random.integers(1, 4, self.n).astype(float)
        return whole if kind == "whole" else whole * self.random.uniform(0.3, 2, self.n)

    def parameters(self):
        random = self.random
        options = {
            "smoothing": float(random.choice([0.0, 0.0, 0.3])),
            "partitions": str(random.choice(["axis", "axis", "oblique"])),
            "max_depth": [None, None, 1, 3][random.integers(4)],
            "min_samples_leaf": int(random.choice([1, 1, 2])),
            "partition_prior": PartitionPrior(
                split=float(random.choice([0.99, 0.5])), location=str(random.choice(["uniform", "distance"]))
            ),
        }
        if random.random() < 0.3:
            of_one = [0 if kind == "text" else int(random.choice([-1, 0, 1])) for kind in self.kinds]
            options["monotonic_cst"] = of_one if not self.is_classifier or len(np.unique(self.y)) <= 2 else None
        return options

    def tree(self, **more):
        options = self.options | {"lookahead": int(self.random.choice([0, 0, 0, 1]))} | more
        if self.is_classifier:
            return BayesianTreeClassifier(prior=float(self.random.choice([0.1, 1.0])), **options)
        return BayesianTreeRegressor(outcome=self.outcome, **options)

    def space(self):
        if self.is_classifier:
            return TreeSpaceClassifier(max_nodes=30, **self.options)
        return TreeSpaceRegressor(outcome=self.outcome, max_nodes=30, **self.options)


def structure(fitted) -> dict:
    """The arrays that nothing may change but the data."""
    grown = fitted.tree_ if hasattr(fitted, "tree_") else fitted.space_
    names = ("children_left", "children_right", "kind", "feature", "threshold", "category", "category_goes_left")
    return {name: getattr(grown, name) for name in names}


def assert_same_structure(one, other) -> None:
    for name, array in structure(one).items():
        assert_array_equal(array, structure(other)[name], err_msg=name)


def check_oracle(case: Case) -> str:
    """Small tables of numbers and categories against the naive tree."""
    if case.n > 12 or case.outcome not in ORACLES:
        return "oracle: left out"
    codes = case.table.apply(lambda column: pd.factorize(column, sort=True)[0].astype(float))
    X = codes.where(case.table.notna(), np.nan).to_numpy(float)
    nominal = [i for i, kind in enumerate(case.kinds) if kind == "text"]
    options = case.options | {"partitions": "axis", "categorical_features": nominal}
    weight = [1.0] * case.n if case.weight is None else list(case.weight)
    if case.is_classifier:
        y = np.unique(case.y, return_inverse=True)[1]
        model = BayesianTreeClassifier(prior=0.5, **options).fit(X, y, case.weight)
        assert_same_classes(model, X, y, case.weight, options | {"prior": 0.5})
    else:
        model = BayesianTreeRegressor(outcome=case.outcome, **options).fit(X, case.y, case.weight)
        y = case.y.astype(float).tolist()
        assert_same_tree(model, X, ORACLES[case.outcome](y, weight), model.prior_, options, tolerance=1e-7)
    return "oracle"


def check_predictions(case: Case) -> str:
    """Probabilities sum to one, intervals are in order, threads change nothing, frames of two libraries agree."""
    model = case.tree().fit(case.table, case.y, case.weight)
    parallel = copy.deepcopy(model).set_params(n_jobs=3).fit(case.table, case.y, case.weight)
    assert_same_structure(model, parallel)
    interval = model.predict_interval(case.table)
    assert np.all(interval[..., 0] <= interval[..., 1])
    if case.is_classifier:
        probability = model.predict_proba(case.table)
        assert_allclose(probability.sum(axis=1), 1)
        assert np.all((interval >= 0) & (interval <= 1))
        assert np.all((interval[..., 0] <= probability + 1e-9) | (probability < 1e-9))
    polars = pl.DataFrame(
        [polars_series(case.table[name], kind) for name, kind in zip(case.table, case.kinds, strict=True)]
    )
    assert_array_equal(model.apply(polars), model.apply(case.table))
    return "predictions"


def polars_series(column, kind):
    values = [None if pd.isna(value) else value for value in column.tolist()]
    dtype = {"truth": pl.Boolean, "text": pl.String, "ordered": pl.Enum([f"c{i}" for i in range(12)])}
    return pl.Series(column.name, values, dtype=dtype.get(kind, pl.Float64))


def check_order_of_rows(case: Case) -> str:
    """Check that any order of the rows grows the same tree."""
    place = case.random.permutation(case.n)
    one = case.tree(lookahead=0).fit(case.table, case.y, case.weight)
    other = copy.deepcopy(one).fit(
        case.table.iloc[place], case.y[place], None if case.weight is None else case.weight[place]
    )
    assert_same_structure(one, other)
    return "order of rows"


def check_weights(case: Case) -> str:
    """A weight of k is the row k times."""
    times = case.random.integers(1, 4, case.n)
    options = {"min_samples_leaf": 1, "lookahead": 0}
    weighted = case.tree(**options).fit(case.table, case.y, times.astype(float))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*equal to another one in X and y")  # they are copies
        repeated = copy.deepcopy(weighted).fit(case.table.loc[case.table.index.repeat(times)], np.repeat(case.y, times))
    assert_same_structure(weighted, repeated)
    assert_allclose(weighted.tree_.posterior, repeated.tree_.posterior, rtol=1e-7)
    return "weights"


def check_files(case: Case) -> str:
    """What is saved, pickled or written as a dictionary comes back the same."""
    model = (case.tree() if case.random.random() < 0.6 else case.space()).fit(case.table, case.y, case.weight)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
        copies = [load(Path(folder) / "model.json"), pickle.loads(pickle.dumps(model)), from_dict(to_dict(model))]
    for other in copies:
        assert_same_structure(model, other)
        assert_array_equal(model.predict(case.table), other.predict(case.table))
    return "files"


def check_sequence(case: Case) -> str:
    """Fit, more rows, words, page: nothing fails, and what is refused leaves the model as it was."""
    model = case.tree().fit(case.table, case.y, case.weight)
    for _ in range(3):
        before = pickle.dumps(model.fitted_)
        try:
            model.partial_fit(case.table[: case.n // 2 + 1], case.y[: case.n // 2 + 1])
        except ValueError:
            assert pickle.dumps(model.fitted_) == before
    assert np.all(np.isfinite(model.tree_.posterior))
    for explanation in model.explain(case.table[:3]):
        assert str(explanation)
        assert json.dumps(explanation.to_dict(), allow_nan=False)
    assert to_text(model)
    assert str(to_rules(model))
    if case.random.random() < 0.1:
        with tempfile.TemporaryDirectory() as folder:
            report.write(model, case.table, case.y, Path(folder) / "page.html", folds=2)
    return "sequence"


def check_damaged_files(case: Case) -> str:
    """A damaged document is refused in one sentence, or gives a model with sound predictions."""
    model = (case.tree() if case.random.random() < 0.6 else case.space()).fit(case.table, case.y, case.weight)
    document, rows = json.dumps(to_dict(model)), case.table.rename(columns=str)
    warnings.simplefilter("ignore")  # names may be among what was lost, and numbers may be huge
    for _ in range(20):
        damaged = json.loads(document)
        for _ in range(case.random.integers(1, 4)):
            damage(damaged, case.random)
        if case.random.random() < 0.7:
            damaged["sha256"] = _checksum(damaged)
        start = time.monotonic()
        try:
            found = from_dict(damaged)
        except ModelFileError:
            continue
        try:
            assert np.all(np.isfinite(found.predict_interval(rows))) or not case.is_classifier
            found.explain(rows[:1])
        except ValueError:
            pass
        assert time.monotonic() - start < 20
    warnings.simplefilter("error")
    return "damaged files"


def check_exports(case: Case) -> str:
    """A model of the same seed, in SQL and with SHAP values: what it predicts for rows that are hard to score."""
    own = scored(1000 + case.seed)
    found = scored_by_sql(own.model, as_arrow(own.rows, own.kinds))
    names = [f"probability_{name}" for name in own.fitted.class_names] or ["mean"]
    assert_allclose(found[names], own.mean(), rtol=1e-12, atol=1e-14)
    if np.all(np.isfinite(own.mean())):
        shap = shap_values(own.model, own.rows)
        total = (shap.base + shap.values.sum(axis=1)).reshape(own.mean().shape)
        assert_allclose(total, own.mean(), rtol=1e-9, atol=1e-10 * np.abs(own.mean()).max())
    return "exports"


CHECKS = (
    check_oracle,
    check_predictions,
    check_order_of_rows,
    check_weights,
    check_files,
    check_sequence,
    check_damaged_files,
    check_exports,
)


def run_one(seed: int) -> Counter:
    """All checks of one seed."""
    done: Counter = Counter()
    for check in CHECKS:
        case = Case(seed)
        if len(np.unique(case.y)) > 1 or not case.is_classifier:
            done[check(case)] += 1
    return done


def main() -> int:
    """Run until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, help="run this one alone")
    options = parser.parse_args()
    warnings.simplefilter("error")
    first = int(time.time()) % 10**6 * 1000 if options.seed is None else options.seed
    stop, total, seed = time.monotonic() + 60 * options.minutes, Counter(), first
    while True:
        try:
            total += run_one(seed)
        except Exception:  # noqa: BLE001 - whatever it is, it is told with its seed
            traceback.print_exc()
            print(f"\nfailed: python -m tests.fuzz --seed {seed}")
            return 1
        seed += 1
        if options.seed is not None or time.monotonic() > stop:
            break
    print(f"{seed - first} cases from seed {first} on, nothing wrong: {dict(total)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
