"""The tables of coverage that `make honesty` writes."""

from __future__ import annotations

from pathlib import Path

from benchmarks.honesty.pages import means_table, write_pages
from benchmarks.honesty.tables import SHAPES

ROOT = Path(__file__).parents[1]
COVERAGE = {
    ("tree", "conjugate", 300): [0.5, 0.7],
    ("tree", "calibrated", 300): [0.8, 1.0],
    ("tree", "conjugate", 3000): [0.6, 0.6],
    ("tree space", "default", 300): [0.9, float("nan")],
}


def test_means_stand_beside_each_other_where_every_model_has_them():
    assert means_table(COVERAGE) == [
        "| model | 300 rows, before | 300 rows, after |",
        "|---|---:|---:|",
        "| tree | 60 % | 90 % |",
        "| tree space | 90 % | 90 % |",
    ]


def test_tables_are_put_between_their_marks(tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "docs/benchmarks.md"):
        (tmp_path / name).write_text("a\n<!-- honesty: simulated -->\nold\n<!-- end of honesty -->\nb\n", "utf-8")
    write_pages(COVERAGE, tmp_path)
    readme = ["a", "<!-- honesty: simulated -->", *means_table(COVERAGE), "<!-- end of honesty -->", "b"]
    assert (tmp_path / "README.md").read_text("utf-8").splitlines() == readme
    assert "| tree, calibrated | 300 | 80 % | 100 % | 90 % |" in (tmp_path / "docs/benchmarks.md").read_text("utf-8")


def rows(page):
    text = (ROOT / page).read_text("utf-8").split("<!-- honesty: simulated -->")[1].split("<!-- end of honesty")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines()]


def test_the_readme_has_the_means_of_the_page():
    page = {(model, n): cells[-1] for model, n, *cells in rows("docs/benchmarks.md")[2:]}
    assert len(page) > len(SHAPES)
    readme = rows("README.md")[2:]
    assert [model for model, *_ in readme] == ["tree", "oblique tree", "tree space", "forest"]
    for model, *cells in readme:
        settings = ("default", "default") if model == "tree space" else ("conjugate", "calibrated")
        expected = [page[f"{model}, {setting}", n] for n in ("300", "1,000") for setting in settings]
        assert cells == expected
