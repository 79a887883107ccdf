"""The estimators."""

from ._classifier import BayesianTreeClassifier as BayesianTreeClassifier
