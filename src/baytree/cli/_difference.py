"""What differs between two models: settings, columns, and the splits of their trees from the root on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._words import count_text, listed, odds_text
from ..fitted import Fitted
from ._talk import Talk

_MOST_PLACES = 12


@dataclass(frozen=True)
class Place:
    """A node at which two trees part: the way to it, and what each has there."""

    path: tuple[str, ...]
    before: str
    after: str

    def __str__(self) -> str:
        where = f"where {' and '.join(self.path)}" if self.path else "at the root"
        return f"{where}\n    before: {self.before}\n    after:  {self.after}"


@dataclass(frozen=True)
class ModelDifferences:
    """What changed from one model to the other."""

    facts: list[tuple[str, str, str]]  # what, before, after: those that differ or that everybody asks for
    columns: list[str]  # sentences
    places: list[Place]
    n_same: int  # splits that both have at the same place

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "facts": {name: {"before": before, "after": after} for name, before, after in self.facts},
            "columns": self.columns,
            "same_splits": self.n_same,
            "changed_splits": [
                {"path": list(place.path), "before": place.before, "after": place.after} for place in self.places
            ],
        }

    def tell(self, talk: Talk) -> None:
        """Say it."""
        talk.table(["", "before", "after"], [list(fact) for fact in self.facts])
        for sentence in self.columns:
            talk.note(sentence)
        talk.heading("Splits from the root on")
        talk.say(f"the same in both trees: {self.n_same:,}")
        for place in self.places[:_MOST_PLACES]:
            talk.say(str(place))
        if len(self.places) > _MOST_PLACES:
            talk.say(f"and {len(self.places) - _MOST_PLACES:,} more places")
        if not self.places:
            talk.say("The trees have the same splits.")


def model_differences(before: Any, after: Any) -> ModelDifferences:
    """Compare two fitted models by the trees to read."""
    trees = before.fitted_.readable, after.fitted_.readable
    places, n_same = _places(*trees)
    return ModelDifferences(_facts(before, after), _columns(*trees), places, n_same)


def _facts(before: Any, after: Any) -> list[tuple[str, str, str]]:
    both = before, after
    always = {
        "model": [type(own).__name__ for own in both],
        "rows": [f"{own.fitted_.fitted_on.n_rows:,}" if own.fitted_.fitted_on else "not known" for own in both],
        "leaves": [f"{int(own.fitted_.readable.trees.is_leaf.sum()):,}" for own in both],
        "depth": [str(int(own.fitted_.readable.trees.depth.max())) for own in both],
    }
    if before.fitted_.classes is not None and before.fitted_.class_names != after.fitted_.class_names:
        always["classes"] = [listed(list(own.fitted_.class_names), 6) for own in both]
    settings = [own.get_params(deep=False) for own in both]
    names = sorted({*settings[0], *settings[1]})
    texts = {name: [repr(own[name]) if name in own else "–" for own in settings] for name in names}
    changed = {name: own for name, own in texts.items() if own[0] != own[1] and "–" not in own}
    return [(name, first, second) for name, (first, second) in (always | changed).items()]


def _columns(before: Fitted, after: Fitted) -> list[str]:
    kinds = [
        {own.schema.name(i): column.kind.value for i, column in enumerate(own.schema.columns)}
        for own in (before, after)
    ]
    used = [{own.schema.name(i) for i in own.used_features} for own in (before, after)]
    changed = sorted(name for name in kinds[0].keys() & kinds[1].keys() if kinds[0][name] != kinds[1][name])
    sentences = {
        "Columns that only the first model knows": sorted(kinds[0].keys() - kinds[1].keys()),
        "Columns that only the second model knows": sorted(kinds[1].keys() - kinds[0].keys()),
        "Columns that became something else": [f"{name} ({kinds[0][name]} -> {kinds[1][name]})" for name in changed],
        "No longer used": sorted(used[0] - used[1]),
        "Now used": sorted(used[1] - used[0]),
    }
    return [f"{sentence}: {listed(names, 12)}" for sentence, names in sentences.items() if names]


def _places(before: Fitted, after: Fitted) -> tuple[list[Place], int]:
    """Walk down both trees at once, as long as their splits are the same."""
    places: list[Place] = []
    n_same = 0
    stack: list[tuple[int, int, tuple[str, ...]]] = [(0, 0, ())]
    while stack:
        first, second, path = stack.pop()
        leaves = bool(before.trees.is_leaf[first]), bool(after.trees.is_leaf[second])
        if all(leaves):
            continue
        questions = _question(before, first), _question(after, second)
        if questions[0] is None or questions[0] != questions[1]:
            places.append(Place(path, _said(before, first), _said(after, second)))
            continue
        n_same += 1
        for left in (False, True):
            step = questions[0] if left else f"not {questions[0]}"
            stack.append((_child(before, first, yes=left), _child(after, second, yes=left), (*path, step)))
    return places, n_same


def _question(fitted: Fitted, node: int) -> str | None:
    """What a split asks; None of a leaf."""
    if fitted.trees.is_leaf[node]:
        return None
    return fitted.trees.split(node).question(fitted.schema)[0]


def _child(fitted: Fitted, node: int, *, yes: bool) -> int:
    _, yes_left = fitted.trees.split(node).question(fitted.schema)
    sides = fitted.trees.children_left if yes == yes_left else fitted.trees.children_right
    return int(sides[node])


def _said(fitted: Fitted, node: int) -> str:
    rows = count_text(int(fitted.trees.n_node_samples[node]), "row")
    question = _question(fitted, node)
    if question is None:
        return f"no split (leaf of {rows})"
    return f"{question} (odds {odds_text(float(fitted.trees.log_odds_split[node]))}, {rows})"
