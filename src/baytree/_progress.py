"""Progress of long work: one line on standard error that is updated while the work lasts."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import NamedTuple, Self

_QUIET = 1.0  # seconds of work before the first line
_PAUSE = 0.5  # between two lines on a terminal
_PAUSE_IN_FILES = 10.0  # where every line stays, unless another phase has begun
_FAST = 1000.0  # from so many a second on, the speed is worth telling
_clock = time.monotonic


class _Phase(NamedTuple):
    """The current phase of the work: its start, and its progress at the last update."""

    text: str
    total: float | None
    before: float
    since: float
    done: float
    updated: float

    @property
    def speed(self) -> float:
        """The speed per second; 0 before anything was measured."""
        seconds = self.updated - self.since
        return (self.done - self.before) / seconds if seconds > 0 else 0.0

    def seconds_left(self, now: float) -> float | None:
        """The time left at the measured speed; None where that is not known, or already over."""
        if self.total is None or self.speed <= 0:
            return None
        left = (self.total - self.done) / self.speed - (now - self.updated)
        return left if left > 0 else None


class Progress:
    """Shows what is being done, how much of it is done, and about how long the rest takes.

    A thread writes the lines, so the line also moves during a long call of the compiled core, and an update costs next
    to nothing. Use it as a context manager, or call `close`. The rest is estimated from the work that was measured in
    the present phase alone; without such work there is no estimate.

    Parameters
    ----------
    text
        What is being done.
    total
        The total; None where it is not known.
    unit
        What is counted, such as "rows". Where it is named and fast, the line says how many a second.
    done
        What was done before this run. It is counted, but tells nothing about the speed.
    show
        True: wherever standard error goes, and the last line stays (what `verbose` asks for). None: on terminals and in
        notebooks alone, and the line is removed at the end. False: never.
    """

    def __init__(
        self, text: str, total: float | None = None, *, unit: str = "", done: float = 0, show: bool | None = None
    ) -> None:
        self._stream = None if show is False else sys.stderr
        self._rewrites = _rewrites(self._stream)
        if show is None and not self._rewrites:
            self._stream = None
        self._last_line_stays = show is True
        self._width = 0  # of the line that is on the terminal
        self._begun = _clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_moving, name="baytree progress", daemon=True)
        self._unit = f" {unit}" if unit else ""
        self.begin(text, total, done=done)
        if self._stream is not None:
            try:
                self._thread.start()
            except RuntimeError:  # where there are no threads, the last line must do
                self._ended.set()

    def begin(self, text: str, total: float | None = None, *, done: float = 0) -> None:
        """Begin a phase, which is counted and timed by itself."""
        now = _clock()
        self._phase = _Phase(text, total, before=done, since=now, done=done, updated=now)

    def repeat(self, total: float | None) -> None:
        """Begin the phase again: another pass over the same rows, whose number may be known by now."""
        self.begin(self._phase.text, total)

    def update(self, done: float, text: str | None = None) -> None:
        """Note how much of the phase is done."""
        phase = self._phase
        self._phase = phase._replace(text=phase.text if text is None else text, done=done, updated=_clock())

    def close(self) -> None:
        """End the line: it stays if it was asked for, and is removed otherwise."""
        if self._thread.is_alive():
            self._ended.set()
            self._thread.join()
        if self._last_line_stays:
            self._write(self._line(at_end=True), "\n")
        elif self._width:
            self._write("", "\r")
        self._stream = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep_moving(self) -> None:
        pause, text, written = _QUIET, "", 0.0
        while not self._ended.wait(pause):
            pause, now = _PAUSE, _clock()
            if self._rewrites or self._phase.text != text or now - written >= _PAUSE_IN_FILES:
                text, written = self._phase.text, now
                self._write(self._line(), "" if self._rewrites else "\n")

    def _line(self, *, at_end: bool = False) -> str:
        phase, now = self._phase, _clock()
        of_total = "" if phase.total is None else f" of {phase.total:,.0f}"
        count = f": {phase.done:,.0f}{of_total}{self._unit}" if phase.done or of_total else ""
        speed = f", {phase.speed:,.0f}{self._unit} a second" if self._unit and phase.speed >= _FAST else ""
        left = None if at_end else phase.seconds_left(now)
        to_go = "" if left is None else f", about {duration_text(left)} to go"
        return f"{phase.text}{count}{speed}, {duration_text(now - self._begun)} so far{to_go}"

    def _write(self, line: str, end: str) -> None:
        if self._stream is None:
            return
        if self._rewrites:
            line = line[: shutil.get_terminal_size().columns - 1]  # a line that wraps could not be written over
            line, self._width = f"\r{line:<{self._width}}", len(line)
        try:
            self._stream.write(line + end)
            self._stream.flush()
        except (OSError, ValueError):  # a closed stream is no reason to stop the work
            self._stream = None


def duration_text(seconds: float) -> str:
    """A time for reading: 45 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _rewrites(stream: object) -> bool:
    """Whether a line can be written over: on a terminal, and in a notebook, which is no terminal to Python."""
    isatty = getattr(stream, "isatty", None)
    return isatty is not None and (bool(isatty()) or type(stream).__module__.startswith("ipykernel."))
