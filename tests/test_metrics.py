"""Gini, KS, gains, bad rates by band and impact ratios: against counting, and whether their intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from baytree import metrics
from baytree.figures import Z
from baytree.metrics import auc_values, difference_of, ks_values
from tests.reference import metrics as naive


@st.composite
def scored_rows(draw):
    n = draw(st.integers(4, 14))
    positive = draw(arrays(bool, n))
    positive[:2], positive[2:4] = True, False
    scores = [draw(arrays(np.float64, n, elements=st.integers(0, 5))) / 4 for _ in range(2)]
    return positive, *scores


@given(scored_rows())
def test_area_gini_and_ks_are_those_of_counting(rows):
    positive, score, _ = rows
    area = naive.auc(positive, score)
    assert float(metrics.auc(positive, score)) == pytest.approx(area)
    assert float(metrics.gini(positive, score)) == pytest.approx(2 * area - 1)
    assert float(metrics.ks(positive, score)) == pytest.approx(naive.ks(positive, score))


@given(scored_rows())
def test_a_paired_interval_is_that_of_delong(rows):
    positive, first, second = rows
    weight = np.ones(len(positive))
    difference = difference_of(auc_values(positive, second, weight), auc_values(positive, first, weight))
    assert difference.estimate == pytest.approx(naive.auc(positive, second) - naive.auc(positive, first))
    half = Z * np.sqrt(naive.delong_variance(positive, first, second))
    assert difference.high - difference.estimate == pytest.approx(half, abs=1e-9)


@given(scored_rows(), st.integers(1, 3))
def test_a_row_of_weight_k_counts_as_k_rows(rows, k):
    positive, first, second = rows
    weight = np.where(np.arange(len(positive)) % 2, k, 1)
    copies = np.repeat(np.arange(len(positive)), weight)
    for values in (auc_values, ks_values):
        weighted = difference_of(values(positive, second, weight * 1.0), values(positive, first, weight * 1.0))
        one = np.ones(len(copies))
        copied = difference_of(
            values(positive[copies], second[copies], one), values(positive[copies], first[copies], one)
        )
        assert weighted.estimate == pytest.approx(copied.estimate)
        assert weighted.low == pytest.approx(copied.low)


@given(scored_rows(), st.integers(1, 5))
def test_bands_are_counts(rows, n_bands):
    positive, score, _ = rows
    for bands, sign in (
        (metrics.gains_table(positive, score, bands=n_bands), -1),
        (metrics.rate_by_band(positive, score, bands=n_bands), 1),
    ):
        assert len(bands) <= n_bands
        assert sum(band.n for band in bands) == len(score)
        assert sorted(bands, key=lambda band: sign * band.low) == list(bands)
        seen = np.zeros(len(score), dtype=bool)
        for band in bands:
            inside = (score >= band.low) & (score <= band.high)
            seen |= inside
            assert (band.n, band.n_positive) == (inside.sum(), (inside & positive).sum())
            assert float(band.rate) == pytest.approx(positive[inside].mean())
            assert band.lift == pytest.approx(positive[inside].mean() / positive.mean())
            assert band.captured == pytest.approx((seen & positive).sum() / positive.sum())
            assert band.cumulative_lift == pytest.approx(positive[seen].mean() / positive.mean())
            assert band.difference == pytest.approx(seen[positive].mean() - seen[~positive].mean())


def test_bands_have_about_equal_numbers_of_rows():
    score = np.random.RandomState(0).permutation(1000) / 7
    positive = score > score.mean()
    assert [band.n for band in metrics.gains_table(positive, score)] == [100] * 10


def test_bands_end_where_they_are_told_to():
    score, positive = np.array([0.05, 0.1, 0.2, 0.3, 0.9]), np.array([False, True, False, True, True])
    bands = metrics.rate_by_band(positive, score, edges=[0.1, 0.3])
    assert [(band.low, band.high) for band in bands] == [(0.05, 0.05), (0.1, 0.2), (0.3, 0.9)]
    assert bands.to_frame()["rate"].tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="edges must be ascending"):
        metrics.rate_by_band(positive, score, edges=[0.3, 0.1])


def test_the_positive_class_is_the_one_that_is_named():
    y, score = np.array(["good", "bad", "good", "bad", "bad"]), np.array([0.1, 0.9, 0.5, 0.6, 0.4])
    assert float(metrics.auc(y, score, positive="bad")) == pytest.approx(5 / 6)
    assert float(metrics.auc(y, score)) == pytest.approx(1 / 6)  # the second in sorted order is "good"
    with pytest.raises(ValueError, match="positive='worse' is none of the classes of y"):
        metrics.auc(y, score, positive="worse")
    with pytest.raises(ValueError, match="one class only"):
        metrics.auc(y[1:2], score[1:2], positive="bad")


def _draw(random, n):
    z, other = random.normal(size=(2, n))
    y = random.random(n) < 1 / (1 + np.exp(1.5 - 1.2 * z - 0.8 * other))
    return y, z + 0.2 * random.normal(size=n), z + 0.5 * other + 0.3 * random.normal(size=n)


def test_nine_in_ten_intervals_hold():
    random = np.random.RandomState(0)
    y, first, second = _draw(random, 200_000)
    one = np.ones(len(y))
    truth = {
        "auc": auc_values(y, first, one).estimate,
        "ks": ks_values(y, first, one).estimate,
        "auc difference": auc_values(y, second, one).estimate - auc_values(y, first, one).estimate,
        "ks difference": ks_values(y, second, one).estimate - ks_values(y, first, one).estimate,
    }
    held = {name: [] for name in truth}
    for _ in range(250):
        y, first, second = _draw(random, 400)
        one = np.ones(len(y))
        for name, figure in {
            "auc": metrics.auc(y, first),
            "ks": metrics.ks(y, first),
            "auc difference": difference_of(auc_values(y, second, one), auc_values(y, first, one)),
            "ks difference": difference_of(ks_values(y, second, one), ks_values(y, first, one)),
        }.items():
            held[name].append(figure.low <= truth[name] <= figure.high)
    shares = {name: np.mean(hits) for name, hits in held.items()}
    assert 0.86 <= shares["auc"] <= 0.94
    assert 0.86 <= shares["ks"] <= 0.94
    assert 0.86 <= shares["auc difference"] <= 0.94
    assert 0.88 <= shares["ks difference"] <= 0.98  # the choice of the threshold makes it a little wide


def test_impact_ratios_are_ratios_of_rates():
    groups, approved = np.array(["a"] * 6 + ["b"] * 4 + [None]), np.array([1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1])
    by_group = {group.name: group for group in metrics.impact_ratio(approved, groups)}
    assert {name: float(group.rate) for name, group in by_group.items()} == {"a": 0.5, "b": 0.25, "missing": 1.0}
    assert by_group["missing"].is_reference
    assert float(by_group["b"].ratio) == 0.25
    relative = {group.name: float(group.ratio) for group in metrics.impact_ratio(approved, groups, reference="a")}
    assert relative == {"a": 1.0, "b": 0.5, "missing": 2.0}
    with pytest.raises(ValueError, match="reference='c' is none of the groups a, b, missing"):
        metrics.impact_ratio(approved, groups, reference="c")
    with pytest.raises(TypeError, match="favourable must hold True or False"):
        metrics.impact_ratio(["yes"] * 11, groups)


@pytest.mark.parametrize(("n", "rates"), [(60, (0.6, 0.8)), (60, (0.06, 0.1)), (400, (0.7, 0.7))])
def test_intervals_of_impact_ratios_hold(n, rates):
    random, held = np.random.RandomState(1), []
    groups = np.array(["a"] * n + ["b"] * n)
    for _ in range(400):
        approved = random.random(2 * n) < np.repeat(rates, n)
        if approved[n:].any():
            ratio = metrics.impact_ratio(approved, groups, reference="b")[0].ratio
            held.append(ratio.low <= rates[0] / rates[1] <= ratio.high)
    assert 0.87 <= np.mean(held) <= (0.99 if min(rates) < 0.1 else 0.95)  # half a row more is a lot of few
