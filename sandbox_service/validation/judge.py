"""The judge of the validation: the interface, and a judge that sends submissions with a fault again.

`commands/recipe_judge.py` has the judges themselves: the slots of this machine, or a service. A sandbox fault (IE) says
nothing about a program: such a submission is sent again, and in the end reported as not judged. A test that cannot be
run and a refused problem (BadRequestError) are final.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sandbox_service.errors import RetryLaterError, UnavailableError
from sandbox_service.schema import FailureKind, Grade, Verdict

Fields = Mapping[str, Any]

TRIES = 5
WAIT_SECONDS = 1.0  # before the second try, doubled before each further one


class Judge(Protocol):
    """Grades submissions that share a problem."""

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        """Return the grades of the submissions, in order.

        Args:
            shared: Fields that all submissions have in common.
            submissions: The other fields of each.

        Raises:
            BadRequestError: The problem is refused.
            UnavailableError: No grader is available.
        """
        ...


class RetryingJudge:
    """Sends submissions with a fault again. A grade that is still IE after the last try is returned as it is."""

    def __init__(self, judge: Judge, wait_seconds: float = WAIT_SECONDS) -> None:
        self._judge = judge
        self._wait_seconds = wait_seconds

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        """See `Judge`."""
        grades = await self._grade_once(shared, submissions)
        for number in range(1, TRIES):
            faults = [place for place, grade in enumerate(grades) if is_fault(grade)]
            if not faults:
                break
            await asyncio.sleep(self._wait_seconds * 2 ** (number - 1))
            again = await self._grade_once(shared, [submissions[place] for place in faults])
            for place, grade in zip(faults, again, strict=True):
                grades[place] = grade
        return grades

    async def _grade_once(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        for number in range(TRIES - 1):
            try:
                return await self._judge.grade(shared, submissions)
            except (UnavailableError, RetryLaterError):
                await asyncio.sleep(self._wait_seconds * 2**number)
        return await self._judge.grade(shared, submissions)


def is_fault(grade: Grade) -> bool:
    """Return whether a grade has no verdict and another try may have one."""
    return grade.verdict == Verdict.IE and grade.failure_kind not in (FailureKind.BAD_TEST, FailureKind.BAD_CHECKER)
