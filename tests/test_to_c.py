"""Models as programs in C: they predict what the model predicts, whatever the names and categories are."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier
from baytree.export import to_c, to_sql
from baytree.leaves import ConstantLeaves
from baytree.tree import SplitKind, TreeStore
from tests.c_compiler import COMPILER, compiled, needs_compiler
from tests.own_outcomes import TwoRates
from tests.scoring import N_MODELS, is_number, scored

GROUPS = [range(first, first + 20) for first in range(0, N_MODELS, 20)]


def assert_same_numbers(case, values, interval):
    """The columns that SQL has too: values, then the ends of intervals."""
    n_values = case.mean().shape[1]
    if case.std is not None:
        assert_allclose(values[:, n_values], case.std, rtol=1e-9 if case.is_average else 1e-12)
        values = np.delete(values, n_values, axis=1)
    if case.is_average:
        assert_allclose(values, case.mean(), rtol=1e-12, atol=1e-14)
        return
    assert_array_equal(values[:, :n_values], case.mean())
    ends = case.model.predict_interval(case.rows, level=interval).reshape(len(values), -1)
    assert_allclose(values[:, n_values:], ends, rtol=1e-12)


WRAPPER = """
void run_{i}(const double *x, long n, double *values, int *leaf, int *best) {{
    for (long row = 0; row < n; ++row) {{
        m{i}(x + row * M{i}_COLUMNS, values + row * M{i}_VALUES);
        {leaf}
        {best}
    }}
}}
double text_{i}(int column, const char *text, size_t length) {{ return m{i}_text(column, text, length); }}
double number_{i}(int column, double value) {{ return m{i}_number(column, value); }}
const char *name_{i}(int column) {{ return m{i}_column(column); }}
"""


def wrapped(seed):
    case = scored(seed)
    leaf = "(void)leaf;" if case.is_average else f"leaf[row] = m{seed}_leaf(x + row * M{seed}_COLUMNS);"
    best = f"best[row] = m{seed}_class(x + row * M{seed}_COLUMNS);" if case.is_classifier else "(void)best;"
    interval = None if case.is_average else 0.8
    text = to_c(case.model, name=f"m{seed}", interval=interval, std=case.std is not None)
    assert text.isascii()
    return text + WRAPPER.format(i=seed, leaf=leaf, best=best)


def numbers_of(case, library):
    """The rows as the header wants them."""
    i, table = case.seed, np.empty((len(case.rows), len(case.kinds)))
    of_text, of_number = getattr(library, f"text_{i}"), getattr(library, f"number_{i}")
    of_text.restype = of_number.restype = ctypes.c_double
    of_text.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    of_number.argtypes = [ctypes.c_int, ctypes.c_double]
    for j, (name, kind) in enumerate(case.kinds.items()):
        values = case.rows[name].tolist()
        if kind in ("text", "ordered"):
            encoded = [None if value is None else value.encode() for value in values]
            table[:, j] = [of_text(j, own_bytes, len(own_bytes or b"")) for own_bytes in encoded]
        elif kind == "number categories":
            table[:, j] = [of_number(j, value) for value in values]
        else:
            table[:, j] = [np.nan if value is None else float(value) for value in values]
        assert is_number(kind) or kind in ("text", "ordered", "truth")
    assert_array_equal(table, case.numbers().dense())
    return table


@needs_compiler
@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_c_predicts_what_the_model_predicts(seeds, tmp_path):
    library = compiled("\n".join(map(wrapped, seeds)), tmp_path)
    for seed in seeds:
        case = scored(seed)
        x = np.ascontiguousarray(numbers_of(case, library))
        n_values = case.mean().shape[1]
        n_more = (case.std is not None) + (0 if case.is_average else own_ends(case))
        values = np.empty((len(x), n_values + n_more))
        leaf, best = np.empty(len(x), np.intc), np.empty(len(x), np.intc)
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, values, leaf, best)]
        getattr(library, f"run_{seed}")(pointers[0], ctypes.c_long(len(x)), *pointers[1:])
        assert_same_numbers(case, values, 0.8)
        name = getattr(library, f"name_{seed}")
        name.restype = ctypes.c_char_p
        assert [name(j).decode() for j in range(len(case.kinds))] == list(case.kinds)
        if not case.is_average:
            assert_array_equal(leaf, case.model.apply(case.rows))
        if case.is_classifier:
            clear = case.clear()
            assert_array_equal(case.fitted.classes[best[clear]], case.model.predict(case.rows)[clear])


def own_ends(case):
    return case.model.predict_interval(case.rows[:1]).size


@needs_compiler
def test_the_header_is_cpp_too(tmp_path):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    text = "\n".join(to_c(scored(seed).model, name=f"m{seed}") for seed in (0, 1, 3, 7, 20, 33))
    (tmp_path / "models.cpp").write_text(text + "\nint main() { return 0; }\n", "utf-8")
    command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-variable"]
    subprocess.run([*command, "-fsyntax-only", str(tmp_path / "models.cpp")], check=True)


@needs_compiler
def test_text_with_null_characters_is_carried(tmp_path):
    frame = pd.DataFrame({"a\0b": ["x\0", "x\0y", "z"] * 20})
    model = BayesianTreeClassifier(prior=0.05).fit(frame, [0, 1, 1] * 20)
    library = compiled(to_c(model, name="m0") + "\n" + NULLS, tmp_path)
    library.code.restype = ctypes.c_double
    assert [library.code(text, len(text)) for text in (b"x\0", b"x\0y", b"z", b"x")] == [0.0, 1.0, 2.0, -1.0]


NULLS = "double code(const char *text, size_t length) { return m0_text(0, text, length); }"


def chain(depth):
    """A tree that is as deep as it can be: every right child is split again."""
    nodes = 2 * depth + 1
    inner = np.arange(nodes) % 2 == 0
    inner[-1] = False
    model = BayesianTreeRegressor(max_depth=0).fit(np.zeros((2, 1)), [0.0, 1.0])
    start = np.zeros(nodes + 1, dtype=np.int64)
    none = np.zeros(0)
    statistics = np.stack([np.ones(nodes), np.arange(nodes), np.arange(nodes) ** 2], axis=1).astype(float)
    tree = TreeStore(
        leaves=ConstantLeaves.with_root_prior(model.fitted_.outcome, statistics),
        n_features=1,
        roots=np.zeros(1, np.int64),
        choice_start=np.arange(nodes + 1),
        children_left=np.where(inner, np.arange(nodes) + 1, -1),
        children_right=np.where(inner, np.arange(nodes) + 2, -1),
        kind=np.where(inner, SplitKind.THRESHOLD, SplitKind.NONE).astype(np.uint8),
        feature=np.where(inner, 0, -2),
        threshold=np.where(inner, np.arange(nodes) / 2, -2.0),
        missing_go_to_left=np.zeros(nodes, bool),
        has_missing=np.zeros(nodes, bool),
        unseen_go_to_left=np.zeros(nodes, bool),
        category_start=start,
        category=none.astype(np.int64),
        category_goes_left=none.astype(bool),
        hyperplane_start=start,
        hyperplane_feature=none.astype(np.int64),
        hyperplane_coefficient=none,
        hyperplane_missing_value=none,
        log_prior_split=np.zeros(nodes),
        depth=(np.arange(nodes) + 1) // 2,
        n_node_samples=np.ones(nodes, np.int64),
        log_prior_leaf=np.zeros(nodes),
        log_odds_split=np.zeros(nodes),
        feature_posterior=np.ones((nodes, 2)) / 2,
    )
    return replace(model.fitted_, trees=tree)


def mirrored(fitted):
    """Swap the children of every split, so that every left child is split again."""
    tree = fitted.trees
    children = {"children_left": tree.children_right, "children_right": tree.children_left}
    return replace(fitted, trees=replace(tree, **children))


@pytest.mark.parametrize("make", [lambda: chain(300), lambda: mirrored(chain(300))], ids=["right", "left"])
def test_a_very_deep_tree_is_carried(make, tmp_path):
    fitted = make()
    X = np.arange(-1.0, 305.0)[:, None]
    expected = fitted.trees.apply(X)
    if COMPILER is not None:
        library = compiled(to_c(fitted, name="m0") + "\nint leaf(double x) { return m0_leaf(&x); }", tmp_path)
        assert [library.leaf(ctypes.c_double(value)) for value in X[:, 0]] == expected.tolist()
    duckdb = pytest.importorskip("duckdb")
    rows = pd.DataFrame({"x0": X[:, 0]})
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        assert_array_equal(connection.execute(to_sql(fitted)).df()["leaf"], expected)


@needs_compiler
def test_an_outcome_with_two_means_has_two(tmp_path):
    X = np.arange(40.0)[:, None]
    model = BayesianTreeRegressor(outcome=TwoRates()).fit(X, np.repeat([1, 9], 20))
    mean = "\ndouble mean(double x, int i) { double values[M0_VALUES]; m0(&x, values); return values[i]; }"
    library = compiled(to_c(model, name="m0") + mean, tmp_path)
    library.mean.restype = ctypes.c_double
    means = [[library.mean(ctypes.c_double(x), i) for i in range(2)] for x in X[:, 0]]
    assert_array_equal(means, model.predict(X))


def test_names_of_functions_are_checked():
    model = BayesianTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    for name in (
        "",
        "a b",
        "1a",
        "a-b",
        "größe",
        3,
        None,
        "a;b",
        "int",
        "class",
        "namespace",
        "NAN",
        "isnan",
        "_Bool",
        "__x",
    ):
        with pytest.raises(ValueError, match="name must be the name of a function"):
            to_c(model, name=name)
    space = TreeSpaceClassifier(max_nodes=5).fit(np.random.default_rng(0).random((60, 2)), [0, 1] * 30)
    with pytest.raises(ValueError, match="interval of an average over trees is not in their leaves"):
        to_c(space, interval=0.9)
