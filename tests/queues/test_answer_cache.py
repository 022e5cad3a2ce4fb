"""Answers are kept for some seconds and within a bound that counts the memory of the entries."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import pytest

from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.queues import answer_cache
from sandbox_service.queues.answer_cache import ENTRY_BYTES, AnswerCache


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(answer_cache, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def answer(size: int = 10) -> EncodedGrade:
    return EncodedGrade(b"x" * size)


def test_an_answer_is_kept_for_its_time(clock: SimpleNamespace) -> None:
    cache = AnswerCache(10.0)
    cache.put("a", b"digest", answer())
    clock.now += 10.0
    assert cache.get("a") is not None
    assert cache.digest("a") == b"digest"
    clock.now += 0.1
    assert cache.get("a") is None


def test_old_answers_leave_although_no_caller_asks_for_them(clock: SimpleNamespace) -> None:
    cache = AnswerCache(10.0)
    for number in range(5):
        cache.put(str(number), b"", answer())
    clock.now += 10.1
    cache.put("new", b"", answer())
    assert cache.bytes == ENTRY_BYTES + 10


def test_the_least_recently_used_answers_leave_first() -> None:
    cache = AnswerCache(10.0, most_bytes=3 * (ENTRY_BYTES + 10))
    for name in ("a", "b", "c"):
        cache.put(name, b"", answer())
    assert cache.get("a") is not None
    cache.put("d", b"", answer())
    assert [cache.get(name) is not None for name in ("a", "b", "c", "d")] == [True, False, True, True]


def test_the_bytes_are_those_of_the_entries() -> None:
    cache = AnswerCache(10.0, most_bytes=2000)
    for name in ("a", "a", "b", "b"):
        cache.put(name, b"", answer(100))
    assert cache.bytes == 2 * (ENTRY_BYTES + 100)
    cache.drop("a")
    cache.drop("missing")
    assert cache.bytes == ENTRY_BYTES + 100
    cache.put("large", b"", answer(5000))
    assert cache.bytes == ENTRY_BYTES + 5000
    assert cache.get("b") is None


def test_nothing_is_kept_for_no_time() -> None:
    cache = AnswerCache(0.0)
    cache.put("a", b"", answer())
    assert cache.get("a") is None
    assert cache.bytes == 0


def test_an_entry_takes_about_what_is_counted(clock: SimpleNamespace) -> None:
    count, size = 20_000, 1000
    cache = AnswerCache(10.0)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(count):
            cache.put(f"{number:032x}", number.to_bytes(32, "big"), answer(size))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.8 < cache.bytes / (after - before) < 1.25
