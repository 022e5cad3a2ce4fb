"""Merges chosen tests: calls in one test program take one process. References must pass what was merged.

Each test was judged in a process of its own. In one process, a program that keeps something between two calls may
answer otherwise, and the time of all calls counts together. Where a reference does not pass, the tests stay apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandbox_service.schema import Limits, TestCase
from sandbox_service.strengthen.answers import Candidate
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.subjects import Subject

STATED_AUDIT_FACTOR = 8  # an audit test may take so many times the slowest reference's CPU time,
PYTHON_FACTOR = 10  # … and so many times more where no reference is in Python
LEAST_AUDIT_SECONDS = 0.02


@dataclass(frozen=True)
class Merged:
    """Tests in as few as references pass, and for each the CPU time of the slowest reference, if that is known."""

    tests: list[TestCase]
    seconds: list[float | None]


async def scored_tests(
    runner: Runner, subject: Subject, chosen: Sequence[Candidate], references: Sequence[Program]
) -> list[TestCase]:
    """Return chosen tests in as few as references pass.

    Args:
        runner: Runs programs.
        subject: Merges tests.
        chosen: The tests.
        references: They passed each test on its own.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    return (await _merged(runner, subject.merged, chosen, references)).tests


async def audit_tests(
    runner: Runner, subject: Subject, chosen: Sequence[Candidate], references: Sequence[Program]
) -> list[TestCase]:
    """Return audit tests, each with a limit on its CPU time: an endless program costs no more than that.

    Args:
        runner: Runs programs.
        subject: Merges tests.
        chosen: The tests.
        references: They passed each test on its own.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    merged = await _merged(runner, subject.merged_audit, chosen, references)
    has_python = any(each.language == "python" for each in references)
    factor = STATED_AUDIT_FACTOR if has_python else STATED_AUDIT_FACTOR * PYTHON_FACTOR
    return [
        test.model_copy(update={"role": "audit", "cpu_seconds": _limit(seconds, factor)})
        for test, seconds in zip(merged.tests, merged.seconds, strict=True)
    ]


async def _merged(
    runner: Runner,
    merge: Callable[[Sequence[TestCase]], list[TestCase]],
    chosen: Sequence[Candidate],
    references: Sequence[Program],
) -> Merged:
    apart = Merged([each.test for each in chosen], [each.seconds for each in chosen])
    tests = merge(apart.tests)
    if len(tests) == len(chosen):
        return Merged(tests, apart.seconds)
    rows = await runner.run(references, tests, runner.problem.limits or Limits(), to_the_end=True)
    if not all(row.passed for row in rows):
        return apart
    return Merged(tests, [max(row.seconds[place] for row in rows) for place in range(len(tests))])


def _limit(seconds: float | None, factor: int) -> float | None:
    return None if seconds is None else max(LEAST_AUDIT_SECONDS, round(factor * seconds, 3))
