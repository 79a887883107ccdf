"""Outcomes: what is predicted, its conjugate prior and its posterior."""

from ._base import Outcome as Outcome
from ._base import Target as Target
from ._categorical import CategoricalOutcome as CategoricalOutcome
from ._custom import CustomOutcome as CustomOutcome
from ._exponential import ExponentialOutcome as ExponentialOutcome
from ._normal import NormalOutcome as NormalOutcome
from ._poisson import PoissonOutcome as PoissonOutcome

# The outcomes that `outcome=` of a regressor may name.
REGRESSION_OUTCOMES: dict[str, type[Outcome]] = {
    "normal": NormalOutcome,
    "poisson": PoissonOutcome,
    "exponential": ExponentialOutcome,
}
