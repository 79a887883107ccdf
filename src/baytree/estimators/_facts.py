"""Facts about the training data of a model: sizes, a fingerprint and the date."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib.metadata import version

from .._validation import short_repr
from ..fitted import FittedOn
from ..growth import TrainingData

_VERSION = version("baytree")


def facts_of(data: TrainingData) -> FittedOn:
    """The facts of a fit that happens now."""
    shape, weight, fingerprint = data.size()
    return FittedOn(*shape, weight, fingerprint, _date().isoformat()[:19] + "Z", _VERSION)


def _date() -> datetime:
    """Now; or, as in reproducible builds, the date that SOURCE_DATE_EPOCH gives: then equal fits write equal files."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"The environment variable SOURCE_DATE_EPOCH must be a number of seconds since 1970; got "
            f"{short_repr(given)}."
        ) from None
