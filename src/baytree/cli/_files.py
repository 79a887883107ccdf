"""Files and standard input as streams of bytes."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

_HEAD = 2**16


class Source(io.RawIOBase):
    """A stream whose first bytes are known before it is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.head = self._left = stream.read(_HEAD)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """What is left of the first bytes, then the others."""
        if not self._left:
            self._left = self._stream.read(len(buffer))
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def as_utf8(source: Source, encoding: str) -> IO[bytes]:
    """The same bytes as UTF-8."""
    whole = io.BufferedReader(source)
    return whole if encoding == "utf-8" else codecs.EncodedFile(whole, "utf-8", encoding)


@contextmanager
def opened(path: str) -> Iterator[Source]:
    """A file, unpacked where its name ends in .gz, or standard input for ``-``."""
    if path == "-":
        yield Source(sys.stdin.buffer)
        return
    check_exists(path)
    with gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb") as stream:
        try:
            source = Source(stream)  # type: ignore[arg-type]
        except gzip.BadGzipFile:
            raise ValueError(f"{named(path)} is not compressed, though its name ends in .gz.") from None
        yield source


def check_exists(path: str) -> None:
    """Refuse a file that is not there, with the name that may have been meant."""
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{named(path)} is a folder, not a file.")
    if not file.exists():
        beside = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        near = get_close_matches(file.name, beside, 1)
        hint = f": did you mean {str(file.with_name(near[0]))!r}?" if near else "."
        raise ValueError(f"{named(path)} does not exist{hint}")


def named(path: str) -> str:
    """A file in a sentence."""
    return "Standard input" if path == "-" else f"The file {path!r}"
