"""Random submissions, cancellations and dying slots: each submission gets one right answer."""

from __future__ import annotations

import asyncio
import random

import orjson
import pytest

from sandbox_service.queues.base import PRIORITIES, Job
from sandbox_service.schema import Submission, Verdict
from tests.fakes import (
    DIE,
    HOLD,
    deserved,
    made,
    until,
)
from tests.markers import one_in
from tests.queues.world import World
from tests.queues.worlds import play


class Chaos:
    """Clients that come, come again and go, cancel, and want things kept, while slots die and fail."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.cancelled: set[str] = set()
        self.abandoned: set[str] = set()

    def script(self, submission: Submission, _: int) -> str:
        what = self.chance.choices(["right", DIE, "sandbox", HOLD], [10, 3, 1, 3])[0]
        return deserved(submission.code) if what == "right" else what

    def job(self, number: int) -> Job:
        """One of forty submissions, each of which comes five times."""
        name = f"{number % 40}"
        labels = {"client": self.chance.choice("ab"), "priority": self.chance.choice(PRIORITIES), "group": name}
        code = f"{name} wrong" if int(name) % 3 == 0 else name
        return made(name, code, labels=labels, keep=self.chance.random() < 0.1)

    async def client(self, world: World, number: int) -> None:
        job = self.job(number)
        await asyncio.sleep(self.chance.random() * 0.02)
        if self.chance.random() < 0.05:
            self.cancelled.add(job.id)
            await world.queue.cancel_labelled("group", job.id)
        patience = self.chance.choice([None, None, None, 0.005])
        try:
            grade = await asyncio.wait_for(world.grade(job), patience)
        except TimeoutError:
            self.abandoned.add(job.id)
            return
        self.check(world, job, grade.id, grade.verdict, grade.failure_kind)

    def check(self, world: World, job: Job, name: str, verdict: Verdict, kind: str | None) -> None:
        code = orjson.loads(job.body)["code"]
        assert name == job.id
        if kind == "cancelled":
            assert name in self.cancelled
        elif verdict == Verdict.IE:
            assert world.tally.lost[code] >= 3
        else:
            assert verdict == deserved(code)
        undisturbed = not world.tally.lost[code] and name not in self.cancelled | self.abandoned
        assert not undisturbed or world.tally.begun[code] == 1

    async def finish_what_is_held(self, world: World) -> None:
        """Let held submissions end now and then: some well, some with their slot."""
        while True:
            await asyncio.sleep(0.002)
            for slot in world.slots:
                if slot.is_holding():
                    if self.chance.random() < 0.2:
                        slot.die()
                    else:
                        slot.finish_right()


@pytest.mark.parametrize("seed", one_in(2, range(25)))
def test_whatever_happens_each_gets_one_right_answer(kind: str, seed: int) -> None:
    """Slots die and fail, clients come, come again and go; every one that stays is answered as it must be."""
    chaos = Chaos(seed)

    async def scenario(world: World) -> None:
        unstick = asyncio.ensure_future(chaos.finish_what_is_held(world))
        done = await asyncio.gather(*(chaos.client(world, number) for number in range(200)), return_exceptions=True)
        assert [error for error in done if error is not None] == []
        await world.until_depth(0)
        await until(lambda: all(slot.free for slot in world.slots))
        unstick.cancel()

    play(kind, scenario, chaos.script, slots=3)
