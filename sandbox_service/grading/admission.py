"""Checks that a submission's language, checker, interactor, groups and tests fit together."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_service import languages
from sandbox_service.errors import BadRequestError, UnsupportedCheckerError
from sandbox_service.grading.suites import Suite
from sandbox_service.judging import mathematics, scoring, standard_checkers
from sandbox_service.languages import drivers, math_packages
from sandbox_service.languages.assertions import programs as assertions
from sandbox_service.schema import (
    AssertTest,
    CallTest,
    Checker,
    JudgeProgram,
    StdinTest,
    Submission,
    SuiteChecker,
    TestCase,
)


def looks_at_tests(submission: Submission) -> bool:
    """Return whether `check` needs more of the tests than their number."""
    is_python = languages.find(submission.language).runtime == "python"
    return not is_python or submission.groups is not None or not _compares(submission)


def _compares(submission: Submission) -> bool:
    """Return whether all kinds of tests are possible under the checker."""
    return isinstance(submission.checker, Checker) and submission.checker.type != "math"


def judges_of(submission: Submission, suite: Suite) -> list[JudgeProgram]:
    """Return the programs that judge the submission: its own and those of its suite."""
    checker = suite.checker if isinstance(submission.checker, SuiteChecker) else submission.checker
    interactor = submission.interactor or suite.interactor
    found = [checker] if isinstance(checker, JudgeProgram) else []
    if interactor is not None:
        found.append(interactor)
    return found


def judges_run(submission: Submission, suite: Suite) -> list[JudgeProgram]:
    """Return those of the judges that are run; a built-in checker replaces a program that is known to do the same."""
    programs = judges_of(submission, suite)
    if not programs:
        return programs
    interactor = submission.interactor or suite.interactor
    return [each for each in programs if each is interactor or standard_checkers.known(each) is None]


def check(submission: Submission, suite: Suite) -> None:
    """Check a submission against its suite.

    Args:
        submission: the submission.
        suite: its suite, or the suite of its tests.

    Raises:
        BadRequestError: the tests do not suit the language, the checker or the groups.
        UnsupportedCheckerError: the checker needs packages that are not installed.
    """
    tests = suite.tests
    if tests and all(test.role == "audit" for test in tests):
        raise BadRequestError("tests: all are audit tests, which decide nothing: leave out the role of at least one")
    language = languages.find(submission.language)
    if language.runtime is None:
        _check_text(tests, has_checker_program=not isinstance(submission.checker, Checker))
    elif language.runtime != "python":
        _check_launched(language.family, tests)
    if submission.files and language.runtime is None:
        raise BadRequestError(f"files: a submission in the language {language.name} has none beside its source")
    if isinstance(submission.checker, Checker) and submission.checker.type == "math":
        _check_mathematics(tests)
    if isinstance(submission.checker, SuiteChecker) and not isinstance(suite.checker, JudgeProgram):
        raise BadRequestError('checker: the suite has no checker program, which "type": "suite" stands for')
    for program in judges_of(submission, suite):
        _check_judge(program)
    if not isinstance(submission.checker, Checker):
        _check_checkable(tests)
    if submission.groups is not None:
        _check_groups(submission, tests)


def _check_judge(program: JudgeProgram) -> None:
    if languages.find(program.language).runtime is None:
        raise BadRequestError(f"a judge program in the language {program.language} cannot be run")


def _check_checkable(tests: Sequence[TestCase]) -> None:
    for index, test in enumerate(tests):
        if isinstance(test, CallTest | AssertTest):
            raise BadRequestError(
                f"tests.{index}: a checker program reads outputs; a test of type {test.type} has none"
            )
        if isinstance(test, StdinTest) and not isinstance(test.output, str):
            raise BadRequestError(f"tests.{index}.output: a checker program reads one answer, not a list of them")


def _check_groups(submission: Submission, tests: Sequence[TestCase]) -> None:
    if submission.sample is not None:
        raise BadRequestError("sample: groups are scored with all of their tests; remove the sample or the groups")
    if (reason := scoring.fault(submission.groups or [], tests)) is not None:
        raise BadRequestError(f"groups: {reason}")


def _check_text(tests: Sequence[TestCase], *, has_checker_program: bool) -> None:
    for index, test in enumerate(tests):
        if not isinstance(test, StdinTest):
            raise BadRequestError(
                f"tests.{index}: a text is no program, so only a test of type stdin can be made of it"
            )
        if test.input and not has_checker_program:
            raise BadRequestError(
                f"tests.{index}: a text is no program, and has no use for an input that no checker program reads"
            )


def _check_launched(language: str, tests: Sequence[TestCase]) -> None:
    """Refuse tests that the language has no driver for, and call tests that a driver cannot make."""
    for index, test in enumerate(tests):
        known = _KNOWN.get(test.type)
        if known is not None and language not in known:
            raise BadRequestError(
                f"tests.{index}: tests of type {test.type} are for Python, {', '.join(sorted(known))};"
                f" use stdin for {language}"
            )
        if isinstance(test, CallTest) and test.kwargs:
            raise BadRequestError(f"tests.{index}.kwargs: arguments by name are for Python only; use args")


_KNOWN = {"call": drivers.LANGUAGES, "assert": assertions.LANGUAGES}
"""The families of languages that have tests of these types, beside Python."""


def _check_mathematics(tests: Sequence[TestCase]) -> None:
    if lacking := math_packages.missing():
        raise UnsupportedCheckerError(
            f"checker math needs {', '.join(lacking)}, not installed here: {math_packages.INSTALL}"
        )
    for index, test in enumerate(tests):
        for output in test.outputs if isinstance(test, StdinTest) else ():
            if (reason := mathematics.refusal(output)) is not None:
                raise BadRequestError(f"tests.{index}.output: {reason} cannot be compared as mathematics")
