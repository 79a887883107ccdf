"""How probable each half of the rows is, given the tree of the other, against the formula written out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import betaln, gammaln

from baytree import BayesianTreeRegressor
from baytree.estimators import _prior_search
from baytree.growth import EncodedRows
from baytree.outcomes import NegativeBinomial

PRIOR = [3.0, 2.0]
DISPERSION = 0.5


def table(n=400):
    """Few values of each feature, so that bins are values, in all rows and in halves."""
    random = np.random.default_rng(0)
    X = random.integers(0, 6, (n, 3)).astype(float)
    exposure = random.choice([0.5, 1.0, 2.0], n)
    y = random.poisson(exposure * random.gamma(2, 0.5 + X[:, 0]))
    return X, y, exposure, random.choice([1.0, 2.0], n)


def naive(X, y, exposure, weight, in_first):
    """The log probability of each half, given the leaves of the other's tree."""
    size, total = 1 / DISPERSION, 0.0
    for here, there in ((in_first, ~in_first), (~in_first, in_first)):
        model = BayesianTreeRegressor(
            outcome=NegativeBinomial(DISPERSION), prior=PRIOR, prune=False, max_bins=20, calibrate=False
        ).fit(X[here], y[here], sample_weight=weight[here], exposure=exposure[here])
        leaves, posterior = model.apply(X[there]), model.posterior(X[there])
        sizes, counts = size * exposure[there], y[there]
        factor = gammaln(counts + sizes) - gammaln(sizes) - gammaln(counts + 1)
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            a, b = posterior[rows][0]
            w = weight[there][rows]
            total += betaln(a + w @ sizes[rows], b + w @ counts[rows]) - betaln(a, b) + w @ factor[rows]
    return total


def test_each_half_is_judged_by_the_tree_of_the_other(monkeypatch):
    X, y, exposure, weight = table()
    log_likelihoods, divided = {}, []
    original, half = _prior_search.PriorSearch.log_evidence_by_halves, EncodedRows.half

    def keep(self, outcome):
        log_likelihoods[outcome.size] = original(self, outcome)
        return log_likelihoods[outcome.size]

    def keep_half(self, which):
        divided.append(self)
        return half(self, which)

    monkeypatch.setattr(_prior_search.PriorSearch, "log_evidence_by_halves", keep)
    monkeypatch.setattr(EncodedRows, "half", keep_half)
    monkeypatch.setattr("baytree.outcomes._negative_binomial._DISPERSIONS", (DISPERSION, DISPERSION * 4))
    model = BayesianTreeRegressor(outcome="negative_binomial", prior=PRIOR, max_bins=20, prune=False, calibrate=False)
    model.fit(X, y, sample_weight=weight, exposure=exposure)
    in_first = divided[0].hashes % 2 == 0
    assert 0.4 < in_first.mean() < 0.6
    assert_allclose(log_likelihoods[1 / DISPERSION], naive(X, y, exposure, weight, in_first), rtol=1e-7)
    assert model.outcome_.size == max(log_likelihoods, key=log_likelihoods.__getitem__)


@pytest.mark.parametrize("parameters", [{"lookahead": 1}, {"partitions": "oblique", "max_bins": None}])
def test_what_sources_cannot_grow_takes_halves_of_rows(parameters, monkeypatch):
    X, y, exposure, _ = table(120)
    monkeypatch.setattr(EncodedRows, "half", None)
    model = BayesianTreeRegressor(outcome="negative_binomial", **{"max_bins": 20} | parameters)
    assert model.fit(X, y, exposure=exposure).get_n_leaves() >= 1
