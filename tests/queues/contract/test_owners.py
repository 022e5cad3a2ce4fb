"""Submissions of different API keys: neither ids nor answers are shared."""

from __future__ import annotations

import pytest

from sandbox_service.errors import IdReusedError
from tests.fakes import hold, made, until
from tests.queues.world import World
from tests.queues.worlds import play


async def is_found(world: World, name: str, owner: str | None) -> bool:
    """Whether a key finds a submission."""
    ticket = await world.queue.find(name, owner)
    if ticket is not None:
        ticket.release()
    return ticket is not None


async def finders(world: World, name: str) -> list[str | None]:
    """The keys that find it, of its own, another one and an administrator's."""
    return [owner for owner in ("alice", "bob", None) if await is_found(world, name, owner)]


def test_a_pending_submission_is_found_by_its_own_key_only(kind: str) -> None:
    async def scenario(world: World) -> None:
        (await world.take(made("a", key="alice", keep=True))).release()
        await world.until_held("a")
        assert await finders(world, "a") == ["alice", None]
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
        assert await finders(world, "a") == ["alice", None]

    play(kind, scenario, hold)


def test_a_cancellation_is_found_by_its_own_key_only(kind: str) -> None:
    async def scenario(world: World) -> None:
        (await world.take(made("a", key="alice", keep=True))).release()
        await world.until_held("a")
        assert await world.queue.cancel(["a"], "alice") == 1
        assert await finders(world, "a") == ["alice", None]

    play(kind, scenario, hold)


def test_an_id_of_one_key_is_refused_to_another(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a", key="alice"))).verdict == "AC"
        with pytest.raises(IdReusedError, match="another body or API key"):
            await world.take(made("a", key="bob"))
        assert (await world.grade(made("a", key="alice"))).verdict == "AC"
        assert world.tally.begun == {"a": 1}

    play(kind, scenario)


def test_keys_share_no_cached_answers(kind: str) -> None:
    async def scenario(world: World) -> None:
        for key, name in (("alice", "1"), ("bob", "2"), ("alice", "3"), ("bob", "4")):
            assert (await world.grade(made(name, "same", key=key))).verdict == "AC"
        assert sum(world.tally.begun.values()) == 2

    play(kind, scenario, cache_seconds=60.0)
