"""Checks that the tests can tell right from wrong, without running anything."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, InteractiveTest, StdinTest, TestCase
from sandbox_service.validation import assertions
from sandbox_service.validation.checks.judges import judges_of
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe

SHOWN = 60


def are_enough(problem: Problem, _: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Yield a finding for too few tests, which luck or memorised answers pass. A mathematics problem needs only one."""
    if problem.tests is None or problem.language == "text":
        return
    thresholds = recipe.thresholds
    least = thresholds.least_function_tests if is_of_functions(problem.tests) else thresholds.least_tests
    count = how_many(problem.tests)
    if count < least:
        yield Finding("too_few_tests", f"{_counted(count, 'distinct test')}, at least {least} are wanted")


def have_different_answers(problem: Problem, _: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Yield a finding if (nearly) all answers are equal: a constant program would (nearly) pass."""
    answers = answers_of(problem.tests or ())
    if len(answers) < 2:
        return
    answer, count = Counter(answers).most_common(1)[0]
    if count / len(answers) >= recipe.thresholds.most_same_answer:
        yield Finding("same_answer", f"{count} of {len(answers)} tests have the answer {_shown(answer)}")


def do_not_contradict_each_other(problem: Problem, _: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding for equal inputs with different answers, which no program can pass unless a judge knows both."""
    if judges_of(problem):
        return
    known: dict[str, TestCase] = {}
    for test in problem.tests or ():
        if isinstance(test, AssertTest):
            continue
        first = known.setdefault(question_of(test), test)
        if not _allowed(first) & _allowed(test):
            texts = " and ".join(sorted(_shown(each) for each in (*_allowed(first), *_allowed(test)))[:2])
            yield Finding("contradictory_tests", f"for the input {_shown(question_of(test))} both {texts} are expected")
            return


def is_of_functions(tests: Sequence[TestCase]) -> bool:
    """Return whether the tests call functions instead of feeding a program."""
    return not any(isinstance(each, StdinTest) for each in tests)


def how_many(tests: Sequence[TestCase]) -> int:
    """Return the number of distinct tests; for test programs, of their assertions."""
    plain = {question_of(each) for each in tests if not isinstance(each, AssertTest)}
    programs = {each.code: each for each in tests if isinstance(each, AssertTest)}
    return len(plain) + sum(assertions.count(each) for each in programs)


def answers_of(tests: Sequence[TestCase]) -> list[str]:
    """Return the expected answers of tests and of plain assertions, without trailing white space."""
    found = []
    for test in tests:
        if isinstance(test, StdinTest):
            found.append("\n".join(each.rstrip() for each in test.outputs))
        elif isinstance(test, CallTest):
            found.append(json.dumps(test.output))
        elif isinstance(test, InteractiveTest):
            found.append(test.output.rstrip())
        else:
            found += assertions.answers(test.code)
    return found


def question_of(test: TestCase) -> str:
    """Return the input of a test as a comparable text. Only the end of the last line is ignored."""
    if isinstance(test, StdinTest | InteractiveTest):
        return test.input.removesuffix("\n") if test.input.strip("\n") else test.input
    if isinstance(test, AssertTest):
        return test.code
    return json.dumps([test.function, test.args, test.kwargs, test.calls], sort_keys=True)


def _allowed(test: TestCase) -> set[str]:
    if isinstance(test, StdinTest):
        return {" ".join(each.split()) for each in test.outputs}
    return {json.dumps(test.output)} if isinstance(test, CallTest) else set()


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _shown(text: str) -> str:
    cut = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
    return repr(cut)
