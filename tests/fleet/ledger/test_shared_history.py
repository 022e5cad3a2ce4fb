"""The recent submissions that API processes share: seen by all, kept for a new process, and bounded."""

from __future__ import annotations

import asyncio
import time

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.observe import shared_history
from sandbox_service.observe.events import EventBatcher
from sandbox_service.observe.history import History
from sandbox_service.observe.shared_history import PART_RECORDS, SharedHistory, shared
from sandbox_service.queues.observers import GradedEvent
from tests.pages.world import grade, job

pytestmark = pytest.mark.anyio


class Process:
    """The history of an API process and its end of the stream."""

    def __init__(self, ledger: Ledger, parts: int = 100) -> None:
        self.events = EventBatcher()
        self.history = History(self.events)
        self.sharing = SharedHistory(ledger, self.history, parts)

    def answered(self, name: str, verdict: str = "AC", code: str = "print()") -> None:
        body = grade(name, verdict).model_dump_json().encode()
        given = job(name, code=code, labels={"step": "4"})
        self.events.add(GradedEvent(given, EncodedGrade(body), time.time(), 0.0))

    async def seen(self) -> list[str]:
        self.sharing._read_at = -shared_history.REFRESH_SECONDS
        await self.history.refresh()
        return [record.id for record in self.history.records()]


async def test_all_processes_see_what_one_has_answered(ledger: Ledger) -> None:
    first, second = Process(ledger), Process(ledger)
    first.answered("a")
    second.answered("b", "WA")
    for each in (first, second):
        await each.sharing.flush()
    assert sorted(await first.seen()) == sorted(await second.seen()) == ["a", "b"]
    [theirs] = [record for record in second.history.records() if record.id == "a"]
    [ours] = [record for record in first.history.records() if record.id == "a"]
    assert second.history.find(ours.key) is theirs, "a link is valid everywhere"
    assert (theirs.program, theirs.answer, theirs.labels) == (ours.program, ours.answer, {"step": "4"})
    assert (theirs.verdict, theirs.suite, theirs.tests, theirs.when) == ("AC", ours.suite, 1, ours.when)
    assert await second.seen() == await Process(ledger).seen(), "a new process reads what was answered before it"


async def test_the_stream_is_bounded(ledger: Ledger, redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_history, "PART_RECORDS", 1)
    one = Process(ledger, parts=10)
    for number in range(300):
        one.answered(f"{number}")
    await one.sharing.flush()
    assert 10 <= await redis.xlen("test:recent") < 200
    assert "299" in await Process(ledger).seen()


async def test_many_go_in_one_part_and_a_large_program_stays_at_home(ledger: Ledger, redis: Redis) -> None:
    one, other = Process(ledger), Process(ledger)
    for number in range(PART_RECORDS):
        one.answered(f"{number}")
    one.answered("large", code="x" * shared_history.WHOLE_BYTES)
    await one.sharing.flush()
    assert await redis.xlen("test:recent") == 2
    assert len(await other.seen()) == PART_RECORDS + 1
    [large] = [record for record in other.history.records() if record.id == "large"]
    assert (large.program, large.answer, large.verdict) == (b"", b"", "AC")


async def test_what_is_damaged_or_refused_loses_its_part_only(ledger: Ledger, redis: Redis) -> None:
    one, other = Process(ledger), Process(ledger)
    for part in (b"", b"nonsense", shared_history.pack([])[:-1]):
        await redis.xadd("test:recent", {"part": part})
    await redis.xadd("test:recent", {"else": b"x"})
    one.answered("a")
    await one.sharing.flush()
    assert await other.seen() == ["a"]
    await redis.delete("test:recent")
    await redis.set("test:recent", "of another type")
    one.answered("b")
    await one.sharing.flush()
    assert sorted(await one.seen()) == ["a", "b"], "what it has answered itself is still seen"
    assert await other.seen() == ["a"]


async def test_what_was_answered_is_shared_at_the_end_and_nothing_where_it_is_off(ledger: Ledger, redis: Redis) -> None:
    for parts, seen in ((0, []), (10, ["last"])):
        events = EventBatcher()
        async with shared(ledger, History(events), parts):
            body = grade("last").model_dump_json().encode()
            events.add(GradedEvent(job("last"), EncodedGrade(body), time.time(), 0.0))
            await asyncio.sleep(0)
        assert await Process(ledger).seen() == seen


async def test_flips_are_shared_and_counted_once(ledger: Ledger) -> None:
    first, second = Process(ledger), Process(ledger)
    first.answered("a")
    first.history.flipped("sha256:of-a")
    await first.sharing.flush()
    for _ in range(2):
        assert await second.seen() == await first.seen() == ["a"]
    assert first.history.flips == second.history.flips == {"sha256:of-a": 1}


async def test_a_record_of_a_newer_version_is_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Process(ledger), Process(ledger)
    row = shared_history._row
    monkeypatch.setattr(shared_history, "_row", lambda record: row(record) | {"of_later": 1})
    one.answered("a")
    await one.sharing.flush()
    assert await other.seen() == ["a"]
