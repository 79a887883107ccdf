"""What is compared: the paper's three, our default, its variants, and what people would use instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    PartitionPrior,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)

Model = Callable[[], Any]
LITERAL = PartitionPrior(split=0.99, by_depth=True, proper=False, choose="partition")  # as the paper prints it


class Pruned:
    """CART with cost-complexity pruning, its strength chosen by five-fold cross-validation among up to twelve.

    They lie on the pruning path, from the root alone to the full tree, each with about twice the leaves of the last.
    """

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def fit(self, X: Any, y: Any) -> Pruned:
        """Choose the strength, then grow and prune on all rows."""
        alphas = np.unique(self.tree.cost_complexity_pruning_path(X, y).ccp_alphas.clip(min=0))
        alphas = alphas[-np.unique(np.geomspace(1, len(alphas), 12).astype(int))]
        folds = KFold(5, shuffle=True, random_state=0)  # rows may come in the order of time
        search = GridSearchCV(self.tree, {"ccp_alpha": alphas}, cv=folds, n_jobs=-1)
        self.best_ = search.fit(X, y).best_estimator_
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["best_"], name)


PAPER: dict[str, Model] = {
    "DT": lambda: DecisionTreeClassifier(random_state=0),
    "RF 5": lambda: RandomForestClassifier(5, random_state=0),
    "GMT, literal prior": lambda: BayesianTreeClassifier(
        prior="paper", prune=False, partition_prior=LITERAL, thresholds="midpoint"
    ),
    "GMT": lambda: BayesianTreeClassifier(prior="paper", prune=False, partition_prior="paper"),
    "baytree": BayesianTreeClassifier,
}
BEYOND: dict[str, Model] = {
    "evidence prior": lambda: BayesianTreeClassifier(prior="evidence"),
    "look-ahead 1": lambda: BayesianTreeClassifier(lookahead=1),
    "tree space": TreeSpaceClassifier,
    "oblique": lambda: BayesianTreeClassifier(partitions="oblique"),
    "CART, pruned": lambda: Pruned(DecisionTreeClassifier(random_state=0)),
    "forest": lambda: BayesianForestClassifier(random_state=0, n_jobs=-1),
    "forest, axis": lambda: BayesianForestClassifier(partitions="axis", random_state=0, n_jobs=-1),
    "RF 100": lambda: RandomForestClassifier(100, random_state=0, n_jobs=-1),
    "extra trees 100": lambda: ExtraTreesClassifier(100, random_state=0, n_jobs=-1),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
}
REGRESSION: dict[str, Model] = {
    "baytree": BayesianTreeRegressor,
    "tree space": TreeSpaceRegressor,
    "oblique": lambda: BayesianTreeRegressor(partitions="oblique"),
    "CART, pruned": lambda: Pruned(DecisionTreeRegressor(random_state=0)),
    "forest": lambda: BayesianForestRegressor(random_state=0, n_jobs=-1),
    "RF 100": lambda: RandomForestRegressor(100, random_state=0, n_jobs=-1),
}
