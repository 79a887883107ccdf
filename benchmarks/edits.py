"""Seconds of every kind of edit of a tree of 200 leaves on 100,000 rows: ``python -m benchmarks.edits``."""

from __future__ import annotations

import time

import numpy as np

from baytree import BayesianTreeClassifier, edit


def main() -> None:
    """Print a line for each kind of edit, at the root, where it takes longest."""
    random = np.random.default_rng(0)
    X = random.normal(size=(100_000, 20))
    signal = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + np.cos(2 * X[:, 3]) * X[:, 4]
    y = (signal + random.normal(size=len(X)) / 2 > 0).astype(int)
    model = BayesianTreeClassifier(prune=False, max_leaf_nodes=200).fit(X, y)
    start = time.perf_counter()
    draft = edit.start(model, X, y)
    print(f"{'start':32s} {time.perf_counter() - start:6.2f} s")
    first = int(draft.tree_.feature[0])
    edits = {
        "split(0, 7, threshold=0.3)": lambda: draft.split(0, 7, threshold=0.3),
        "swap(0, 3)": lambda: draft.swap(0, 3),
        "move(0, 0.1)": lambda: draft.move(0, 0.1),
        "remove of a node of two leaves": lambda: draft.remove(_smallest(draft.tree_)),
        "remove(0)": lambda: draft.remove(0),
        f"forbid({first})": lambda: draft.forbid(first),
        "regrow(0)": lambda: draft.regrow(0),
        "round(odds=3)": lambda: draft.round(odds=3),
        "set_decision of a leaf": lambda: draft.set_decision(draft.tree_.node_count - 1, 1),
    }
    for name, change in edits.items():
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            change()
            seconds.append(time.perf_counter() - start)
            draft.undo()
        print(f"{name:32s} {min(seconds):6.2f} s", flush=True)


def _smallest(tree) -> int:
    """The first node whose two sides are leaves."""
    at = tree.internal_nodes
    return int(at[tree.is_leaf[tree.children_left[at]] & tree.is_leaf[tree.children_right[at]]][0])


if __name__ == "__main__":
    main()
