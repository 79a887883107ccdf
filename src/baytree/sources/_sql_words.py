"""The codes of a row side by side in a few whole numbers: tables of them are short to write and quick to read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from .._typing import AnyArray

_MOST_BITS = 62
_FLOAT_BITS = 52  # float64 holds such a number, so that codes can be put together before they are whole numbers


@dataclass(frozen=True)
class Words:
    """By column, the word that its codes are in, and which bits of it."""

    word: tuple[int, ...]
    shift: tuple[int, ...]
    bits: tuple[int, ...]
    small: str  # the type of codes of eight bits

    @classmethod
    def of(cls, n_codes: list[int], backend: Any) -> Words:
        """Of columns with so many codes; a word takes as many columns as it has room for.

        DuckDB counts by a number of eight bits in a table of all that it can be, without a hash.
        """
        word, shift, bits = [], [], [max(1, (n - 1).bit_length()) for n in n_codes]
        at, used = 0, 0
        for own in bits:
            if used + own > _MOST_BITS:
                at, used = at + 1, 0
            word.append(at)
            shift.append(used)
            used += own
        return cls(tuple(word), tuple(shift), tuple(bits), "uint8" if backend.name == "duckdb" else "int16")

    @property
    def names(self) -> list[str]:
        """Of the words, as columns of a table."""
        return [f"p{k}" for k in range(self.word[-1] + 1)]

    def packed(self, codes: list[Any]) -> dict[str, Any]:
        """The words of expressions for the codes of each column."""
        result = {}
        for word, name in enumerate(self.names):
            own = [i for i, of in enumerate(self.word) if of == word]
            low = [i for i in own if self.shift[i] + self.bits[i] <= _FLOAT_BITS]
            result[name] = self._whole(codes, low, 0)
            if len(low) < len(own):
                first = self.shift[own[len(low)]]
                result[name] += self._whole(codes, own[len(low) :], first) * 2**first
        return result

    def _whole(self, codes: list[Any], columns: list[int], first: int) -> Any:
        """The codes of some columns of a word, whose bits begin with the first."""
        shifted = [codes[i].cast("float64") * float(2 ** (self.shift[i] - first)) for i in columns]
        return reduce(add, shifted).cast("int64")

    def mask(self, column: int) -> int:
        """The bits that the codes of a column are in."""
        return (2 ** self.bits[column] - 1) << self.shift[column]

    def code(self, rows: Any, column: int) -> Any:
        """The codes of a column."""
        shift, bits = self.shift[column], self.bits[column]
        own = (rows[self.names[self.word[column]]] >> shift) & (2**bits - 1)
        return own.cast(self.small if bits <= 8 else "int16" if bits < 16 else "int32")

    def read(self, words: dict[str, AnyArray], column: int) -> AnyArray:
        """The same of words that were fetched."""
        own = words[self.names[self.word[column]]] >> self.shift[column]
        return own & (2 ** self.bits[column] - 1)
