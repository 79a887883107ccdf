"""Every tree there is, one by one: the tree space without a graph, a recursion of sums or a heap."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .tree import Partition, Problem, Step


@dataclass(frozen=True)
class WholeTree:
    """A tree with the log of its prior times likelihood. A leaf has no partition."""

    rows: tuple[int, ...]
    depth: int
    prior: tuple[float, ...]
    log_posterior: float
    partition: Partition | None = None
    left: WholeTree | None = None
    right: WholeTree | None = None

    @property
    def signature(self):
        """What tells it from others: the feature of every split and the rows on its left side."""
        if self.partition is None:
            return "leaf"
        return (self.partition.feature, self.left.rows, self.left.signature, self.right.signature)

    def nodes(self):
        below = [] if self.partition is None else [*self.left.nodes(), *self.right.nodes()]
        return [self, *below]

    def leaf_of(self, row: int) -> WholeTree:
        if self.partition is None:
            return self
        return (self.left if row in self.left.rows else self.right).leaf_of(row)


def every_tree(
    problem: Problem, rows=None, depth=0, prior=None, bounds=(-math.inf, math.inf), path=()
) -> list[WholeTree]:
    rows = list(range(len(problem.X))) if rows is None else rows
    prior = list(problem.settings.prior) if prior is None else prior
    here = {"rows": tuple(rows), "depth": depth, "prior": tuple(prior)}
    no_split, *others = problem.partition_space(rows, depth, prior, bounds, path)
    trees = [WholeTree(**here, log_posterior=no_split.score)]
    for partition in others:
        if partition.log_likelihood == -math.inf:  # forbidden
            continue
        sides = problem.sides(rows, partition.feature, partition.split)
        both = zip(sides, problem.divide_bounds(sides, partition, prior, bounds), (False, True), strict=True)
        below = []
        for side, inside, is_upper in both:
            smoothed = problem.outcome.update(side, prior, problem.settings.smoothing)
            step = Step(is_upper, (partition.feature,))
            below.append(every_tree(problem, side, depth + 1, smoothed, inside, (*path, step)))
        for left in below[0]:
            for right in below[1]:
                total = partition.log_prior + left.log_posterior + right.log_posterior
                trees.append(WholeTree(**here, log_posterior=total, partition=partition, left=left, right=right))
    return trees
