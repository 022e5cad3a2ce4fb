"""What a check has to say about a problem: its name, a reason that a person can read, and what follows from it.

Nothing is deleted for a finding: a problem is kept, kept with a note, or put into quarantine with its reasons beside
it. Which of them a name stands for is said here, and a recipe may say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["quarantine", "note", "off"]

MEANINGS: Mapping[str, tuple[Severity, str]] = {
    # of the data themselves
    "malformed": ("quarantine", "the row cannot be read as a problem"),
    "too_few_tests": ("quarantine", "too few distinct tests to tell right from wrong"),
    "same_answer": ("quarantine", "(nearly) all tests have the same answer"),
    "contradictory_tests": ("quarantine", "the same input with two different answers"),
    "duplicate_tests": ("note", "tests that were there twice; one of each is kept"),
    "outside_constraints": ("note", "inputs beyond the bounds that the prompt states"),
    "oversized_tests": ("note", "tests beyond the largest input; left out"),
    # of the prompt
    "image": (
        "quarantine",
        "a picture in place of words or a number: a text model never sees it",
    ),
    "picture": ("note", "a picture on a line of its own; the text may do without"),
    "illustration": ("note", "a picture beside an example or a note; the text may do without"),
    "too_short": ("quarantine", "hardly anything is asked"),
    "interactive": ("quarantine", "the program would have to talk with a judge"),
    "starter_not_called": ("quarantine", "the tests do not call what the starter code defines"),
    # of what was run
    "no_reference": ("quarantine", "there is no reference solution that can be run here"),
    "not_run": ("note", "solutions in languages that are not run here"),
    "reference_fails": ("quarantine", "a reference solution does not pass the tests"),
    "needs_checker": ("quarantine", "more than one answer is right, and the tests know only one"),
    "unstable": ("quarantine", "the reference's answer changes from run to run, or with the hash seed"),
    "bad_test": ("quarantine", "a test cannot be run or cannot be passed by anybody"),
    "wrong_passes": ("quarantine", "a solution that is known to be wrong passes"),
    "slow_passes": ("note", "a solution that is known to be too slow passes here"),
    "probe_passes": ("quarantine", "a program that solves nothing passes"),
    "too_slow": ("quarantine", "the reference is slower than any limit that the recipe allows"),
    "slow_reference": ("note", "one of several references is too slow; the others pass"),
    "looser_checker": ("note", "the references pass only under a looser comparison, which the clean line names"),
    "stricter_checker": ("note", "a stricter comparison than the problem's would do"),
    "refused": ("quarantine", "the judge refuses the problem as it stands"),
    "not_judged": ("quarantine", "the judge failed, again and again; run the recipe again"),
    # of its neighbours
    "twin": ("quarantine", "the solution of a problem that was kept before passes its tests"),
    "duplicate": ("quarantine", "the same as a problem that was kept before"),
    "same_id": ("quarantine", "another problem has its id"),
    "contaminated": ("quarantine", "the same as a problem of an evaluation set"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found."""

    name: str
    reason: str

    def line(self) -> dict[str, str]:
        """As it is written."""
        return {"name": self.name, "reason": self.reason}


def severity_of(name: str, overrides: Mapping[str, Severity]) -> Severity:
    """What follows from a finding of that name."""
    return overrides.get(name) or MEANINGS[name][0]


def condemning(findings: Iterable[Finding], overrides: Mapping[str, Severity]) -> list[Finding]:
    """Those for which a problem goes into quarantine."""
    return [each for each in findings if severity_of(each.name, overrides) == "quarantine"]


def told(findings: Iterable[Finding], overrides: Mapping[str, Severity]) -> list[Finding]:
    """All but those that the recipe does not want to hear."""
    return [each for each in findings if severity_of(each.name, overrides) != "off"]


def read(said: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """Findings as they were written."""
    return [Finding(each["name"], each["reason"]) for each in said]
