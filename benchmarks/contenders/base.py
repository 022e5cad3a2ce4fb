"""What a contender is: a way to grade submissions, started once and then asked again and again.

A contender lives in a driver process of its own. It says what it grades as `prepare` (not measured: turning JSON into
whatever it takes) and `grade` (measured). One that can have several submissions in flight overrides `run`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from benchmarks.workloads import Body

Job = TypeVar("Job")


class Unavailable(Exception):
    """A contender cannot be run here; the message says what it lacks."""


@dataclass
class Turn:
    """What came of one turn: a latency and an answer for each submission, and how long the whole took."""

    latencies: list[float] = field(default_factory=list)
    accepted: list[bool] = field(default_factory=list)
    wall_seconds: float = 0.0


class Contender(ABC, Generic[Job]):
    """One way to grade. `concurrencies`: how many submissions it may have in flight, each measured by itself."""

    label: ClassVar[str]
    concurrencies: ClassVar[tuple[int, ...]] = (1,)
    driver_is_client: ClassVar[bool] = False  # then the driver's memory is not the contender's

    def start(self) -> None:
        """Whatever is done once; raises `Unavailable`."""

    def close(self) -> None:
        """Undo `start`."""

    def takes(self, body: Body) -> bool:  # noqa: ARG002
        """Can it grade this kind of submission at all?"""
        return True

    @abstractmethod
    def prepare(self, body: Body) -> Job:
        """A submission in the form that `grade` takes. Not measured."""

    @abstractmethod
    def grade(self, job: Job) -> bool:
        """Run all tests of one submission; were they all passed?"""

    def run(self, jobs: list[Job], concurrency: int) -> Turn:  # noqa: ARG002
        """Grade all jobs, `concurrency` of them at a time."""
        turn, start = Turn(), time.perf_counter()
        for job in jobs:
            before = time.perf_counter()
            turn.accepted.append(self.grade(job))
            turn.latencies.append(time.perf_counter() - before)
        turn.wall_seconds = time.perf_counter() - start
        return turn
