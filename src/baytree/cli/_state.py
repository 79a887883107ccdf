"""What commands tell the one who runs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class State:
    """Whether errors come with their traceback, and what to say after Ctrl-C."""

    debug: bool = False
    when_stopped: str = "Nothing was written."
