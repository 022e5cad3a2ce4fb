"""A training batch in which a few programs never end: what they cost, and what limits that follow the problem save.

By default 64 problems, 8 answers to each, 15 tests: half of the answers pass, a third fail in the first test, 2 % never
end, and the others fail in a later test. The batch is sent to a service as a trainer sends it, once for each row, with
and without the endless answers: with the default limits; with limits that follow the CPU time of the references, which
are measured before as `proctor validate` does; and the same with stdin tests in shared boxes. The last rows are
LiveCodeBench's way, verl's own module and isolate (contenders/) in a pool of two processes; each needs its program.

    BENCH_VERL=FOLDER python -m benchmarks endless
    python -m benchmarks endless --problems 8 --answers 6 --rows followed,shared
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks import pools, workloads
from benchmarks.contenders.base import UnavailableError
from benchmarks.cpu import Group, Meter, counted
from benchmarks.service import Service
from benchmarks.workloads import ADDITION, DIJKSTRA, TWO_SUM, Body
from sandbox_service.client import Client
from sandbox_service.validation.evidence import reference_for
from sandbox_service.validation.recipe import Thresholds

PROBLEMS, ANSWERS, TESTS = 64, 8, 15
ENDLESS_SHARE, PASS_SHARE, FIRST_SHARE = 0.02, 0.5, 1 / 3
SEED = 22
POOL = 2
FOLLOWED = "limits that follow the references"
ROWS = {
    "default": "proctor, default limits, fresh boxes for stdin",
    "followed": f"proctor, {FOLLOWED}, fresh boxes for stdin",
    "shared": f"proctor, {FOLLOWED}, shared boxes",
    "livecodebench": "LiveCodeBench's way, pool of two",
    "prime_code": "verl's prime_code, pool of two",
    "isolate": "isolate per test (Judge0's way), pool of two",
}
RIVALS = {"livecodebench": "inprocess", "prime_code": "prime_code", "isolate": "isolate"}
"""The contenders of rows that a pool grades."""


@dataclass(frozen=True)
class Answer:
    """A program, the number of its problem, and its right verdict; None for any that is not AC."""

    problem: int
    code: str
    verdict: str | None

    @property
    def is_endless(self) -> bool:
        """True if it never ends."""
        return self.verdict == "TLE"

    def is_judged(self, verdict: str) -> bool:
        """Return whether a verdict is the right one."""
        return verdict == self.verdict if self.verdict else verdict not in ("AC", "IE")


@dataclass(frozen=True)
class Problem:
    """A reference solution with its tests."""

    code: str
    tests: list[Body]


@dataclass
class Row:
    """A way to grade the batch: CPU seconds, wall seconds and wrong verdicts, with and without endless answers."""

    label: str
    is_ours: bool
    figures: list[tuple[float, float, int]]


def main(arguments: list[str]) -> int:
    """Print the table; returns 1 after a wrong verdict of the service, 2 if it cannot run."""
    options = _options(arguments)
    problems = [problem_of(number, options.tests) for number in range(options.problems)]
    answers = list(_answers(problems, options.answers))
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(counted("endless"))
        rows = []
        try:
            service = Service(recheck_share=0, cache_seconds=0)
            service.start()
        except UnavailableError as reason:
            print(f"cannot run: {reason}")
            return 2
        stack.callback(service.close)
        with Client(service.url) as client:
            references = _references(client, problems)
            for name in options.rows:
                try:
                    way = _way(name, client, problems, references)
                except UnavailableError as reason:
                    print(f"{ROWS[name]}: skipped: {reason}", flush=True)
                    continue
                rows.append(_row(name, way, answers, group))
                print(f"{rows[-1].label}: {rows[-1].figures}", flush=True)
    print(_table(rows, answers, options))
    return int(any(wrong for row in rows if row.is_ours for _, _, wrong in row.figures))


Way = Callable[[Sequence[Answer]], list[str]]


def _row(name: str, way: Way, answers: list[Answer], group: Group | None) -> Row:
    row = Row(ROWS[name], name not in RIVALS, [])
    for chosen in (answers, [answer for answer in answers if not answer.is_endless]):
        with Meter(group) as meter:
            began = time.monotonic()
            verdicts = way(chosen)
            seconds = time.monotonic() - began
        wrong = sum(not answer.is_judged(verdict) for answer, verdict in zip(chosen, verdicts, strict=True))
        row.figures.append((meter.seconds, seconds, wrong))
    return row


def _way(name: str, client: Client, problems: list[Problem], references: list[Body]) -> Way:
    """Return the function that grades as a row says. Raises UnavailableError."""
    if name in RIVALS:
        pools.check_usable(RIVALS[name])
        return lambda answers: _in_pool(
            RIVALS[name], [{"code": each.code, "tests": problems[each.problem].tests} for each in answers]
        )
    isolation: Body = {"isolation": "submission" if name == "shared" else "calls"}

    def grade(answers: Sequence[Answer]) -> list[str]:
        fields = [_fields(answer, problems, references if name != "default" else None) for answer in answers]
        return [str(grade.verdict) for grade in client.grade_many(fields, defaults=isolation)]

    return grade


def _fields(answer: Answer, problems: list[Problem], references: list[Body] | None) -> Body:
    found: Body = {"code": answer.code, "tests": problems[answer.problem].tests}
    return found | ({"limits": {"reference": references[answer.problem]}} if references else {})


def _references(client: Client, problems: list[Problem]) -> list[Body]:
    """Return the references' CPU time and factor of each problem, as `proctor validate` writes them."""
    grades = client.grade_many([{"code": each.code, "tests": each.tests} for each in problems])
    slowest = [max(test.cpu_seconds for test in grade.tests) for grade in grades]
    return [reference_for(seconds, Thresholds()).model_dump() for seconds in slowest]


def _in_pool(contender: str, bodies: list[Body]) -> list[str]:
    return [
        "AC" if each else "TLE" if "while True" in body["code"] else "WA"
        for each, body in zip(pools.passed(contender, bodies, POOL), bodies, strict=True)
    ]


def problem_of(number: int, tests: int) -> Problem:
    """Return a problem of one of three kinds: additions, shortest paths, and calls."""
    rng = random.Random(number)
    kind = number % 3
    if kind == 2:
        return Problem(TWO_SUM, [workloads.two_sum_case(rng) for _ in range(tests)])
    code, case = ((ADDITION, workloads.addition_case), (DIJKSTRA, workloads.dijkstra_case))[kind]
    return Problem(code, [{"type": "stdin", **case(rng)} for _ in range(tests)])


def _answers(problems: list[Problem], each: int) -> Iterator[Answer]:
    """Yield the answers in the order of the problems, with the kinds in a fixed random order."""
    rng, total = random.Random(SEED), len(problems) * each
    endless, passing, first = (round(share * total) for share in (ENDLESS_SHARE, PASS_SHARE, FIRST_SHARE))
    kinds = ["endless"] * max(1, endless) + ["pass"] * passing + ["first"] * first
    kinds = (kinds + ["later"] * total)[:total]
    rng.shuffle(kinds)
    for number, kind in enumerate(kinds):
        place, problem = number // each, problems[number // each]
        code = changed(problem, kind, rng) + f"\n# answer {number}\n"
        yield Answer(place, code, {"pass": "AC", "endless": "TLE"}.get(kind))


def changed(problem: Problem, kind: str, rng: random.Random) -> str:
    """Return the reference of a problem if `kind` is "pass", or a program that fails.

    It fails in the first test if `kind` is "first", else in a later one, and "endless" in that it never ends.
    """
    if kind == "pass":
        return problem.code
    test = problem.tests[0 if kind == "first" else rng.randrange(1, len(problem.tests))]
    fails = "while True: pass" if kind == "endless" else "raise SystemExit('wrong')"
    line, words = ("def two_sum(numbers, target):\n", "numbers")
    given = test["args"][0] if test["type"] == "call" else [int(word) for word in test["input"].split()]
    if problem.code == ADDITION:
        line, words = "a, b = map(int, input().split())\n", "[a, b]"
    elif problem.code == DIJKSTRA:
        line, words = "    n, m = next(numbers), next(numbers)\n", "[n, m, *numbers]"
    indent = re.match(" *", problem.code.partition(line)[2])
    assert indent is not None
    failing = f"{indent[0]}if {words} == {given!r}:\n{indent[0]}    {fails}\n"
    if problem.code == DIJKSTRA:
        failing = "    numbers = list(numbers)\n" + failing + "    numbers = iter(numbers)\n"
    return problem.code.replace(line, line + failing)


def _table(rows: list[Row], answers: list[Answer], options: argparse.Namespace) -> str:
    endless = sum(answer.is_endless for answer in answers)
    lines = [
        f"{len(answers)} answers to {options.problems} problems with {options.tests} tests, {endless} of them endless",
        "",
        "| way | CPU s with | without endless | × default, with | without | wall s with | without | wrong verdicts |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    default = next((row for row in rows if row.label == ROWS["default"]), rows[0])
    for row in rows:
        (cpu, wall, wrong), (cpu_without, wall_without, wrong_without) = row.figures
        ratios = [mine[0] / theirs[0] for mine, theirs in zip(row.figures, default.figures, strict=True)]
        lines.append(
            f"| {row.label} | {cpu:.2f} | {cpu_without:.2f} | {ratios[0]:.2f} | {ratios[1]:.2f} "
            f"| {wall:.1f} | {wall_without:.1f} | {wrong + wrong_without} |"
        )
    return "\n".join(lines)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks endless", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", type=int, default=PROBLEMS, help=f"default {PROBLEMS}")
    parser.add_argument("--answers", type=int, default=ANSWERS, help=f"to each problem, default {ANSWERS}")
    parser.add_argument("--tests", type=int, default=TESTS, help=f"of each problem, default {TESTS}")
    parser.add_argument("--rows", type=_names, default=list(ROWS), help=",".join(ROWS))
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := sorted(set(names) - set(ROWS)):
        raise argparse.ArgumentTypeError(f"no {', '.join(unknown)}; there are {', '.join(ROWS)}")
    return names
