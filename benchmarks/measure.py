"""Runs the turns of contenders in random order, round after round, and summarises them.

In every round each contender has one turn with each workload, long enough to be measured and short enough not to delay
the others. Ratios are taken within a round, between turns close in time; the median over rounds is reported.
"""

from __future__ import annotations

import contextlib
import random
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.contenders.base import UnavailableError
from benchmarks.remote import Memory, Remote

LIMIT, CODE_R1, FRESH = "fork_limit", "coder1", "proctor_fresh"
MOST_REPETITIONS = 200


@dataclass(frozen=True)
class Entry:
    """A line of the table: a contender, a workload, and the number of submissions in flight."""

    contender: str
    workload: str
    concurrency: int


@dataclass
class Reading:
    """All turns of one entry."""

    label: str
    repetitions: int = 0
    rejected: int = 0
    tests: int = 0
    cpu_ms: list[float] = field(default_factory=list)  # per test, one for each round
    tests_per_second: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)


@dataclass(frozen=True)
class Row:
    """The reported figures of one entry; a ratio is None if the other contender did not run."""

    contender: str
    label: str
    workload: str
    concurrency: int
    tests: int
    rejected: int
    cpu_ms_per_test: float
    cpu_ms_lowest: float
    cpu_ms_highest: float
    times_limit: float | None
    times_code_r1: float | None
    times_fresh: float | None
    tests_per_core_second: float
    tests_per_second: float
    p50_ms: float
    p99_ms: float
    memory: Memory


Readings = dict[Entry, Reading]


def say(text: str) -> None:
    """Print progress to stderr; stdout is for the table."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def started(names: list[str]) -> Iterator[list[Remote]]:
    """Yield the contenders that run on this machine, and close them at the end.

    Args:
        names: the contenders to start; one that cannot run here is skipped, with a message.

    Raises:
        RuntimeError: a contender failed to start for another reason, so its figures would be missing unnoticed.
    """
    with contextlib.ExitStack() as stack:
        remotes = []
        for name in names:
            remote = Remote(name)
            stack.callback(remote.close)
            try:
                remote.start()
            except UnavailableError as reason:
                say(f"skipped {name}: {reason}")
            else:
                remotes.append(remote)
        yield remotes


def measure(remotes: list[Remote], workloads: list[str], rounds: int, turn_seconds: float) -> Readings:
    """Check all contenders, determine the length of a turn, then take turns."""
    by_name = {remote.name: remote for remote in remotes}
    readings: Readings = {}
    for workload in workloads:
        for remote in remotes:
            readings |= _admitted(remote, workload)
    for entry, reading in readings.items():
        reading.repetitions = _repetitions(by_name[entry.contender], entry, turn_seconds)
    _note_memory(by_name, readings)
    for number in range(1, rounds + 1):
        start = time.monotonic()
        for entry in random.sample(sorted(readings, key=str), len(readings)):
            _take_turn(by_name[entry.contender], entry, readings[entry])
        say(f"round {number} of {rounds}: {time.monotonic() - start:.0f} s")
    return readings


def rows(readings: Readings) -> list[Row]:
    """Return the lines of the table, the cheapest first within each workload."""
    made = [_row(entry, reading, readings) for entry, reading in readings.items()]
    order = list(dict.fromkeys(entry.workload for entry in readings))
    return sorted(made, key=lambda row: (order.index(row.workload), row.cpu_ms_per_test))


def _admitted(remote: Remote, workload: str) -> Readings:
    """Entries of a contender that tells right programs from wrong ones; none otherwise."""
    try:
        answer = remote.ask("check", workload=workload)
    except UnavailableError as reason:
        say(f"skipped {workload} for {remote.name}: {reason}")
        return {}
    if not answer["takes"]:
        return {}
    if not answer["right"]:
        say(f"DISQUALIFIED {remote.name} at {workload}: it does not tell right programs from spoiled tests")
        return {}
    say(f"checked {remote.name} at {workload}")
    return {Entry(remote.name, workload, number): Reading(remote.label) for number in remote.concurrencies}


def _repetitions(remote: Remote, entry: Entry, turn_seconds: float) -> int:
    """Repetitions of the workload for a turn of about `turn_seconds`, in full groups."""
    least = entry.concurrency
    seconds: float = _turn(remote, entry, least)["wall_seconds"]
    return least * max(1, min(round(turn_seconds / seconds), MOST_REPETITIONS // least))


def _note_memory(by_name: dict[str, Remote], readings: Readings) -> None:
    """Record the memory of all contenders while they are warm and idle."""
    time.sleep(0.5)
    memory = {name: remote.memory() for name, remote in by_name.items()}
    for entry, reading in readings.items():
        reading.memory = memory[entry.contender]


def _turn(remote: Remote, entry: Entry, repetitions: int) -> dict[str, Any]:
    return remote.ask("run", workload=entry.workload, repetitions=repetitions, concurrency=entry.concurrency)


def _take_turn(remote: Remote, entry: Entry, reading: Reading) -> None:
    answer = _turn(remote, entry, reading.repetitions)
    reading.tests += answer["tests"]
    reading.rejected += answer["rejected"]
    reading.cpu_ms.append(answer["cpu_seconds"] * 1e3 / answer["tests"])
    reading.tests_per_second.append(answer["tests"] / answer["wall_seconds"])
    reading.latencies += answer["latencies"]


def _row(entry: Entry, reading: Reading, readings: Readings) -> Row:
    cpu_ms = statistics.median(reading.cpu_ms)
    return Row(
        contender=entry.contender,
        label=reading.label,
        workload=entry.workload,
        concurrency=entry.concurrency,
        tests=reading.tests,
        rejected=reading.rejected,
        cpu_ms_per_test=cpu_ms,
        cpu_ms_lowest=min(reading.cpu_ms),
        cpu_ms_highest=max(reading.cpu_ms),
        times_limit=_ratio(reading, readings.get(Entry(LIMIT, entry.workload, 1))),
        times_code_r1=_ratio(reading, readings.get(Entry(CODE_R1, entry.workload, 1))),
        times_fresh=_ratio(reading, readings.get(Entry(FRESH, entry.workload, 1))),
        tests_per_core_second=1e3 / cpu_ms,
        tests_per_second=statistics.median(reading.tests_per_second),
        p50_ms=_quantile(reading.latencies, 0.50) * 1e3,
        p99_ms=_quantile(reading.latencies, 0.99) * 1e3,
        memory=reading.memory,
    )


def _ratio(reading: Reading, other: Reading | None) -> float | None:
    if other is None:
        return None
    return statistics.median(ours / theirs for ours, theirs in zip(reading.cpu_ms, other.cpu_ms, strict=True))


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
