"""Scouts: further mutants, which have a part in the choice of tests and are not counted.

The given tests refuse most mutants. Those that pass have subtle mistakes, as wrong programs of people have, and say
which inputs tell such ones; but there are few among the mutants that are counted, which have to be a fair sample. So
many more are made and run on the given tests, where most stop at once. Only those that pass are run on made inputs.
A run out of time says little about a mistake, and costs most: it is no failure, and the scout stops there. Tests on
which a reference takes long are left out, and a scout stops when it has used its time.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from sandbox_service.schema import Limits, Verdict
from sandbox_service.strengthen.answers import Candidate
from sandbox_service.strengthen.runs import Program, Runner

MOST_PASSED = 40  # scouts that run on made inputs
CHUNK = 8  # tests at a time: few, so that a scout which runs out of time soon stops
MOST_FAILURES = 8  # a scout stops after so many: nearly every test refuses it
LIMIT_SECONDS = 0.2  # of CPU time on each test
SLOW_SECONDS = 0.05  # of a reference on tests that are left out
BUDGET_SECONDS = 0.5  # of a scout, on all made inputs
NO_ANSWER = (Verdict.TLE, Verdict.MLE, Verdict.OLE)


async def failures(runner: Runner, scouts: Sequence[Program], candidates: Sequence[Candidate]) -> list[Set[int]]:
    """Return the places of the tests that each scout fails, of scouts that pass the given tests.

    Args:
        runner: Runs programs.
        scouts: Further mutants.
        candidates: Valid tests.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    limits = _limits(runner.problem.limits or Limits())
    before = await runner.run(scouts, runner.problem.tests or [], limits)
    passed = _spread([each for each, row in zip(scouts, before, strict=True) if row.passed])
    places = [place for place, each in enumerate(candidates) if (each.seconds or 0.0) <= SLOW_SECONDS]
    failed: list[set[int]] = [set() for _ in passed]
    used = [0.0] * len(passed)
    running = list(range(len(passed)))
    for start in range(0, len(places), CHUNK):
        chunk = places[start : start + CHUNK]
        tests = [candidates[place].test for place in chunk]
        rows = await runner.run([passed[each] for each in running], tests, limits, to_the_end=True)
        for each, row in zip(running, rows, strict=True):
            failed[each] |= {
                place
                for place, verdict in zip(chunk, row.verdicts, strict=False)
                if verdict not in (Verdict.AC, *NO_ANSWER)
            }
            used[each] += BUDGET_SECONDS if set(row.verdicts) & set(NO_ANSWER) else sum(row.seconds)
        running = [each for each in running if len(failed[each]) < MOST_FAILURES and used[each] < BUDGET_SECONDS]
    return [each for each in failed if each]


def _spread(scouts: Sequence[Program]) -> Sequence[Program]:
    """Every so many of the scouts, so that those of all references are among them."""
    return scouts[:: max(-(-len(scouts) // MOST_PASSED), 1)]


def _limits(limits: Limits) -> Limits:
    return limits.model_copy(update={"cpu_seconds": min(LIMIT_SECONDS, limits.cpu_seconds), "wall_seconds": None})
