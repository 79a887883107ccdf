"""What kind of file some bytes are from, by a look at the first of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DELIMITERS = (",", ";", "\t", "|")
# What means missing in a text file; options may add to it.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")
_NOT_TABLES = {
    b"PK": "a workbook or another archive: save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old workbook: save the sheet as CSV",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF file",
    b"\x1f\x8b": "compressed: give it a name that ends in .gz",
}


@dataclass(frozen=True)
class Reading:
    """What users say of a text file; None: it is found out."""

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def means_missing(self) -> list[str]:
        """All texts that mean a missing value."""
        return [*MISSING, *self.missing]


@dataclass(frozen=True)
class Dialect:
    """How the values of a text file are written."""

    delimiter: str
    decimal: str
    encoding: str


def is_parquet(head: bytes) -> bool:
    """Whether a file that begins so is a Parquet file."""
    return head.startswith(b"PAR1")


def sniff(head: bytes, reading: Reading, name: str) -> Dialect:
    """The dialect of a text file; refuses what is none."""
    if not head.strip():
        raise ValueError(f"{name} is empty.")
    encoding = reading.encoding or ("utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8")
    for start, what in _NOT_TABLES.items():
        if head.startswith(start):
            raise ValueError(f"{name} is not a table of text: it is {what}.")
    if b"\0" in head and "16" not in encoding:
        raise ValueError(f"{name} is not a table of text: it holds binary data. CSV, TSV and Parquet files are read.")
    try:
        text = head.decode(encoding, errors="replace")
    except LookupError:
        raise ValueError(f"--encoding {encoding!r} is not known: utf-8, cp1252 and latin-1 are.") from None
    delimiter = _delimiter(text, reading)
    return Dialect(delimiter, _decimal(text, delimiter), encoding)


def _delimiter(text: str, reading: Reading) -> str:
    if reading.delimiter is not None:
        delimiter = reading.delimiter.replace("\\t", "\t")
        if len(delimiter) != 1:
            raise ValueError(f"--delimiter must be one character; got {reading.delimiter!r}.")
        return delimiter
    header = re.sub(r'"[^"]*"', "", text.split("\n", 1)[0])
    return max(_DELIMITERS, key=header.count)  # the first of equals, so a comma where there is none


def _decimal(text: str, delimiter: str) -> str:
    """A comma where values are separated otherwise and numbers are written with one."""
    if delimiter == ",":
        return "."
    separator = re.escape(delimiter)
    comma, point = (len(re.findall(rf"{separator}-?\d+{mark}\d+(?={separator}|\s)", text)) for mark in (",", r"\."))
    return "," if comma > point else "."
