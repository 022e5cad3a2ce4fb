"""HeldGrading: which submissions are held, which faults are retried, and what is returned in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar, cast

import pytest
from fastapi import Request
from starlette.requests import ClientDisconnect

from sandbox_service.api.compat import held_grading
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.errors import BadRequestError, LimitTooHighError, QueueFullError, UnavailableError
from sandbox_service.grading.encoded_grade import EncodedGrade, fault
from sandbox_service.grading.retries import MOST_ATTEMPTS, MOST_SUBMISSIONS
from sandbox_service.queues.base import Job, JobQueue
from sandbox_service.schema import Grade
from sandbox_service.settings import Settings
from tests.fakes import DIE, always, grade_of, suite_of
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.world import Setup
from tests.queues.worlds import local_world

FIELDS = {"code": "print(1)", "tests": [{"type": "stdin", "output": "1"}]}
FULL = QueueFullError("no room", 60.0)
NEVER = "never"

T = TypeVar("T")


class Ticket:
    """A place in the queue whose answer exists or never comes."""

    def __init__(self, job: Job, answer: EncodedGrade | Exception | None) -> None:
        self.id = job.id
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.releases = 0
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
        elif answer is not None:
            self.answer.set_result(answer)

    def release(self) -> None:
        self.releases += 1


class Script:
    """A queue that follows a script with one step per submission: refuse, answer, fail or keep for ever."""

    def __init__(self, *script: str | Exception) -> None:
        self._script = list(script)
        self.jobs: list[Job] = []
        self.tickets: list[Ticket] = []
        self.is_closing = False

    async def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        [job] = jobs
        what = self._script.pop(0) if self._script else "AC"
        self.jobs.append(job)
        if isinstance(what, (QueueFullError, UnavailableError)):
            raise what
        self.tickets.append(Ticket(job, self._answer(job, what)))
        return self.tickets[-1:]

    @staticmethod
    def _answer(job: Job, what: str | Exception) -> EncodedGrade | Exception | None:
        if what == NEVER:
            return None
        if isinstance(what, RuntimeError):
            return UnavailableError(str(what))
        if what in ("AC", "WA"):
            submission = cast(Any, None)
            return EncodedGrade(grade_of(submission, suite_of(), what).model_dump_json().encode())
        return fault(job.id, 1, str(what), "no reason")

    async def suite(self, _: str) -> None:
        return None

    def unready(self) -> list[str]:
        return ["closing"] if self.is_closing else []


class Client:
    """A request whose body was read, from a client that can disconnect."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.request = Request({"type": "http", "state": {}}, self._receive)

    async def _receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_grading, "LONGEST_PAUSE_SECONDS", 0.01)


def run(work: Coroutine[Any, Any, T]) -> T:
    async def guarded() -> T:
        async with asyncio.timeout(HANG_GUARD_SECONDS):
            return await work

    return asyncio.run(guarded())


def desk_of(queue: Script) -> HeldGrading:
    return HeldGrading(cast(JobQueue, queue), Settings(), "route")


def graded(queue: Script, seconds: float = 10.0, **fields: Any) -> Grade:
    async def ask() -> Grade:
        return await desk_of(queue).verdict(Client().request, FIELDS | fields, seconds)

    return run(ask())


def released(queue: Script) -> bool:
    return all(ticket.releases for ticket in queue.tickets)


def test_a_grade_is_handed_on() -> None:
    queue = Script("WA")
    assert graded(queue).verdict == "WA"
    assert [job.client for job in queue.jobs] == ["/route"]
    assert released(queue)


def test_where_there_is_no_room_it_is_held_and_then_taken() -> None:
    queue = Script(FULL, FULL, UnavailableError("no jail"), "AC")
    assert graded(queue).verdict == "AC"
    assert len(queue.jobs) == 4


def test_what_was_given_back_ungraded_is_sent_again() -> None:
    queue = Script(RuntimeError("no slot works"), "AC")
    assert graded(queue).verdict == "AC"
    assert released(queue)


def test_a_submission_whose_answer_was_lost_is_sent_again() -> None:
    queue = Script("forgotten", "unreadable_answer", "AC")
    assert graded(queue).verdict == "AC"
    assert len({job.id for job in queue.jobs}) == MOST_SUBMISSIONS
    assert released(queue)


def test_an_answer_that_is_lost_each_time_is_a_fault_in_the_end() -> None:
    queue = Script(*["forgotten"] * 9)
    with pytest.raises(UnavailableError, match="forgotten: no reason"):
        graded(queue)
    assert len(queue.jobs) == MOST_SUBMISSIONS


@pytest.mark.parametrize("kind", ["sandbox", "jail_unsafe", "grader_error", "worker_lost"])
def test_a_fault_of_the_service_is_attempted_three_times_in_all(kind: str) -> None:
    async def ask() -> dict[str, int]:
        async with local_world(Setup(always(DIE if kind == "worker_lost" else kind))) as world:
            with pytest.raises(UnavailableError, match=kind):
                await HeldGrading(world.queue, Settings(), "route").verdict(Client().request, FIELDS, 10.0)
            return world.tally.begun

    assert list(run(ask()).values()) == [MOST_ATTEMPTS]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("bad_test", BadRequestError),
        ("cancelled", BadRequestError),
        ("sandbox", UnavailableError),
        ("jail_unsafe", UnavailableError),
        ("grader_error", UnavailableError),
        ("suite_lost", UnavailableError),
        ("worker_lost", UnavailableError),
        ("bad_submission", UnavailableError),
    ],
)
def test_what_another_try_would_not_mend_is_not_tried_again(kind: str, error: type[Exception]) -> None:
    queue = Script(kind)
    with pytest.raises(error, match=kind):
        graded(queue)
    assert len(queue.jobs) == 1


@pytest.mark.parametrize(
    ("what", "reason"), [(FULL, "no room"), (UnavailableError("no jail"), "no jail"), (NEVER, "it is waiting")]
)
def test_when_the_time_is_over_it_is_said_why(what: Exception | str, reason: str) -> None:
    queue = Script(*[what] * 1000)
    with pytest.raises(UnavailableError, match=rf"^not graded within 0\.2 s: {reason}"):
        graded(queue, 0.2)


def test_who_comes_again_when_the_time_was_over_has_kept_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(pause: float) -> list[bool]:
        queue = Script(NEVER, NEVER, NEVER)
        there, request = desk_of(queue), Client().request
        for fields in (FIELDS, FIELDS, FIELDS | {"code": "print(2)"}):
            with pytest.raises(UnavailableError):
                await there.verdict(request, fields, 0.05)
            await asyncio.sleep(pause)
        await asyncio.sleep(0.3)
        assert released(queue)
        first, second, other = queue.jobs
        return [first.id == second.id, second.id == other.id]

    monkeypatch.setattr(held_grading, "LINGER_SECONDS", 0.2)
    assert run(ask(0.01)) == [True, False]
    assert run(ask(0.25)) == [False, False]


def test_a_service_that_closes_says_so_at_once() -> None:
    queue = Script(UnavailableError("the service is closing"), "AC")
    queue.is_closing = True
    with pytest.raises(UnavailableError, match="closing"):
        graded(queue)
    assert len(queue.jobs) == 1


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"tests": []}, BadRequestError),
        ({"nonsense": 1}, BadRequestError),
        ({"limits": {"cpu_seconds": 1e6}}, LimitTooHighError),
    ],
)
def test_what_is_wrong_is_refused_and_not_held(fields: dict[str, Any], error: type[Exception]) -> None:
    queue = Script()
    with pytest.raises(error):
        graded(queue, **fields)
    assert queue.jobs == []


def test_who_goes_away_is_waited_for_no_more() -> None:
    for what in (NEVER, FULL):
        queue = Script(*[what] * 1000)

        async def ask(queue: Script) -> None:
            client = Client()
            asking = asyncio.ensure_future(desk_of(queue).many(client.request, [FIELDS] * 3, 10))
            await asyncio.sleep(0.05)
            client.gone.set()
            with pytest.raises(ClientDisconnect):
                await asking
            await asyncio.sleep(0.05)
            tried = len(queue.jobs)
            await asyncio.sleep(0.05)
            assert len(queue.jobs) == tried >= 3

        run(ask(queue))
        assert released(queue)


# --- several at once


def many(queue: Script, count: int, seconds: float = 10.0) -> list[Grade]:
    async def ask() -> list[Grade]:
        return await desk_of(queue).verdicts(Client().request, [FIELDS] * count, seconds)

    return run(ask())


def test_several_are_answered_in_their_order() -> None:
    assert [grade.verdict for grade in many(Script("AC", "WA", FULL, "forgotten", "WA"), 4)] == ["AC", "WA", "AC", "WA"]
    assert many(Script(), 0) == []


def test_one_that_fails_does_not_keep_the_others_from_being_graded() -> None:
    queue = Script(NEVER, "AC", "AC")
    with pytest.raises(UnavailableError, match=r"not graded within 0\.2 s"):
        many(queue, 3, 0.2)
    assert [ticket.answer.done() for ticket in queue.tickets] == [False, True, True]


def test_what_asking_again_does_not_mend_is_said_first() -> None:
    with pytest.raises(BadRequestError, match="bad_test"):
        many(Script(*["worker_lost", "bad_test", "AC"]), 3)
