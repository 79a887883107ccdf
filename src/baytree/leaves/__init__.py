"""Leaf models: from a node and a row to the parameters of the outcome's posterior there."""

from ._constant import ConstantLeaves as ConstantLeaves
from ._formula import effects as effects
from ._formula import leaf_headline as leaf_headline
from ._formula import leaf_lines as leaf_lines
from ._formula import odds_ratios as odds_ratios
from ._formula import term_text as term_text
from ._linear import LinearLeaves as LinearLeaves
from ._logistic import PROBIT as PROBIT
from ._logistic import QUADRATURE as QUADRATURE
from ._logistic import LogisticLeaves as LogisticLeaves
from ._model import LeafModel as LeafModel
from ._models import ModelLeaves as ModelLeaves
from ._terms import LeafTerms as LeafTerms
from ._terms import TermKind as TermKind
