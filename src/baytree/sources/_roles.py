"""The roles of the columns of a table: target, weight, exposure and event, features, and those that are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from .._validation import short_repr
from ..table import nearest_name

Name = TypeVar("Name")  # of a column; in pandas it may be a number


@dataclass(frozen=True)
class ColumnRoles:
    """The names of the columns that are not features, and those of the features where not all others are."""

    target: str
    weight: str | None = None
    exposure: str | None = None
    event: str | None = None
    features: tuple[str, ...] | None = None  # None: all columns that have no other role
    drop: tuple[str, ...] = ()

    @classmethod
    def read(cls, targets: dict[str, Any], features: Any, drop: Any) -> Self:
        """Read the arguments of a fit."""
        for name, column in targets.items():
            if not isinstance(column, str) and (column is not None or name == "target"):
                raise TypeError(f"{name} must be the name of a column; got {type(column).__name__}.")
        if features is not None and drop is not None:
            raise ValueError("features and drop are both given: give one of them.")
        roles = cls(
            **targets,
            features=None if features is None else _names("features", features),
            drop=() if drop is None else _names("drop", drop),
        )
        for parameter, names in (("features", roles.features or ()), ("drop", roles.drop)):
            for role, column in targets.items():
                if column in names:
                    raise ValueError(
                        f"{parameter} names the column {column!r}, which is the {role}: leave it out there."
                    )
        return roles

    @property
    def all(self) -> list[str]:
        """The names of the columns that are neither features nor left out, each once."""
        names = (self.target, self.weight, self.exposure, self.event)
        return list(dict.fromkeys(name for name in names if name is not None))

    @property
    def extras(self) -> dict[str, str]:
        """The column of each extra."""
        columns = {"exposure": self.exposure, "event": self.event}
        return {name: column for name, column in columns.items() if column is not None}

    def features_of(self, columns: Iterable[Any]) -> list[Any]:
        """The features of a table with these columns, in their order."""
        if self.features is not None:
            return list(self.features)
        others = {*self.all, *self.drop}
        return [column for column in columns if column not in others]

    def needed(self, columns: Sequence[Name]) -> list[Name]:
        """Those of some columns that a fit reads."""
        wanted = {*self.all, *self.features_of(columns)}
        return [column for column in columns if column in wanted]

    def without_drop(self) -> Self:
        """The roles in a table from which the columns are gone that are left out."""
        return replace(self, drop=())

    def check(self, columns: Sequence[Any]) -> None:
        """Raise an error if the table lacks a column, or has no features."""
        for name in self.all:
            if name not in columns:
                raise ValueError(f"The table has no column {name!r}: {nearest_name(name, columns)}")
        for parameter, names in (("features", self.features or ()), ("drop", self.drop)):
            for name in names:
                if name not in columns:
                    raise ValueError(
                        f"{parameter} names the column {name!r}, which the table does not have: "
                        f"{nearest_name(name, columns)}"
                    )
        if not self.features_of(columns):
            others = "the target and what belongs to it" if not self.drop else "the target and those that drop names"
            raise ValueError(f"The table has no column but {others}: there are no features.")


def _names(parameter: str, given: Any) -> tuple[str, ...]:
    """Read a list of names."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{parameter} must be a list of the names of columns; got {short_repr(given)}.")
    names = tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{parameter} must be a list of the names of columns; {short_repr(name)} is none.")
        if names.count(name) > 1:
            raise ValueError(f"{parameter} names the column {name!r} twice.")
    return names
