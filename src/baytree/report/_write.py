"""Write the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from .._validation import check_integer
from ..estimators import FittedEstimator, estimator_of, facts_of_fit, fitted_of, read_rows, stability_of_model
from ..evaluation import (
    Dataset,
    HeldOutPredictions,
    Metric,
    Subgroup,
    Thresholds,
    compare_with_references,
    hold_out,
    metrics_of,
    read_dataset,
    read_subgroups,
    subgroups_of,
    thresholds_of,
)
from ..explain import read_allowed
from ..fitted import Fitted, FittedOn, ModelKind, Stability
from ..persistence import write_text
from ._about import About, read_about
from ._contents import contents_of
from ._decision_part import decision_figures, decision_part
from ._edit_part import edit_part
from ._html import element, paragraph
from ._page import page
from ._provenance import difference_part, lead_text, provenance_part
from ._sections import (
    alternatives_part,
    feature_part,
    limits_part,
    quality_figures,
    quality_part,
    rules_part,
)
from ._stability_part import stability_part
from ._subgroup_part import subgroup_part
from ._summary_part import summary_part
from ._tree_part import case_part, tree_part


def write(
    model: FittedEstimator,
    X: Any,
    y: Any,
    path: str | Path,
    *,
    sample_weight: Any = None,
    exposure: Any = None,
    event: Any = None,
    groups: Any = None,
    subgroups: Any = (),
    held_out: Any = None,
    folds: int = 5,
    title: str | None = None,
    source: str | None = None,
    target: str | None = None,
    immutable: Any = (),
    directions: Any = None,
    refits: int | None = None,
    references: bool = True,
    actions: dict[Any, str] | None = None,
    intended_use: str | None = None,
    owner: str | None = None,
    approver: str | None = None,
    period: str | None = None,
    descriptions: dict[str, str] | None = None,
) -> Path:
    """Write an HTML report on a fitted model: one file that works offline, in print and with a screen reader.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest, a pipeline that ends in one, or scikit-learn's
        ``FixedThresholdClassifier`` or ``TunedThresholdClassifierCV`` around either.
    X, y, sample_weight, exposure, event
        The training data, as in ``fit``. The report contains no rows. Its figures are from cross-validation. If the
        data differ from those that the model was fitted on, the report says so.
    path
        The file to write.
    groups
        One group per row, such as the customer: no fold of the cross-validation divides a group.
    subgroups
        Names of columns of X, or a dict from name to one value per row for columns that X does not have. The report
        shows figures for each value, or for each quarter of a column with many numbers.
    held_out
        Rows that the model has not seen, to measure it on instead of a cross-validation: a pair ``(X, y)``, or a dict
        with ``X``, ``y`` and optionally ``sample_weight``, ``exposure``, ``event`` and ``subgroups``.
    folds
        Number of folds of the cross-validation.
    title
        Title of the report.
    source
        Origin of the data, such as a file, a query or a date.
    target
        Name of the outcome. By default the name of y, if it has one.
    immutable, directions
        Restrictions on the changes that the report proposes for a case, as in the model's ``explain``.
    refits
        Number of refits that measure the stability, as in the model's ``stability``; 0 for none. By default 30 for a
        tree with splits on single columns, 10 for other models, and none above 50,000 rows.
    references
        Whether to fit reference models to the same folds: a linear model, scikit-learn's tree, the tree with the other
        kind of leaves (linear or constant), and a forest.
    actions
        Names of the decisions by class: ``{"bad": "decline", "good": "approve"}``.
    intended_use, owner, approver, period
        Facts for the summary: the purpose of the model, who is responsible for it, who approves it, and the period of
        the data. The report leaves a blank line for each one that is missing.
    descriptions
        A dict from column to its meaning, which the list of columns shows.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> report.write(model, X, y, Path(tempfile.mkdtemp()) / "iris.html", title="Iris").name
    'iris.html'
    """
    estimator, fitted = estimator_of(model), fitted_of(model)
    folds = check_integer("folds", folds, low=2)
    refits = None if refits is None else check_integer("refits", refits, low=0)
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a string or None; got {type(title).__name__}.")
    about = read_about(
        fitted,
        descriptions,
        actions,
        target=str(getattr(y, "name", None) or "") or None if target is None else target,  # a series has a name
        source=source,
        intended_use=intended_use,
        owner=owner,
        approver=approver,
        period=period,
    )
    data = _read_rows(fitted, X, y, subgroups, sample_weight, groups, exposure, event)
    read_rows(model, X)  # refuses a table that is not the model's
    facts = facts_of_fit(model, X, y, sample_weight, exposure=exposure, event=event)
    weights = {"sample_weight": sample_weight, "exposure": exposure, "event": event}
    allowed = read_allowed(
        fitted.schema, immutable=immutable, directions=directions, allow_missing=False, max_features=2, n_changes=3
    )
    held_out_rows = _read_held_out(fitted, held_out, subgroups)
    measured = hold_out(model, data, held_out_rows, folds)
    stability, reason = _stability(model, fitted, X, y, facts, refits, weights)
    compared = None
    if references and measured is not None:
        compared = compare_with_references(model, data, held_out_rows, measured, folds, "this model")
    results = _held_out_results(fitted, measured, about)
    parts = {
        "summary": summary_part(fitted, about, measured, results.metrics, results.thresholds, compared, stability),
        "tree": tree_part(fitted.readable),
        "edits": edit_part(fitted),
        "decision": decision_part(fitted, *results.decision) if fitted.outcome.predicts_classes else "",
        "quality": quality_part(*results.quality),
        "stability": stability_part(stability, reason),
        "alternatives": alternatives_part(fitted),
        "subgroups": subgroup_part(fitted.readable, results.subgroups) if results.subgroups else "",
        "case": case_part(fitted),
        "rules": rules_part(fitted.readable),
        "features": feature_part(fitted, about.descriptions),
        "limits": limits_part(fitted, estimator.get_params(deep=False), measured),
        "provenance": provenance_part(estimator, fitted, data, facts, about, results.method),
    }
    heading = title or f"Report on a {type(estimator).__name__}"
    head = element("h1", escape(heading)), paragraph(lead_text(fitted, about.target), class_="lead")
    warning = difference_part(fitted, facts, is_held_out=held_out is not None)
    contents = contents_of(fitted, about, allowed, results.thresholds, results.subgroups)
    return write_text(path, page(heading, "".join((*head, warning)), parts, contents))


def _stability(
    model: FittedEstimator, fitted: Fitted, X: Any, y: Any, facts: FittedOn, refits: int | None, weights: dict[str, Any]
) -> tuple[Stability | None, str]:
    """The stability under refits, which need the rows of the fit; or the reason why there is none."""
    if refits is None:
        is_fast = fitted.kind is ModelKind.TREE and estimator_of(model).partitions == "axis"
        refits = 0 if facts.n_rows > _MOST_ROWS_REFITTED else _REFITS if is_fast else _REFITS_OF_SLOW
        reason = f"refits of more than {_MOST_ROWS_REFITTED:,} rows take long; pass refits={_REFITS} to run them."
    else:
        reason = "refits=0 was given."
    if fitted.fitted_on is None or fitted.fitted_on.fingerprint != facts.fingerprint:
        return None, "refits need the rows that the model was fitted on."
    if refits == 0:
        return None, reason
    return stability_of_model(model, X, y, n_refits=refits, **weights), ""


_REFITS, _REFITS_OF_SLOW, _MOST_ROWS_REFITTED = 30, 10, 50_000
_NOT_MEASURED = paragraph(
    "Not measured: there are too few rows to hold some out, or too few groups of rows. Give held_out=(X, y)."
)


@dataclass(frozen=True)
class _HeldOutResults:
    """The parts of a report that held-out rows give; the defaults are for a report without them."""

    method: str = "nothing"
    metrics: Sequence[Metric] = ()
    quality: Sequence[str] = (_NOT_MEASURED,)
    decision: Sequence[str] = (_NOT_MEASURED,)
    thresholds: Thresholds | None = None
    subgroups: list[Subgroup] = field(default_factory=list)


def _held_out_results(fitted: Fitted, held_out: HeldOutPredictions | None, about: About) -> _HeldOutResults:
    if held_out is None:
        return _HeldOutResults()
    thresholds, metrics = thresholds_of(fitted, held_out), metrics_of(fitted, held_out)
    decision = decision_figures(fitted, held_out, thresholds, about) if fitted.outcome.predicts_classes else []
    quality, subgroups = quality_figures(fitted, held_out, metrics), subgroups_of(fitted, held_out)
    return _HeldOutResults(held_out.method, metrics, quality, decision, thresholds, subgroups)


def _read_rows(
    fitted: Fitted, X: Any, y: Any, subgroups: Any, sample_weight: Any, groups: Any, exposure: Any, event: Any
) -> Dataset:
    data = read_dataset(fitted, X, y, sample_weight, groups, exposure=exposure, event=event)
    data.subgroups.update(read_subgroups(X, subgroups, len(data.y)))
    return data


def _read_held_out(fitted: Fitted, held_out: Any, subgroups: Any) -> Dataset | None:
    """Rows that are given as held out; a dict of subgroups is of the other rows, and they need one of their own."""
    if held_out is None:
        return None
    known = {"X", "y", "sample_weight", "exposure", "event", "subgroups"}
    if isinstance(held_out, dict):
        if not {"X", "y"} <= set(held_out) <= known:
            raise ValueError(f"held_out must be a dict with X and y, and of {sorted(known)}; got {sorted(held_out)}.")
        parts = {name: value for name, value in held_out.items() if value is not None}
    elif isinstance(held_out, tuple) and len(held_out) == 2:
        parts = {"X": held_out[0], "y": held_out[1]}
    else:
        raise TypeError("held_out must be a pair (X, y) or a dict with X and y.")
    if "subgroups" not in parts and isinstance(subgroups, dict):
        raise ValueError("held_out has rows of its own: give their subgroups in held_out={'subgroups': …} too.")
    values = {"subgroups": subgroups, "sample_weight": None, "exposure": None, "event": None} | parts
    return _read_rows(fitted, groups=None, **values)
