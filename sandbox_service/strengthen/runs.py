"""Runs programs on tests with the judge of the validation, and keeps the verdicts in a journal.

Each batch has a record, by the hash of everything that was sent, so that a run which is repeated after an interruption
asks for nothing twice. A batch with a fault of the service is not kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sandbox_service.errors import ProctorError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Checker, Limits, TestCase, TestResult, Verdict
from sandbox_service.validation.judge import Judge, is_fault

Kind = Literal["reference", "wrong", "mutant", "scout", "table", "generator", "validator"]
OUTPUT_BYTES = 64 << 10  # a longer answer makes no test, but of a large input


class NotJudgedError(ProctorError):
    """The judge has no verdict on a program, even after several tries."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to be run, with its role and a name for reports."""

    kind: Kind
    name: str
    code: str
    language: str = "python"
    files: Mapping[str, str] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """Return its fields of a batch request."""
        files = {"files": dict(self.files)} if self.files else {}
        return {"code": self.code, "language": self.language, **files}


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one program.

    Attributes:
        verdicts: By test; shorter than the tests if the run stopped at a failure.
        slowest_seconds: CPU time of the slowest test.
        seconds: CPU time by test.
        outputs: By test, where they were asked for: stdout of runs that ended with status 0, otherwise None.
        bad_test: Reason, if a test cannot be run.
        statuses: By test, where they were asked for: the exit status; None for a run that had none.
    """

    verdicts: tuple[str, ...]
    slowest_seconds: float = 0.0
    outputs: tuple[str | None, ...] = ()
    bad_test: str = ""
    seconds: tuple[float, ...] = ()
    statuses: tuple[int | None, ...] = ()

    @property
    def passed(self) -> bool:
        """True if every test was passed."""
        return not self.bad_test and all(verdict == Verdict.AC for verdict in self.verdicts)


class Records(Protocol):
    """Records by key; `Journal` implements it."""

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record with this key, or None."""
        ...

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Keep the record of a key."""
        ...


Headers = Callable[[dict[str, str]], dict[str, str]]
"""Returns the headers that sources include and do not bring, such as testlib.h."""


def no_headers(_: dict[str, str]) -> dict[str, str]:
    """Return no header."""
    return {}


@dataclass
class Cost:
    """Cost of a problem, in all runs that were needed."""

    cpu_seconds: float = 0.0
    programs: int = 0
    tests: int = 0


@dataclass
class Runner:
    """Runs programs for one problem."""

    problem: Problem
    judge: Judge
    records: Records
    headers: Headers = no_headers
    cost: Cost = field(default_factory=Cost)
    judged_now: int = 0

    async def run(
        self,
        programs: Sequence[Program],
        tests: Sequence[TestCase],
        limits: Limits,
        *,
        to_the_end: bool = False,
        wants_outputs: bool = False,
        wants_statuses: bool = False,
        output_bytes: int = OUTPUT_BYTES,
    ) -> list[Row]:
        """Return the rows of these programs, in order.

        Args:
            programs: What is run.
            tests: On which tests.
            limits: Of each test.
            to_the_end: Go on after a failure.
            wants_outputs: Return outputs; they are compared with nothing.
            wants_statuses: Return exit statuses. Ask for them each time that these programs run, or never.
            output_bytes: Of a returned output; a longer one is left out.

        Raises:
            BadRequestError: The problem is refused.
            NotJudgedError: The service failed.
            UnavailableError: The judge stayed away for too long.
        """
        if not programs or not tests:
            return [Row(()) for _ in programs]
        shared = self._shared(tests, limits, output_bytes if wants_outputs else None, to_the_end=to_the_end)
        sent = [each.fields() for each in programs]
        key = _key(shared, sent)
        known = self.records.get(key)
        if known is None:
            known = await self._judged(shared, sent, wants_outputs=wants_outputs, wants_statuses=wants_statuses)
            self.records.put(key, known)
            self.judged_now += len(sent)
        self.cost.cpu_seconds += known["cpu"]
        self.cost.programs += len(sent)
        self.cost.tests += sum(len(each["v"]) for each in known["rows"])
        return [_row(each) for each in known["rows"]]

    def _shared(
        self, tests: Sequence[TestCase], limits: Limits, output_bytes: int | None, *, to_the_end: bool
    ) -> dict[str, Any]:
        """The fields of a request that wants outputs of so many bytes, or none."""
        checker = self.problem.checker or Checker() if output_bytes is None else Checker(type="exact")
        return {
            # without defaults: a field that is new in a later version changes no key
            "tests": [{"type": each.type, **each.model_dump(mode="json", exclude_defaults=True)} for each in tests],
            "checker": checker.model_dump(mode="json"),
            "limits": limits.model_dump(mode="json"),
            "stop_on_failure": not to_the_end,
            "display_bytes": output_bytes or 0,
        }

    async def _judged(
        self,
        shared: Mapping[str, Any],
        sent: Sequence[Mapping[str, Any]],
        *,
        wants_outputs: bool,
        wants_statuses: bool,
    ) -> dict[str, Any]:
        rows, seconds = [], 0.0
        for grade in await self.judge.grade(shared, sent):
            if is_fault(grade):
                raise NotJudgedError(f"{grade.failure_kind}: {grade.failure_reason or grade.message}")
            tests = [each for each in grade.tests if each.verdict != Verdict.IE]
            row: dict[str, Any] = {
                "v": [str(each.verdict) for each in tests],
                "s": round(max((each.cpu_seconds for each in tests), default=0.0), 6),
                "t": [round(each.cpu_seconds, 4) for each in tests],
            }
            if grade.verdict == Verdict.CE and not tests:
                row["v"] = [str(Verdict.CE)]
            if grade.verdict == Verdict.IE:
                row["bad"] = grade.failure_reason or grade.message or "a test cannot be run"
            if wants_outputs:
                ended = (Verdict.AC, Verdict.WA)
                row["o"] = [
                    each.stdout if each.verdict in ended and not each.stdout_truncated else None for each in tests
                ]
            if wants_statuses:
                row["e"] = [_status(each) for each in tests]
            seconds += sum(each.cpu_seconds for each in tests)
            rows.append(row)
        return {"rows": rows, "cpu": round(seconds, 6)}


def _key(shared: Mapping[str, Any], sent: Sequence[Mapping[str, Any]]) -> str:
    return "run " + hashlib.sha256(json.dumps([shared, sent], sort_keys=True).encode()).hexdigest()


def _status(result: TestResult) -> int | None:
    """The exit status; 0 if the program ended well in a box that it shared with other tests."""
    has_ended = result.verdict in (Verdict.AC, Verdict.WA)
    return 0 if has_ended and result.exit_code is None else result.exit_code


def _row(known: Mapping[str, Any]) -> Row:
    outputs, seconds, statuses = (tuple(known.get(name, ())) for name in ("o", "t", "e"))
    return Row(tuple(known["v"]), known["s"], outputs, known.get("bad", ""), seconds, statuses)
