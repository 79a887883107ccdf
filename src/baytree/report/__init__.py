"""A fitted model as one HTML file that works offline and in print."""

from ._write import write as write

__all__ = ["write"]
