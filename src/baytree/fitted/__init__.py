"""A fitted result: trees with their outcome, schema and decision, and everything that is predicted from them."""

from ._contributions import Contributions as Contributions
from ._contributions import calibrated_contributions as calibrated_contributions
from ._contributions import contributions as contributions
from ._edits import DecisionChange as DecisionChange
from ._edits import Edit as Edit
from ._edits import edit_lines as edit_lines
from ._facts import FittedOn as FittedOn
from ._facts import ForestFacts as ForestFacts
from ._facts import OutOfBag as OutOfBag
from ._fitted import UNSEEN as UNSEEN
from ._fitted import Fitted as Fitted
from ._fitted import Summary as Summary
from ._kinds import Decisions as Decisions
from ._kinds import ModelKind as ModelKind
from ._mixtures import class_outcome as class_outcome
from ._mixtures import distribution_of as distribution_of
from ._mixtures import has_distribution as has_distribution
from ._mixtures import real_outcome as real_outcome
from ._split_facts import ColumnChoice as ColumnChoice
from ._split_facts import MissingValues as MissingValues
from ._split_facts import column_choice as column_choice
from ._split_facts import missing_values as missing_values
from ._split_facts import split_facts as split_facts
from ._stability import SplitStability as SplitStability
from ._stability import Stability as Stability
from ._stability import compare_with_refits as compare_with_refits
