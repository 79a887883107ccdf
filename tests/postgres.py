"""A PostgreSQL server of our own, in a temporary folder and on a free port, for as long as the tests need it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path


def find_binaries():
    """The folder with initdb and postgres; None where PostgreSQL is not installed."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return programs[-1].parent if programs else Path(on_path).parent if on_path else None


@contextmanager
def postgres_server():
    """Start a server and yield how to connect to it: ``host=… port=… user=… dbname=…``."""
    folder = Path(tempfile.mkdtemp(prefix="baytree-postgres-"))
    as_other = _other_user(folder)
    data, port = folder / "data", _free_port()
    try:
        _run([str(find_binaries() / "initdb"), "-D", str(data), "-U", "tester", "-A", "trust", "-E", "UTF8"], as_other)
        options = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "fsync": "off"}
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [str(find_binaries() / "postgres"), "-D", str(data), *settings],
                stdout=log,
                stderr=log,
                cwd="/",
                **as_other,
            )
        try:
            _wait_until_ready(port, server, folder / "log")
            yield f"host=127.0.0.1 port={port} user=tester dbname=postgres"
        finally:
            server.terminate()
            server.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def as_arguments(connection):
    """Convert the connection string to arguments of Ibis."""
    given = dict(part.split("=") for part in connection.split())
    return {"database": given.pop("dbname"), "port": int(given.pop("port")), **given}


def _other_user(folder):
    """PostgreSQL does not run as root: then somebody else owns the folder and the server."""
    if os.getuid() != 0:
        return {}
    import pwd  # which Windows does not have

    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _run(command, as_other):
    subprocess.run(command, check=True, capture_output=True, cwd="/", **as_other)


def _wait_until_ready(port, server, log):
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text('utf-8')[-2000:]}")
