"""Tells the results of scored tests from those of audit tests, which never count in a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sandbox_service.errors import SandboxError
from sandbox_service.grading.faults import BadCheckerError
from sandbox_service.schema import Limits, TestCase, TestResult, Verdict

LEAST_AUDIT_FACTOR = 8  # an audit test may take so many times the slowest scored test, whatever it says


def fault_result(tests: Sequence[TestCase], done: Sequence[TestResult], role: str, fault: SandboxError) -> TestResult:
    """Return the result of a test that the sandbox failed on: the first of its role that has none.

    Args:
        tests: all tests of the submission.
        done: the results so far.
        role: scored or audit.
        fault: what failed.
    """
    known = {result.index for result in done}
    left = (index for index, test in enumerate(tests) if test.role == role and index not in known)
    provoked = isinstance(fault, BadCheckerError) and fault.provoked
    return TestResult(index=next(left, len(tests)), verdict=Verdict.IE, message=str(fault), provoked=provoked)


def audit_seconds(limits: Limits, tests: Sequence[TestCase], results: Iterable[TestResult]) -> float:
    """Return the CPU seconds that an audit test may take: so many that a slower right program is within them.

    Args:
        limits: of the submission.
        tests: all tests of the submission; audit tests may say how long they take.
        results: of the scored tests so far.
    """
    asked = [test.cpu_seconds or limits.cpu_seconds for test in tests if test.role == "audit"]
    slowest = max((result.cpu_seconds for result in results), default=0.0)
    return min(limits.cpu_seconds, max([LEAST_AUDIT_FACTOR * slowest, *asked]))


def split(tests: Sequence[TestCase], results: Iterable[TestResult]) -> tuple[list[TestResult], list[TestResult]]:
    """Return the results of the scored tests, and those of the audit tests.

    Args:
        tests: all tests of the submission.
        results: the results, of which a fault may come behind the last test.
    """
    found: tuple[list[TestResult], list[TestResult]] = [], []
    for result in results:
        is_audit = result.index < len(tests) and tests[result.index].role == "audit"
        found[is_audit].append(result)
    return found


def ranked(tests: Sequence[TestCase], results: list[TestResult]) -> list[TestResult]:
    """Return results of scored tests, numbered as if there were no audit tests."""
    places = [index for index, test in enumerate(tests) if test.role == "scored"]
    if len(places) == len(tests):
        return results
    rank = {index: at for at, index in enumerate(places)}
    numbered = ((result, rank.get(result.index, len(places))) for result in results)
    return [each if each.index == at else each.model_copy(update={"index": at}) for each, at in numbered]
