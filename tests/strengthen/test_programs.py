"""Wrong programs and made calls: mutants by every operator, tables, arguments by type, calls read from tests."""

from __future__ import annotations

import ast
import contextlib
import io
import random
import sys
from typing import Any

import pytest

from sandbox_service.schema import AssertTest, CallTest
from sandbox_service.strengthen import mutants, tables, token_mutants
from sandbox_service.strengthen.arguments import Arguments
from sandbox_service.strengthen.calls import GivenCall, calls_of, examples_in
from sandbox_service.strengthen.operators import OPERATORS

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


def test_tables_know_the_given_tests_and_nothing_else() -> None:
    known = [("1 2\n", "3"), ("4 5\n", "9"), ("0 3\n", "3"), ("2 2", "4")]
    found = {each.name: each.code for each in tables.of_inputs(known)}
    assert len(found) == 3
    for given, answer in known:
        assert output(found["a table of all tests"], given).strip() == answer
    assert output(found["a table of all tests"], "7 7").strip() == "3"  # the most frequent answer
    assert output(found["a table of the first test"], "4 5").strip() == "3"


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
    assert made.has_words
    texts = {made.make(number, random.Random(number))[0] for number in range(40)}
    assert len(texts) > 10
    assert {word for text in texts for word in text.split(" ")} <= {"o|", "o", ".|", ""}
    assert not Arguments([["a  b"], ["c"]]).has_words


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
