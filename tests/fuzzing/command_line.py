"""The command line on odd CSV files: it answers as the model does, or refuses in one sentence."""

from __future__ import annotations

import contextlib
import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from baytree import load
from tests.fuzzing.case import Case, Skipped

_DELIMITERS = {",": ".", ";": ",", "\t": ".", "|": "."}
_MISSING = ("", "NA", "nan", "NULL", "#N/A")
_TEXTS = ("plain", "a, b", 'say "so"', '5" pipe', "two\nlines", " spaced ", "né;e", "1,234", "-", "'")


def check_odd_files(case: Case) -> str:
    """A table written in an odd way: fitted, predicted and compared by commands, and by the library."""
    try:
        from baytree.cli import main
    except ImportError as missing:
        raise Skipped(str(missing)) from None
    frame = _table(case.random)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        options = _write(case.random, frame)
        code, error = _run(main, ["fit", *options, "--target", "y", "--folds", "0", "--keep", "text", "-o", "m.json"])
        if code != 0:
            raise AssertionError(error)
        out = str(case.random.choice(["p.csv", "p.csv.gz", "p.parquet"]))
        code, error = _run(main, ["predict", "m.json", *options, "--carry", "y", "-o", out])
        if code != 0:
            raise AssertionError(error)
        written = pd.read_parquet(out) if out.endswith("parquet") else pd.read_csv(out)
        model = load("m.json")
        expected = model.predict_proba(frame[list(model.feature_names_in_)])
        np.testing.assert_allclose(written.filter(like="probability_").to_numpy(), expected, rtol=1e-12)
        code, error = _run(main, ["compare", "m.json", "m.json", *options, "--target", "y"])
        if code != 0:
            raise AssertionError(error)
    return "odd files"


def check_broken_files(case: Case) -> str:
    """A file with a few bytes changed: a model, or one sentence without a traceback."""
    try:
        from baytree.cli import main
    except ImportError as missing:
        raise Skipped(str(missing)) from None
    random = case.random
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        options = _write(random, _table(random))
        path = Path(options[0])
        content = bytearray(path.read_bytes())
        for _ in range(random.integers(1, 4)):
            content[random.integers(len(content))] = int(random.choice([34, 44, 59, 10, 0, 255, 46]))
        path.write_bytes(content)
        code, error = _run(main, ["fit", *options, "--target", "y", "--folds", "0", "-o", "m.json"])
        if code not in (0, 1) or "Traceback" in error or (code == 1 and not error.strip()):
            raise AssertionError(f"{code}: {error}")
    return f"broken files: {'read' if code == 0 else 'refused'}"


def _run(main, arguments):
    """The exit code of a command and what it wrote on standard error."""
    error = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(error):
        code = main(arguments)
    return code, error.getvalue()


def _table(random) -> pd.DataFrame:
    n = int(random.choice([60, 200]))
    number = np.round(random.normal(size=n) * 10.0 ** random.integers(0, 6), int(random.integers(1, 5)))
    texts = random.choice(np.array(_TEXTS, dtype=object), n)
    frame = pd.DataFrame({"number": number, "text": texts, "count": random.integers(0, 9, n)})
    frame["y"] = np.where(number > np.median(number), "yes", "no")
    frame.loc[random.random(n) < 0.1, "number"] = np.nan
    frame.loc[random.random(n) < 0.1, "text"] = None
    wide = [f"a wide table {i}" for i in range(int(random.choice([0, 0, 0, 3000])))]
    return pd.concat([frame, pd.DataFrame(0, index=frame.index, columns=wide)], axis=1) if wide else frame


def _write(random, frame) -> list[str]:
    """Write a table as a CSV file; its name and the options that it needs."""
    delimiter = str(random.choice(list(_DELIMITERS)))
    missing = str(random.choice(_MISSING))
    text = frame.to_csv(index=False, sep=delimiter, decimal=_DELIMITERS[delimiter], na_rep=missing)
    encoding = str(random.choice(["utf-8", "utf-8-sig", "cp1252"]))
    content = text.encode(encoding)
    name = str(random.choice(["t.csv", "t.csv.gz"]))
    Path(name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    return [name, *(["--encoding", "cp1252"] if encoding == "cp1252" else []), "--decimal", _DELIMITERS[delimiter]]
