"""Mutations that plant one defect in a good problem: a program that reads stdin, a call, or a test program.

Each takes a problem and returns it with the defect, or None where the defect does not apply. Nothing is run.
"""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase
from sandbox_service.settings import Settings
from sandbox_service.validation import assertions, probes

Planted = Problem | None

MANY = 5  # tests that a problem must have for some to be taken away
WORDS = "{'one', 'two', 'three', 'four', 'five'}"
_WRAPPED = """
import functools as _functools
def _planted(asked):
    @_functools.wraps(asked, updated=())
    def instead(*args, **kwargs):
{body}
        return asked(*args, **kwargs)
    return instead
{names}
"""


def form_of(problem: Problem) -> str:
    """stdin, call, assert; text where the answer is not a program; mixed where there are several forms."""
    forms = {each.type for each in problem.tests or ()}
    return "text" if problem.language == "text" else forms.pop() if len(forms) == 1 else "mixed"


def wrong_answer(problem: Problem) -> Planted:
    """Change the second expected answer (or assertion) a little."""
    return _with_answer(problem, 1, _other)


def trimmed_input(problem: Problem) -> Planted:
    """Remove the last line of the first input with several lines, or the last argument of the first call."""
    for place, test in enumerate(problem.tests or ()):
        if isinstance(test, StdinTest) and test.input.strip().count("\n") >= 1:
            cut = test.input.strip().rpartition("\n")[0]
            return _replaced(problem, place, test.model_copy(update={"input": cut}))
        if isinstance(test, CallTest) and test.args:
            return _replaced(problem, place, test.model_copy(update={"args": test.args[:-1]}))
        if isinstance(test, AssertTest) and (code := _without_last_argument(test.code, problem)) is not None:
            return _replaced(problem, place, test.model_copy(update={"code": code}))
    return None


def two_right_orders(problem: Problem) -> Planted:
    """Expect an answer of several lines, or a list, in another order than the reference's."""
    if any(isinstance(each, CallTest) and each.calls is not None for each in problem.tests or ()):
        return None  # results of one call after the other have their order
    if problem.checker is not None and problem.checker.type == "unordered_lines":
        return None
    for place in range(_answers_in(problem)):
        if (found := _with_answer(problem, place, _rotated)) is not None:
            return found
    return None


def missing_tests(problem: Problem) -> Planted:
    """Keep only two tests."""
    return _with_tests(problem, lambda tests: tests[:2])


def duplicated_tests(problem: Problem) -> Planted:
    """Keep the number of tests, but only two distinct ones."""
    return _with_tests(problem, lambda tests: (tests[:2] * len(tests))[: len(tests)])


def image_only(problem: Problem) -> Planted:
    """Replace the prompt by a picture."""
    return problem.model_copy(update={"prompt": "Solve the problem.\n\n![statement](statement.png)\n"})


def interactive(problem: Problem) -> Planted:
    """Prefix the prompt with the announcement of an interactive problem."""
    return problem.model_copy(update={"prompt": f"This is an interactive problem.\n\n{problem.prompt}"})


def random_reference(problem: Problem) -> Planted:
    """Make the reference print a line more, or return something else, at random."""
    is_heads = "import os as _os\nif _os.urandom(1)[0] % 2: "
    return _behind(problem, f"{is_heads}print('heads')", f"{is_heads}return 'heads'")


def hash_order(problem: Problem) -> Planted:
    """Make the reference right only under the judge's own hash seed, by the order of a set of words."""
    is_other = f"if list({WORDS}) != {_order_of_the_judge()}: "
    return _behind(problem, f"{is_other}print('other')", f"{is_other}return 'other'")


def slow_reference(problem: Problem) -> Planted:
    """Make the reference run forever."""
    return _behind(problem, "while True: pass", "while True: pass")


def leaked(problem: Problem) -> Planted:
    """Keep the problem; the evaluation set has it with other punctuation and another beginning."""
    text = (problem.prompt or "").replace("`", "'").replace(",", " ,")
    return problem.model_copy(update={"prompt": f"Read carefully.\n{text}", "meta": {"leaked": True}})


def useless_tests(problem: Problem) -> Planted:
    """Give all tests the same expected answer, and the reference that constant."""
    is_program = form_of(problem) == "stdin"
    found = problem
    for place in range(_answers_in(problem)):
        changed = _with_answer(found, place, lambda _: "7\n" if is_program else 7)
        if changed is None:
            return None
        found = changed
    code = "print(7)" if is_program else _constant(problem)
    return found.model_copy(update={"solutions": [problem.references[0].model_copy(update={"code": code})]})


# --- answers


def _answers_in(problem: Problem) -> int:
    """Number of answers in the tests; for a test program, of its assertions."""
    return sum(len(_asserts(each.code)) if isinstance(each, AssertTest) else 1 for each in problem.tests or ())


def _with_answer(problem: Problem, wanted: int, change: Callable[[Any], Any]) -> Planted:
    """Change the answer at a place (or the last one before it); None if that is impossible."""
    wanted = min(wanted, _answers_in(problem) - 1)
    passed = 0
    for place, test in enumerate(problem.tests or ()):
        if not isinstance(test, AssertTest):
            if passed == wanted:
                other = change(test.outputs[0] if isinstance(test, StdinTest) else test.output)
                changed = test.model_copy(update={"output": other})
                return _replaced(problem, place, changed) if other is not None else None
            passed += 1
        elif passed + (here := len(_asserts(test.code))) > wanted:
            code = _with_asserted(test.code, wanted - passed, change)
            return _replaced(problem, place, test.model_copy(update={"code": code})) if code is not None else None
        else:
            passed += here
    return None


def _with_asserted(code: str, place: int, change: Callable[[Any], Any]) -> str | None:
    """Change the value in one of the assertions `assert … == value`."""
    tree = ast.parse(code)
    asserted = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)][place].test
    if not isinstance(asserted, ast.Compare) or not isinstance(asserted.ops[0], ast.Eq | ast.Is):
        return None
    try:
        value = change(ast.literal_eval(asserted.comparators[0]))
    except (ValueError, TypeError):
        return None
    if value is None:
        return None
    asserted.comparators[0] = ast.parse(repr(value), mode="eval").body
    return ast.unparse(tree)


def _other(answer: Any) -> Any:
    """A slightly different value."""
    match answer:
        case bool():
            return not answer
        case int() | float():
            return answer + 17
        case str():
            return f"{answer.rstrip()} 17\n"
        case list():
            return [*answer, 17]
        case tuple():
            return (*answer, 17)
        case set():
            return {*answer, 17}
        case dict():
            return {**answer, "17": 17}
        case _:
            return 17


def _rotated(answer: Any) -> Any:
    """The items, or the lines, with the first one last; None if all are equal."""
    if isinstance(answer, str):
        lines = answer.strip().splitlines()
        return "\n".join([*lines[1:], lines[0]]) if len({*lines}) > 1 else None
    if isinstance(answer, list | tuple) and len({repr(each) for each in answer}) > 1:
        return type(answer)([*answer[1:], answer[0]])
    return None


# --- tests


def _with_tests(problem: Problem, change: Callable[[list[Any]], list[Any]]) -> Planted:
    """Change the tests; for one test program, its assertions on consecutive lines."""
    tests = problem.tests or []
    if len(tests) == 1 and isinstance(tests[0], AssertTest):
        code = _with_asserts(tests[0].code, change)
        return _replaced(problem, 0, tests[0].model_copy(update={"code": code})) if code is not None else None
    if any(isinstance(each, AssertTest) and assertions.count(each.code) > 1 for each in tests):
        return None  # two such programs may be enough
    fewest = MANY if isinstance(tests[0], StdinTest) else 3
    return problem.model_copy(update={"tests": change(list(tests))}) if len(tests) >= fewest else None


def _with_asserts(code: str, change: Callable[[list[Any]], list[Any]]) -> str | None:
    tree = ast.parse(code)
    for node in [tree, *ast.walk(tree)]:
        body = getattr(node, "body", None)
        asserts = [each for each in body if isinstance(each, ast.Assert)] if isinstance(body, list) else []
        if len(asserts) > 2 and len(asserts) == len(_asserts(code)) and isinstance(node, ast.Module | ast.FunctionDef):
            start = node.body.index(asserts[0])
            rest = [each for each in node.body[start:] if not isinstance(each, ast.Assert)]
            node.body = [*node.body[:start], *change(asserts), *rest]
            return ast.unparse(tree)
    return None


def _asserts(code: str) -> list[ast.Assert]:
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assert)]


def _without_last_argument(code: str, problem: Problem) -> str | None:
    """Remove the last argument of the first asserted call of the candidate."""
    tree = ast.parse(code)
    names = {"candidate", *(each.rpartition(".")[2] for each in probes.called(problem))}
    asserted = [node for each in ast.walk(tree) if isinstance(each, ast.Assert) for node in ast.walk(each)]
    for node in asserted:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            if not (node.keywords or node.args):
                continue
            (node.keywords or node.args).pop()
            return ast.unparse(tree)
    return None


def _replaced(problem: Problem, place: int, test: TestCase) -> Problem:
    tests = list(problem.tests or ())
    tests[place] = test
    return problem.model_copy(update={"tests": tests})


# --- references


def _behind(problem: Problem, at_last: str, before: str) -> Planted:
    """Add code to the references: at the end of a program, or before the body of a function."""
    ours = [each for each in problem.references if each.language in ("python", "py", "python3")]
    if form_of(problem) == "stdin":
        if any("exit(" in each.code for each in ours):
            return None
        codes = [f"{each.code}\n{at_last}\n" for each in ours]
    else:
        codes = [each.code + _wrapping(_names(problem, each.code), before) for each in ours]
    solutions = [each.model_copy(update={"code": code}) for each, code in zip(ours, codes, strict=True)]
    return problem.model_copy(update={"solutions": solutions}) if solutions else None


def _wrapping(names: Sequence[str], before: str) -> str:
    body = "\n".join(f"        {line}" for line in before.splitlines())
    return _WRAPPED.format(body=body, names="\n".join(f"{name} = _planted({name})" for name in names))


def _names(problem: Problem, code: str) -> list[str]:
    """Names that the tests call: functions, and methods with their class."""
    defined = probes.defined_in(code)
    found = (each if "." in each or each in defined else f"Solution.{each}" for each in probes.called(problem))
    return [each for each in found if each.partition(".")[0] in defined]


def _constant(problem: Problem) -> str:
    lines = []
    for name in _names(problem, problem.references[0].code):
        owner, _, method = name.rpartition(".")
        lines += [f"class {owner}:"] if owner else []
        lines += [f"{'    ' if owner else ''}def {method}(*args, **kwargs): return 7"]
    return "\n".join(lines)


def _order_of_the_judge() -> list[str]:
    """The order of the words in a fresh interpreter with hash seed 0, as in every box."""
    command = [Settings().python, "-c", f"import json; print(json.dumps(list({WORDS})))"]
    said = subprocess.run(command, env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True)
    return list(json.loads(said.stdout))
