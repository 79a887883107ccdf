"""Logistic leaves written down as docs/linear_leaves.md states them: a general optimiser, and integrals by quadrature.

Every class has logits of its own, with half of the variance that the log odds of two classes have beforehand; what is
common to all classes has no likelihood and cancels. Weights are counts.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate, optimize, special

from tests.reference.linear_leaves import has_directions, is_higher, scaling

SLOPE_VARIANCE, LEVEL_VARIANCE = 1.0, 4.0


def log_choice(n_candidates, most, n_terms):
    return -math.log(min(most, n_candidates) + 1) - 0.5 * math.log(math.comb(n_candidates, n_terms))


def log_constant(counts, prior):
    """Log probability of labels in their order under a Dirichlet prior."""
    a = np.asarray(prior, dtype=float)
    n = np.asarray(counts, dtype=float)
    by_class = special.gammaln(a + n) - special.gammaln(a)
    return float(by_class.sum() + special.gammaln(a.sum()) - special.gammaln(a.sum() + n.sum()))


def scaled(X, terms):
    centre, scale = scaling(X)
    z = (X[:, terms] - centre[terms]) / scale[terms]
    return np.column_stack([np.ones(len(X)), np.where(np.isnan(z), 0.0, z)])


def laplace(Z, y, n_classes):
    """Mode and log evidence, by Newton-free optimisation and a dense second derivative."""
    width = Z.shape[1]
    variance = np.append(LEVEL_VARIANCE, np.full(width - 1, SLOPE_VARIANCE)) / 2
    is_class = np.eye(n_classes)[y]

    def minus_log_posterior(w):
        logits = Z @ w.reshape(n_classes, width).T
        log_p = special.log_softmax(logits, axis=1)
        penalty = (w.reshape(n_classes, width) ** 2 / variance).sum() / 2
        gradient = (np.exp(log_p) - is_class).T @ Z + w.reshape(n_classes, width) / variance
        return penalty - (log_p * is_class).sum(), gradient.ravel()

    minimum = optimize.minimize(minus_log_posterior, np.zeros(n_classes * width), jac=True, method="BFGS", tol=1e-10)
    w = minimum.x.reshape(n_classes, width)
    p = special.softmax(Z @ w.T, axis=1)
    curvature = np.diag(np.tile(1 / variance, n_classes))
    for i in range(len(Z)):
        curvature += np.kron(np.diag(p[i]) - np.outer(p[i], p[i]), np.outer(Z[i], Z[i]))
    log_prior = -0.5 * n_classes * np.log(variance).sum()
    return w, np.linalg.inv(curvature), float(-minimum.fun + log_prior - 0.5 * np.linalg.slogdet(curvature)[1])


def quadrature(Z, y):
    """Log evidence of two classes and one term, by integrating over intercept and slope."""

    def likelihood(slope, level):
        log_p = special.log_expit(np.where(y == 1, 1, -1) * (level + slope * Z[:, 1]))
        prior = -(level**2) / LEVEL_VARIANCE / 2 - slope**2 / SLOPE_VARIANCE / 2
        return math.exp(log_p.sum() + prior) / (2 * math.pi * math.sqrt(LEVEL_VARIANCE * SLOPE_VARIANCE))

    total, _ = integrate.dblquad(likelihood, -12, 12, -5, 5, epsabs=1e-12)
    return math.log(total)


def fit_leaf(X, y, prior, most, directions=None):
    """Forward selection for two classes: (terms, log evidence). Terms without the right directions do not exist."""
    counts = np.bincount(y, minlength=len(prior))
    _, scale = scaling(X)
    candidates = [j for j in range(X.shape[1]) if scale[j] > 0]
    best = ([], log_constant(counts, prior) + log_choice(len(candidates), most, 0))
    if len(y) < 8 or np.count_nonzero(counts >= 2) < 2:
        return best
    while len(best[0]) < min(most, len(candidates)):
        tried = []
        for terms in ([*best[0], j] for j in candidates if j not in best[0]):
            w, _, evidence = laplace(scaled(X, terms), y, len(prior))
            if has_directions(w[-1, 1:], terms, directions):
                tried.append((terms, evidence + log_choice(len(candidates), most, len(terms))))
        top = max(tried, key=lambda one: round(one[1], 7), default=best)
        if not is_higher(top[1], best[1]):
            break
        best = top
    return best
