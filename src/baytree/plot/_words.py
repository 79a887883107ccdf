"""Text that matplotlib draws literally, fitted to the available width."""

from __future__ import annotations

from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, get_font

_ELLIPSIS = "…"
_NO_GLYPH = "□"
_HINTING = 1.04  # letters are widened to whole pixels on a screen


def escape_text(text: object) -> str:
    """A name on one line, with a box for what the font lacks; dollars are dollars, not mathematics."""
    return _escape_dollars(_clean(text))


def wrap_text(text: object, width: float, size: float, max_lines: int = 1) -> str:
    """A name in lines of at most `width` inches at a font size in points, with an ellipsis where it is cut off."""
    rest = _clean(text)
    lines: list[str] = []
    while rest and len(lines) < max_lines:
        line = _first_line(rest, width, size)
        rest = rest[len(line) :].strip()
        lines.append(line.strip())
    if rest:
        lines[-1] = _truncate(lines[-1], width, size)
    return "\n".join(map(_escape_dollars, lines))


def text_width(text: str, size: float) -> float:
    """Width in inches of the widest line of a text that `plain` or `wrapped` returned."""
    fonts = _fonts()
    lines = text.replace(r"\$", "$").split("\n")
    return _HINTING * max(sum(_advance(c, fonts) for c in line) for line in lines) * size / 72


def _first_line(text: str, width: float, size: float) -> str:
    """As many whole words as fit; of a word that is longer than a line, as many characters."""
    words, line = text.split(" "), ""
    for word in words:
        longer = f"{line} {word}" if line else word
        if text_width(longer, size) > width:
            break
        line = longer
    return line or _characters_that_fit(words[0], width, size)


def _characters_that_fit(word: str, width: float, size: float) -> str:
    n = 1
    while n < len(word) and text_width(word[: n + 1], size) <= width:
        n += 1
    return word[:n]


def _truncate(line: str, width: float, size: float) -> str:
    while len(line) > 1 and text_width(line + _ELLIPSIS, size) > width:
        line = line[:-1]
    return line + _ELLIPSIS


def _clean(text: object) -> str:
    known = _known_characters(_fonts())
    one_line = " ".join(str(text).split())
    return "".join(c if ord(c) in known else _NO_GLYPH if ord(_NO_GLYPH) in known else "?" for c in one_line)


def _escape_dollars(text: str) -> str:
    return text.replace("$", r"\$")


def _fonts() -> tuple[str, ...]:
    """The files of the fonts that text is drawn with, in the order in which a character is looked for."""
    return tuple(str(findfont(FontProperties(family=[family]))) for family in FontProperties().get_family())


@lru_cache(maxsize=8)
def _known_characters(fonts: tuple[str, ...]) -> frozenset[int]:
    return frozenset().union(*(get_font(font).get_charmap() for font in fonts))


@lru_cache(maxsize=4096)
def _advance(character: str, fonts: tuple[str, ...]) -> float:
    """Width of a character at a font size of one."""
    for path in fonts:
        font = get_font(path)
        if ord(character) in _known_characters((path,)):
            font.set_size(100, 72)
            return float(font.load_char(ord(character)).linearHoriAdvance) / 65536 / 100
    return 1.0
