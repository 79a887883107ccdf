"""Outcomes: what is predicted, its conjugate prior and its posterior."""

from ._base import Outcome as Outcome
from ._base import RealOutcome as RealOutcome
from ._base import Trials as Trials
from ._base import WholeOutcome as WholeOutcome
from ._base import asks_for_evidence as asks_for_evidence
from ._base import whole_outcome as whole_outcome
from ._categorical import CategoricalOutcome as CategoricalOutcome
from ._categorical import ClassOptions as ClassOptions
from ._custom import CustomOutcome as CustomOutcome
from ._grids import Extent as Extent
from ._grids import Grid as Grid
from ._grids import Grids as Grids
from ._grids import Reach as Reach
from ._grids import on_grids as on_grids
from ._grids import whole_weight as whole_weight
from ._negative_binomial import NegativeBinomial as NegativeBinomial
from ._normal import NormalOutcome as NormalOutcome
from ._registry import OUTCOMES as OUTCOMES
from ._registry import REGRESSION_OUTCOMES as REGRESSION_OUTCOMES
from ._registry import Family as Family
from ._registry import read_outcome as read_outcome
from ._target import EXTRAS as EXTRAS
from ._target import Extra as Extra
from ._target import Target as Target
from ._target import read_numbers as read_numbers
