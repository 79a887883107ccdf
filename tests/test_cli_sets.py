"""`baytree fit FILE --target target` works on every table as it is; `make try` does it with a wheel."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import baytree
from baytree.cli import main

pytest.importorskip("click")
FOLDER = os.environ.get("BAYTREE_DATA")
NAMES = sorted(path.name for path in Path(FOLDER).glob("*.csv")) if FOLDER else []
_MOST_ROWS = 400


@pytest.mark.skipif(not NAMES, reason="needs the folder of tables that BAYTREE_DATA names")
@pytest.mark.parametrize("name", NAMES or ["none"])
def test_a_raw_table_needs_its_target_named_and_nothing_else(name, tmp_path, capsys):
    header, *rows = (Path(FOLDER) / name).read_text("utf-8").splitlines()
    rows = rows[:: max(1, len(rows) // _MOST_ROWS)]
    (tmp_path / name).write_text("\n".join([header, *rows]) + "\n")
    model = tmp_path / "model.json"
    assert main(["fit", str(tmp_path / name), "--target", "target", "--json", "-o", str(model)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["task"] == ("regression" if name.startswith("reg_") and "wine" not in name else "classification")
    never_vary = {column for column, reason in said["left_out"].items() if reason == "is constant"}
    assert set(said["left_out"]) == never_vary
    assert len(said["columns"]) + len(never_vary) == header.count(",")
    assert said["cross_validation"]["folds"] == 5
    assert baytree.load(model).get_n_leaves() == said["n_leaves"]
