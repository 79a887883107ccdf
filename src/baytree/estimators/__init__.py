"""The estimators."""

from ._classifier import BayesianTreeClassifier as BayesianTreeClassifier
from ._regressor import BayesianTreeRegressor as BayesianTreeRegressor
