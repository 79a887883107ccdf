"""Logistic leaves in SQL: from the leaf of a row to its class probabilities, in a few steps.

Each step keeps the column ``leaf`` and has its own: first the scaled terms, then the means and the variances of the
logits, then for two classes the log odds at each point of the quadrature and its exponential, last the probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..leaves import PROBIT, QUADRATURE, LogisticLeaves
from ._sql_linear import scaled_term
from ._sql_text import Conditions, number_literal, pairwise_sum

_MOST = 700.0  # whose exponential is finite in every database, as is that of its negative


@dataclass(frozen=True)
class LogisticSteps:
    """Writes the steps for some leaves."""

    leaves: LogisticLeaves
    nodes: Sequence[int]
    conditions: Conditions

    def columns(self) -> list[dict[str, str]]:
        """The columns of each step beside `leaf`, as expressions on those of the step before."""
        steps = [self._terms(), self._moments()]
        if self.leaves.n_classes == 2:
            return [*steps, self._points(), self._exponentials(), self._of_two()]
        return [*steps, self._shrunken(), self._of_several()]

    def _number(self, value: float) -> str:
        return number_literal(float(value), self.conditions.dialect)

    def _of_leaf(self, cases: Iterable[tuple[int, str]], otherwise: str) -> str:
        text = " ".join(f"WHEN {node} THEN {case}" for node, case in cases)
        return f"CASE t.leaf {text} ELSE {otherwise} END" if text else otherwise

    @property
    def _with_terms(self) -> list[int]:
        return [node for node in self.nodes if len(self.leaves.terms.of(node))]

    def _terms(self) -> dict[str, str]:
        terms, nodes = self.leaves.terms, self._with_terms
        most = max((len(terms.of(node)) for node in nodes), default=0)
        return {
            f"z{k}": self._of_leaf(
                (
                    (node, scaled_term(self.conditions, self.leaves, terms.of(node)[k]))
                    for node in nodes
                    if len(terms.of(node)) > k
                ),
                self._number(0.0),
            )
            for k in range(most)
        }

    def _moments(self) -> dict[str, str]:
        forms = {node: self.leaves.forms(node) for node in self._with_terms}
        n_logits = 1 if self.leaves.n_classes == 2 else self.leaves.n_classes
        zero, result = self._number(0.0), dict[str, str]()
        for c in range(n_logits):
            result[f"m{c}"] = self._of_leaf(((node, self._sum(b[c])) for node, (b, _) in forms.items()), zero)
            squares = ((node, self._square(q[c])) for node, (_, q) in forms.items())
            result[f"v{c}"] = self._of_leaf(squares, zero)
        return result

    def _sum(self, b: FloatArray) -> str:
        terms = [f"{self._number(coefficient)} * t.z{k}" for k, coefficient in enumerate(b[1:])]
        return f"({pairwise_sum([self._number(b[0]), *terms])})"

    def _square(self, q: FloatArray) -> str:
        """The terms of u'Qu, of which each pair is written once."""
        factors = ["", *(f" * t.z{k}" for k in range(len(q) - 1))]
        pairs = zip(*np.triu_indices(len(q)), strict=True)
        return (
            f"({pairwise_sum([f'{self._number(q[i, j] * (1 + (i < j)))}{factors[i]}{factors[j]}' for i, j in pairs])})"
        )

    def _points(self) -> dict[str, str]:
        std = "CASE WHEN t.v0 > 0 THEN sqrt(t.v0) ELSE 0e0 END"
        return {f"at{i}": f"t.m0 + {self._number(point)} * {std}" for i, point in enumerate(QUADRATURE[0])}

    def _exponentials(self) -> dict[str, str]:
        return {f"e{i}": self._exponential(f"t.at{i}") for i in range(len(QUADRATURE[0]))}

    def _exponential(self, value: str) -> str:
        low, high = self._number(-_MOST), self._number(_MOST)
        return f"exp(CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END)"

    def _of_two(self) -> dict[str, str]:
        chances = []
        for odds in ("", " * t.e{i}"):
            parts = [
                f"{self._number(weight)}{odds.format(i=i)} / (1 + t.e{i})" for i, weight in enumerate(QUADRATURE[1])
            ]
            chances.append(pairwise_sum(parts))
        return self._shares(chances)

    def _shrunken(self) -> dict[str, str]:
        return {
            f"l{c}": f"t.m{c} / sqrt(1 + {self._number(PROBIT)} * CASE WHEN t.v{c} > 0 THEN t.v{c} ELSE 0e0 END)"
            for c in range(self.leaves.n_classes)
        }

    def _of_several(self) -> dict[str, str]:
        classes = range(self.leaves.n_classes)
        sums = [
            pairwise_sum(["1e0", *(self._exponential(f"(t.l{d} - t.l{c})") for d in classes if d != c)])
            for c in classes
        ]
        return self._shares([f"1 / ({total})" for total in sums])

    def _shares(self, chances: list[str]) -> dict[str, str]:
        """Class probabilities: of leaves without terms numbers."""
        constant = [node for node in self.nodes if not len(self.leaves.terms.of(node))]
        value = self.leaves.value
        return {
            f"a{c}": self._of_leaf(((node, self._number(value[node, c])) for node in constant), f"({chance})")
            for c, chance in enumerate(chances)
        }
