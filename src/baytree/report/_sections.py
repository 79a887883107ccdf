"""The parts of the page that need no script."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..estimators._space import TreeSpace
from ..export import to_rules, to_text
from ..persistence import model_to_dict
from ..rules import Wording, feature_name, format_odds, number_text
from ..tree import Tree
from ._contents import other_features
from ._html import bar, calibration_chart, element, paragraph, section, table
from ._metrics import HeldOut, Metric, calibration_of, metrics_of

_MOST_LINES = 400  # of a table; the rest is said to be left off


def summary_text(model: Any, tree_model: Any, n_rows: int, target: str | None) -> str:
    """What the model is, in a few sentences."""
    tree: Tree = tree_model.tree_
    name = "" if target is None else f"{_shortened(target, 60)}, "
    what = (
        f"{name}the class ({_enumerate([str(label) for label in model.classes_], 6)})"
        if hasattr(model, "classes_")
        else f"{name}a number ({model.outcome_.name} outcome)"
    )
    used = len({int(f) for f in tree.feature[~tree.is_leaf]} | {int(f) for f in tree.oblique_feature})
    text = (
        f"A Bayesian decision tree that predicts {what} from {_count(model.n_features_in_, 'column')}, grown from "
        f"{_count(n_rows, 'row')}. It has {_count(tree.n_leaves, 'leaf', 'leaves')}, is {tree.max_depth} deep and "
        f"asks for {_count(used, 'column')}. "
        + (
            "Every cut was taken because it is more probable than none."
            if used
            else "No cut is more probable than none."
        )
    )
    if isinstance(model, TreeSpace):
        text += (
            f" Predictions are averaged over a space of trees with {_count(model.space_.node_count, 'node')}; the tree "
            f"below is the most probable of them, with {model.weights_[0]:.1%} of the weight."
        )
    return text


def quality(model: Any, held_out: HeldOut | str) -> str:
    """Figures on held-out rows, and the calibration."""
    if isinstance(held_out, str):
        return section("quality", "How good is it?", paragraph(held_out))
    metrics = metrics_of(model, held_out)
    rows = [(metric.name, _figure(metric), _interval(metric), metric.meaning) for metric in metrics]
    rows[1:1] = _baseline(model, held_out)
    bins = calibration_of(model, held_out)
    of_classes = hasattr(model, "classes_")
    if not of_classes:
        said, seen = "predicted mean", "observed mean"
    elif len(model.classes_) == 2:
        said, seen = f"predicted probability of {model.classes_[1]}", f"observed share of {model.classes_[1]}"
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


def _baseline(model: Any, held_out: HeldOut) -> list[tuple[str, str, str, str]]:
    """What the accuracy has to be held against."""
    if held_out.probabilities is None:
        return []
    counts = np.array([np.sum(held_out.y == label) for label in model.classes_])
    meaning = f"accuracy of always saying {model.classes_[counts.argmax()]}"
    return [("  without a model", _number(float(counts.max() / counts.sum())), "", meaning)]


def _figure(metric: Metric) -> str:
    return metric.reason or _number(metric.estimate)


def _interval(metric: Metric) -> str:
    return "" if metric.reason else f"{_number(metric.low)} to {_number(metric.high)}"


def feature_part(model: Any) -> str:
    """Which features matter: posterior of the first cut, and shares of the gain."""
    names = getattr(model, "feature_names_in_", None)
    shares, gains = model.feature_posterior_, model.feature_importances_
    order = sorted(range(len(gains)), key=lambda i: (-gains[i], -shares[i]))
    shown = [i for i in order if gains[i] > 0 or shares[i] >= 0.001][:30]
    rows = "".join(
        element(
            "tr",
            element("th", escape(feature_name(i, names)), scope="row"),
            *(element("td", bar(share), " ", f"{share:.1%}") for share in (float(shares[i]), float(gains[i]))),
        )
        for i in shown
    )
    head = "".join(
        element("th", cell, scope="col") for cell in ("column", "probability of the first cut", "share of the gain")
    )
    body = element("table", element("thead", element("tr", head)), element("tbody", rows))
    rest = len(gains) - len(shown)
    return section(
        "features",
        "What decides?",
        paragraph(
            "The posterior probability that the first cut is along a column, and the column's share of what all cuts "
            f"gain in log likelihood. The probability that there is no cut at all: {shares[-1]:.1%}."
        ),
        element("div", body, class_="scroll", tabindex=0, role="region", aria_label="columns"),
        paragraph(f"{_count(rest, 'other column')} with neither.", class_="soft") if rest else "",
    )


def alternatives_part(model: Any, tree_model: Any) -> str:
    """What else every cut could have been; of a tree space the most probable trees."""
    tree: Tree = tree_model.tree_
    wording = Wording(tree_model, tree)
    rows = []
    for node in np.flatnonzero(~tree.is_leaf)[:_MOST_LINES]:
        others = ", ".join(f"{name} {share:.1%}" for name, share in other_features(tree_model, int(node)))
        cut = f"{wording.feature(int(node))} {wording.condition(int(node))}"
        rows.append((str(node), cut, format_odds(float(tree.log_odds_split[node])), others or "nothing near"))
    parts = [
        paragraph("The odds of every cut against none, and the posterior shares of other columns at the same node."),
        table(["cut", "rule", "odds", "other columns"], rows) if rows else paragraph("The tree has no cut."),
        _left_off(int((~tree.is_leaf).sum())),
    ]
    if isinstance(model, TreeSpace):
        weights = [
            (str(i + 1), f"{weight:.2%}", str(grown.get_n_leaves()), to_text(grown, max_depth=1).split("   [")[0])
            for i, (grown, weight) in enumerate(zip(model.trees_, model.weights_, strict=True))
        ]
        parts.append(element("h3", "The most probable trees"))
        parts.append(table(["tree", "weight", "leaves", "first cut"], weights, (1, 2)))
    return section("alternatives", "What else could it have been?", *parts)


def limits_part(model: Any, tree_model: Any) -> str:
    """What a reader should keep in mind."""
    tree: Tree = tree_model.tree_
    small = int((tree.n_node_samples[tree.is_leaf] < 30).sum())
    points = [
        "Cuts are chosen for what they tell about the outcome, not because they cause it.",
        "A column that is left out may be as good as the one that was taken: see the shares above.",
        "Cells that no training row had at a cut (a gap, a new level) go with the larger part of the rows.",
    ]
    if not tree.is_oblique.any():
        points.append("Numbers beyond those of the training rows are treated like the nearest ones.")
    if small:
        points.append(
            f"{_count(small, 'leaf rests', 'leaves rest')} on fewer than 30 rows, of {tree.n_leaves} in all; there the "
            "intervals are wide."
        )
    if hasattr(model, "classes_"):
        strength = float(np.sum(model.prior_))
        points.append(f"The prior counts as {number_text(strength)} rows: small leaves stay close to it.")
    if not isinstance(model, TreeSpace):
        points.append("The tree was grown step by step; another tree may be more probable as a whole.")
    items = "".join(element("li", escape(point)) for point in points)
    return section("limits", "Known limits", element("ul", items))


def provenance_part(model: Any, y: AnyArray, target: str | None, source: str | None) -> str:
    """Where the model comes from."""
    document = json.dumps(model_to_dict(model), allow_nan=False, sort_keys=True).encode() if _is_data(model) else None
    changed = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    rows = [
        ("estimator", type(model).__name__),
        ("rows from", source) if source else None,
        ("predicts", target) if target else None,
        ("training rows and columns", f"{len(y):,} × {model.n_features_in_:,}"),
        ("rows by class", _class_counts(model, y)) if hasattr(model, "classes_") else None,
        ("prior", ", ".join(number_text(float(value)) for value in np.ravel(model.prior_))),
        ("settings", ", ".join(f"{name}={_shortened(repr(value))}" for name, value in changed.items())),
        ("log posterior of the tree", _number(model.log_posterior_)) if hasattr(model, "log_posterior_") else None,
        ("log evidence", _number(model.log_evidence_)),
        ("baytree", f"{version('baytree')}, Python {platform.python_version()}, numpy {np.__version__}"),
        ("written", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("model, SHA-256", hashlib.sha256(document).hexdigest() if document else "an outcome of your own has no file"),
    ]
    return section("provenance", "Where it comes from", table(["what", "value"], [row for row in rows if row]))


def _class_counts(model: Any, y: AnyArray) -> str:
    return _enumerate([f"{_shortened(str(label), 60)}: {np.sum(y == label):,}" for label in model.classes_], 20)


def text_part(tree_model: Any) -> str:
    """The tree as text, for readers without a script and for print."""
    lines = to_text(tree_model).split("\n")
    text = "\n".join(lines[:_MOST_LINES]) + ("\n..." if len(lines) > _MOST_LINES else "")
    inside = element("summary", "The tree as text"), element("pre", escape(text), tabindex=0)
    return element("details", *inside)


def rules_part(tree_model: Any) -> str:
    """Every leaf as a rule."""
    rules, decisions = to_rules(tree_model), tree_model._decisions()
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


def _is_data(model: Any) -> bool:
    return bool(model.outcome_.name != "custom")


def _shortened(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _enumerate(names: list[str], most: int) -> str:
    shown = [_shortened(name, 60) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "not finite"
