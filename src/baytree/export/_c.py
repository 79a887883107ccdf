"""A model as a C header without any dependency but the standard library."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._typing import FloatArray
from .._validation import short_repr
from ..decision import Decision
from ..estimators import Model
from ..fitted import Fitted, edit_lines
from ..leaves import ModelLeaves
from ..outcomes import ForestCalibration
from ..table import Kind
from ..tree import TreeStore
from ._c_leaves import leaf_cases, leaf_functions
from ._c_splits import goes_left, number, paths
from ._members import Member, exportable, leaf_columns, member_values

_KEYWORDS = (
    *(
        "alignas",
        "alignof",
        "asm",
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "const",
        "constexpr",
        "continue",
        "default",
    ),
    *("do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "main", "new"),
    *("register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this"),
    *("typedef", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while"),
    # Of newer C and of C++, where the header may be included as well.
    *("and", "and_eq", "bitand", "bitor", "catch", "class", "compl", "concept", "const_cast", "consteval", "constinit"),
    *("co_await", "co_return", "co_yield", "decltype", "delete", "dynamic_cast", "explicit", "export", "false"),
    *("friend", "mutable", "namespace", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private"),
    *("protected", "public", "reinterpret_cast", "requires", "static_assert", "static_cast", "thread_local", "throw"),
    *("true", "try", "typeid", "typeof", "typeof_unqual", "wchar_t", "xor", "xor_eq"),
    # Of the headers that it includes, and what it calls.
    *("INFINITY", "NAN", "NULL", "memcmp", "memcpy", "ptrdiff_t", "size_t", "strcmp", "strlen"),
    *("exp", "fabs", "floor", "isfinite", "isinf", "isnan", "pow", "signbit", "sqrt"),
)
_PLAIN = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+.,:;=()[]<>")


def _text(text: str) -> str:
    """A string literal; what could mean something to a compiler is written in octal digits."""
    inside = "".join(chr(b) if chr(b) in _PLAIN else f"\\{b:03o}" for b in text.encode("utf-8", "surrogatepass"))
    return f'"{inside}"'


def _is_reserved(name: str) -> bool:
    """Whether a name is a word of C or C++, or of those that begin with an underscore, which compilers keep."""
    return name in _KEYWORDS or name.startswith("__") or (name[:1] == "_" and name[1:2].isupper())


_TEXT = """/* A model of baytree. x[i] is the value of column {name}_column(i), NAN where it is missing; truth values
   are 0 and 1, and categories what {name}_text or {name}_number makes of them. Compile without -ffast-math. */
#ifndef {guard}_H
#define {guard}_H

#include <math.h>
#include <stddef.h>
#include <string.h>

enum {{ {guard}_COLUMNS = {n_columns}, {guard}_VALUES = {n_values} }};

{names}
/* Text as the number of a category; NULL is missing. length is in bytes of UTF-8. */
static inline double {name}_text(int column, const char *text, size_t length) {{
    if (text == NULL) return NAN;
{texts}    (void)column, (void)length;
    return -1.0;
}}

/* A number as the number of a category, in columns whose categories are numbers. */
static inline double {name}_number(int column, double value) {{
    if (value != value) return NAN;
{numbers}    (void)column;
    return -1.0;
}}

/* In two steps: a fused one would round once where the model rounds twice. */
static inline double {name}_add(double total, double coefficient, double value) {{
    volatile double product = coefficient * value;
    return total + product;
}}
{parts}
#endif
"""


def to_c(model: Model, *, name: str = "predict", interval: float | None = None, std: bool = False) -> str:
    """Return a C header (C99, or C++17) that predicts rows, without a dependency.

    It defines ``NAME(const double *x, double *values)``, which writes ``NAME_VALUES`` numbers, of the names
    ``NAME_value(i)``: class probabilities or the mean, then what else is asked for; ``NAME_class(x)``, the predicted
    class ``i`` of the name ``NAME_label(i)``; and, of a single tree, ``NAME_leaf(x)``. ``x`` has one double for each
    column ``NAME_column(i)`` of the training table; ``NAME_text(column, text, length)`` and ``NAMEnumber(column,
    value)`` turn categories into such doubles.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest; of a pipeline the last step.
    name
        Name of the function; all other names begin with it.
    interval
        Probability of an interval; None for none. Trees with constant leaves only.
    std
        Whether to add the standard deviation of what is predicted; not of classes, and not of linear leaves.

    Returns
    -------
    str
        The text of the header.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import to_c
    >>> header = to_c(model, name="iris")
    >>> "iris_class" in header
    True
    """
    fitted = exportable(model, but=ModelLeaves)
    fitted.check_no_set_decisions("C")
    schema = fitted.schema
    if not isinstance(name, str) or not name.isascii() or not name.isidentifier() or _is_reserved(name):
        raise ValueError(
            "name must be the name of a function, letters, digits and underscores, that C and C++ leave free; got "
            f"{short_repr(name)}."
        )
    prefix = f"{name}_"
    if fitted.has_one_leaf:
        more = leaf_columns(fitted, interval, std)
        parts, names = _tree_code(fitted, more, prefix), [*fitted.value_names, *more]
    else:
        parts = _average_code(fitted, member_values(fitted, interval, std), prefix)
        names = [*fitted.value_names, *(["std"] if std else [])]
    lists = {"column": map(schema.name, range(schema.n_features)), "value": names, "label": fitted.class_names}
    return _history(fitted) + _TEXT.format(
        name=name,
        guard=name.upper(),
        n_columns=schema.n_features,
        n_values=len(names),
        names="".join(_list(f"{name}_{what}", texts) for what, texts in lists.items()),
        texts=_categories(fitted, text=True),
        numbers=_categories(fitted, text=False),
        parts=parts,
    )


def _history(fitted: Fitted) -> str:
    """The edits of a tree as a comment; without slashes, nothing in their text begins or ends one."""
    if not fitted.edits:
        return ""
    lines = "\n".join(edit_lines(fitted.edits)).replace("/", "∕")
    return f"/* Edits of the tree\n{lines}\n*/\n"


def _list(name: str, texts: Iterable[str]) -> str:
    """A function that gives some text by its position; none where there is no text."""
    inside = ", ".join(map(_text, texts))
    return inside and (
        f"\nstatic inline const char *{name}(int i) {{\n    static const char *const texts[] = {{{inside}}};\n"
        "    return texts[i];\n}\n"
    )


def _categories(fitted: Fitted, *, text: bool) -> str:
    """The positions of the categories of every column whose categories are text, or numbers."""
    lines = []
    for i, column in enumerate(fitted.schema.columns):
        if column.categories is None or (column.categories.dtype.kind == "O") != text:
            continue
        lines.append(f"    if (column == {i}) {{\n")
        for position, category in enumerate(column.categories.tolist()):
            same = f"value == {number(category)}" if not text else _is_text(category)
            lines.append(f"        if ({same}) return {position}.0;\n")
        # Without a place in the order it is missing.
        lines.append(f"        return {'NAN' if column.kind is Kind.ORDERED else '-1.0'};\n    }}\n")
    return "".join(lines)


def _is_text(category: str) -> str:
    length = len(category.encode("utf-8", "surrogatepass"))
    return f"length == {length} && memcmp(text, {_text(category)}, {length}) == 0"


def _function(kind: str, name: str, arguments: str, body: str) -> str:
    return f"\nstatic inline {kind} {name}(const double *x{arguments}) {{\n    (void)x;\n{body}}}\n"


def _find(tree: TreeStore, label: str, prefix: str) -> str:
    """Functions that find the leaf; the last is the one to call."""
    functions = paths(tree, prefix, label)
    return "".join(_function("int", name, "", "".join(f"{line}\n" for line in lines)) for name, lines in functions)


def _rows(values: FloatArray) -> str:
    return ",\n".join(f"    {{{', '.join(map(number, row))}}}" for row in values)


def _table(kind: str, name: str, values: str, shape: str) -> str:
    return f"\nstatic const {kind} {name}{shape} = {{\n{values}\n}};\n"


def _tree_code(fitted: Fitted, more: dict[str, FloatArray], prefix: str) -> str:
    tree = fitted.trees
    values = np.column_stack([tree.value[:, 0], *more.values()])
    leaves, leaf = tree.leaves, f"{prefix}find(x)"
    has_models = isinstance(leaves, ModelLeaves) and not leaves.is_constant
    copy = f"    memcpy(values, {prefix}nodes[{'leaf' if has_models else leaf}], sizeof {prefix}nodes[0]);\n"
    if isinstance(leaves, ModelLeaves) and has_models:
        cases = leaf_cases(leaves, np.flatnonzero(tree.is_leaf).tolist(), prefix)
        copy = f"    int leaf = {leaf};\n    switch (leaf) {{\n{cases}    default: break;\n    }}\n{copy}"
    parts = [
        _find(tree, "", prefix),
        _table("double", f"{prefix}nodes", _rows(values), f"[{len(values)}][{values.shape[1]}]"),
        _function("int", f"{prefix}leaf", "", f"    return {prefix}find(x);\n"),
        leaf_functions(leaves, prefix) if isinstance(leaves, ModelLeaves) and has_models else "",
        _function("void", prefix[:-1], ", double *values", copy),
    ]
    if fitted.outcome.predicts_classes and has_models:
        parts.append(_class_code(fitted, prefix))
    elif fitted.outcome.predicts_classes:
        best = ", ".join(map(str, fitted.node_codes))
        parts.append(_table("int", f"{prefix}best", f"    {best}", f"[{len(values)}]"))
        parts.append(_function("int", f"{prefix}class", "", f"    return {prefix}best[{prefix}find(x)];\n"))
    return "".join(parts)


def _average_code(fitted: Fitted, members: list[tuple[Member, FloatArray]], prefix: str) -> str:
    """The average over trees and tree spaces."""
    n_values, n = len(fitted.value_names), members[0][1].shape[1]
    parts, lines = [], [f"    double total[{n}] = {{0.0}};\n"]
    for i, (member, values) in enumerate(members):
        parts.append(_table("double", f"{prefix}nodes{i}", _rows(values), f"[{len(values)}][{n}]"))
        if member.trees.is_plain:
            parts.append(_find(member.trees, str(i), prefix))
            leaf = f"{prefix}nodes{i}[{prefix}find{i}(x)]"
            lines.append(f"    {_add_code('total', number(member.share), leaf, n, prefix)}\n")
        else:
            lines.append(f"    {{\n    double n[{len(values)}][{n}];\n    memcpy(n, {prefix}nodes{i}, sizeof n);\n")
            lines += _choices_code(member.trees, n, prefix)
            lines.append(f"    {_add_code('total', number(member.share), 'n[0]', n, prefix)}\n    }}\n")
    lines.append(_outputs_code(fitted, n_values, n))
    parts.append(_function("void", prefix[:-1], ", double *values", "".join(lines)))
    if fitted.outcome.predicts_classes:
        parts.append(_class_code(fitted, prefix))
    return "".join(parts)


def _class_code(fitted: Fitted, prefix: str) -> str:
    """The decision from the class probabilities of a row."""
    n = len(fitted.value_names)
    body = f"    double values[{n}];\n    {prefix[:-1]}(x, values);\n{_decision(fitted.decision, n)}"
    return _function("int", f"{prefix}class", "", body)


def _outputs_code(fitted: Fitted, n_values: int, n: int) -> str:
    """Class probabilities, which sum to one; or means and, of what is beside them, the standard deviation."""
    if fitted.outcome.predicts_classes:
        return (
            f"{_calibration_code(fitted.forest_calibration)}"
            f"    double sum = 0.0;\n    for (int k = 0; k < {n}; ++k) sum += total[k];\n"
            f"    for (int k = 0; k < {n}; ++k) values[k] = total[k] / sum;\n"
        )
    text = f"    memcpy(values, total, {n_values} * sizeof *values);\n"
    if n == n_values:
        return text
    return text + (
        f"    double variance = total[{n - 1}] - total[{n - 2}] * total[{n - 2}];\n"
        f"    values[{n_values}] = variance > 0.0 ? sqrt(variance) : 0.0;\n"
    )


def _calibration_code(calibration: ForestCalibration | None) -> str:
    """What turns the averages of a forest into numbers in proportion to its class probabilities."""
    if calibration is None:
        return ""
    factors, n = np.exp(calibration.intercepts), len(calibration.intercepts)
    return (
        f"    static const double factors[{n}] = {{{', '.join(map(number, factors))}}};\n"
        f"    for (int k = 0; k < {n}; ++k) total[k] = factors[k] * pow(total[k], {number(calibration.exponent)});\n"
    )


def _decision(decision: Decision, n: int) -> str:
    """The position of the class that is decided for, given class probabilities."""
    if decision.threshold is not None:
        positive, threshold = decision.positive, number(decision.threshold)
        return f"    return values[{positive}] >= {threshold} ? {positive} : {1 - positive};\n"
    lines = [
        "int best = 0;",
        "double most = 0.0;",
        f"for (int k = 0; k < {n}; ++k) {{",
        "    double score = values[k];",
    ]
    if decision.costs is not None:  # the least cost is the largest score
        lines[:0] = [f"static const double costs[{n}][{n}] = {{", *_rows(decision.costs).splitlines(), "};"]
        lines[-1] = "    double score = 0.0;"
        lines.append(f"    for (int i = 0; i < {n}; ++i) score -= values[i] * costs[i][k];")
    lines += ["    if (k == 0 || score > most) best = k, most = score;", "}", "return best;"]
    return "".join(f"    {line}\n" for line in lines)


def _add_code(total: str, share: str, added: str, n_values: int, prefix: str) -> str:
    return (
        f"{{ const double *v = {added}; "
        f"for (int k = 0; k < {n_values}; ++k) {total}[k] = {prefix}add({total}[k], {share}, v[k]); }}"
    )


def _choices_code(space: TreeStore, n_values: int, prefix: str) -> list[str]:
    """Code that adds the weighted choices of each node, from the deepest up."""
    lines = []
    for node in range(space.node_count - 1, -1, -1):
        for choice in space.splits_of(node):
            left, right = int(space.children_left[choice]), int(space.children_right[choice])
            below = f"({goes_left(space.split(choice), prefix)}) ? n[{left}] : n[{right}]"
            share = number(space.choice_share[choice])
            lines.append(f"    {_add_code(f'n[{node}]', share, below, n_values, prefix)}\n")
    return lines
