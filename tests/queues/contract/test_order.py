"""The order in which submissions begin: arrival, clients in turn, priorities; and tasks that are paused for others."""

from __future__ import annotations

import asyncio

from sandbox_service.queues.base import Job, Waiter
from sandbox_service.schema import Verdict
from tests.fakes import (
    hold,
    hold_only,
    made,
    of_client,
    suite_of,
)
from tests.queues.world import World
from tests.queues.worlds import names, play

# --- order


def test_submissions_are_begun_in_order_of_arrival(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = [await world.take(made(name)) for name in names(30)]
        for ticket in tickets:
            await world.answer(ticket)
        assert world.given == names(30)

    play(kind, scenario)


def test_the_members_of_a_batch_are_begun_in_its_order(kind: str) -> None:
    async def scenario(world: World) -> None:
        for ticket in await world.submit(*map(made, names(30))):
            await world.answer(ticket)
        assert world.given == names(30)

    play(kind, scenario)


async def begun_after(world: World, first: str, *others: Job) -> list[str]:
    """What the only slot is given after the one it holds, which all others have waited for."""
    held = await world.take(made(first, labels={"client": "holder"}))
    await world.until_held(first)
    tickets = await world.submit(*others)
    world.finish(first)
    for ticket in (held, *tickets):
        await world.answer(ticket)
    assert world.given[0] == first
    return world.given[1:]


def test_a_client_with_much_does_not_keep_another_waiting(kind: str) -> None:
    async def scenario(world: World) -> None:
        many = [of_client("greedy", name) for name in names(100)]
        given = await begun_after(world, "first", *many, of_client("modest", "one"))
        assert "one" in given[:2]
        assert [name for name in given if name != "one"] == names(100)

    play(kind, scenario, hold_only("first"))


def test_clients_take_turns(kind: str) -> None:
    async def scenario(world: World) -> None:
        wanted = [of_client(client, f"{client}{n}") for client in "abc" for n in range(5)]
        given = await begun_after(world, "first", *wanted)
        rounds = [set(given[start : start + 3]) for start in range(0, 15, 3)]
        assert rounds == [{f"{client}{n}" for client in "abc"} for n in range(5)]

    play(kind, scenario, hold_only("first"))


def test_a_client_s_turn_is_not_spent_on_what_was_cancelled(kind: str) -> None:
    async def scenario(world: World) -> None:
        held = await world.take(made("first"))
        await world.until_held("first")
        many = await world.submit(*(of_client("greedy", name) for name in names(world.ahead + 20)))
        regretted = await world.submit(*(of_client("modest", name) for name in names(10, "regretted ")))
        wanted = await world.take(of_client("modest", "one"))
        for ticket in regretted:
            ticket.release()
        await world.until_depth(1 + len(many) + 1)
        world.finish("first")
        for ticket in (held, *many, wanted):
            await world.answer(ticket)
        assert world.given.index("one") <= world.ahead + 2

    play(kind, scenario, hold_only("first"))


def test_the_same_label_under_two_keys_is_two_clients(kind: str) -> None:
    async def scenario(world: World) -> None:
        many = [made(name, key="mine", labels={"client": "trainer"}) for name in names(20)]
        given = await begun_after(world, "first", *many, made("one", key="yours", labels={"client": "trainer"}))
        assert "one" in given[:2]

    play(kind, scenario, hold_only("first"))


def test_what_is_urgent_is_begun_first_and_what_is_not_last(kind: str) -> None:
    async def scenario(world: World) -> None:
        order = ["low", "normal", "high"] * 3
        wanted = [made(f"{name} {n}", labels={"priority": name}) for n, name in enumerate(order)]
        given = await begun_after(world, "first", *wanted, made("unlabelled"))
        assert given == [
            *("high 2", "high 5", "high 8"),
            *("normal 1", "normal 4", "normal 7", "unlabelled"),
            *("low 0", "low 3", "low 6"),
        ]

    play(kind, scenario, hold_only("first"))


def test_priority_goes_before_turns(kind: str) -> None:
    async def scenario(world: World) -> None:
        urgent = [of_client("greedy", name, priority="high") for name in names(5)]
        given = await begun_after(world, "first", of_client("modest", "one"), *urgent)
        assert given == [*names(5), "one"]

    play(kind, scenario, hold_only("first"))


# --- what is slow


LONGEST_WAIT_SECONDS = 15.0  # beside the test that runs: two beats of workers, and more for a busy machine
TURNS_KNOWN_SECONDS = 2.5  # after so long, and a beat, nothing keeps its turn that has not begun


def test_what_is_urgent_waits_for_no_more_than_the_tests_that_run(kind: str) -> None:
    async def scenario(world: World) -> None:
        slow = [await world.take(of_client("slow", f"slow {number}")) for number in range(10)]
        await world.until_held("slow 0", "slow 1")
        urgent = await world.take(of_client("other", "urgent", priority="high"))
        await world.settle()
        world.finish("slow 0")
        await asyncio.wait_for(world.until_held("urgent"), LONGEST_WAIT_SECONDS)
        assert sum(len(slot.given) for slot in world.slots) == 3
        await finish_all(world, [*slow, urgent])

    play(kind, scenario, hold, slots=2)


def test_who_is_next_is_not_decided_long_before_it_begins(kind: str) -> None:
    async def scenario(world: World) -> None:
        slow = [await world.take(of_client("slow", f"slow {number}")) for number in range(10)]
        await world.until_held("slow 0", "slow 1")
        other = await world.take(of_client("other", "other"))
        await asyncio.sleep(TURNS_KNOWN_SECONDS)
        world.finish("slow 0")
        world.finish("slow 1")
        await asyncio.wait_for(world.until_held("other"), LONGEST_WAIT_SECONDS)
        await finish_all(world, [*slow, other])

    play(kind, scenario, hold, slots=2)


def test_short_ones_do_not_wait_behind_a_long_one_while_a_slot_is_idle(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = await world.submit(*map(made, ("long", *names(12))))
        await world.until_held("long")
        answers = asyncio.gather(*(world.answer(ticket) for ticket in tickets[1:]))
        assert {grade.verdict for grade in await asyncio.wait_for(answers, LONGEST_WAIT_SECONDS)} == {Verdict.AC}
        world.finish("long")
        await world.answer(tickets[0])

    play(kind, scenario, hold_only("long"), slots=2, workers=2)


def test_a_short_one_does_not_wait_for_the_end_of_submissions_of_many_tests(kind: str) -> None:
    async def scenario(world: World) -> None:
        long = [await world.take(of_client("slow", f"long {number}", suite_of(100))) for number in range(6)]
        await world.until_held("long 0", "long 1")
        short = await world.take(of_client("other", "short"))
        ended = asyncio.ensure_future(hand_back_between_tests(world))
        await asyncio.wait_for(world.until_held("short"), LONGEST_WAIT_SECONDS)
        ended.cancel()
        await finish_all(world, [*long, short])
        assert max(world.tally.begun.values()) > 1

    play(kind, scenario, hold, slots=2)


async def hand_back_between_tests(world: World) -> None:
    """Every so often a test ends, and what was asked back is handed back."""
    while True:
        await asyncio.sleep(0.05)
        for slot in world.slots:
            if slot.is_holding() and slot.is_asked_back and not slot.is_holding("short"):
                slot.pause_now()


async def finish_all(world: World, tickets: list[Waiter]) -> None:
    """Have the slots answer whatever they hold until these have their answers."""

    async def finish() -> None:
        while True:
            await asyncio.sleep(0.01)
            for slot in world.slots:
                if slot.is_holding():
                    slot.finish_right()

    finishing = asyncio.ensure_future(finish())
    for ticket in tickets:
        assert (await world.answer(ticket)).verdict == Verdict.AC
    finishing.cancel()
