"""Measures the CPU time of comparing mathematical answers, by kind, and the one-time cost of loading sympy.

    python -m benchmarks mathematics
    python -m benchmarks mathematics --rounds 200

Uses one grader with one slot, without a queue or HTTP. Counts this process, the jail, and all its boxes, which its
zygote reaps. Nothing is cached between answers.
"""

from __future__ import annotations

import argparse
import sys
import time
from statistics import median

import psutil

from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.schema import Submission
from sandbox_service.settings import Settings

ROUNDS, SLOT = 50, 15
ANSWERS = {
    "the same text": (r"\frac{\pi}{4}", r"\frac{\pi}{4}"),
    "an integer": ("42", "43"),
    "a plain fraction": (r"\frac{1}{2}", "0.5"),
    "a word": (r"\text{Tuesday}", "Monday"),
    "a root": (r"2\sqrt{2}", r"\sqrt{8}"),
    "a polynomial": ("x^2+2x+1", "(x+1)^2"),
    "an interval": (r"(-\infty,2)\cup(3,\infty)", r"(3,\infty)\cup(-\infty,2)"),
    "a matrix": (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&2\\3&5\end{pmatrix}"),
    "a tower of powers": ("1", "9^{9^9}"),
}


def main(arguments: list[str]) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks mathematics", description="CPU time per mathematical answer.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of each answer; default {ROUNDS}")
    rounds = parser.parse_args(arguments).rounds
    with bootstrap.grader(Settings.from_environment(), index=SLOT) as grader:
        print(_start(grader))
        print(f"{'answer':<20}{'CPU ms':>8}{'wall ms, median':>17}")
        for name, (expected, answer) in ANSWERS.items():
            cpu, wall = _measure(grader, expected, answer, rounds)
            print(f"{name:<20}{1e3 * cpu:>8.1f}{1e3 * wall:>17.1f}")
    return 0


def _start(grader: Grader) -> str:
    before, cpu, begin = _resident_bytes(), _cpu_seconds(), time.monotonic()
    _grade(grader, "x", "x+0")
    took, used, grown = time.monotonic() - begin, _cpu_seconds() - cpu, _resident_bytes() - before
    return f"the first answer: {used:.1f} s of CPU time, {took:.1f} s, {grown >> 20} MiB that stay"


def _measure(grader: Grader, expected: str, answer: str, rounds: int) -> tuple[float, float]:
    """CPU seconds of one answer, and the median of its wall times in seconds."""
    walls, before = [], _cpu_seconds()
    for _ in range(rounds):
        begin = time.perf_counter()
        _grade(grader, expected, answer)
        walls.append(time.perf_counter() - begin)
    return (_cpu_seconds() - before) / rounds, median(walls)


def _grade(grader: Grader, expected: str, answer: str) -> None:
    tests = [{"type": "stdin", "output": expected}]
    body = {"language": "text", "code": answer, "tests": tests, "checker": {"type": "math"}}
    grade = grader.grade(Submission.model_validate(body))
    if grade.failure_reason:
        sys.exit(grade.failure_reason)


def _family() -> list[psutil.Process]:
    here = psutil.Process()
    return [here, *here.children(recursive=True)]


def _cpu_seconds() -> float:
    times = [process.cpu_times() for process in _family()]
    ours = times[0].user + times[0].system
    return float(ours + sum(it.user + it.system + it.children_user + it.children_system for it in times[1:]))


def _resident_bytes() -> int:
    return sum(process.memory_full_info().uss for process in _family())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
