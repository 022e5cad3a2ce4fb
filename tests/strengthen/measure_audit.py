"""Measures audit tests: `python -m tests.strengthen.measure_audit FILE`.

Each problem gets audit tests only. Planted among right programs are tables of all given tests, and special-casers:
these know the given tests and are a mutant otherwise, one that had no part in the choice of the audit tests.
`SANDBOX_AUDIT_TEST_SHARE` says on which programs audit tests run, as in a service.
Counted are those that pass all given tests and fail one of the made inputs. Right programs are the reference in several
spellings, so an accusation shows an unstable test, not a wrong one.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

from sandbox_service.errors import ProctorError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Limits
from sandbox_service.settings import Settings
from sandbox_service.strengthen import mutants, tables, work, wrong_programs
from sandbox_service.strengthen.calls import Calls, calls_of
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.subjects import subject_of
from sandbox_service.validation.judge import Judge, local_judge
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.measure import problems
from tests.strengthen.world import Memory


def special_caser(code: str, calls: Calls) -> str:
    """Return a program that knows the given calls and runs the code otherwise."""
    known = tables.of_calls(calls.function, calls.given)[0].code
    name = calls.function
    return (
        f"{code}\nreal = {name}\n{known}"
        f"def {name}(*args):\n    return known[repr(list(args))] if repr(list(args)) in known else real(*args)\n"
    )


def spellings(code: str, count: int) -> list[str]:
    """Return the same program in several spellings."""
    plain = ast.unparse(ast.parse(code))
    return [f"{code if n % 2 else plain}\n# spelling {n}\n" for n in range(count)]


async def measure(problem: Problem, judge: Judge, recipe: Recipe, rights: int) -> Counter[str] | str:
    """Return counts for one problem, or why there are none."""
    subject, calls = subject_of(problem), calls_of(problem.tests or [])
    if isinstance(subject, str) or calls is None:
        return "its tests are not plain calls of one function"
    runner, limits = Runner(problem, judge, Memory()), problem.limits or Limits()
    references = await work.sound_references(runner, problem.references, limits)
    if not references:
        return "no reference passes"
    answered = await work.valid_tests(runner, recipe, subject, references)
    choosing = wrong_programs.mutants_of(problem, references, recipe.strengthen.mutants)
    choice = work.chosen(await work.fails_of(runner, recipe, choosing, answered), recipe)
    merged = subject.merged([choice.candidates[place].test for place in choice.audit])
    audit = [each.model_copy(update={"role": "audit"}) for each in merged]
    used = {each.code for each in choosing}
    every = mutants.of(references[0].code, 200, random.Random(f"{problem.id} planted"))
    others = [each for each in every if each.code not in used][:8]
    planted = [Program("table", "table", subject.tables()[0].code)]
    planted += [Program("wrong", "special-caser", special_caser(each.code, calls)) for each in others]
    found = await work.fails_of(runner, recipe, planted, answered)
    wrong = [found.programs[place] for place in found.passed if found.fails[place]][:3]
    right = [Program("reference", "right", code) for code in spellings(references[0].code, rights)]
    return await _graded(problem, judge, audit, [*wrong, *right])


async def _graded(problem: Problem, judge: Judge, audit: list[Any], programs: list[Program]) -> Counter[str]:
    tests = [*(problem.tests or []), *audit]
    shared = {
        "tests": [each.model_dump(mode="json") for each in tests],
        "limits": (problem.limits or Limits()).model_dump(mode="json"),
    }
    grades = await judge.grade(shared, [{"code": each.code} for each in programs])
    counts: Counter[str] = Counter(problems=1, audit_tests=len(audit))
    for program, grade in zip(programs, grades, strict=True):
        if grade.verdict != "AC":
            counts[f"{program.name} refused"] += 1
            continue
        counts[program.name] += 1
        counts[f"{program.name} audited"] += bool(grade.audit)
        counts[f"{program.name} suspect"] += grade.suspect
        counts[f"{program.name} scored ms"] += round(1000 * sum(each.cpu_seconds for each in grade.tests))
        counts[f"{program.name} audit ms"] += round(1000 * sum(each.cpu_seconds for each in grade.audit or ()))
    return counts


async def _main(options: argparse.Namespace) -> None:
    made = {"tests": 0, "least_tests": 0, "audit": options.audit, "inputs": 32, "mutants": 16}
    recipe = Recipe.model_validate({"name": "m", "sources": [{"path": "x"}], "strengthen": made})
    os.environ.setdefault("SANDBOX_LOG_LEVEL", "warning")
    total: Counter[str] = Counter()
    async with local_judge(Settings.from_environment()) as judge:
        for problem in problems(options.file, options.step, options.limit):
            try:
                found = await measure(problem, judge, recipe, options.rights)
            except ProctorError as error:
                found = str(error)
            if isinstance(found, str):
                print(f"{problem.id}: {found}", flush=True)
            else:
                total += found
                print(problem.id, dict(found), flush=True)
    print(json.dumps(total, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--audit", type=int, default=32)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--limit", type=int, default=10_000)
    parser.add_argument("--rights", type=int, default=12)
    asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
