"""``make reproduce``: figures that are right, runs that go on, pages that are safe."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from baytree import BayesianTreeClassifier
from baytree.priors import PAPER
from benchmarks.paper_sets import NAMES, load
from benchmarks.reproduce import paper, reproduce, tables
from benchmarks.reproduce.__main__ import main
from benchmarks.reproduce.page import write_html, write_markdown
from benchmarks.reproduce.runs import expected_calibration_error, read_store
from benchmarks.reproduce.tables import Table, paired_interval

SETS = ("haberman", "ripley")


@pytest.fixture
def folder(fake_sets):
    random = np.random.default_rng(0)
    rows = [
        f"{x:.3f},{'abc'[i % 3]},{'' if i % 9 == 0 else i},{x + i % 3:.3f}"
        for i, x in enumerate(random.normal(size=60))
    ]
    (fake_sets / "reg_small.csv").write_text("x,category,missing,target\n" + "\n".join(rows) + "\n")
    return fake_sets


def test_the_pages_hold_tables_and_figures(folder, tmp_path):
    page = reproduce(folder, tmp_path / "out", sets=SETS)
    html, markdown = page.read_text("utf-8"), (tmp_path / "out" / "report.md").read_text("utf-8")
    for title in ("table 1", "table 2", "beside what you would use", "Paired differences", "Regression", "Figures"):
        assert title in html
        assert title in markdown
    assert html.count("data:image/png;base64,") == 4
    assert not re.search(r"(src|href)=\"(?!data:)", html)
    assert "nan" not in markdown
    haberman = re.search(r"^\| haberman \|.*", markdown, re.MULTILINE)[0]
    results = read_store(tmp_path / "out" / "runs.jsonl")
    ours = [100 * figures["accuracy"] for key, figures in results.items() if key[:2] == ("haberman", "GMT")]
    assert len(ours) == 10
    assert f"| {np.mean(ours):.1f} | {paper.ACCURACY['haberman'][2]:.1f} |" in haberman


def test_a_stopped_run_goes_on(folder, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    reproduce(folder, out, sets=SETS, parts=("paper",))
    store = out / "runs.jsonl"
    whole = store.read_text("utf-8")
    lines = whole.splitlines(keepends=True)
    store.write_text("".join(lines[:20]) + lines[20][:15], encoding="utf-8")  # killed while it wrote
    fits = []
    fit = BayesianTreeClassifier.fit
    monkeypatch.setattr(BayesianTreeClassifier, "fit", lambda self, *rest: (fits.append(1), fit(self, *rest))[1])
    reproduce(folder, out, sets=SETS, parts=("paper",), show=True)
    assert len(fits) == sum('"GMT' in line or '"baytree' in line for line in lines[20:])
    assert f"Fits: {len(lines)} of {len(lines)}" in capsys.readouterr().err
    accuracy = {key: figures["accuracy"] for key, figures in read_store(store).items()}
    store.write_text(whole, encoding="utf-8")
    assert accuracy == {key: figures["accuracy"] for key, figures in read_store(store).items()}


def test_a_damaged_store_is_named(folder, tmp_path):
    (tmp_path / "runs.jsonl").write_text('["haberman"]\n')
    with pytest.raises(ValueError, match=r"Line 1 .*runs\.jsonl"):
        reproduce(folder, tmp_path, sets=SETS, parts=("paper",))


def test_the_command_line(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("BAYTREE_DATA", raising=False)
    arguments = ["--data", str(folder), "--out", str(tmp_path / "out"), "--only", "paper", "--sets", "ripley"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.strip().endswith("report.html")
    assert main(["--data", str(tmp_path / "nowhere"), "--out", str(tmp_path)]) == 1
    error = capsys.readouterr().err.strip()
    assert "heart.csv" in error
    assert "\n" not in error
    for wrong in ([*arguments, "--repeats", "0"], [*arguments[:-1], "iris"]):
        with pytest.raises(SystemExit, match="2"):
            main(wrong)


def test_the_explainable_boosting_machine_is_asked_for(folder, tmp_path, monkeypatch):
    class Quick(BayesianTreeClassifier):
        """Stands in for the slow one."""

        __init__ = BayesianTreeClassifier.__init__

    monkeypatch.setattr("benchmarks.reproduce.peers.explainable_boosting", Quick)
    monkeypatch.setattr("benchmarks.reproduce.peers.find_spec", lambda name: None)
    beyond = {"parts": ("beyond",), "sets": ("ripley",), "repeats": 1}
    assert "| EBM |" not in _markdown_of(reproduce(folder, tmp_path / "out", **beyond))
    with pytest.raises(ImportError, match=r"needs interpret: pip install --group benchmarks"):
        reproduce(folder, tmp_path / "out", ebm=True, **beyond)
    monkeypatch.setattr("benchmarks.reproduce.peers.find_spec", lambda name: name == "interpret" or None)
    assert "| EBM |" in _markdown_of(reproduce(folder, tmp_path / "out", ebm=True, **beyond))


def _markdown_of(page):
    return page.with_suffix(".md").read_text("utf-8")


def test_ctrl_c_says_how_to_go_on(folder, tmp_path, monkeypatch, capsys):
    def stop(*arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.reproduce.__main__.reproduce", stop)
    assert main(["--data", str(folder), "--out", str(tmp_path)]) == 130
    assert "goes on" in capsys.readouterr().err


def test_names_and_values_are_shown_as_text(tmp_path):
    evil = "<script>alert(1)</script>|"
    table = Table(evil, evil, [evil, "b"], [[evil, "1"]])
    write_html(tmp_path / "page.html", evil, evil, [table], [])
    write_markdown(tmp_path / "page.md", "title", "text", [table], [])
    html = (tmp_path / "page.html").read_text("utf-8")
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") == 7
    assert "default-src 'none'" in html
    assert "\\|" in (tmp_path / "page.md").read_text("utf-8")


def test_intervals_are_the_corrected_ones():
    difference = np.array([1.0, 2.0, 0.5, 1.5, 3.0, 0.0, 1.0, 2.5, 1.0, 0.5])
    low, high = paired_interval(difference)
    reach = stats.t.ppf(0.975, 9) * np.sqrt((0.1 + 1 / 9) * difference.var(ddof=1))
    assert_allclose([low, high], [difference.mean() - reach, difference.mean() + reach])
    assert np.isnan(paired_interval(np.array([1.0]))).all()


def test_calibration_error():
    assert_allclose(
        expected_calibration_error(np.array([0.2, 0.2, 0.9, 1.0]), np.array([0, 1, 1, 1])), (0.6 + 0.1 + 0.0) / 4
    )


needs_data = pytest.mark.skipif(not os.environ.get("BAYTREE_DATA"), reason="BAYTREE_DATA names no folder of data sets")


@needs_data
@pytest.mark.parametrize("proper", [True, False])
def test_ripley_is_the_papers_to_the_digit(proper):
    ripley = load("ripley")
    model = BayesianTreeClassifier(
        prior="paper", prune=False, partition_prior=replace(PAPER, proper=proper), thresholds="midpoint"
    )
    model.fit(ripley.X, ripley.y)
    assert model.score(ripley.X_test, ripley.y_test) == 0.876


@needs_data
def test_accuracy_is_the_papers_within_two_standard_errors(tmp_path):
    sets = tuple(name for name in NAMES if name not in ("credit", "gamma", "eeg"))  # the short ones
    reproduce(os.environ["BAYTREE_DATA"], tmp_path, sets=sets, parts=("paper",))
    results = read_store(tmp_path / "runs.jsonl")
    for name in sets:
        for model in ("GMT", "GMT, literal prior"):
            ours = 100 * tables.figures_of(results, name, model, "accuracy")
            error = tables.standard_error(ours) if len(ours) > 1 else 1e-9
            assert abs(ours.mean() - paper.ACCURACY[name][2]) <= 2 * error, (name, model)
