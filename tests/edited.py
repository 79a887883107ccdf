"""A table with every kind of column, and what tests of edited and forced trees compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from tests.reference import route


def table_of_kinds(n=300):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 80, n),
            "colour": pd.Categorical(random.choice(["red", "blue", "green"], n)),
            "size": pd.Categorical(random.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "member": random.random(n) < 0.5,
            "income": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
        }
    )
    y = (frame["age"] > 40) & (frame["colour"] != "red") | frame["income"].isna()
    return frame, np.where(y, "yes", "no")


def shape_below(tree, node, X):
    """The rows of the nodes below one, in depth-first order; those of the side of the first row come first."""
    inside = [[i for i, row in enumerate(X) if at in route.path_of(tree, row)] for at in range(tree.node_count)]

    def shape(at):
        sides = [] if tree.is_leaf[at] else [int(tree.children_left[at]), int(tree.children_right[at])]
        return [inside[at], *(below for side in sorted(sides, key=lambda i: inside[i][0]) for below in shape(side))]

    return shape(node)


def assert_same_splits(one, other):
    for name in ("kind", "feature", "threshold", "missing_go_to_left", "has_missing", "unseen_go_to_left", "category"):
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert_array_equal(one.n_node_samples, other.n_node_samples)
