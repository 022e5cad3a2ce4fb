"""The bounds of a queue and each client's share of them; see also the table in fairness_cases.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox_service.bounds import Bounds
from sandbox_service.errors import BadRequestError, IdReusedError, LimitTooHighError, QueueFullError
from sandbox_service.queues.base import Job
from sandbox_service.queues.estimate import FIRST_GUESS_SECONDS
from sandbox_service.schema import Limits, Sample
from tests.fakes import (
    hold,
    made,
    of_client,
    suite_of,
    until,
)
from tests.queues.world import World, ids
from tests.queues.worlds import bounded, names, play


def test_more_submissions_than_may_wait_are_refused(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in names(4):
            await world.take(made(name))
        await world.until_held("0")
        with pytest.raises(QueueFullError, match="submissions") as refusal:
            await world.take(made("more"))
        assert refusal.value.retry_after_seconds > 0
        await world.take(made("0"))  # one that is there already takes no room
        world.finish("0")
        await world.take_when_there_is_room(made("more"))
        await world.until_depth(4)

    play(kind, scenario, hold, bounds=bounded(submissions=4))


def test_a_batch_larger_than_the_queue_is_refused_for_good(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(BadRequestError, match="5 submissions"):
            await world.submit(*map(made, names(5)))
        assert len(await world.submit(*map(made, names(4)))) == 4

    play(kind, scenario, hold, bounds=bounded(submissions=4))


def test_a_batch_is_taken_as_a_whole_or_not_at_all(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit(*map(made, names(3)))
        with pytest.raises(QueueFullError):
            await world.submit(made("x"), made("y"))
        await world.settle()
        await world.until_depth(3)
        assert [await world.queue.find(name) for name in "xy"] == [None, None]
        assert ids(await world.submit(made("0"), made("x"))) == ["0", "x"]  # room for one is enough
        await world.until_depth(4)

    play(kind, scenario, hold, bounds=bounded(submissions=4))


def test_a_batch_with_one_id_that_was_used_is_not_taken_at_all(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.take(made("a"))
        with pytest.raises(IdReusedError):
            await world.submit(made("x"), made("a", "other"), made("y"))
        await world.settle()
        await world.until_depth(1)
        assert [await world.queue.find(name) for name in "xy"] == [None, None]

    play(kind, scenario, hold)


def test_who_is_refused_does_not_wait_for_what_was_there_before(kind: str) -> None:
    """Otherwise the one who was taken could go away, and it would be graded for nobody."""

    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        with pytest.raises(QueueFullError):
            await world.submit(made("a"), made("x"), made("y"))
        ticket.release()
        await world.until_depth(0)
        await until(lambda: world.slots[0].free)

    play(kind, scenario, hold, bounds=bounded(submissions=2))


def test_more_bytes_than_may_wait_are_refused_but_a_large_one_alone_is_not(kind: str) -> None:
    async def scenario(world: World) -> None:
        large = made("large", "x" * 9000)
        assert large.size > 5000
        await world.take(large)
        await world.until_held(large_code := "x" * 9000)
        with pytest.raises(QueueFullError, match="bytes"):
            await world.take(made("small"))
        world.finish(large_code)
        await world.take_when_there_is_room(made("small"))

    play(kind, scenario, hold, bounds=bounded(size=5000))


def test_more_work_than_may_wait_is_refused_though_it_be_few_submissions(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in names(2):
            await world.take(made(name, suite=suite_of(400)))
        with pytest.raises(QueueFullError, match="CPU seconds"):
            await world.take(made("more", suite=suite_of(400)))
        await world.take(made("little", suite=suite_of(100)))

    play(kind, scenario, hold, bounds=bounded(cpu_seconds=1000 * FIRST_GUESS_SECONDS))


def test_only_the_tests_of_its_sample_are_a_submission_s_work(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in names(9):
            await world.take(made(name, suite=suite_of(400), sample=Sample(count=100)))
        with pytest.raises(QueueFullError, match="CPU seconds"):
            await world.take(made("more", suite=suite_of(400), sample=Sample(count=200)))

    play(kind, scenario, hold, bounds=bounded(cpu_seconds=1000 * FIRST_GUESS_SECONDS))


def test_a_client_is_not_refused_because_another_fills_the_queue(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit(*(of_client("greedy", name) for name in names(10)))
        with pytest.raises(QueueFullError):
            await world.take(of_client("greedy", "more"))
        assert len(await world.submit(*(of_client("modest", name) for name in names(5, "m")))) == 5

    play(kind, scenario, hold, bounds=bounded(submissions=10))


def test_of_two_clients_each_may_have_half_of_what_may_wait(kind: str) -> None:
    async def scenario(world: World) -> None:
        for client in ("one", "two"):
            await world.submit(*(of_client(client, name) for name in names(4, client)))
        for client in ("one", "two"):
            await world.take(of_client(client, f"{client} more"))
            with pytest.raises(QueueFullError, match="2 clients"):
                await world.take(of_client(client, f"{client} too much"))
        await world.until_depth(10)

    play(kind, scenario, hold, bounds=bounded(submissions=10))


def test_one_who_has_nothing_waiting_may_send_one_however_small_a_share_is(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit(*(of_client("greedy", name) for name in names(3)))
        for client in names(2, "client "):
            await world.take(of_client(client, client))
            with pytest.raises(QueueFullError, match="its share"):
                await world.take(of_client(client, f"{client} again"))

    play(kind, scenario, hold, bounds=bounded(submissions=3))


def test_one_who_has_nothing_waiting_may_send_one_however_large(kind: str) -> None:
    async def scenario(world: World) -> None:
        for client, tests in (("modest", 1), ("large", 500)):
            await world.take(of_client(client, client, suite=suite_of(tests)))
            with pytest.raises(QueueFullError, match="its share"):
                await world.take(of_client(client, f"{client} again", suite=suite_of(100)))

    play(kind, scenario, hold, bounds=bounded(cpu_seconds=100 * FIRST_GUESS_SECONDS))


@pytest.mark.parametrize(
    ("bounds", "what"),
    [
        (bounded(submissions=3), "submissions"),
        (bounded(size=3 * made("0").size), "bytes"),
        (bounded(cpu_seconds=2.99 * FIRST_GUESS_SECONDS), "CPU seconds"),
    ],
    ids=["submissions", "bytes", "cpu_seconds"],
)
def test_new_names_do_not_make_room_where_all_together_have_twice_what_may_wait(
    kind: str, bounds: Bounds, what: str
) -> None:
    """Names are the clients' own: whoever made up one for each submission would have no bounds."""

    async def scenario(world: World) -> None:
        sized = [made(f"{n}", f"{n}", labels={"client": f"{n}"}) for n in range(6)]
        first, *_ = [await world.take(job) for job in sized]
        with pytest.raises(QueueFullError, match=f"{what} of others") as refusal:
            await world.take(of_client("another", "6"))
        assert refusal.value.retry_after_seconds > 0
        with pytest.raises(QueueFullError):
            await world.submit(*(of_client(f"new {name}", name) for name in names(2, "m")))
        await world.take(sized[0])  # which is there already
        await world.until_held("0")
        world.finish("0")
        await world.answer(first)
        await world.take_when_there_is_room(of_client("another", "6"))

    play(kind, scenario, hold, bounds=bounds)


def test_a_batch_whose_work_alone_is_too_much_is_refused_for_good(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(BadRequestError, match=r"75\.0 CPU seconds at once"):
            await world.submit(*(made(name, suite=suite_of(500)) for name in names(3)))
        assert len(await world.submit(*(made(name, suite=suite_of(500)) for name in names(2)))) == 2

    play(kind, scenario, hold, bounds=bounded(cpu_seconds=1000 * FIRST_GUESS_SECONDS))


def test_a_batch_whose_bytes_alone_are_too_many_is_refused_for_good(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(BadRequestError, match="bytes at once"):
            await world.submit(*(made(name, name * 2000) for name in names(3)))
        await world.until_depth(0)
        assert len(await world.submit(*(made(name, name * 2000) for name in names(2)))) == 2

    play(kind, scenario, hold, bounds=bounded(size=5500))


def test_a_suite_that_came_with_a_submission_counts_among_its_bytes(kind: str) -> None:
    async def scenario(world: World) -> None:
        jobs = [made(name, suite=suite_of(1, name * 3000)) for name in names(2)]
        await world.take(jobs[0])
        with pytest.raises(QueueFullError, match="bytes"):
            await world.take(jobs[1])
        await world.take(replace(jobs[1], own_bytes=0))  # which somebody else has paid for
        await world.until_depth(2)

    play(kind, scenario, hold, bounds=bounded(size=5500))


def test_a_client_that_has_been_served_leaves_its_share_to_the_others(kind: str) -> None:
    async def scenario(world: World) -> None:
        other = await world.take(of_client("other", "first"))
        await world.until_held("first")
        await world.submit(*(of_client("mine", name) for name in names(2)))
        with pytest.raises(QueueFullError, match="2 clients"):
            await world.take(of_client("mine", "more"))
        world.finish("first")
        await world.answer(other)
        await world.take_when_there_is_room(of_client("mine", "more"))

    play(kind, scenario, hold, bounds=bounded(submissions=4))


MIB = 1 << 20


def test_what_asks_for_more_memory_than_there_is_is_refused_and_the_default_is_not(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(LimitTooHighError, match=rf"limits.memory_bytes is {600 * MIB}, .* has {512 * MIB} for all"):
            await world.submit(made("fits", limits=Limits(memory_bytes=500 * MIB)), asks_for(600))
        await world.submit(made("default"), asks_for(500))
        assert [each.memory_bytes for each in world.queue.workers()] == [512 * MIB]

    play(kind, scenario, hold, memory_bytes=512 * MIB)


def test_submissions_that_do_not_fit_together_run_one_after_the_other(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit(asks_for(300, "a"), asks_for(301, "b"))
        await until(lambda: bool(world.holder("a") or world.holder("b")))
        await world.settle()
        [first] = [name for name in "ab" if world.holder(name)]
        world.finish(first)
        [second] = {"a", "b"} - {first}
        await world.until_held(second)

    play(kind, scenario, hold, slots=2, memory_bytes=512 * MIB)


def asks_for(mib: int, name: str = "") -> Job:
    """A job with this limit of memory."""
    return made(name or f"{mib} MiB", limits=Limits(memory_bytes=mib * MIB))
