"""Files that look like the paper's sets."""

from __future__ import annotations

import numpy as np

from benchmarks.paper_sets import make_ripley


def write_csv(path, X, y, names=None):
    names = names or [f"c{i}" for i in range(X.shape[1])]
    lines = [",".join([*names, "target"])]
    lines += [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_fakes(folder):
    """Tables with the sizes of haberman, heart and Ripley's."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], [225, 81])
    write_csv(folder / "haberman.csv", random.integers(0, 60, (306, 3)) + 5 * y[:, None], y)
    y = np.repeat([0, 1], [150, 120])
    write_csv(folder / "heart.csv", random.integers(0, 3, (270, 13)) + y[:, None], y)
    for name, n, seed in (("train", 250, 1), ("test", 1000, 2)):
        write_csv(folder / f"ripley_{name}.csv", *make_ripley(n, seed), ["xs", "ys"])
