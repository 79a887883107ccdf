"""Whether the table of a fit with `warm_start` is that of the forest which is to have more trees."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray
from .._words import count_text, within_sentence
from ..fitted import Fitted
from ..growth import TableData
from ..outcomes import Outcome
from ..table import Schema


def check_same_columns(before: Fitted, schema: Schema, classes: AnyArray | None) -> None:
    """Refuse to add trees to a forest of other columns or classes."""
    text = "warm_start adds trees to a forest of the same table, but {}: make it False for another one."
    old, new = before.schema, schema
    if old.n_features != new.n_features:
        columns = count_text(new.n_features, "column")
        raise ValueError(text.format(f"X has {columns}, and that of the forest had {old.n_features}"))
    if old.names != new.names:
        raise ValueError(text.format("the columns of X have other names or another order"))
    for i, (one, other) in enumerate(zip(old.columns, new.columns, strict=True)):
        name = within_sentence(new.describe(i))
        if one.kind is not other.kind:
            raise ValueError(text.format(f"{name} was a {one.kind} and is a {other.kind} now"))
        if not _are_equal(one.categories, other.categories):
            raise ValueError(text.format(f"{name} has other categories"))
    if not _are_equal(before.classes, classes):
        raise ValueError(text.format("y has other classes"))


def _are_equal(one: AnyArray | None, other: AnyArray | None) -> bool:
    """Whether both are None, or equal lists of labels."""
    return (one is None) == (other is None) and (one is None or one.tolist() == np.asarray(other).tolist())


def check_same_table(before: Fitted, data: TableData, outcome: Outcome, tree: Fitted) -> Fitted:
    """The forest that is to have more trees, if it was grown on the same table: in any order of its rows."""
    old = before.readable
    same = np.array_equal(before.outcome.prior, outcome.prior) and np.array_equal(
        old.trees.posterior[0], tree.readable.trees.posterior[0]
    )
    if not same or not (_are_same_trees(old, tree.readable) or _has_fingerprint(before, data)):
        raise ValueError("warm_start adds trees to a forest of the same table: make it False for another one.")
    return before


def _are_same_trees(one: Fitted, other: Fitted) -> bool:
    """Whether two trees have the same splits and the same posterior of what splits their nodes."""
    first, second = one.trees, other.trees
    return (
        np.array_equal(first.feature, second.feature)
        and np.array_equal(first.threshold, second.threshold)
        and np.allclose(one.feature_posterior, other.feature_posterior, rtol=1e-6, atol=1e-12)
    )


def _has_fingerprint(before: Fitted, data: TableData) -> bool:
    """Whether a model was fitted on these rows in this order; its parameters may have been others."""
    return before.fitted_on is not None and before.fitted_on.fingerprint == data.size()[2]
