"""Options for the rules of a fit: which class is of interest, how decisions are made, and how large a tree may be."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

_DIRECTIONS = {"up": 1, "down": -1, "+": 1, "-": -1, "1": 1, "-1": -1}


@dataclass(frozen=True)
class TreeOptions:
    """What the user asked for; None and () where nothing was asked."""

    decision: str | None
    positive: str | None
    monotonic: tuple[str, ...]
    max_depth: int | None
    min_leaf: int | None

    def parameters(self, training: Any) -> dict[str, Any]:
        """The parameters of an estimator, None for its default; refuses what does not fit the table."""
        return {
            "decision": self._decision(training.target),
            "monotonic_cst": self._directions(training.features.table.column_names),
            "max_depth": self.max_depth,
            "min_samples_leaf": self.min_leaf,
        }

    @property
    def given(self) -> list[str]:
        """The names of the options that were given."""
        return [f"--{field.name.replace('_', '-')}" for field in fields(self) if getattr(self, field.name)]

    def _decision(self, target: Any) -> Any:
        if self.decision is None and self.positive is None:
            return None
        if not target.is_classification:
            raise ValueError("--decision and --positive are for classes, but numbers are predicted: leave them out.")
        labels = {str(label): label for label in sorted(set(target.y.tolist()))}
        costs = None if self.decision is None else _read_costs(self.decision)
        if costs is not None:
            if self.positive is not None:
                raise ValueError("--positive is for a threshold: leave it out, since --decision holds costs.")
            return {
                _label(true, labels, "--decision"): {
                    _label(decided, labels, "--decision"): cost for decided, cost in by_decided.items()
                }
                for true, by_decided in costs.items()
            }
        if len(labels) != 2:
            raise ValueError(
                f"--decision and --positive set a threshold between two classes, but the target has {len(labels)}: "
                'give costs, such as --decision \'{"a": {"b": 5}}\'.'
            )
        positive = list(labels)[1] if self.positive is None else self.positive
        threshold = 0.5 if self.decision is None else _read_threshold(self.decision)
        return {_label(positive, labels, "--positive"): threshold}

    def _directions(self, columns: list[str]) -> dict[str, int] | None:
        from ..table import nearest_name

        directions = {}
        for text in self.monotonic:
            name, _, direction = text.rpartition("=")
            if not name or direction not in _DIRECTIONS:
                raise ValueError(f"--monotonic {text!r} is not of the form COLUMN=up or COLUMN=down.")
            if name not in columns:
                raise ValueError(
                    f"--monotonic names {name!r}, which is not predicted from: {nearest_name(name, columns)}"
                )
            directions[name] = _DIRECTIONS[direction]
        return directions or None


def tree_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the rules of a fit; the function gets them as `rules`."""

    @click.option(
        "--decision",
        metavar="RULE",
        help="Decision rule: the probability at or above which the positive class is predicted, such as 0.2, or costs "
        'of errors as JSON by true and predicted class, such as \'{"bad": {"good": 5}}\'.',
    )
    @click.option(
        "--positive", metavar="CLASS", help="The class that --decision is about. Default: the second in sorted order."
    )
    @click.option(
        "--monotonic",
        multiple=True,
        metavar="COLUMN=up|down",
        help="The prediction may only rise (up) or fall (down) with this column. May be given more than once.",
    )
    @click.option("--max-depth", type=click.IntRange(1), metavar="N", help="Maximum depth of the tree.")
    @click.option("--min-leaf", type=click.IntRange(1), metavar="N", help="Minimum number of rows in a leaf.")
    @wraps(function)
    def with_rules(*arguments: Any, **options: Any) -> Any:
        rules = TreeOptions(**{field.name: options.pop(field.name) for field in fields(TreeOptions)})
        return function(*arguments, rules=rules, **options)

    return with_rules


def _read_costs(text: str) -> dict[str, dict[str, float]] | None:
    """Costs by class; None where the text is no JSON object, so that it must be a threshold."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        costs = json.loads(text)
    except json.JSONDecodeError:
        costs = None
    if not isinstance(costs, dict) or not all(isinstance(by_decided, dict) for by_decided in costs.values()):
        raise ValueError(f'--decision {text!r} is not of the form \'{{"bad": {{"good": 5}}}}\'.')
    return costs


def _read_threshold(text: str) -> float:
    try:
        threshold = float(text)
    except ValueError:
        threshold = float("nan")
    if not 0 < threshold < 1:
        raise ValueError(f"--decision must be a probability between 0 and 1, or costs as JSON; got {text!r}.")
    return threshold


def _label(text: str, labels: dict[str, Any], option: str) -> Any:
    if text not in labels:
        raise ValueError(f"{option} names the class {text!r}, which is not one of {', '.join(labels)}.")
    return labels[text]
