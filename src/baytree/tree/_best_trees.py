"""Single trees of a tree space: the most probable ones, and draws."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ._choices import NO_CHILD, take_splits
from ._heaps import pop_best
from ._splits import SplitKind
from ._store import TreeStore


@dataclass(frozen=True)
class Selection:
    """One tree of a space: its nodes in depth-first order, the choice that each takes, its children."""

    node: IntArray
    choice: IntArray
    left: IntArray
    right: IntArray

    def to_tree(self, space: TreeStore) -> TreeStore:
        """The tree as a store of its own."""
        return TreeStore(
            leaves=space.leaves.take(self.node),
            n_features=space.n_features,
            roots=np.zeros(1, dtype=np.int64),
            choice_start=np.arange(len(self.node) + 1),
            children_left=self.left,
            children_right=self.right,
            **take_splits(space, self.choice),
            depth=space.depth[self.node],
            n_node_samples=space.n_node_samples[self.node],
            log_prior_leaf=space.log_prior_leaf[self.node],
            log_odds_split=self._log_odds(space),
            feature_posterior=space.evidence.feature_posterior(self.node),
        )

    def _log_odds(self, space: TreeStore) -> FloatArray:
        """Log odds of each node's choice, with all below it, against no split; in leaves of the best split."""
        best = np.full(space.node_count, -np.inf)
        splits = np.flatnonzero(~space.is_leaf)
        log_choice = space.evidence.log_choice
        np.maximum.at(best, space.owner[splits], log_choice[splits])
        of_split = np.where(space.is_leaf[self.choice], best[self.node], log_choice[self.choice])
        return np.asarray(of_split - space.log_leaf[self.node])


def _walk(space: TreeStore, initial: Any, pick: Callable[[int, Any], tuple[int, Any, Any]]) -> Selection:
    """Build a tree from the root down; pick(node, state) returns the choice and the states of its two children."""
    nodes: list[int] = []
    choices: list[int] = []
    left: list[int] = []
    right: list[int] = []
    stack = [(0, initial, NO_CHILD)]
    while stack:
        node, state, parent_of_right = stack.pop()
        place = len(nodes)
        if parent_of_right != NO_CHILD:
            right[parent_of_right] = place
        choice, below_left, below_right = pick(node, state)
        is_split = space.kind[choice] != SplitKind.NONE
        nodes.append(node)
        choices.append(choice)
        left.append(place + 1 if is_split else NO_CHILD)
        right.append(NO_CHILD)
        if is_split:
            stack.append((int(space.children_right[choice]), below_right, place))
            stack.append((int(space.children_left[choice]), below_left, NO_CHILD))
    return Selection(*(np.array(values, dtype=np.int64) for values in (nodes, choices, left, right)))


def draw_trees(space: TreeStore, n_trees: int, random: np.random.RandomState) -> list[Selection]:
    """Draw trees from the posterior, independently of each other."""

    def pick(node: int, _: Any) -> tuple[int, Any, Any]:
        choices = space.choices_of(node)
        shares = space.evidence.choice_share[choices]
        chosen = int(np.searchsorted(np.cumsum(shares), random.random_sample() * shares.sum(), side="right"))
        return choices[min(chosen, len(choices) - 1)], None, None

    return [_walk(space, None, pick) for _ in range(n_trees)]


def best_trees(space: TreeStore, n_trees: int) -> tuple[list[Selection], FloatArray]:
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
    """The trees below each node in order of their posterior, computed as far as they are needed.

    The next best tree below a node is among those that differ from one already listed by the next best tree on one
    side, so a heap of these is all that is kept (Huang and Chiang, "Better k-best parsing", 2005, algorithm 3).
    """

    def __init__(self, space: TreeStore) -> None:
        self.space = space
        self._log_leaf = space.log_leaf
        self.ranked: dict[int, list[_Candidate]] = {}
        self._waiting: dict[int, list[tuple[Any, ...]]] = {}  # heaps of (-score, choice, i, j)
        self._next: dict[int, list[tuple[int, int, int]]] = {}  # (choice, i, j) to be added to the heap
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
                self._rank_next(last)
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
        space, log_best = self.space, self.space.evidence.log_best
        self.ranked[node], self._next[node], self._seen[node] = [], [], set()
        waiting: list[tuple[Any, ...]] = []
        for choice in space.choices_of(node):
            if space.kind[choice] == SplitKind.NONE:
                best = self._log_leaf[node]
            else:
                left, right = space.children_left[choice], space.children_right[choice]
                best = space.log_prior_split[choice] + log_best[left] + log_best[right]
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

    def _rank_next(self, node: int) -> None:
        """List the next best tree."""
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
        if self.space.kind[choice] == SplitKind.NONE:
            return
        for successor in ((choice, i + 1, j), (choice, i, j + 1)):
            if successor not in self._seen[node]:
                self._seen[node].add(successor)
                self._next[node].append(successor)
