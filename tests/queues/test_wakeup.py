"""Wake-ups: one is enough while work waits, and the next one arrives after one whose work failed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from sandbox_service.fleet import wakeup
from sandbox_service.fleet.wakeup import JobEnqueuer, JobListener
from tests.redis_server import RedisServer, running_redis

NAME = "test"
ARRIVE_SECONDS = 10.0
CLAIMS = 20


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    """A Redis for all tests of the module."""
    with running_redis() as running:
        yield running


class Worker:
    """Fails at its first wake-up only."""

    def __init__(self, failure: Exception) -> None:
        self.received = threading.Semaphore(0)
        self._failures = [failure]

    def take(self, _: float) -> tuple[int, int, int]:
        """See JobListener."""
        self.received.release()
        if self._failures:
            raise self._failures.pop()
        return 0, 1, 1


@contextmanager
def listening(url: str, take: Callable[[float], tuple[int, int, int]]) -> Iterator[tuple[JobListener, JobEnqueuer]]:
    """Start a listener, and yield it with an enqueuer."""
    listener, enqueuer = JobListener(url, NAME, "worker", take), JobEnqueuer(url, NAME)
    listener.start()
    try:
        yield listener, enqueuer
    finally:
        listener.stop()
        listener._thread.join(ARRIVE_SECONDS)
        enqueuer.close()
        assert not listener._thread.is_alive()


def wakeups_received(url: str, failure: Exception, wakeups: int) -> None:
    """Enqueue so many wake-ups, one after the other; each must arrive."""
    worker = Worker(failure)
    with listening(url, worker.take) as (_, enqueuer):
        for _ in range(wakeups):
            assert enqueuer.enqueue_missing(1, 1, 1) == 1
            assert worker.received.acquire(timeout=ARRIVE_SECONDS)


def test_an_outage_is_logged_once_for_each_reason_and_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    worker = Worker(LookupError())
    with running_redis() as redis_server, listening(redis_server.url, worker.take) as (_, enqueuer):
        redis_server.kill()
        time.sleep(8 * wakeup.RESTART_SECONDS)
        redis_server.restart()
        deadline = time.monotonic() + ARRIVE_SECONDS
        while "wakeups_resumed" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.05)
        assert enqueuer.enqueue_missing(1, 1, 1) == 1
        assert worker.received.acquire(timeout=ARRIVE_SECONDS)
        records = [record for record in caplog.records if record.name.endswith("outage")]
    said = [(record.getMessage(), vars(record).get("reason")) for record in records]
    assert len(said) == len(set(said)), said
    assert said[0][0] == "wakeups_interrupted"
    assert said[-1][0] == "wakeups_resumed"


def test_a_defect_in_a_wakeup_is_logged_and_the_next_wakeup_arrives(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    failure = LookupError("a defect of the worker")
    wakeups_received(server.url, failure, 3)
    [logged] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert (logged.getMessage(), logged.levelno, logged.name) == (
        "wakeup_failed",
        logging.ERROR,
        "sandbox_service.fleet.wakeup",
    )
    assert logged.exc_info is not None
    assert logged.exc_info[1] is failure
    assert "a defect of the worker" in caplog.text  # with its traceback


@pytest.mark.parametrize(
    "failure", [redis.ConnectionError("gone"), redis.ResponseError("OOM"), ConnectionResetError(), TimeoutError()]
)
def test_an_error_of_redis_in_a_wakeup_is_not_logged_as_a_defect(
    server: RedisServer, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    wakeups_received(server.url, failure, 2)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_an_error_after_the_stop_of_the_listener_is_not_logged_as_a_defect(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    received, stopped = threading.Event(), threading.Event()

    def take(_: float) -> tuple[int, int, int]:
        received.set()
        assert stopped.wait(ARRIVE_SECONDS)
        raise TypeError("as a connection that is closed in the middle of a command does")

    with listening(server.url, take) as (listener, enqueuer):
        enqueuer.enqueue_missing(1, 1, 1)
        assert received.wait(ARRIVE_SECONDS)
        listener.stop()
        stopped.set()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_worker_claims_for_one_wakeup_until_nothing_waits(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wakeup, "NOTE_SECONDS", 0.02)
    done, needs = threading.Event(), iter([(1, 1, 1)] * CLAIMS)

    def take(_: float) -> tuple[int, int, int]:
        done.wait(0.05)
        try:
            return next(needs)
        except StopIteration:
            done.set()
            return 0, 1, 1

    with redis.Redis.from_url(server.url) as reader, listening(server.url, take) as (_, enqueuer):
        failed = set(reader.scan_iter("rq:job:*"))  # in other tests
        enqueuer.enqueue_missing(1, 1, 1)
        assert done.wait(ARRIVE_SECONDS)
        until(lambda: set(reader.scan_iter("rq:job:*")) <= failed)
        assert enqueuer.enqueue_missing(1, 1, 1) == 1  # no other wake-up was left
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_an_idle_worker_does_not_tell_rq_of_each_wait(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeup, "IDLE_SECONDS", 1)
    with redis.Redis.from_url(server.url) as reader:
        reader.flushall()  # wake-ups of other tests
        reader.config_resetstat()
        idle_worker_tells_nothing(server.url, reader)


def idle_worker_tells_nothing(url: str, reader: redis.Redis) -> None:
    """Listen for the time of two waits; RQ notes the worker in none of them."""
    with listening(url, lambda _: (0, 1, 1)):
        until(lambda: calls_of(reader, "blmove") >= 1)
        before = calls_of(reader, "hset")
        until(lambda: calls_of(reader, "blmove") >= 3)
        assert calls_of(reader, "hset") == before


def until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + ARRIVE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def calls_of(reader: redis.Redis, command: str) -> int:
    """Return how often Redis was sent a command."""
    stats: Any = reader.info("commandstats")
    return int(stats.get(f"cmdstat_{command}", {"calls": 0})["calls"])
