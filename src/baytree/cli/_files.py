"""Files and standard input: streams of bytes, and how the text in them is written."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

_HEAD_BYTES = 2**16
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
class TextFormat:
    """The format of a text file that the user gave; None where it is to be detected."""

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """All texts that mean a missing value."""
        return (*MISSING, *self.missing)


@dataclass(frozen=True)
class Dialect:
    """What separates the values of a text file, and its encoding."""

    delimiter: str
    encoding: str


def is_parquet(head: bytes) -> bool:
    """Whether a file that begins so is a Parquet file."""
    return head.startswith(b"PAR1")


def detect_dialect(head: bytes, text_format: TextFormat, name: str) -> Dialect:
    """The dialect of a text file, by its first bytes; refuses a file that is no table of text."""
    if not head.strip():
        raise ValueError(f"{name} is empty.")
    encoding = text_format.encoding or ("utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8")
    for start, what in _NOT_TABLES.items():
        if head.startswith(start):
            raise ValueError(f"{name} is not a table of text: it is {what}.")
    if b"\0" in head and "16" not in encoding:
        raise ValueError(f"{name} is not a table of text: it holds binary data. CSV, TSV and Parquet files are read.")
    try:
        text = head.decode(encoding, errors="replace")
    except LookupError:
        raise ValueError(f"--encoding {encoding!r} is not known: utf-8, cp1252 and latin-1 are.") from None
    return Dialect(_delimiter(text, text_format), encoding)


def _delimiter(text: str, text_format: TextFormat) -> str:
    if text_format.delimiter is not None:
        delimiter = text_format.delimiter.replace("\\t", "\t")
        if len(delimiter) != 1:
            raise ValueError(f"--delimiter must be one character; got {text_format.delimiter!r}.")
        return delimiter
    header = re.sub(r'"[^"]*"', "", text.split("\n", 1)[0])
    return max(_DELIMITERS, key=header.count)  # the first of equals, so a comma where there is none


class Stream(io.RawIOBase):
    """A stream of bytes whose first ones are known before it is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.head = self._left = stream.read(_HEAD_BYTES)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the rest of the first bytes, then the others."""
        if not self._left:
            self._left = self._stream.read(len(buffer))
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def as_utf8(stream: Stream, encoding: str) -> IO[bytes]:
    buffered = io.BufferedReader(stream)
    return buffered if encoding == "utf-8" else codecs.EncodedFile(buffered, "utf-8", encoding)


@contextmanager
def open_stream(path: str) -> Iterator[Stream]:
    """A file, unpacked where its name ends in .gz, or standard input for ``-``."""
    if path == "-":
        yield Stream(sys.stdin.buffer)
        return
    check_exists(path)
    with gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb") as file:
        try:
            stream = Stream(file)  # type: ignore[arg-type]
        except gzip.BadGzipFile:
            raise ValueError(f"{source_text(path)} is not compressed, though its name ends in .gz.") from None
        yield stream


def check_exists(path: str) -> None:
    """Refuse a file that is not there, with the name that may have been meant."""
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{source_text(path)} is a folder, not a file.")
    if not file.exists():
        siblings = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        near = get_close_matches(file.name, siblings, 1)
        hint = f": did you mean {str(file.with_name(near[0]))!r}?" if near else "."
        raise ValueError(f"{source_text(path)} does not exist{hint}")


def source_text(path: str) -> str:
    """A file in a sentence."""
    return "Standard input" if path == "-" else f"The file {path!r}"
