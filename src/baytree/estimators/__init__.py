"""The estimators."""

from ._classifier import BayesianTreeClassifier as BayesianTreeClassifier
from ._regressor import BayesianTreeRegressor as BayesianTreeRegressor
from ._space_classifier import TreeSpaceClassifier as TreeSpaceClassifier
from ._space_regressor import TreeSpaceRegressor as TreeSpaceRegressor
