"""A query in the dialects that sqlglot knows."""

from __future__ import annotations

from typing import Any

from ._sql_text import DIALECTS


def translate(text: str, dialect: Any) -> str:
    """A query of DuckDB in another dialect."""
    try:
        import sqlglot  # noqa: PLC0415 - an optional dependency
    except ImportError:
        known = ", ".join(map(repr, DIALECTS))
        raise ImportError(f"Dialects other than {known} need sqlglot: pip install sqlglot.") from None
    if not isinstance(dialect, str) or dialect not in sqlglot.Dialect.classes:
        raise ValueError(f"dialect must be one of {', '.join(sorted(filter(None, sqlglot.Dialect.classes)))}.")
    query = sqlglot.parse_one(text, read="duckdb")
    for step in query.find_all(sqlglot.exp.CTE):
        step.set("materialized", None)  # not every dialect has it
    result = query.sql(dialect=dialect, unsupported_level=sqlglot.ErrorLevel.RAISE)
    if _quoted_tokens(sqlglot, text, "duckdb") != _quoted_tokens(sqlglot, result, dialect):
        raise ValueError(
            f"sqlglot cannot write a name or a category of this model for {dialect}: rename those with quotes or "
            "backslashes."
        )
    return result


def _quoted_tokens(sqlglot: Any, text: str, dialect: str) -> set[tuple[bool, str]]:
    """The names and the texts in a query as a database would read it; none where it cannot be read."""
    try:
        query = sqlglot.parse_one(text, read=dialect)
    except sqlglot.errors.SqlglotError:
        return set()
    tokens = query.find_all(sqlglot.exp.Identifier, sqlglot.exp.Literal)
    return {
        (isinstance(token, sqlglot.exp.Identifier), token.this)
        for token in tokens
        if token.is_string or not token.is_number
    }
