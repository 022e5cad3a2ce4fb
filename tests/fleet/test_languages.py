"""Submissions in a language that a worker of the fleet lacks are refused when they are submitted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_service.errors import LimitTooHighError, UnsupportedLanguageError
from sandbox_service.fleet.ledger.entries import Totals, WorkerState
from sandbox_service.fleet.status import FleetStatus
from sandbox_service.grading import suites
from sandbox_service.judging import standard_checkers
from sandbox_service.queues.base import Job, job_of
from sandbox_service.schema import Checker, JudgeProgram, StdinTest, Submission

JUDGE: dict[str, Any] = {"type": "program", "language": "c++", "source": "int main() {}"}


def job(suite_checker: dict[str, Any] | None = None, **fields: Any) -> Job:
    """A job of a submission with one test."""
    submission = Submission.model_validate({"id": "x", "code": "1", "suite": f"sha256:{'0' * 64}"} | fields)
    checker = JudgeProgram.model_validate(suite_checker) if suite_checker else None
    return job_of(submission, suites.of_tests([StdinTest(output="1")], checker=checker))


def fleet_of(**toolchains: list[str] | None) -> FleetStatus:
    """A fleet of workers that registered these toolchains; None for one of an earlier version."""
    status = FleetStatus(None, caches=False)  # type: ignore[arg-type]
    status._workers = {
        name: WorkerState({} if found is None else {"toolchains": found}, 2, 0, 2) for name, found in toolchains.items()
    }
    return status


def test_a_language_that_every_worker_has_is_accepted() -> None:
    fleet_of(one=["cpp", "java"], two=["cpp"]).require(["cpp", "python", "text"])


@pytest.mark.parametrize("second", [[], ["java"], None])
def test_a_language_that_one_worker_lacks_is_refused_with_its_name_and_the_package(second: list[str] | None) -> None:
    fleet = fleet_of(one=["cpp"], two=second)
    with pytest.raises(UnsupportedLanguageError, match=r"'cpp' is missing on the worker two: apt-get install g\+\+"):
        fleet.require(["python", "cpp"])
    fleet.require(["python"])


def test_the_languages_of_judges_count_as_well() -> None:
    assert job().languages == ("python",)
    assert job(checker=JUDGE).languages == ("python", "cpp")
    assert job(checker={"type": "suite"}, suite_checker=JUDGE).languages == ("python", "cpp")
    assert job(language="c", interactor=JUDGE | {"language": "py"}).languages == ("c", "python")


def test_a_checker_program_that_a_built_in_one_replaces_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = standard_checkers.hash_of(JUDGE["source"])
    monkeypatch.setitem(standard_checkers.KNOWN, hashed, ("any", Checker(type="tokens")))
    assert job(checker=JUDGE).languages == ("python",)
    assert job(checker=JUDGE, interactor=JUDGE).languages == ("python", "cpp")


def test_without_a_worker_a_submission_waits() -> None:
    fleet_of().require(["cpp"])


class _Workers:
    """A ledger that has these workers."""

    def __init__(self) -> None:
        self.states: dict[str, WorkerState] = {}

    async def totals(self) -> Totals:
        return Totals(0, 0, 0, 0.0, 0.0, 0, {}, len(self.states))

    async def lost_seconds_ago(self) -> None:
        return None

    async def workers(self) -> dict[str, WorkerState]:
        return dict(self.states)


def test_workers_that_come_and_go_decide_what_is_accepted_from_the_next_look_on() -> None:
    ledger = _Workers()
    status = FleetStatus(ledger, caches=False)  # type: ignore[arg-type]
    small = job(limits={"memory_bytes": 2 << 30})

    def seen(**workers: tuple[list[str], int]) -> FleetStatus:
        ledger.states = {
            name: WorkerState({"toolchains": toolchains, "memory_bytes": memory}, 2, 0, 2)
            for name, (toolchains, memory) in workers.items()
        }
        asyncio.run(status.refresh())
        return status

    seen(one=(["cpp"], 4 << 30)).require(["cpp"])
    status.require_memory([small])
    seen(one=(["cpp"], 4 << 30), two=([], 1 << 30))
    with pytest.raises(UnsupportedLanguageError, match="the worker two"):
        status.require(["cpp"])
    with pytest.raises(LimitTooHighError, match="the worker two has 1073741824"):
        status.require_memory([small])
    seen(one=(["cpp"], 4 << 30)).require(["cpp"])
    status.require_memory([small])
