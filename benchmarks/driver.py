"""The process in which a contender runs: reads a request a line on stdin, writes an answer a line on stdout.

`remote.py` starts it inside the contender's cgroup. Output of the contender and its programs goes to stderr, and they
get an empty stdin: the pipes carry only requests and answers.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from benchmarks import contenders, workloads
from benchmarks.contenders.base import Contender, UnavailableError
from benchmarks.cpu import Group, Meter
from benchmarks.workloads import Body, NoDataError


class Driver:
    """A contender, its workloads, and the meter."""

    def __init__(self, name: str, group: Group | None) -> None:
        self.contender: Contender[Any] = contenders.make(name)
        self._group = group
        self._bodies: dict[str, list[Body]] = {}
        self._answers = 0

    def start(self) -> dict[str, Any]:
        """Start the contender and describe it."""
        self.contender.start()
        kind = type(self.contender)
        return {
            "label": kind.label,
            "concurrencies": list(kind.concurrencies),
            "driver_is_client": kind.driver_is_client,
        }

    def close(self) -> dict[str, Any]:
        """Stop the contender."""
        self.contender.close()
        return {}

    def check(self, workload: str) -> dict[str, Any]:
        """Check that the contender takes a workload, accepts its right programs, and rejects wrong and spoiled ones."""
        bodies = workloads.build(workload)
        if not all(map(self.contender.takes, bodies)):
            return {"takes": False}
        if any(map(workloads.is_wrong, bodies)) and not self.contender.stops_at_failure:
            return {"takes": False}
        self._bodies[workload] = bodies
        wrongs = [self._grade(workloads.spoiled(body)) for body in bodies[:2]]
        rights = [self._grade(body) != workloads.is_wrong(body) for body in bodies]
        return {"takes": True, "right": all(rights) and not any(wrongs)}

    def run(self, workload: str, repetitions: int, concurrency: int) -> dict[str, Any]:
        """Grade every submission of a workload `repetitions` times, each time as a new program."""
        bodies = self._bodies[workload] * repetitions
        jobs = [self.contender.prepare(self._fresh(body)) for body in bodies]
        with Meter(self._group) as meter:
            turn = self.contender.run(jobs, concurrency)
        return {
            "tests": sum(len(body["tests"]) for body in bodies),
            "submissions": len(bodies),
            "rejected": _misjudged(bodies, turn.accepted),
            "cpu_seconds": meter.seconds,
            "wall_seconds": turn.wall_seconds,
            "latencies": turn.latencies,
        }

    def _grade(self, body: Body) -> bool:
        return bool(self.contender.grade(self.contender.prepare(self._fresh(body))))

    def _fresh(self, body: Body) -> Body:
        self._answers += 1
        return workloads.fresh(body, self._answers)


def _misjudged(bodies: list[Body], accepted: list[bool]) -> int:
    """Return how many answers are wrong; at least, since some contenders answer in another order."""
    return abs(len(bodies) - sum(map(workloads.is_wrong, bodies)) - sum(accepted))


def main(name: str, group: str) -> None:
    """Answer requests until stdin ends."""
    requests, answers = _private_pipes()
    driver = Driver(name, Group(Path(group)) if group else None)
    for line in requests:
        request = json.loads(line)
        answers.write(json.dumps(_answer(driver, request.pop("do"), request)) + "\n")
        answers.flush()


def _answer(driver: Driver, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a request, or `unavailable` or `error`."""
    try:
        result: dict[str, Any] = getattr(driver, name)(**arguments)
    except (UnavailableError, NoDataError) as reason:
        return {"unavailable": str(reason)}
    except Exception as trouble:  # noqa: BLE001 - the parent is told
        return {"error": f"{type(trouble).__name__}: {trouble}"}
    return result


def _private_pipes() -> tuple[TextIO, TextIO]:
    """Move stdin and stdout to descriptors that no child inherits; 0 becomes empty, and 1 becomes stderr."""
    requests, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
