"""The memory of this machine."""

from __future__ import annotations

import os


def half_of_memory() -> int:
    """Half of the memory of this machine, in bytes; 4 GB where the system does not tell."""
    if not hasattr(os, "sysconf"):
        return 2**32
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
