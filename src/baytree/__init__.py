"""Bayesian decision trees for scikit-learn."""

from importlib.metadata import version as _version

from .estimators import BayesianForestClassifier as BayesianForestClassifier
from .estimators import BayesianForestRegressor as BayesianForestRegressor
from .estimators import BayesianTreeClassifier as BayesianTreeClassifier
from .estimators import BayesianTreeRegressor as BayesianTreeRegressor
from .estimators import TreeSpaceClassifier as TreeSpaceClassifier
from .estimators import TreeSpaceRegressor as TreeSpaceRegressor
from .estimators import explanations as explanations
from .estimators import load as load
from .estimators import partition_space as partition_space
from .persistence import ModelFileError as ModelFileError
from .priors import PartitionPrior as PartitionPrior

__version__ = _version("baytree")
__all__ = [
    "BayesianForestClassifier",
    "BayesianForestRegressor",
    "BayesianTreeClassifier",
    "BayesianTreeRegressor",
    "ModelFileError",
    "PartitionPrior",
    "TreeSpaceClassifier",
    "TreeSpaceRegressor",
    "explanations",
    "load",
    "partition_space",
]
