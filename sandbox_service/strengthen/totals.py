"""Counts and examples of a strengthening, for the manifest and the report."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field

from sandbox_service.strengthen.records import Record
from sandbox_service.strengthen.strength import Share

EXAMPLES = 40  # problems of each kind that the report shows
PROGRAMS = 3  # caught programs of each problem that the report shows
SHARES = ("before", "after", "held_out")


@dataclass
class Totals:
    """Counts and values so far. `kinds` has refused before, refused after and all programs."""

    read: int = 0
    malformed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    strengthened: int = 0
    unchanged: Counter[str] = field(default_factory=Counter)
    not_judged: int = 0
    added: int = 0
    audit: int = 0
    single: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    shares: dict[str, Share] = field(default_factory=lambda: dict.fromkeys(SHARES, Share(0, 0)))
    values: dict[str, array[float]] = field(default_factory=lambda: {name: array("d") for name in SHARES})
    kinds: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    added_tests: array[float] = field(default_factory=lambda: array("d"))
    seconds: array[float] = field(default_factory=lambda: array("d"))
    caught: list[tuple[str, str]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    suspicious: list[tuple[str, str]] = field(default_factory=list)
    reasons: list[tuple[str, str]] = field(default_factory=list)
    cpu_seconds: float = 0.0
    programs: int = 0
    tests: int = 0

    def take_malformed(self) -> None:
        """Count a row that is not a problem."""
        self.read += 1
        self.malformed += 1

    def take_left_out(self, reason: str) -> None:
        """Count a problem that the recipe's filters leave out for this reason."""
        self.read += 1
        self.left_out[reason] += 1

    def take_not_judged(self, name: str, reason: str) -> None:
        """Count a problem on which the service failed.

        Args:
            name: Id of the problem.
            reason: What failed.
        """
        self.read += 1
        self.not_judged += 1
        self._show(self.reasons, name, f"not judged, run the recipe again: {reason}")

    def take(self, name: str, record: Record) -> None:
        """Count a problem.

        Args:
            name: Its id.
            record: What was found.
        """
        self.read += 1
        if record["reason"]:
            self.unchanged[record["reason"].partition(":")[0]] += 1
            self._show(self.reasons, name, record["reason"])
            return
        self.strengthened += 1
        strength, figures = record["strength"], record["figures"]
        self.added += figures["added"]
        self.audit += figures["audit"]
        self.single += strength["references"] == 1
        self.forms[figures["form"]] += 1
        self.added_tests.append(figures["added"])
        self.seconds.append(figures["cpu_seconds"])
        self.cpu_seconds += figures["cpu_seconds"]
        self.programs += figures["programs"]
        self.tests += figures["tests"]
        self._take_shares(strength)
        self._take_examples(name, record)

    def _take_shares(self, strength: Record) -> None:
        for each in SHARES:
            said, known = strength[each], self.shares[each]
            self.shares[each] = Share(known.refused + said["refused"], known.programs + said["programs"])
            if said["share"] is not None:
                self.values[each].append(said["share"])
        for kind, (before, after, programs) in strength["kinds"].items():
            old = self.kinds.get(kind, (0, 0, 0))
            self.kinds[kind] = old[0] + before, old[1] + after, old[2] + programs

    def _take_examples(self, name: str, record: Record) -> None:
        for each in record["suspicious"]:
            reason = f"{each['program']} answers otherwise than most references on {each['inputs']} inputs"
            self._show(self.suspicious, name, f"{reason}, first on {each['input']!r}")
        said = [f"{each['program']}: {each['input']!r} ({each['how']})" for each in record["caught"][:PROGRAMS]]
        if said:
            self._show(self.caught, name, "; ".join(said))
        if record["left"]:
            self._show(self.left, name, ", ".join(each["program"] for each in record["left"]))

    def _show(self, examples: list[tuple[str, str]], name: str, reason: str) -> None:
        if len(examples) < EXAMPLES:
            examples.append((name, reason))
