"""Compares all contenders, interleaved in one run; writes a table, JSON and a plot.

    python -m benchmarks --quick
    python -m benchmarks --contenders fork_limit,python --workloads stdin10 --rounds 9

Contenders that cannot run here and workloads without data are skipped, with a message.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks import measure, report
from benchmarks.contenders import CONTENDERS
from benchmarks.cpu import FALLBACK_NOTE
from benchmarks.workloads import WORKLOADS

ROUNDS, TURN_SECONDS = 7, 1.0
QUICK_ROUNDS, QUICK_TURN_SECONDS, QUICK_WORKLOADS = (
    3,
    0.3,
    ("stdin10", "stdin50", "fail_first", "mixture", "calls10", "humaneval"),
)


def main(arguments: list[str]) -> int:
    """Measure what the arguments select; returns 1 if a contender misjudged a program."""
    options = _options(arguments)
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    seconds = QUICK_TURN_SECONDS if options.quick else TURN_SECONDS
    with measure.started(options.contenders) as remotes:
        by_cgroup = all(remote.group for remote in remotes)
        readings = measure.measure(remotes, options.workloads, rounds, seconds)
    if not by_cgroup:
        print(FALLBACK_NOTE)
    facts = {"rounds": rounds, "cpu_by": "cgroup" if by_cgroup else "getrusage"}
    print(report.write(readings, facts, options.out))
    print(f"written to {options.out}/")
    return int(not readings or any(reading.rejected for reading in readings.values()))


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description="CPU time per test of proctor and its rivals.")
    parser.add_argument("--contenders", type=_names(CONTENDERS), default=list(CONTENDERS), help=",".join(CONTENDERS))
    parser.add_argument("--workloads", type=_names(WORKLOADS), help=",".join(WORKLOADS))
    parser.add_argument("--rounds", type=int, help=f"default {ROUNDS}, quick {QUICK_ROUNDS}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and workloads, shorter turns")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="folder for results, table and plot")
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("argument --rounds: must be at least 1")
    options.workloads = options.workloads or list(QUICK_WORKLOADS if options.quick else WORKLOADS)
    return options


def _names(known: Iterable[str]) -> Callable[[str], list[str]]:
    """A parser of comma-separated names, each of which must be in `known`."""

    def read(text: str) -> list[str]:
        names = text.split(",")
        if unknown := sorted(set(names) - set(known)):
            raise argparse.ArgumentTypeError(f"no {', '.join(unknown)}; there are {', '.join(known)}")
        return names

    return read
