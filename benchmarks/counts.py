"""Counts: whose intervals hold, Poisson or negative binomial? ``python -m benchmarks.counts DATA``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from baytree import BayesianTreeRegressor, TreeSpaceRegressor


def main(folder: Path) -> None:
    """Five folds of the hourly bike rentals."""
    table = pd.read_csv(folder / "reg_bike_hour.csv")
    y = table.pop("target")
    print("| model | outcome | inside the 90 % interval | width | negative log probability | R2 | leaves |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for kind in (BayesianTreeRegressor, TreeSpaceRegressor):
        for outcome in ("poisson", "negative_binomial"):
            rows = [
                figures(kind(outcome=outcome), table, y, *fold)
                for fold in KFold(5, shuffle=True, random_state=0).split(table)
            ]
            inside, width, surprise, r2, leaves = np.mean(rows, axis=0)
            print(
                f"| `{kind.__name__}` | `{outcome!r}` | {100 * inside:.1f} % | {width:.0f} | {surprise:.2f} | {r2:.3f} "
                f"| {leaves:.0f} |",
                flush=True,
            )


def figures(model, table, y, train, test) -> tuple[float, ...]:
    """Of one fold."""
    model.fit(table.iloc[train], y.iloc[train])
    rows, counts = table.iloc[test], y.iloc[test].to_numpy()
    low, high = model.predict_interval(rows).T
    surprise = -model.predict_dist(rows).logpmf(counts).mean()
    inside = np.mean((counts >= low) & (counts <= high))
    return inside, np.mean(high - low), surprise, model.score(rows, counts), model.get_n_leaves()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
