"""Scouts: further mutants, which have a part in the choice of tests and are not counted.

The given tests refuse most mutants. Those that pass have subtle mistakes, as wrong programs of people have, and say
which inputs tell such ones; but there are few among the mutants that are counted, which have to be a fair sample. So
many more are made and run on the given tests, where most stop at once. Only those that pass are run on made inputs.
A run out of time says little about a mistake, and costs most: it is no failure, and the scout stops there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set

from sandbox_service.schema import Limits, TestCase, Verdict
from sandbox_service.strengthen.runs import Program, Runner

MOST_PASSED = 40  # scouts that run on made inputs
CHUNK = 16  # tests at a time
MOST_FAILURES = 8  # a scout stops after so many: nearly every test refuses it
LEAST_SECONDS, FACTOR, STEP = 0.2, 3, 0.1  # of CPU time, by that of the slowest reference
NO_ANSWER = (Verdict.TLE, Verdict.MLE, Verdict.OLE)


async def failures(
    runner: Runner, scouts: Sequence[Program], tests: Sequence[TestCase], slowest_seconds: float
) -> list[Set[int]]:
    """Return the places of the tests that each scout fails, of scouts that pass the given tests.

    Args:
        runner: Runs programs.
        scouts: Further mutants.
        tests: Valid tests.
        slowest_seconds: CPU time of the slowest reference.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    limits = _limits(runner.problem.limits or Limits(), slowest_seconds)
    before = await runner.run(scouts, runner.problem.tests or [], limits)
    passed = [each for each, row in zip(scouts, before, strict=True) if row.passed][:MOST_PASSED]
    failed: list[set[int]] = [set() for _ in passed]
    running = list(range(len(passed)))
    for start in range(0, len(tests), CHUNK):
        chunk = tests[start : start + CHUNK]
        rows = await runner.run([passed[place] for place in running], chunk, limits, to_the_end=True)
        for place, row in zip(running, rows, strict=True):
            failed[place] |= {
                start + at for at, verdict in enumerate(row.verdicts) if verdict not in (Verdict.AC, *NO_ANSWER)
            }
        running = [
            place
            for place, row in zip(running, rows, strict=True)
            if len(failed[place]) < MOST_FAILURES and not set(row.verdicts) & set(NO_ANSWER)
        ]
    return [each for each in failed if each]


def _limits(limits: Limits, slowest_seconds: float) -> Limits:
    seconds = round(math.ceil(max(LEAST_SECONDS, FACTOR * slowest_seconds) / STEP) * STEP, 1)
    return limits.model_copy(update={"cpu_seconds": min(seconds, limits.cpu_seconds), "wall_seconds": None})
