"""What else a node could have been cut by, in words and shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .rules import Wording
from .space import Space


@dataclass(frozen=True)
class Alternative:
    """One way to go on at a node: a cut, or none."""

    share: float  # posterior probability, given the node
    rule: str  # what sends a row to the left: "age <= 50"; "no cut"
    feature: int | None
    threshold: float | None  # of a cut between numbers
    levels: tuple[str, ...] | None  # on the left, of a cut between levels
    missing_go_to_left: bool | None  # where the gaps of the node's rows go, where it has any
    n_left: int | None  # training rows on either side
    n_right: int | None

    def __str__(self) -> str:
        sides = "" if self.n_left is None else f"   [{self.n_left} | {self.n_right} rows]"
        return f"{self.share:7.1%}  {self.rule}{sides}"


class Alternatives(tuple[Alternative, ...]):
    """The alternatives of a node, the most probable first; prints one a line."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__


def alternatives_of(model: Any, space: Space, node: int) -> Alternatives:
    """List the choices of a node of a space, and that of no cut."""
    wording = Wording(model, space)
    found = [Alternative(float(space.leaf_share[node]), "no cut", None, None, None, None, None, None)]
    for choice in space.choices_of(node):
        threshold = float(space.threshold[choice])
        found.append(
            Alternative(
                share=float(space.choice_share[choice]),
                rule=f"{wording.feature(choice)} {wording.condition(choice)}",
                feature=int(space.feature[choice]),
                threshold=threshold if np.isfinite(threshold) else None,
                levels=wording.levels(choice) if space.divides_levels[choice] else None,
                missing_go_to_left=bool(space.missing_go_to_left[choice]) if space.has_missing[choice] else None,
                n_left=int(space.n_node_samples[space.children_left[choice]]),
                n_right=int(space.n_node_samples[space.children_right[choice]]),
            )
        )
    return Alternatives(sorted(found, key=lambda alternative: -alternative.share))
