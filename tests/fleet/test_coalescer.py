"""Concurrent submits share a ledger call, and each gets its own result or error."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from sandbox_service.errors import IdReusedError
from sandbox_service.fleet.coalescer import MOST_BYTES, Coalescer
from sandbox_service.fleet.ledger.calls import MOST_ENTRIES
from sandbox_service.fleet.ledger.entries import Entry, Taken, Terms


def entry(name: str, size: int = 10) -> Entry:
    return Entry(name, b"d" * 16, b"x" * size, Terms("", "", 1, 0.1, 1))


class Books:
    """A ledger that notes its calls, and refuses ids that begin with `bad`; with `lost` it is away."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    async def submit(self, entries: Sequence[Entry]) -> list[Taken]:
        self.calls.append([each.id for each in entries])
        await asyncio.sleep(0)
        if any(each.id.startswith("bad") for each in entries):
            raise IdReusedError("bad")
        if any(each.id.startswith("lost") for each in entries):
            raise RedisConnectionError("lost")
        return [Taken("answered", each.id.encode()) for each in entries]


def run(books: Books, *requests: Sequence[Entry]) -> list[Any]:
    """What each of several who submit at once gets."""

    async def all_of_them() -> list[Any]:
        together = Coalescer(books.submit)
        calls: list[Coroutine[Any, Any, list[Taken]]] = [together.submit(request) for request in requests]
        return list(await asyncio.gather(*calls, return_exceptions=True))

    return asyncio.run(all_of_them())


def answers(*names: str) -> list[Taken]:
    return [Taken("answered", name.encode()) for name in names]


def test_those_who_come_at_once_share_a_call_and_get_their_own() -> None:
    books = Books()
    assert run(books, [entry("a"), entry("b")], [entry("c")]) == [answers("a", "b"), answers("c")]
    assert books.calls == [["a", "b", "c"]]


def test_what_is_refused_is_refused_to_who_asked() -> None:
    books = Books()
    first, second, third = run(books, [entry("a")], [entry("bad")], [entry("c")])
    assert (first, third) == (answers("a"), answers("c"))
    assert isinstance(second, IdReusedError)
    assert books.calls == [["a", "bad", "c"], ["a"], ["bad"], ["c"]]


def test_a_redis_that_is_away_is_asked_once_for_all() -> None:
    books = Books()
    assert [str(each) for each in run(books, [entry("a")], [entry("lost")])] == ["lost", "lost"]
    assert books.calls == [["a", "lost"]]


@pytest.mark.parametrize(
    "second",
    [[entry("a")], [entry("b", MOST_BYTES)], [entry(f"{each}") for each in range(MOST_ENTRIES)]],
    ids=["the same id", "too many bytes", "too many"],
)
def test_what_does_not_fit_goes_in_the_next_call(second: list[Entry]) -> None:
    books = Books()
    run(books, [entry("a")], second)
    assert books.calls == [["a"], [each.id for each in second]]


def test_who_gives_up_before_the_call_is_not_in_it() -> None:
    books = Books()

    async def give_up() -> list[Taken]:
        together = Coalescer(books.submit)
        first = asyncio.create_task(together.submit([entry("a")]))
        second = asyncio.create_task(together.submit([entry("a")]))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(give_up()) == answers("a")
    assert ["a"] in books.calls
