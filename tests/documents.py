"""Documents of models, whole and damaged."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from baytree import BayesianTreeClassifier, TreeSpaceClassifier
from baytree.export import from_dict, to_dict
from baytree.persistence._document import _checksum

X, Y = load_iris(return_X_y=True)


def raw_table():
    """Numbers, some missing, categories with and without an order, and truth values."""
    sizes = pd.cut(X[:, 3], [0, 0.5, 1.2, 1.6, 3], labels=["small", "<b>", "large", "\u202ehuge"])
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    return frame.assign(
        c=np.where(X[:, 2] > 5.5, np.nan, X[:, 2]), d=sizes.as_unordered(), e=sizes[::-1], f=X[:, 0] > 6
    )


RAW = raw_table()
TREE = to_dict(BayesianTreeClassifier(prior=0.1, partitions="oblique", prune=False).fit(RAW, Y))
SPACE = to_dict(TreeSpaceClassifier(max_nodes=60, partitions="oblique").fit(RAW, Y))


def document():
    """A fresh document of a model with several leaves, categories, missing values and hyperplanes."""
    return copy.deepcopy(TREE)


def space_document():
    """The same of a tree space."""
    return copy.deepcopy(SPACE)


def of_array(name, **changes):
    """A document in which one array of the tree has other entries."""
    changed = document()
    changed["arrays"][name] |= changes
    return changed


def values_of(name):
    return list(TREE["arrays"][name]["values"])


def with_value(made, name, place, value):
    """A document in which one array has another value at a place."""
    made["arrays"][name]["values"][place] = value
    return made


def signed(changed):
    """A document with a checksum that fits it, as somebody who damages it on purpose would make it."""
    return changed | {"sha256": _checksum(changed)}


def assert_damaged(changed, words=""):
    """A document is refused, with a checksum that fits and without."""
    changed = json.loads(json.dumps(changed))
    for given_document in (signed(changed), changed):
        with pytest.raises(ValueError, match=r"damaged|not a baytree model|version") as caught:
            from_dict(given_document)
        if given_document is not changed:
            assert words in str(caught.value)
