"""The marks in the numbers of a text file: decimal points or commas, and what separates thousands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from .._words import list_text

_OTHER = {".": ",", ",": "."}


@dataclass(frozen=True)
class NumberMarks:
    """What numbers are written with; thousands need not be separated, and may not be where the mark is empty."""

    decimal: str = "."
    thousands: str = ","

    def pattern(self) -> str:
        """What a number looks like."""
        decimal, thousands = re.escape(self.decimal), re.escape(self.thousands)
        whole = rf"(\d+|[1-9]\d{{0,2}}({thousands}\d{{3}})+)"
        return rf"^\s*[+-]?({whole}({decimal}\d*)?|{decimal}\d+)([eE][+-]?\d+)?\s*$"

    def grouped(self) -> str:
        """What a number with separated thousands begins with."""
        return rf"^\s*[+-]?[1-9]\d{{0,2}}({re.escape(self.thousands)}\d{{3}})+(\D|$)"

    def plain(self, texts: pa.ChunkedArray) -> pa.ChunkedArray:
        """Texts whose numbers are written as programs write them; others stay as they are."""
        if self.thousands:
            is_grouped = pc.and_(
                pc.match_substring_regex(texts, self.grouped()), pc.match_substring_regex(texts, self.pattern())
            )
            texts = pc.if_else(is_grouped, pc.replace_substring(texts, self.thousands, ""), texts)
        return texts if self.decimal == "." else pc.replace_substring(texts, self.decimal, ".")

    def as_numbers(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column of text whose values are all numbers with separated thousands, as numbers; others as they are."""
        if not pa.types.is_string(column.type) or len(column) == column.null_count:
            return column
        if not pc.all(pc.match_substring_regex(column, self.pattern())).as_py():
            return column
        numbers = pc.cast(pc.utf8_trim_whitespace(self.plain(column)), pa.float64())
        is_whole = not pc.any(pc.match_substring_regex(column, rf"[eE{re.escape(self.decimal)}]")).as_py()
        is_exact = bool(pc.all(pc.less(pc.abs(numbers), 2.0**53)).as_py())
        return pc.cast(numbers, pa.int64()) if is_whole and is_exact else numbers


@dataclass(frozen=True)
class _Votes:
    """Columns with a mark in their numbers, each with an example: those that one reading alone makes numbers of."""

    point: dict[str, str]
    comma: dict[str, str]
    either: dict[str, str]


def find_marks(
    columns: Mapping[str, pa.ChunkedArray],
    missing: tuple[str, ...],
    decimal: str | None,
    thousands: str | None,
    name: str,
) -> tuple[NumberMarks, str]:
    """The marks of columns whose values are texts, as options or the columns say, and what there is to tell of it.

    A point is a decimal point and a comma separates thousands, or the other way round; where no column has a mark,
    thousands are not separated. Refuses columns that can be read in both ways, or are of both kinds.
    """
    if decimal is not None or thousands is not None:
        decimal = decimal or _OTHER.get(str(thousands), ".")
        return NumberMarks(decimal, _OTHER[decimal] if thousands is None else thousands), ""
    votes = _votes_of(columns, missing)
    if votes.point and votes.comma:
        raise ValueError(
            f"{name} has numbers with a decimal point ({_examples(votes.point)}) and with a decimal comma "
            f"({_examples(votes.comma)}): tell which is meant by --decimal . or --decimal ,"
        )
    if votes.either and not votes.point and not votes.comma:
        raise ValueError(
            f"{name} can be read in two ways: the mark in {_examples(votes.either)} may separate thousands or be a "
            "decimal mark. Tell which by --decimal . or --decimal ,"
        )
    if votes.comma:
        return NumberMarks(",", "."), f"numbers are read with a decimal comma, as in {_examples(votes.comma)}"
    grouped = {name: text for name, text in {**votes.point, **votes.either}.items() if "," in text}
    what = f"commas in numbers are read as separators of thousands, as in {_examples(grouped)}" if grouped else ""
    return (NumberMarks() if votes.point else NumberMarks(thousands="")), what


def has_marks(texts: pa.ChunkedArray) -> bool:
    """Whether a text has a point or a comma."""
    return bool(pc.any(pc.match_substring_regex(texts, "[.,]")).as_py())


def _votes_of(columns: Mapping[str, pa.ChunkedArray], missing: tuple[str, ...]) -> _Votes:
    point, comma = NumberMarks(".", ","), NumberMarks(",", ".")
    votes = _Votes({}, {}, {})
    for name, column in columns.items():
        present = column.filter(pc.invert(pc.is_in(column, pa.array(missing))))
        marked = present.filter(pc.match_substring_regex(present, "[.,]"))
        if len(marked) == 0:
            continue
        as_point, as_comma = (
            bool(pc.all(pc.match_substring_regex(present, marks.pattern())).as_py()) for marks in (point, comma)
        )
        if as_point and as_comma and not _has_fixed_digits(present, marked):
            votes.either[name] = _example(marked, "[.,]")
        elif as_point:
            votes.point[name] = _example(marked, ",")
        elif as_comma:
            votes.comma[name] = _example(marked, ",")
    return votes


def _has_fixed_digits(present: pa.ChunkedArray, marked: pa.ChunkedArray) -> bool:
    """Whether all numbers have three digits behind a point, as programs write them to three digits."""
    return len(marked) == len(present) and bool(pc.all(pc.match_substring(marked, ".")).as_py())


def _example(texts: pa.ChunkedArray, mark: str) -> str:
    """The first text with a mark or, where none has it, the first."""
    with_mark = texts.filter(pc.match_substring_regex(texts, mark))
    return str((with_mark if len(with_mark) else texts)[0].as_py())


def _examples(columns: dict[str, str]) -> str:
    return list_text([f"{name!r}: {text}" for name, text in columns.items()], 2)
