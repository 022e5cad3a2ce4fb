"""The protocols of judge programs: the command line of each, and the meaning of its exit status and files.

A judge's exit status, its feedback files and its output become a `Judgement`. Whatever a protocol does not define (a
signal, a limit exceeded, an exit status that it does not know) is the judge's own failure and says nothing about the
program. docs/judges.md describes the protocols for those who write judges.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from sandbox_service.judging.verdict import judge as judge_end
from sandbox_service.sandbox.base import Outcome
from sandbox_service.schema import JudgeProgram, Limits, Verdict

INPUT, ANSWER, OUTPUT, TOUT, FEEDBACK = "input.txt", "answer.txt", "output.txt", "tout.txt", "feedback/"
FOLDER = "/tmp"  # noqa: S108  of the judge's box
CURRENT = "."
MESSAGE_CHARACTERS = 2000
ACCEPTED, REJECTED = 42, 43
TESTLIB = {0: True, 1: False, 2: False, 4: False, 8: False}
POINTS, FAIL = 7, 3
ROUNDING = 1e-9
_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_WHOLE = r"(?!\w|%|[.,]\d)"  # the number has ended: neither 0,5 nor 0x10 is 0
_TESTLIB_POINTS = re.compile(rf"\s*+(?:points?|partially correct)?[\s(:]*+({_NUMBER.pattern}){_WHOLE}", re.ASCII)
_TESTLIB_PART = re.compile(r"partially correct \((\d{1,9})\)", re.ASCII)
_AWARDS_PARTS = re.compile(r"\b_pc\b|\b_partially\b|partially correct")
_TESTLIB_HEADER = "testlib.h"


@dataclass(frozen=True)
class Judgement:
    """The decision of a judge.

    Attributes:
        verdict: AC, WA, or IE if the judge failed.
        share: the part of the test that it awarded; None if the verdict says it all.
        message: for people.
        provoked: it failed on what the submission wrote, and does not fail without that.
    """

    verdict: Verdict
    share: float | None = None
    message: str | None = None
    provoked: bool = False


@dataclass(frozen=True)
class Report:
    """The traces of a judge.

    Attributes:
        outcome: its end.
        feedback: the beginnings of the files of its feedback folder, by name.
        unreadable: names in that folder that are no regular files, or are longer than what `feedback` has of them.
    """

    outcome: Outcome
    feedback: dict[str, bytes]
    unreadable: frozenset[str] = frozenset()

    def text(self, name: str) -> str:
        """Return the feedback file of this name as text; empty if there is none."""
        return self.feedback.get(name, b"").decode("utf-8", "replace").strip()[:MESSAGE_CHARACTERS]

    def number(self, name: str) -> float | None:
        """Return the number in the feedback file of this name, which has nothing else; None if there is none."""
        if name in self.unreadable:
            return None
        found = _NUMBER.fullmatch(self.feedback.get(name, b"").decode("utf-8", "replace").strip())
        return float(found[0]) if found else None

    @property
    def said(self) -> str:
        """The text on its stderr, or else on its stdout."""
        return (self.outcome.stderr or self.outcome.stdout).decode("utf-8", "replace").strip()[:MESSAGE_CHARACTERS]


@dataclass(frozen=True)
class Protocol:
    """A way to call a judge, and to read its end.

    Attributes:
        arguments: the names of files, in order, for a checker.
        interacts: the same for an interactor; None if the protocol has none.
        output_on_stdin: a checker reads the program's output on its stdin.
        functions: a function of the program is called, after the program was run as a module.
        read: makes a judgement of a report.
    """

    arguments: tuple[str, ...]
    read: Callable[[JudgeProgram, Report], Judgement]
    interacts: tuple[str, ...] | None = None
    output_on_stdin: bool = False
    functions: bool = False


SCORE, MULTIPLIER, REPORT = "score.txt", "score_multiplier.txt", "report.json"
FEEDBACK_FILES = ("judgemessage.txt", "teammessage.txt", SCORE, MULTIPLIER, REPORT)


def judgement(program: JudgeProgram, limits: Limits, report: Report) -> Judgement:
    """Return the judge's decision.

    Args:
        program: the judge.
        limits: those that it ran under.
        report: what it left behind.
    """
    outcome = report.outcome
    ended, reason = judge_end(outcome, limits)
    if ended not in (Verdict.AC, Verdict.RTE) or outcome.exit_code is None:
        return Judgement(Verdict.IE, message=f"{reason}{_said(report)}")
    return PROTOCOLS[program.protocol].read(program, report)


def blames_the_test(program: JudgeProgram, outcome: Outcome) -> bool:
    """Return whether the judge ended by saying that it or its data are wrong, as testlib's `_fail` does."""
    return program.protocol == "testlib" and outcome.exit_code == FAIL


def _failed(report: Report) -> Judgement:
    return Judgement(Verdict.IE, message=f"it ended with exit code {report.outcome.exit_code}{_said(report)}")


def _said(report: Report) -> str:
    last = report.said.splitlines()[-1:]
    return f": {last[0][:200]}" if last else ""


def _plain(is_right: bool, message: str) -> Judgement:
    return Judgement(Verdict.AC if is_right else Verdict.WA, message=message or None)


def _awarded(program: JudgeProgram, score: float, message: str) -> Judgement:
    """Return the judgement of a checker that gives points: accepted if these are all of them.

    A score that is more than the whole test contradicts `full_score`. Counted as the whole, it would pay for a part.
    """
    if not 0.0 <= score <= program.full_score * (1.0 + ROUNDING):
        return Judgement(Verdict.IE, message=f"it awarded {score:g} points: full_score is {program.full_score:g}")
    share = min(1.0, score / program.full_score)
    return Judgement(Verdict.AC if share >= 1.0 else Verdict.WA, share, message or f"{score:g} points")


def _testlib(program: JudgeProgram, report: Report) -> Judgement:
    code = report.outcome.exit_code
    if code == POINTS and (found := _TESTLIB_POINTS.match(report.said)):
        return _awarded(program, float(found[1]), report.said)
    part = _TESTLIB_PART.match(report.said)
    if part and code == int(part[1]) & 0xFF and _awards_parts(program):
        return _awarded(program, float(part[1]), report.said)  # `_pc(n)` exits with n, which may be 0
    if code not in TESTLIB:  # 3 is the judge's own `_fail`
        return _failed(report)
    return _plain(TESTLIB[code], report.said)


def _awards_parts(program: JudgeProgram) -> bool:
    """Return whether a judge may say that an output is partially correct: one that repeats the output may as well.

    A judge that rejects exits with 1, which is also `_pc(1)`.
    """
    files = [text for name, text in (program.files or {}).items() if name.rpartition("/")[2] != _TESTLIB_HEADER]
    return any(_AWARDS_PARTS.search(text) for text in (program.program, *files))


def _kattis(program: JudgeProgram, report: Report) -> Judgement:
    code = report.outcome.exit_code
    message = report.text("judgemessage.txt") or report.text("teammessage.txt") or None
    if code not in (ACCEPTED, REJECTED):
        return _failed(report)
    scores = [name for name in (SCORE, MULTIPLIER) if name in report.feedback or name in report.unreadable]
    if not scores:
        return _plain(code == ACCEPTED, message or "")
    if code == REJECTED:
        return Judgement(Verdict.WA, 0.0, message)
    if len(scores) > 1:
        return Judgement(Verdict.IE, message=f"it left both {SCORE} and {MULTIPLIER}")
    score, most = report.number(scores[0]), program.full_score if scores == [SCORE] else 1.0
    if score is None or not math.isfinite(score):
        return Judgement(Verdict.IE, message=f"{scores[0]} does not hold a number")
    if score < 0.0 or (score > most and scores == [MULTIPLIER]):
        return Judgement(Verdict.IE, message=f"{scores[0]} holds {score:g}, which is no score")
    more = f", of which {most:g} count: see full_score" if score > most else ""
    return Judgement(Verdict.AC, min(1.0, score / most), message or f"{score:g} points{more}")


def _codeforces(program: JudgeProgram, report: Report) -> Judgement:
    """Read the verdict of open-r1's checkers: a number from 0 to 1, the last word on stdout."""
    words = report.outcome.stdout[-MESSAGE_CHARACTERS:].decode("utf-8", "replace").split()
    found = _NUMBER.fullmatch(words[-1]) if words else None
    if report.outcome.exit_code != 0 or found is None:
        return _failed(report)
    score = float(found[0])
    if score in (0.0, program.full_score):
        return _plain(score > 0.0, "")
    return _awarded(program, score, "")


def _scalebox(_: JudgeProgram, report: Report) -> Judgement:
    code = report.outcome.exit_code
    return _plain(code == 0, report.said) if code in (0, 1) else _failed(report)


def _function(program: JudgeProgram, report: Report) -> Judgement:
    if report.outcome.exit_code != 0:
        return _failed(report)
    try:
        found = json.loads(report.feedback.get(REPORT, b""))
        verdict, message = found["verdict"], str(found["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Judgement(Verdict.IE, message="the function did not return")
    match verdict:
        case bool():
            return _plain(verdict, message)
        case int() | float() if 0 <= verdict <= program.full_score:
            return _awarded(program, float(verdict), message)
        case "AC" | "WA":
            return _plain(verdict == "AC", message)
        case _:
            return Judgement(Verdict.IE, message=f"the function returned {verdict!r}, which is no verdict"[:200])


_KATTIS = Protocol((INPUT, ANSWER, FEEDBACK), _kattis, (INPUT, ANSWER, FEEDBACK), output_on_stdin=True)
PROTOCOLS = {
    "testlib": Protocol((INPUT, OUTPUT, ANSWER), _testlib, (INPUT, FEEDBACK + TOUT, ANSWER)),
    "kattis": _KATTIS,
    "domjudge": _KATTIS,
    "codeforces-python": Protocol((INPUT, ANSWER, OUTPUT), _codeforces),
    "scalebox": Protocol((), _scalebox),
    "function": Protocol((INPUT, OUTPUT, ANSWER), _function, (INPUT, ANSWER), functions=True),
}
NAMES = {
    "codeforces-python": {ANSWER: "correct_output.txt", OUTPUT: "solution_output.txt"},
    # ScaleBox's own example reads the reference's output from stdout.txt, and the participant's from answer.txt
    "scalebox": {INPUT: "stdin.txt", ANSWER: "stdout.txt", OUTPUT: "answer.txt"},
}
"""The names that files have under a protocol, where they differ."""


def named(program: JudgeProgram, name: str) -> str:
    """Return the name that the input, the answer or the output has for this judge."""
    return NAMES.get(program.protocol, {}).get(name, name)


def arguments(program: JudgeProgram, *, interacts: bool, folder: str = FOLDER) -> list[str]:
    """Return the arguments of a judge's command line.

    Args:
        program: the judge.
        interacts: it is called as an interactor.
        folder: where its box has the files.
    """
    protocol = PROTOCOLS[program.protocol]
    files = (protocol.interacts or ()) if interacts else protocol.arguments
    paths = [f"{folder}/{named(program, name)}" for name in files]
    return [*paths, *program.arguments]


_LOOKS_AROUND = re.compile(
    r"/proc|/dev|/tmp|chdir|getcwd|current_path|realpath|filesystem|tmpfile|tmpnam|mkstemp|mkdtemp|shm_|sem_|\bw[\"+xb]"
    r"|\bo?fstream\b\s*+(?:\w++\s*+)?[({]\s*+\""
)


def stays_inside(program: JudgeProgram) -> bool:
    """Return whether a judge in C or C++ seems to need nothing but its files: neither /proc nor a folder to write in.

    A judge that does so in a way that its text does not show has another current folder, an empty /proc, and a /tmp
    that is read-only.

    Args:
        program: the judge.
    """
    if not PROTOCOLS[program.protocol].arguments:
        return False
    texts = (program.program, *(program.files or {}).values())
    return not any(_LOOKS_AROUND.search(text) for text in texts)
