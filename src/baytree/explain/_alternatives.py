"""The alternatives to the split of a node, with their probabilities."""

from __future__ import annotations

from dataclasses import dataclass

from ..fitted import Fitted
from ..table import Schema
from ..tree import CategorySet, Hyperplane, Split, Threshold


@dataclass(frozen=True)
class Alternative:
    """One way to go on at a node: a split, or none.

    Attributes
    ----------
    share
        Posterior probability, given the node.
    rule
        The rule that sends a row to the left, ``age <= 50``; or ``no split``.
    feature, threshold, categories
        Of the split; None where they do not apply.
    missing_go_to_left
        Where missing values go, if the node has any.
    n_left, n_right
        Training rows on either side.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import TreeSpaceClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
    >>> best = model.alternatives()[0]
    >>> best.rule, best.n_left, best.n_right
    ('x3 <= 0.8', 50, 100)
    """

    share: float
    rule: str
    feature: int | None
    threshold: float | None
    categories: tuple[str, ...] | None
    missing_go_to_left: bool | None
    n_left: int | None
    n_right: int | None

    def __str__(self) -> str:
        sides = "" if self.n_left is None else f"   [{self.n_left} | {self.n_right} rows]"
        return f"{self.share:7.1%}  {self.rule}{sides}"


class Alternatives(tuple[Alternative, ...]):
    """The alternatives of a node, the most probable first; prints one a line.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import TreeSpaceClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
    >>> print(model.alternatives()[0])
      66.6%  x3 <= 0.8   [50 | 100 rows]
    """

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__


def alternatives_of(fitted: Fitted, node: int) -> Alternatives:
    """List the choices of a node of the readable tree, and that of no split."""
    space, schema = fitted.trees, fitted.schema
    nodes = fitted.selections(1)[0][0].node
    if node >= len(nodes):
        raise ValueError(f"node must be one of the readable tree's {len(nodes)} nodes; got {node}.")
    node = int(nodes[node])
    alternatives = [Alternative(float(space.leaf_share[node]), "no split", None, None, None, None, None, None)]
    for choice in space.splits_of(node):
        split = space.split(choice)
        alternatives.append(
            Alternative(
                share=float(space.choice_share[choice]),
                rule=f"{split.subject(schema)} {split.condition(schema)}",
                feature=split.features[0],
                threshold=split.threshold if isinstance(split, Threshold | Hyperplane) else None,
                categories=_left_categories(fitted.schema, split),
                missing_go_to_left=split.missing_left if split.has_missing else None,
                n_left=int(space.n_node_samples[space.children_left[choice]]),
                n_right=int(space.n_node_samples[space.children_right[choice]]),
            )
        )
    return Alternatives(sorted(alternatives, key=lambda alternative: -alternative.share))


def _left_categories(schema: Schema, split: Split) -> tuple[str, ...] | None:
    if not isinstance(split, CategorySet):
        return None
    return tuple(schema.columns[split.feature].category_texts(split.left))
