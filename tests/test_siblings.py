"""Of two children the one of fewer rows is asked for; the other follows, to the last row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from baytree import engines
from baytree.growth import WAITING, ClassHistograms, _histograms
from baytree.sources import _part_source
from tests.sources import assert_same_model, fitted_in_memory, model_of, table_of


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bytes", [0, 20_000, 2**28])
def test_the_tree_is_the_same_however_many_nodes_follow(monkeypatch, weighted, max_bytes):
    monkeypatch.setattr(_histograms, "_MAX_PARENT_BYTES", max_bytes)
    monkeypatch.setattr(_part_source.PartSource, "rows_in_memory", lambda _: None)
    asked, original = [], _part_source.PartSource.histograms

    def sums(self, routes):
        asked.append((routes.n_open, int((routes.open == WAITING).sum())))
        return original(self, routes)

    monkeypatch.setattr(_part_source.PartSource, "histograms", sums)
    frame, names = table_of("classes", weighted=weighted, n=400)
    expected = fitted_in_memory(model_of("classes", max_bins=9), frame, names)
    assert_same_model(engines.fit(model_of("classes", max_bins=9), frame, **names), expected)
    assert (sum(waits for _, waits in asked) > 0) == (max_bytes > 0)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_one_child_has_not_the_other_has(weighted, by_class, kind):
    random = np.random.default_rng(0)

    def sums(n_nodes, low, high):
        rows = random.integers(low, high, (n_nodes, 6)) if weighted else None
        shape = (n_nodes, 2, 6) if by_class else (n_nodes, 6, 2)
        weights = random.integers(low, high, shape).astype(kind)
        return ClassHistograms(np.moveaxis(weights, 1, 2) if by_class else weights, rows)

    parent, children = sums(1, 5, 9), sums(3, 0, 5)
    histograms = children.empty_like(2)
    histograms.assign(0, children, 2)
    histograms.assign_difference(1, parent, children, 2)
    assert_array_equal(histograms.weights[0], children.weights[2])
    assert_array_equal(histograms.weights.sum(axis=0), parent.weights[0])
    assert histograms.weights.strides[1:] == children.weights.strides[1:]  # laid out alike, which is quick to copy
    assert (histograms.rows is None) == (not weighted)
    if weighted:
        assert_array_equal(histograms.rows[0], children.rows[2])
        assert_array_equal(histograms.rows.sum(axis=0), parent.rows[0])
