"""Some submissions are graded twice: which ones, what is made of the second answer, and that it bothers nobody."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import cast

import pytest
from prometheus_client import CollectorRegistry

from sandbox_service.errors import ProctorError, QueueFullError, UnavailableError
from sandbox_service.grading import suites
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.observe import recheck
from sandbox_service.observe.recheck import MOST_OPEN, MOST_WAITING, Rechecks
from sandbox_service.queues.base import Depth, Job, ObservedQueue, Waiter, job_of
from sandbox_service.queues.observers import EventCollector, Observers, Watched
from sandbox_service.schema import Grade, GraderIdentity, StdinTest, Submission, Verdict
from tests.conftest import running_service
from tests.guards import HANG_GUARD_SECONDS

SECRET = "print('a submission is nobody else his business')"


class FakeTicket:
    """One who waits for the fake queue."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.watched: Watched = []
        self.released = 0

    def release(self) -> None:
        self.released += 1


class FakeQueue:
    """Takes what comes, and answers when the test says so."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.tickets: list[FakeTicket] = []
        self.waiting = 0
        self.refusal: ProctorError | None = None
        self.observers = Observers()

    async def submit(self, jobs: Sequence[Job]) -> list[Waiter]:
        if self.refusal is not None:
            raise self.refusal
        tickets = [FakeTicket(job.id) for job in jobs]
        self.jobs.extend(jobs)
        self.tickets.extend(tickets)
        self.observers.watch(jobs, tickets, 0.0)
        return list(tickets)

    def collect(self, collector: EventCollector) -> None:
        self.observers.collect(collector)

    def depth(self) -> Depth:
        return Depth(submissions=len(self.jobs), waiting=self.waiting)

    async def answer(self, index: int, verdict: str, *, cached: bool = False) -> None:
        """Answer what came as the index-th, and let everybody hear of it."""
        ticket = self.tickets[index]
        reward = None if verdict == "IE" else float(verdict == "AC")
        identity = GraderIdentity(cached=cached)
        grade = Grade(id=ticket.id, verdict=Verdict(verdict), reward=reward, grader=identity)
        self.publish(ticket, grade)
        await settle()

    def publish(self, ticket: FakeTicket, grade: Grade) -> None:
        """Answer what came, as a queue does."""
        answer = EncodedGrade(grade.model_dump_json().encode())
        ticket.answer.set_result(answer)
        self.observers.answered(ticket.watched, answer)


class World:
    """Rechecks that observe a fake queue."""

    def __init__(self, share: float, chance: random.Random | None) -> None:
        self.below = FakeQueue()
        self.registry = CollectorRegistry()
        self.rechecks = Rechecks(cast(ObservedQueue, self.below), share, self.registry, chance)

    async def submit(self, *names: str) -> list[Waiter]:
        return await self.below.submit([job(name) for name in names])

    async def end(self, how: str) -> None:
        if how == "drain":
            self.below.observers.closing()
        else:
            await self.rechecks.close()

    @property
    def counts(self) -> tuple[float, float]:
        """Rechecks and flips."""
        names = ("proctor_rechecks_total", "proctor_verdict_flips_total")
        values = [self.registry.get_sample_value(name) for name in names]
        assert None not in values
        return cast(tuple[float, float], tuple(values))

    @property
    def second(self) -> list[Job]:
        """The jobs that the rechecks submitted."""
        return [each for each in self.below.jobs if each.id.startswith("recheck:")]


async def settle() -> None:
    """Let callbacks run, and the tasks that they make."""
    for _ in range(5):
        await asyncio.sleep(0)


def job(name: str) -> Job:
    labels = {"client": "verl", "priority": "high"}
    submission = Submission(id=name, code=SECRET, tests=[StdinTest(output="x")], labels=labels)
    return job_of(submission, suites.of_tests(submission.tests or []), keep=True, own_bytes=7)


def play(scenario: Callable[[World], Awaitable[None]], share: float = 1, chance: random.Random | None = None) -> None:
    async def run() -> None:
        await asyncio.wait_for(scenario(World(share, chance)), HANG_GUARD_SECONDS)

    asyncio.run(run())


# --- what is sent again


def test_the_second_submission_is_the_same_work_under_another_name_and_takes_its_clients_turn() -> None:
    async def scenario(world: World) -> None:
        await world.submit("a")
        await world.below.answer(0, "AC")
        [second] = world.second
        wanted = replace(job("a"), id=second.id, labels={}, keep=False, fresh=True)
        assert second == wanted
        assert second.id != "a"

    play(scenario)


@pytest.mark.parametrize(
    ("verdict", "cached", "again"),
    [
        ("AC", False, 1),
        ("WA", False, 1),
        ("RTE", False, 1),
        ("CE", False, 1),
        ("TLE", False, 0),
        ("MLE", False, 0),
        ("OLE", False, 0),
        ("IE", False, 0),
        ("AC", True, 0),
    ],
)
def test_only_lasting_verdicts_that_were_computed_are_checked(verdict: str, cached: bool, again: int) -> None:
    async def scenario(world: World) -> None:
        await world.submit("a")
        await world.below.answer(0, verdict, cached=cached)
        assert len(world.second) == again

    play(scenario)


def test_about_the_given_share_is_chosen_and_by_the_chance_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck, "MOST_OPEN", 1000)

    def chosen(seed: int) -> list[int]:
        found: list[int] = []

        async def scenario(world: World) -> None:
            await world.submit(*map(str, range(1000)))
            for index in range(1000):
                before = len(world.second)
                await world.below.answer(index, "AC")
                if len(world.second) > before:
                    found.append(index)

        play(scenario, 0.1, random.Random(seed))
        return found

    assert 60 < len(chosen(1)) < 140
    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)


def test_with_a_share_of_nothing_nothing_is_sent_twice() -> None:
    async def scenario(world: World) -> None:
        await world.submit(*map(str, range(100)))
        for index in range(100):
            await world.below.answer(index, "AC")
        assert world.second == []

    play(scenario, 0)


def test_while_others_wait_submissions_are_sent_again_as_well() -> None:
    async def scenario(world: World) -> None:
        await world.submit("a", "b")
        world.below.waiting = 1
        await world.below.answer(0, "AC")
        assert len(world.second) == 1

    play(scenario)


def test_many_answers_at_once_are_bounded_as_second_submissions() -> None:
    async def scenario(world: World) -> None:
        names = [str(number) for number in range(MOST_OPEN + MOST_WAITING + 50)]
        await world.submit(*names)
        for ticket in list(world.below.tickets):
            world.below.publish(ticket, Grade(id=ticket.id, verdict=Verdict.AC, reward=1.0))
        await settle()
        assert len(world.second) == MOST_OPEN
        for place in range(MOST_WAITING):
            await world.below.answer(len(names) + place, "AC")
        assert len(world.second) == MOST_WAITING
        assert world.counts == (MOST_WAITING, 0)

    play(scenario)


def test_a_queue_that_is_full_is_asked_again() -> None:
    async def scenario(world: World) -> None:
        await world.submit("a")
        world.below.refusal = QueueFullError("full", 0.01)
        await world.below.answer(0, "AC")
        assert world.second == []
        world.below.refusal = None
        while not world.second:
            await asyncio.sleep(0.001)
        assert len(world.second) == 1

    play(scenario)


# --- what is made of the second answer


def test_the_same_verdict_again_is_counted_and_no_flip(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(world: World) -> None:
        await world.submit("a")
        await world.below.answer(0, "WA")
        await world.below.answer(1, "WA")
        assert world.counts == (1, 0)
        assert world.below.tickets[1].released == 1

    play(scenario)
    assert caplog.records == []


def test_another_verdict_is_counted_and_logged_without_the_code(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(world: World) -> None:
        await world.submit("a")
        await world.below.answer(0, "AC")
        await world.below.answer(1, "TLE")
        assert world.counts == (1, 1)

    with caplog.at_level(logging.DEBUG):
        play(scenario)
    [record] = [each for each in caplog.records if each.name == "sandbox_service.observe.recheck"]
    said = record.__dict__
    assert record.getMessage() == "verdict_flip"
    assert (said["before"], said["after"]) == ("AC", "TLE")
    assert (said["suite"], said["digest"]) == (job("a").suite.id, job("a").digest.hex())
    assert SECRET not in repr(said)


def test_a_fault_of_ours_at_the_second_time_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(world: World) -> None:
        await world.submit("a", "b", "c")
        for index in range(3):
            await world.below.answer(index, "AC")
        await world.below.answer(3, "IE")
        world.below.tickets[4].answer.set_exception(UnavailableError("closing"))
        world.below.tickets[5].answer.cancel()
        await settle()
        assert world.counts == (0, 0)

    play(scenario)
    assert caplog.records == []


@pytest.mark.parametrize("refusal", [QueueFullError("full", 1.0), UnavailableError("no jail")])
def test_a_refusal_of_the_second_submission_is_nobodys_trouble(
    refusal: ProctorError, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(world: World) -> None:
        [ticket] = await world.submit("a")
        world.below.refusal = refusal
        await world.below.answer(0, "AC")
        assert ticket.answer.result().head["verdict"] == "AC"
        assert world.second == []

    play(scenario)
    assert caplog.records == []


def test_a_refusal_of_the_first_submission_is_the_clients() -> None:
    async def scenario(world: World) -> None:
        world.below.refusal = QueueFullError("full", 1.0)
        with pytest.raises(QueueFullError):
            await world.submit("a")

    play(scenario)


# --- the end


@pytest.mark.parametrize("how", ["drain", "close"])
def test_at_the_end_second_submissions_are_given_up_and_no_more_are_made(how: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit("a", "b", "c")
        await world.below.answer(0, "AC")
        assert len(world.second) == 1
        world.below.tickets[1].answer.set_result(
            EncodedGrade(Grade(id="b", verdict=Verdict.AC, reward=1).model_dump_json().encode())
        )
        await asyncio.sleep(0)  # its task is made, and has not begun
        await world.end(how)
        assert world.below.tickets[3].released == 1
        await world.below.answer(2, "AC")
        assert len(world.second) == 1

    play(scenario)


@pytest.mark.parametrize("how", ["drain", "close"])
def test_one_that_is_just_being_submitted_at_the_end_is_given_up_as_well(how: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit("a")
        below, submit, gate = world.below, world.below.submit, asyncio.Event()

        async def slow(jobs: Sequence[Job]) -> list[Waiter]:
            await gate.wait()
            return await submit(jobs)

        below.submit = slow  # type: ignore[method-assign]
        await below.answer(0, "AC")
        await world.end(how)
        gate.set()
        await settle()
        assert [ticket.released for ticket in below.tickets[1:]] == ([1] if how == "drain" else [])

    play(scenario)


# --- the whole service


def test_a_program_that_answers_by_chance_is_found_out_by_a_real_service() -> None:
    test = {"type": "stdin", "output": "heads"}
    coin = "import random\nprint(random.SystemRandom().choice(['heads', 'tails']))"
    with running_service(recheck_share=1, cache_seconds=600, slots=1) as service:

        def counted(name: str) -> float:
            _, text = service.client.request("GET", "/metrics")
            [line] = [line for line in text.decode().splitlines() if line.startswith(name + " ")]
            return float(line.split()[1])

        def wait_for(rechecks: int) -> None:
            end = time.monotonic() + 60
            while counted("proctor_rechecks_total") < rechecks and time.monotonic() < end:
                time.sleep(0.01)
            assert counted("proctor_rechecks_total") == rechecks

        for number in range(10):
            assert service.grade(code=f"print('heads') # {number}", tests=[test])["verdict"] == "AC"
            wait_for(number + 1)
        assert counted("proctor_verdict_flips_total") == 0
        again = service.grade(code="print('heads') # 1", tests=[test])
        assert again["grader"]["cached"], "the first answer is cached, the second has not taken its place"
        for number in range(40):  # none flips once in 2**40
            assert service.grade(code=f"{coin} # {number}", tests=[test])["verdict"] in ("AC", "WA")
            wait_for(number + 11)
        assert 0 < counted("proctor_verdict_flips_total") < 40


@pytest.mark.full
def test_under_constant_load_the_share_is_graded_twice_and_flips_are_found() -> None:
    """Two clients' long batches wait all the time; half of the programs answer by chance."""
    coin = "import random\nprint(random.SystemRandom().choice(['heads', 'tails']))"
    submissions = 1600
    with running_service(recheck_share=0.1, slots=2) as service:

        def send(client: str) -> None:
            codes = [f"{coin if number % 2 else 'print(1)'} # {client} {number}" for number in range(submissions // 2)]
            test = {"type": "stdin", "output": "heads"}
            grades = service.client.batch(({"code": code} for code in codes), tests=[test], labels={"client": client})
            assert len(grades) == submissions // 2

        senders = [threading.Thread(target=send, args=(client,)) for client in ("a", "b")]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        _, text = service.client.request("GET", "/metrics")
        counts = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if line.startswith("proctor_"))
        rechecks, flips = (float(counts[f"proctor_{name}_total"]) for name in ("rechecks", "verdict_flips"))
    assert 0.06 * submissions < rechecks < 0.14 * submissions, "0.1, and five times what chance makes of it"
    assert rechecks / 8 < flips < rechecks / 2, "a quarter"
