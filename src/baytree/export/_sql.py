"""A model as one SELECT, so that rows are scored where they live."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import short_repr
from ..estimators import Model
from ..fitted import Fitted, edit_lines
from ..leaves import LinearLeaves, LogisticLeaves, ModelLeaves
from ..tree import NO_CHILD, TreeStore
from ._members import Member, exportable, leaf_columns, member_values
from ._sql_linear import linear_mean
from ._sql_logistic import LogisticSteps
from ._sql_text import DIALECTS, Conditions, Dialect, identifier, label_literal, number_literal, pairwise_sum
from ._sql_translate import translate
from ._sql_walk import Walk, walks

_MOST_COLUMNS = 1500  # that every database takes
_ROWS = "baytree_rows"  # what a query calls the table of Ibis


def to_sql(
    model: Model,
    *,
    dialect: str = "duckdb",
    table: str | Sequence[str] = "rows",
    columns: Sequence[str] = (),
    interval: float | None = None,
    std: bool = False,
) -> str:
    """Return a SELECT that predicts the rows of a table of a database.

    It has the columns ``leaf`` (of a single tree), ``probability_…`` of each class and ``prediction`` (the class), or
    ``mean`` of a regressor. Rows go where the model sends them: NULL and NaN are missing values, categories that were
    not seen in training go where the tree sends them, numbers are compared as float64. Infinite values, which the model
    refuses, count as numbers here.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest; of a pipeline the last step, whose columns the table must have.
    dialect
        ``"duckdb"``, ``"sqlite"``, ``"postgres"`` or, where sqlglot is installed, any name of a dialect it knows.
    table
        Name of the table, or its parts: ``("schema", "rows")``. Its columns have the names of the training table (or
        ``x0``, ``x1`` and so on where that had none), and are boolean where those were truth values.
    columns
        Columns of the table to carry along, such as an id.
    interval
        Probability of an interval, for columns ``low`` and ``high`` (of each class: ``low_…`` and ``high_…``); None for
        none. Trees with constant leaves only: the interval of an average is not in the leaves.
    std
        Whether to add ``std``, the standard deviation of what is predicted; not of classes, and not of linear leaves.
        Averages need a database that knows ``sqrt``, logistic leaves one that knows ``sqrt`` and ``exp``. Calibrated
        forests of classes need one that knows ``power``, with or without it.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeRegressor
    >>> from baytree.export import to_sql
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeRegressor(outcome="poisson", prior=[1, 1], max_depth=1).fit(X, y)
    >>> print(to_sql(model, table="flowers"))
    SELECT leaf, CASE leaf WHEN 1 THEN 0.0196078431372549e0 WHEN 2 THEN 1.495049504950495e0 END AS "mean"
    FROM (SELECT CASE WHEN CAST(t."x3" AS DOUBLE) <= 0.8e0 THEN 1 ELSE 2 END AS leaf FROM "flowers" AS t) AS routed
    """
    fitted = exportable(model, but=ModelLeaves)
    sql_dialect = DIALECTS.get(dialect, DIALECTS["duckdb"])
    query = _Query(fitted, sql_dialect, _relation(table), _read_columns(columns), walks=dialect in DIALECTS)
    if fitted.has_one_leaf:
        text = query.tree_query(fitted, leaf_columns(fitted, interval, std))
    else:
        text = query.average_query(member_values(fitted, interval, std))
    history = "".join(f"-- {line}\n" for line in edit_lines(fitted.edits))
    return history + (text if dialect in DIALECTS else translate(text, dialect))


def to_ibis(
    model: Model, table: Any, *, columns: Sequence[str] = (), interval: float | None = None, std: bool = False
) -> Any:
    """Return the predictions of a model for an Ibis table, lazily: an Ibis table with the columns of `to_sql`.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest.
    table
        An Ibis table that has the columns of the training table.
    columns, interval, std
        As in `to_sql`.

    Returns
    -------
    Ibis table

    Examples
    --------
    >>> import ibis, pyarrow
    >>> from baytree import BayesianTreeClassifier
    >>> from baytree.export import to_ibis
    >>> rows = pyarrow.table({"size": [1.0, 2.0, 3.0, 4.0] * 10})
    >>> model = BayesianTreeClassifier().fit(rows, [0, 0, 1, 1] * 10)
    >>> table = ibis.duckdb.connect().create_table("rows", rows)
    >>> to_ibis(model, table).prediction.sum().to_pyarrow().as_py()
    20
    """
    if not hasattr(table, "alias") or not hasattr(table, "sql"):
        raise TypeError(f"table must be an Ibis table; got {short_repr(table)}.")
    from ibis.common.exceptions import IbisError  # noqa: PLC0415 - an optional dependency

    backend = table.get_backend()
    dialect = backend.name if backend.name in DIALECTS else "duckdb"
    text = to_sql(model, dialect=dialect, table=_ROWS, columns=columns, interval=interval, std=std)
    try:
        return table.alias(_ROWS).sql(text, dialect=dialect)
    except IbisError:  # rows in memory (ibis.memtable) are in no database: the default one takes them over
        rows = backend.create_table(f"{_ROWS}_{secrets.token_hex(8)}", table, temp=True)
        return rows.alias(_ROWS).sql(text, dialect=dialect)


def _relation(table: str | Sequence[str]) -> str:
    parts = [table] if isinstance(table, str) else list(table) if isinstance(table, (list, tuple)) else []
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f"table must be the name of a table, or its parts; got {short_repr(table)}.")
    return ".".join(map(identifier, parts))


def _read_columns(columns: Sequence[str]) -> list[str]:
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise ValueError(f"columns must be a list of names of columns; got {short_repr(columns)}.")
    return list(columns)


@dataclass(frozen=True)
class _Query:
    """Writes the query, from the innermost SELECT outwards."""

    fitted: Fitted
    dialect: Dialect
    table: str
    kept: list[str]
    walks: bool  # whether a large forest is a table of steps: what sqlglot translates is left simple

    def tree_query(self, fitted: Fitted, more: dict[str, FloatArray]) -> str:
        """A query for the leaf of each row and its values."""
        tree = fitted.trees
        made = dict(zip(fitted.value_names, tree.value[:, 0].T, strict=True))
        outputs = [self._output(self._leaf_value("leaf", tree, value), name) for name, value in made.items()]
        carried = self.kept
        if isinstance(tree.leaves, ModelLeaves):
            used = [fitted.schema.name(feature) for feature in tree.leaves.used_features]
            carried = list(dict.fromkeys([*self.kept, *used]))
            if any(name.lower() == "leaf" for name in used):
                raise ValueError("The query would have two columns of the name 'leaf': rename that of the table.")
        if isinstance(tree.leaves, LogisticLeaves) and not tree.leaves.is_constant:
            self._check_names(["leaf", *made, "prediction"])
            return self._logistic_query(tree, tree.leaves, list(made), carried)
        if isinstance(tree.leaves, LinearLeaves):
            conditions = Conditions(fitted.schema, self.dialect, "routed")
            formulas = ((node, linear_mean(conditions, tree.leaves, node)) for node in _leaves(tree))
            outputs = [self._output(_cases("routed.leaf", formulas), name) for name in made]
        if fitted.outcome.predicts_classes:
            labels, best = self._labels(), fitted.node_codes
            cases = _cases("leaf", ((leaf, labels[best[leaf]]) for leaf in _leaves(tree)))
            outputs.append(self._output(cases, "prediction"))
        outputs += [self._output(self._leaf_value("leaf", tree, value), name) for name, value in more.items()]
        self._check_names(["leaf", *made, "prediction", *more])
        selected = ", ".join([*self._kept_columns("routed"), "leaf", *outputs])
        layers = self._routing_layers({"leaf": tree}, carried)
        if len(layers) == 1:
            return f"SELECT {selected}\nFROM ({layers[0]}) AS routed"
        return f"{_with(layers)}\nSELECT {selected}\nFROM {self._last_layer(layers)} AS routed"

    def _logistic_query(self, tree: TreeStore, leaves: LogisticLeaves, names: list[str], carried: list[str]) -> str:
        """A query for the leaf of each row, its class probabilities and the decision."""
        layers = self._routing_layers({"leaf": tree}, carried)
        steps = LogisticSteps(leaves, _leaves(tree), Conditions(self.fitted.schema, self.dialect, "t"))
        for columns in steps.columns():
            made = [f"{expression} AS {name}" for name, expression in columns.items()]
            selected = ", ".join([*self._kept_columns("t"), "t.leaf", *made])
            layers.append(f"SELECT {selected} FROM {self._last_layer(layers)} AS t")
        shares = [f"t.a{c}" for c in range(len(names))]
        outputs = [self._output(share, name) for share, name in zip(shares, names, strict=True)]
        outputs.append(self._output(self._decision(shares), "prediction"))
        selected = ", ".join([*self._kept_columns("t"), "t.leaf", *outputs])
        return f"{_with(layers)}\nSELECT {selected} FROM {self._last_layer(layers)} AS t"

    def average_query(self, members: list[tuple[Member, FloatArray]]) -> str:
        """A query for the average over trees, or over a tree space."""
        names = self.fitted.value_names
        self._check_names([*names, "prediction", "std"])
        trees = self.fitted.trees
        if self.walks and walks(trees, has_arrays=self.dialect.array is not None):
            conditions = Conditions(self.fitted.schema, self.dialect, "t")
            walk = Walk(self.fitted, conditions, self.kept, self.table, self._calibrated)
            selected = ", ".join([*self._kept_columns("t"), *self._average_outputs(names, members[0][1].shape[1])])
            return f"{walk.relations(members)}\nSELECT {selected} FROM baytree_averages AS t ORDER BY t.baytree_row"
        if trees.is_plain:
            layers, values = self._tree_layers(members)
        else:
            layers, values = self._space_layers(trees, np.concatenate([node_values for _, node_values in members]))
        averages = [*self._kept_columns("t"), *(f"{self._calibrated(a, c)} AS a{c}" for c, a in enumerate(values))]
        layers.append(f"SELECT {', '.join(averages)} FROM {self._last_layer(layers)} AS t")
        outputs = [*self._kept_columns("t"), *self._average_outputs(names, len(values))]
        return f"{_with(layers)}\nSELECT {', '.join(outputs)} FROM {self._last_layer(layers)} AS t"

    def _calibrated(self, average: str, c: int) -> str:
        """A number in proportion to the probability of a class in a forest, or the average itself."""
        calibration = self.fitted.forest_calibration
        if calibration is None:
            return average
        factor, exponent = float(np.exp(calibration.intercepts[c])), calibration.exponent
        return f"{number_literal(factor, self.dialect)} * power({average}, {number_literal(exponent, self.dialect)})"

    def _last_layer(self, layers: list[str]) -> str:
        return f"step{len(layers) - 1}" if layers else self.table

    def _average_outputs(self, names: list[str], n: int) -> list[str]:
        """The mean and, where more is averaged, the standard deviation; or class probabilities and the decision."""
        if not self.fitted.outcome.predicts_classes:
            outputs = [self._output(f"t.a{c}", name) for c, name in enumerate(names)]
            if n == len(names):
                return outputs
            variance = f"t.a{n - 1} - t.a{n - 2} * t.a{n - 2}"
            return [*outputs, self._output(f"CASE WHEN {variance} > 0 THEN sqrt({variance}) ELSE 0e0 END", "std")]
        total = " + ".join(f"t.a{c}" for c in range(len(names)))
        shares = [f"t.a{c} / ({total})" for c in range(len(names))]
        outputs = [self._output(share, name) for share, name in zip(shares, names, strict=True)]
        return [*outputs, self._output(self._decision(shares), "prediction")]

    def _decision(self, shares: list[str]) -> str:
        """The class that is decided for, given class probabilities."""
        decision, n, labels = self.fitted.decision, len(shares), self._labels()
        if decision.threshold is not None:
            condition = f"{shares[decision.positive]} >= {number_literal(decision.threshold, self.dialect)}"
            return f"CASE WHEN {condition} THEN {labels[decision.positive]} ELSE {labels[1 - decision.positive]} END"
        scores, best = [f"t.a{c}" for c in range(n)], ">="
        if decision.costs is not None:
            costs = [[number_literal(cost, self.dialect) for cost in column] for column in decision.costs.T.tolist()]
            terms = (
                [f"{share} * {cost}" for share, cost in zip(shares, class_costs, strict=True)] for class_costs in costs
            )
            scores, best = [f"({' + '.join(score_terms)})" for score_terms in terms], "<="
        cases = "".join(
            f"WHEN {' AND '.join(f'{scores[c]} {best} {scores[d]}' for d in range(n) if d != c)} THEN {labels[c]} "
            for c in range(n - 1)
        )
        return f"CASE {cases}ELSE {labels[-1]} END" if cases else labels[-1]

    def _labels(self) -> list[str]:
        return [label_literal(label, self.dialect) for label in self.fitted.outcome.labels]

    def _tree_layers(self, members: list[tuple[Member, FloatArray]]) -> tuple[list[str], list[str]]:
        """The steps that find the leaf of every tree; the averages over trees."""
        if len(members) + len(self.kept) > _MOST_COLUMNS:
            raise ValueError(f"SQL cannot hold a forest of more than {_MOST_COLUMNS - len(self.kept)} trees.")
        trees = [(member.share, member.trees, values) for member, values in members]
        averages = [
            pairwise_sum(
                [
                    f"{number_literal(share, self.dialect)} * {self._leaf_value(f't.leaf{i}', tree, values[:, c])}"
                    for i, (share, tree, values) in enumerate(trees)
                ]
            )
            for c in range(members[0][1].shape[1])
        ]
        return self._routing_layers({f"leaf{i}": tree for i, (_, tree, _) in enumerate(trees)}, self.kept), averages

    def _space_layers(self, space: TreeStore, values: FloatArray) -> tuple[list[str], list[str]]:
        """One step for each depth of a tree space, from the deepest up; what its root predicts."""
        conditions = Conditions(self.fitted.schema, self.dialect, "t")
        carried_columns = dict.fromkeys([*self.kept, *(self.fitted.schema.name(f) for f in self.fitted.used_features)])
        layers: list[str] = []
        for depth in range(space.max_depth - 1, -1, -1):
            nodes = [node for node in np.flatnonzero(space.depth == depth).tolist() if space.splits_of(node)]
            if len(nodes) * values.shape[1] + len(carried_columns) > _MOST_COLUMNS:
                raise ValueError(
                    f"SQL cannot hold an average that is {len(nodes)} nodes wide: explore less (max_nodes), grow fewer "
                    "trees, or export readable_tree_."
                )
            made = [
                f"{self._weighted_choices(space, node, values[:, c], c, conditions)} AS {_node_name(node, c)}"
                for node in nodes
                for c in range(values.shape[1])
            ]
            selected = ", ".join([*self._qualified("t", carried_columns), *made])
            layers.append(f"SELECT {selected} FROM {self._last_layer(layers)} AS t")
        return layers, [self._root_average(space, values[:, c], c) for c in range(values.shape[1])]

    def _root_average(self, space: TreeStore, values: FloatArray, c: int) -> str:
        """The average of what the roots predict."""
        roots = [self._node_value(space, root, values, c) for root in space.roots.tolist()]
        return (
            roots[0]
            if len(roots) == 1
            else f"({pairwise_sum(roots)}) / {number_literal(float(len(roots)), self.dialect)}"
        )

    def _node_value(self, space: TreeStore, node: int, values: FloatArray, c: int) -> str:
        """The prediction of a node: a number, or a column of the step before."""
        if not space.splits_of(node):
            return number_literal(float(values[node]), self.dialect)
        return f"t.{_node_name(node, c)}"

    def _weighted_choices(self, space: TreeStore, node: int, values: FloatArray, c: int, conditions: Conditions) -> str:
        terms = [number_literal(float(values[node]), self.dialect)]
        for choice in space.splits_of(node):
            left, right = int(space.children_left[choice]), int(space.children_right[choice])
            on_left, on_right = (self._node_value(space, child, values, c) for child in (left, right))
            below = f"CASE WHEN {conditions.goes_left(space.split(choice))} THEN {on_left} ELSE {on_right} END"
            terms.append(f"{number_literal(space.choice_share[choice], self.dialect)} * {below}")
        return pairwise_sum(terms)

    def _routing_layers(self, trees: dict[str, TreeStore], kept: list[str]) -> list[str]:
        """The leaf of a row in each tree, by the name of its column: one step for as many levels as may be nested."""
        cases = {name: self._nested_cases(tree) for name, tree in trees.items()}
        most = self.dialect.most_nested
        n_layers = 1 if most is None else max(1, *(-(-tree.max_depth // most) for tree in trees.values()))
        used = [self.fitted.schema.name(feature) for feature in self.fitted.used_features]
        layers: list[str] = []
        for layer in range(n_layers):
            carried = kept if layer == n_layers - 1 else list(dict.fromkeys([*kept, *used]))
            routed = [
                f"{self._route(name, tree, cases[name], layer * (most or 0))} AS {name}" for name, tree in trees.items()
            ]
            selected = ", ".join([*self._qualified("t", carried), *routed])
            layers.append(f"SELECT {selected} FROM {self._last_layer(layers)} AS t")
        return layers

    @staticmethod
    def _route(name: str, tree: TreeStore, cases: dict[int, str], depth: int) -> str:
        """The node that a row goes to from the nodes of a depth: a leaf, or where the next step goes on."""
        if depth == 0:
            return cases.get(0, "0")
        nodes = [node for node in cases if tree.depth[node] == depth]
        further = " ".join(f"WHEN {node} THEN {cases[node]}" for node in nodes)
        return f"CASE t.{name} {further} ELSE t.{name} END" if nodes else f"t.{name}"

    def _nested_cases(self, tree: TreeStore) -> dict[int, str]:
        """Cases within cases from the root or, where these may not be nested as deep, from some nodes below it, too."""
        conditions, most = Conditions(self.fitted.schema, self.dialect, "t"), self.dialect.most_nested
        text: dict[int, str] = {}
        whole: dict[int, str] = {}
        for node in range(tree.node_count - 1, -1, -1):  # children come after their parents
            left, right = int(tree.children_left[node]), int(tree.children_right[node])
            if left == NO_CHILD:
                text[node] = str(node)
                continue
            condition = conditions.goes_left(tree.split(node))
            text[node] = f"CASE WHEN {condition} THEN {text.pop(left)} ELSE {text.pop(right)} END"
            if node == 0 or (most is not None and tree.depth[node] % most == 0):
                whole[node], text[node] = text[node], str(node)
        return whole

    def _leaf_value(self, leaf: str, tree: TreeStore, values: FloatArray) -> str:
        return _cases(leaf, ((node, number_literal(float(values[node]), self.dialect)) for node in _leaves(tree)))

    def _output(self, expression: str, name: str) -> str:
        return f"{expression} AS {identifier(name)}"

    def _kept_columns(self, relation: str) -> list[str]:
        return self._qualified(relation, self.kept)

    @staticmethod
    def _qualified(relation: str, names: Iterable[str]) -> list[str]:
        return [f"{relation}.{identifier(name)}" for name in names]

    def _check_names(self, made: list[str]) -> None:
        """Refuse columns of one name, and names that the database would cut."""
        for one, other in combinations([*self.kept, *made], 2):
            if one.lower() == other.lower():
                raise ValueError(f"The query would have two columns of the name {one!r}: leave it out of columns.")
        for name in made:
            if len(name.encode()) > self.dialect.longest_name:
                raise ValueError(f"The name of a column is too long for the database: {short_repr(name)}.")


def _with(layers: list[str]) -> str:
    steps = ",\n".join(f"step{i} AS MATERIALIZED ({layer})" for i, layer in enumerate(layers))
    return f"WITH {steps}"


def _leaves(tree: TreeStore) -> list[int]:
    return [int(leaf) for leaf in np.flatnonzero(tree.is_leaf)]


def _cases(subject: str, pairs: Iterable[tuple[int, str]]) -> str:
    return f"CASE {subject} {' '.join(f'WHEN {key} THEN {value}' for key, value in pairs)} END"


def _node_name(node: int, value: int) -> str:
    return f"node{node}_{value}"
