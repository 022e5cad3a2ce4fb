"""Measures audit tests: `python -m tests.strengthen.measure_audit FILE`.

Each problem gets audit tests only. Planted among right programs are tables of all given tests, and special-casers:
these know the given tests and are a mutant otherwise, one that had no part in the choice of the audit tests.
`SANDBOX_AUDIT_TEST_SHARE` says on which programs audit tests run, as in a service.
Counted are those that pass all given tests and fail one of the made inputs. Right programs are the references in
several spellings, ten for each planted program, so an accusation shows an unstable test, not a wrong one.

At the end all programs are graded without and with audit tests in turns. The CPU time is that of the whole service: the
queue, the slots and the boxes, in a cgroup.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu import FALLBACK_NOTE, Group, Meter, counted
from sandbox_service.commands.recipe_judge import local_judge
from sandbox_service.errors import ProctorError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Grade, Limits, StdinTest, TestCase
from sandbox_service.settings import Settings
from sandbox_service.strengthen import choice, mutants, tables, work, wrong_programs
from sandbox_service.strengthen.calls import Calls, calls_of
from sandbox_service.strengthen.merging import audit_tests
from sandbox_service.strengthen.runs import Program, Records, Runner
from sandbox_service.strengthen.subjects import subject_of
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.measure import problems


def special_caser(code: str, calls: Calls) -> str:
    """Return a program that knows the given calls and runs the code otherwise."""
    known = tables.of_calls(calls.function, calls.given)[0].code
    name = calls.function
    return (
        f"{code}\nreal = {name}\n{known}"
        f"def {name}(*args):\n    return known[repr(list(args))] if repr(list(args)) in known else real(*args)\n"
    )


def special_reader(code: str, problem: Problem) -> str:
    """Return a program that knows the given inputs of a problem and runs the code otherwise."""
    known = {each.input: each.outputs[0] for each in problem.tests or [] if isinstance(each, StdinTest)}
    return (
        f"import io, sys\nknown = {known!r}\ngiven = sys.stdin.read()\nif given in known:\n    print(known[given])\n"
        f"    sys.exit()\nsys.stdin = io.StringIO(given)\n{code}"
    )


def spellings(code: str, count: int) -> list[str]:
    """Return the same program in several spellings."""
    plain = ast.unparse(ast.parse(code))
    return [f"{code if n % 2 else plain}\n# spelling {n}\n" for n in range(count)]


@dataclass(frozen=True)
class Planted:
    """A problem with audit tests, and the programs that are graded: planted ones, then right ones."""

    problem: Problem
    audit: list[TestCase]
    wrong: list[Program]
    right: list[Program]


async def planted(problem: Problem, judge: Judge, records: Records, recipe: Recipe, rights: int) -> Planted | str:
    """Return a problem with its programs, or why there are none.

    Args:
        problem: With references.
        judge: Grades.
        records: What was judged before.
        recipe: Says how much to do.
        rights: Right programs for each planted one.
    """
    subject, calls = subject_of(problem), calls_of(problem.tests or [])
    if isinstance(subject, str):
        return subject
    runner, limits = Runner(problem, judge, records), problem.limits or Limits()
    references = await work.sound_references(runner, problem.references, limits)
    python = [each for each in references if each.language == "python"]
    if not python:
        return "no reference passes"
    answered = await work.valid_tests(runner, recipe, subject, references)
    choosing = wrong_programs.mutants_of(problem, references, recipe.strengthen.mutants)
    picked = choice.chosen(await work.fails_of(runner, recipe, choosing, answered), recipe)
    audit = await audit_tests(runner, subject, [picked.candidates[place] for place in picked.audit], references)
    used = {each.code for each in choosing}
    every = mutants.of(python[0].code, 200, random.Random(f"{problem.id} planted"))
    others = [each for each in every if each.code not in used][:8]
    programs = [Program("table", "table", subject.tables()[0].code)]
    for each in others:
        code = special_caser(each.code, calls) if calls else special_reader(each.code, problem)
        programs.append(Program("wrong", "special-caser", code))
    found = await work.fails_of(runner, recipe, programs, answered)
    wrong = [found.programs[place] for place in found.passed if found.fails[place]][:3]
    count = rights * max(len(wrong), 1)
    spelt = [spellings(each.code, count) for each in python]
    right = [code for of_one in zip(*spelt, strict=True) for code in of_one][:count]
    return Planted(problem, audit, wrong, [Program("reference", "right", code) for code in right])


async def graded(judge: Judge, each: Planted, *, is_audited: bool) -> list[Grade]:
    """Return the grades of all programs of a problem.

    Args:
        judge: Grades.
        each: The problem.
        is_audited: With its audit tests.
    """
    tests = [*(each.problem.tests or []), *(each.audit if is_audited else ())]
    shared = {
        "tests": [test.model_dump(mode="json") for test in tests],
        "limits": (each.problem.limits or Limits()).model_dump(mode="json"),
        "checker": each.problem.checker.model_dump(mode="json") if each.problem.checker else {"type": "tokens"},
    }
    return await judge.grade(shared, [{"code": program.code} for program in (*each.wrong, *each.right)])


def counts_of(each: Planted, grades: Sequence[Grade]) -> Counter[str]:
    """Return how many programs of each kind were audited and suspect, and the CPU time of their boxes."""
    counts: Counter[str] = Counter(problems=1, audit_tests=len(each.audit))
    for program, grade in zip((*each.wrong, *each.right), grades, strict=True):
        if grade.verdict != "AC":
            counts[f"{program.name} refused"] += 1
            continue
        counts[program.name] += 1
        counts[f"{program.name} audited"] += bool(grade.audit)
        counts[f"{program.name} suspect"] += grade.suspect
        counts[f"{program.name} scored ms"] += round(1000 * sum(test.cpu_seconds for test in grade.tests))
        counts[f"{program.name} audit ms"] += round(1000 * sum(test.cpu_seconds for test in grade.audit or ()))
    return counts


async def cpu_seconds(judge: Judge, each: Planted, group: Group | None, rounds: int) -> tuple[float, float]:
    """Return the CPU seconds of a problem's programs without and with audit tests, which take turns.

    Args:
        judge: Grades.
        each: The problem and its programs.
        group: Counts.
        rounds: How often.
    """
    total = [0.0, 0.0]
    for number in range(rounds):
        for is_audited in (False, True) if number % 2 else (True, False):
            with Meter(group) as meter:
                await graded(judge, each, is_audited=is_audited)
            total[is_audited] += meter.seconds
    return total[0], total[1]


async def _main(options: argparse.Namespace, group: Group | None) -> None:
    made = {"tests": 0, "least_tests": 0, "audit": options.audit, "inputs": 32, "mutants": 16}
    recipe = Recipe.model_validate({"name": "m", "sources": [{"path": "x"}], "strengthen": made})
    os.environ.setdefault("SANDBOX_LOG_LEVEL", "warning")
    total: Counter[str] = Counter()
    every: list[Planted] = []
    with Journal(options.journal, "measure audit") as journal:
        async with local_judge(Settings.from_environment()) as judge:
            for problem in problems(options.file, options.step, options.limit):
                try:
                    found = await planted(problem, judge, journal, recipe, options.rights)
                except ProctorError as error:
                    found = str(error)
                if isinstance(found, str):
                    print(f"{problem.id}: {found}", flush=True)
                    continue
                counts = counts_of(found, await graded(judge, found, is_audited=True))
                print(problem.id, dict(counts), flush=True)
                total += counts
                every.append(found)
            print(json.dumps(total, indent=1))
            without = within = 0.0
            for each in every:
                seconds = await cpu_seconds(judge, each, group, options.rounds)
                print(f"{each.problem.id}: {seconds[0]:.2f} → {seconds[1]:.2f} s", flush=True)
                without, within = without + seconds[0], within + seconds[1]
    print(f"CPU time {without:.2f} → {within:.2f} s: {100 * within / without - 100:+.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--audit", type=int, default=6)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--limit", type=int, default=10_000)
    parser.add_argument("--rights", type=int, default=10, help="right programs for each planted one")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with counted("audit") as group:
        if group is None:
            print(FALLBACK_NOTE)
        asyncio.run(_main(options, group))


if __name__ == "__main__":
    main()
