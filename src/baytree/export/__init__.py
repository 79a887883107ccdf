"""Fitted trees in other forms."""

from ._dict import from_dict as from_dict
from ._dict import to_dict as to_dict
from ._text import to_text as to_text
