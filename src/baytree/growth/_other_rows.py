"""The error for a source whose rows change during a fit."""

from __future__ import annotations


def other_rows(what: str) -> ValueError:
    """The error for a source whose rows change during a fit."""
    return ValueError(
        f"The source gave other rows when it was read again ({what}): it must give the same rows whenever it is read, "
        "so do not change it during a fit, or fit a copy of it."
    )
