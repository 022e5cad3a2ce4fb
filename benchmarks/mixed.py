"""Checks for drift: very many hostile and honest submissions through one service, with an inventory after each part.

The submissions are the tests' corpus: every attack, every unusual program, every program with a known verdict. Each is
graded alone first and must get the same verdict in the mixture (an attack must not be paid or masked). Cheap ones are
drawn more often. Needs a checkout, root, and firejail.

The service keeps answers within 64 MiB, and a history. The run makes the history small, and fills both before it
begins: whatever grows afterwards is a leak. Growth is that of the median of the last quarter over that of the second,
for each submission between them. The resident memory varies by some megabytes, so a run needs 60,000 submissions to
tell a leak of a few hundred bytes for each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import soak
from benchmarks.contenders.base import UnavailableError
from benchmarks.cpu import Group
from benchmarks.service import Service, counted_service

SUBMISSIONS, PARTS, BATCH = 200_000, 20, 512
SEED = 15
LEAST_SECONDS = 0.002  # what a submission costs at least, for drawing cheap ones more often
DEAR_SECONDS = 0.25  # what takes longer alone is drawn once in so many submissions:
DEAR_EVERY = 2_000
MOST_DRIFT = 1.05  # of CPU time for each submission, last quarter against the second
MOST_GROWTH_BYTES = 200  # for each submission
KEPT_BYTES = 64 << 20  # of answers, which the service counts with their memory beside the JSON
HISTORY_BYTES = 4 << 20  # the least that the setting allows
FILLING: dict[str, Any] = {
    "code": "print('x' * 100_000)",
    "tests": [{"type": "stdin", "input": "", "output": "y"}] * 64,
    "stop_on_failure": False,
}

Body = dict[str, Any]


@dataclass(frozen=True)
class Known:
    """A submission and its grade alone."""

    body: Body
    is_attack: bool
    verdict: str
    seconds: float

    def is_right(self, grade: Body) -> bool:
        """Return whether a grade is as expected."""
        if self.is_attack:
            return bool(grade["reward"] == 0.0)
        return bool(grade["verdict"] == self.verdict)


@dataclass(frozen=True)
class Row:
    """One part of the run."""

    submissions: int
    per_second: float
    cpu_ms: float
    wrong: int
    held: soak.Inventory


def main(arguments: list[str]) -> int:
    """Run and print the table; returns 1 after drift or a wrong verdict, 2 if it cannot run."""
    options = _options(arguments)
    try:
        with counted_service("mixed", cache_seconds=0, history_bytes=HISTORY_BYTES) as (service, group):
            pool = [_alone(service, body, is_attack) for body, is_attack in _corpus()]
            print(f"pool: {len(pool)} submissions, {sum(one.is_attack for one in pool)} of them attacks", flush=True)
            _fill(service)
            rows = list(_parts(service, group, pool, options.submissions))
    except UnavailableError as reason:
        print(f"cannot run: {reason}")
        return 2
    return _judge(rows)


def _corpus() -> Iterator[tuple[Body, bool]]:
    from tests import corpus  # only a checkout has it

    for attack in corpus.attacks():
        yield attack.body(), True
    for program in corpus.programs():
        yield program.body(), False
    for case in corpus.verdicts():
        yield case.body(), False


def _alone(service: Service, body: Body, is_attack: bool) -> Known:
    began = time.monotonic()
    grade = service.post("/v1/grade", body)
    return Known(body, is_attack, grade["verdict"], time.monotonic() - began)


def _fill(service: Service) -> None:
    """Have the service keep as many bytes of answers as it ever will."""
    kept = 0
    while kept < KEPT_BYTES:
        kept += len(json.dumps(service.post("/v1/grade", FILLING)))


def _parts(service: Service, group: Group, pool: list[Known], submissions: int) -> Iterator[Row]:
    draw = random.Random(SEED)
    cheap = [one for one in pool if one.seconds < DEAR_SECONDS]
    dear = [one for one in pool if one.seconds >= DEAR_SECONDS]
    weights = [1 / (LEAST_SECONDS + one.seconds) for one in cheap]
    print("| submissions | per s | CPU ms each | wrong | RSS MB | processes | descriptors | memfds |")
    print("|---|---|---|---|---|---|---|---|")
    each = submissions // PARTS
    for part in range(PARTS):
        began, before, own, wrong = time.monotonic(), group.seconds(), time.process_time(), 0
        for first in range(0, each, BATCH):
            chosen = draw.choices(cheap, weights, k=min(BATCH, each - first))
            chosen += draw.choices(dear, k=round(len(chosen) / DEAR_EVERY + draw.random() / 2)) if dear else []
            wrong += _grade(service, chosen, f"{part}-{first}")
        cpu = group.seconds() - before - (time.process_time() - own)
        seconds = time.monotonic() - began
        time.sleep(soak.SETTLE_SECONDS)
        held = soak.take([pid for pid in group.pids() if pid != os.getpid()])
        row = Row(each, each / seconds, cpu / each * 1e3, wrong, held)
        counts = f"{held.resident_bytes / 1e6:.1f} | {held.processes} | {held.descriptors} | {held.memfds}"
        print(f"| {(part + 1) * each} | {row.per_second:.0f} | {row.cpu_ms:.2f} | {wrong} | {counts} |", flush=True)
        yield row


def _grade(service: Service, chosen: list[Known], name: str) -> int:
    named = {f"{name}-{place}": one for place, one in enumerate(chosen)}
    bodies = [{"id": key, **one.body} for key, one in named.items()]
    wrong = 0
    for grade in service.lines("/v1/grade/batch", {"submissions": bodies}):
        one = named.pop(grade["id"])
        if not one.is_right(grade):
            wrong += 1
            print(f"wrong: {one.verdict} alone, {grade['verdict']} here: {one.body['code'][:120]!r}", file=sys.stderr)
    return wrong + len(named)


def _judge(rows: list[Row]) -> int:
    quarter = len(rows) // 4
    early, late = rows[quarter : 2 * quarter], rows[-quarter:]
    drift = statistics.median(row.cpu_ms for row in late) / statistics.median(row.cpu_ms for row in early)
    growth = _growth_of_each(rows, early, late)
    wrong = sum(row.wrong for row in rows)
    more = late[-1].held.descriptors - early[0].held.descriptors
    print(f"wrong verdicts: {wrong}; CPU for each, last quarter against the second: {drift:.3f}")
    print(f"held, last quarter against the second: {growth:+.0f} bytes for each submission, {more:+d} descriptors")
    return int(bool(wrong) or drift > MOST_DRIFT or growth > MOST_GROWTH_BYTES or more > soak.BOUNDS.descriptors)


def _growth_of_each(rows: list[Row], early: list[Row], late: list[Row]) -> float:
    """Return by how many bytes of memory the service grew for each submission between two parts of the run."""
    first, last = (statistics.median(row.held.resident_bytes for row in part) for part in (early, late))
    parts_between = rows.index(late[0]) - rows.index(early[0])
    return (last - first) / (parts_between * rows[0].submissions)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks mixed", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS)
    return parser.parse_args(arguments)
