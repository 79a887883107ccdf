"""Fitted trees in other forms."""

from ._c import to_c as to_c
from ._dict import from_dict as from_dict
from ._dict import to_dict as to_dict
from ._frame import to_frame as to_frame
from ._onnx import to_onnx as to_onnx
from ._rules import Rule as Rule
from ._rules import Rules as Rules
from ._rules import to_rules as to_rules
from ._scorecard import to_scorecard as to_scorecard
from ._shap import ShapValues as ShapValues
from ._shap import shap_values as shap_values
from ._shap import to_shap as to_shap
from ._sklearn import to_sklearn as to_sklearn
from ._sql import to_ibis as to_ibis
from ._sql import to_sql as to_sql
from ._text import to_text as to_text

__all__ = [
    "Rule",
    "Rules",
    "ShapValues",
    "from_dict",
    "shap_values",
    "to_c",
    "to_dict",
    "to_frame",
    "to_ibis",
    "to_onnx",
    "to_rules",
    "to_scorecard",
    "to_shap",
    "to_sklearn",
    "to_sql",
    "to_text",
]
