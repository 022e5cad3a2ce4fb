"""Grades stdin programs of collected problems with a box for each test and with shared boxes, and lists differences.

Each pass takes another random choice of tests in another order, since what one test leaves behind is found by the next.
Programs: all solutions of the stdin problems, right and wrong; mutants of the right ones; and from a checkout's corpus
the unusual programs, those with a known verdict, and the attacks, with their only test repeated. A difference is
another verdict of a test, or another output of a test that passed. A failure ends a submission, as it does by default.

    python -m benchmarks shared_runs
    python -m benchmarks shared_runs --cpu-seconds 60
    python -m benchmarks shared_runs --runs 20000
    python -m benchmarks shared_runs --language java       # the programs of java_programs.py
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import java_programs, workloads
from benchmarks.cpu import counted
from benchmarks.workloads import Body
from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.schema import Grade, Submission, TestResult
from sandbox_service.settings import Settings
from sandbox_service.strengthen import mutants

CPU_SECONDS = 600.0
FILES = ("codecontests_100", "kattis_problemtools", "kodsport_wrong")
REPETITIONS = 5  # of the only test of a program in the corpus
DEAR_SECONDS = {"python": 1.0, "java": 15.0}
"""A program that takes longer, with all tests in both ways, is run in the first pass only."""
SEED = 23
REPORT_EVERY = 50  # programs
MOST_TESTS = 12  # of a program in one pass
MUTANTS = 4  # of each right program
LIMITS = {"cpu_seconds": 2.0, "wall_seconds": 6.0}


@dataclass
class Counts:
    """What was compared: programs, runs of a test in each of the two ways, passes in shared boxes, differences."""

    programs: int = 0
    runs: int = 0
    shared: int = 0
    differences: int = 0


def main(arguments: list[str]) -> int:
    """Compare until the CPU time is used up or enough is compared; returns 1 after a difference, 2 without data."""
    options = _options(arguments)
    try:
        programs = dict(_of_language(options.language, options.data))
    except workloads.NoDataError as reason:
        print(f"cannot run: {reason}")
        return 2
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(counted("shared_runs"))
        used = group.seconds if group else time.process_time
        grader = stack.enter_context(bootstrap.grader(Settings()))
        counts = _compare_all(grader, programs, used, options)
    print(
        f"{counts.programs} programs, {counts.runs} runs of a test in each way, {counts.shared} of them passed in a "
        f"box after others, {counts.differences} differences"
    )
    return int(counts.differences > 0)


def _compare_all(grader: Grader, programs: dict[str, Body], used: Any, options: argparse.Namespace) -> Counts:
    rng, counts, dear = random.Random(SEED), Counts(programs=len(programs)), set[str]()
    began = used()
    for number in itertools.count(1):
        for place, (name, body) in enumerate(programs.items()):
            if used() - began > options.cpu_seconds or counts.runs >= options.runs:
                return counts
            if name not in dear:
                before = time.monotonic()
                _compare(
                    grader,
                    name,
                    body | {"tests": rng.sample(body["tests"], min(MOST_TESTS, len(body["tests"])))},
                    counts,
                )
                if time.monotonic() - before > DEAR_SECONDS[options.language]:
                    dear.add(name)
            if place % REPORT_EVERY == REPORT_EVERY - 1:
                print(f"pass {number}, program {place + 1}, {used() - began:.0f} s: {counts}", flush=True)
        if len(dear) == len(programs):
            return counts
    return counts


def _compare(grader: Grader, name: str, body: Body, counts: Counts) -> None:
    fresh, shared = (_grade(grader, body, isolation) for isolation in ("test", "submission"))
    counts.runs += len(fresh.tests)
    counts.shared += shared.shared
    for one, other in itertools.zip_longest(fresh.tests, shared.tests):
        if one is None or other is None or not _is_same(one, other):
            counts.differences += 1
            print(f"DIFFERENT {name}: fresh {_shown(one)}, shared {_shown(other)}", flush=True)


def _is_same(one: TestResult, other: TestResult) -> bool:
    return one.verdict == other.verdict and (one.verdict != "AC" or one.stdout == other.stdout)


def _shown(result: TestResult | None) -> str:
    return "none" if result is None else f"{result.index} {result.verdict} {result.message} {result.stdout[:80]!r}"


def _grade(grader: Grader, body: Body, isolation: str) -> Grade:
    more: Body = {"isolation": isolation, "display_bytes": 1 << 20}
    return grader.grade(Submission.model_validate(body | more))


def _of_language(language: str, folder: Path) -> Iterator[tuple[str, Body]]:
    if language == "python":
        yield from _programs(folder)
    else:
        for name, body in java_programs.all_of(folder, random.Random(SEED), REPETITIONS):
            yield name, {"limits": LIMITS} | body


def _programs(folder: Path) -> Iterator[tuple[str, Body]]:
    """Yield the Python programs of stdin problems with all tests, mutants, and those of the checkout's corpus."""
    rng = random.Random(SEED)
    for file in FILES:
        for problem in workloads.problems(folder / f"{file}.jsonl"):
            if problem["kind"] != "stdin":
                continue
            for number, solution in enumerate(problem["solutions"]):
                if not solution["language"].lower().startswith("py"):
                    continue
                name = f"{problem['id']}:{number}"
                body = workloads.from_problem(problem, solution["code"]) | {"limits": LIMITS}
                yield name, body
                if "AC" in solution["expected_verdict"]:
                    for mutant in mutants.of(solution["code"], MUTANTS, rng):
                        yield f"{name}, {mutant.name}", body | {"code": mutant.code}
    yield from _corpus()


def _corpus() -> Iterator[tuple[str, Body]]:
    from tests import corpus  # only a checkout has it

    for program in corpus.programs():
        yield f"programs/{program.id}", _repeated(program.body())
    for case in corpus.verdicts():
        if case.kind == "stdin":
            yield f"verdicts/{case.id}", _repeated(case.body())
    for attack in corpus.attacks():
        if attack.kind == "stdin":
            yield f"attacks/{attack.id}", _repeated(attack.body())


def _repeated(body: Body) -> Body:
    return body | {"tests": body["tests"] * REPETITIONS}


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks shared_runs", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cpu-seconds", type=float, default=CPU_SECONDS, help=f"default {CPU_SECONDS:.0f}")
    parser.add_argument("--runs", type=int, default=sys.maxsize, help="stop after so many runs of a test each way")
    parser.add_argument("--language", choices=["python", "java"], default="python")
    parser.add_argument("--data", type=Path, default=workloads.data_folder(), help="folder of collected problems")
    return parser.parse_args(arguments)
