"""Assert tests of languages other than Python.

A test program that is made of plain calls is translated: the calls run in a box, and their results are compared here
(languages/assertions). Any other test program runs in one process with the submission, which can forge its verdict:
such results say so (`forgeable`).
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

from sandbox_service.grading.driven import ask
from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.grading.works import Works
from sandbox_service.judging.values import check_result
from sandbox_service.languages.assertions import script_equality
from sandbox_service.languages.assertions.combined import FAILED
from sandbox_service.languages.assertions.conditions import Check
from sandbox_service.languages.assertions.tokens import NotPlainError
from sandbox_service.schema import AssertTest, Checker, TestCase, TestResult, Verdict

_CONVERTING = frozenset({"c", "cpp", "java", "go"})  # 'a' == 97
_NUMBERS_AS_TRUTHS, _SCRIPTS = frozenset({"c", "cpp"}), frozenset({"javascript", "typescript"})
_SHOWN_BYTES = 200
_SINGLE_DIGITS = 9  # that single precision needs at most


def grade(works: Works, index: int, test: AssertTest) -> TestResult:
    """Run a test program against the submission.

    Args:
        works: the programs of the submission.
        index: the test's place in it.
        test: the test.

    Returns:
        Its result, which says whether it can be forged.

    Raises:
        BadTestError: the test cannot be run.
        SandboxError: the sandbox failed.
    """
    work = works.work_of(test)
    checks = works.checks(test)
    if checks:
        return _called(works, work, index, checks)
    result = _combined(work, index)
    if result.verdict in (Verdict.RTE, Verdict.CE):
        check_test_program(works, index, test, _said(result), compiled=result.verdict == Verdict.RTE)
    return result


def check_test_program(works: Works, index: int, test: TestCase, said: str, *, compiled: bool) -> None:
    """Do nothing unless a test failed for a fault of its own program: a missing library, a syntax error.

    A submission can print the words of an interpreter, and have a compiler print them. So they must come from the test
    program alone as well.

    Args:
        works: the programs of the submission.
        index: the test's place in it.
        test: the test that failed.
        said: what the compiler or interpreter said.
        compiled: the program was compiled, or its syntax found right.

    Raises:
        BadTestError: the test program is at fault.
        SandboxError: the sandbox failed.
    """
    if not isinstance(test, AssertTest) or works.checks(test):
        return
    if compiled and works.missing_import(test, said) is None:
        return
    try:
        alone = works.without_submission(test)
    except NotPlainError:
        return
    if (error := works.syntax_error(test, alone.refused or "")) is not None:
        raise BadTestError(f"the test program alone has a syntax error: {error}")
    if works.missing_import(test, said) is None:
        return
    absent = works.missing_import(test, alone.refused or _said(_combined(alone, index)))
    if absent is not None:
        raise BadTestError(f"the test program imports {absent}, which is not there")


def _said(result: TestResult) -> str:
    return f"{result.stderr}\n{result.message}"


def _called(works: Works, work: Work, index: int, checks: list[Check]) -> TestResult:
    answers = ask(work, works.driven, [check.call for check in checks])
    verdict, message = work.judge(answers.outcome)
    if verdict in (Verdict.AC, Verdict.RTE):
        for check, line in zip(checks, answers.lines, strict=False):
            if (reason := difference(check, line, works.language)) is not None:
                return work.result(index, Verdict.WA, f"{check.call.name}: {reason}", answers.outcome)
        if len(answers.lines) >= len(checks):
            return work.result(index, Verdict.AC, None, answers.outcome)
        if verdict == Verdict.AC:
            verdict, message = Verdict.RTE, "the program ended without returning from the call"
    return work.result(index, verdict, answers.misfit or message, answers.outcome)


def _combined(work: Work, index: int) -> TestResult:
    outcome = work.run_stdin(b"")
    verdict, message = work.judge(outcome)
    if verdict == Verdict.RTE and any(words in outcome.stderr or words in outcome.stdout for words in FAILED):
        verdict, message = Verdict.WA, "an assertion failed"
    return work.result(index, verdict, message, outcome).model_copy(update={"forgeable": True})


def difference(check: Check, line: bytes, language: str) -> str | None:
    """Return why a result does not satisfy a check, or None if it does.

    Args:
        check: the check.
        line: the result as JSON.
        language: that of the test program, whose equality counts.
    """
    if check.is_truth:
        is_true = script_equality.is_true(line) if language in _SCRIPTS else _is_true(_loaded(line), language)
        return None if is_true is (not check.negated) else f"got a value that is {'' if is_true else 'not '}true"
    if language in _SCRIPTS:
        return _script_difference(check, line)
    if check.is_receiver and line == b"null":
        return "got null, of which the test program calls a method"
    reason = check_result(Checker(absolute_tolerance=check.tolerance), line, check.expected)
    if reason is not None and language in _CONVERTING and check.tolerance is None:
        # the driver writes nil as an empty value
        is_nil = language == "go" and check.expected is None and line in (b"[]", b"{}")
        reason = None if is_nil or _same(_loaded(line), check.expected) else reason
    if check.negated:
        is_number = check.tolerance is None or isinstance(check.expected, list) or _is_number(_loaded(line))
        return None if reason is not None and is_number else "got a value that it must not be"
    return reason


def _is_number(got: Any) -> bool:
    return isinstance(got, int | float) and not math.isnan(got)


def _script_difference(check: Check, line: bytes) -> str | None:
    if check.tolerance is None:
        is_equal = script_equality.is_equal(check.equality, line, check.expected)
    else:
        is_equal = script_equality.is_near(line, check.expected, check.tolerance)
    if is_equal is (not check.negated):
        return None
    shown = line[:_SHOWN_BYTES].decode(errors="replace")
    return f"got {shown}, {'not another value than' if is_equal else 'expected'} {check.expected!r}"


def _is_true(got: Any, language: str) -> bool | None:
    """Return the truth value of a result; None if it has none."""
    if language not in _NUMBERS_AS_TRUTHS:
        return got if isinstance(got, bool) else None
    if isinstance(got, str) and len(got) == 1:
        return got != "\0"
    return bool(got) if isinstance(got, int | float) else None


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return _UNREADABLE


_UNREADABLE = object()


def _same(got: Any, expected: Any) -> bool:
    """Compare as these languages do: characters and truth values are numbers, and numbers may have single precision."""
    if isinstance(expected, list):
        alike = isinstance(got, list) and len(got) == len(expected)
        return alike and all(map(_same, got, expected))
    if isinstance(got, str) and len(got) == 1 and isinstance(expected, int):
        return ord(got) == expected
    if isinstance(expected, str) and len(expected) == 1 and isinstance(got, int):
        return ord(expected) == got
    if isinstance(got, int | float) and isinstance(expected, int | float):
        return got == expected or _same_single(got, expected)
    return type(got) is type(expected) and bool(got == expected)


def _same_single(got: float, expected: float) -> bool:
    try:
        nearest = struct.pack("<f", expected) == struct.pack("<f", got)
    except (OverflowError, struct.error):  # beyond single precision; an integer beyond every float
        return False
    return nearest and float(f"{got:.{_SINGLE_DIGITS}g}") == got
