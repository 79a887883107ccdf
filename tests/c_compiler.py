"""The C compiler of this machine."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import pytest

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


def compiled(text, folder):
    source, library = folder / "models.c", folder / "models.so"
    source.write_text(text, "utf-8")
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))
