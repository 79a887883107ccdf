"""The state of a draft after each edit, and the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..fitted import Edit, Fitted
from ..growth import TrainingData
from ..tree import TreeStore, outline_of, paths_of
from ._effects import decision_changes
from ._trees import Forbidden


@dataclass(frozen=True)
class State:
    """The tree after an edit; nodes are named by the sides on the way to them, which edits elsewhere do not change."""

    fitted: Fitted
    loss: float
    forbidden: Forbidden
    decided: dict[str, int]  # the class that people decided on in a leaf

    def after(
        self,
        text: str,
        tree: TreeStore,
        node: int,
        loss: float,
        data: TrainingData,
        author: dict[str, str | None],
        *,
        gone: Sequence[int] = (),
        forbidden: Forbidden | None = None,
        decided: dict[str, int] | None = None,
    ) -> State:
        """The state after one more edit of a node; what was below the nodes that are `gone` is there no more."""
        before, paths = self.fitted, paths_of(outline_of(self.fitted.trees))
        forbidden = self.forbidden if forbidden is None else forbidden
        decided = self.decided if decided is None else decided
        for path in [paths[at] for at in gone]:
            forbidden = {at: features for at, features in forbidden.items() if at == path or not at.startswith(path)}
            decided = {at: code for at, code in decided.items() if not at.startswith(path)}
        leaves = {path: leaf for leaf, path in enumerate(paths_of(outline_of(tree))) if tree.is_leaf[leaf]}
        decided = {at: code for at, code in decided.items() if at in leaves}
        fitted = replace(before, trees=tree).with_set_decisions({leaves[at]: code for at, code in decided.items()})
        n_decisions, changes = decision_changes(before, fitted, node, data)
        edit = Edit(
            text=text,
            log_odds=tree.log_posterior() - before.trees.log_posterior(),
            loss_before=self.loss,
            loss_after=loss,
            n_rows=int(tree.n_node_samples[node]),
            n_decisions=n_decisions,
            decision_changes=changes,
            **author,
        )
        return State(replace(fitted, edits=(*before.edits, edit)), loss, forbidden, decided)


def history_frame(edits: Sequence[Edit]) -> Any:
    """The edits as a data frame, one in a row."""
    try:
        import pandas as pd  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError("history needs pandas: pip install pandas.") from None
    names = ("text", "odds", "loss_before", "loss_after", "n_rows", "n_decisions", "who", "why", "when")
    types = (object, float, float, float, int, int, object, object, object)
    values = {name: [getattr(edit, name) for edit in edits] for name in names}
    columns = {name: pd.Series(values[name], dtype=dtype) for name, dtype in zip(names, types, strict=True)}
    return pd.DataFrame(columns).rename(columns={"text": "edit"})
