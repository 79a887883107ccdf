"""The provenance of a model: its description, its training data and the rows it was measured on."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np

from .._words import amount_text, count_text, estimate_text, list_text, number_text, percent_text, shorten
from ..estimators import Estimator
from ..evaluation import Dataset
from ..export import to_dict
from ..fitted import Fitted, FittedOn, ModelKind
from ..outcomes import CustomOutcome
from ._about import About
from ._html import element, paragraph, section, table

N_BEST_TREES = 10  # best trees of a tree space that are listed


def lead_text(fitted: Fitted, target: str | None) -> str:
    """Describe the model in a few sentences."""
    tree = fitted.readable.trees
    classes = [shorten(label, 60) for label in fitted.class_names]
    outcome = "" if target is None else f"{shorten(target, 60)} "
    predicted = (
        f"{outcome}({fitted.outcome.name} outcome)" if not classes else f"{outcome}({list_text(classes, 6)})"
    ).strip()
    used = len(tree.used_features)
    fitted_on = "" if fitted.fitted_on is None else f", fitted on {_size(fitted.fitted_on)}"
    predicts = f"predicts {predicted} from {count_text(fitted.schema.n_features, 'column')}{fitted_on}."
    leaves = count_text(tree.n_leaves, "leaf", "leaves")
    shape = f"{leaves}, a depth of {tree.max_depth}, and uses {count_text(used, 'column')}."
    if fitted.kind is ModelKind.TREE:
        return f"A Bayesian decision tree that {predicts} It has {shape} {support_text(fitted)}"
    kind = (
        "A space of Bayesian decision trees"
        if fitted.kind is ModelKind.SPACE
        else f"A forest of {count_text(fitted.trees.n_trees, 'Bayesian decision tree')}"
    )
    return f"{kind} that {predicts} {support_text(fitted)} That tree has {shape}"


def support_text(fitted: Fitted) -> str:
    """How the tree that is shown represents the model."""
    if fitted.kind is ModelKind.TREE:
        return (
            "Each split is more probable than no split, given the training data."
            if fitted.trees.n_leaves > 1
            else "It has no split, because no split is more probable than none."
        )
    if fitted.kind is ModelKind.SPACE:
        return (
            f"Predictions are averages over all trees of its {count_text(fitted.trees.node_count, 'node')}. The tree "
            f"below is the most probable one, with {percent_text(float(fitted.tree_weights(N_BEST_TREES)[0]))} of "
            f"the weight of the {N_BEST_TREES} most probable trees."
        )
    return (
        "Each tree was fitted with other random weights of the rows, and predictions are averages over all trees. The "
        "tree below was fitted to the unweighted rows. It illustrates the forest and is not the whole model: on "
        + (
            f"{percent_text(fitted.agreement)} of the training rows, both make the same prediction."
            if fitted.outcome.predicts_classes
            else f"training rows, it explains {percent_text(max(fitted.agreement, 0.0))} of the variance of the "
            "predictions of the forest."
        )
    )


def _size(facts: FittedOn) -> str:
    weight = "" if facts.weight == facts.n_rows else f" of weight {amount_text(facts.weight)} in all"
    return f"{count_text(facts.n_rows, 'row')}{weight}"


def difference_part(fitted: Fitted, facts: FittedOn, *, is_held_out: bool) -> str:
    """A warning where the rows that were given are not those of the fit."""
    known = fitted.fitted_on
    if known is not None and known.fingerprint == facts.fingerprint:
        return ""
    then = (
        "The figures below are from the rows given as held out."
        if is_held_out
        else "The figures below are from fitting the same settings to the rows given here, so they describe such a "
        "model and not this one. Pass held_out=(X, y) to measure this model on rows that it has not seen."
    )
    if known is None:
        text = f"The model has no record of its training data. This report was written with {_size(facts)}. {then}"
    elif (known.n_rows, known.weight) == (facts.n_rows, facts.weight):
        text = (
            f"This report was written with as many rows as the model was fitted to ({_size(facts)}), but their "
            "fingerprint differs: values or the order of the rows were changed, or the model was fitted by an engine. "
            f"{then}"
        )
    else:
        text = (
            f"The model was fitted to other rows than those of this report: to {_size(known)} on {known.date[:10]}, "
            f"while the report was written with {_size(facts)}. {then}"
        )
    return element("div", paragraph(text), class_="warning", role="note")


def provenance_part(
    model: Estimator,
    fitted: Fitted,
    data: Dataset,
    facts: FittedOn,
    about: About,
    measured: str,
) -> str:
    """The section on the provenance of the model."""
    is_own = isinstance(fitted.outcome, CustomOutcome)
    settings = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    tree, known, grown = fitted.readable.trees, fitted.fitted_on, fitted.readable.grown_tree
    if fitted.kind is ModelKind.SPACE:
        evidence = float(fitted.trees.evidence.log_evidence[0])
    else:
        evidence = fitted.readable.grown.log_evidence()
    prior = [number_text(float(value)) for value in np.ravel(fitted.outcome.prior)]
    rows = [
        ("estimator", type(model).__name__),
        ("outcome", about.target) if about.target else None,
        ("fitted on", _facts(known)) if known else ("fitted on", "not recorded in the model"),
        ("fitted", f"{known.date.replace('T', ' ').rstrip('Z')} UTC, by baytree {known.version}") if known else None,
        ("source of the data", about.source) if about.source else None,
        ("data period", about.period) if about.period else None,
        ("report written with", "the same rows" if known and known.fingerprint == facts.fingerprint else _facts(facts)),
        ("measured on", measured),
        ("rows by class", _class_counts(fitted, data)) if fitted.outcome.predicts_classes else None,
        ("prior", "; ".join(prior[:12]) + ("; …" if len(prior) > 12 else "")),
        ("settings", ", ".join(f"{name}={shorten(repr(value))}" for name, value in settings.items())),
        ("prediction", fitted.decision.text(fitted.class_names)) if fitted.outcome.predicts_classes else None,
        ("pruned", f"from {count_text(grown.n_leaves, 'leaf', 'leaves')}") if grown is not None else None,
        ("log posterior of the tree", estimate_text(tree.log_posterior())),
        ("log evidence", estimate_text(evidence)),
        ("baytree", f"{version('baytree')}, Python {platform.python_version()}, numpy {np.__version__}"),
        ("written", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("model, SHA-256", "a custom outcome has no file" if is_own else to_dict(model)["sha256"]),
    ]
    inner = table(["item", "value"], [row for row in rows if row], class_="stack")
    return section("provenance", "Provenance", inner)


def _facts(facts: FittedOn) -> str:
    return f"{_size(facts)} × {count_text(facts.n_columns, 'column')}, fingerprint {facts.fingerprint[:16]}"


def _class_counts(fitted: Fitted, data: Dataset) -> str:
    labels = fitted.outcome.labels
    return list_text([f"{shorten(str(label), 60)}: {np.sum(data.y == label):,}" for label in labels], 20)
