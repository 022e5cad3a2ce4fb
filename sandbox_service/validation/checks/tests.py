"""Can the tests tell right from wrong at all? Looked at, not run."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator, Sequence

from sandbox_service.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Recipe

SHOWN = 60
REPEATED = 100  # assertions that a loop stands for: nobody knows how many, but not few
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)


def are_enough(problem: Problem, _: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """Few tests can be met by luck, or by answers learnt by heart."""
    if problem.tests is None:
        return
    count, least = how_many(problem.tests), recipe.thresholds.least_tests
    if count < least:
        yield Finding("too_few_tests", f"{_counted(count, 'distinct test')}, at least {least} are wanted")


def have_different_answers(problem: Problem, _: Evidence, recipe: Recipe) -> Iterator[Finding]:
    """If (nearly) all answers are the same, a program that says just that is (nearly) right."""
    answers = answers_of(problem.tests or ())
    if len(answers) < 2:
        return
    answer, count = Counter(answers).most_common(1)[0]
    if count / len(answers) >= recipe.thresholds.most_same_answer:
        yield Finding("same_answer", f"{count} of {len(answers)} tests have the answer {_shown(answer)}")


def do_not_contradict_each_other(problem: Problem, _: Evidence, __: Recipe) -> Iterator[Finding]:
    """The same question with two answers: no program can give both."""
    known: dict[str, TestCase] = {}
    for test in problem.tests or ():
        if isinstance(test, AssertTest):
            continue
        first = known.setdefault(question_of(test), test)
        if not _allowed(first) & _allowed(test):
            texts = " and ".join(sorted(_shown(each) for each in (*_allowed(first), *_allowed(test)))[:2])
            yield Finding("contradictory_tests", f"for the input {_shown(question_of(test))} both {texts} are expected")
            return


def how_many(tests: Sequence[TestCase]) -> int:
    """Distinct tests; of a test program, its assertions."""
    plain = {question_of(each) for each in tests if not isinstance(each, AssertTest)}
    programs = {each.code: each for each in tests if isinstance(each, AssertTest)}
    return len(plain) + sum(assertions(each) for each in programs)


def assertions(code: str) -> int:
    """How many things a test program asserts; those in a loop are many. At least one, for it may assert otherwise."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return 1
    return max(len({*_asserted(tree, is_repeated=False)}), 1)


def _asserted(node: ast.AST, *, is_repeated: bool) -> Iterator[tuple[str, int]]:
    repeated = is_repeated or isinstance(node, _LOOPS)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assert) or _is_call_of_an_assertion(child):
            said = ast.dump(child)
            yield from ((said, place) for place in range(REPEATED if repeated else 1))
        else:
            yield from _asserted(child, is_repeated=repeated)


def _is_call_of_an_assertion(node: ast.AST) -> bool:
    """`assertion(…)`, `self.assertEqual(…)`, `np.testing.assert_allclose(…)`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    called = node.value.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name.startswith("assert")


def answers_of(tests: Sequence[TestCase]) -> list[str]:
    """The expected answer of each test that has one, without white space at its end."""
    found = []
    for test in tests:
        if isinstance(test, StdinTest):
            found.append("\n".join(each.rstrip() for each in test.outputs))
        elif isinstance(test, CallTest):
            found.append(json.dumps(test.output))
    return found


def question_of(test: TestCase) -> str:
    """What a test asks."""
    if isinstance(test, StdinTest):
        return test.input.rstrip()
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
