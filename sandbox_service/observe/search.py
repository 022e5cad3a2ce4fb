"""Searches the records of a history, and summarizes them by problem."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sandbox_service.observe.records import Record
from sandbox_service.schema import Verdict

SEARCHED_AT_ONCE = 500  # records
MOST_LABELS = 8
MOST_PROBLEMS = 10_000
STEPS = 12  # parts of the time from the first to the last submission, in a problem's course

Condition = Callable[[Record], bool]
Order = Literal["most", "never", "always", "slowest", "flips", "suspects"]


class Search(BaseModel):
    """The properties of the records to find. An empty field admits all; `q` is a part of the id or the suite's hash.

    `since` and `until` are Unix times, both included.
    """

    model_config = ConfigDict(extra="forbid")

    q: str = Field("", max_length=256)
    suite: str = Field("", max_length=128)
    verdict: Literal["", "AC", "WA", "TLE", "MLE", "OLE", "RTE", "CE", "IE"] = ""
    client: str = Field("", max_length=256)
    key: str = Field("", max_length=64)
    label: list[str] = Field(default_factory=list, max_length=MOST_LABELS)
    min_reward: float | None = None
    max_reward: float | None = None
    suspect: bool | None = None
    since: float | None = None
    until: float | None = None
    after: int = Field(0, ge=0)

    def matches(self, found: Record) -> bool:
        """Return whether a record has all that is searched for."""
        return _has_all(found, self.conditions())

    def conditions(self) -> Sequence[Condition]:
        """Return a condition for each field that is given: most searches have few, and histories many records."""
        return (*self._of_places(), *self._of_values(), *self._of_names())

    def _of_places(self) -> Iterator[Condition]:
        if self.after:
            yield lambda found: found.number > self.after
        if (since := self.since) is not None:
            yield lambda found: found.when >= since
        if (until := self.until) is not None:
            yield lambda found: found.when <= until

    def _of_values(self) -> Iterator[Condition]:
        if self.verdict:
            yield lambda found: found.verdict == self.verdict
        if self.suspect is not None:
            yield lambda found: found.suspect == self.suspect
        if (least := self.min_reward) is not None:
            yield lambda found: found.reward is not None and found.reward >= least
        if (most := self.max_reward) is not None:
            yield lambda found: found.reward is not None and found.reward <= most

    def _of_names(self) -> Iterator[Condition]:
        if self.suite:
            yield lambda found: self.suite in found.suite
        if self.client:
            yield lambda found: found.labels.get("client", "") == self.client
        if self.key:
            yield lambda found: found.client.partition("/")[0] == self.key
        if self.q:
            yield lambda found: self.q in found.id or self.q in found.suite
        if self.label:
            yield lambda found: all(_has_label(found, each) for each in self.label)


def _has_all(found: Record, conditions: Sequence[Condition]) -> bool:
    return all(holds(found) for holds in conditions)


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
    conditions = wanted.conditions()
    async for block in _blocks(records):
        found += [each for each in block if _has_all(each, conditions)]
        if len(found) >= most:
            break
    return found[:most]


async def _blocks(records: Iterator[Record]) -> AsyncIterator[list[Record]]:
    """Yield the records in blocks, between which other requests are served."""
    while block := list(islice(records, SEARCHED_AT_ONCE)):
        yield block
        await asyncio.sleep(0)


@dataclass(slots=True)
class Problem:
    """The submissions of a problem. `course` has the submissions and the accepted ones of each part of the time.

    `suspects` were accepted, and failed an audit test.
    """

    name: str
    suites: set[str] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    graded: int = 0
    suspects: int = 0
    last: float = 0.0
    times: list[tuple[float, bool]] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Count a submission."""
        self.suites.add(record.suite)
        self.verdicts[record.verdict] += 1
        self.suspects += record.suspect
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

    def flips(self, by_suite: Mapping[str, int]) -> int:
        """Return the verdicts that a recheck did not confirm.

        Args:
            by_suite: Their number, by suite.
        """
        return sum(by_suite.get(suite, 0) for suite in self.suites)

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
    conditions = wanted.conditions()
    async for block in _blocks(records):
        for each in block:
            if _has_all(each, conditions):
                name = each.labels.get(label) or each.suite
                problem = problems.get(name)
                if problem is None:
                    if len(problems) == MOST_PROBLEMS:
                        continue
                    problem = problems[name] = Problem(name)
                problem.add(each)
    return sorted(problems.values(), key=lambda each: (-each.verdicts.total(), each.name))


def ordered(problems: Sequence[Problem], order: Order, flips: Mapping[str, int]) -> list[Problem]:
    """Return problems in an order, those with the same rank as they were.

    Args:
        problems: The problems.
        order: Which come first: those with the most submissions, that never or always pass, that take longest, or that
            have the most flips or suspects.
        flips: Verdicts that a recheck did not confirm, by suite.
    """
    ranks: dict[Order, Callable[[Problem], float]] = {
        "most": lambda each: -each.verdicts.total(),
        "never": lambda each: 2.0 if each.pass_rate is None else each.pass_rate,
        "always": lambda each: 1.0 if each.pass_rate is None else -each.pass_rate,
        "slowest": lambda each: -(each.mean_seconds or 0.0),
        "flips": lambda each: -each.flips(flips),
        "suspects": lambda each: -each.suspects,
    }
    return sorted(problems, key=ranks[order])
