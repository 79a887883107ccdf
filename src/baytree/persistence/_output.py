"""Output files: a regular file takes its place once all of it is written; anything else is written to as it is."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_OPEN_ALREADY = ("/dev/", "/proc/")  # /dev/stdout is a name for what is open, whatever that is


def write_text(path: str | Path, text: str) -> Path:
    """Write a text file; where that fails, a file of the same name stays as it was."""
    return write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write a file; where that fails, a file of the same name stays as it was."""
    with open_output(path) as file:
        file.write(content)
    return Path(path)


@contextmanager
def open_output(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place once all is written; a failure leaves what was there.

    A symbolic link stays, and the file that it leads to is replaced. A pipe or a device is written to directly.
    """
    path = Path(path)
    old = _status(path)
    is_regular = old is None or stat.S_ISREG(old.st_mode)
    if not is_regular or str(path.absolute()).startswith(_OPEN_ALREADY):
        with path.open("wb") as file:  # which refuses a folder
            yield file
        return
    path = path.resolve()
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(f"The file {str(path)!r} is write-protected.")
    beside = path.with_name(f".baytree-{secrets.token_hex(8)}")
    # The system applies the umask; what becomes of a private file is private while it is written.
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600 if old else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            _take_over(old, beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _status(path: Path) -> os.stat_result | None:
    """What is there; None for nothing, or for a symbolic link to nothing."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _take_over(old: os.stat_result, path: Path) -> None:
    """Give a file the owner and the permissions of the one that it replaces."""
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # only the superuser gives files away
            os.chown(path, old.st_uid, old.st_gid)
    path.chmod(stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Have the new name of a file on the disk too, where the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
