"""The parts of the page that need no script."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from .._words import amount_text, count_text, estimate_text, odds_text, percent_text, range_text
from ..evaluation import HOW, HeldOutPredictions, Metric, calibration_of, predicted_and_observed
from ..export import Rule, to_rules, to_text
from ..fitted import Fitted, ModelKind, column_choice
from ..tree import SplitKind
from ._charts import calibration_chart
from ._html import Cell, bar, element, paragraph, section, table
from ._provenance import N_BEST_TREES

_MOST_LINES = 400  # of a table; a note counts the rest
_MOST_IN_TEXT = 2000  # of the tree as text
_INDENT = re.compile(r"^(?:[│ ] {7})+")  # of a line of that text
_NARROWER = 4  # so many times: deep trees stay on the paper
_MOST_PRINTED = 60  # rules that are printed: those of a larger tree are in its text
_MOST_SPLITS = 100  # whose alternatives are listed


def quality_part(*inner: str) -> str:
    """The section on figures on held-out rows."""
    return section("quality", "Quality", *inner)


def quality_figures(fitted: Fitted, held_out: HeldOutPredictions, metrics: Sequence[Metric]) -> list[str]:
    """Figures on held-out rows, and the calibration."""
    rows = [
        (metric.name, metric.reason or metric.figure.text(), metric.figure.interval(), metric.meaning)
        for metric in metrics
    ]
    measured = f"Measured on {count_text(len(held_out.y), 'row')} that the model had not seen: {held_out.method}."
    figures = (
        table(["figure", "value", "90 % interval", "meaning"], rows, numbers=(1, 2), class_="stack")
        if rows
        else paragraph("No figure is defined for an outcome whose mean is several numbers.")
    )
    left = element("div", figures, paragraph(HOW, class_="soft"))
    right = element("div", *_calibration(fitted, held_out))
    return [paragraph(measured), element("div", left, right, class_="columns")]


def _calibration(fitted: Fitted, held_out: HeldOutPredictions) -> list[str]:
    names, positive = fitted.class_names, fitted.decision.positive
    if not fitted.outcome.predicts_classes:
        per = " per unit of exposure" if "exposure" in held_out.rows.extras else ""
        predicted_title, observed_title = f"predicted mean{per}", f"observed mean{per}"
    elif len(names) == 2:
        name = names[positive]
        predicted_title, observed_title = f"predicted probability of {name}", f"observed proportion of {name}"
    else:
        predicted_title, observed_title = (
            "predicted probability of the most probable class",
            "observed accuracy",
        )
    title = element("h3", "Calibration")
    if not np.all(np.isfinite(predicted_and_observed(fitted, held_out)[0])):
        return [title, paragraph("Some predictions are not finite, so there is no chart.")]
    bins = calibration_of(fitted, held_out)
    share = fitted.outcome.predicts_classes
    text = percent_text if share else estimate_text
    lines = [[text(b.predicted), b.observed.text(), b.observed.interval(), amount_text(b.n)] for b in bins]
    finite = all(math.isfinite(n) for b in bins for n in (b.predicted, b.observed.low, b.observed.high))
    chart = (
        calibration_chart(bins, predicted_title, observed_title)
        if finite
        else paragraph("Some intervals are not finite, so there is no chart.")
    )
    figures = table([predicted_title, observed_title, "90 % interval", "rows"], lines, range(4), class_="stack")
    return [title, chart, element("details", element("summary", "Calibration figures"), figures)]


def feature_part(fitted: Fitted, descriptions: dict[str, str]) -> str:
    """The importance of each column: posterior of the first split, and proportion of the gain."""
    shares, gains = fitted.feature_posterior, fitted.feature_importances
    order = sorted(range(len(gains)), key=lambda i: (-gains[i], -shares[i]))
    shown = [i for i in order if gains[i] > 0 or shares[i] >= 0.001][:30]
    shown += [i for i in order if fitted.schema.name(i) in descriptions and i not in shown]
    rows = [
        (
            fitted.schema.name(i),
            *(_bar(share) for share in (float(shares[i]), float(gains[i]))),
            *([descriptions.get(fitted.schema.name(i), "")] if descriptions else []),
        )
        for i in shown
    ]
    rest = len(gains) - len(shown)
    if fitted.kind is ModelKind.FOREST:
        first = "The proportion of the trees whose first split uses the column."
    elif fitted.kind is ModelKind.TREE:
        first = "The posterior probability that the first split uses the column, given this split alone."
    else:
        first = "The posterior probability that the first split uses the column, averaged over all trees of the space."
    title, none = (
        ("first splits", "Trees without a split")
        if fitted.kind is ModelKind.FOREST
        else ("probability of the first split", "Probability of no split")
    )
    header = ["column", title, "proportion of the gain", *(["meaning"] if descriptions else [])]
    return section(
        "features",
        "Columns",
        paragraph(
            f"{first} The proportion of the gain is the column's part of the total increase in log likelihood by all "
            f"splits. {none}: {percent_text(float(shares[-1]))}."
        ),
        table(header, rows, class_="stack", label="columns") if rows else paragraph("The model uses no column."),
        ""
        if fitted.trees.leaves.is_constant
        else paragraph("These figures are about splits. The models in the leaves use columns too: see the tree."),
        paragraph(f"{count_text(rest, 'other column')} with no effect.", class_="soft") if rest else "",
    )


def _bar(share: float) -> Cell:
    return Cell(f"{bar(share)} {escape(percent_text(share).replace(' ', chr(160)))}", html=True)  # in one line


def alternatives_part(fitted: Fitted) -> str:
    """The alternatives to every split; of a tree space the most probable trees."""
    readable = fitted.readable
    tree, schema = readable.trees, readable.schema
    rows = []
    order = sorted(tree.internal_nodes.tolist(), key=lambda node: -tree.n_node_samples[node])
    for node in order[:_MOST_SPLITS]:
        choice = column_choice(readable, node)
        others = "" if choice is None else ", ".join(f"{name} {percent_text(share)}" for name, share in choice.others)
        share = "" if choice is None else percent_text(choice.share)
        question, odds = tree.split(node).question(schema)[0], odds_text(float(tree.log_odds_split[node]))
        rows.append((str(node), question, odds, share, others or ("" if choice is None else "none above 0.05 %")))
    header = ["node", "split", "odds against no split", "this column", "other columns"]
    parts = [
        paragraph(
            "Two figures for each split, ordered by the number of rows. The odds of the split against no split show "
            "whether the node should be split. The posterior probabilities of the column and of other columns at the "
            "same node show why it is split on this column."
        ),
        table(header, rows, class_="stack tall", label="splits") if rows else paragraph("The tree has no split."),
        _omission_note(len(order), _MOST_SPLITS),
    ]
    if fitted.kind is ModelKind.SPACE:
        best = zip(fitted.best_trees(N_BEST_TREES), fitted.tree_weights(N_BEST_TREES), strict=True)
        weights = [
            (str(i + 1), percent_text(float(weight)), str(tree.trees.n_leaves), _first_split(tree))
            for i, (tree, weight) in enumerate(best)
        ]
        parts.append(element("h3", "The most probable trees"))
        parts.append(table(["tree", "weight", "leaves", "first split"], weights, (1, 2), class_="stack"))
    return section("alternatives", "Alternative splits", *parts)


def _first_split(fitted: Fitted) -> str:
    return "none" if fitted.trees.n_leaves == 1 else fitted.trees.split(0).question(fitted.schema)[0]


def limits_part(fitted: Fitted, settings: dict[str, Any], held_out: HeldOutPredictions | None) -> str:
    """The limits of the model that a reader should keep in mind."""
    tree = fitted.readable.trees
    small = int((tree.n_node_samples[tree.is_leaf] < 30).sum())
    unseen = (
        "follows both branches, and the prediction is their average"
        if fitted.unseen == "average"
        else "follows the branch with more training rows"
    )
    points = [
        "The splits predict the outcome. They do not show causes.",
        "Another column may predict almost as well as the one in a split: see Alternative splits.",
        f"A value that no training row had at a split (a missing value, a new category) {unseen}.",
    ]
    if not tree.is_of(SplitKind.HYPERPLANE).any():
        points.append("Numbers outside the range of the training data are treated like the nearest number within it.")
    if small:
        points.append(
            f"{count_text(small, 'leaf has', 'leaves have')} fewer than 30 training rows (of {tree.n_leaves} leaves), "
            "and therefore wide intervals."
        )
    if fitted.outcome.predicts_classes:
        strength = float(np.sum(fitted.outcome.prior))
        points.append(
            f"The prior has the weight of {count_text(strength, 'row')}, which draws small leaves towards it."
        )
    if settings.get("class_weight") is not None:
        points.append(_class_weight_text(fitted, settings["class_weight"], held_out))
    if fitted.kind is ModelKind.TREE:
        pruned = "" if fitted.grown_tree is None else " and then pruned to its most probable subtree"
        points.append(f"The tree was grown greedily{pruned}. Another tree may be more probable as a whole.")
    items = "".join(element("li", escape(point)) for point in points)
    return section("limits", "Limits", element("ul", items))


def _class_weight_text(fitted: Fitted, class_weight: Any, held_out: HeldOutPredictions | None) -> str:
    """The effect of class weights on probabilities."""
    text = (
        f"The model was fitted with class_weight={class_weight!r}, so its probabilities are those of reweighted data."
    )
    if held_out is None or held_out.probabilities is None or not fitted.outcome.predicts_classes:
        return text
    k = fitted.decision.positive if len(fitted.class_names) == 2 else len(fitted.class_names) - 1
    predicted = float(np.average(held_out.probabilities[:, k], weights=held_out.weight))
    observed = float(np.average(held_out.y == fitted.outcome.labels[k], weights=held_out.weight))
    name = fitted.class_names[k]
    return (
        f"{text} On held-out rows the mean predicted probability of {name} is {percent_text(predicted)}, and the "
        f"observed proportion is {percent_text(observed)}. To keep the probabilities calibrated, fit without "
        "class_weight and set decision= instead."
    )


def text_part(fitted: Fitted) -> str:
    """The tree as text, for readers without a script and for print."""
    lines = [_INDENT.sub(lambda indent: indent[0][::_NARROWER], line) for line in to_text(fitted).split("\n")]
    text = "\n".join(lines[:_MOST_IN_TEXT]) + ("\n..." if len(lines) > _MOST_IN_TEXT else "")
    inside = element("summary", "Tree as text"), element("pre", escape(text), tabindex=0)
    return element("details", *inside, id="as-text")


def rules_part(fitted: Fitted) -> str:
    """Every leaf as a rule, with the number that the drawing shows."""
    rules, decisions = to_rules(fitted), fitted.decisions()
    positive = fitted.class_names[fitted.decision.positive] if len(fitted.class_names) == 2 else None
    is_class = fitted.outcome.predicts_classes
    rows = [
        (
            str(rule.leaf),
            " and ".join(rule.conditions) or "always",
            amount_text(rule.n),
            *_conclusion(rule, decisions.name(rule.leaf), positive, is_class=is_class),
        )
        for rule in rules[:_MOST_LINES]
    ]
    last = ["prediction", f"probability of {positive}" if positive else "probability"] if is_class else ["mean"]
    header = ["leaf", "conditions", "rows", *last, "90 % interval"]
    numbers = (2, *range(4 if is_class else 3, len(header)))
    shown = table(header, rows, numbers, class_="stack tall", label="rules") + _omission_note(len(rules))
    if not fitted.trees.leaves.is_constant:
        shown = (
            paragraph("The numbers are averages over the rows of each leaf. The tree shows the model of each leaf.")
            + shown
        )
    if len(rules) <= _MOST_PRINTED:
        return section("rules", "Rules", shown)
    printed = paragraph(
        f"The list of {count_text(len(rules), 'rule')}, one for each leaf, is not printed. See the tree as text.",
        class_="soft paper",
    )
    return section("rules", "Rules", element("div", shown, class_="screen"), printed)


def _conclusion(rule: Rule, decision: str, positive: str | None, *, is_class: bool) -> list[str]:
    """The cells of a rule: the decision, and the estimate for the same class in all rows of the table."""
    if not is_class:
        low, high = rule.interval["mean"]
        return [estimate_text(rule.estimate["mean"]), "" if math.isnan(low) else range_text(low, high)]
    name = positive or decision
    return [decision, percent_text(rule.estimate[name]), range_text(*rule.interval[name], share=True)]


def _omission_note(n: int, most: int = _MOST_LINES) -> str:
    return paragraph(f"{n - most:,} more are not shown.", class_="soft") if n > most else ""
