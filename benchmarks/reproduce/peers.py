"""Models of other libraries, each where it is installed: `pip install --group benchmarks` installs them all."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np

from baytree._typing import AnyArray, FloatArray

from .models import Model


class Bart:
    """Bayesian additive regression trees of stochtree with its defaults: warm-started chains, 100 draws."""

    def fit(self, X: FloatArray, y: AnyArray) -> Self:
        """Draw from the posterior."""
        self.model_ = import_module("stochtree").BARTModel()
        self.model_.sample(X_train=X, y_train=np.asarray(y, dtype=float), general_params={"random_seed": 1})
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """The mean of the draws."""
        return np.asarray(self.model_.predict(X)["y_hat"].mean(axis=1))


class NaturalGradientBoosting:
    """NGBoost with normal distributions and its defaults."""

    def fit(self, X: FloatArray, y: AnyArray) -> Self:
        """Boost mean and scale."""
        self.model_ = import_module("ngboost").NGBRegressor(random_state=0, verbose=False)
        self.model_.fit(X, np.asarray(y, dtype=float))
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """The means."""
        return np.asarray(self.model_.predict(X))

    def predict_dist(self, X: FloatArray) -> Any:
        """The distributions, one a row."""
        return self.model_.pred_dist(X).dist

    def predict_interval(self, X: FloatArray, *, level: float) -> FloatArray:
        """Ends of the central interval, shape (n_rows, 2)."""
        return np.stack(self.predict_dist(X).interval(level), axis=1)


def classifiers(*, ebm: bool = False) -> dict[str, Model]:
    """Classifiers that are installed; the explainable boosting machine, which is slow, only if it is asked for."""
    models: dict[str, tuple[str, Model]] = {
        "LightGBM": (
            "lightgbm",
            lambda: import_module("lightgbm").LGBMClassifier(random_state=0, verbose=-1, n_jobs=-1),
        ),
    }
    return _installed(models) | ({"EBM": explainable_boosting} if ebm else {})


def explainable_boosting() -> Any:
    """The explainable boosting machine of interpret, with ten pairs of features.

    Its own default is three pairs for every feature, and pairs are what takes the time (docs/benchmarks.md).
    """
    return import_module("interpret.glassbox").ExplainableBoostingClassifier(interactions=10, n_jobs=1, random_state=0)


def check_ebm() -> None:
    """Refuse to start without it."""
    if find_spec("interpret") is None:
        raise ImportError("The explainable boosting machine needs interpret: pip install --group benchmarks.")


def regressors() -> dict[str, Model]:
    """Regressors that are installed."""
    models: dict[str, tuple[str, Model]] = {
        "LightGBM": (
            "lightgbm",
            lambda: import_module("lightgbm").LGBMRegressor(random_state=0, verbose=-1, n_jobs=-1),
        ),
        "BART": ("stochtree", Bart),
        "NGBoost": ("ngboost", NaturalGradientBoosting),
    }
    return _installed(models)


def _installed(models: dict[str, tuple[str, Model]]) -> dict[str, Model]:
    return {name: model for name, (library, model) in models.items() if find_spec(library) is not None}
