"""Output of commands: a file, compressed where its name ends in .gz, a pipe or a device."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ..persistence import open_output


@contextmanager
def open_out(out: str) -> Iterator[IO[bytes]]:
    """What ``--out`` names; a file is there only once all is written. The same content gives the same bytes."""
    with open_output(out) as file:
        if not out.endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


def suffix_of(out: str) -> str:
    """What the name of a file ends in, without .gz: .csv, .parquet."""
    name = out.removesuffix(".gz").rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name else ""
