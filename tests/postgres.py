"""A PostgreSQL server of our own, from the binaries that are installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl; None: there is no PostgreSQL."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).resolve().parent


@contextmanager
def server():
    """A server on a free local port, with its files in a temporary folder; gives the port."""
    folder = Path(tempfile.mkdtemp(prefix="baytree-postgres-"))
    user = {}
    if os.getuid() == 0:  # which PostgreSQL does not run as
        shutil.chown(folder, "postgres", "postgres")
        user = {"user": "postgres", "group": "postgres"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    control, data = str(binaries() / "pg_ctl"), str(folder / "data")

    def run(*command, **more):
        subprocess.run(command, check=True, cwd=folder, **more, **user)

    run(str(binaries() / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", capture_output=True)
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run(control, "-D", data, "-o", options, "-w", "start", **quiet)
    try:
        yield port
    finally:
        run(control, "-D", data, "-m", "immediate", "stop", **quiet)
        shutil.rmtree(folder, ignore_errors=True)
