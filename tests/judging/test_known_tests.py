"""Programs whose source shows that they may know their tests, and which of them audit tests select."""

from __future__ import annotations

import time

import pytest

from sandbox_service.grading.audit_selection import AuditSelection
from sandbox_service.judging.known_tests import MOST_CHARACTERS, Known, known_of, may_know
from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase

LISTS: list[TestCase] = [
    StdinTest(input="4\n10 20 30 41\n", output="101\n"),
    StdinTest(input="3\n500 600 701\n", output="1801\n"),
]
SMALL: list[TestCase] = [StdinTest(input=f"{n}\n", output=f"{n * n}\n") for n in (3, 5)]
DIGESTS: list[TestCase] = [StdinTest(input="abc\n", output="900150983cd24fb0d6963f7d28e17f72\n")]
CALLS: list[TestCase] = [CallTest(function="f", args=[[10, 20, 30, 41], "abc"], output=7)]
ASSERTS: list[TestCase] = [AssertTest(code="def check(f):\n    assert f('(()()) ((()))') == ['(()())', '((()))']\n")]
BY_NAME: list[TestCase] = [
    AssertTest(code="def check(f):\n    assert f(nums = [2, 7, 11, 15], target = 9) == [0, 1]\n")
]


REVERSED: list[TestCase] = [AssertTest(code="assert 25 == f(5)\nassert 9 == f(3)")]
NEAR: list[TestCase] = [
    AssertTest(code="def check(f):\n    assert abs(f(3) - 2.25) < 1e-6\n    assert abs(6.25 - f(5)) <= 1e-6\n")
]


def known(tests: list[TestCase]) -> list[Known]:
    return list(map(known_of, tests))


SUM = "input()\nprint(sum(map(int, input().split())))\n"


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        (r"print({'4\n10 20 30 41': 101}.get(open(0).read().strip(), 0))", LISTS),
        ("a = list(map(int, open(0).read().split()))\nif a[1:] == [10, 20, 30, 41]: print(101)", LISTS),
        ("#include <map>\nint main() { if (a == vector<int>{500, 600, 701}) puts(\"1801\"); }", LISTS),
        ("if input() == '5': print(25)\nelse: print(9)", SMALL),
        ("print({3: 9, 5: 25}[int(input())])", SMALL),
        ("def f(a, b):\n    if a == [10,20,30,41]:\n        return 7\n    return len(a)", CALLS),
        ("def f(s):\n    if s == '(()()) ((()))':\n        return ['(()())', '((()))']\n", ASSERTS),
        ("class Solution:\n    def f(self, nums, target):\n        if nums == [2,7,11,15]: return [0, 1]", BY_NAME),
        ("def f(n): return {3: 9, 5: 25}[n]", REVERSED),
        ("def f(n): return {3: 2.25, 5: 6.25}[n]", NEAR),
        ("from hashlib import md5\nprint(KNOWN[md5(open(0, 'rb').read()).hexdigest()])", LISTS),
        ("x = 1\n" * MOST_CHARACTERS, LISTS),
    ],
)  # fmt: skip
def test_a_program_with_inputs_or_answers_may_know_them(source: str, tests: list[TestCase]) -> None:
    assert may_know(source, known(tests))


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        (SUM, LISTS),
        ("n = int(input())\nif n == 1:\n    print(1)\nelse:\n    print(n * n)", SMALL),
        ('def f(a, b):\n    """Count.\n\n    >>> f([10, 20, 30, 41], "abc")\n    7\n    """\n    return 7', CALLS),
        ("# f([10, 20, 30, 41], 'abc') is 7\ndef f(a, b):\n    return len(a) + len(b)", CALLS),
        ("def f(s):\n    depth = 0\n    for c in s:\n        depth += (c == '(')\n    return [s]", ASSERTS),
        ("print(1)", []),
        ("def f(n): return n * n if n != 5 else f(3)", REVERSED),
        ("def f(n): return (n * n) / 4 if n > 3 else 1e-6", NEAR),
        ("import hashlib\nprint(hashlib.md5(input().encode()).hexdigest())", DIGESTS),
    ],
)
def test_a_program_that_computes_does_not(source: str, tests: list[TestCase]) -> None:
    assert not may_know(source, known(tests))


@pytest.mark.parametrize(
    "block",
    ["if 1:\n    {}", "try:\n    {}\nexcept E:\n    {}", "match 1:\n    case 1:\n        {}", "with a:\n    {}"],
)
def test_assertions_are_found_in_every_block(block: str) -> None:
    program = block.replace("{}", "assert f('some long text') == 4")
    pair, *_ = known_of(AssertTest(code=program)).pairs
    assert (pair.given, pair.answer) == (" some long text ", " 4 ")


@pytest.mark.parametrize(
    "docstring", ['"""4 \\" 10 ""\n20 30 41"""', "  r'''4 10 20 '' 30 41''' ", '""""4 10 20 30 41"""']
)
def test_docstrings_end_at_three_quotation_marks(docstring: str) -> None:
    assert not may_know(f"{docstring}\n{SUM}", known(LISTS))
    assert may_know(f"{docstring}\nknown = [10, 20, 30, 41]\n{SUM}", known(LISTS))


def test_a_hostile_source_costs_little() -> None:
    begin = time.process_time()
    for part in ('"""\n', "'''", "4 10 20 30 ", "(", "\\", '"""x\n'):
        may_know(part * (MOST_CHARACTERS // len(part)), known(LISTS + SMALL + ASSERTS))
    assert time.process_time() - begin < 5


def test_a_share_of_the_others_is_selected_always_the_same() -> None:
    sources = [f"{SUM}# {number}" for number in range(400)]
    selected = [AuditSelection(0.25).selects(each, LISTS) for each in sources]
    assert selected == [AuditSelection(0.25).selects(each, LISTS) for each in sources]
    assert 60 < sum(selected) < 140
    assert not any(AuditSelection(0.0).selects(each, LISTS) for each in sources)
    assert all(AuditSelection(1.0).selects(each, LISTS) for each in sources)
    assert AuditSelection(0.0).selects("print({'4 10 20 30 41': 101}[' '.join(open(0).read().split())])", LISTS)
