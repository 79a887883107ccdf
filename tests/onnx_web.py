"""Writes the models that exports are held to as ONNX, with rows and what is predicted, for onnx_web.mjs to check.

``make test-web`` runs both; it needs npm.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import onnx

from baytree.export import to_onnx
from tests.scoring import N_MODELS, scored

MISSING = "\1missing"


def write(folder: Path) -> None:
    """One file a model, and one of all cases."""
    cases = []
    for case in map(scored, range(N_MODELS)):
        model = to_onnx(case.model, missing=MISSING)
        (folder / f"{case.seed}.onnx").write_bytes(model.SerializeToString())
        columns = {}
        for column in model.graph.input:
            is_text = column.type.tensor_type.elem_type == onnx.TensorProto.STRING
            values = [None if value is None or value != value else value for value in case.rows[column.name].tolist()]
            numbers = [None if value is None else float(value) for value in values] if not is_text else []
            texts = [MISSING if value is None else value for value in values] if is_text else []
            columns[column.name] = {"texts": texts, "numbers": numbers}
        output = "probabilities" if case.is_classifier else "mean"
        entry = {"seed": case.seed, "columns": columns, "nRows": len(case.rows), "output": output}
        cases.append(entry | {"expected": case.mean().ravel().tolist(), "digits": 1e-12 if case.is_average else 0})
    (folder / "cases.json").write_text(json.dumps(cases), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
