"""A jail is started as the service would start it, the canary is run in it, and programs attack it.

The attacks come as submissions, with tests whose answer nobody can know. One that is paid, or that says it got out,
means that nothing may be graded here. Right programs are graded before and after, so that an empty success shows.
"""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sandbox_service import bootstrap
from sandbox_service.errors import JailUnsafe, SandboxFault
from sandbox_service.grader import Grader
from sandbox_service.jails import libraries
from sandbox_service.jails.firejail import PROFILE
from sandbox_service.preflight import Finding, Level
from sandbox_service.schema import Grade, Submission, Verdict
from sandbox_service.settings import Settings

ESCAPED = "ESCAPED"
LIMITS = {"cpu_seconds": 1, "wall_seconds": 5, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
RIGHT = {
    "stdin": "print({answer!r})",
    "call": "def solve(a, b):\n    return {answer!r}",
    "assert": "def solve(a, b):\n    return {answer!r}",
}
NUMPY = "import sys, numpy\nprint(int(numpy.arange(4).sum()))\nprint(numpy.__version__, file=sys.stderr)"
ANSWER, EXPECTED_ANSWER = r"\sqrt{8}", r"2\sqrt{2}"
STOP = "grade nothing on this machine, and report it: see SECURITY.md"


@dataclass(frozen=True)
class Attack:
    """A malicious program and the kind of test that it is made for."""

    name: str
    test: str
    code: str


@dataclass(frozen=True)
class Attempt:
    """What came of an attack."""

    name: str
    paid: bool
    escaped: bool
    fault: str | None


def prove(settings: Settings) -> Iterator[Finding]:
    """Findings about a jail of our own, beside those of a service that may be running."""
    try:
        with bootstrap.grader(settings, index=settings.slot_count) as grader:
            yield Finding("jail", Level.OK, "firejail jails: namespaces, network and system call filter are its own")
            yield Finding(
                "canary", Level.OK, "a program that tries what must be blocked was blocked, and a sleeper killed"
            )
            yield attacks(grader)
            yield numpy(grader)
            yield mathematics(grader)
    except JailUnsafe as fault:
        yield Finding("canary", Level.PROBLEM, str(fault), STOP)
    except SandboxFault as fault:
        text, _, mend = str(fault).partition("; to mend it: ")
        look = f"see why: env container=docker {settings.firejail} --debug --profile={PROFILE} -- /usr/bin/true"
        yield Finding("jail", Level.PROBLEM, text, mend or look)


def attacks(grader: Grader) -> Finding:
    """All attacks, between two right programs that must be accepted."""
    answer = f"answer-{secrets.token_hex(16)}"
    wrong = _not_accepted(grader, answer)
    attempts = [attempt(grader, attack, answer) for attack in known_attacks()]
    wrong += [f"after the attacks, {kind}" for kind in _not_accepted(grader, answer)]
    if wrong:
        text = f"right programs were not accepted: {', '.join(wrong)}"
        return Finding("attacks", Level.PROBLEM, text, "look for what else uses this machine's memory or processors")
    return judge(attempts)


def judge(attempts: list[Attempt]) -> Finding:
    """What the attempts come to."""
    paid = [it.name for it in attempts if it.paid]
    escaped = [it.name for it in attempts if it.escaped]
    faults = [f"{it.name}: {it.fault}" for it in attempts if it.fault]
    text = f"{len(attempts)} attacks tried, {_those(paid)} paid, {_those(escaped)} escaped"
    if paid or escaped:
        return Finding("attacks", Level.PROBLEM, text, STOP)
    if faults:
        return Finding(
            "attacks",
            Level.PROBLEM,
            f"{text}; no verdict on {'; '.join(faults)}",
            "proctor doctor, on a quieter machine",
        )
    return Finding("attacks", Level.OK, text)


def attempt(grader: Grader, attack: Attack, answer: str) -> Attempt:
    """Try one attack."""
    grade = _grade(grader, attack.code, attack.test, answer)
    said = "".join(test.stdout + test.stderr for test in grade.tests)
    return Attempt(
        attack.name, grade.verdict == Verdict.AC or bool(grade.reward), ESCAPED in said, grade.failure_reason
    )


def numpy(grader: Grader) -> Finding:
    """Programs that use numpy get a jail that has it loaded."""
    test = {"type": "stdin", "output": "6"}
    grade = grader.grade(Submission.model_validate({"code": NUMPY, "tests": [test]}))
    if grade.verdict == Verdict.AC:
        return Finding("numpy", Level.OK, grade.tests[0].stderr.strip())
    why = grade.failure_reason or grade.message or grade.verdict
    return Finding(
        "numpy", Level.WARNING, f"programs that use numpy cannot be graded: {why}", "apt-get install python3-numpy"
    )


def mathematics(grader: Grader) -> Finding:
    """Answers in mathematics are compared in a jail that has a library loaded."""
    if lacking := libraries.missing():
        text = f"answers in mathematics cannot be compared: no {', '.join(lacking)}"
        return Finding("mathematics", Level.WARNING, text, libraries.INSTALL)
    tests = [{"type": "stdin", "output": EXPECTED_ANSWER}]
    body = {"language": "text", "code": ANSWER, "tests": tests, "checker": {"type": "math"}}
    grade = grader.grade(Submission.model_validate(body))
    if grade.verdict == Verdict.AC:
        return Finding("mathematics", Level.OK, f"math-verify {version('math-verify')}")
    why = grade.failure_reason or grade.message or grade.verdict
    text = f"answers in mathematics cannot be compared: {why}"
    return Finding("mathematics", Level.WARNING, text, f"{libraries.INSTALL} --force-reinstall")


@cache
def known_attacks() -> tuple[Attack, ...]:
    """Those that are kept beside this module."""
    text = files("sandbox_service.doctor").joinpath("attacks.toml").read_text()
    return tuple(Attack(**attack) for attack in tomllib.loads(text)["attack"])


def _not_accepted(grader: Grader, answer: str) -> list[str]:
    grades = {kind: _grade(grader, code.format(answer=answer), kind, answer) for kind, code in RIGHT.items()}
    return [f"{kind} was {grade.verdict}" for kind, grade in grades.items() if grade.verdict != Verdict.AC]


def _grade(grader: Grader, code: str, kind: str, answer: str) -> Grade:
    body = {"code": code, "tests": [_test(kind, answer)], "limits": LIMITS}
    return grader.grade(Submission.model_validate(body))


def _test(kind: str, answer: str) -> dict[str, Any]:
    if kind == "stdin":
        return {"type": kind, "input": "20 22\n", "output": answer}
    if kind == "call":
        return {"type": kind, "function": "solve", "args": [20, 22], "output": answer}
    return {
        "type": kind,
        "code": f"def check(candidate):\n    assert candidate(20, 22) == {answer!r}",
        "entry_point": "solve",
    }


def _those(names: list[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"
