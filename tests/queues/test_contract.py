"""What every queue does, whichever it is: with slots that answer from a script, so that no jail is needed.

Nothing submitted is lost and nothing is graded into two answers, whoever dies; the bounds hold; order is kept.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sandbox_service.errors import BadRequest, IdReused, QueueFull, Unavailable
from sandbox_service.queues.base import JobQueue
from sandbox_service.queues.local import LocalQueue
from sandbox_service.schema import Grade, StdinTest, Submission, Verdict
from sandbox_service.slots import Owner

HANG_GUARD_SECONDS = 20.0

# what a slot does with a submission: answer with a verdict, die, hold it, or fail with a kind of fault
DIE, HOLD = "die", "hold"
Script = Callable[[Submission, int], str]  # … which came for the how manieth time


class FakeSlot:
    """A slot process without a process."""

    def __init__(self, index: int, owner: Owner, script: Script) -> None:
        self.index = index
        self.ready = True
        self.failed_since: float | None = None
        self.reason = ""
        self.language = f"Fake 1.{index}"
        self.closed = False
        self.given: list[str] = []
        self._owner = owner
        self._script = script
        self._held: tuple[int, Submission] | None = None
        self._begun = False

    @property
    def free(self) -> bool:
        return self.ready and self._held is None

    def give(self, key: int, _moment: float, payload: bytes) -> None:
        assert self.free, "a submission was given to a slot that is not free"
        submission = Submission.model_validate_json(payload)
        self._held, self._begun = (key, submission), False
        self.given.append(submission.id)
        COMPUTED[submission.id] += 1
        self._soon(self._begin, key)

    def _begin(self, key: int) -> None:
        if self._held is None or self._held[0] != key:
            return
        self._begun, submission = True, self._held[1]
        what = self._script(submission, COMPUTED[submission.id])
        if what == DIE:
            self.die()
        elif what != HOLD:
            self.finish(what)

    def finish(self, what: str = "AC") -> None:
        """Answer what it holds: with a verdict, or with a kind of fault."""
        key, submission = self._let_go()
        LOST[submission.id] += what == "sandbox"
        verdict = Verdict(what) if what in Verdict.__members__ else Verdict.IE
        reward = None if verdict == Verdict.IE else float(verdict == Verdict.AC)
        kind = what if verdict == Verdict.IE else None
        self._owner.slot_done(key, Grade(id=submission.id, verdict=verdict, reward=reward, failure_kind=kind))
        self._owner.slot_free()

    def die(self) -> None:
        """End with what it holds, and come back a little later."""
        key, submission = self._let_go()
        self.ready = False
        LOST[submission.id] += 1
        self._owner.slot_lost(key)
        self._soon(self._revive)

    def _revive(self) -> None:
        self.ready = True
        self._owner.slot_free()

    def is_holding(self) -> bool:
        """Whether it has a submission that its script said nothing more about."""
        return self._held is not None and self._begun

    def finish_right(self) -> None:
        """Answer what it holds as it deserves."""
        assert self._held is not None
        self.finish(deserved(self._held[1]))

    def cancel(self, key: int) -> None:
        if self._held is not None and self._held[0] == key:
            self._soon(self._cancelled, key)

    def _cancelled(self, key: int) -> None:
        if self._held is not None and self._held[0] == key:
            self._let_go()
            self._owner.slot_done(key, None)
            self._owner.slot_free()

    def fail(self, seconds: float) -> None:
        """Say that it has not been able to grade for so long."""
        self.ready, self.reason, self.failed_since = False, "no jail", time.monotonic() - seconds
        self._owner.slot_failed()

    async def close(self) -> None:
        self.closed = True

    def _let_go(self) -> tuple[int, Submission]:
        assert self._held is not None
        held, self._held = self._held, None
        return held

    def _soon(self, action: Callable[..., None], *arguments: Any) -> None:
        asyncio.get_running_loop().call_soon(action, *arguments)


# by id: how often a submission was begun, and how often it came to nothing by a fault of ours
COMPUTED: Counter[str] = Counter()
LOST: Counter[str] = Counter()


class World:
    """A queue and its slots."""

    def __init__(self, kind: str, script: Script, slots: int, submissions: int, size: int) -> None:
        COMPUTED.clear()
        LOST.clear()
        self.slots: list[FakeSlot] = []
        self.queue: JobQueue = QUEUES[kind](self._make(script), slots, submissions, size)

    def _make(self, script: Script) -> Callable[[int, Owner], Any]:
        def make(index: int, owner: Owner) -> FakeSlot:
            self.slots.append(FakeSlot(index, owner, script))
            return self.slots[-1]

        return make

    async def grade(self, submission: Submission) -> Grade:
        """Submit, wait, release: what the API does."""
        self.queue.submit(submission)
        return await self.wait(submission)

    async def wait(self, submission: Submission) -> Grade:
        try:
            return await self.queue.wait(submission.id)
        finally:
            self.queue.release(submission.id)


QUEUES: dict[str, Callable[..., JobQueue]] = {"local": LocalQueue}


@pytest.fixture(params=list(QUEUES))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def play(
    kind: str,
    scenario: Callable[[World], Awaitable[None]],
    script: Script | None = None,
    slots: int = 1,
    submissions: int = 100,
    size: int = 1 << 20,
) -> None:
    """Run a scenario in a loop of its own; it must come to its end."""

    async def run() -> None:
        world = World(kind, script or (lambda *_: "AC"), slots, submissions, size)
        await asyncio.wait_for(scenario(world), HANG_GUARD_SECONDS)
        await world.queue.close()
        assert all(slot.closed for slot in world.slots)
        assert world.queue.depth() == 0

    asyncio.run(run())


def made(name: str, code: str = "") -> Submission:
    return Submission(id=name, code=code, tests=[StdinTest(output="")])


def deserved(submission: Submission) -> str:
    return "WA" if submission.code else "AC"


def hold(submission: Submission, time: int) -> str:
    return HOLD


def hold_at_first(submission: Submission, time: int) -> str:
    return HOLD if time == 1 else "AC"


# --- answers


def test_what_is_submitted_is_answered(kind: str) -> None:
    async def scenario(world: World) -> None:
        grades = await asyncio.gather(*(world.grade(made(f"{n}")) for n in range(50)))
        assert [(grade.id, grade.verdict) for grade in grades] == [(f"{n}", Verdict.AC) for n in range(50)]
        assert set(COMPUTED.values()) == {1}

    play(kind, scenario, slots=3)


def test_an_unknown_id_has_no_answer(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(KeyError):
            await world.queue.wait("never heard of")
        world.queue.release("never heard of")

    play(kind, scenario)


def test_the_same_submission_again_is_answered_the_same_and_computed_once(kind: str) -> None:
    async def scenario(world: World) -> None:
        at_once = await asyncio.gather(*(world.grade(made("a")) for _ in range(5)))
        later = await world.grade(made("a"))
        assert {id(grade) for grade in at_once} == {id(later)}
        assert COMPUTED["a"] == 1

    play(kind, scenario)


def test_one_id_with_another_body_is_refused_while_it_waits_and_after(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("a"))
        with pytest.raises(IdReused):
            world.queue.submit(made("a", "other"))
        world.slots[0].finish()
        assert (await world.wait(made("a"))).verdict == Verdict.AC
        with pytest.raises(IdReused):
            world.queue.submit(made("a", "other"))

    play(kind, scenario, hold)


def test_submissions_are_begun_in_order_of_arrival(kind: str) -> None:
    async def scenario(world: World) -> None:
        names = [f"{n}" for n in range(30)]
        await asyncio.gather(*(world.grade(made(name)) for name in names))
        assert world.slots[0].given == names

    play(kind, scenario)


# --- bounds


def test_more_submissions_than_may_wait_are_refused(kind: str) -> None:
    async def scenario(world: World) -> None:
        for n in range(4):
            world.queue.submit(made(f"{n}"))
        with pytest.raises(QueueFull) as refusal:
            world.queue.submit(made("more"))
        assert refusal.value.retry_after_seconds > 0
        world.queue.submit(made("0"))  # one that is there already takes no room
        with pytest.raises(QueueFull):
            world.queue.room_for(1)
        world.slots[0].finish()
        world.queue.room_for(1)
        world.queue.submit(made("more"))

    play(kind, scenario, hold, submissions=4)


def test_a_batch_larger_than_the_queue_is_refused_for_good(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(BadRequest):
            world.queue.room_for(5)
        world.queue.room_for(4)

    play(kind, scenario, hold, submissions=4)


def test_more_bytes_than_may_wait_are_refused_but_a_large_one_alone_is_not(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("large", "x" * 5000))
        with pytest.raises(QueueFull):
            world.queue.submit(made("small"))
        world.slots[0].finish()
        world.queue.submit(made("small"))

    play(kind, scenario, hold, size=2000)


# --- those who go away


def test_what_nobody_waits_for_is_never_begun(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("first"))
        for n in range(10):
            world.queue.submit(made(f"{n}"))
        for n in range(10):
            world.queue.release(f"{n}")
        assert world.queue.depth() == 1
        world.slots[0].finish()
        await asyncio.sleep(0)
        assert world.slots[0].given == ["first"]

    play(kind, scenario, hold)


def test_what_nobody_waits_for_any_more_is_stopped(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("a"))
        await asyncio.sleep(0)
        world.queue.release("a")
        await until(lambda: world.queue.depth() == 0)
        assert world.slots[0].free

    play(kind, scenario, hold)


def test_it_is_not_stopped_while_another_waits(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("a"))
        world.queue.submit(made("a"))
        world.queue.release("a")
        await asyncio.sleep(0.01)
        world.slots[0].finish()
        assert (await world.wait(made("a"))).verdict == Verdict.AC
        assert COMPUTED["a"] == 1

    play(kind, scenario, hold)


def test_one_who_comes_while_it_is_being_stopped_gets_an_answer(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("a"))
        await asyncio.sleep(0)
        world.queue.release("a")
        world.queue.submit(made("a"))  # before the slot has carried out the cancellation
        assert (await world.wait(made("a"))).verdict == Verdict.AC
        assert COMPUTED["a"] == 2

    play(kind, scenario, hold_at_first)


def test_what_was_stopped_can_be_sent_again_even_with_another_body(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("a"))
        await asyncio.sleep(0)
        world.queue.release("a")
        await until(lambda: world.queue.depth() == 0)
        assert (await world.grade(made("a", "other"))).verdict == Verdict.AC

    play(kind, scenario, hold_at_first)


def test_one_who_was_answered_does_not_stop_another_who_has_the_same_id(kind: str) -> None:
    """A fault is not remembered, so the id may be in use again before the first has heard of it."""

    async def scenario(world: World) -> None:
        for _ in range(2):
            world.queue.submit(made("a"))
        world.slots[0].finish("bad_test")
        world.queue.submit(made("a"))
        world.queue.release("a")
        world.queue.release("a")
        world.slots[0].finish()
        assert (await world.wait(made("a"))).verdict == Verdict.AC

    play(kind, scenario, hold)


def test_a_dead_slot_s_work_is_not_done_again_for_nobody(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("a"))
        await asyncio.sleep(0)
        world.queue.release("a")
        world.slots[0].die()
        await until(lambda: world.queue.depth() == 0)
        assert COMPUTED["a"] == 1

    play(kind, scenario, hold)


# --- faults


def test_a_dead_slot_s_work_is_done_by_another_and_first(kind: str) -> None:
    async def scenario(world: World) -> None:
        grades = await asyncio.gather(*(world.grade(made(f"{n}")) for n in range(4)))
        assert [grade.verdict for grade in grades] == [Verdict.AC] * 4
        assert grades[0].grader.attempts == 2
        assert COMPUTED == {"0": 2, "1": 1, "2": 1, "3": 1}
        assert world.slots[0].given == ["0", "0", "1", "2", "3"]

    play(kind, scenario, lambda submission, time: DIE if submission.id == "0" and time == 1 else "AC")


def test_what_takes_three_slots_with_it_is_given_up_as_our_fault(kind: str) -> None:
    async def scenario(world: World) -> None:
        grade = await world.grade(made("deadly"))
        assert (grade.verdict, grade.reward, grade.failure_kind) == (Verdict.IE, None, "worker_lost")
        assert grade.mask_sample
        assert grade.total == 1
        assert COMPUTED["deadly"] == 3
        assert (await world.grade(made("harmless"))).verdict == Verdict.AC

    play(kind, scenario, lambda submission, _: DIE if submission.id == "deadly" else "AC", slots=2)


@pytest.mark.parametrize("fault", ["sandbox", "jail_unsafe", "grader_error"])
def test_a_fault_of_ours_is_tried_again(kind: str, fault: str) -> None:
    async def scenario(world: World) -> None:
        grade = await world.grade(made("a"))
        assert (grade.verdict, grade.grader.attempts) == (Verdict.WA, 3)
        assert (await world.grade(made("b"))).failure_kind == fault

    def script(submission: Submission, time: int) -> str:
        return "WA" if submission.id == "a" and time == 3 else fault

    play(kind, scenario, script, slots=2)


def test_a_bad_test_is_not_tried_again(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a"))).failure_kind == "bad_test"
        assert COMPUTED["a"] == 1

    play(kind, scenario, lambda *_: "bad_test")


def test_a_fault_is_not_remembered(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a"))).verdict == Verdict.IE
        assert (await world.grade(made("a"))).verdict == Verdict.AC

    play(kind, scenario, lambda _, time: "sandbox" if time <= 3 else "AC")


def test_when_no_slot_can_grade_those_who_wait_are_told(kind: str) -> None:
    async def scenario(world: World) -> None:
        for n in range(3):
            world.queue.submit(made(f"{n}"))
        world.slots[0].fail(60)
        world.slots[1].fail(60)
        assert world.queue.unready() == ["slot 0: no jail", "slot 1: no jail"]
        with pytest.raises(Unavailable, match="no jail"):
            world.queue.submit(made("new"))
        with pytest.raises((Unavailable, KeyError)):
            await world.queue.wait("2")

    play(kind, scenario, hold, slots=2)


def test_while_one_slot_can_grade_nobody_is_turned_away(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.slots[0].fail(60)
        assert world.queue.unready() == []
        assert (await world.grade(made("a"))).verdict == Verdict.AC
        assert world.slots[0].given == []

    play(kind, scenario, slots=2)


# --- the end


def test_draining_finishes_what_was_taken_and_takes_nothing_more(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.queue.submit(made("a"))
        waiting = asyncio.ensure_future(world.wait(made("a")))
        await asyncio.sleep(0)
        draining = asyncio.ensure_future(world.queue.drain(HANG_GUARD_SECONDS))
        await asyncio.sleep(0)
        assert world.queue.unready() == ["closing"]
        with pytest.raises(Unavailable):
            world.queue.submit(made("b"))
        world.slots[0].finish()
        await draining
        assert (await waiting).verdict == Verdict.AC

    play(kind, scenario, hold)


def test_what_is_not_finished_in_time_is_told_to_go_elsewhere(kind: str) -> None:
    async def scenario(world: World) -> None:
        tasks = [asyncio.ensure_future(world.grade(made(f"{n}"))) for n in range(5)]
        await asyncio.sleep(0)
        await world.queue.drain(0.05)
        for task in tasks:
            with pytest.raises(Unavailable):
                await task

    play(kind, scenario, hold)


def test_languages_are_those_of_the_slots(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert world.queue.languages() == ["Fake 1.0", "Fake 1.1"]

    play(kind, scenario, slots=2)


# --- everything at random


@pytest.mark.parametrize("seed", range(25))
def test_whatever_happens_each_gets_one_right_answer(kind: str, seed: int) -> None:
    """Slots die and fail, clients come, come again and go; every one that stays is answered as it must be."""
    chance = random.Random(seed)

    def script(submission: Submission, time: int) -> str:
        what = chance.choices(["right", DIE, "sandbox", HOLD], [10, 3, 1, 3])[0]
        return deserved(submission) if what == "right" else what

    async def client(world: World, number: int) -> None:
        submission = made(f"{number % 40}", "wrong" if number % 40 % 3 == 0 else "")
        await asyncio.sleep(chance.random() * 0.02)
        patience = chance.choice([None, None, None, 0.005])
        try:
            grade = await asyncio.wait_for(world.grade(submission), patience)
        except TimeoutError:
            return
        assert grade.verdict == deserved(submission) or (grade.verdict == Verdict.IE and LOST[submission.id] >= 3)
        assert grade.id == submission.id

    async def scenario(world: World) -> None:
        unstick = asyncio.ensure_future(finish_what_is_held(world, chance))
        done = await asyncio.gather(*(client(world, number) for number in range(200)), return_exceptions=True)
        assert [error for error in done if error is not None] == []
        await until(lambda: world.queue.depth() == 0)
        unstick.cancel()

    play(kind, scenario, script, slots=3, submissions=1000)


async def finish_what_is_held(world: World, chance: random.Random) -> None:
    """Let held submissions end now and then: some well, some with their slot."""
    while True:
        await asyncio.sleep(0.002)
        for slot in world.slots:
            if slot.is_holding():
                if chance.random() < 0.2:
                    slot.die()
                else:
                    slot.finish_right()


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.001)
