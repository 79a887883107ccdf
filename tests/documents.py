"""Documents of models, whole and damaged."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from baytree import BayesianForestClassifier, BayesianTreeClassifier, TreeSpaceClassifier
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


def documents():
    """Of each kind one; where nothing is smoothed, with every kind of split."""
    slanted = X[:, 0] - 1.5 * X[:, 1]
    of_sizes = np.where(RAW["d"].isin(["small", "large"]), slanted > np.median(slanted), X[:, 1] > 3)
    y = np.where(RAW["c"].isna(), 2, of_sizes)
    tree = {"prior": 0.1, "partitions": "oblique", "partition_prior": "paper"}
    models = {
        "tree": BayesianTreeClassifier(**tree, prune=False),
        "smoothed": BayesianTreeClassifier(**tree, smoothing=0.1),
        "space": TreeSpaceClassifier(partitions="oblique", max_nodes=60),
        "forest": BayesianForestClassifier(4, random_state=0),
    }
    return {kind: to_dict(model.fit(RAW, y)) for kind, model in models.items()}


DOCUMENTS = documents()
TREE = DOCUMENTS["tree"]
# Every array that is written, with the kind of the document and the store that it is in.
ARRAYS = [
    (kind, store, name)
    for kind, held in DOCUMENTS.items()
    for store, arrays in held["stores"].items()
    for name in arrays
]


def document(kind="tree"):
    """A fresh document of a model."""
    return copy.deepcopy(DOCUMENTS[kind])


def arrays_in(made, store="trees"):
    """The arrays of a store of a document."""
    return made["stores"][store]


def values_of(name, kind="tree"):
    return list(arrays_in(DOCUMENTS[kind])[name]["values"])


def of_array(name, values, kind="tree"):
    """A document in which one array of the trees has other values."""
    changed = document(kind)
    arrays_in(changed)[name]["values"] = values
    return changed


def with_value(name, place, value, kind="tree", store="trees"):
    """A document in which one array has another value at a place."""
    changed = document(kind)
    arrays_in(changed, store)[name]["values"][place] = value
    return changed


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


def assert_same_trees(one, other):
    """Two stores are the same, bit for bit, and so is what follows from their arrays; neither can be changed."""
    assert one.arrays().keys() == other.arrays().keys()
    for store in (one, other):
        arrays = [*store.arrays().values(), store.leaves.statistics, store.posterior, store.value]
        assert not any(array.flags.writeable for array in arrays)
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(other.arrays()[name], array, strict=True)
    for name in ("prior", "posterior", "value", "log_likelihood", "weighted_n_node_samples", "log_likelihood_split"):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name), strict=True)
    np.testing.assert_array_equal(other.leaves.statistics, one.leaves.statistics, strict=True)
