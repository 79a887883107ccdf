"""``baytree show``: what a model file holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from ._options import debug_option, json_option, model_argument


@click.command(short_help="Show what a model file holds.")
@model_argument
@click.option("--depth", type=click.IntRange(0), help="Deepest level to show; all by default.")
@click.option("--rules", is_flag=True, help="One rule per leaf instead of the tree.")
@json_option
@debug_option
def show(model: str, depth: int | None, rules: bool, as_json: bool) -> None:
    """Show MODEL: what it was fitted on, what it predicts and its tree."""
    from .._words import count_text, listed
    from ..export import to_rules, to_text
    from ._models import read_model
    from ._talk import Talk, print_json

    estimator = read_model(model)
    fitted = estimator.fitted_
    if as_json:
        print_json(_facts(estimator))
        return
    talk, facts = Talk(), fitted.fitted_on
    talk.heading(f"{type(estimator).__name__} in {'standard input' if model == '-' else model}")
    talk.say(f"predicts: {'the class ' + listed(list(fitted.class_names), 8) if fitted.class_names else 'a number'}")
    if facts is not None:
        columns = count_text(facts.n_columns, "column")
        talk.say(f"fitted on: {count_text(facts.n_rows, 'row')} x {columns}, {facts.date}, baytree {facts.version}")
        talk.say(f"fingerprint of the table: {facts.fingerprint[:16]}")
    names = [fitted.schema.name(i) for i in fitted.used_features]
    talk.say(f"uses: {listed(names, 12) if names else 'no column'}")
    tree = fitted.readable.trees
    talk.heading(f"The tree ({count_text(int(tree.is_leaf.sum()), 'leaf', 'leaves')})")
    talk.say(str(to_rules(estimator)) if rules else to_text(estimator, max_depth=depth))


def _facts(estimator: Any) -> dict[str, Any]:
    from ..export import to_rules

    fitted = estimator.fitted_
    tree = fitted.readable.trees
    return {
        "model": type(estimator).__name__,
        "classes": list(fitted.class_names) or None,
        "outcome": fitted.outcome.name,
        "fitted_on": None if fitted.fitted_on is None else asdict(fitted.fitted_on),
        "columns": [fitted.schema.name(i) for i in range(fitted.schema.n_features)],
        "used_columns": [fitted.schema.name(i) for i in fitted.used_features],
        "n_leaves": int(tree.is_leaf.sum()),
        "depth": int(tree.depth.max()),
        "rules": [str(rule) for rule in to_rules(estimator)],
    }
