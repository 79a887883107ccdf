"""How long models in the leaves take: ``python -m benchmarks.linear_speed``.

CPU time of one thread, in one process, the best of a few rounds in which the candidates take turns. Growth alone, of
constant and of linear leaves, on 100,000 rows and 20 columns and on 1,000 rows and 10 columns; then whole fits beside a
single tree of LightGBM with linear leaves (where it is installed) and a logistic or linear regression, with the loss on
as many new rows and the size.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_squared_error

from baytree import BayesianTreeClassifier, BayesianTreeRegressor

try:
    import lightgbm
except ImportError:  # which is measured where it is installed
    lightgbm = None

ROUNDS = 3
PROMISES = {"numbers": 6, "classes": 20}


def table(n: int, d: int, *, of_classes: bool, seed: int) -> tuple[Any, Any]:
    """Normal columns; a mean or log odds with slopes, two of which differ between parts of the table."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    mean = X[:, 0] - 0.5 * X[:, 1] + np.where(X[:, 2] > 0, 1, -1) * X[:, 3] + np.where(X[:, 4] > 1, X[:, 5], 0.5)
    if of_classes:
        return X, (random.random(n) < special.expit(mean)).astype(int)
    return X, mean + 0.5 * random.normal(size=n)


def cpu_seconds(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least CPU time of each call; they take turns."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best


def loss(model: Any, X: Any, y: Any, *, of_classes: bool) -> float:
    """Log loss, or the root of the mean square of errors."""
    if of_classes:
        return float(log_loss(y, model.predict_proba(X)))
    return float(np.sqrt(mean_squared_error(y, model.predict(X))))


def size(model: Any) -> str:
    """Leaves and terms, or coefficients."""
    tree = getattr(model, "tree_", None)
    if tree is not None:
        return f"{tree.n_leaves} leaves, {tree.leaves.n_terms[tree.is_leaf].sum()} terms"
    if hasattr(model, "booster_"):
        return f"{model.booster_.trees_to_dataframe()['split_feature'].isna().sum()} leaves"
    return f"{np.size(model.coef_)} coefficients"


def others(*, of_classes: bool) -> dict[str, Any]:
    """The other models, not yet fitted."""
    result = {"regression": LogisticRegression(max_iter=1000) if of_classes else LinearRegression()}
    if lightgbm is not None:
        make = lightgbm.LGBMClassifier if of_classes else lightgbm.LGBMRegressor
        result["LightGBM"] = make(n_estimators=1, learning_rate=1.0, linear_tree=True, n_jobs=1, verbose=-1)
    return result


def compare(n: int, d: int, *, of_classes: bool) -> None:
    """Print times, losses and sizes on one table."""
    X, y = table(n, d, of_classes=of_classes, seed=0)
    new = table(n, d, of_classes=of_classes, seed=1)
    make = BayesianTreeClassifier if of_classes else BayesianTreeRegressor
    # Without calibration, and with a given prior, a fit grows one tree.
    given = {"calibrate": False} if of_classes else {"calibrate": False, "prior": (0.0, 0.1, 2.0, 0.2)}
    growths = {leaf: make(leaf=leaf, n_jobs=1, **given) for leaf in ("constant", "linear")}
    seconds = cpu_seconds({leaf: lambda model=model: model.fit(X, y) for leaf, model in growths.items()})
    what = "classes" if of_classes else "numbers"
    ratio = seconds["linear"] / seconds["constant"]
    times = ", ".join(f"{leaf} {1e3 * own:.0f} ms" for leaf, own in seconds.items())
    print(f"\n{n:,} x {d}, {what}: growth {times}, ratio {ratio:.1f} (promise: at most {PROMISES[what]})")
    models = {f"{leaf} leaves": make(leaf=leaf, n_jobs=1) for leaf in growths} | others(of_classes=of_classes)
    seconds = cpu_seconds({name: lambda model=model: model.fit(X, y) for name, model in models.items()})
    for name, model in models.items():
        measured = loss(model, *new, of_classes=of_classes)
        print(f"  {name:16s} {1e3 * seconds[name]:8.0f} ms  loss {measured:.3f}  {size(model)}", flush=True)


def main() -> None:
    """Print all comparisons."""
    warnings.filterwarnings("ignore")
    for of_classes in (False, True):
        compare(100_000, 20, of_classes=of_classes)
        compare(1_000, 10, of_classes=of_classes)


if __name__ == "__main__":
    main()
