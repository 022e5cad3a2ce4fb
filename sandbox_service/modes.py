"""What other systems compare with, sample and allow, so that figures can be held against theirs: a row for each.

A mode is no more than defaults: it is replaced by them where a submission is taken, so that a grader never sees one and
a submission that spells the same out is the same work. What decides a comparison is `judging.systems`. Sources, what is
left out of each system, and where the modes differ: docs/modes.md.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from sandbox_service.schema import Checker, Limits, Mode, Sample


@dataclass(frozen=True, slots=True)
class Defaults:
    """A system's. Its time limit is of wall time for most; here the same number of seconds is of CPU time."""

    checker: Checker
    limits: Limits | None = None  # None: ours
    sample: Sample | None = None  # None: all tests


MODES: dict[Mode, Defaults] = {
    "lcb": Defaults(Checker(type="lcb"), Limits(cpu_seconds=6)),
    "prime_code": Defaults(Checker(type="prime_code"), Limits(cpu_seconds=10), Sample(count=10, rule="first")),
    "sandboxfusion": Defaults(Checker(type="sandboxfusion"), Limits(cpu_seconds=20)),
    "code_r1": Defaults(Checker(type="stripped"), Limits(cpu_seconds=30)),
    "deepcoder": Defaults(Checker(type="deepcoder"), Limits(cpu_seconds=12), Sample(count=15, rule="longest")),
    "kattis": Defaults(Checker(type="tokens", ignore_case=True)),
}


def replaced(mode: Mode, said: Container[str]) -> dict[str, object]:
    """The fields of a submission that take the mode's place, but for those that were `said` by it or its suite."""
    defaults = MODES[mode]
    fields = {"checker": defaults.checker, "limits": defaults.limits, "sample": defaults.sample}
    given = {name: value for name, value in fields.items() if value is not None and name not in said}
    return {"mode": None, **given}
