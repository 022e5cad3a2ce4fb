"""One program in each language, with the functions that LeetCode has, called with values of every kind."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.judging.values import check_result
from sandbox_service.languages import drivers
from sandbox_service.languages.drivers.values import Call
from sandbox_service.schema import Checker
from tests.languages.drivers.bare import TOOLCHAINS, Bare, CompileError

pytestmark = pytest.mark.slow

SOLUTIONS = Path(__file__).parent / "solutions"
MANY = 100_000

# function, arguments, result
Case = tuple[str, list[Any], Any]
CASES: list[Case] = [
    ("add", [1, 2], 3),
    ("add", [-(2**31), 0], -(2**31)),
    ("add", [1.0, 2], 3),  # JSON of another writer
    ("big", [2**53 - 1], 2**53 - 1),
    ("negated", [True], False),
    ("half", [1], 0.5),
    ("half", [0.1], 0.05),
    ("half", [1e300], 5e299),
    ("half", [5e-324], 0.0),
    ("joined", ["", "", "x"], "x"),
    ("joined", ['a"\\\n\t\x01', "é😀\u2028", "z"], 'a"\\\n\t\x01é😀\u2028z'),
    ("first", ["xyz"], "x"),
    ("words", [["b", "", "a b"]], ["", "a b", "b"]),
    ("words", [[]], []),
    ("table", [[[1, 2], [], [3]]], [[1, 2], [], [3]]),
    ("reversed", [[1, 2, 3]], [3, 2, 1]),
    ("reversed", [[]], []),
    ("lists", [[[1, 4], [], [2]]], [[1, 4], [], [2]]),
    ("mirrored", [[1, 2, 3, None, 4]], [1, 3, 2, None, None, 4]),
    ("mirrored", [[]], []),
    ("turn", [[["a", "b"], ["c"]]], [["c"], ["a", "b"]]),
    ("same", [[]], []),
]
LARGE: list[Case] = [
    ("total", [list(range(MANY))], MANY * (MANY - 1) // 2),
    ("same", [list(range(MANY))], list(range(MANY))),
    ("reversed", [list(range(MANY))], list(range(MANY))[::-1]),
]
COUNTER = Call("Counter", (), [("Counter", [1]), ("get", []), ("addAll", [[2, 3]]), ("get", [])])
ODD = [Call("half", [float("nan")]), Call("half", [float("inf")]), Call("half", [float("-inf")])]
MISFITS = [Call("total", ["text"]), Call("add", [None, 1]), Call("add", [2**63, 1]), Call("first", [["a"]])]
ALL = [
    *(Call(name, args) for name, args, _ in CASES + LARGE),
    COUNTER,
    *ODD,
    *MISFITS,
    Call("big", [2**63 - 1]),
    Call("fail", [1]),
]
DYNAMIC = ("javascript", "typescript")


CHEAP = ("cpp", "javascript")  # the others repeat what these show


def _marked(languages: Iterable[str]) -> list[Any]:
    return [pytest.param(each, marks=() if each in CHEAP else pytest.mark.full) for each in sorted(languages)]


@pytest.fixture(scope="module", params=_marked(TOOLCHAINS))
def bare(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Bare]:
    language: str = request.param
    return language, _compiled(language, tmp_path_factory.mktemp(language), None, ALL)


def _compiled(language: str, folder: Path, source: str | None, calls: list[Call]) -> Bare:
    if missing := TOOLCHAINS[language].missing:
        pytest.skip(f"{missing} is not installed")
    text = source or (SOLUTIONS / f"solution.{TOOLCHAINS[language].suffix}").read_text()
    return Bare(folder, language, text, calls)


def test_all_languages_have_a_program() -> None:
    assert set(TOOLCHAINS) == drivers.LANGUAGES


def test_values_come_back_as_they_are_expected(bare: tuple[str, Bare]) -> None:
    run = bare[1].call(*(Call(name, args) for name, args, _ in CASES + LARGE))
    found = [
        check_result(Checker(), line, case[2]) for line, case in zip(run.results.lines, CASES + LARGE, strict=False)
    ]
    assert found == [None] * len(CASES + LARGE), run.stderr


def test_what_the_program_prints_is_not_a_result(bare: tuple[str, Bare]) -> None:
    run = bare[1].call(Call("add", [1, 2]), Call("add", [1, 2]))
    assert run.results.lines == [b"3", b"3"]
    assert run.results.printed.replace(b"\r", b"").count(b"adding\n=") == 2


def test_a_class_keeps_its_state(bare: tuple[str, Bare]) -> None:
    assert [json.loads(line) for line in bare[1].call(COUNTER, COUNTER).results.lines] == [[None, 1, None, 6]] * 2


def test_numbers_that_json_does_not_have(bare: tuple[str, Bare]) -> None:
    assert bare[1].call(*ODD).results.lines == [b"NaN", b"Infinity", b"-Infinity"]


def test_the_largest_integer(bare: tuple[str, Bare]) -> None:
    assert bare[1].call(Call("big", [2**63 - 1])).results.lines == [b"9223372036854775807"]


@pytest.mark.parametrize("call", MISFITS, ids=repr)
def test_an_argument_of_another_type_is_told(bare: tuple[str, Bare], call: Call) -> None:
    if bare[0] in DYNAMIC:
        pytest.skip("there are no types to misfit")
    run = bare[1].call(call)
    assert run.results.lines == []
    assert "where the function takes" in (run.results.misfit or "")
    assert run.status != 0


def test_results_before_an_exception_are_there(bare: tuple[str, Bare]) -> None:
    run = bare[1].call(Call("big", [7]), Call("fail", [1]), Call("big", [8]))
    assert run.results.lines == [b"7"]
    assert run.status != 0
    assert "failed on purpose" in run.stderr


FOREIGN = {
    "cpp": "struct Own { int x; }; class Solution { public: int f(Own own) { return own.x; } };",
    "java": "class Own { int x; } class Solution { public int f(Own own) { return own.x; } }",
    "go": "type Own struct { x int }\nfunc f(own Own) int { return own.x }",
    "csharp": "class Own { public int x; } class Solution { public int F(Own own) { return own.x; } }",
    "rust": "struct Own { x: i32 }\nimpl Solution { fn f(own: Own) -> i32 { own.x } }",
}


@pytest.mark.parametrize("language", _marked(FOREIGN))
def test_a_type_that_the_driver_does_not_know_is_told(language: str, tmp_path: Path) -> None:
    call = Call("f", [1])
    try:
        told = _compiled(language, tmp_path, FOREIGN[language], [call]).call(call).results.misfit or ""
    except CompileError as refused:
        told = str(refused)
    assert "Own" in told


ABSENT = {
    "cpp": "class Solution { public: int g(int x) { return x; } };",
    "java": "class Solution { public int g(int x) { return x; } }",
    "javascript": "const g = (x) => x;",
    "go": "func g(x int) int { return x }",
    "csharp": "class Solution { public int G(int x) { return x; } }",
    "rust": "impl Solution { fn g(x: i32) -> i32 { x } }",
}


@pytest.mark.parametrize("language", _marked(ABSENT))
def test_a_function_that_is_not_there(language: str, tmp_path: Path) -> None:
    call = Call("f", [1])
    try:
        told = _compiled(language, tmp_path, ABSENT[language], [call]).call(call).results.misfit or ""
    except CompileError as refused:
        told = str(refused)
    assert "f" in told
    assert any(words in told for words in ("there is no", "no member", "not found", "undefined"))


NESTED = {
    "java": "public class Main { static class Solution { public int f(int x) { return 2 * x; } } }",
    "csharp": "class P { public class Solution { public int F(int x) { return 2 * x; } } }",
}


@pytest.mark.parametrize("language", _marked(NESTED))
def test_a_solution_may_be_in_another_class(language: str, tmp_path: Path) -> None:
    call = Call("f", [4])
    assert _compiled(language, tmp_path, NESTED[language], [call]).call(call).results.lines == [b"8"]


CYCLES = {
    "cpp": "class Solution { public: ListNode* f(ListNode* head) { head->next = head; return head; } };",
    "java": "class Solution { public ListNode f(ListNode head) { head.next = head; return head; } }",
    "javascript": "/** @param {ListNode} head */\nvar f = (head) => { head.next = head; return head; };",
    "go": "func f(head *ListNode) *ListNode { head.Next = head; return head }",
    "csharp": "class Solution { public ListNode F(ListNode head) { head.next = head; return head; } }",
}


@pytest.mark.parametrize("language", _marked(CYCLES))
def test_a_list_with_a_cycle_is_a_failure(language: str, tmp_path: Path) -> None:
    call = Call("f", [[1]])
    run = _compiled(language, tmp_path, CYCLES[language], [call]).call(call)
    assert (run.results.lines, run.results.misfit) == ([], None)
    assert run.status != 0
