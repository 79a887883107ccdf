"""Write the parameters of the six estimators into their source: signatures in one order, every parameter described.

An editor shows the docstring in the file, so the file must hold the whole text. It is kept here once:
``python -m tools.estimator_source`` writes it, and a test fails where a file is out of date.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "src" / "baytree" / "estimators"
WIDTH = 120


@dataclass(frozen=True)
class Kind:
    """What a text may depend on."""

    file: str
    model: str  # "tree", "space" or "forest"
    classes: bool  # a classifier

    @property
    def regressor(self) -> bool:
        """Whether numbers are predicted."""
        return not self.classes


KINDS = [
    Kind("_classifier.py", "tree", True),
    Kind("_regressor.py", "tree", False),
    Kind("_space_classifier.py", "space", True),
    Kind("_space_regressor.py", "space", False),
    Kind("_forest_classifier.py", "forest", True),
    Kind("_forest_regressor.py", "forest", False),
]


@dataclass(frozen=True)
class Parameter:
    """A parameter of the estimators that have it: its type, its default by kind and its description."""

    name: str
    type: str
    default: str | dict[str, str]
    text: str | dict[str, str]
    models: tuple[str, ...] = ("tree", "space", "forest")
    only: str = ""  # "classes", "numbers"

    def is_of(self, kind: Kind) -> bool:
        """Whether an estimator has it."""
        return kind.model in self.models and self.only != ("numbers" if kind.classes else "classes")

    def of(self, kind: Kind, value: str | dict[str, str]) -> str:
        """The default or the description of one estimator."""
        if isinstance(value, str):
            return value
        task = "classes" if kind.classes else "numbers"
        for key in (f"{kind.model} {task}", kind.model, task, ""):
            if key in value:
                return value[key]
        raise KeyError(self.name)


TREES = ("tree", "forest")
_SPREAD = (
    "Whether to widen or narrow predictive distributions by the factor `spread_`, so that 90 % intervals hold nine in "
    'ten cross-validated rows; for ``"normal"`` only. The posterior of the mean and `posterior` are not changed.'
)
PARAMETERS = [
    Parameter("n_estimators", "int", "100", "Number of trees.", ("forest",)),
    Parameter(
        "outcome",
        "Any",
        '"normal"',
        '``"normal"`` for real values, ``"poisson"`` for counts, ``"negative_binomial"`` for counts that vary more '
        "than "
        'Poisson ones, ``"exponential"`` for durations, or an object of your own (docs/your_outcome.md).',
        only="numbers",
    ),
    Parameter(
        "prior",
        "Any",
        "None",
        {
            "classes": "Dirichlet prior of the class probabilities in a leaf. None: two pseudo-observations in all, "
            "divided "
            "evenly among the classes. A number: that many for each class. An array: one for each class, in the "
            "order of "
            '``classes_``; or a dict by class label. ``"paper"``: the 20 of the paper. ``"evidence"``: the strength '
            "between "
            "0.2 and 200 with the highest evidence{fits}.",
            "numbers": "Parameters of the conjugate prior in a leaf: ``(mu, kappa, alpha, beta)`` of a Normal-Gamma "
            'for ``"normal"``, '
            '``(a, b)`` of a Beta for ``"negative_binomial"``, ``(shape, rate)`` of a Gamma for the others. None: '
            "set from "
            'y; for ``"normal"`` the noise comes from the leaves of a first and a second tree (docs/theory.md). '
            '``"evidence"``: the strength (``"normal"``: the noise) with the highest evidence{fits}.',
        },
    ),
    Parameter(
        "partition_prior",
        "Any",
        {"": "0.5", "forest": "0.9"},
        {
            "": "Prior of the partitions: the probability that a node splits; or a `PartitionPrior`; or "
            '``"paper"`` for that of the paper, ``0.99 ** (1 + depth)``, with which a node takes its most probable '
            "single partition. At 0.5 the odds of a split are what the data say.",
            "forest": "Prior of the partitions: the probability that a node splits; or a `PartitionPrior`; or "
            '``"paper"`` for that of the paper, ``0.99 ** (1 + depth)``. Trees that are averaged may split more '
            "readily than one that is read.",
        },
    ),
    Parameter(
        "thresholds",
        "str",
        '"round"',
        'Where a threshold lies between two neighbouring values; no probability depends on it. ``"round"``: the number '
        'with the fewest digits in the middle half of the gap. ``"midpoint"``: halfway, as in the paper, and always so '
        'with ``partition_prior="paper"``; to have that prior with round thresholds, give it as a `PartitionPrior`.',
    ),
    Parameter(
        "feature_prior",
        "Any",
        "None",
        "Prior probability of a split along each feature: one weight for each feature, or a dict of weights by name or "
        "position (others: 1). Zero leaves a feature out. None: the same for all.",
    ),
    Parameter(
        "smoothing",
        "float",
        "0.0",
        "The paper's delta: a child's prior is the prior of its parent plus `smoothing` times the sufficient "
        "statistics of "
        "the child.",
    ),
    Parameter(
        "partitions",
        "str",
        {"": '"axis"', "forest": '"oblique"'},
        {
            "": '``"axis"``: splits along one feature. ``"oblique"``: also along hyperplanes of a few features '
            "(docs/oblique.md).",
            "forest": '``"oblique"``: splits along one feature and along hyperplanes of several. ``"axis"``: along one '
            "feature only, which is several times as fast.",
        },
    ),
    Parameter(
        "leaf",
        "str",
        '"constant"',
        {
            "classes": '``"constant"``: every leaf holds class probabilities. ``"linear"``: every leaf holds a '
            "logistic model of few terms, which the evidence chooses (docs/linear_leaves.md).",
            "numbers": '``"constant"``: every leaf holds a mean. ``"linear"``: every leaf holds a linear model of few '
            'terms, which the evidence chooses (docs/linear_leaves.md); for ``"normal"`` only.',
        },
        ("tree",),
    ),
    Parameter(
        "max_leaf_terms",
        "int",
        "10",
        'Maximum number of terms in a leaf, for ``leaf="linear"``.',
        ("tree",),
    ),
    Parameter(
        "extrapolate",
        "bool",
        "False",
        {
            "classes": 'For ``leaf="linear"``: whether to use values beyond those of the training rows of a leaf as '
            "they are. False moves them to the nearest value of these rows.",
            "numbers": 'For ``leaf="linear"``: whether to use values beyond those of the training rows of a leaf as '
            "they are. False moves them to the nearest value of these rows, and keeps predictions in the range of "
            "their y, widened by 10 % on either side.",
        },
        ("tree",),
    ),
    Parameter(
        "lookahead",
        "int",
        "0",
        "Number of levels to look ahead. 0 grows the greedy-modal tree. With k, a node takes the partition whose best "
        "subtree within k further levels is the most probable. The eight best features of a node are followed, each by "
        "its best partition and by the one that halves the rows, so a further level costs up to 17 times as much.",
        TREES,
    ),
    Parameter(
        "prune",
        "bool",
        {"": "True", "forest": "False"},
        {
            "": "Whether to reduce the grown tree to its most probable pruning. False keeps the paper's greedy-modal "
            "tree.",
            "forest": "Whether to reduce every tree to its most probable pruning. The average is more accurate "
            "without.",
        },
        TREES,
    ),
    Parameter(
        "space",
        "str",
        '"all"',
        'The trees to explore. ``"all"``: other splits at every node, the most probable first. ``"roots"``: other '
        "splits at "
        'the root only, as the paper proposes. ``"prunings"``: the greedy tree and all of its prunings.',
        ("space",),
    ),
    Parameter(
        "max_nodes",
        "int | None",
        "3000",
        "Maximum number of nodes to explore beyond those of the greedy tree. None: no limit. A node takes about two "
        "kilobytes.",
        ("space",),
    ),
    Parameter(
        "time_limit",
        "float | None",
        "None",
        "Seconds after which the exploration beyond the greedy tree ends. None: no limit. Ctrl-C ends it too; the "
        "model "
        "then holds the trees that were explored.",
        ("space",),
    ),
    Parameter(
        "bootstrap",
        "str",
        '"bayesian"',
        '``"bayesian"``: every row has a random weight in every tree, some of them zero. ``"resample"``: rows are '
        "drawn "
        "with replacement.",
        ("forest",),
    ),
    Parameter(
        "max_features",
        "Any",
        {"classes": "0.5", "numbers": "0.8"},
        'Features that each node draws to choose from: a proportion (at least two features), a number, ``"sqrt"``, '
        '``"log2"``, or None for all.',
        ("forest",),
    ),
    Parameter(
        "categorical_features",
        "Any",
        '"from_dtype"',
        'Columns that hold categories: ``"from_dtype"`` for columns of text and of a categorical type; a mask, '
        "positions "
        "or names; or None. Columns whose type has an order (ordered categories in pandas, Enum in polars) are split "
        "by "
        "that order, others into sets.",
    ),
    Parameter(
        "monotonic_cst",
        "Any",
        "None",
        {
            "classes": "For two classes: 1 for features with which the probability of the second class must not "
            "fall, -1 for "
            "those with which it must not rise, 0 for the others; one for each feature, or a dict by name or "
            "position.{deep}",
            "numbers": "1 for features with which the prediction must not fall, -1 for those with which it must not "
            "rise, 0 for "
            "the others; one for each feature, or a dict by name or position.{deep}",
        },
    ),
    Parameter(
        "interaction_cst",
        "Any",
        "None",
        "Sets of columns that may stand on one path, by name or position: all columns of the splits on a path are in "
        'one set. Columns in no set form one more. ``"pairwise"`` allows any two columns, ``"no_interactions"`` '
        "one. The columns of a hyperplane are in one set too. None: no limit (docs/input_data.md).",
    ),
    Parameter(
        "forced_splits",
        "Any",
        "None",
        "Splits that the tree begins with, and columns that are forbidden below them, as nested dicts: "
        '``{"column": "age", "threshold": 30, "left": {"leaf": True}, "right": {"forbidden": ["sex"]}}``. '
        "A forced split is never pruned, and its odds are those that the rows give (docs/edit.md). "
        "None: no forced splits.",
        ("tree",),
    ),
    Parameter(
        "class_weight",
        "Any",
        "None",
        'Weights of the classes by label, ``"balanced"`` for weights in inverse proportion to their frequency, or '
        "None.",
        only="classes",
    ),
    Parameter(
        "weights",
        "str | None",
        "None",
        'What `sample_weight` means. ``"counts"``: a row of weight 2 stands for two equal rows. ``"importance"``: '
        "weights only compare rows, as those of a survey do; they are scaled to sum to the effective number of rows, "
        "(sum of w)² / (sum of w²). None: counts, with a warning where they sum to much more than the number of rows.",
    ),
    Parameter("max_depth", "int | None", "None", "Maximum depth. None: no limit other than the prior."),
    Parameter("min_samples_leaf", "int", "1", "Minimum number of rows in a leaf, whatever their weights."),
    Parameter("min_weight_fraction_leaf", "float", "0.0", "Minimum proportion of the total weight in a leaf."),
    Parameter(
        "max_leaf_nodes",
        "int | None",
        "None",
        {
            "": "Maximum number of leaves. The tree is the most probable pruning of the grown tree with at most so "
            "many leaves; with ``prune=False`` with exactly so many, where the grown tree has more. None: no limit.",
            "forest": "Maximum number of leaves of a tree. Each is the most probable pruning of the grown tree with "
            "exactly so many leaves, where the grown tree has more; with ``prune=True`` with at most so many. None: "
            "no limit.",
        },
        TREES,
    ),
    Parameter(
        "max_bins",
        "int | None",
        "None",
        "None: every distinct value counts. A number: columns with more distinct values are divided into that many "
        "quantile bins, which is faster and takes less memory; missing values and categories stay as they are. Bins "
        "need "
        '``partitions="axis"``.',
    ),
    Parameter(
        "calibrate",
        "bool",
        "True",
        {
            "classes": "Whether to discount the counts of leaves and to draw them to the overall rates of the classes, "
            "by `calibration_`, so that 90 % intervals of a leaf's probabilities hold nine in ten on new rows "
            "(docs/certainty.md). False predicts from the conjugate posterior, which `posterior` gives in any case. "
            "Fewer than 20 rows are not calibrated.",
            "numbers": _SPREAD,
        },
        ("tree",),
    ),
    Parameter("calibrate", "bool", "True", _SPREAD, ("space",), only="numbers"),
    Parameter(
        "calibrate",
        "bool",
        "True",
        {
            "classes": "Whether to calibrate the average over the trees by `calibration_`: an exponent and intercepts "
            "of the classes, fitted on training rows, each predicted by the trees that do not have it "
            "(docs/forest.md). Fewer than 20 rows are not calibrated.",
            "numbers": "Whether to stretch means about the overall mean by the factor `slope_`, and to widen or narrow "
            "predictive distributions by the factor `spread_`, so that 90 % intervals hold nine in ten training "
            'rows, each predicted by the trees that do not have it; for ``"normal"`` only.',
        },
        ("forest",),
    ),
    Parameter(
        "decision",
        "Any",
        "None",
        "Decision rule used by `predict`. None predicts the most probable class. With two classes, a number is the "
        "probability at or above which the second class is predicted, and ``{class: number}`` is one for the class "
        "that it names, which reports and plots then treat as the positive class. A matrix gives costs (a row for each "
        "true class, a column for each predicted class, in the order of ``classes_``), as does a dict "
        "``{true class: {predicted class: cost}}`` in which errors that are not named cost 1. Probabilities do "
        "not depend on it.",
        only="classes",
    ),
    Parameter(
        "unseen",
        "str",
        '"majority"',
        "Where a prediction sends a value (missing, or a new category) that the training rows at a split never had: "
        '``"majority"`` to the side with more weight, ``"average"`` both ways, weighted by the two sides.',
    ),
    Parameter(
        "oob_score",
        "bool",
        "False",
        {
            "classes": "Whether to predict every row by the trees that do not have it: ``oob_score_``, "
            "``oob_decision_function_``. Of several equal rows one is left out.",
            "numbers": "Whether to predict every row by the trees that do not have it: ``oob_score_``, "
            "``oob_prediction_``. Of "
            "several equal rows one is left out.",
        },
        ("forest",),
    ),
    Parameter(
        "warm_start",
        "bool",
        "False",
        "Whether a further `fit` on the same table keeps the trees and adds those that `n_estimators` asks for beyond.",
        ("forest",),
    ),
    Parameter(
        "random_state",
        "Any",
        "None",
        "Seed of the random weights and of the features that nodes draw. The forest does not depend on the order of "
        "the "
        "rows.",
        ("forest",),
    ),
    Parameter("verbose", "bool", "False", "Whether to show progress on standard error.", ("space", "forest")),
    Parameter(
        "n_jobs",
        "int | None",
        "None",
        "Number of threads: None for one, -1 for all cores. The result does not depend on it.",
    ),
]
FITS = {
    "tree": ", found in nine fits",
    "space": " over the prunings of the greedy tree",
    "forest": " over the prunings of the tree of all rows",
}
ROWS = {
    "X": "Table of n_rows rows and n_features columns: array, data frame (pandas, polars, pyarrow), list or sparse "
    "matrix. "
    "NaN and None are missing values. Or rows elsewhere, such as a Dask or Spark data frame, an Ibis table or the path "
    "of Parquet files; then the other arguments are names of its columns, as in `engines.fit`.",
    "y": {"classes": "Class label of each row.", "numbers": "Outcome of each row."},
    "sample_weight": "Weight of each row. Weights are counts: a row of weight 2 is treated as two equal rows, one of "
    "weight 0 "
    "as no row.",
    "exposure": 'Time or size over which each row was counted; for ``outcome="poisson"`` and ``"negative_binomial"``.',
    "event": 'Whether each duration ended in an event (else it is censored); for ``outcome="exponential"``.',
}


def described(name: str, text: str, indent: int) -> str:
    """A parameter and its description in numpydoc form."""
    pad = " " * indent
    body = textwrap.fill(
        text, WIDTH, initial_indent=pad + "    ", subsequent_indent=pad + "    ", break_long_words=False
    )
    return f"{pad}{name}\n{body}\n"


def parameters_section(kind: Kind) -> str:
    """The parameters in the docstring of a class."""
    deep = " A forest with constraints has trees of ordinary depth." if kind.model == "forest" else ""
    return "".join(
        described(
            parameter.name,
            parameter.of(kind, parameter.text).replace("{fits}", FITS[kind.model]).replace("{deep}", deep),
            4,
        )
        for parameter in PARAMETERS
        if parameter.is_of(kind)
    )


def initialiser(kind: Kind) -> str:
    """`__init__` with all parameters in their order."""
    parameters = [parameter for parameter in PARAMETERS if parameter.is_of(kind)]
    lines = ["    def __init__(\n        self,\n"]
    if kind.model != "forest":
        lines.append("        *,\n")
    for parameter in parameters:
        lines.append(f"        {parameter.name}: {parameter.type} = {parameter.of(kind, parameter.default)},\n")
        if parameter.name == "n_estimators":
            lines.append("        *,\n")
    lines.append("    ) -> None:\n")
    lines += [f"        self.{parameter.name} = {parameter.name}\n" for parameter in parameters]
    return "".join(lines)


def fit_parameters(kind: Kind) -> str:
    """The parameters in the docstring of `fit`."""
    names = ["X", "y", "sample_weight", *([] if kind.classes else ["exposure", "event"])]
    texts = {name: ROWS[name] for name in names}
    task = "classes" if kind.classes else "numbers"
    return "".join(described(name, text if isinstance(text, str) else text[task], 8) for name, text in texts.items())


def rewritten(source: str, kind: Kind) -> str:
    """The source of an estimator with the parameters as they are kept here."""
    source = re.sub(
        r"(    Parameters\n    ----------\n).*?(?=\n    Attributes\n)",
        lambda match: match[1] + parameters_section(kind),
        source,
        count=1,
        flags=re.DOTALL,
    )
    source = re.sub(
        r"    def __init__\(.*?\n(?=\n    def )", lambda _: initialiser(kind), source, count=1, flags=re.DOTALL
    )
    return re.sub(
        r"(    def fit\(.*?        Parameters\n        ----------\n).*?(?=\n        Returns\n)",
        lambda match: match[1] + fit_parameters(kind),
        source,
        count=1,
        flags=re.DOTALL,
    )


def outdated() -> list[Path]:
    """Files that do not hold what this module would write."""
    paths = {FOLDER / kind.file: kind for kind in KINDS}
    return [path for path, kind in paths.items() if (source := path.read_text("utf-8")) != rewritten(source, kind)]


def main() -> None:
    """Write what is out of date."""
    for kind in KINDS:
        path = FOLDER / kind.file
        path.write_text(rewritten(path.read_text("utf-8"), kind), "utf-8")


if __name__ == "__main__":
    main()
