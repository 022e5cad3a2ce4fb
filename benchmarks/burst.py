"""A million tests at once through one machine: tests a second, and the CPU time and memory of each part.

By default 20,000 answers to 64 problems with fifty stdin tests each: additions and shortest paths. All answers are
different programs; one in fifty fails in the last test, and all others pass, so each test of each answer is run. One
client sends all of them in one call. The graders that trainers use grade a sample of the same answers after that, in a
pool with as many processes as the service has slots.

    python -m benchmarks burst
    python -m benchmarks burst --submissions 200 --sample 20 --tests 10
    python -m benchmarks burst --submissions 10000                                 the first half
    python -m benchmarks burst --submissions 10000 --first 10000 --sample 0        the other, by the service alone
    BENCH_VERL=FOLDER python -m benchmarks burst      with verl, see contenders/prime_code.py

CPU time counts everything that is started, the client without making the submissions. Memory is the proportional one
(PSS), sampled once a second; the client's includes all submissions.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from benchmarks import contenders, parts, pools
from benchmarks.contenders.base import UnavailableError
from benchmarks.cpu import SETTLE_SECONDS, Group, counted
from benchmarks.endless import Answer, Problem, changed, problem_of
from benchmarks.service import Service
from sandbox_service.client import Client

SUBMISSIONS, TESTS, SAMPLE, PROBLEMS = 20_000, 50, 400, 64
GROUP = 16  # answers to one problem in a row, as a trainer samples them
WRONG = 50  # one answer in so many
TRIAL = 256  # answers that are graded before, to tell how long it takes
RIVALS = ("inprocess", "prime_code")
SEED = 31
MEBI = 1 << 20


@dataclass(frozen=True)
class Row:
    """A way to grade, and what it took. CPU seconds and the peak of memory in bytes are by part."""

    label: str
    answers: int
    tests: int
    wrong: int
    seconds: float
    cpu: dict[str, float]
    memory: dict[str, int]


def main(arguments: list[str]) -> int:
    """Print the table; returns 1 after a wrong verdict of the service, 2 if it cannot run."""
    options = _options(arguments)
    problems = [problem_of(number + number // 2, options.tests) for number in range(PROBLEMS)]  # two kinds of three
    answers = list(islice(_answers(problems, options.first + options.submissions), options.first, None))
    sample = answers[: options.sample]
    with counted("burst") as group:
        if group is None:
            print("cannot run: no cgroup can be made, so the CPU time of boxes cannot be counted")
            return 2
        try:
            rows = [_service_row(problems, answers, group)]
        except UnavailableError as reason:
            print(f"cannot run: {reason}")
            return 2
        for name in RIVALS if sample else ():
            try:
                pools.check_usable(name)
            except UnavailableError as reason:
                print(f"{name} is skipped: {reason}")
                continue
            rows.append(_rival_row(name, problems, sample, group))
    print(_table(rows))
    return int(rows[0].wrong > 0)


def _answers(problems: Sequence[Problem], count: int) -> Iterator[Answer]:
    """Yield answers in groups to one problem each."""
    rng = random.Random(SEED)
    for number in range(count):
        place = number // GROUP % len(problems)
        problem = problems[place]
        is_wrong = number % WRONG == WRONG - 1
        last = Problem(problem.code, problem.tests[-2:])
        code = changed(last, "later", rng) if is_wrong else problem.code
        yield Answer(place, f"{code}\n# answer {number}\n", None if is_wrong else "AC")


# --- the service


def _service_row(problems: Sequence[Problem], answers: Sequence[Answer], group: Group) -> Row:
    """Start a service and send all answers. Raises UnavailableError."""
    service = Service(recheck_share=0, cache_seconds=0)
    service.start()
    try:
        with Client(service.url) as client:
            began = time.monotonic()
            trial = answers[-min(TRIAL, len(answers)) :]
            _wrong(client, problems, trial)
            rate = len(trial) / (time.monotonic() - began)
            tests = sum(len(problems[each.problem].tests) for each in answers)
            print(f"{tests} tests in about {len(answers) / rate / 60:.1f} minutes, then the rest", flush=True)
            with parts.MemoryPeaks(service) as memory, _Cpu(group, service, memory) as cpu:
                wrong = _wrong(client, problems, answers)
    finally:
        service.close()
    return Row("proctor", len(answers), tests, wrong, cpu.seconds, cpu.parts, dict(memory.peaks))


def _wrong(client: Client, problems: Sequence[Problem], answers: Sequence[Answer]) -> int:
    """Grade answers; return how many verdicts are wrong. Grades are dropped as they come: they need much memory."""
    by_id = {str(number): answer for number, answer in enumerate(answers)}
    run = time.monotonic_ns()  # ids are not repeated
    fields = (
        {"id": f"{run}.{number}", "code": each.code, "tests": problems[each.problem].tests}
        for number, each in by_id.items()
    )
    right = 0
    for grade in client.grade_as_completed(fields):
        right += by_id[grade.id.partition(".")[2]].is_judged(str(grade.verdict))
    return len(answers) - right


# --- others


def _rival_row(name: str, problems: Sequence[Problem], answers: Sequence[Answer], group: Group) -> Row:
    bodies = [{"code": each.code, "tests": problems[each.problem].tests} for each in answers]
    tests = sum(len(body["tests"]) for body in bodies)
    with parts.MemoryPeaks(None) as memory, _Cpu(group, None, memory) as cpu:
        passed = pools.passed(name, bodies, os.cpu_count() or 1)
    wrong = sum(is_passed != (each.verdict == "AC") for is_passed, each in zip(passed, answers, strict=True))
    label = contenders.make(name).label
    return Row(label, len(answers), tests, wrong, cpu.seconds, cpu.parts, dict(memory.peaks))


# --- measuring


class _Cpu:
    """CPU seconds by part, in `parts`, and the duration, in `seconds`, of a `with` block."""

    def __init__(self, group: Group, service: Service | None, memory: parts.MemoryPeaks) -> None:
        self._group = group
        self._service = service
        self._memory = memory
        self.parts: dict[str, float] = {}
        self.seconds = 0.0

    def __enter__(self) -> Self:
        self._before = self._read()
        return self

    def __exit__(self, *_error: object) -> None:
        began, samples, own, whole, used = self._before
        self.seconds = time.monotonic() - began
        time.sleep(SETTLE_SECONDS)
        _, samples_now, own_now, whole_now, used_now = self._read()
        sampling = samples_now - samples
        self.parts[parts.CLIENT] = own_now - own - sampling
        for part in (parts.API, parts.SLOTS):
            self.parts[part] = parts.spent(used, used_now, part)
        self.parts[parts.SANDBOXES] = whole_now - whole - sampling - sum(self.parts.values())

    def _read(self) -> tuple[float, float, float, float, dict[str, parts.Used]]:
        used = parts.seconds(self._service) if self._service else {parts.API: {}, parts.SLOTS: {}}
        samples = self._memory.cpu_seconds
        return time.monotonic(), samples, time.process_time(), self._group.seconds(), used


def _table(rows: Sequence[Row]) -> str:
    lines = [
        "",
        "| way | answers | tests | tests/s | CPU µs a test: client | API | slots | boxes or programs | all "
        "| peak MiB: client | API | slots | boxes or programs | wrong verdicts |",
        "|" + " --- |" * 14,
    ]
    for row in rows:
        micros = [row.cpu[part] / row.tests * 1e6 for part in parts.PARTS]
        times = " | ".join(f"{each:.0f}" for each in [*micros, sum(micros)])
        sizes = " | ".join(f"{row.memory.get(part, 0) / MEBI:.0f}" for part in parts.PARTS)
        lines.append(
            f"| {row.label} | {row.answers} | {row.tests} | {row.tests / row.seconds:.0f} | {times} | {sizes} "
            f"| {row.wrong} |"
        )
    return "\n".join(lines)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks burst", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS, help=f"default {SUBMISSIONS}")
    parser.add_argument("--first", type=int, default=0, help="number of the first answer, for a part of all")
    parser.add_argument("--tests", type=int, default=TESTS, help=f"of each, default {TESTS}; at least 2")
    parser.add_argument("--sample", type=int, default=SAMPLE, help=f"answers that the others grade, default {SAMPLE}")
    return parser.parse_args(arguments)
