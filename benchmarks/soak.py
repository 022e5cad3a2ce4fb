"""Checks for leaks: very many tests in a row, with an inventory before and after.

A leak of a descriptor, a mount or a process per test is invisible in a test suite and fatal after a day of training.
The first inventory follows a warm-up, when all caches are full. The bounds are small numbers that do not depend on the
number of tests; the table states them, and a count beyond its bound fails the run.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks import procs, workloads
from benchmarks.contenders.base import UnavailableError
from benchmarks.contenders.proctor import DirectGrader
from benchmarks.cpu import Group, counted

TESTS = 100_000
WARM_UP_SHARE = 0.02
SETTLE_SECONDS = 2.0
REPORTS = 10
MOST_NAMES = 10
FOLDERS = ("tmp", "dev/shm", "run/firejail")
# where container engines, sessions and removable disks are mounted, and where tests/fleet/test_room.py mounts its own
OF_OTHERS = ("/run/", "/var/lib/", "/media/", "/mnt/", "/snap/", "/tmp/proctor-disk-")


@dataclass(frozen=True)
class Inventory:
    """Resource counts of all processes together."""

    processes: int
    resident_bytes: int
    descriptors: int
    memfds: int
    mounts_host: int
    mounts_jails: int
    files_host: int  # in FOLDERS
    files_jails: int


BOUNDS = Inventory(
    processes=0,
    resident_bytes=16 << 20,
    descriptors=4,
    memfds=0,
    mounts_host=0,
    mounts_jails=0,
    files_host=4,  # other programs on the machine use them as well
    files_jails=0,
)


def main(arguments: list[str]) -> int:
    """Run and print the table; returns non-zero if a count grew."""
    options = _options(arguments)
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(counted("soak"))
        grader = DirectGrader()
        try:
            grader.start()
        except UnavailableError as reason:
            print(f"cannot soak: {reason}")
            return 2
        stack.callback(grader.close)
        return _soak(grader, options.tests, lambda: _pids(group))


def take(pids: list[int]) -> Inventory:
    """Return the inventory of these processes."""
    open_files = [target for pid in pids for target in procs.descriptors(pid)]
    host, jails = _by_mount_namespace(pids)
    return Inventory(
        processes=len(pids),
        resident_bytes=sum(map(procs.resident_bytes, pids)),
        descriptors=len(open_files),
        memfds=sum(target.startswith("/memfd:") for target in open_files),
        mounts_host=mounts(host),
        mounts_jails=sum(map(mounts, jails)),
        files_host=len(files(host)),
        files_jails=sum(len(files(pid, but_not_of=host)) for pid in jails),
    )


def files(pid: int, but_not_of: int | None = None) -> set[str]:
    """Return the files in FOLDERS as this process sees them, except folders that the other process shares."""
    found: set[str] = set()
    for folder in FOLDERS:
        root = Path(f"/proc/{pid}/root")
        if (root / folder).is_symlink():  # it would lead us into a folder of our own root
            continue
        if but_not_of and _same_folder(root / folder, Path(f"/proc/{but_not_of}/root") / folder):
            continue
        for at, folders, names in os.walk(root / folder):
            found.update(f"{at.removeprefix(str(root))}/{name}" for name in folders + names)
    return found


def grown(before: Inventory, after: Inventory, bounds: Inventory = BOUNDS) -> list[str]:
    """Return the names of counts that grew beyond their bound."""
    names = [field.name for field in fields(Inventory)]
    return [name for name in names if getattr(after, name) - getattr(before, name) > getattr(bounds, name)]


def _soak(grader: DirectGrader, tests: int, pids: Callable[[], list[int]]) -> int:
    bodies = workloads.build("stdin10") + workloads.build("calls10")
    wrong = _grade(grader, bodies, int(tests * WARM_UP_SHARE))
    before, names = _settled(pids), files(os.getpid())
    for part in range(1, REPORTS + 1):
        start = time.monotonic()
        wrong += _grade(grader, bodies, tests // REPORTS)
        resident = sum(map(procs.resident_bytes, pids())) / 1e6
        rate = tests // REPORTS / (time.monotonic() - start)
        done = part * tests // REPORTS
        print(f"{done} tests, {rate:.0f} tests/s, RSS {resident:.1f} MB", file=sys.stderr, flush=True)
    after = _settled(pids)
    print(_table(before, after))
    for name in sorted(files(os.getpid()) - names)[:MOST_NAMES]:
        print(f"new: {name}")
    failed = grown(before, after)
    print(f"{tests} tests; wrong verdicts: {wrong}; grew: {', '.join(failed) or 'nothing'}")
    return int(bool(failed or wrong))


def _grade(grader: DirectGrader, bodies: list[dict[str, Any]], tests: int) -> int:
    """Run at least `tests` tests; returns the number of wrong verdicts."""
    wrong = done = number = 0
    while done < tests:
        body = bodies[number % len(bodies)]
        number += 1
        done += len(body["tests"])
        wrong += not grader.grade(grader.prepare(workloads.fresh(body, number)))
    return wrong


def _settled(pids: Callable[[], list[int]]) -> Inventory:
    """An inventory after a pause in which spare boxes start and dead processes are reaped."""
    time.sleep(SETTLE_SECONDS)
    return take(pids())


def _pids(group: Group | None) -> list[int]:
    """This process and all its descendants."""
    return group.pids() if group else [os.getpid(), *procs.descendants(os.getpid())]


def _by_mount_namespace(pids: list[int]) -> tuple[int, list[int]]:
    """This process, and one process for each other mount namespace."""
    seen = {procs.link(os.getpid(), "ns/mnt"), ""}
    jails = []
    for pid in pids:
        namespace = procs.link(pid, "ns/mnt")
        if namespace not in seen:
            seen.add(namespace)
            jails.append(pid)
    return os.getpid(), jails


def _same_folder(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def mounts(pid: int) -> int:
    """How many mounts a process sees, those of other programs on the machine left out: containers come and go."""
    points = [line.split()[1] for line in procs.read(pid, "mounts").splitlines()]
    return sum(not point.startswith(OF_OTHERS) or point.startswith("/run/firejail") for point in points)


def _table(before: Inventory, after: Inventory) -> str:
    lines = ["| | start | end | may grow by |", "|---|---|---|---|"]
    for field in fields(Inventory):
        cells = [getattr(one, field.name) for one in (before, after, BOUNDS)]
        lines.append(f"| {field.name.replace('_', ' ')} | {cells[0]} | {cells[1]} | {cells[2]} |")
    return "\n".join(lines)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tests", type=int, default=TESTS)
    return parser.parse_args(arguments)
