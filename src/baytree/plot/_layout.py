"""The layout of a drawn tree: ends side by side, parents centred above their children."""

from __future__ import annotations

from dataclasses import dataclass

from ..tree import TreeStore


@dataclass(frozen=True)
class NodeBox:
    """Room of a node, in inches; y points up, and the top of the tree is at 0."""

    x: float  # of the middle
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top - self.height


def open_nodes(tree: TreeStore, max_depth: int | None, max_leaves: int | None) -> frozenset[int]:
    """The nodes whose split is drawn: down to a depth, those with most rows first, until there are so many ends."""
    split: set[int] = set()
    candidates = [0]
    while candidates and (max_leaves is None or len(split) + 1 < max_leaves):
        candidates.sort(key=lambda node: (-int(tree.n_node_samples[node]), node))
        node = candidates.pop(0)
        if tree.is_leaf[node] or tree.depth[node] == max_depth:
            continue
        split.add(node)
        candidates += [int(tree.children_left[node]), int(tree.children_right[node])]
    return frozenset(split)


def drawn_nodes(tree: TreeStore, split: frozenset[int]) -> list[int]:
    """The nodes that are drawn, in depth-first order."""
    return [node for node in range(tree.node_count) if node == 0 or int(tree.parents[node]) in split]


def leaves_below(tree: TreeStore, node: int) -> int:
    """The number of leaves below a node."""
    stack, n_leaves = [node], 0
    while stack:
        at = stack.pop()
        if tree.is_leaf[at]:
            n_leaves += 1
        else:
            stack += [int(tree.children_left[at]), int(tree.children_right[at])]
    return n_leaves


def place_boxes(
    tree: TreeStore, sizes: dict[int, tuple[float, float]], split: frozenset[int], *, slot: float, gap: float
) -> dict[int, NodeBox]:
    """Place boxes of given sizes.

    Every end has a slot of its own. A parent is half a slot or more from either child, and so a slot or more from the
    edges of its subtree's room: boxes up to two slots wide never meet.
    """
    ends = [node for node in sizes if node not in split]
    middle = {node: (i + 0.5) * slot for i, node in enumerate(ends)}
    for node in reversed(sizes):  # children come after their parents
        if node not in middle:
            left, right = int(tree.children_left[node]), int(tree.children_right[node])
            middle[node] = (middle[left] + middle[right]) / 2
    tops = _level_tops(tree, {node: size for node, size in sizes.items() if node in split}, gap)
    return {node: NodeBox(middle[node], tops[int(tree.depth[node])], *size) for node, size in sizes.items()}


def _level_tops(tree: TreeStore, splits: dict[int, tuple[float, float]], gap: float) -> list[float]:
    """Upper edges of the levels, each as high as its highest split: below an end there is nothing in the way."""
    heights = [0.0] * (max((int(tree.depth[node]) for node in splits), default=-1) + 1)
    for node, (_, height) in splits.items():
        heights[int(tree.depth[node])] = max(heights[int(tree.depth[node])], height)
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] - height - gap)
    return tops
