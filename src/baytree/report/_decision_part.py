"""The section on the decision: confusion matrix, curves, rates and cost at a threshold."""

from __future__ import annotations

from html import escape

import numpy as np

from .._typing import FloatArray
from .._words import amount_text, estimate_text, percent_text
from ..evaluation import RATES, HeldOutPredictions, Thresholds, curve_of
from ..figures import Figure, mean, share
from ..fitted import Fitted
from ._about import About
from ._charts import curve_chart
from ._html import Cell, element, paragraph, section, table

_MOST_CLASSES = 12  # in a confusion matrix; with more, the most frequent errors are listed
_MOST_ERRORS = 20


def decision_part(fitted: Fitted, *inner: str) -> str:
    """The section on the decision, which begins with its rule."""
    rule = paragraph(f"The model predicts {fitted.decision.text(fitted.class_names)}.")
    return section("decision", "Decision", rule, *inner)


def decision_figures(
    fitted: Fitted, held_out: HeldOutPredictions, thresholds: Thresholds | None, about: About
) -> list[str]:
    """The figures of the decision rule on held-out rows."""
    if thresholds is None:
        return [_many_classes(fitted, held_out)]
    chosen = percent_text(float(thresholds.values[thresholds.of_model]))
    slider = element(
        "div",
        f'<label for="threshold">Threshold: predict {escape(names_of(fitted)[1])} at or above a probability of '
        f'<output id="threshold-text" for="threshold">{chosen}</output></label>'
        f'<input id="threshold" type="range" min="0" max="{len(thresholds.values) - 1}" step="1" '
        f'value="{thresholds.of_model}">'
        f'<button type="button" id="threshold-own">Back to the model\'s {chosen}</button>',
        class_="slider screen",
    )
    note = paragraph(
        "Move the slider to see the effect of another threshold on this section, the subgroups, the tree and the case. "
        "The model itself does not change.",
        class_="soft screen",
    )
    charts = element("div", *_charts(fitted, held_out, thresholds), class_="charts")
    return [
        slider,
        note,
        element(
            "div",
            element("div", _confusion(fitted, thresholds, about), _costs(fitted, held_out)),
            _rates(fitted, thresholds),
            class_="columns",
        ),
        charts,
    ]


def names_of(fitted: Fitted) -> tuple[str, str]:
    """The names of two classes, that of the positive one last."""
    positive = fitted.decision.positive
    return fitted.class_names[1 - positive], fitted.class_names[positive]


def _confusion(fitted: Fitted, thresholds: Thresholds, about: About) -> str:
    other, positive = names_of(fitted)
    decided = [f"predicted {positive}", f"predicted {other}"]
    if about.actions is not None:
        code = fitted.decision.positive
        decided = [about.actions[code], about.actions[1 - code]]
    tp, fp = (float(counts[thresholds.of_model]) for counts in (thresholds.true_positives, thresholds.false_positives))
    fn, tn = thresholds.positives - tp, thresholds.negatives - fp
    rows = [
        (positive, _count("tp", tp), _count("fn", fn, wrong=True), amount_text(thresholds.positives)),
        (other, _count("fp", fp, wrong=True), _count("tn", tn), amount_text(thresholds.negatives)),
    ]
    return table(["true class", *decided, "rows"], rows, (1, 2, 3), label="confusion matrix")


def _count(name: str, n: float, *, wrong: bool = False) -> Cell:
    return Cell(amount_text(n), id=name, class_="number wrong" if wrong else "number right")


def _costs(fitted: Fitted, held_out: HeldOutPredictions) -> str:
    """Cost of the errors, which may be set, and the cost a row."""
    other, positive = names_of(fitted)
    costs = 1.0 - np.eye(2) if fitted.decision.costs is None else fitted.decision.costs
    assert held_out.codes is not None  # noqa: S101
    true, positive_code = np.searchsorted(fitted.outcome.labels, held_out.y), fitted.decision.positive
    cost = mean(costs[true, held_out.codes], held_out.weight)
    fields = "".join(
        element(
            "label",
            escape(f"Cost of predicting {decided} if {is_} is true"),
            element("input", id=name, type="text", inputmode="decimal", autocomplete="off", value=f"{cost:.6g}"),
            for_=name,
        ).replace("</input>", "")
        for name, decided, is_, cost in (
            ("cost-fn", other, positive, costs[positive_code, 1 - positive_code]),
            ("cost-fp", positive, other, costs[1 - positive_code, positive_code]),
        )
    )
    text = (
        f"Mean cost per row: {estimate_text(cost.estimate)} (90 % between {cost.interval().replace(' to ', ' and ')})"
    )
    return element(
        "div",
        element("div", fields, class_="fields screen"),
        element("p", escape(text), id="cost", role="status"),
        element("p", id="cheapest", class_="soft screen"),
        class_="costs",
    )


def _rates(fitted: Fitted, thresholds: Thresholds) -> str:
    rates, (other, positive) = thresholds.rates(thresholds.of_model), names_of(fitted)
    rows = [
        (
            name.replace("decided", f"predicted {positive}"),
            Cell(rates[name].text(), id=f"rate-{i}", class_="number"),
            Cell(rates[name].interval(), id=f"rate-{i}-interval", class_="number"),
            meaning.format(positive=positive, other=other),
        )
        for i, (name, meaning) in enumerate(RATES.items())
    ]
    return table(["rate", "value", "90 % interval", "meaning"], rows, (1, 2), class_="stack")


def _charts(fitted: Fitted, held_out: HeldOutPredictions, thresholds: Thresholds) -> list[str]:
    """ROC and precision-recall."""
    if thresholds.positives == 0 or thresholds.negatives == 0:
        return [paragraph("The held-out rows have one class only, so there are no curves.")]
    other, positive = names_of(fitted)
    true, false = curve_of(fitted, held_out)
    rates = thresholds.rates(thresholds.of_model)
    wrongly = rates["specificity"]
    wrongly = Figure(1 - wrongly.estimate, 1 - wrongly.high, 1 - wrongly.low, is_share=True)
    recall, mistaken = f"sensitivity for {positive}", f"{other} predicted as {positive}"
    sensitivity = true / thresholds.positives
    roc = (false / thresholds.negatives, sensitivity)
    precision: FloatArray = true[1:] / np.maximum(true[1:] + false[1:], np.finfo(float).tiny)
    return [
        element(
            "figure",
            element("figcaption", "ROC curve"),
            curve_chart("roc", *roc, (wrongly, rates["sensitivity"]), (mistaken, recall), ideal=True),
        ),
        element(
            "figure",
            element("figcaption", "Precision and recall"),
            curve_chart(
                "recall",
                sensitivity[1:],
                precision,
                (rates["sensitivity"], rates["precision"]),
                (recall, f"precision for {positive}"),
                ideal=False,
            ),
        ),
    ]


def _many_classes(fitted: Fitted, held_out: HeldOutPredictions) -> str:
    """A confusion matrix; of many classes the most frequent errors; and what becomes of each class."""
    names, codes = fitted.class_names, held_out.codes
    assert codes is not None  # noqa: S101
    true = np.searchsorted(fitted.outcome.labels, held_out.y)
    counts = np.zeros((len(names), len(names)))
    np.add.at(counts, (true, codes), held_out.weight)
    right = np.diag(counts)
    by_class = [
        (
            names[i],
            amount_text(counts[i].sum()),
            recall.text(),
            recall.interval(),
            precision.text(),
            precision.interval(),
        )
        for i in range(len(names))
        for recall, precision in [
            (share(right[i], counts[i].sum() - right[i]), share(right[i], counts[:, i].sum() - right[i]))
        ]
    ]
    header = ["class", "rows", "sensitivity", "90 % interval", "precision", "90 % interval"]
    parts = [table(header, by_class, range(1, 6), class_="stack", label="classes")]
    if len(names) <= _MOST_CLASSES:
        rows = [
            (
                name,
                *(
                    Cell(amount_text(n), class_="number right" if i == j else "number wrong" if n else "number")
                    for j, n in enumerate(counts[i])
                ),
            )
            for i, name in enumerate(names)
        ]
        title = element("h3", "Confusion matrix")
        return (
            title
            + table(
                ["true class", *(f"predicted {name}" for name in names)],
                rows,
                range(1, len(names) + 1),
                label="confusion matrix",
            )
            + element("h3", "By class")
            + parts[0]
        )
    wrong = counts - np.diag(right)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_ERRORS]
    errors = [
        (names[i], names[j], amount_text(wrong[i, j]), figure.text(), figure.interval())
        for i, j in (divmod(int(place), len(names)) for place in order)
        if wrong[i, j] > 0
        for figure in [share(wrong[i, j], counts[i].sum() - wrong[i, j])]
    ]
    header = ["true class", "predicted", "rows", "share of the class", "90 % interval"]
    return (
        element("h3", "The most frequent errors")
        + table(header, errors, (2, 3, 4), class_="stack", label="errors")
        + element("h3", "By class")
        + parts[0]
    )
