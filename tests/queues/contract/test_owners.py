"""Submissions of different API keys: neither ids nor answers are shared."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sandbox_service.bounds.api_keys import KeyTerms
from sandbox_service.errors import IdReusedError, OverQuotaError
from tests.fakes import hold, made, until
from tests.queues.world import World
from tests.queues.worlds import play

ALL = ("root", "alice", "bob", "")  # the keys whose submissions an administrator sees


async def is_found(world: World, name: str, keys: Sequence[str]) -> bool:
    """Whether a key finds a submission."""
    ticket = await world.queue.find(name, keys)
    if ticket is not None:
        assert ticket.id == name
        ticket.release()
    return ticket is not None


async def finders(world: World, name: str) -> list[str]:
    """The keys that find it, of its own, another one, none and an administrator's."""
    askers = {"alice": ("alice",), "bob": ("bob",), "none": ("",), "admin": ALL}
    return [asker for asker, keys in askers.items() if await is_found(world, name, keys)]


def test_a_pending_submission_is_found_by_its_own_key_only(kind: str) -> None:
    async def scenario(world: World) -> None:
        (await world.take(made("a", key="alice", keep=True))).release()
        await world.until_held("a")
        assert await finders(world, "a") == ["alice", "admin"]
        world.finish("a")
        await world.until_depth(0)

    play(kind, scenario, hold)


@pytest.mark.parametrize("answer", ["AC", "IE"])
def test_an_answer_is_found_by_its_own_key_only(kind: str, answer: str) -> None:
    async def scenario(world: World) -> None:
        await world.take(made("a", key="alice", keep=True))
        await until(lambda: world.holder("a") is not None)
        world.finish("a", answer)
        await world.until_depth(0)
        assert await finders(world, "a") == ["alice", "admin"]
        found = await world.queue.find("a", ("alice",))
        assert found is not None
        assert (await world.answer(found)).id == "a"

    play(kind, scenario, hold)


def test_a_cancellation_is_found_by_its_own_key_only(kind: str) -> None:
    async def scenario(world: World) -> None:
        (await world.take(made("a", key="alice", keep=True))).release()
        await world.until_held("a")
        assert await world.queue.cancel(["a"], ("bob",)) == 0
        assert await world.queue.cancel(["a"]) == 0
        assert await world.queue.cancel(["a"], ("alice",)) == 1
        assert await finders(world, "a") == ["alice", "admin"]

    play(kind, scenario, hold)


def test_keys_have_ids_of_their_own(kind: str) -> None:
    """One key's id is free to another: it is neither joined nor refused, before and after it is answered."""

    async def scenario(world: World) -> None:
        first = await world.take(made("a", key="alice"))
        await world.until_held("a")
        second = await world.take(made("a", "b", key="bob"))
        third = await world.take(made("a", "c"))
        for code, ticket in (("a", first), ("b", second), ("c", third)):
            await world.until_held(code)
            world.finish(code)
            assert (await world.answer(ticket)).id == "a"
        assert world.tally.begun == {"a": 1, "b": 1, "c": 1}
        assert (await world.grade(made("a", "b", key="bob"))).id == "a"
        with pytest.raises(IdReusedError, match=r"^id 'a' was used with another body; use a new id$"):
            await world.take(made("a", "another", key="bob"))
        assert world.tally.begun == {"a": 1, "b": 1, "c": 1}

    play(kind, scenario, hold)


def test_a_key_cancels_its_own_by_label(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = [
            await world.take(made("a", code, key=code, labels={"run": "7"})) for code in ("alice", "bob", "carol")
        ]
        await world.until_held("alice")
        assert await world.queue.cancel_labelled("run", "7", ("bob",)) == 1
        assert (await world.answer(tickets[1])).failure_kind == "cancelled"
        assert await world.queue.cancel_labelled("run", "7", ("root", "alice", "bob", "carol", "")) == 2
        grades = [await world.answer(ticket) for ticket in tickets]
        assert [(grade.id, grade.failure_kind) for grade in grades] == [("a", "cancelled")] * 3

    play(kind, scenario, hold)


def test_the_id_of_another_key_lifts_no_quota(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a", key="alice"))).verdict == "AC"
        assert (await world.grade(made("b", key="bob"))).verdict == "AC"
        with pytest.raises(OverQuotaError):
            await world.take(made("a", key="bob"))
        assert (await world.grade(made("b", key="bob"))).verdict == "AC"

    play(kind, scenario, terms={"bob": KeyTerms("", submissions=1.0)})


def test_keys_share_no_cached_answers(kind: str) -> None:
    async def scenario(world: World) -> None:
        for key, name in (("alice", "1"), ("bob", "2"), ("alice", "3"), ("bob", "4")):
            assert (await world.grade(made(name, "same", key=key))).verdict == "AC"
        assert sum(world.tally.begun.values()) == 2

    play(kind, scenario, cache_seconds=60.0)
