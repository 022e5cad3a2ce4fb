"""Submissions that end their sandbox or their worker. No program can do that, so the test kills the processes.

A submission that ends its sandbox repeatedly is judged as a program that does so; one that ends its workers repeatedly
is a fault of the service. All other submissions are graded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psutil

from tests.fleet.fleet import Fleet, FleetWorker, running_fleet
from tests.fleet.load import Load, Told, submission

POISON = "IE-poison"
SLEEPER: dict[str, Any] = {
    "code": "import time\ntime.sleep(8)\nprint(input())",
    "tests": [{"type": "stdin", "input": "1\n", "output": "1\n"}],
    "limits": {"cpu_seconds": 1.0, "wall_seconds": 20.0},
}
INNOCENT = {f"{verdict}-{n}": submission("stdin", verdict, n) for n in range(25) for verdict in ("AC", "WA")}


@contextmanager
def murderer(fleet: Fleet, murder: Callable[[FleetWorker], None]) -> Iterator[list[float]]:
    """Whenever a worker has begun the poison, do it; the times at which it was done."""
    deeds: list[float] = []
    done = threading.Event()

    def loop() -> None:
        while not done.wait(0.05):
            victim = fleet.holder_of(POISON)
            if victim is not None:
                murder(victim)
                deeds.append(time.monotonic())

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield deeds
    finally:
        done.set()
        thread.join()


def send(fleet: Fleet) -> Told:
    """The poison and the innocent, and what they are answered."""
    return Load(fleet.urls(), {POISON: SLEEPER, **INNOCENT}).join()


def wrong(told: Told) -> dict[str, str]:
    """The innocent that did not get the right verdict."""
    verdicts = {name: told.grades[name]["verdict"] if name in told.grades else "missing" for name in INNOCENT}
    return {name: verdict for name, verdict in verdicts.items() if not name.startswith(verdict + "-")}


def test_one_whose_jail_dies_each_time_is_judged_as_one_that_ends_its_jail() -> None:
    with running_fleet() as fleet:

        def kill_its_jail(worker: FleetWorker) -> None:
            for jail in worker.jails_at_work():
                with suppress(psutil.NoSuchProcess):
                    jail.kill()
            time.sleep(0.3)

        with murderer(fleet, kill_its_jail) as deeds:
            told = send(fleet)
        grade = told.grades[POISON]
        print(f"\njail killed {len(deeds)} times: {grade['verdict']}, {grade['tests'][0]['message']}")
        assert len(deeds) >= 2
        assert (grade["verdict"], wrong(told), told.conflicts) == ("RTE", {}, [])
        assert "ended its jail" in grade["tests"][0]["message"]
        assert fleet.counts().get("reaped", 0) == 0


def test_one_whose_worker_dies_each_time_is_given_up_as_our_fault() -> None:
    with running_fleet() as fleet:

        def kill_and_restart(worker: FleetWorker) -> None:
            worker.kill()
            worker.start()

        with murderer(fleet, kill_and_restart) as deeds:
            told = send(fleet)
            answered = time.monotonic()
        grade = told.grades[POISON]
        assert (grade["verdict"], grade["reward"], grade["failure_kind"]) == ("IE", None, "worker_lost")
        assert (len(deeds), grade["grader"]["attempts"], grade["mask_sample"]) == (3, 3, True)
        assert (wrong(told), told.conflicts, told.strange) == ({}, [], [])
        counts = fleet.counts()
        assert (counts["reaped"], counts["lost"]) == (3, 1)
        # one that the worker had paused when it was killed counts as started: once, since suspects then run one by one
        assert max(told.grades[name]["grader"]["attempts"] for name in INNOCENT) <= 2
        poisoned = told.arrived[POISON]
        print(f"\nworker killed 3 times: IE worker_lost {poisoned:.1f} s after it was sent, ", end="")
        print(f"{poisoned - (max(told.arrived.values()) - answered + deeds[-1]):.1f} s after the last kill; ", end="")
        print(f"the 50 innocent answered after {max(told.arrived[name] for name in INNOCENT):.1f} s")
