"""Write the page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from .._validation import check_integer
from ..estimators import FittedEstimator, estimator_of, facts_of_fit, fitted_of, read_rows, stability_of_model
from ..evaluation import (
    Dataset,
    HeldOutPredictions,
    Subgroup,
    Thresholds,
    hold_out,
    read_dataset,
    read_subgroups,
    subgroups_of,
    thresholds_of,
)
from ..explain import read_allowed
from ..fitted import Fitted, FittedOn, ModelKind
from ..persistence import write_text
from ._contents import contents_of, curve_text
from ._decision_part import decision_figures, decision_part
from ._html import element, paragraph, section
from ._provenance import difference_part, lead_text, provenance_part
from ._sections import (
    alternatives_part,
    feature_part,
    limits_part,
    quality_figures,
    quality_part,
    rules_part,
    text_part,
)
from ._stability_part import stability_part
from ._subgroup_part import subgroup_part


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
) -> Path:
    """Write a fitted model as one HTML page that works offline, in print, by keyboard and with a screen reader.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest, a pipeline that ends in one, or scikit-learn's
        ``FixedThresholdClassifier`` or ``TunedThresholdClassifierCV`` around either.
    X, y, sample_weight, exposure, event
        What it was fitted to. Rows are not written to the page; the quality is measured by cross-validation. Where they
        are not what the model says it was fitted on, the page says so.
    path
        File to write.
    groups
        Rows that belong together (those of one customer), one group per row: no fold divides a group.
    subgroups
        Columns of X by name, or a dict from name to one value per row for columns that X does not have: the page tells
        the figures of each of their values, of many numbers by quarters.
    held_out
        Rows that the model has not seen, to measure its quality on instead: a pair ``(X, y)``, or a dict with ``X``,
        ``y`` and, where they are needed, ``sample_weight``, ``exposure``, ``event`` and ``subgroups``.
    folds
        Folds of the cross-validation.
    title
        Heading of the page.
    source
        Where the rows come from, in words: a file, a query, a date.
    target
        What is predicted, in words; the name of y where it has one by default.
    immutable, directions
        What the page may not propose to change, as in the model's ``explain``.
    refits
        Refits that tell how stable the tree is, as in the model's ``stability``; 0 for none. None: 30 of a tree with
        splits along single columns, 10 of other models, none above 50,000 rows.

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
    for name, value in (("title", title), ("source", source), ("target", target)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a string or None; got {type(value).__name__}.")
    data = _read_rows(fitted, X, y, subgroups, sample_weight, groups, exposure, event)
    read_rows(model, X)  # refuses a table that is not the model's
    facts = facts_of_fit(model, X, y, sample_weight, exposure=exposure, event=event)
    weights = {"sample_weight": sample_weight, "exposure": exposure, "event": event}
    allowed = read_allowed(
        fitted.schema, immutable=immutable, directions=directions, allow_missing=False, max_features=2, n_changes=3
    )
    target = target or str(getattr(y, "name", None) or "") or None  # a pandas or polars series has a name
    measured = hold_out(model, data, _read_held_out(fitted, held_out, subgroups), folds)
    results = _held_out_results(fitted, measured)
    parts = {
        "quality": quality_part(*results.quality),
        "decision": decision_part(fitted, *results.decision) if fitted.outcome.predicts_classes else "",
        "subgroups": subgroup_part(fitted.readable, results.subgroups) if results.subgroups else "",
        "tree": _tree_part(fitted.readable),
        "case": _case_part(fitted) if fitted.trees.leaves.is_constant else _no_case_part(),
        "features": feature_part(fitted),
        "alternatives": alternatives_part(fitted),
        "stability": _stability(model, fitted, X, y, facts, refits, weights),
        "rules": rules_part(fitted.readable),
        "limits": limits_part(fitted, estimator.get_params(deep=False), measured),
        "provenance": provenance_part(estimator, fitted, data, facts, target, source, results.method),
    }
    heading = title or f"{type(estimator).__name__}: what it says and how sure it is"
    head = element("h1", escape(heading)), paragraph(lead_text(fitted, target), class_="lead")
    warning = difference_part(fitted, facts, is_held_out=held_out is not None)
    contents = contents_of(fitted, target, allowed, results.thresholds, results.subgroups)
    scripts = _SCRIPTS + (_CASE_SCRIPTS if fitted.trees.leaves.is_constant else ())
    return write_text(path, _page(heading, "".join((*head, warning)), parts, contents, scripts))


def _stability(
    model: FittedEstimator, fitted: Fitted, X: Any, y: Any, facts: FittedOn, refits: int | None, weights: dict[str, Any]
) -> str:
    """The part on refits, which need the rows of the fit."""
    if refits is None:
        is_fast = fitted.kind is ModelKind.TREE and estimator_of(model).partitions == "axis"
        refits = 0 if facts.n_rows > _MOST_ROWS_REFITTED else _REFITS if is_fast else _REFITS_OF_SLOW
        reason = f"refits of so many rows take long: give refits={_REFITS}."
    else:
        reason = "refits=0 was given."
    if fitted.fitted_on is None or fitted.fitted_on.fingerprint != facts.fingerprint:
        return stability_part(None, "refits need the rows that the model was fitted on.")
    if refits == 0:
        return stability_part(None, reason)
    return stability_part(stability_of_model(model, X, y, n_refits=refits, **weights))


_REFITS, _REFITS_OF_SLOW, _MOST_ROWS_REFITTED = 30, 10, 50_000
_NOT_MEASURED = paragraph(
    "Not measured: there are too few rows to hold some out, or too few groups of rows. Give held_out=(X, y)."
)


@dataclass(frozen=True)
class _HeldOutResults:
    """The parts of a report that held-out rows give; the defaults are for a report without them."""

    method: str = "nothing"
    quality: Sequence[str] = (_NOT_MEASURED,)
    decision: Sequence[str] = (_NOT_MEASURED,)
    thresholds: Thresholds | None = None
    subgroups: list[Subgroup] = field(default_factory=list)


def _held_out_results(fitted: Fitted, held_out: HeldOutPredictions | None) -> _HeldOutResults:
    if held_out is None:
        return _HeldOutResults()
    thresholds = thresholds_of(fitted, held_out)
    decision = decision_figures(fitted, held_out, thresholds) if fitted.outcome.predicts_classes else []
    quality = quality_figures(fitted, held_out)
    return _HeldOutResults(held_out.method, quality, decision, thresholds, subgroups_of(fitted, held_out))


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


_SECTIONS = {
    "quality": "Quality",
    "decision": "Decision",
    "subgroups": "Subgroups",
    "tree": "The tree",
    "case": "Single cases",
    "features": "What decides",
    "alternatives": "What else",
    "stability": "Stability",
    "rules": "Rules",
    "limits": "Limits",
    "provenance": "Provenance",
}
_SCRIPTS = ("words.js", "model.js", "tree.js", "decision.js")
_CASE_SCRIPTS = ("changes.js", "case.js")


def _page(title: str, head: str, parts: dict[str, str], contents: dict[str, Any], scripts: tuple[str, ...]) -> str:
    files = resources.files(__package__).joinpath("page")
    style = files.joinpath("page.css").read_text("utf-8")
    script = (
        '"use strict";\n(() => {\n' + "".join(files.joinpath(name).read_text("utf-8") for name in scripts) + "})();\n"
    )
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    nonempty = [anchor for anchor, part in parts.items() if part]
    links = "".join(element("li", element("a", _SECTIONS[anchor], href=f"#{anchor}")) for anchor in nonempty)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        '<a class="skip" href="#tree">To the tree</a>'
        + element("header", head)
        + element("nav", element("ul", links), aria_label="Contents")
        + element("main", *parts.values())
        + f'<script type="application/json" id="model">{_json(contents)}</script><script>{script}</script>'
        + "</body></html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(contents: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(_replace_infinity(contents), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, code)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _replace_infinity(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _replace_infinity(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_infinity(inner) for inner in value]
    return value


def _button(name: str, text: str, label: str | None = None) -> str:
    return element("button", escape(text), type="button", id=name, **({} if label is None else {"aria_label": label}))


def _tree_part(fitted: Fitted) -> str:
    toolbar = element(
        "div",
        '<label for="search">Find a column<input id="search" type="search" autocomplete="off"></label>',
        element("span", id="found", role="status"),
        _button("open-all", "Open all"),
        _button("close-all", "Close all"),
        _button("fit", "Fit"),
        _button("zoom-out", "−", "Zoom out"),
        element("span", "100 %", id="zoom", role="status", aria_label="Zoom"),
        _button("zoom-in", "+", "Zoom in"),
        class_="toolbar screen",
    )
    drawing = element("div", id="view", class_="view") + element("div", id="map", class_="map screen")
    return section(
        "tree",
        "The tree",
        paragraph(
            "Click a split to open or close what is below it, a leaf for its rule. By keyboard: arrows to move, Enter "
            "to open or close, F to look at a branch alone, + and - to zoom.",
            class_="soft screen",
        ),
        paragraph(curve_text(fitted), class_="soft"),
        element("div", id="legend", class_="legend"),
        toolbar,
        element("div", id="crumbs", class_="crumbs screen"),
        element("div", drawing, class_="drawing"),
        element("p", id="left-out", class_="soft"),
        element("div", id="detail", class_="screen", aria_live="polite"),
        "<noscript><p>The drawing and the form need JavaScript; the text and the rules say the same.</p></noscript>",
        text_part(fitted),
    )


def _no_case_part() -> str:
    """The section on single cases of a model with linear leaves, which the page does not compute."""
    return section(
        "case",
        "Single cases",
        paragraph(
            "The leaves of this model predict from the values of each row, and this page does not compute that. In "
            "Python, model.explain(rows) gives the prediction of single rows, the contribution of every column and "
            "changes that lead to another decision; on the command line, baytree explain does."
        ),
    )


def _case_part(fitted: Fitted) -> str:
    other = "" if fitted.unseen == "average" else " What training rows never lacked goes to the larger side."
    return section(
        "case",
        "Single cases",
        paragraph(f"Nothing that you enter leaves this page. Empty fields count as missing.{other}", class_="soft"),
        '<form id="form"><div id="fields" class="fields"></div><p id="rest" class="soft"></p>'
        '<p><button class="main" type="submit">What does the model say?</button></p></form>'
        "<details><summary>Paste a case</summary>"
        '<label for="paste">Values in the order of the table, a line of names above a line of values, or JSON</label>'
        '<p><textarea id="paste" rows="3" cols="40"></textarea></p>'
        '<p><button id="fill" type="button">Fill in</button></p></details>'
        '<details><summary>What may change</summary><div id="allowed" class="fields"></div></details>',
        element("div", id="answer", class_="answer", aria_live="polite"),
    )
