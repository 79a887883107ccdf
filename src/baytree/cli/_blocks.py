"""Text files in blocks of whole rows, in bounded memory and in time that grows with their size, whatever is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

_BLOCK_BYTES = 2**20
_LONGEST_ROW = 2**26


def read_blocks(stream: IO[bytes], delimiter: str, name: str) -> Iterator[bytes]:
    """Blocks that end where a row ends; refuses a quote that is never closed, which would take in all other rows."""
    quoted = _quoted_values(delimiter)
    pending, n_lines = b"", 0
    while content := stream.read(max(_BLOCK_BYTES, len(pending))):  # so that a long row is not looked at too often
        content = pending + content
        end, opened = _last_row_end(content, quoted)
        if not end and len(content) > _LONGEST_ROW:
            raise _too_long(content, n_lines, opened, name)
        if content[:end].strip():
            yield content[:end]
            n_lines += content.count(b"\n", 0, end)
            pending = content[end:]
        else:
            pending = content
    opened = _last_row_end(pending, quoted)[1]
    if opened is not None:
        raise _unclosed(pending, n_lines, opened, name)
    if pending.strip():
        yield pending


def _quoted_values(delimiter: str) -> re.Pattern[bytes]:
    """A quote opens a value only at its beginning, and two quotes in it are one of its characters."""
    return re.compile(rb'(?:\A|(?<=[\r\n%s]))"[^"]*+(?:""[^"]*+)*+("|\Z)' % re.escape(delimiter.encode()))


def _last_row_end(content: bytes, quoted: re.Pattern[bytes]) -> tuple[int, int | None]:
    """The place behind the last end of a row (0: there is none), and where a value begins whose quote stays open."""
    end, outside, opened = 0, 0, None
    for match in quoted.finditer(content):
        place = content.rfind(b"\n", outside, match.start())
        end = place + 1 or end
        outside = match.end()
        if not match[1]:
            opened = match.start()
    place = content.rfind(b"\n", outside) if opened is None else -1
    return place + 1 or end, opened


def _too_long(content: bytes, n_lines: int, opened: int | None, name: str) -> ValueError:
    if opened is not None:
        return _unclosed(content, n_lines, opened, name)
    return ValueError(f"{name} has a row of more than {_LONGEST_ROW // 2**20} MiB in line {n_lines + 1:,}.")


def _unclosed(content: bytes, n_lines: int, opened: int, name: str) -> ValueError:
    line = n_lines + content.count(b"\n", 0, opened) + 1
    return ValueError(f'{name} opens a quote (") in line {line:,} that is never closed: close it, or leave it out.')
