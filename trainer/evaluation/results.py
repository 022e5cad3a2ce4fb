"""Aggregates samples and verdicts by problem, in total and by group. Pure: the same files give the same figures.

A sample without a verdict, or a missing one, reduces its problem's n. A problem with fewer than k samples is not in the
mean for k; one with none is in no mean. Both are counted and listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from trainer.data import Problem
from trainer.evaluation.grading import Verdict
from trainer.evaluation.interval import Estimate, estimate
from trainer.evaluation.passk import pass_at_k
from trainer.evaluation.samples import Sample

GROUPINGS = ("source", "difficulty", "platform")
NAMED = 20  # problems without a verdict that are listed by name
LEVELS = {"easy": 0, "medium": 1, "hard": 2}
RATED = 100  # difficulties from here on are ratings (Codeforces) and are grouped in steps of RATING_STEP
RATING_STEP = 400


@dataclass
class Result:
    """One problem. `right` has for each sample number whether it passed, None if unknown."""

    problem: str
    source: str
    meta: Mapping[str, Any]
    right: list[bool | None]
    faults: int = 0
    missing: int = 0
    cut: int = 0
    tokens: list[int] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        """The number of samples with a verdict."""
        return sum(each is not None for each in self.right)

    @property
    def c(self) -> int:
        """The number of samples that passed."""
        return sum(each is True for each in self.right)

    def pass_at(self, k: int) -> float | None:
        """Return pass@k, None with fewer than k samples.

        Args:
            k: The number of samples to draw.
        """
        return pass_at_k(self.n, self.c, k) if self.n >= k else None

    def plain(self, ks: Sequence[int]) -> dict[str, Any]:
        """Return the line of results.jsonl.

        Args:
            ks: The values of k.
        """
        return {
            "problem": self.problem,
            "source": self.source,
            **{name: self.meta[name] for name in ("difficulty", "platform", "date", "contest") if name in self.meta},
            "n": self.n,
            "correct": self.c,
            **{f"pass@{k}": self.pass_at(k) for k in ks},
            "right": self.right,
            "faults": self.faults,
            "missing": self.missing,
            "cut": self.cut,
            "tokens": fmean(self.tokens) if self.tokens else None,
            "verdicts": dict(sorted(self.verdicts.items())),
        }


class Results:
    """The results of all problems, in their order. `n`: the expected samples per problem."""

    def __init__(self, problems: Iterable[Problem], n: int) -> None:
        self.n = n
        self._results = {each.id: Result(each.id, each.source, each.meta, [None] * n, missing=n) for each in problems}
        self._finished: dict[tuple[str, int], tuple[bool, int | None]] = {}

    @property
    def all(self) -> list[Result]:
        """All results, in the order of the problems."""
        return list(self._results.values())

    def add(self, sample: Sample, verdict: Verdict | None) -> None:
        """Add a sample. Repeated samples and samples of other problems are ignored.

        Args:
            sample: The sample.
            verdict: Its verdict, if there is one.
        """
        result = self._results.get(sample.problem)
        if result is None or not 0 <= sample.sample < self.n or sample.key in self._finished:
            return
        self._finished[sample.key] = (sample.is_cut, sample.tokens)
        result.cut += sample.is_cut
        if sample.tokens is not None:
            result.tokens.append(sample.tokens)
        if verdict is None:
            return
        result.missing -= 1
        result.faults += verdict.is_fault
        result.verdicts[verdict.verdict] += 1
        if not verdict.is_fault:
            result.right[sample.sample] = verdict.verdict == "AC"


@dataclass(frozen=True)
class Figures:
    """Figures of a set of problems."""

    problems: int
    samples: int  # with a verdict
    mean: Estimate | None  # avg@n: the share of samples that pass, averaged over problems
    pass_at: Mapping[int, Estimate | None]
    cut: float  # share of truncated samples
    tokens: float | None
    faults: int
    missing: int

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON-compatible data."""
        return {
            "problems": self.problems,
            "samples": self.samples,
            "avg": self.mean.plain() if self.mean else None,
            "pass": {str(k): each.plain() if each else None for k, each in self.pass_at.items()},
            "cut": self.cut,
            "tokens": self.tokens,
            "faults": self.faults,
            "missing": self.missing,
        }


def figures(results: Sequence[Result], ks: Sequence[int]) -> Figures:
    """Return the figures of some problems.

    Args:
        results: Their results.
        ks: The values of k.
    """
    tokens = [count for each in results for count in each.tokens]
    there = sum(len(each.right) for each in results) - sum(each.missing for each in results)
    return Figures(
        problems=len(results),
        samples=sum(each.n for each in results),
        mean=_over(results, 1),
        pass_at={k: _over(results, k) for k in ks},
        cut=sum(each.cut for each in results) / max(there, 1),
        tokens=fmean(tokens) if tokens else None,
        faults=sum(each.faults for each in results),
        missing=sum(each.missing for each in results),
    )


def groups(results: Sequence[Result]) -> dict[str, dict[str, list[Result]]]:
    """Group results by source, difficulty and platform. Groupings with a single group are omitted.

    Args:
        results: The results.

    Returns:
        By grouping and group name, the results.
    """
    made: dict[str, dict[str, list[Result]]] = {}
    for grouping in GROUPINGS:
        sorted_in: dict[str, list[Result]] = {}
        for each in results:
            sorted_in.setdefault(_group(each, grouping), []).append(each)
        if len(sorted_in) > 1:
            made[grouping] = dict(sorted(sorted_in.items(), key=_easy_first))
    return made


def summary(results: Results, ks: Sequence[int]) -> dict[str, Any]:
    """Return all figures as JSON-compatible data.

    Args:
        results: The results.
        ks: The values of k.
    """
    every = results.all
    without = [each.problem for each in every if not each.n]
    verdicts = sum((each.verdicts for each in every), Counter[str]())
    return {
        "n": results.n,
        "k": list(ks),
        **figures(every, ks).plain(),
        "verdicts": dict(sorted(verdicts.items())),
        "without_verdict": {"problems": len(without), "first": without[:NAMED]},
        "by": {
            grouping: {name: figures(some, ks).plain() for name, some in named.items()}
            for grouping, named in groups(every).items()
        },
    }


def fault_share(results: Results) -> float:
    """Return the share of graded samples without a verdict.

    Args:
        results: The results.
    """
    faults = sum(each.faults for each in results.all)
    return faults / max(faults + sum(each.n for each in results.all), 1)


def _over(results: Sequence[Result], k: int) -> Estimate | None:
    counted = [(each.pass_at(k), each.n) for each in results]
    scores = [score for score, _ in counted if score is not None]
    return estimate(scores, sum(n for score, n in counted if score is not None) // k)


def _group(result: Result, grouping: str) -> str:
    value = result.source if grouping == "source" else result.meta.get(grouping)
    if isinstance(value, int | float) and value >= RATED:
        floor = int(value) // RATING_STEP * RATING_STEP
        return f"{floor}–{floor + RATING_STEP - 1}"
    return str(value) if value not in (None, "") else "?"


def _easy_first(item: tuple[str, object]) -> tuple[float, str]:
    name = item[0]
    number = name.partition("–")[0].replace(".", "", 1)
    return float(LEVELS.get(name.lower(), number if number.isdigit() else 9)), name
