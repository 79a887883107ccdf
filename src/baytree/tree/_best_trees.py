"""Single trees of a tree space: the most probable ones, and draws."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ._arrays import NodeArrays, take_splits
from ._heaps import pop_best
from ._space import Space
from ._tree import LEAF, Tree

_NO_SPLIT = -1


@dataclass(frozen=True)
class Selection:
    """One tree of a space: its nodes in depth-first order, the choice each takes (-1: it is a leaf), its children."""

    node: IntArray
    choice: IntArray
    left: IntArray
    right: IntArray

    def to_tree(self, space: Space) -> Tree:
        """The tree as arrays of its own."""
        return Tree(
            children_left=self.left,
            children_right=self.right,
            **take_splits(space, self.choice),
            **{name: getattr(space, name)[self.node] for name in _OF_NODES},
            log_odds_split=self._log_odds(space),
            feature_posterior=space.feature_posterior(self.node),
        )

    def _log_odds(self, space: Space) -> FloatArray:
        """Log odds of each node's own choice, with all below it, against no split; in leaves of the best one."""
        best = np.full(space.node_count, -np.inf)
        log_choice = np.append(space.log_choice, -np.inf)
        np.maximum.at(best, space.owner, log_choice[:-1])
        of_split = np.where(self.choice == _NO_SPLIT, best[self.node], log_choice[self.choice])
        return np.asarray(of_split - space.log_leaf[self.node])


_OF_NODES = tuple(field.name for field in fields(NodeArrays))


def _walk(space: Space, first: Any, pick: Callable[[int, Any], tuple[int, Any, Any]]) -> Selection:
    """Go down from the root; pick(node, what) tells the choice, and what its left and right child are to pick."""
    nodes: list[int] = []
    choices: list[int] = []
    left: list[int] = []
    right: list[int] = []
    stack = [(0, first, _NO_SPLIT)]
    while stack:
        node, what, parent = stack.pop()
        place = len(nodes)
        if parent != _NO_SPLIT:
            right[parent] = place
        choice, below_left, below_right = pick(node, what)
        nodes.append(node)
        choices.append(choice)
        left.append(LEAF if choice == _NO_SPLIT else place + 1)
        right.append(LEAF)
        if choice != _NO_SPLIT:
            stack.append((int(space.children_right[choice]), below_right, place))
            stack.append((int(space.children_left[choice]), below_left, _NO_SPLIT))
    return Selection(*(np.array(values, dtype=np.int64) for values in (nodes, choices, left, right)))


def draw_trees(space: Space, n_trees: int, random: np.random.RandomState) -> list[Selection]:
    """Draw trees from the posterior, independently of each other."""

    def pick(node: int, _: Any) -> tuple[int, Any, Any]:
        own = space.choices_of(node)
        shares = np.append(space.leaf_share[node], space.choice_share[own])
        chosen = int(np.searchsorted(np.cumsum(shares), random.random_sample() * shares.sum(), side="right"))
        chosen = min(chosen, len(own))
        return (_NO_SPLIT if chosen == 0 else own[chosen - 1]), None, None

    return [_walk(space, None, pick) for _ in range(n_trees)]


def best_trees(space: Space, n_trees: int) -> tuple[list[Selection], FloatArray]:
    """The most probable trees, best first, with the log of prior times likelihood of each."""
    ranking = _Ranking(space)
    trees: list[Selection] = []
    scores: list[float] = []
    while len(trees) < n_trees and ranking.has(0, len(trees)):
        scores.append(ranking.ranked[0][len(trees)].log_posterior)
        trees.append(_walk(space, len(trees), ranking.pick))
    return trees, np.array(scores)


@dataclass(frozen=True)
class _Candidate:
    """A tree below a node: a choice, with the i-th best tree on the left and the j-th best on the right."""

    log_posterior: float
    choice: int
    left_rank: int
    right_rank: int


class _Ranking:
    """The trees below each node in order of their posterior, worked out as far as somebody asks.

    The next best tree below a node is among those that differ from one already listed by the next best tree on one
    side, so a heap of these is all that is kept (Huang and Chiang, "Better k-best parsing", 2005, algorithm 3).
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.ranked: dict[int, list[_Candidate]] = {}
        self._waiting: dict[int, list[tuple[Any, ...]]] = {}  # heaps of (-score, choice, i, j)
        self._next: dict[int, list[tuple[int, int, int]]] = {}  # (choice, i, j) that go there next
        self._seen: dict[int, set[tuple[int, int, int]]] = {}

    def has(self, node: int, rank: int) -> bool:
        """Whether there are more than `rank` trees below a node; they are listed then."""
        wanted = [(node, rank)]
        while wanted:  # trees may be deeper than Python's stack
            last, last_rank = wanted[-1]
            if self._is_known(last, last_rank):
                wanted.pop()
                continue
            missing = self._missing_below(last)
            if missing is not None:
                wanted.append(missing)
            else:
                self._take_next(last)
        return len(self.ranked[node]) > rank

    def pick(self, node: int, rank: int) -> tuple[int, int, int]:
        """The choice of the tree of a rank, and the ranks on its sides."""
        self.has(node, rank)
        chosen = self.ranked[node][rank]
        return chosen.choice, chosen.left_rank, chosen.right_rank

    def _is_known(self, node: int, rank: int) -> bool:
        """Whether the tree of a rank is listed, or known not to be there."""
        if node not in self.ranked:
            self._start(node)
        return len(self.ranked[node]) > rank or not (self._waiting[node] or self._next[node])

    def _start(self, node: int) -> None:
        space = self.space
        self.ranked[node], self._next[node], self._seen[node] = [], [], set()
        waiting: list[tuple[Any, ...]] = [(-float(space.log_leaf[node]), _NO_SPLIT, 0, 0)]
        for choice in space.choices_of(node):
            left, right = space.children_left[choice], space.children_right[choice]
            best = space.log_prior_split[choice] + space.log_best[left] + space.log_best[right]
            waiting.append((-float(best), choice, 0, 0))
        heapq.heapify(waiting)
        self._waiting[node] = waiting

    def _children(self, choice: int) -> tuple[int, int]:
        return int(self.space.children_left[choice]), int(self.space.children_right[choice])

    def _missing_below(self, node: int) -> tuple[int, int] | None:
        """A tree further down that must be known before the node's next can be."""
        for choice, *ranks in self._next[node]:
            for child, rank in zip(self._children(choice), ranks, strict=True):
                if not self._is_known(child, rank):
                    return child, rank
        return None

    def _take_next(self, node: int) -> None:
        """List one tree more."""
        waiting = self._waiting[node]
        for choice, i, j in self._next[node]:
            left, right = self._children(choice)
            if len(self.ranked[left]) > i and len(self.ranked[right]) > j:
                below = self.ranked[left][i].log_posterior + self.ranked[right][j].log_posterior
                heapq.heappush(waiting, (-float(self.space.log_prior_split[choice] + below), choice, i, j))
        self._next[node] = []
        if not waiting:
            return
        score, choice, i, j = pop_best(waiting)
        self.ranked[node].append(_Candidate(-score, choice, i, j))
        if choice == _NO_SPLIT:
            return
        for successor in ((choice, i + 1, j), (choice, i, j + 1)):
            if successor not in self._seen[node]:
                self._seen[node].add(successor)
                self._next[node].append(successor)
