"""Starts a sandbox as the service does, runs the canary in it, and attacks it.

The attacks are submissions, with tests whose answer is a random number. If one is paid or reports that it escaped, the
machine must grade nothing. Right programs are graded before and after the attacks, to show that the sandbox works.
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
from sandbox_service.doctor.preflight import Finding, Level, tool_of
from sandbox_service.errors import JailUnsafeError, SandboxError
from sandbox_service.grading.grader import Grader
from sandbox_service.languages import LANGUAGES, math_packages, toolchains
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
    """The result of an attack."""

    name: str
    paid: bool
    escaped: bool
    fault: str | None


def prove(settings: Settings) -> Iterator[Finding]:
    """Yield findings about a sandbox of its own, beside those of a service that may be running."""
    try:
        with bootstrap.grader(settings, index=settings.slot_count) as grader:
            yield Finding(
                "jail", Level.OK, f"{settings.isolation} isolates: namespaces, network, filter of system calls"
            )
            yield Finding("canary", Level.OK, "what must be blocked was blocked, and a sleeping program was killed")
            yield attacks(grader)
            yield numpy(grader)
            yield mathematics(grader)
            yield languages(grader)
    except JailUnsafeError as fault:
        yield Finding("canary", Level.PROBLEM, str(fault), STOP)
    except SandboxError as fault:
        text, _, mend = str(fault).partition("; to mend it: ")
        yield Finding("jail", Level.PROBLEM, text, mend or f"see why: {tool_of(settings).debug_command()}")


def languages(grader: Grader) -> Finding:
    """Compile and run the hello program of each language that this machine has; name those that are missing."""
    failed, worked, missing = [], [], []
    for language in LANGUAGES:
        toolchain = language.toolchain
        if toolchain is None:
            continue
        if not toolchains.is_present(language):
            missing.append(language.name)
            continue
        body = {"language": language.name, "code": toolchain.hello, "tests": [{"type": "stdin", "output": "hello"}]}
        grade = grader.grade(Submission.model_validate(body))
        if grade.verdict == Verdict.AC:
            worked.append(f"{language.name} {toolchains.version(toolchain)}")
        else:
            failed.append(f"{language.name}: {grade.verdict} {grade.failure_reason or grade.message}")
    if failed:
        return Finding("languages", Level.PROBLEM, "; ".join(failed), "install their packages again; docs/languages.md")
    text = f"{', '.join(['python', *worked])}; missing: {', '.join(missing) or 'none'}"
    return Finding("languages", Level.OK, text)


def attacks(grader: Grader) -> Finding:
    """Try all attacks, and right programs before and after them."""
    answer = f"answer-{secrets.token_hex(16)}"
    wrong = _not_accepted(grader, answer)
    attempts = [attempt(grader, attack, answer) for attack in known_attacks()]
    wrong += [f"after the attacks, {kind}" for kind in _not_accepted(grader, answer)]
    if wrong:
        text = f"right programs were not accepted: {', '.join(wrong)}"
        return Finding("attacks", Level.PROBLEM, text, "find out what else uses this machine's memory or processors")
    return judge(attempts)


def judge(attempts: list[Attempt]) -> Finding:
    """Return the finding for a list of attempts."""
    paid = [attempt.name for attempt in attempts if attempt.paid]
    escaped = [attempt.name for attempt in attempts if attempt.escaped]
    faults = [f"{attempt.name}: {attempt.fault}" for attempt in attempts if attempt.fault]
    text = f"{len(attempts)} attacks tried, {_listed(paid)} paid, {_listed(escaped)} escaped"
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
    """Try one attack.

    Args:
        grader: the grader to attack.
        attack: the program.
        answer: the expected answer, which the program cannot know.

    Returns:
        The attack with its outcome.
    """
    grade = _grade(grader, attack.code, attack.test, answer)
    said = "".join(test.stdout + test.stderr for test in grade.tests)
    return Attempt(
        attack.name, grade.verdict == Verdict.AC or bool(grade.reward), ESCAPED in said, grade.failure_reason
    )


def numpy(grader: Grader) -> Finding:
    """Check that programs that use numpy are graded."""
    test = {"type": "stdin", "output": "6"}
    grade = grader.grade(Submission.model_validate({"code": NUMPY, "tests": [test]}))
    if grade.verdict == Verdict.AC:
        return Finding("numpy", Level.OK, grade.tests[0].stderr.strip())
    why = grade.failure_reason or grade.message or grade.verdict
    return Finding(
        "numpy", Level.WARNING, f"programs that use numpy cannot be graded: {why}", "apt-get install python3-numpy"
    )


def mathematics(grader: Grader) -> Finding:
    """Check that answers in mathematics are compared."""
    if lacking := math_packages.missing():
        text = f"answers in mathematics cannot be compared: no {', '.join(lacking)}"
        return Finding("mathematics", Level.WARNING, text, math_packages.INSTALL)
    tests = [{"type": "stdin", "output": EXPECTED_ANSWER}]
    body = {"language": "text", "code": ANSWER, "tests": tests, "checker": {"type": "math"}}
    grade = grader.grade(Submission.model_validate(body))
    if grade.verdict == Verdict.AC:
        return Finding("mathematics", Level.OK, f"math-verify {version('math-verify')}")
    why = grade.failure_reason or grade.message or grade.verdict
    text = f"answers in mathematics cannot be compared: {why}"
    return Finding("mathematics", Level.WARNING, text, f"{math_packages.INSTALL} --force-reinstall")


@cache
def known_attacks() -> tuple[Attack, ...]:
    """Return the attacks of attacks.toml."""
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


def _listed(names: list[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"
