"""Many submissions and every failure while they are graded: each is answered once, in its place."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from typing import Any

import pytest
from aiohttp import web

from sandbox_service.client import (
    AsyncClient,
    Client,
    Grade,
    GraderFaultError,
    NotProctorError,
    RefusedError,
    ServiceUnavailableError,
    Suite,
    batch_grading,
    batching,
)
from sandbox_service.client.single_grading import TRIES
from sandbox_service.schema import Submission
from tests.client.world import LONG, TESTS, each, error_line, half, line, lines, programs, serving
from tests.fake_service import FAULT, PASSED, Act, FakeService, Said, hangs_up, says, trouble

pytestmark = pytest.mark.usefixtures("quick")


def by_code(said: Said) -> Said:
    """Return a wrong answer for every third submission."""
    return PASSED if int(said["code"][6:-1]) % 3 else PASSED | {"verdict": "WA", "reward": 0.0}


def grade_many(fake: FakeService, count: int = 6, patience_seconds: float = 5.0, **said: Any) -> list[Grade]:
    with serving(fake) as url, Client(url, patience_seconds=patience_seconds) as client:
        return client.grade_many(programs(count), **{"defaults": {"tests": TESTS}} | said)


def check(grades: list[Grade], count: int = 6) -> None:
    assert [grade.id for grade in grades] == [f"s{place}" for place in range(count)]
    assert [grade.reward for grade in grades] == [float(place % 3 > 0) for place in range(count)]


def test_three_hundred_come_back_in_their_order() -> None:
    fake = FakeService(verdict=by_code, batch_acts=[each(lambda said: line(said, by_code(said)))])
    check(grade_many(fake, 300), 300)


def test_none_are_none() -> None:
    assert grade_many(FakeService(), 0) == []


def test_chunks_are_of_many_and_of_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "CHUNK", 4)
    check(grade_many(fake := FakeService(verdict=by_code), 10), 10)
    assert sorted(map(len, fake.batches)) == [2, 4, 4]
    monkeypatch.setattr(batching, "CHUNK_BYTES", 40)
    check(grade_many(fake := FakeService(verdict=by_code), 4), 4)
    assert list(map(len, fake.batches)) == [1] * 4


# --- trouble that passes


@pytest.mark.parametrize(
    "act",
    [
        half(by_code),
        hangs_up,
        lines(),
        lines(b"\n\n"),
        says(429, "queue_full", **{"Retry-After": "0"}),
        says(503, "unavailable"),
        each(lambda said: error_line(said, "unavailable", retry_after_seconds=0.01)),
        each(lambda said: error_line(said, "queue_full", retry_after_seconds=None)),
        each(lambda said: line(said, FAULT | {"failure_kind": "forgotten"})),
        each(lambda said: line(said, FAULT | {"failure_kind": "suite_lost"})),
        each(lambda said: error_line(said, "internal_error")),
        says(500, "internal_error"),
        says(409, "unknown_suite"),
    ],
)
def test_what_passes_is_waited_for(act: Act) -> None:
    check(grade_many(fake := FakeService(verdict=by_code, batch_acts=[act, act])))
    assert {each["id"] for batch in fake.batches for each in batch} == {f"s{place}" for place in range(6)}


def test_only_what_was_not_answered_is_sent_again_with_its_id() -> None:
    wrong = PASSED | {"verdict": "WA", "reward": 0.0}
    grades = grade_many(fake := FakeService(batch_acts=[half(lambda _: wrong)]))
    assert [grade.reward for grade in grades] == [0, 0, 0, 1, 1, 1]
    assert [[each["id"] for each in batch] for batch in fake.batches] == [
        ["s0", "s1", "s2", "s3", "s4", "s5"],
        ["s3", "s4", "s5"],
    ]


def test_ids_are_made_once() -> None:
    with serving(fake := FakeService(batch_acts=[hangs_up])) as url, Client(url) as client:
        client.grade_many([{"code": "1"}, {"code": "2"}], defaults={"tests": TESTS})
    first, second = ([each["id"] for each in batch] for batch in fake.batches)
    assert first == second
    assert len({*first}) == 2


def test_a_pause_that_is_asked_for_is_made() -> None:
    began = time.monotonic()
    grade_many(FakeService(batch_acts=[says(429, "queue_full", **{"Retry-After": "1"})]))
    assert time.monotonic() - began >= 1


def test_an_answer_of_a_megabyte_is_a_line() -> None:
    tests = [{"index": 0, "verdict": "AC", "stdout": "x" * (1 << 20)}]
    (grade,) = grade_many(FakeService(verdict=lambda _: PASSED | {"tests": tests}), 1)
    assert len(grade.tests[0].stdout) == 1 << 20


# --- trouble that does not


@pytest.mark.parametrize(
    "act", [hangs_up, says(503, "unavailable"), lines(b"\n"), each(lambda said: error_line(said, "unavailable"))]
)
def test_patience_ends(act: Act) -> None:
    began = time.monotonic()
    with pytest.raises(ServiceUnavailableError, match=r"has been away for .* see url and patience_seconds"):
        grade_many(FakeService(batch_acts=[act] * 1000), patience_seconds=0.3)
    assert time.monotonic() - began < 60


def test_one_that_never_gets_an_answer_does_not_hold_up_the_others_nor_wait_for_ever() -> None:
    def act(said: Said) -> bytes:
        return error_line(said, "unavailable") if said["id"] == "s3" else line(said)

    seen: list[int] = []
    with pytest.raises(ServiceUnavailableError):
        grade_many(
            FakeService(batch_acts=[each(act)] * 1000), patience_seconds=0.3, progress=lambda done, _: seen.append(done)
        )
    assert seen == [1, 2, 3, 4, 5]


def test_a_refusal_names_the_submission_by_its_place_and_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "CHUNK", 4)
    acts: list[Act] = [each(line), says(422, "limit_too_high", "submissions[1]: limits.cpu_seconds is too much")]

    async def by_size(request: web.Request, said: Said) -> web.StreamResponse:
        return await acts[len(said["submissions"]) == 2](request, said)

    expected = r"refuses submission 5 \('s5'\): 422 limit_too_high limits.cpu_seconds is too much"
    with pytest.raises(RefusedError, match=expected):
        grade_many(FakeService(batch_acts=[by_size] * 2))


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (401, "unauthorized", "PROCTOR_API_KEY"),
        (404, "not_found", "is url the address"),
        (409, "id_reused", "submissions 0 to 5"),
        (422, "invalid_request", "submissions 0 to 5"),
    ],
)
def test_refusals_are_raised(status: int, kind: str, said: str) -> None:
    with pytest.raises(RefusedError, match=said) as refused:
        grade_many(fake := FakeService(batch_acts=[says(status, kind, "no")]))
    assert (refused.value.status, refused.value.kind) == (status, kind)
    assert len(fake.batches) == 1


def test_two_with_one_id_are_refused_before_they_are_sent() -> None:
    with (
        pytest.raises(RefusedError, match="submissions 0 and 2 have the same id 's0'"),
        Client("http://127.0.0.1:9") as client,
    ):
        client.grade_many([*programs(2), *programs(1)])


def test_an_answer_to_what_was_not_asked_is_not_believed() -> None:
    for strange in (b'{"id": "x", "verdict": "AC", "reward": 1}\n', b"[1]\n", b"hello\n", line({"id": "s0"}) * 2):
        with pytest.raises(NotProctorError):
            grade_many(FakeService(batch_acts=[lines(strange)]))


# --- what a batch cannot have, one at a time


def test_one_that_the_service_fails_at_is_found_and_costs_no_other() -> None:
    async def poisoned(request: web.Request, said: Said) -> web.StreamResponse:
        if any(each["id"] == "s5" for each in said["submissions"]):
            return trouble(500, "internal_error", "a defect")
        return await each(line)(request, said)

    grades = grade_many(fake := FakeService(batch_acts=[poisoned] * 100), 12)
    assert [place for place, grade in enumerate(grades) if grade.reward is None] == [5]
    assert (grades[5].failure_kind, grades[5].failure_reason) == ("given_up", "500 internal_error a defect")
    assert sum([each["id"] for each in batch] == ["s5"] for batch in fake.batches) == TRIES


def test_a_batch_that_is_too_large_is_sent_in_parts() -> None:
    async def narrow(request: web.Request, said: Said) -> web.StreamResponse:
        if len(said["submissions"]) > 2:
            return trouble(413, "body_too_large", "too much")
        return await each(lambda said: line(said, by_code(said)))(request, said)

    check(grade_many(FakeService(batch_acts=[narrow] * 100)))


# --- suites


def test_shared_tests_are_put_once_and_lone_short_ones_come_along() -> None:
    submissions = [{"code": "1", "tests": list(TESTS)}, {"code": "2", "tests": list(TESTS)}]  # equal, not identical
    submissions += [{"code": "3", "tests": [*TESTS, *TESTS]}, {"code": "4", "tests": LONG}]
    with serving(fake := FakeService()) as url, Client(url) as client:
        client.grade_many(submissions)
        client.grade_many(submissions)
    assert fake.puts == 2
    assert ["tests" in each for each in fake.batches[0]] == [False, False, True, False]
    assert fake.batches[0][0]["suite"] == fake.batches[0][1]["suite"]


def test_a_suite_beside_defaults_with_tests_is_its_own() -> None:
    suite = Suite.of(LONG)
    with serving(fake := FakeService()) as url, Client(url) as client:
        client.grade_many([*programs(2), {"code": "3", "suite": suite}], defaults={"tests": TESTS})
    assert fake.batches[0][2]["suite"] == suite.id != fake.batches[0][0]["suite"]
    assert len(fake.suites) == 2


def test_suites_that_the_service_lost_between_two_calls_are_put_again() -> None:
    with serving(fake := FakeService()) as url, Client(url) as client:
        for _ in range(3):
            assert [grade.reward for grade in client.grade_many(programs(2), defaults={"tests": TESTS})] == [1, 1]
            fake.suites.clear()
    assert fake.puts == 3


def test_a_suite_that_is_only_named_is_refused_with_the_submission() -> None:
    with pytest.raises(RefusedError, match=r"submission 1 \('s1'\): .* does not know its suite sha256:0"):
        grade_many(FakeService(), 2, defaults={"suite": "sha256:" + "0" * 64})


def test_a_service_with_room_for_one_suite_gets_one_at_a_time() -> None:
    class Forgetful(FakeService):
        async def put(self, request: web.Request) -> web.StreamResponse:
            self.suites.clear()
            return await super().put(request)

    submissions = [
        {"code": f"{place}", "tests": [{"type": "stdin", "output": "3" * 5000 + str(place)}]} for place in range(5)
    ]
    with serving(Forgetful()) as url, Client(url) as client:
        assert [grade.reward for grade in client.grade_many(submissions)] == [1.0] * 5


def test_nouns_are_submissions_too() -> None:
    with serving(fake := FakeService()) as url, Client(url) as client:
        client.grade_many([Submission(id="a", code="1", tests=TESTS, stop_on_failure=False)])
    assert fake.batches[0][0].keys() == {"id", "code", "tests", "stop_on_failure"}


# --- no verdict


def test_faults_are_no_rewards_or_one_exception_when_all_are_answered() -> None:
    def lottery(said: Said) -> Said:
        return FAULT if said["id"] in ("s1", "s4") else PASSED

    rewards = [grade.reward for grade in grade_many(FakeService(verdict=lottery))]
    assert rewards == [1, None, 1, 1, None, 1]
    with pytest.raises(GraderFaultError, match="2 of 6 have no verdict; the first is 's1': sandbox: died") as fault:
        grade_many(FakeService(verdict=lottery), on_fault="raise")
    assert [grade.reward for grade in fault.value.grades] == rewards
    assert (fault.value.kind, fault.value.reason) == ("sandbox", "died")


def test_what_is_lost_again_and_again_is_a_fault() -> None:
    lost = each(lambda said: line(said, FAULT | {"failure_kind": "forgotten"}))
    grades = grade_many(fake := FakeService(batch_acts=[lost] * 100))
    assert {grade.failure_kind for grade in grades} == {"given_up"}
    assert len(fake.batches) == TRIES


def test_a_service_that_fails_at_everything_is_not_asked_for_ever() -> None:
    began = time.monotonic()
    grades = grade_many(FakeService(batch_acts=[says(500, "internal_error", "a defect")] * 10_000), 64)
    assert {grade.failure_kind for grade in grades} == {"given_up"}
    assert time.monotonic() - began < 60


# --- as they come, how far it is, and the end


def test_each_comes_when_it_is_there() -> None:
    with serving(FakeService(batch_acts=[half()])) as url, Client(url) as client:
        found = [grade.id for grade in client.grade_as_completed(programs(6), defaults={"tests": TESTS})]
    assert found == [f"s{place}" for place in range(6)]


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int]] = []
    grade_many(FakeService(), 3, progress=lambda *counts: told.append(counts))
    assert told == [(1, 3), (2, 3), (3, 3)]
    grade_many(FakeService(), 3, progress=True)
    assert re.search(r"3 of 3 graded in \d+ s", capsys.readouterr().err)
    grade_many(FakeService(), 3)
    assert not capsys.readouterr().err


def test_no_more_are_on_their_way_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_grading, "MAX_IN_FLIGHT", 4)
    monkeypatch.setattr(batching, "CHUNK", 2)
    counts: Counter[str] = Counter()

    async def slow(request: web.Request, said: Said) -> web.StreamResponse:
        counts["now"] += len(said["submissions"])
        counts["most"] = max(counts["most"], counts["now"])
        await asyncio.sleep(0.02)
        counts["now"] -= len(said["submissions"])
        return await each(line)(request, said)

    assert len(grade_many(FakeService(batch_acts=[slow] * 8), 16)) == 16
    assert counts["most"] == 4


def test_a_task_that_is_cancelled_closes_its_connections() -> None:
    asyncio.run(asyncio.wait_for(_cancelled(), 20))


async def _cancelled() -> None:
    begun, gone = asyncio.Event(), asyncio.Event()

    async def held(request: web.Request, said: Said) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        begun.set()
        while request.transport is not None and not request.transport.is_closing():
            await asyncio.sleep(0.01)
        gone.set()
        return response

    async with FakeService(batch_acts=[held]).running() as url, AsyncClient(url) as client:
        work = asyncio.create_task(client.grade_many(programs(2), defaults={"tests": TESTS}))
        await begun.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await gone.wait()
        assert [grade.reward for grade in await client.grade_many(programs(2), defaults={"tests": TESTS})] == [1, 1]


def test_a_loop_over_grades_that_is_left_takes_back_the_rest() -> None:
    asyncio.run(asyncio.wait_for(_left(), 20))


async def _left() -> None:
    gone = asyncio.Event()

    async def held(request: web.Request, said: Said) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(line(said["submissions"][0]))
        while request.transport is not None and not request.transport.is_closing():
            await asyncio.sleep(0.01)
        gone.set()
        return response

    async with FakeService(batch_acts=[held]).running() as url, AsyncClient(url) as client:
        found = client.grade_as_completed(programs(2), defaults={"tests": TESTS})
        assert (await anext(found)).id == "s0"
        await found.aclose()
        await gone.wait()
