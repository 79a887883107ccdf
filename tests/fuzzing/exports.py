"""Exports against the model, at rows that are hard to score."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from baytree.export import shap_values
from tests.databases import scored_by_sql
from tests.fuzzing.case import Case
from tests.scoring import as_arrow, scored


def check_exports(case: Case) -> str:
    """A model of the same seed, in SQL and with SHAP values: what it predicts for rows that are hard to score."""
    own = scored(1000 + case.seed)
    found = scored_by_sql(own.model, as_arrow(own.rows, own.kinds))
    names = [f"probability_{name}" for name in own.fitted.class_names] or ["mean"]
    assert_allclose(found[names], own.mean(), rtol=1e-12, atol=1e-14)
    if np.all(np.isfinite(own.mean())):
        shap = shap_values(own.model, own.rows)
        total = (shap.base + shap.values.sum(axis=1)).reshape(own.mean().shape)
        assert_allclose(total, own.mean(), rtol=1e-9, atol=1e-10 * np.abs(own.mean()).max())
    return "exports"
