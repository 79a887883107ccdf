"""Facts about a model that its owner gives: intended use, owner, approver, period, columns and names of decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._validation import short_repr
from ..decision import position_of
from ..fitted import Fitted


@dataclass(frozen=True)
class About:
    """What the figures cannot show; None where it was not given."""

    target: str | None = None
    source: str | None = None
    intended_use: str | None = None
    owner: str | None = None
    approver: str | None = None
    period: str | None = None
    descriptions: dict[str, str] = field(default_factory=dict)  # by column
    actions: tuple[str, ...] | None = None  # by class


def read_about(fitted: Fitted, descriptions: Any, actions: Any, **texts: Any) -> About:
    """Check the facts; unknown columns and classes are refused."""
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a string or None; got {type(value).__name__}.")
    return About(descriptions=_read_descriptions(fitted, descriptions), actions=_read_actions(fitted, actions), **texts)


def _read_descriptions(fitted: Fitted, descriptions: Any) -> dict[str, str]:
    if descriptions is None:
        return {}
    if not isinstance(descriptions, dict) or not all(isinstance(text, str) for text in descriptions.values()):
        raise TypeError(f"descriptions must be a dict from column to text; got {short_repr(descriptions)}.")
    known = {fitted.schema.name(i) for i in range(fitted.schema.n_features)}
    for column in descriptions:
        if str(column) not in known:
            raise ValueError(f"descriptions names the column {short_repr(column)}, which the model does not have.")
    return {str(column): text for column, text in descriptions.items()}


def _read_actions(fitted: Fitted, actions: Any) -> tuple[str, ...] | None:
    if actions is None:
        return None
    if not fitted.outcome.predicts_classes:
        raise ValueError("actions are names of decisions, and this model predicts numbers: leave actions out.")
    if not isinstance(actions, dict) or not all(isinstance(text, str) for text in actions.values()):
        raise TypeError(f'actions must be a dict such as {{"bad": "decline"}}; got {short_repr(actions)}.')
    names = list(fitted.class_names)
    for label, text in actions.items():
        names[position_of(label, fitted.outcome.labels, "actions")] = text
    return tuple(names)
