"""Modes: the checkers, limits and samples of other systems, for comparable results. One row per system.

A mode is only a set of defaults, which replaces it when a submission is accepted: the grader does not know modes, and a
submission that sets the same fields is the same work. `judging.systems` implements the comparisons. docs/modes.md lists
sources, omissions and differences.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from sandbox_service.schema import Checker, Limits, Mode, Sample


@dataclass(frozen=True, slots=True)
class ModeDefaults:
    """The defaults of a system. Its time limit applies to CPU time here, to wall time in most systems."""

    checker: Checker
    limits: Limits | None = None  # None: the service's defaults
    sample: Sample | None = None  # None: all tests


MODES: dict[Mode, ModeDefaults] = {
    "lcb": ModeDefaults(Checker(type="lcb"), Limits(cpu_seconds=6)),
    "prime_code": ModeDefaults(Checker(type="prime_code"), Limits(cpu_seconds=10), Sample(count=10, rule="first")),
    "sandboxfusion": ModeDefaults(Checker(type="sandboxfusion"), Limits(cpu_seconds=20)),
    "code_r1": ModeDefaults(Checker(type="stripped"), Limits(cpu_seconds=30)),
    "deepcoder": ModeDefaults(Checker(type="deepcoder"), Limits(cpu_seconds=12), Sample(count=15, rule="longest")),
    "kattis": ModeDefaults(Checker(type="tokens", ignore_case=True)),
}


def replaced(mode: Mode, explicit: Container[str]) -> dict[str, object]:
    """Return the fields that replace the mode.

    Args:
        mode: The mode.
        explicit: The names of fields that the submission or its suite sets.
    """
    defaults = MODES[mode]
    fields = {"checker": defaults.checker, "limits": defaults.limits, "sample": defaults.sample}
    given = {name: value for name, value in fields.items() if value is not None and name not in explicit}
    return {"mode": None, **given}
