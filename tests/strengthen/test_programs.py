"""Wrong programs and made calls: mutants by every operator, tables, arguments by type, calls read from tests."""

from __future__ import annotations

import ast
import contextlib
import io
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.judging.plain_asserts import plain_test
from sandbox_service.schema import AssertTest, CallTest, Checker, TestCase
from sandbox_service.strengthen import mutants, tables, token_mutants, wrong_programs
from sandbox_service.strengthen.arguments import Arguments
from sandbox_service.strengthen.call_bounds import bounds_of, names_in
from sandbox_service.strengthen.call_subject import MARK, CallSubject
from sandbox_service.strengthen.calls import GivenCall, calls_of, examples_in
from sandbox_service.strengthen.constants import NONE, Constants, constants_of
from sandbox_service.strengthen.operators import OPERATORS
from sandbox_service.strengthen.runs import Program
from sandbox_service.strengthen.subjects import subject_of
from sandbox_service.strengthen.tiers import Made, Wanted
from sandbox_service.strengthen.widening import WIDENINGS
from tests.validation.world import sums

PROGRAM = """
import sys
def best(items, k, limit=1000000):
    total, low = 0, float('inf')
    start = 0
    ordered = sorted(list(items), key=abs)
    for i in range(1, len(ordered)):
        if ordered[i] == k or ordered[i - 1] > limit and not k < 3:
            continue
        elif ordered[i] >= 2 * k:
            break
        total += ordered[i] // 2 - max(start, k) % 7
        low = min(low, abs(total))
    while total > 100:
        total -= 3
    print(pow(total, 2), ordered[1:k + 1])
    return total if total != low else low - 1
"""


def test_every_operator_changes_something_and_all_mutants_are_programs() -> None:
    found = mutants.of(PROGRAM, 1000, random.Random(0))
    assert {each.operator for each in found} == set(OPERATORS)
    assert len(OPERATORS) >= 12
    assert len({each.code for each in found}) == len(found)
    for each in found:
        ast.parse(each.code)
        assert each.code != ast.unparse(ast.parse(PROGRAM))


def test_operators_take_turns_and_the_same_seed_gives_the_same() -> None:
    found = mutants.of(PROGRAM, len(OPERATORS), random.Random(7))
    assert len({each.operator for each in found}) == len(OPERATORS)
    assert found == mutants.of(PROGRAM, len(OPERATORS), random.Random(7))


def test_what_is_no_program_has_no_mutants() -> None:
    assert mutants.of("print 1", 10, random.Random(0)) == []
    assert mutants.of("", 10, random.Random(0)) == []


def output(code: str, stdin: str) -> str:
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(sys, "stdin", io.StringIO(stdin))
        exec(code, {})
    return printed.getvalue()


@pytest.mark.parametrize("language", ["c", "cpp", "cpp20", "java"])
def test_references_of_compiled_languages_are_mutated(language: str) -> None:
    program = Program("reference", "r", "int f(int x) { return x < 3 ? x + 1 : x * 2; }", language)
    found = wrong_programs.mutants_of(sums(), [program], 16)
    assert found
    assert {each.language for each in found} == {language}


def test_tables_know_the_given_tests_and_nothing_else() -> None:
    known = [("1 2\n", "3"), ("4 5\n", "9"), ("0 3\n", "3"), ("2 2", "4")]
    found = {each.name: each.code for each in tables.of_inputs(known)}
    assert len(found) == 3
    for given, answer in known:
        assert output(found["a table of all tests"], given).strip() == answer
    assert output(found["a table of all tests"], "7 7").strip() == "3"  # the most frequent answer
    assert output(found["a table of the first test"], "4 5").strip() == "3"


def test_the_answer_to_the_only_input_is_no_table() -> None:
    assert tables.of_inputs([("", "Hello World!"), ("\n", "Hello World!")]) == []
    assert tables.of_calls("hello", [GivenCall((), "Hello World!")]) == []


def test_tables_of_calls_define_the_function() -> None:
    calls = [GivenCall((1, [2]), (3, 4)), GivenCall((2, []), (0, 0))]
    for function in ("f", "Solution.f"):
        names: dict[str, Any] = {}
        exec(tables.of_calls(function, calls)[0].code, names)
        called = names["Solution"]().f if "." in function else names["f"]
        assert called(1, [2]) == (3, 4)
        assert called(2, []) == (0, 0)
        called(9, [9])


def test_arguments_keep_kinds_ranges_and_ties() -> None:
    given = [(3, [1, 5, 9], "ab", 0.5), (2, [2, 4], "ba", 1.25), (5, [1, 2, 3, 7, 8], "bb", 2.0)]
    made = Arguments(given)
    for number in range(60):
        count, numbers, text, real = made.make(number, random.Random(number))
        assert isinstance(numbers, list)
        assert numbers == sorted(set(numbers))
        assert set(text) <= {"a", "b"}
        assert len(text) == 2
        assert 0.5 <= real <= 2.0
        assert 0 <= count <= max(5, len(numbers))


def test_rows_of_real_numbers_are_compared_with_a_tolerance() -> None:
    calls = calls_of([AssertTest(code="assert f([1.0]) == [0.0]")])
    assert calls is not None
    code = calls.test(([1.0, 2.0],), [0.1, 1]).code  # type: ignore[union-attr]
    exec(code, {"f": lambda _: [0.1 + 1e-9, 1.0]})
    for wrong in ([0.2, 1.0], [0.1], [0.1, 1.0, 2.0]):
        with pytest.raises((AssertionError, ValueError)):
            exec(code, {"f": lambda _, wrong=wrong: wrong})


def test_an_argument_occurs_in_another_one_in_some_calls() -> None:
    made = Arguments([[["abc", "bcd"], "ab", [3, 9], 4], [["abcd"], "c", [4, 1, 8], 1]])
    calls = [made.make(number, random.Random(number)) for number in range(80)]
    assert sum(any(word in each for each in items) for items, word, _, _ in calls) > 10
    assert sum(number in numbers for _, _, numbers, number in calls) > 10
    assert all(1 <= len(word) <= 5 and 1 <= number <= 4 for _, word, _, number in calls)


def test_texts_are_made_of_given_words() -> None:
    given = [["o| o .|"], [""], ["o"]]
    made = Arguments(given, of_words=True)
    assert not made.is_as_seen
    texts = {made.make(number, random.Random(number))[0] for number in range(40)}
    assert len(texts) > 10
    assert {word for text in texts for word in text.split(" ")} <= {"o|", "o", ".|", ""}
    assert Arguments([["a  b"], ["c"]], of_words=True).is_as_seen


def calls_of_tier(given: list[list[Any]], name: str, constants: Constants = NONE) -> list[list[Any]]:
    made = Arguments(given, next(each for each in WIDENINGS if each.name == name), constants)
    assert not made.is_as_seen
    return [made.make(number, random.Random(number)) for number in range(120)]


@pytest.mark.parametrize(
    ("name", "given", "is_new"),
    [
        ("repeats", [[[3, 1, 9]], [[4, 8, 2, 7]]], lambda items: len(set(items)) < len(items)),
        ("short", [["abc"], ["defg"]], lambda text: len(text) == 1),
        ("short", [[[3, 1, 9]], [[4, 8, 2]]], lambda items: len(items) == 1),  # all of one length: references decide
        ("small", [[9], [15]], lambda number: number == 1),
        ("empty", [[[3, 1]], [[4]]], lambda items: items == []),
        ("zero", [[9], [15]], lambda number: number == 0),
        ("wider", [[9], [15]], lambda number: number == 150),
        ("wider", [[[1, 2]], [[1, 2, 3]]], lambda items: len(items) > 6),
        ("letters", [["abc"], ["defg"]], lambda text: "z" in text),
        ("signs", [[9], [15]], lambda number: number < 0),
        ("characters", [["abc"], ["d f"]], lambda text: "Z" in text or "é" in text),
        ("numbers to 10^9", [[9], [15]], lambda number: number > 10**6),
        ("formula", [[9], [15]], lambda number: 15 < number <= 10**5),
        ("loose", [[[1, 2, 3]], [[1, 5, 9]]], lambda items: items != sorted(items)),
    ],
)
def test_widenings_make_values_of_their_class(name: str, given: list[Any], is_new: Callable[[Any], bool]) -> None:
    assert not any(is_new(value) for [value] in [Arguments(given).make(n, random.Random(n)) for n in range(120)])
    assert any(is_new(value) for [value] in calls_of_tier(given, name))


def test_pairs_stay_pairs_and_short_lists_keep_their_order() -> None:
    pairs = [[[[1, 3], [2, 6]]], [[[4, 5], [1, 9], [3, 3]]]]
    for items in calls_of_tier(pairs, "short"):
        assert all(len(pair) == 2 for pair in items[0])
    made = [Arguments([[[1, 3]], [[2]], [[1, 2]]]).make(n, random.Random(n)) for n in range(60)]
    assert all(items == sorted(items) for [items] in made)


def test_constants_of_references_are_values_lengths_and_parts() -> None:
    code = """def f(n, text):
    '''A docstring.'''
    if n == 70 or len(text) > 12 or text.startswith('ab-'):
        return 'said'
    return n % 9 < -5
"""
    found = constants_of([("python", code), ("cpp", "if (n >= 4321) return 1;")])
    assert found.numbers == (-5, 9, 12, 70, 4321)
    assert found.texts == ("ab-",)
    assert {69, 70, 71} <= set(found.near)
    made = calls_of_tier([[3, "aba"], [8, "bbab"]], "constants", found)
    assert {number for number, _ in made} >= {69, 70, 71, 4320}
    assert {len(text) for _, text in made} >= {11, 12, 13}
    assert any("ab-" in text for _, text in made)


@pytest.mark.parametrize(
    ("code", "is_formula"),
    [
        ("def f(a, b):\n    return a * b / 2 + min(a, b)", True),
        ("def f(n):\n    return n * f(n - 1)", False),
        ("def f(n):\n    return sum(range(n))", False),
        ("def f(n):\n    return [i for i in n]", False),
        ("def f(n):\n    return 2 ** n", False),
        ("def f(n) return", False),
    ],
)
def test_references_without_loops_are_formulas(code: str, is_formula: bool) -> None:
    assert constants_of([("python", code)]).are_formulas is is_formula


def test_a_near_call_differs_little_and_keeps_the_kind() -> None:
    given = [[[1, 2, 3], "ab", 4.5, {"a": 1}], [[2, 5, 9, 11], "ba", 1.5, {"b": 3, "a": 2}]]
    arguments = Arguments(given)
    for number in range(200):
        items, text, real, counts = arguments.near(given, number, random.Random(number))
        assert items == sorted(set(items))
        assert all(1 <= each <= 11 for each in items)
        assert len(text) == 2
        assert set(text) <= {"a", "b"}
        assert 1.5 <= real <= 4.5
        assert counts
        changed = sum(
            one != other for one, other in zip((items, text, real, counts), given[number % len(given)], strict=True)
        )
        assert changed <= 2


def test_equal_arguments_are_made_where_their_kinds_allow() -> None:
    made = Arguments([[3, 90], [80, 4], [50, 60]])
    calls = [made.make(number, random.Random(number)) for number in range(80)]
    assert sum(left == right for left, right in calls) > 8


def test_large_real_numbers_have_a_relative_tolerance() -> None:
    calls = calls_of([AssertTest(code="assert f(1.0) == 0.5")])
    assert calls is not None
    for result, near, far in ((1e15, 1e15 + 1, 1.001e15), (0.5, 0.5 + 1e-7, 0.501)):
        for [made] in ([calls.test((2.0,), result)], calls.table([calls.test((2.0,), result)])):
            exec(made.code, {"f": lambda _, near=near: near})  # type: ignore[union-attr]
            with pytest.raises(AssertionError):
                exec(made.code, {"f": lambda _, far=far: far})  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("test", "tolerance", "result", "is_test"),
    [
        (CallTest(function="f", args=[1, 2], output=0.5), None, 0.1, False),
        (CallTest(function="f", args=[1, 2], output=0.5), 1e-6, 0.1, True),
        (CallTest(function="f", args=[1, 2], output=0.5), 1e-6, {"a": [0.1]}, True),
        (CallTest(function="f", args=[1, 2], output=0.5), 1e-6, float("inf"), False),
        (CallTest(function="f", args=[1, 2], output=0.5), None, 3, True),
        (AssertTest(code="assert f(1, 2) == 0.5"), None, 0.1, True),
        (AssertTest(code="assert f(1, 2) == 0.5"), None, {"a": [0.1]}, False),
    ],
)
def test_computed_real_numbers_make_no_test_without_a_tolerance(
    test: TestCase, tolerance: float | None, result: object, is_test: bool
) -> None:
    checker = Checker(float_tolerance=tolerance) if tolerance else None
    subject = subject_of(Problem(id="p", prompt="The quotient.", tests=[test], checker=checker))
    assert not isinstance(subject, str)
    assert (subject.test(Made("[1, 10]", "seen"), f"{MARK}{result!r}") is not None) == is_test


@pytest.mark.parametrize(
    ("note", "is_rule"),
    [
        ("You may assume that exactly one pair has the sum.", True),
        ("It is guaranteed that the answer is unique.", True),
        ("You can assume that the words have letters only.", False),
        ("Return the first pair.", False),
    ],
)
def test_few_references_judge_no_calls_that_may_break_a_guarantee(note: str, is_rule: bool) -> None:
    tests: list[TestCase] = [CallTest(function="f", args=[[1, 2], 3], output=1)]
    subject = subject_of(Problem(id="p", prompt=f"Find the pair.\n\n{note}", tests=tests))
    assert not isinstance(subject, str)
    few, many = ([each.tier for each in subject.made(Wanted(32, judges, 6, 1000))] for judges in (2, 3))
    assert bool(few) != is_rule
    assert (set(many) == {"seen"}) == is_rule


def test_an_audit_program_of_plain_values_is_read_as_json() -> None:
    calls = calls_of([AssertTest(code="assert f(1) == 2", prelude="f = 1")])  # else they need no program
    assert calls is not None
    for result, reader in (
        (["é", 1, None, {"a": [True, 0.5]}], "loads"),
        ((1, 2), "literal_eval"),
        ({1: 2}, "literal_eval"),
    ):
        [made] = calls.table([calls.test(([1, "b"],), result)])
        assert f"import {reader}" in made.code  # type: ignore[union-attr]
        exec(made.code, {"f": lambda _, result=result: result})  # type: ignore[union-attr]
        with pytest.raises(AssertionError):
            exec(made.code, {"f": lambda _: 0})  # type: ignore[union-attr]


def test_an_audit_program_is_made_of_plain_assertions_where_the_given_one_is() -> None:
    for prelude, is_plain in ((None, True), ("import math", True), ("f = 1", False)):
        calls = calls_of([AssertTest(code="assert f(1) == 2", prelude=prelude)])
        assert calls is not None
        [made] = calls.table([calls.test((2,), [3]), calls.test((3,), (4,))])
        assert isinstance(made, AssertTest)
        assert (plain_test(made.code, None, made.prelude or "") is not None) == is_plain


def test_calls_are_read_from_tests() -> None:
    code = "def check(f):\n    assert f(1, 'a') == [1]\n    assert abs(f(2, 'b') - 0.5) < 1e-6\n    assert f(x) == 1\n"
    found = calls_of([AssertTest(code=code, entry_point="f")])
    assert found is not None
    assert found.given == (GivenCall((1, "a"), [1]), GivenCall((2, "b"), 0.5))
    for result in ((1, 2), 0.25):
        again = calls_of([found.test((3, "c"), result)])
        assert again is not None
        assert again.given == (GivenCall((3, "c"), result),)
    plain = calls_of([AssertTest(code="assert f(1) == 2"), AssertTest(code="\nassert f(2) == 4")])
    assert plain is not None
    assert plain.merged([plain.test((3,), 6), plain.test((4,), 8)]) == [
        AssertTest(code="assert f(3) == 6\nassert f(4) == 8\n")
    ]
    assert (
        calls_of([AssertTest(code="assert f(1) == 2"), AssertTest(code="assert g(2) == 4", role="audit")]) is not None
    )
    assert calls_of([AssertTest(code="assert f(1) == 2"), AssertTest(code="assert g(2) == 4")]) is None
    call = calls_of([CallTest(function="f", args=[1], output=2)])
    assert call is not None
    assert call.test([5], 6) == CallTest(function="f", args=[5], output=6)
    assert calls_of([CallTest(function="f", args=[1], output=2), CallTest(function="g", args=[1], output=2)]) is None


def test_calls_by_name_of_a_method_are_read_and_made() -> None:
    lines = "    assert candidate(nums = [1, 5], k = 2) == 8\n    assert candidate(nums = [4], k = 0) == 0\n"
    code = f"def check(candidate):\n{lines}"
    given = AssertTest(code=code, entry_point="Solution().spread", prelude="@leetcode")
    found = calls_of([given])
    assert found is not None
    assert (found.function, found.names) == ("Solution.spread", ("nums", "k"))
    made = [found.test(([2, 9], 1), 7), found.test(([3], 5), 0)]
    assert calls_of([made[0]]).given == (GivenCall(([2, 9], 1), 7, ("nums", "k")),)  # type: ignore[union-attr]

    def spread(k: int, nums: list[int]) -> int:  # another order of parameters
        return (max(nums) - min(nums)) * k

    for [each] in (found.merged(made), found.table(made)):
        names: dict[str, Any] = {}
        exec(each.code, names)  # type: ignore[union-attr]
        names["check"](spread)
        with pytest.raises(AssertionError):
            names["check"](lambda **_: 0)
    known: dict[str, Any] = {}
    exec(tables.of_calls(found.function, found.given)[0].code, known)
    assert known["Solution"]().spread(nums=[1, 5], k=2) == 8
    assert calls_of([AssertTest(code="assert f(1, k=2) == 3")]) is None
    assert calls_of([AssertTest(code="assert f(a=2) == 3"), AssertTest(code="assert f(b=2) == 3")]) is None


def test_a_reference_is_asked_by_name_with_the_usual_imports() -> None:
    code = "def check(candidate):\n    assert candidate(nums = [1, 5], k = 2) == 8\n"
    given = sums(tests=[{"type": "assert", "code": code, "entry_point": "Solution().spread", "prelude": "@leetcode"}])
    subject = subject_of(given)
    assert isinstance(subject, CallSubject)
    head = "class Solution:\n    def spread(self, k: int, nums: List[int]) -> int:\n"
    right = f"{head}        return max(accumulate(nums)) * k"
    said = output(subject.asking(Program("reference", "r", right)).code, "[[1, 5], 2]")
    assert subject.test(Made("[[1, 5], 2]", ""), said) == AssertTest(
        code="def check(candidate):\n    assert candidate(nums=[1, 5], k=2) == 12\n",
        entry_point="Solution().spread",
        prelude="@leetcode",
    )


@pytest.mark.parametrize(
    "code",
    [
        "def even(items):\n    for each in items:\n        if not each % 2:\n            yield each",
        "def even(items):\n    return {each: 1 for each in items if not each % 2}.keys()",
        "from collections import deque\ndef even(items):\n    return deque(each for each in items if not each % 2)",
        "def even(items):\n    return filter(lambda each: not each % 2, items)",
    ],
)
def test_results_that_the_judge_reads_as_lists_make_tests(code: str) -> None:
    subject = subject_of(sums(tests=[{"type": "call", "function": "even", "args": [[1, 2, 4]], "output": [2, 4]}]))
    assert isinstance(subject, CallSubject)
    said = output(subject.asking(Program("reference", "r", code)).code, "[[8, 3, 6]]")
    made = subject.test(Made("[[8, 3, 6]]", ""), said)
    assert made == CallTest(function="even", args=[[8, 3, 6]], output=[8, 6])


@pytest.mark.parametrize("entry_point", [None, "half"])
def test_an_audit_program_has_its_calls_as_data(entry_point: str | None) -> None:
    code = (
        "def check(candidate):\n    assert candidate(2) == (1, {2})\n" if entry_point else "assert half(2) == (1, {2})"
    )
    found = calls_of([AssertTest(code=code, entry_point=entry_point)])
    assert found is not None
    [made] = found.table([found.test((4,), (2, {4})), found.test((6,), 3.0), found.test((8,), (4, {8}))])
    assert isinstance(made, AssertTest)

    def run(half: object) -> None:
        names: dict[str, Any] = {"half": half}
        exec(made.code, names)
        if entry_point:
            names["check"](half)

    run(lambda n: 3.0000001 if n == 6 else (n // 2, {n}))
    for answers in ({6: 3.1}, {8: (4, {9})}):
        with pytest.raises(AssertionError):
            run(lambda n, answers=answers: answers.get(n, 3.0 if n == 6 else (n // 2, {n})))


def test_examples_are_read_from_a_statement() -> None:
    text = ">>> f([1, 2], (3, 4))\n9\nIt is f(x, y). Then f([], (0,)) ➞ 1, and f('(', 2) is cut."
    assert examples_in(text, "f", 2)[:2] == [([1, 2], (3, 4)), ([], (0,))]


CPP = """
#include <bits/stdc++.h>  // < >= 1
using namespace std;
int main() {
    long long n, total = 0; bool seen = false;
    cin >> n;
    vector<long long> a(n);
    for (int i = 0; i < n && !seen; i++) {
        cin >> a[i];
        if (a[i] == 3 || i >= 7) { continue; }
        total += max(a[i] * 2, total % 100) - (n ^ 1) - (n & 3);
        if (total > 1000) break;
    }
    cout << total << "< 1 +" << endl;
}
"""


def test_tokens_of_compiled_languages_are_exchanged() -> None:
    found = token_mutants.of(CPP, 1000, random.Random(0))
    assert {each.operator for each in found} == set(token_mutants.OPERATORS)
    assert len(token_mutants.OPERATORS) >= 12
    for each in found:
        assert "#include <bits/stdc++.h>  // < >= 1" in each.code
        assert '"< 1 +"' in each.code
        assert each.code != CPP
    assert len({each.code for each in found}) == len(found)


CONSTRAINTS = """Add them up.

def total(self, nums: Dict[str, List[int]], k: int = 1) -> int:

* `1 <= nums.length <= 3`
* `-10^2 <= nums[i], k <= 10^2`
* `0 < len(nums) < 9`
* `1 <= i < nums.length`
* `5 <= k <= 6`
"""


@pytest.mark.parametrize(
    ("args", "is_allowed"),
    [([[1, 2, 3], 4], True), ([[], 4], False), ([[1, 2, 3, 4], 4], False), ([[101], 4], False), ([[1], -101], False)],
)
def test_bounds_of_arguments_hold(args: list[Any], is_allowed: bool) -> None:
    names = names_in(CONSTRAINTS, "Solution.total")
    assert names == ("nums", "k")
    found = bounds_of(CONSTRAINTS, names, [[[1, 2], 3]])
    assert len(found) == 4  # a given call breaks the last one
    assert all(each.holds(args) for each in found) == is_allowed


def test_made_calls_keep_the_bounds_of_the_statement() -> None:
    statement = "Count.\n\ndef count(nums):\n\n* `1 <= nums.length <= 4`\n* `1 <= nums[i] <= 9`\n"
    tests = [{"type": "call", "function": "count", "args": [each], "output": 1} for each in ([2, 3, 9], [5, 1, 1, 4])]
    subject = subject_of(Problem.model_validate({"id": "count", "prompt": statement, "tests": tests}))
    assert not isinstance(subject, str)
    found = [ast.literal_eval(each.text)[0] for each in subject.made(Wanted(40, 1))]
    assert found
    assert all(1 <= len(each) <= 4 and all(1 <= item <= 9 for item in each) for each in found)
