"""Compares made tests with those of MBPP+: `python -m tests.strengthen.measure_plus MBPP MBPPPLUS --journal PATH`.

Both files have the same problems. The stronger suite is made from MBPP's assertions and reference. Counted are mutants
of this reference that some test tells from it: how many MBPP's assertions refuse, how many the stronger suite, of which
a mutant had no part in the choice, and how many MBPP+. MBPP+ asks for something else in some problems, such as fewer
arguments: it refuses MBPP's reference there, and every mutant with it, equivalent ones too. These problems are counted
apart. The reference of MBPP+ is a right program that had no part, where it passes MBPP's assertions.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sandbox_service.commands.recipe_judge import local_judge
from sandbox_service.errors import ProctorError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Limits
from sandbox_service.settings import Settings
from sandbox_service.strengthen import choice, strength, work, wrong_programs
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.subjects import subject_of
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.measure import problems


def refused(found: choice.Choice, recipe: Recipe) -> set[int]:
    """Return the places of mutants that fail a given test, or an added one that the other four fifths chose."""
    out = {place for place in range(len(found.programs)) if place not in found.fails}
    for part in strength.folds(len(found.programs)):
        tests = set(choice.chosen(found, recipe, without=part).chosen)
        out |= {place for place in part if found.fails.get(place, set()) & tests}
    return out


async def passes(runner: Runner, programs: Sequence[Program], problem: Problem) -> list[bool]:
    """Return which programs pass the tests of another problem."""
    other = Runner(problem, runner.judge, runner.records)
    rows = await other.run(programs, problem.tests or [], problem.limits or Limits())
    return [row.passed for row in rows]


async def compare(plain: Problem, plus: Problem, judge: Judge, journal: Journal, recipe: Recipe) -> Counter[str] | str:
    """Return the counts of a problem, or why there are none."""
    runner, subject = Runner(plain, judge, journal), subject_of(plain)
    if isinstance(subject, str):
        return subject
    limits = plain.limits or Limits()
    references = await work.sound_references(runner, plain.references, limits)
    if not references:
        return "no reference passes"
    answered = await work.valid_tests(runner, recipe, subject, references)
    mutants = wrong_programs.mutants_of(plain, references, recipe.strengthen.mutants)
    found = await work.fails_of(runner, recipe, mutants, answered)
    by_plus = await passes(runner, found.programs, plus)
    by_made = refused(found, recipe)
    told = {place for place in range(len(found.programs)) if found.fails.get(place, {0}) or not by_plus[place]}
    chosen = choice.chosen(found, recipe)
    added = plain.model_copy(
        update={"tests": subject.merged([answered.candidates[place].test for place in chosen.chosen])}
    )
    theirs = [Program("reference", "plus", each.code) for each in plus.references[:1]]
    is_right = (await passes(runner, theirs, plain))[0]
    is_accepted = (await passes(runner, theirs, added) if chosen.chosen else [True])[0]
    asks_the_same = (await passes(runner, references[:1], plus))[0]
    where = "where MBPP+ accepts MBPP's reference" if asks_the_same else "elsewhere"
    return Counter(
        {
            "problems": 1,
            "added": len(chosen.chosen),
            f"problems {where}": 1,
            f"mutants {where}": len(told),
            f"refused by MBPP {where}": sum(place not in found.fails for place in told),
            f"refused by the stronger suite {where}": len(told & by_made),
            f"refused by MBPP+ {where}": sum(not by_plus[place] for place in told),
            "references of MBPP+ that MBPP accepts": is_right,
            "references of MBPP+ that MBPP and the added tests accept": is_right and is_accepted,
        }
    )


async def _measured(options: argparse.Namespace) -> Counter[str]:
    made = {"inputs": options.inputs, "mutants": options.mutants}
    recipe = Recipe.model_validate({"name": "measure", "sources": [{"path": "none"}], "strengthen": made})
    plain = {each.id.rpartition("/")[2]: each for each in problems(options.mbpp, 1, 10_000)}
    os.environ.setdefault("SANDBOX_LOG_LEVEL", "warning")
    total: Counter[str] = Counter()
    with Journal(options.journal, f"plus {recipe.strengthen.model_dump_json()}") as journal:
        async with local_judge(Settings.from_environment()) as judge:
            for plus in problems(options.plus, options.step, 10_000):
                name = plus.id.rpartition("/")[2]
                try:
                    one = await compare(plain[name], plus, judge, journal, recipe)
                except ProctorError as error:
                    one = str(error)
                print(f"{name}: {one if isinstance(one, str) else dict(one)}", flush=True)
                total += Counter() if isinstance(one, str) else one
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mbpp", type=Path)
    parser.add_argument("plus", type=Path)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--inputs", type=int, default=32)
    parser.add_argument("--mutants", type=int, default=20)
    for name, count in asyncio.run(_measured(parser.parse_args())).items():
        print(f"{count:6} {name}")


if __name__ == "__main__":
    main()
