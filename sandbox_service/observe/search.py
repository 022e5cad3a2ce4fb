"""Searches the records of a history, and summarizes them by problem."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import attrgetter
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
    min_reward: float | None = Field(None, allow_inf_nan=False)
    max_reward: float | None = Field(None, allow_inf_nan=False)
    suspect: bool | None = None
    since: float | None = Field(None, allow_inf_nan=False)
    until: float | None = Field(None, allow_inf_nan=False)
    after: int = Field(0, ge=0)

    def matches(self, found: Record) -> bool:
        """Return whether a record has all that is searched for."""
        return all(holds(found) for holds in self.conditions())

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
    async for block in _matching(records, wanted):
        found += block
        if len(found) >= most:
            break
    return found[:most]


async def _matching(records: Iterator[Record], wanted: Search) -> AsyncIterator[list[Record]]:
    """Yield the records that match in blocks, between which other requests are served."""
    conditions = wanted.conditions()
    while block := list(islice(records, SEARCHED_AT_ONCE)):
        for holds in conditions:
            block = list(filter(holds, block))
        yield block
        await asyncio.sleep(0)


@dataclass
class Problem:
    """The submissions of a problem. What is asked of them is computed once, and only of problems that need it."""

    name: str
    records: list[Record] = field(default_factory=list)

    @cached_property
    def verdicts(self) -> Counter[str]:
        """Return how many submissions have each verdict."""
        return Counter(map(attrgetter("verdict"), self.records))

    @cached_property
    def suites(self) -> set[str]:
        """Return the ids of their suites."""
        return set(map(attrgetter("suite"), self.records))

    @cached_property
    def suspects(self) -> int:
        """Return how many were accepted, and failed an audit test."""
        return sum(map(attrgetter("suspect"), self.records))

    @property
    def first(self) -> float:
        """Return the Unix time of the first answer."""
        return min(each.when for each in self.records)

    @property
    def last(self) -> float:
        """Return the Unix time of the last answer."""
        return max(each.when for each in self.records)

    @property
    def submissions(self) -> int:
        """Return the number of submissions that have a verdict."""
        return self.verdicts.total() - self.verdicts[Verdict.IE]

    @property
    def pass_rate(self) -> float | None:
        """Return the share that was accepted; None if no submission has a verdict."""
        return self.verdicts[Verdict.AC] / self.submissions if self.submissions else None

    @cached_property
    def mean_seconds(self) -> float | None:
        """Return the mean time of grading; None if all answers are from the cache."""
        graded = [each.graded_seconds for each in self.records if not each.cached and each.failure_kind is None]
        return sum(graded) / len(graded) if graded else None

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
        for each in self.records:
            part = parts[min(max(int((each.when - begin) / width), 0), STEPS - 1)]
            part[0] += 1
            part[1] += each.verdict == Verdict.AC
        return [(submissions, accepted) for submissions, accepted in parts]


async def by_problem(records: Iterator[Record], wanted: Search, label: str) -> list[Problem]:
    """Return the problems of the records that match, those with the most submissions first.

    Args:
        records: The records, in any order.
        wanted: What they must have.
        label: The label that names the problem; a submission without it counts for its suite.
    """
    problems: dict[str, Problem] = {}
    async for block in _matching(records, wanted):
        for each in block:
            name = each.labels.get(label) or each.suite
            problem = problems.get(name)
            if problem is None:
                if len(problems) == MOST_PROBLEMS:
                    continue
                problem = problems[name] = Problem(name)
            problem.records.append(each)
    return sorted(problems.values(), key=lambda each: (-len(each.records), each.name))


def ordered(problems: Sequence[Problem], order: Order, flips: Mapping[str, int]) -> list[Problem]:
    """Return problems in an order, those with the same rank as they were.

    Args:
        problems: The problems.
        order: Which come first: those with the most submissions, that never or always pass, that take longest, or that
            have the most flips or suspects.
        flips: Verdicts that a recheck did not confirm, by suite.
    """
    ranks: dict[Order, Callable[[Problem], float]] = {
        "most": lambda each: -len(each.records),
        "never": lambda each: 2.0 if each.pass_rate is None else each.pass_rate,
        "always": lambda each: 1.0 if each.pass_rate is None else -each.pass_rate,
        "slowest": lambda each: -(each.mean_seconds or 0.0),
        "flips": lambda each: -each.flips(flips),
        "suspects": lambda each: -each.suspects,
    }
    return sorted(problems, key=ranks[order])
