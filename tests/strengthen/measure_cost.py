"""Measures what a stronger suite costs to grade: `python -m tests.strengthen.measure_cost FILE`.

Each problem keeps its first two tests and is made stronger. Then its references are graded with all tests of the
stronger suite, and with as many tests of the data. Prints the CPU time of the programs in both, and their ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from sandbox_service.commands.recipe_judge import local_judge
from sandbox_service.errors import ProctorError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Limits, TestCase
from sandbox_service.settings import Settings
from sandbox_service.strengthen import work
from sandbox_service.strengthen.runs import Runner
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.measure import first_tests, problems
from tests.strengthen.world import Memory

REPEATS = 3  # the least CPU time of so many runs counts


async def measure(problem: Problem, judge: Judge, recipe: Recipe) -> tuple[int, float, float] | str:
    """Return the number of tests, and the CPU seconds with the tests of the data and with the stronger suite.

    Args:
        problem: With all its tests.
        judge: Grades.
        recipe: Says how much to do.
    """
    small = problem.model_copy(update={"tests": first_tests(problem, 2)})
    record = await work.strengthen(Runner(small, judge, Memory()), recipe)
    if record["reason"]:
        return str(record["reason"])
    stronger = work.with_tests(small, record).tests or []
    count = min(len(stronger), len(problem.tests or []))
    given = (problem.tests or [])[:count]
    added = stronger[len(stronger) - count :]  # those of the data that both have are left out first
    return count, await _seconds(problem, judge, given), await _seconds(problem, judge, added)


async def _seconds(problem: Problem, judge: Judge, tests: list[TestCase]) -> float:
    shared = {
        "tests": [each.model_dump(mode="json") for each in tests],
        "limits": (problem.limits or Limits()).model_dump(mode="json"),
        "stop_on_failure": False,
    }
    sent = [{"code": each.code, "language": each.language} for each in problem.references[:1]] * REPEATS
    grades = await judge.grade(shared, sent)
    return min(sum(each.cpu_seconds for each in grade.tests) for grade in grades)


async def _main(options: argparse.Namespace) -> None:
    made = {"inputs": options.inputs, "mutants": options.mutants, "large_tests": options.large_tests}
    recipe = Recipe.model_validate({"name": "m", "sources": [{"path": "x"}], "strengthen": made})
    os.environ.setdefault("SANDBOX_LOG_LEVEL", "warning")
    total = [0.0, 0.0]
    async with local_judge(Settings.from_environment()) as judge:
        for problem in problems(options.file, options.step, options.limit):
            try:
                found = await measure(problem, judge, recipe)
            except ProctorError as error:
                found = str(error)
            if isinstance(found, str):
                print(f"{problem.id}: {found}", flush=True)
                continue
            count, given, added = found
            total = [total[0] + given, total[1] + added]
            print(f"{problem.id}: {count} tests, {given:.3f} → {added:.3f} s", flush=True)
    print(f"CPU time {total[0]:.2f} → {total[1]:.2f} s, {total[1] / max(total[0], 1e-9):.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--limit", type=int, default=10_000)
    parser.add_argument("--inputs", type=int, default=32)
    parser.add_argument("--mutants", type=int, default=16)
    parser.add_argument("--large-tests", type=int, default=1)
    asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
