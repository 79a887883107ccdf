"""The first screen: decision, quality beside reference models, certainty, and the facts that an approver signs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from .._words import amount_text, count_text, percent_text
from ..evaluation import HeldOutPredictions, Metric, ReferenceModels, Thresholds, calibration_of, predicted_and_observed
from ..figures import Figure
from ..fitted import Fitted, Stability
from ._about import About
from ._html import Cell, element, paragraph, section, table

_HEADLINES = ("Area under the curve", "R squared", "Log loss", "Accuracy")  # the first one that is defined
_SHORT = {"Cost of a decision": "Cost per row", "Root mean squared error": "RMSE", "R squared": "R²"}


def summary_part(
    fitted: Fitted,
    about: About,
    measured: HeldOutPredictions | None,
    metrics: Sequence[Metric],
    thresholds: Thresholds | None,
    references: ReferenceModels | None,
    stability: Stability | None,
) -> str:
    """The section that a committee reads first."""
    cards = [
        _card("What it predicts", *_decision(fitted, about, thresholds, metrics)),
        _card("How certain it is", _list(_certainty(fitted, measured, stability))),
        _card("How good it is", *_quality(metrics, references, measured), class_="card wide"),
        _card("Approval", _approval(about), class_="card full"),
    ]
    return section("summary", "Summary", element("div", *cards, class_="cards"))


def _card(title: str, *content: str, class_: str = "card") -> str:
    return element("div", element("h3", title), *content, class_=class_)


def _list(points: Sequence[str]) -> str:
    return element("ul", *(element("li", escape(point)) for point in points))


def _headline(figure: str, text: str) -> str:
    return element("p", element("strong", escape(figure)), " ", escape(text), class_="headline")


def _decision(fitted: Fitted, about: About, thresholds: Thresholds | None, metrics: Sequence[Metric]) -> list[str]:
    """The rule, and how often it leads to the positive class."""
    target = about.target or "the outcome"
    if not fitted.outcome.predicts_classes:
        errors = [f"{metric.name}: {metric.figure}." for metric in metrics if metric.figure.is_known]
        return [paragraph(f"The model predicts {target} as a number, with a 90 % interval."), _list(errors[:3])]
    names = about.actions or fitted.class_names
    rule = paragraph(f"The model predicts {fitted.decision.text(fitted.class_names)}.")
    if thresholds is None:
        return [rule, paragraph(f"{target}: {len(names)} classes.")]
    positive, other = fitted.decision.positive, 1 - fitted.decision.positive
    name = fitted.class_names[positive]
    rates = thresholds.rates(thresholds.of_model)
    actions = (
        "" if about.actions is None else f"{name}: {names[positive]}; {fitted.class_names[other]}: {names[other]}."
    )
    points = [
        f"{rates['precision'].text()} of these rows are {name}.",
        f"{rates['sensitivity'].text()} of all rows that are {name} are among them.",
    ]
    decided = _headline(rates["decided"].text(), f"of the rows are predicted to be {name}")
    return [rule, *([paragraph(f"Decisions: {actions}")] if actions else []), decided, _list(points)]


def _certainty(fitted: Fitted, measured: HeldOutPredictions | None, stability: Stability | None) -> list[str]:
    """Calibration on held-out rows, stability under refits, and the sizes of the leaves."""
    points = []
    if measured is not None and np.all(np.isfinite(predicted_and_observed(fitted, measured)[0])):
        bins = calibration_of(fitted, measured)
        within = sum(b.observed.low <= b.predicted <= b.observed.high for b in bins)
        kind = "proportion" if fitted.outcome.predicts_classes else "mean"
        points.append(
            f"Calibration: in {within} of {count_text(len(bins), 'group')} of held-out rows, the predicted {kind} lies "
            f"in the 90 % interval of the observed {kind}."
        )
    if stability is None:
        points.append("Stability: not measured.")
    else:
        points.append(f"Stability: {stability.summary()}")
        if stability.splits:
            least = min(stability.splits, key=lambda split: split.kept)
            points.append(
                f"The least stable split, {least.split}, is kept in {percent_text(least.kept)} of the refits."
            )
    tree = fitted.readable.trees
    sizes = tree.n_node_samples[tree.is_leaf]
    rows = amount_text(float(sizes.min())) if len(sizes) == 1 else f"{sizes.min():,} to {sizes.max():,}"
    points.append(f"{count_text(tree.n_leaves, 'leaf', 'leaves')} with {rows} training rows.")
    return points


def _quality(
    metrics: Sequence[Metric], references: ReferenceModels | None, measured: HeldOutPredictions | None
) -> list[str]:
    """The main figure, and the model beside simpler and larger ones."""
    known = {metric.name: metric.figure for metric in metrics if metric.figure.is_known}
    first = next((name for name in _HEADLINES if name in known), None)
    if first is None or measured is None:
        return [paragraph("Not measured: see Quality.")]
    held_out = f"{first.lower() if first != 'R squared' else 'R²'} on {count_text(measured.n_rows, 'held-out row')}"
    headline = _headline(known[first].text(), f"{held_out} (90 % interval {known[first].interval()})")
    if references is None:
        return [headline]
    names = [name for name in references.models[0].figures if len(references.models[0].figures) < 5 or name != "KS"]
    rows = [(model.name, *(_figure(model.figures.get(name)) for name in names)) for model in references.models]
    header = ["model", *(_SHORT.get(name, name) for name in names)]
    note = (
        f"Figures on {count_text(references.n_rows, 'held-out row')}. Reference models have scikit-learn's and "
        f"baytree's default settings and at most {references.n_training_rows:,} training rows."
    )
    shown = table(header, rows, range(1, len(header)), label="reference models", class_="references")
    return [headline, shown, paragraph(note, class_="soft")]


def _figure(figure: Figure | None) -> Cell:
    if figure is None or not figure.is_known:
        return Cell("–")
    interval = f"<br><small>{escape(figure.interval())}</small>" if figure.interval() else ""
    return Cell(f"{escape(figure.text())}{interval}", html=True)


def _approval(about: About) -> str:
    """Facts from the owner; a blank line to fill in by hand where there is none."""
    rows = [
        ("Intended use", about.intended_use),
        ("Data period", about.period),
        ("Owner", about.owner),
        ("Approver", about.approver),
        ("Date and signature", None),
    ]
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name),
                element("dd", escape(text)) if text else element("dd", "", class_="blank", aria_label="not given"),
            )
            for name, text in rows
        ),
    )
