"""Questions to DuckDB: answers come in turn, and whatever ends the reading ends the statement that is running."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import partial

import ibis
import pytest

from baytree.sources._sql_ask import answer, answers

# A sum, so that a slow machine does not run out of memory meanwhile.
ENDLESS = (
    "CREATE TEMPORARY TABLE {} AS "
    "SELECT sum(a.range * b.range % 7) AS x FROM range(10000000) AS a, range(10000000) AS b"
)


@pytest.fixture
def backend():
    return ibis.duckdb.connect()


@pytest.fixture
def ctrl_c_is_heard():
    """Whatever the test runner made of it: in the background the signal may be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_answers_come_in_turn_and_the_next_is_on_its_way(backend):
    begun, read = threading.Event(), []

    def second():
        begun.set()
        return 2

    for found in answers(backend, [lambda: 1, second, lambda: 3]):
        read.append(found)
        assert begun.wait(10)
    assert read == [1, 2, 3]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("to", ["the process", "another thread"])
@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_ends_a_statement(backend, to):
    def press():
        time.sleep(0.5)
        if to == "the process":
            os.kill(os.getpid(), signal.SIGINT)
        else:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    pressed = threading.Thread(target=press)
    pressed.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        answer(backend, partial(backend.raw_sql, ENDLESS.format("one")))
    pressed.join()
    assert time.perf_counter() - start < 20  # hours, if it went on
    assert answer(backend, lambda: backend.raw_sql("SELECT 7").fetchone()) == (7,)


def test_an_error_ends_what_was_asked_next(backend):
    def wrong():
        time.sleep(0.2)
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        list(answers(backend, [lambda: 1, wrong, partial(backend.raw_sql, ENDLESS.format("two"))]))
    assert answer(backend, lambda: backend.raw_sql("SELECT 7").fetchone()) == (7,)


def test_who_stops_reading_ends_what_was_asked_next(backend):
    found = answers(backend, [lambda: 1, partial(backend.raw_sql, ENDLESS.format("three"))])
    assert next(found) == 1
    found.close()
    assert answer(backend, lambda: backend.raw_sql("SELECT 7").fetchone()) == (7,)
