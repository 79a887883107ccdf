"""Two questions about a split, each with its own number: whether the node should be split, and why on this column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._words import amount_text, odds_text, percent_text
from ._fitted import Fitted

_LEAST = 0.0005  # probability of a column that is named


class ColumnChoice(NamedTuple):
    """The posterior probability that a node is split on its column, and on the most probable other ones."""

    share: float
    others: tuple[tuple[str, float], ...]

    def text(self, most: int = 1) -> str:
        """``column 59 %, else worst radius 24 %``."""
        named = "".join(f", else {name} {percent_text(share)}" for name, share in self.others[:most])
        return f"column {percent_text(self.share)}{named}"


class MissingValues(NamedTuple):
    """How many training rows of a node lack the feature of its split, and the side on which they are."""

    n: int | None  # None: not counted, as in tree spaces
    left: bool

    def text(self, *, yes_left: bool) -> str:
        """``149 missing: yes``, the branch of the question that they take."""
        count = "missing" if self.n is None else f"{amount_text(self.n)} missing"
        return f"{count}: {'yes' if self.left == yes_left else 'no'}"


def column_choice(fitted: Fitted, node: int, most: int = 3) -> ColumnChoice | None:
    """The probability of the column of a split and those of others; None where the tree did not compare columns.

    That is so for a table of one column and for single trees of a forest. A hyperplane counts for its first column.
    """
    tree = fitted.trees
    shares, chosen = tree.feature_posterior[:, :-1], int(tree.feature[node])
    internal = tree.internal_nodes
    if not np.any(shares[internal].sum(axis=1) > shares[internal, tree.feature[internal]]):
        return None
    order = np.argsort(-shares[node], kind="stable")
    others = [i for i in order.tolist() if i != chosen and shares[node, i] >= _LEAST][:most]
    named = tuple((fitted.schema.name(i), float(shares[node, i])) for i in others)
    return ColumnChoice(float(shares[node, chosen]), named)


def missing_values(fitted: Fitted, node: int) -> MissingValues | None:
    """The missing values at a split; None where its training rows have none."""
    tree = fitted.trees
    if not tree.has_missing[node]:
        return None
    n = None if tree.n_missing is None else int(tree.n_missing[node])
    return MissingValues(n, bool(tree.missing_go_to_left[node]))


def split_facts(fitted: Fitted, node: int) -> list[str]:
    """The facts of a split in words: its odds against no split, the choice of its column, its training rows."""
    facts = [f"split {odds_text(float(fitted.trees.log_odds_split[node]))}"]
    choice, missing = column_choice(fitted, node), missing_values(fitted, node)
    if choice is not None:
        facts.append(choice.text())
    rows = f"n={amount_text(int(fitted.trees.n_node_samples[node]))}"
    if missing is None:
        return [*facts, rows]
    yes_left = fitted.trees.split(node).question(fitted.schema)[1]
    return [*facts, f"{rows}, {missing.text(yes_left=yes_left)}"]
