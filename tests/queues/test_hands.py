"""What becomes of a call whose work fails: the worker that heard it hears the next one, and only defects are logged."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import redis

from sandbox_service.hands import Caller, Pump
from tests.redis_server import RedisServer, running_redis

NAME = "test"
HEAR_SECONDS = 10.0


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    """A Redis that nobody harms."""
    with running_redis() as running:
        yield running


class Worker:
    """Fails on its first call, and not on the others."""

    def __init__(self, failure: Exception) -> None:
        self.heard = threading.Semaphore(0)
        self._failures = [failure]

    def take(self) -> tuple[int, int, int]:
        """See hands.Pump."""
        self.heard.release()
        if self._failures:
            raise self._failures.pop()
        return 0, 1, 1


@contextmanager
def listening(url: str, take: Callable[[], tuple[int, int, int]]) -> Iterator[tuple[Pump, Caller]]:
    """Somebody who hears calls, and somebody who makes them."""
    pump, caller = Pump(url, NAME, "worker", take), Caller(url, NAME)
    pump.start()
    try:
        yield pump, caller
    finally:
        pump.stop()
        pump._thread.join(HEAR_SECONDS)
        caller.close()
        assert not pump._thread.is_alive()


def calls_heard(url: str, failure: Exception, calls: int) -> None:
    """Make so many calls, one after the other; each must be heard."""
    worker = Worker(failure)
    with listening(url, worker.take) as (_, caller):
        for _ in range(calls):
            assert caller.call(1, 1, 1) == 1
            assert worker.heard.acquire(timeout=HEAR_SECONDS)


def test_what_fails_on_a_call_is_logged_and_the_next_call_is_heard(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    failure = LookupError("a defect of the worker")
    calls_heard(server.url, failure, 3)
    [said] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert (said.getMessage(), said.levelno, said.name) == ("call_failed", logging.ERROR, "sandbox_service.hands")
    assert said.exc_info is not None
    assert said.exc_info[1] is failure
    assert "a defect of the worker" in caplog.text  # with its traceback


@pytest.mark.parametrize(
    "failure", [redis.ConnectionError("gone"), redis.ResponseError("OOM"), ConnectionResetError(), TimeoutError()]
)
def test_that_redis_is_away_is_no_failure_of_the_call(
    server: RedisServer, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    calls_heard(server.url, failure, 2)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_what_fails_because_the_pump_was_stopped_is_no_failure_of_the_call(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    heard, stopped = threading.Event(), threading.Event()

    def take() -> tuple[int, int, int]:
        heard.set()
        assert stopped.wait(HEAR_SECONDS)
        raise TypeError("as a connection that is closed in the middle of a command does")

    with listening(server.url, take) as (pump, caller):
        caller.call(1, 1, 1)
        assert heard.wait(HEAR_SECONDS)
        pump.stop()
        stopped.set()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
