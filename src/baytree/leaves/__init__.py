"""Leaf models: from a node and a row to the parameters of the outcome's posterior there."""

from ._constant import ConstantLeaves as ConstantLeaves
from ._model import LeafModel as LeafModel
