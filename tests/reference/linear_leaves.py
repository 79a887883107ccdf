"""Linear leaves written down as docs/linear_leaves.md states them: dense linear algebra, every set of rows afresh.

The evidence of a set of rows is that of a multivariate Student's t; nothing is factorised, updated or shared. Weights
are counts, so a row of weight 2 is there twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy import stats

LOOK_BEYOND = 2
TOLERANCE = 1e-9
LEAST_SLOPE = 1e-12


@dataclass
class Leaf:
    """The model of some rows: which terms, how they are scaled, and the log evidence with the prior of the choice."""

    terms: list[int]
    log_evidence: float
    centre: np.ndarray
    scale: np.ndarray
    X: np.ndarray
    y: np.ndarray

    def scaled(self, X):
        z = (X[:, self.terms] - self.centre[self.terms]) / self.scale[self.terms]
        return np.where(np.isnan(z), 0.0, z)


def slope_precision(kappa):
    return min(1.0, 5 * kappa)


def scaling(X):
    """Mean and standard deviation of every column, the latter with missing values at the mean; 0 where constant."""
    centre = np.array([np.nanmean(x) if not np.isnan(x).all() else 0.0 for x in X.T])
    scale = np.sqrt(np.mean(np.where(np.isnan(X), 0.0, X - centre) ** 2, axis=0))
    is_constant = [np.isnan(x).all() or np.nanmax(x) == np.nanmin(x) for x in X.T]
    return centre, np.where(is_constant, 0.0, scale)


def log_evidence_of(Z, y, prior):
    """Log density of y, a multivariate Student's t, with terms Z that are centred and scaled."""
    mu, kappa, alpha, beta = prior
    n = len(y)
    shape = np.eye(n) + np.ones((n, n)) / kappa + Z @ Z.T / slope_precision(kappa)
    return float(stats.multivariate_t.logpdf(y, np.full(n, mu), beta / alpha * shape, df=2 * alpha))


def log_choice(n_candidates, most, n_terms):
    """Log prior of a choice of terms: first how many, then which."""
    return -math.log(min(most, n_candidates) + 1) - math.log(math.comb(n_candidates, n_terms))


def fit_leaf(X, y, prior, most, directions=None):
    """Forward selection: the term that raises the evidence most, until several in a row do not.

    Terms with which a coefficient would not have its direction do not exist.
    """
    centre, scale = scaling(X)
    candidates = [j for j in range(X.shape[1]) if scale[j] > 0]

    def leaf(terms):
        fitted = Leaf(terms, 0.0, centre, scale, X, y)
        fitted.log_evidence = log_evidence_of(fitted.scaled(X), y, prior) + log_choice(
            len(candidates), most, len(terms)
        )
        return fitted

    best = current = leaf([])
    while len(current.terms) < min(most, len(candidates)) and len(current.terms) < len(best.terms) + 1 + LOOK_BEYOND:
        more = [leaf([*current.terms, j]) for j in candidates if j not in current.terms]
        more = [one for one in more if has_directions(coefficients(one, prior), one.terms, directions)]
        if not more:
            break
        current = first_best(more)
        if is_higher(current.log_evidence, best.log_evidence):
            best = current
    return best


def coefficients(leaf, prior):
    """Posterior means of the coefficients: ridge regression on what is left of the mean."""
    Z = leaf.scaled(leaf.X)
    precision = Z.T @ Z + slope_precision(prior[1]) * np.eye(len(leaf.terms))
    return np.linalg.solve(precision, Z.T @ (leaf.y - leaf.y.mean()))


def has_directions(slopes, terms, directions):
    return directions is None or all(
        directions[j] == 0 or directions[j] * b > LEAST_SLOPE for j, b in zip(terms, slopes, strict=True)
    )


def every_choice(X, y, prior, most, directions=None):
    """The log evidence of every choice of terms with the right directions, by its terms."""
    centre, scale = scaling(X)
    candidates = [j for j in range(X.shape[1]) if scale[j] > 0]
    result = {}
    for k in range(min(most, len(candidates)) + 1):
        for terms in combinations(candidates, k):
            leaf = Leaf(list(terms), 0.0, centre, scale, X, y)
            if has_directions(coefficients(leaf, prior), terms, directions):
                result[terms] = log_evidence_of(leaf.scaled(X), y, prior) + log_choice(len(candidates), most, k)
    return result


def posterior_at(leaf, X, prior):
    """Parameters (mu, kappa, alpha, beta) of the outcome of other rows, by conditioning a joint normal."""
    mu, kappa, alpha, beta = prior
    Z, W, n = leaf.scaled(leaf.X), leaf.scaled(X), len(leaf.y)
    of_y = np.eye(n) + 1 / kappa + Z @ Z.T / slope_precision(kappa)
    cross = 1 / kappa + W @ Z.T / slope_precision(kappa)
    mean = mu + cross @ np.linalg.solve(of_y, leaf.y - mu)
    before = 1 / kappa + (W * W).sum(axis=1) / slope_precision(kappa)
    variance = before - np.einsum("ij,ji->i", cross, np.linalg.solve(of_y, cross.T))
    squares = (leaf.y - mu) @ np.linalg.solve(of_y, leaf.y - mu)
    full = np.full(len(X), 1.0)
    return np.stack([mean, 1 / variance, full * (alpha + n / 2), full * (beta + squares / 2)], axis=1)


def first_best(leaves):
    best = leaves[0]
    for leaf in leaves[1:]:
        if is_higher(leaf.log_evidence, best.log_evidence):
            best = leaf
    return best


def is_higher(score, other):
    return score > other + TOLERANCE * (1 + abs(other))


@dataclass
class Node:
    """A node of the naive tree: the rows, and the two sides where it is split."""

    rows: np.ndarray
    leaf: Leaf
    log_prior_leaf: float = 0.0
    log_prior_split: float = -math.inf
    children: list[Node] = field(default_factory=list)

    @property
    def log_leaf(self):
        return self.log_prior_leaf + self.leaf.log_evidence

    def leaves(self):
        return [self] if not self.children else [leaf for child in self.children for leaf in child.leaves()]

    def log_posterior(self):
        if not self.children:
            return self.log_leaf
        return self.log_prior_split + sum(child.log_posterior() for child in self.children)


def constant_evidence(y, prior):
    return log_evidence_of(np.zeros((len(y), 0)), y, prior)


def best_thresholds(X, y, prior):
    """Of each column the threshold of highest evidence for constant leaves: (score, column, threshold, number)."""
    result = []
    for j in range(X.shape[1]):
        values, best = np.unique(X[:, j]), None
        for t in values[:-1]:
            score = constant_evidence(y[X[:, j] <= t], prior) + constant_evidence(y[X[:, j] > t], prior)
            if best is None or is_higher(score, best[0]):
                best = (score, j, t, len(values) - 1)
        if best is not None:
            result.append(best)
    return result


def log_densities(leaf, X, y, prior):
    """The log density of each outcome with the noise of the leaf, but for a constant."""
    mu, _, alpha, beta = posterior_at(leaf, X, prior).T
    noise = beta / alpha
    return -0.5 * (np.log(noise) + (y - mu) ** 2 / noise)


@dataclass
class Search:
    """The search for the best split of some rows, with the models of the two sides."""

    X: np.ndarray
    y: np.ndarray
    prior: tuple
    most: int
    log_prior: float  # of a feature
    tried: dict = field(default_factory=dict)  # (column, threshold) -> log of prior times likelihood

    def sides(self, j, t):
        at = self.X[:, j] <= t
        return [fit_leaf(self.X[side], self.y[side], self.prior, self.most) for side in (at, ~at)]

    def add(self, response, prior, most):
        """Try the best threshold of each column for a response, the `most` best of them."""
        splits = best_thresholds(self.X, response, prior)
        kept = sorted(
            sorted(splits, key=lambda one: -round(one[0] - math.log(one[3]), 6))[:most], key=lambda one: one[1]
        )
        for _, j, t, n in kept:
            if (j, t) not in self.tried:
                evidence = sum(leaf.log_evidence for leaf in self.sides(j, t))
                self.tried[j, t] = self.log_prior - math.log(n) + evidence

    def best(self):
        best = None
        for split, value in self.tried.items():
            if best is None or is_higher(value, self.tried[best]):
                best = split
        return best

    def refine(self, rounds=3):
        """Move the best split to where the models of its two sides divide the rows."""
        for _ in range(rounds):
            before = self.best()
            lower, upper = (log_densities(leaf, self.X, self.y, self.prior) for leaf in self.sides(*before))
            response = np.clip(lower - upper, -1, 1)
            if len(np.unique(response)) > 1:
                self.add(response, (0.0, 1.0, 2.0, 1.0), 3)
            if self.best() == before:
                return


def grow(X, y, prior, most, split, rows=None, n_columns=None):
    """The greedy-modal tree with linear leaves; every node splits with probability `split`."""
    rows = np.arange(len(y)) if rows is None else rows
    node = Node(rows, fit_leaf(X[rows], y[rows], prior, most))
    columns, outcome = X[rows], y[rows]
    splittable = sum(len(np.unique(x)) > 1 for x in columns.T)
    n_columns = splittable if n_columns is None else n_columns
    if splittable == 0 or len(np.unique(outcome)) == 1:
        return node
    node.log_prior_leaf = math.log(1 - split * splittable / n_columns)
    search = Search(columns, outcome, prior, most, math.log(split / n_columns))
    search.add(outcome, prior, 5)
    if node.leaf.terms:
        residual = outcome - posterior_at(node.leaf, columns, prior)[:, 0]
        search.add(residual, (0.0, *prior[1:]), 5)
    search.refine()
    j, t = search.best()
    if is_higher(search.tried[j, t], node.log_leaf):
        evidence = sum(leaf.log_evidence for leaf in search.sides(j, t))
        node.log_prior_split = search.tried[j, t] - evidence
        sides = [rows[columns[:, j] <= t], rows[columns[:, j] > t]]
        node.children = [grow(X, y, prior, most, split, side, n_columns) for side in sides]
    return node


def most_probable_pruning(node):
    """Prune from the leaves up where the leaf is as probable as the tree below it."""
    node.children = [most_probable_pruning(child) for child in node.children]
    if node.children and not is_higher(node.log_posterior(), node.log_leaf):
        node.children = []
    return node
