"""Searches the records of a history, and summarizes them by problem."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sandbox_service.observe.records import Record
from sandbox_service.schema import Verdict

SEARCHED_AT_ONCE = 500  # records, then the event loop serves other requests
MOST_LABELS = 8
MOST_PROBLEMS = 10_000
STEPS = 12  # parts of the time from the first to the last submission, in a problem's course


class Search(BaseModel):
    """The properties of the records to find. An empty field admits all; `q` is a part of the id or the suite's hash."""

    model_config = ConfigDict(extra="forbid")

    q: str = Field("", max_length=256)
    suite: str = Field("", max_length=128)
    verdict: Literal["", "AC", "WA", "TLE", "MLE", "OLE", "RTE", "CE", "IE"] = ""
    client: str = Field("", max_length=256)
    key: str = Field("", max_length=64)
    label: list[str] = Field(default_factory=list, max_length=MOST_LABELS)
    min_reward: float | None = None
    max_reward: float | None = None
    since: float = 0.0
    after: int = Field(0, ge=0)

    def matches(self, found: Record) -> bool:
        """Return whether a record has all that is searched for."""
        return (
            found.number > self.after
            and self.verdict in ("", found.verdict)
            and found.when >= self.since
            and self._has_reward(found.reward)
            and self.suite in found.suite
            and self.client in ("", found.labels.get("client", ""))
            and self.key in ("", found.client.partition("/")[0])
            and (self.q in found.id or self.q in found.suite)
            and all(_has_label(found, each) for each in self.label)
        )

    def _has_reward(self, reward: float | None) -> bool:
        if self.min_reward is None and self.max_reward is None:
            return True
        if reward is None:
            return False
        return (self.min_reward is None or reward >= self.min_reward) and (
            self.max_reward is None or reward <= self.max_reward
        )


def _has_label(found: Record, wanted: str) -> bool:
    """Return whether a record has the label `name=value`, or any value for `name`."""
    name, equals, value = wanted.partition("=")
    return name in found.labels and (not equals or found.labels[name] == value)


async def search(records: Iterator[Record], wanted: Search, most: int) -> list[Record]:
    """Return the first records that match.

    Args:
        records: The records, in the order of the result.
        wanted: What they must have.
        most: The most records to return.
    """
    found: list[Record] = []
    async for each in _paced(records):
        if wanted.matches(each):
            found.append(each)
            if len(found) == most:
                break
    return found


async def _paced(records: Iterator[Record]) -> AsyncIterator[Record]:
    for index, each in enumerate(records):
        if index % SEARCHED_AT_ONCE == SEARCHED_AT_ONCE - 1:
            await asyncio.sleep(0)
        yield each


@dataclass(slots=True)
class Problem:
    """The submissions of a problem. `course` has the submissions and the accepted ones of each part of the time."""

    name: str
    suites: set[str] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    graded: int = 0
    last: float = 0.0
    times: list[tuple[float, bool]] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Count a submission."""
        self.suites.add(record.suite)
        self.verdicts[record.verdict] += 1
        if not record.cached and record.failure_kind is None:
            self.seconds += record.graded_seconds
            self.graded += 1
        self.last = max(self.last, record.when)
        self.times.append((record.when, record.verdict == Verdict.AC))

    @property
    def submissions(self) -> int:
        """Return the number of submissions that have a verdict."""
        return self.verdicts.total() - self.verdicts[Verdict.IE]

    @property
    def pass_rate(self) -> float | None:
        """Return the share that was accepted; None if no submission has a verdict."""
        return self.verdicts[Verdict.AC] / self.submissions if self.submissions else None

    @property
    def mean_seconds(self) -> float | None:
        """Return the mean time of grading; None if all answers are from the cache."""
        return self.seconds / self.graded if self.graded else None

    def course(self, begin: float, end: float) -> list[tuple[int, int]]:
        """Return submissions and accepted ones in equal parts of a time.

        Args:
            begin: Unix time.
            end: Unix time.
        """
        parts = [[0, 0] for _ in range(STEPS)]
        width = (end - begin) / STEPS or 1.0
        for when, is_accepted in self.times:
            part = parts[min(max(int((when - begin) / width), 0), STEPS - 1)]
            part[0] += 1
            part[1] += is_accepted
        return [(submissions, accepted) for submissions, accepted in parts]


async def by_problem(records: Iterator[Record], wanted: Search, label: str) -> list[Problem]:
    """Return the problems of the records that match, those with the most submissions first.

    Args:
        records: The records.
        wanted: What they must have.
        label: The label that names the problem; a submission without it counts for its suite.
    """
    problems: dict[str, Problem] = {}
    async for each in _paced(records):
        if wanted.matches(each):
            name = each.labels.get(label) or each.suite
            problem = problems.get(name)
            if problem is None:
                if len(problems) == MOST_PROBLEMS:
                    continue
                problem = problems[name] = Problem(name)
            problem.add(each)
    return sorted(problems.values(), key=lambda each: (-each.verdicts.total(), each.name))
