"""The models that exports are held to are such as to find mistakes."""

from __future__ import annotations

from collections import Counter

import numpy as np

from baytree.table import Kind
from baytree.tree import SplitKind
from tests.scoring import N_MODELS, OUTCOMES, scored


def test_the_models_have_every_kind_of_split_column_and_outcome():
    splits, columns, missing_left, unseen_left, models = Counter(), Counter(), Counter(), Counter(), Counter()
    for case in map(scored, range(N_MODELS)):
        models.update([(case.fitted.kind, case.fitted.outcome.name, case.fitted.unseen)])
        for _, grown in case.members:
            splits.update(grown.kind.tolist())
            missing_left.update(grown.missing_go_to_left[grown.is_of(SplitKind.THRESHOLD)].tolist())
            unseen_left.update(grown.unseen_go_to_left[grown.is_of(SplitKind.CATEGORY_SET)].tolist())
        columns.update(
            column.kind for i, column in enumerate(case.fitted.schema.columns) if i in case.fitted.used_features
        )
        assert len(case.rows) >= 60
    assert min(splits[kind] for kind in SplitKind) > 10
    assert min(columns[kind] for kind in Kind) > 10
    assert min(*missing_left.values(), *unseen_left.values()) > 10
    assert len(OUTCOMES) >= 6
    of_kind = Counter((kind, outcome) for kind, outcome, _ in models.elements())
    assert len(of_kind) == 3 * (len(OUTCOMES) - 1)  # two classes and more have the same outcome
    assert min(Counter((kind, unseen) for kind, _, unseen in models.elements()).values()) > 2


def test_the_rows_have_what_is_hard():
    cases = [scored(seed) for seed in range(N_MODELS)]
    numbers = [rows.numbers().dense() for rows in cases]
    assert np.mean([np.isnan(table).mean() for table in numbers]) > 0.03  # missing
    assert sum((table == -1).any() for table in numbers) > 20  # categories that were never seen
    on_threshold = 0
    for one, table in zip(cases, numbers, strict=True):
        for _, grown in one.members:
            for i in np.flatnonzero(grown.is_of(SplitKind.THRESHOLD)):
                on_threshold += np.any(table[:, grown.feature[i]] == grown.threshold[i])
    assert on_threshold > 100
