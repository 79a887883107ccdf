"""Edits of a fitted tree, each with its odds, its effect on held-out loss and on decisions."""

from ._draft import Draft as Draft
from ._start import start as start

__all__ = ["Draft", "start"]
