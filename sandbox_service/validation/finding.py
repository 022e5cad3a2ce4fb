"""Findings of checks: a name, a reason for people, and the severity of each name.

A finding deletes nothing: a problem is kept, kept with a note, or put into quarantine with its reasons. MEANINGS has
the severities, which a recipe may override.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["quarantine", "note", "off"]

MEANINGS: Mapping[str, tuple[Severity, str]] = {
    # data
    "malformed": ("quarantine", "the row cannot be read as a problem"),
    "too_few_tests": ("quarantine", "too few distinct tests to tell right from wrong"),
    "same_answer": ("quarantine", "(nearly) all tests have the same answer"),
    "contradictory_tests": ("quarantine", "the same input with two different answers"),
    "duplicate_tests": ("note", "duplicate tests; one of each is kept"),
    "outside_constraints": ("note", "inputs beyond the bounds that the prompt states"),
    "oversized_tests": ("note", "tests beyond the largest input; left out"),
    # prompt
    "image": (
        "quarantine",
        "a picture in place of words or a number: a text model never sees it",
    ),
    "picture": ("note", "a picture on a line of its own; the text may do without"),
    "illustration": ("note", "a picture beside an example or a note; the text may do without"),
    "too_short": ("quarantine", "the prompt has too few letters"),
    "interactive": ("quarantine", "the program would have to interact with a judge"),
    "starter_not_called": ("quarantine", "the tests do not call what the starter code defines"),
    # runs
    "no_reference": ("quarantine", "there is no reference solution that can be run here"),
    "not_run": ("note", "solutions in languages that are not run here"),
    "reference_fails": ("quarantine", "a reference solution does not pass the tests"),
    "needs_checker": ("quarantine", "more than one answer is right, and the tests know only one"),
    "unstable": ("quarantine", "the reference's answer changes from run to run, or with the hash seed"),
    "bad_test": ("quarantine", "a test cannot be run, or no program can pass it"),
    "generated_checker": ("note", "a model wrote the checker, and the programs of the problem confirm it"),
    "bad_checker": ("quarantine", "the checker or interactor failed on the output of a program"),
    "checker_accepts_nothing": ("quarantine", "the checker or interactor refuses all references"),
    "checker_accepts_all": ("quarantine", "the checker or interactor accepts all wrong programs"),
    "wrong_passes": ("quarantine", "a solution that is known to be wrong passes"),
    "slow_passes": ("note", "a solution that is known to be too slow passes here"),
    "probe_passes": ("quarantine", "a program that solves nothing passes"),
    "too_slow": ("quarantine", "the reference is slower than any limit that the recipe allows"),
    "slow_reference": ("note", "one of several references is too slow; the others pass"),
    "looser_checker": ("note", "the references pass only under a looser comparison, which the clean line names"),
    "stricter_checker": ("note", "the references also pass under a stricter comparison"),
    "refused": ("quarantine", "the judge refuses the problem"),
    "not_judged": ("quarantine", "the judge failed on every try; run the recipe again"),
    # other problems
    "twin": ("quarantine", "the solution of a problem that was kept before passes its tests"),
    "duplicate": ("quarantine", "a copy of a problem that was kept before"),
    "same_id": ("quarantine", "another problem has its id"),
    "contaminated": ("quarantine", "a copy of a problem of an evaluation set"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check."""

    name: str
    reason: str

    def line(self) -> dict[str, str]:
        """Return the finding as JSON data."""
        return {"name": self.name, "reason": self.reason}


def severity_of(name: str, overrides: Mapping[str, Severity]) -> Severity:
    """Return the severity of findings with this name.

    Args:
        name: A key of MEANINGS.
        overrides: The recipe's severities by name.
    """
    return overrides.get(name) or MEANINGS[name][0]


def quarantine_causes(findings: Iterable[Finding], overrides: Mapping[str, Severity]) -> list[Finding]:
    """Return the findings that put a problem into quarantine; arguments as for `severity_of`."""
    return [each for each in findings if severity_of(each.name, overrides) == "quarantine"]


def reported(findings: Iterable[Finding], overrides: Mapping[str, Severity]) -> list[Finding]:
    """Return the findings that the recipe does not switch off; arguments as for `severity_of`."""
    return [each for each in findings if severity_of(each.name, overrides) != "off"]


def read(lines: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """Return findings from the JSON lines that `Finding.line` made."""
    return [Finding(each["name"], each["reason"]) for each in lines]
