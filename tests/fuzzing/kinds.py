"""The kinds of trial. A new one is a function of a `Case` in a file of this folder, and a line here.

It returns what was tried, which is counted, raises `Skipped` where it cannot be tried here, and anything else where
something is wrong. It takes everything random from the case, so that its seed brings it back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzzing import command_line, exports, files, models, page, sources
from tests.fuzzing.case import Case


@dataclass(frozen=True)
class Kind:
    """A kind of trial, and of how many seeds one gets it: those that take long are rarer."""

    name: str
    check: Callable[[Case], str]
    every: int = 1


KINDS = (
    Kind("oracle", models.check_oracle),
    Kind("predictions", models.check_predictions),
    Kind("order", models.check_order_of_rows),
    Kind("weights", models.check_weights),
    Kind("files", files.check_files),
    Kind("sequence", models.check_sequence),
    Kind("damaged", files.check_damaged_files),
    Kind("exports", exports.check_exports),
    Kind("boundaries", exports.check_boundaries),
    Kind("forest files", files.check_forest_files),
    Kind("odd csv", command_line.check_odd_files),
    Kind("broken csv", command_line.check_broken_files),
    Kind("sources", sources.check_sources),
    Kind("page", page.check_page, every=10),
)
