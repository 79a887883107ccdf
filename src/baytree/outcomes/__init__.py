"""Outcomes: what is predicted, its conjugate prior and its posterior."""

from ._categorical import CategoricalOutcome as CategoricalOutcome
