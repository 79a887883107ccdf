"""A model as an ONNX graph, in double precision."""

from __future__ import annotations

from typing import Any

from .._validation import short_repr
from ..estimators import Model
from ..fitted import Fitted, edit_lines
from ..leaves import ModelLeaves
from ._members import exportable


def to_onnx(model: Model, *, missing: str = "") -> Any:
    """Return a model as an `onnx.ModelProto` that predicts what the model predicts, in double precision.

    Inputs are one per column that the model uses, of its name and of shape (n_rows, 1): text where its categories are
    text, else double, with NaN where a value is missing, and 0 and 1 for truth values. Where the training table had no
    names and no text there is one input, ``X``, of all columns. Outputs are ``label`` and ``probabilities``, or
    ``mean`` and, of a regressor with constant leaves that has a finite one, ``std``; of a single tree also ``leaf``.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest; of a pipeline the last step.
    missing
        The text that stands for a missing value, which ONNX has no word for.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import to_onnx
    >>> [output.name for output in to_onnx(model).graph.output]
    ['leaf', 'label', 'probabilities']
    """
    try:
        from ._onnx_model import OUTPUTS, onnx_model  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError("to_onnx needs onnx: pip install 'baytree[onnx]'.") from None
    fitted = exportable(model, but=ModelLeaves)
    fitted.check_no_set_decisions("ONNX")
    used = fitted.used_features.tolist() or [0]
    _check_missing(missing, fitted, used)
    for feature in used:
        if fitted.schema.name(feature) in OUTPUTS:
            raise ValueError(
                f"ONNX cannot hold a column of the name {fitted.schema.name(feature)!r}: an output has it. Rename it."
            )
    model_proto = onnx_model(fitted, used, missing)
    if fitted.edits:
        model_proto.metadata_props.add(key="edits", value="\n".join(edit_lines(fitted.edits)))
    return model_proto


def _check_missing(missing: Any, fitted: Fitted, used: list[int]) -> None:
    """Refuse a text for missing values that is a category, too."""
    if not isinstance(missing, str):
        raise TypeError(f"missing must be text; got {short_repr(missing)}.")
    for feature in used:
        categories = fitted.schema.columns[feature].categories
        if categories is not None and missing in categories.tolist():
            raise ValueError(
                f"{fitted.schema.describe(feature)} has the category {missing!r}, which stands for a missing value in "
                "ONNX: give another text as missing."
            )
