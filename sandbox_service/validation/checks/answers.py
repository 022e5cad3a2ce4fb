"""Checks that a problem has one right answer, since its tests know only one.

Three signs say otherwise: two references that ended well and gave different answers; a reference whose answer has the
expected words in another order, or that passes where calls are compared without order; and a prompt that says so, where
tests compare with a single answer. Tests that list several right answers, and checkers that ignore order, are trusted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, StdinTest, TestResult, Verdict
from sandbox_service.validation.checks.comparison import passes_under_what
from sandbox_service.validation.checks.judges import judges_of
from sandbox_service.validation.duplicates import text_of
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe

_ANSWER = (
    r"(?:answer|solution|way|option|possibilit(?:y|ie)|string|sequence|permutation|array|path|tree|graph|pair|variant"
    r"|number|set|plan|order|ordering|configuration|value|arrangement|construction|representation|optimal \w+)s?"
)
_SAY = r"(?:print|output|return|find|write|choose|display)"
_MANY = r"(?:several|multiple|many|more than one|various)"
_SEVERAL = re.compile(
    "|".join(
        (
            rf"\b(?:if|when|in case) there (?:are|is|exists?) {_MANY}\b[^.]{{0,80}}\b(?:any|either)\b",
            rf"\b{_MANY}\s+(?:\w+\s+){{0,3}}{_ANSWER}\b[^.]{{0,60}}[,.]?\s*(?:you (?:can|may|should)\s+)?"
            rf"{_SAY}\s+(?:any|either)\b",
            rf"\b{_SAY}\s+any\s+(?:one\s+)?of\s+(?:them|these|those|the)\b",
            rf"\b{_SAY}\s+any\s+(?:\w+\s+){{0,2}}{_ANSWER}\b",
            rf"\bany\s+(?:(?:valid|correct|such|possible|suitable|of\s+the)\s+){{1,2}}{_ANSWER}\s+"
            r"(?:is|are|will be|would be)\s+(?:accepted|considered|fine|allowed|correct)",
            rf"\b{_SAY}(?:ed)?\b[^.]{{0,60}}\bin\s+(?:any|arbitrary)\s+order\b",
            r"\bin\s+any\s+order\b[^.]{0,20}\b(?:accepted|allowed)\b",
        )
    ),
    re.IGNORECASE,
)
_ORDER_DOES_NOT_MATTER = re.compile(
    r"\b(?:sorted|set|frozenset|Counter|issubset|any|unordered)\s*\(|\bin\s*[\[({]|\bor\b"
)


def only_one_is_right(problem: Problem, evidence: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Yield the first sign of several right answers, unless a judge program knows them."""
    if judges_of(problem):
        return
    if passes_under_what(problem, evidence, recipe) is not None:
        return
    reason = _references_differ(problem, evidence) or _another_order(problem, evidence) or _says_so(problem)
    if reason is not None:
        yield Finding("needs_checker", reason)


def _references_differ(problem: Problem, evidence: Evidence) -> str | None:
    """A test that one reference passes, and on which another ends well with a different answer."""
    if not all(isinstance(each, StdinTest) for each in problem.tests or ()):
        return None
    ended = [each for each in evidence.references if each.grade.verdict in (Verdict.AC, Verdict.WA)]
    passed = next((each for each in ended if each.passed), None)
    for run in ended:
        wrong = next((each for each in run.grade.tests if each.verdict == Verdict.WA), None)
        if passed is not None and wrong is not None:
            return f"{passed.name} and {run.name} differ on test {wrong.index + 1}: {wrong.message}"
    return None


def _another_order(problem: Problem, evidence: Evidence) -> str | None:
    """A test whose answer has the expected words in another order, if there is no other kind of failure."""
    tests = problem.tests or []
    for run in evidence.of("any_order"):
        return f"{run.name} gives the items of an answer in another order"
    for run in evidence.references:
        wrong = [each for each in run.grade.tests if each.verdict != Verdict.AC]
        if wrong and all(_is_reordered(each, tests) for each in wrong):
            return f"{run.name} gives the words of test {wrong[0].index + 1}'s answer in another order"
    return None


def _is_reordered(result: TestResult, tests: Sequence[object]) -> bool:
    test = tests[result.index]
    if result.verdict != Verdict.WA or result.stdout_truncated or not isinstance(test, StdinTest):
        return False
    words = Counter(result.stdout.split())
    return any(words == Counter(each.split()) for each in test.outputs)


def _says_so(problem: Problem) -> str | None:
    """The words of the prompt that allow several answers, unless the tests or the checker allow for them."""
    checker = problem.checker
    if checker is not None and checker.type in ("unordered_lines", "math"):
        return None
    tests = problem.tests or ()
    if any(_knows_several(each) for each in tests) or not any(_knows_one_answer(each) for each in tests):
        return None
    text = text_of(problem)
    found = _SEVERAL.search(text)
    return f"the prompt says {' '.join(found[0].split())!r}, and the tests know one answer" if found else None


def _knows_several(test: object) -> bool:
    """Return True if the test lists its right answers: then one answer means that there is one."""
    return isinstance(test, StdinTest) and len(test.outputs) > 1


def _knows_one_answer(test: object) -> bool:
    if isinstance(test, AssertTest):
        return not _ORDER_DOES_NOT_MATTER.search(test.code)
    return not isinstance(test, StdinTest) or len(test.outputs) == 1
