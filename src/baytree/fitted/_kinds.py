"""The kinds of fitted models, and the decisions in the nodes of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .._typing import FloatArray, IntArray


class ModelKind(StrEnum):
    """The kind of a fitted model."""

    TREE = "tree"
    SPACE = "space"  # many trees at once, each with its posterior probability
    FOREST = "forest"  # trees that were grown on the same rows with random weights; each counts alike


@dataclass(frozen=True)
class Decisions:
    """The decision in each node of a tree, and the estimate that belongs to it."""

    code: IntArray  # by node
    names: tuple[str, ...]  # by code
    estimate: FloatArray  # by node

    def name(self, node: int) -> str:
        """The decision of a node."""
        return self.names[int(self.code[node])]
