"""Packing: the codes of a row as bits of a few integers, which are fast to write and to read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from .._typing import AnyArray
from ._sql_dialects import dialect_of

_MAX_BITS = 62
_FLOAT_BITS = 52  # float64 holds such integers exactly, so that codes can be packed before they are cast


@dataclass(frozen=True)
class Packing:
    """The word, which is an integer of 62 bits, and the bits in it that hold the codes of each column."""

    word: tuple[int, ...]
    shift: tuple[int, ...]
    bits: tuple[int, ...]
    small: str  # type of codes of eight bits

    @classmethod
    def of(cls, n_codes: list[int], backend: Any) -> Packing:
        """Pack columns of so many codes, as many of them into each word as fit."""
        word, shift, bits = [], [], [max(1, (n - 1).bit_length()) for n in n_codes]
        current, used = 0, 0
        for n in bits:
            if used + n > _MAX_BITS:
                current, used = current + 1, 0
            word.append(current)
            shift.append(used)
            used += n
        return cls(tuple(word), tuple(shift), tuple(bits), dialect_of(backend).small_code)

    @property
    def names(self) -> list[str]:
        """The names of the words as columns of a table."""
        return [f"p{k}" for k in range(self.word[-1] + 1)]

    def pack(self, codes: list[Any]) -> dict[str, Any]:
        """Expressions for the words, given those for the codes of each column."""
        result = {}
        for word, name in enumerate(self.names):
            columns = [i for i, of in enumerate(self.word) if of == word]
            low = [i for i in columns if self.shift[i] + self.bits[i] <= _FLOAT_BITS]
            result[name] = self._integer(codes, low, 0)
            if len(low) < len(columns):
                first = self.shift[columns[len(low)]]
                result[name] += self._integer(codes, columns[len(low) :], first) * 2**first
        return result

    def _integer(self, codes: list[Any], columns: list[int], first: int) -> Any:
        """The codes of some columns of a word, without the `first` bits below them."""
        shifted = [codes[i].cast("float64") * float(2 ** (self.shift[i] - first)) for i in columns]
        return reduce(add, shifted).cast("int64")

    def mask(self, column: int) -> int:
        """The bits that hold the codes of a column."""
        return (2 ** self.bits[column] - 1) << self.shift[column]

    def code(self, rows: Any, column: int) -> Any:
        """An expression for the codes of a column."""
        shift, bits = self.shift[column], self.bits[column]
        code = (rows[self.names[self.word[column]]] >> shift) & (2**bits - 1)
        return code.cast(self.small if bits <= 8 else "int16" if bits < 16 else "int32")

    def read(self, words: dict[str, AnyArray], column: int) -> AnyArray:
        """The codes of a column in fetched words."""
        return (words[self.names[self.word[column]]] >> self.shift[column]) & (2 ** self.bits[column] - 1)
