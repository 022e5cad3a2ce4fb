"""The interface of contenders: ways to grade submissions, started once and called many times.

A contender runs in a driver process of its own. `prepare` converts JSON to its input and is not measured; `grade` is. A
contender with several submissions in flight overrides `run`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from benchmarks.workloads import Body

Job = TypeVar("Job")


class UnavailableError(Exception):
    """A contender cannot run here; the message says what is missing."""


@dataclass
class Turn:
    """Result of a turn: a latency and an answer for each submission, and the duration of the whole."""

    latencies: list[float] = field(default_factory=list)
    accepted: list[bool] = field(default_factory=list)
    wall_seconds: float = 0.0


class Contender(ABC, Generic[Job]):
    """A way to grade. `concurrencies`: numbers of submissions in flight, each measured by itself."""

    label: ClassVar[str]
    concurrencies: ClassVar[tuple[int, ...]] = (1,)
    driver_is_client: ClassVar[bool] = False  # then the driver's memory is not the contender's
    stops_at_failure: ClassVar[bool] = False  # then what wrong programs cost can be compared

    def start(self) -> None:
        """Prepare for grading, once. Raises `UnavailableError`."""

    def close(self) -> None:
        """Undo `start`."""

    def takes(self, body: Body) -> bool:  # noqa: ARG002
        """Return whether it can grade this kind of submission."""
        return True

    @abstractmethod
    def prepare(self, body: Body) -> Job:
        """Return a submission in the form that `grade` takes. Not measured."""

    @abstractmethod
    def grade(self, job: Job) -> bool:
        """Run all tests of a submission; returns whether all passed."""

    def run(self, jobs: list[Job], concurrency: int) -> Turn:  # noqa: ARG002
        """Grade all jobs, `concurrency` at a time."""
        turn, start = Turn(), time.perf_counter()
        for job in jobs:
            before = time.perf_counter()
            turn.accepted.append(self.grade(job))
            turn.latencies.append(time.perf_counter() - before)
        turn.wall_seconds = time.perf_counter() - start
        return turn
