"""SHAP values: our own, for every kind of split, and trees in the form of shap's TreeExplainer.

Path-dependent values are the `contributions` of a fitted model. For interventional ones a path predicts where all of
its steps are taken. Let every feature be known with probability t, independently: the expected prediction is a
polynomial in t (the multilinear extension of the game, on the diagonal), and the SHAP value of a feature is the
integral over t of what knowing it adds (Owen 1972), for which Gauss-Legendre quadrature is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..estimators import Model, fitted_of, read_rows
from ..fitted import Contributions, Fitted, calibrated_contributions, contributions
from ..leaves import ModelLeaves
from ..tree import Hyperplane, SplitKind, TreeStore
from ._members import exportable, trees_of
from ._paths import Path, Step, paths_of
from ._shapley import shapley

_MAX_JOINT = 16  # features of the hyperplanes of one path, of which all subsets are gone through with a background
_ENTRIES = 2**22  # of pairs of rows and subsets at a time


@dataclass(frozen=True)
class ShapValues:
    """The contribution of each feature to each prediction: ``base + values.sum(axis=1)`` is the prediction.

    Attributes
    ----------
    values
        Shape (n_rows, n_features, n_classes); (n_rows, n_features) where one number is predicted.
    base
        Shape (n_classes,), or one number.
    names
        Names of the features.
    error
        Standard errors of the values, of their shape: 0 where they are exact.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import shap_values
    >>> shap = shap_values(model, X[:2])
    >>> shap.values.shape, shap.base.shape
    ((2, 4, 3), (3,))
    """

    values: FloatArray
    base: FloatArray
    names: tuple[str, ...]
    error: FloatArray


def shap_values(model: Model, X: Any, background: Any = None) -> ShapValues:
    """Return SHAP values of class probabilities or means, for every kind of split, tree, tree space and forest.

    They are exact, also where shap's TreeExplainer has no such split: sets of categories, present against missing,
    hyperplanes. Only path-dependent values of very large oblique models draw orders of the features at random, the
    same ones every time; `error` of the result has their standard errors. A prediction is the base plus the values of
    all features. In a calibrated forest of classes, SHAP values are those of the average over its trees, and the change
    that the calibration makes of their sum is divided in proportion to them (docs/forest.md).

    Parameters
    ----------
    model
        A fitted tree, tree space or forest, or a pipeline that ends in one.
    X
        Rows: a table like that of `fit`.
    background
        None: path-dependent values. Where a feature counts as unknown, both sides of a split along it are averaged by
        the weight of their training rows; a hyperplane is known where all of its features are. A table like that of
        `fit`: interventional values, for which unknown features come from its rows.

    Returns
    -------
    ShapValues

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> from baytree.export import shap_values
    >>> X, y = load_iris(return_X_y=True)
    >>> shap = shap_values(BayesianTreeClassifier(prior=1.0, max_depth=1).fit(X, y), X[:1])
    >>> shap.values[0, :, 0].round(3).tolist(), shap.base.round(3).tolist()
    ([0.0, 0.0, 0.0, 0.659], [0.332, 0.334, 0.334])
    """
    fitted = exportable(model, but=ModelLeaves if background is None else None)
    rows = read_rows(model, X)
    if not fitted.has_finite_means():
        raise ValueError("A leaf predicts an infinite mean: SHAP values need finite ones.")
    names = tuple(fitted.schema.name(i) for i in range(fitted.schema.n_features))
    if background is None:
        shapley = contributions(fitted, rows)
    else:
        of_average = _interventional_values(fitted, rows.dense(), read_rows(model, background).dense())
        shapley = calibrated_contributions(fitted, of_average)
    values, error, base = shapley.values, shapley.error, shapley.base[0]
    if not fitted.outcome.predicts_classes and values.shape[2] == 1:
        return ShapValues(values[:, :, 0], base[0], names, error[:, :, 0])
    return ShapValues(values, base, names, error)


def _interventional_values(fitted: Fitted, rows: FloatArray, background: FloatArray) -> Contributions:
    """Contributions to averages over trees; their base is the average for the background."""
    paths = paths_of(fitted)
    values = np.zeros((len(rows), fitted.schema.n_features, len(paths[0].value)))
    base = np.zeros(values.shape[2])
    for path in paths:
        shares, start = _interventional(path, rows, background)
        base += start * path.value
        for feature, share_of_rows in shares.items():
            values[:, feature] += share_of_rows[:, None] * path.value
    return Contributions(values, np.zeros_like(values), np.tile(base, (len(rows), 1)))


@dataclass(frozen=True)
class _Game:
    """A path as a game: features that act alone, each with its steps, and the joint features of its hyperplanes."""

    path: Path
    alone: list[int]
    joint_features: list[int]

    @classmethod
    def of(cls, path: Path) -> _Game:
        """Refuses paths that would take too long."""
        planes = [step.split for step in path.steps if isinstance(step.split, Hyperplane)]
        joint_features = sorted({feature for plane in planes for feature in plane.features})
        alone = sorted({feature for step in path.steps for feature in step.split.features} - {*joint_features})
        if len(joint_features) > _MAX_JOINT:
            raise ValueError(
                f"A path has hyperplanes of {len(joint_features)} features, for which interventional SHAP values would "
                f"take too long: at most {_MAX_JOINT} are possible. Leave background out."
            )
        return cls(path, alone, joint_features)

    def steps_with(self, feature: int) -> list[int]:
        """The steps of a feature that counts alone."""
        return [i for i, step in enumerate(self.path.steps) if step.split.features == (feature,)]

    def joint_steps(self) -> list[int]:
        """The steps whose splits use a feature of some hyperplane."""
        return [
            i for i, step in enumerate(self.path.steps) if not {*step.split.features}.isdisjoint(self.joint_features)
        ]

    def subsets(self) -> Iterator[set[int]]:
        """All subsets of the features that are together, in the order of `shapley`."""
        for number in range(2 ** len(self.joint_features)):
            yield {feature for i, feature in enumerate(self.joint_features) if number >> i & 1}

    @property
    def features(self) -> list[int]:
        """All of them, in the order of `shapley`."""
        return [*self.alone, *self.joint_features]


def _interventional(path: Path, X: FloatArray, background: FloatArray) -> tuple[dict[int, FloatArray], float]:
    """Contributions of each feature for each row, averaged over the rows of a background."""
    game = _Game.of(path)
    if game.joint_features:
        return _interventional_by_pairs(game, X, background)
    taken, inverse = _patterns(_steps_taken(path.steps, X))
    of_others, others = _patterns(_steps_taken(path.steps, background))
    weight = np.bincount(others) / len(background)
    known, unknown = (
        _columns([matrix[:, game.steps_with(feature)].all(axis=1) for feature in game.alone], len(matrix))
        for matrix in (taken, of_others)
    )
    shape = (len(known), len(unknown), len(game.alone))
    n_pairs = shape[0] * shape[1]
    pairs = [np.broadcast_to(factors, shape).reshape(n_pairs, shape[2]) for factors in (known[:, None], unknown[None])]
    values, empty = shapley(*pairs)
    mean = np.einsum("rof,o->rf", values.reshape(shape), weight)
    start = float(weight @ empty.reshape(shape[:2])[0])
    return {feature: mean[inverse, i] for i, feature in enumerate(game.features)}, start


def _interventional_by_pairs(game: _Game, X: FloatArray, background: FloatArray) -> tuple[dict[int, FloatArray], float]:
    """Interventional contributions where hyperplanes mix known and unknown features: for every pair of rows."""
    steps, n_subsets = [game.path.steps[i] for i in game.joint_steps()], 2 ** len(game.joint_features)
    result = np.empty((len(X), len(game.features)))
    unknown = _columns([_takes_all(game, feature, background) for feature in game.alone], len(background))
    at_once = max(1, _ENTRIES // (n_subsets * len(background)))
    start = 0.0
    for first in range(0, len(X), at_once):
        rows = X[first : first + at_once]
        shape = (len(rows), len(background))
        known = _columns([_takes_all(game, feature, rows) for feature in game.alone], len(rows))
        joint = np.empty((*shape, n_subsets))
        for number, subset in enumerate(game.subsets()):
            mixed = np.broadcast_to(background, (*shape, X.shape[1])).copy()
            mixed[:, :, sorted(subset)] = rows[:, None, sorted(subset)]
            joint[:, :, number] = np.logical_and.reduce([step.is_taken(mixed) for step in steps])
        pairs = [np.broadcast_to(factors, (*shape, len(game.alone))) for factors in (known[:, None], unknown[None])]
        flat = [factors.reshape(shape[0] * shape[1], factors.shape[2]) for factors in (*pairs, joint)]
        values, empty = shapley(*flat)
        result[first : first + at_once] = values.reshape(*shape, -1).mean(axis=1)
        start = float(empty.reshape(shape)[0].mean())
    return {feature: result[:, i] for i, feature in enumerate(game.features)}, start


def _takes_all(game: _Game, feature: int, X: FloatArray) -> BoolArray:
    """Whether rows take all steps of a feature."""
    return np.asarray(np.logical_and.reduce([game.path.steps[i].is_taken(X) for i in game.steps_with(feature)]))


def _steps_taken(steps: tuple[Step, ...], X: FloatArray) -> BoolArray:
    return _columns([step.is_taken(X) for step in steps], len(X)).astype(bool)


def _columns(columns: list[Any], n_rows: int) -> FloatArray:
    return np.column_stack(columns).astype(np.float64) if columns else np.empty((n_rows, 0))


def _patterns(taken: BoolArray) -> tuple[BoolArray, IntArray]:
    """The distinct rows, of which there are few, and the position of each row among them."""
    if taken.shape[1] == 0:
        return taken[:1], np.zeros(len(taken), dtype=np.int64)
    packed: AnyArray = np.packbits(taken, axis=1)
    _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return taken[first], inverse.ravel()


def to_shap(model: Model) -> dict[str, Any]:
    """Return a model in the form of ``shap.TreeExplainer``, which then explains it: ``TreeExplainer(to_shap(model))``.

    Parameters
    ----------
    model
        A fitted tree or forest, or a tree space of few trees. shap has splits of the form ``x <= t`` and missing
        values alone: for sets of categories, hyperplanes and linear leaves use `shap_values`.

    Returns
    -------
    dict
        Trees in float64 with class probabilities or means in their leaves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import to_shap
    >>> len(to_shap(model)["trees"])
    1
    """
    fitted = fitted_of(model)
    if not fitted.trees.leaves.is_constant:
        raise ValueError(
            "shap's trees hold one prediction for each leaf, but the leaves of this model predict from the values of "
            "each row: use shap_values."
        )
    fitted = exportable(model)
    if fitted.forest_calibration is not None:
        raise ValueError(
            "shap's trees add up to an average, which this forest calibrates: use shap_values, or fit with "
            "calibrate=False."
        )
    trees = trees_of(fitted, "shap")
    for _, tree in trees:
        _refuse_other_splits(fitted, tree)
    return {
        "trees": [_shap_tree(share, tree) for share, tree in trees],
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
        "objective": None,
        "tree_output": "probability" if fitted.outcome.predicts_classes else "raw_value",
        "base_offset": 0.0,
    }


def _refuse_other_splits(fitted: Fitted, tree: TreeStore) -> None:
    for node in np.flatnonzero(tree.is_of(SplitKind.CATEGORY_SET) | tree.is_of(SplitKind.HYPERPLANE))[:1]:
        split = tree.split(int(node))
        raise ValueError(
            f"shap's trees cannot hold the split {split.subject(fitted.schema)} {split.condition(fitted.schema)}: they "
            "have splits of the form x <= t alone. Use shap_values."
        )


def _shap_tree(share: float, tree: TreeStore) -> dict[str, Any]:
    present = tree.is_of(SplitKind.PRESENT_MISSING)
    default = np.where(tree.missing_go_to_left, tree.children_left, tree.children_right)
    return {
        "children_left": tree.children_left.astype(np.int32),
        "children_right": tree.children_right.astype(np.int32),
        "children_default": default.astype(np.int32),
        "features": tree.feature.astype(np.int32),
        "thresholds": np.where(present, np.finfo(np.float64).max, tree.threshold),
        "values": share * tree.value[:, 0],
        "node_sample_weight": tree.weighted_n_node_samples.astype(np.float64),
    }
