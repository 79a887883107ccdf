"""What else a node could have been split by, in words and shares."""

from __future__ import annotations

from dataclasses import dataclass

from ..fitted import FittedSpace
from ..table import Schema
from ..tree import CategorySet, Hyperplane, Split, Threshold


@dataclass(frozen=True)
class Alternative:
    """One way to go on at a node: a split, or none."""

    share: float  # posterior probability, given the node
    rule: str  # what sends a row to the left: "age <= 50"; "no split"
    feature: int | None
    threshold: float | None  # of a split between numbers
    categories: tuple[str, ...] | None  # on the left, of a split between categories
    missing_go_to_left: bool | None  # where the missing values of the node's rows go, where it has any
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


def alternatives_of(fitted: FittedSpace, node: int) -> Alternatives:
    """List the choices of a node of the modal tree, and that of no split."""
    space, schema = fitted.space, fitted.schema
    nodes = fitted.selections(1)[0][0].node
    if node >= len(nodes):
        raise ValueError(f"node must be one of the modal tree's {len(nodes)} nodes; got {node}.")
    node = int(nodes[node])
    found = [Alternative(float(space.leaf_share[node]), "no split", None, None, None, None, None, None)]
    for choice in space.choices_of(node):
        split = space.split(choice)
        found.append(
            Alternative(
                share=float(space.choice_share[choice]),
                rule=f"{split.subject(schema)} {split.condition(schema)}",
                feature=split.features[0],
                threshold=split.threshold if isinstance(split, Threshold | Hyperplane) else None,
                categories=_on_the_left(fitted.schema, split),
                missing_go_to_left=split.missing_left if split.has_missing else None,
                n_left=int(space.n_node_samples[space.children_left[choice]]),
                n_right=int(space.n_node_samples[space.children_right[choice]]),
            )
        )
    return Alternatives(sorted(found, key=lambda alternative: -alternative.share))


def _on_the_left(schema: Schema, split: Split) -> tuple[str, ...] | None:
    if not isinstance(split, CategorySet):
        return None
    return tuple(schema.columns[split.feature].category_texts(split.left))
