"""Random models of every outcome and column kind, with rows that are hard to score elsewhere.

Every export is held to what the estimator says of these rows: training rows, random ones, missing values, categories
that were never seen, values exactly at the thresholds and the next ones above.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from baytree.fitted import ModelKind
from baytree.outcomes import REGRESSION_OUTCOMES
from baytree.tree import SplitKind

N_MODELS = 100
OUTCOMES = ["two classes", "classes", *REGRESSION_OUTCOMES]
NASTY = [
    "plain",
    "it's",
    'a "quote"',
    "semi;colon; DROP TABLE rows; --",
    "/* comment */ -- x",
    "line\nbreak\r\ttab",
    "back\\slash\\n\\",
    "*/ // {brace} %d ?:trigraph??/",
    "ünïcode 日本 \u202e",
    "' OR '1'='1",
    '"""',
    '"); abort(); //',
    "'); DROP TABLE rows; SELECT ('",
    "\"]; raise SystemExit('out') #",
    "{}{0}",
]
UNSEEN = "never seen'\"; --"
KINDS = ["number", "few", "truth", "text", "ordered", "number categories", "whole"]


@dataclass(frozen=True)
class Scored:
    """A fitted model and rows to score, in columns of plain types."""

    seed: int
    model: Any
    rows: pd.DataFrame  # numbers as float64, truth values as objects, text as objects; None or NaN where missing
    kinds: dict[str, str]  # of its columns

    @property
    def fitted(self):
        return self.model.fitted_

    @property
    def is_classifier(self):
        return self.fitted.outcome.predicts_classes

    @property
    def is_average(self):
        """Whether rows end in several nodes: of a tree space, a forest, or a tree in which what was not seen goes both
        ways."""
        return not self.fitted.has_one_leaf

    @property
    def members(self):
        """The trees, or the tree space, that rows are sent through, and the share of each."""
        trees = self.fitted.routed.trees
        return [(1 / trees.n_trees, trees.tree(t)) for t in range(trees.n_trees)]

    @property
    def std(self):
        """The standard deviation of the rows, None where an export cannot carry it."""
        if self.is_classifier:
            return None
        if self.fitted.kind is ModelKind.SPACE:
            outcome = self.fitted.outcome.distribution(self.fitted.routed.trees.posterior)
            if not np.isfinite(outcome.var()).all():
                return None
        return self.fitted.std(self.numbers())

    def clear(self):
        """Rows in which no two classes are equally good but for rounding, which averages may round otherwise."""
        shares, decision = self.mean(), self.fitted.decision
        if not self.is_average:
            return np.ones(len(shares), dtype=bool)
        if decision.threshold is not None:
            return np.abs(shares[:, decision.positive] - decision.threshold) > 1e-12
        scores = shares if decision.costs is None else -shares @ decision.costs
        return np.diff(np.sort(scores, axis=1)[:, -2:], axis=1)[:, 0] > 1e-12

    def mean(self):
        """Class probabilities or means, shape (n_rows, n_values)."""
        return self.fitted.mean(self.numbers())

    def numbers(self):
        """The rows as the model reads them."""
        return self.model._read_all(self.rows)


@cache
def scored(seed: int) -> Scored:
    """The model of a seed; outcomes take turns, and so do trees, tree spaces and forests."""
    random = np.random.default_rng(seed)
    n = int(random.choice([20, 60, 150]))
    frame, plain, kinds = _table(random, n)
    outcome = OUTCOMES[seed % len(OUTCOMES)]
    kind = ("tree", "space", "tree", "forest")[seed // len(OUTCOMES) % 4]
    signal = sum(pd.factorize(plain[name])[0] % 3 * (i + 1) for i, name in enumerate(plain))
    y = _target(random, outcome, np.asarray(signal))
    model = _model(random, outcome, kind)
    if isinstance(getattr(model, "decision", None), np.ndarray) and len(model.decision) != len(np.unique(y)):
        model.set_params(decision=None)
    model.fit(frame, y)
    return Scored(seed, model, _rows(random, plain, kinds, model), kinds)


def _table(random, n):
    """As it is fitted, and in plain types."""
    frame, plain, kinds = {}, {}, {}
    for name in random.permutation(NASTY)[: random.integers(2, 6)].tolist():  # text, of which a frame makes names
        kind = str(random.choice(KINDS))
        missing = random.random(n) < random.choice([0.0, 0.0, 0.2])
        values = _values(random, kind, n)
        held = pd.Series(values).mask(missing)
        if kind in ("text", "ordered"):
            held = pd.Series(np.where(missing, None, values.astype(object)))
        elif kind == "truth":
            held = pd.Series(values, dtype="boolean").mask(missing)
        plain[name], kinds[name] = held, kind
        frame[name] = held
        if kind == "ordered":
            frame[name] = pd.Series(pd.Categorical(held, NASTY[:6], ordered=True))
        elif kind == "number categories":
            frame[name] = held.astype("category")
    return pd.DataFrame(frame), plain, kinds


def _values(random, kind, n):
    match kind:
        case "number":
            return random.normal(size=n) * 10.0 ** random.integers(-6, 7)
        case "few":
            return random.choice([-0.1, 0.1, 0.30000000000000004, 1 / 3, 5e-7], n)
        case "truth":
            return random.random(n) < 0.5
        case "number categories":
            return random.choice([-1.5, 0.1, 2.0, 1e10, 7.0], n)
        case "whole":
            return random.integers(-5, 2**40, n).astype(float)
        case _:
            return random.choice(NASTY[: random.integers(3, len(NASTY))] if kind == "text" else NASTY[:6], n)


ESTIMATORS = {
    "tree": (BayesianTreeClassifier, BayesianTreeRegressor),
    "space": (TreeSpaceClassifier, TreeSpaceRegressor),
    "forest": (BayesianForestClassifier, BayesianForestRegressor),
}


def _model(random, outcome, kind):
    options = {"partitions": str(random.choice(["axis", "oblique"])), "max_depth": int(random.choice([2, 4, 8]))}
    prune = bool(random.random() < 0.3)
    options["unseen"] = str(random.choice(["majority", "average"]))
    options |= {
        "tree": {"prune": prune},
        "space": {"max_nodes": 15},
        "forest": {"n_estimators": int(random.integers(1, 6)), "random_state": 0},
    }[kind]
    classifier, regressor = ESTIMATORS[kind]
    if outcome not in ("two classes", "classes"):
        return regressor(outcome=outcome, **options)
    return classifier(prior=float(random.choice([0.05, 0.5])), decision=_decision(random, outcome), **options)


def _decision(random, outcome):
    """The most probable class, the second from a probability on, or the class of the least cost."""
    if random.random() < 0.5:
        return None
    if outcome == "two classes" and random.random() < 0.5:
        return float(random.uniform(0.1, 0.9))
    n_classes = 2 if outcome == "two classes" else 4
    return random.uniform(0, 3, (n_classes, n_classes)) * (1 - np.eye(n_classes))


def _target(random, outcome, signal):
    signal = signal % 4
    n = len(signal)
    match outcome:
        case "two classes":
            labels = [[False, True], ["it's", '"; --\n\\'], [-3, 2**40]][random.integers(3)]
            return np.array(labels)[((signal > 1) ^ (random.random(n) < 0.1)).astype(int)]
        case "classes":
            labels = [NASTY[:4], [-1.0, 0.0, 2.0, 1e15]][random.integers(2)]
            return np.array(labels)[np.where(random.random(n) < 0.1, random.integers(0, 4, n), signal)]
        case "normal":
            return 10.0 * signal + random.normal(size=n)
        case "exponential":
            return random.exponential(1 + 5 * signal) + 1e-9
        case _:
            return random.poisson(1 + 5 * signal)


def _rows(random, plain, kinds, model):
    """Training rows, mixed rows, missing and unseen values, values at the thresholds."""
    n = len(next(iter(plain.values())))
    columns = {}
    for position, (name, values) in enumerate(plain.items()):
        mixed = values.iloc[random.integers(0, n, 40)].tolist()
        extra = _thresholds(model, position) if kinds[name] in ("number", "few", "whole") else []
        odd = [UNSEEN, ""] if kinds[name] in ("text", "ordered") else [123.456] if kinds[name] != "truth" else []
        columns[name] = [*values.iloc[:20].tolist(), *mixed, *extra, *odd, None, None]
    longest = max(map(len, columns.values()))
    for name, values in columns.items():
        more = [values[int(i)] for i in random.integers(0, len(values), longest - len(values))]
        mixed = [(values + more)[i] for i in random.permutation(longest)]  # so that values at thresholds meet
        columns[name] = _plain(kinds[name], mixed)
    return pd.DataFrame(columns)


def _plain(kind, values):
    values = [None if value is None or value is pd.NA or value != value else value for value in values]
    if kind in ("text", "ordered", "truth"):
        return pd.Series(values, dtype=object)
    return pd.Series([np.nan if value is None else float(value) for value in values])


def _thresholds(model, position):
    trees = model.fitted_.trees
    is_threshold = (trees.feature == position) & (trees.kind == SplitKind.THRESHOLD)
    thresholds = trees.threshold[is_threshold][:20].tolist()
    return [value for threshold in thresholds for value in (threshold, np.nextafter(threshold, np.inf))]


def is_number(kind):
    return kind in ("number", "few", "whole", "number categories")


def as_arrow(rows, kinds):
    """Columns of plain types; every second missing number is NaN, the others are null."""
    import pyarrow as pa

    columns = {"row": pa.array(range(len(rows)))}
    for name, kind in kinds.items():
        values = rows[name]
        if is_number(kind):
            missing = values.isna().to_numpy() & (np.arange(len(values)) % 2 == 0)
            columns[name] = pa.array(values.to_numpy(), mask=missing, from_pandas=False)
        else:
            columns[name] = pa.array(values.tolist(), pa.bool_() if kind == "truth" else pa.string())
    return pa.table(columns)
