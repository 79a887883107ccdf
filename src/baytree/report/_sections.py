"""The parts of the page that need no script."""

from __future__ import annotations

import math
import platform
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version

import numpy as np

from .._typing import AnyArray
from .._words import number_text, odds_text
from ..estimators import Estimator
from ..export import to_dict, to_rules, to_text
from ..fitted import Fitted, FittedSpace, FittedTree
from ..outcomes import CustomOutcome
from ..tree import SplitKind
from ._contents import other_features
from ._html import bar, calibration_chart, element, paragraph, section, table
from ._metrics import HeldOut, Metric, calibration_of, metrics_of

_TREES = 10  # of a tree space, that are told of
_MOST_LINES = 400  # of a table; the rest is said to be left off


def summary_text(fitted: Fitted, n_rows: int, target: str | None) -> str:
    """What the model is, in a few sentences."""
    tree = fitted.modal.tree
    name = "" if target is None else f"{_shortened(target, 60)}, "
    what = (
        f"{name}a number ({fitted.outcome.name} outcome)"
        if fitted.classes is None
        else f"{name}the class ({_enumerate(list(fitted.class_names), 6)})"
    )
    used = len(tree.used_features)
    text = (
        f"A Bayesian decision tree that predicts {what} from {_count(fitted.schema.n_features, 'column')}, grown from "
        f"{_count(n_rows, 'row')}. It has {_count(tree.n_leaves, 'leaf', 'leaves')}, is {tree.max_depth} deep and "
        f"uses {_count(used, 'column')}. "
        + (
            "Every split was made because, given the rows, it is more probable than no split."
            if used
            else "No split is more probable than none."
        )
    )
    if isinstance(fitted, FittedSpace):
        text += (
            f" Predictions are averaged over a space of trees with {_count(fitted.space.node_count, 'node')}; the tree "
            f"below is the most probable of them, with {fitted.tree_weights(_TREES)[0]:.1%} of the weight of the first "
            f"{_TREES}."
        )
    return text


def quality(fitted: Fitted, held_out: HeldOut | str) -> str:
    """Figures on held-out rows, and the calibration."""
    if isinstance(held_out, str):
        return section("quality", "How good is it?", paragraph(held_out))
    metrics = metrics_of(fitted, held_out)
    rows = [(metric.name, _figure(metric), _interval(metric), metric.meaning) for metric in metrics]
    rows[1:1] = _baseline(fitted, held_out)
    bins = calibration_of(fitted, held_out)
    names = fitted.class_names
    if fitted.classes is None:
        said, seen = "predicted mean", "observed mean"
    elif len(names) == 2:
        said, seen = f"predicted probability of {names[1]}", f"observed share of {names[1]}"
    else:
        said, seen = "predicted probability of the most probable class", "share of rows where it was right"
    lines = [
        [_number(b.predicted), _number(b.observed), f"{_number(b.low)} to {_number(b.high)}", str(b.n)] for b in bins
    ]
    finite = all(math.isfinite(number) for b in bins for number in (b.predicted, b.low, b.high))
    chart = calibration_chart(bins, said, seen) if finite else paragraph("Some predictions are infinite: no picture.")
    return section(
        "quality",
        "How good is it?",
        paragraph(f"Measured on {_count(len(held_out.y), 'row')} that the model had not seen: {held_out.how}."),
        table(["figure", "value", "90 % interval", "meaning"], rows, numbers=(1, 2)),
        element("h3", "Are its predictions right on average?"),
        chart,
        element(
            "details", element("summary", "The figures"), table([said, seen, "90 % interval", "rows"], lines, range(4))
        ),
    )


def _baseline(fitted: Fitted, held_out: HeldOut) -> list[tuple[str, str, str, str]]:
    """What the accuracy has to be held against."""
    if fitted.classes is None:
        return []
    counts = np.array([np.sum(held_out.y == label) for label in fitted.classes])
    meaning = f"accuracy of always saying {fitted.class_names[counts.argmax()]}"
    return [("  without a model", _number(float(counts.max() / counts.sum())), "", meaning)]


def _figure(metric: Metric) -> str:
    return metric.reason or _number(metric.estimate)


def _interval(metric: Metric) -> str:
    return "" if metric.reason else f"{_number(metric.low)} to {_number(metric.high)}"


def feature_part(fitted: Fitted) -> str:
    """Which features matter: posterior of the first split, and shares of the gain."""
    shares, gains = fitted.feature_posterior, fitted.feature_importances
    order = sorted(range(len(gains)), key=lambda i: (-gains[i], -shares[i]))
    shown = [i for i in order if gains[i] > 0 or shares[i] >= 0.001][:30]
    rows = "".join(
        element(
            "tr",
            element("th", escape(fitted.schema.name(i)), scope="row"),
            *(element("td", bar(share), " ", f"{share:.1%}") for share in (float(shares[i]), float(gains[i]))),
        )
        for i in shown
    )
    head = "".join(
        element("th", cell, scope="col") for cell in ("column", "probability of the first split", "share of the gain")
    )
    body = element("table", element("thead", element("tr", head)), element("tbody", rows))
    rest = len(gains) - len(shown)
    return section(
        "features",
        "What decides?",
        paragraph(
            "The posterior probability that the first split is along a column, and the column's share of what all "
            f"splits gain in log likelihood. The probability of no split at all: {shares[-1]:.1%}."
        ),
        element("div", body, class_="scroll", tabindex=0, role="region", aria_label="columns"),
        paragraph(f"{_count(rest, 'other column has', 'other columns have')} no part in it.", class_="soft")
        if rest
        else "",
    )


def alternatives_part(fitted: Fitted) -> str:
    """What else every split could have been; of a tree space the most probable trees."""
    modal = fitted.modal
    tree, schema = modal.tree, modal.schema
    rows = []
    for node in tree.internal_nodes[:_MOST_LINES].tolist():
        others = ", ".join(f"{name} {share:.1%}" for name, share in other_features(modal, node))
        split = tree.split(node)
        rule = f"{split.subject(schema)} {split.condition(schema)}"
        rows.append((str(node), rule, odds_text(float(tree.log_odds_split[node])), others or "none above 0.05 %"))
    parts = [
        paragraph("The odds of every split against none, and the posterior shares of other columns at the same node."),
        table(["split", "rule", "odds", "other columns"], rows) if rows else paragraph("The tree has no split."),
        _left_off(len(tree.internal_nodes)),
    ]
    if isinstance(fitted, FittedSpace):
        best = zip(fitted.best_trees(_TREES), fitted.tree_weights(_TREES), strict=True)
        weights = [
            (str(i + 1), f"{weight:.2%}", str(grown.tree.n_leaves), to_text(grown, max_depth=1).split("   [")[0])
            for i, (grown, weight) in enumerate(best)
        ]
        parts.append(element("h3", "The most probable trees"))
        parts.append(table(["tree", "weight", "leaves", "first split"], weights, (1, 2)))
    return section("alternatives", "What else could it have been?", *parts)


def limits_part(fitted: Fitted) -> str:
    """What a reader should keep in mind."""
    tree = fitted.modal.tree
    small = int((tree.n_node_samples[tree.is_leaf] < 30).sum())
    points = [
        "Splits are chosen because they predict the outcome, not because they cause it.",
        "A column that is left out may be as good as the one that was taken: see the shares above.",
        "A value that no training row had at a split (missing, a new category) goes to the side with more rows.",
    ]
    if not tree.is_of(SplitKind.HYPERPLANE).any():
        points.append("Numbers beyond those of the training rows are treated like the nearest ones.")
    if small:
        points.append(
            f"{_count(small, 'leaf rests', 'leaves rest')} on fewer than 30 rows, of {tree.n_leaves} in all; there the "
            "intervals are wide."
        )
    if fitted.classes is not None:
        strength = float(np.sum(fitted.outcome.prior))
        points.append(f"The prior counts as {number_text(strength)} rows: small leaves stay close to it.")
    if isinstance(fitted, FittedTree):
        points.append("The tree was grown step by step; another tree may be more probable as a whole.")
    items = "".join(element("li", escape(point)) for point in points)
    return section("limits", "Known limits", element("ul", items))


def provenance_part(model: Estimator, y: AnyArray, target: str | None, source: str | None) -> str:
    """Where the model comes from."""
    fitted: Fitted = model.fitted_
    is_own = isinstance(fitted.outcome, CustomOutcome)
    changed = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    grown = fitted.modal.tree
    evidence = fitted.space.log_evidence[0] if isinstance(fitted, FittedSpace) else grown.log_evidence()
    rows = [
        ("estimator", type(model).__name__),
        ("rows from", source) if source else None,
        ("predicts", target) if target else None,
        ("training rows and columns", f"{len(y):,} × {fitted.schema.n_features:,}"),
        ("rows by class", _class_counts(fitted.classes, y)) if fitted.classes is not None else None,
        ("prior", ", ".join(number_text(float(value)) for value in np.ravel(fitted.outcome.prior))),
        ("settings", ", ".join(f"{name}={_shortened(repr(value))}" for name, value in changed.items())),
        ("log posterior of the tree", _number(grown.log_posterior())),
        ("log evidence", _number(float(evidence))),
        ("baytree", f"{version('baytree')}, Python {platform.python_version()}, numpy {np.__version__}"),
        ("written", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("model, SHA-256", "an outcome of your own has no file" if is_own else to_dict(model)["sha256"]),
    ]
    return section("provenance", "Where it comes from", table(["what", "value"], [row for row in rows if row]))


def _class_counts(classes: AnyArray, y: AnyArray) -> str:
    return _enumerate([f"{_shortened(str(label), 60)}: {np.sum(y == label):,}" for label in classes], 20)


def text_part(fitted: FittedTree) -> str:
    """The tree as text, for readers without a script and for print."""
    lines = to_text(fitted).split("\n")
    text = "\n".join(lines[:_MOST_LINES]) + ("\n..." if len(lines) > _MOST_LINES else "")
    inside = element("summary", "The tree as text"), element("pre", escape(text), tabindex=0)
    return element("details", *inside)


def rules_part(fitted: FittedTree) -> str:
    """Every leaf as a rule."""
    rules, decisions = to_rules(fitted), fitted.decisions()
    rows = []
    for rule in rules[:_MOST_LINES]:
        name = decisions.name(rule.leaf)
        own = name if name in rule.estimate else next(iter(rule.estimate))
        low, high = rule.interval[own]
        interval = "" if math.isnan(low) else f"{_number(low)} to {_number(high)}"
        says = f"{own}: {_number(rule.estimate[own])}"
        rows.append((str(rule.leaf), " and ".join(rule.conditions) or "always", f"{rule.n:,}", says, interval))
    return section(
        "rules",
        "The rules",
        table(["leaf", "if", "rows", "then", "90 % interval"], rows, (2,)),
        _left_off(len(rules)),
    )


def _left_off(n: int) -> str:
    return paragraph(f"{n - _MOST_LINES:,} more are left off here.", class_="soft") if n > _MOST_LINES else ""


def _shortened(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _enumerate(names: list[str], most: int) -> str:
    shown = [_shortened(name, 60) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "not finite"
