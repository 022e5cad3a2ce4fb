"""Test programs of plain assertions: which ones are, and what the candidate is asked."""

from __future__ import annotations

import pytest

from sandbox_service.judging.distances import NEAR_ROW
from sandbox_service.judging.plain_asserts import PlainTest, plain_test

CHECK = "def check(candidate):\n    assert candidate(1) == 2\n"

PYTEST = "def test_f():\n    '''About.'''\n    assert f(1) == 2\n\ndef test_g():\n    assert f(2) == 3\n"

LOOP = """from json import loads
for args, result in loads('[[[1, [2]], 3], [[{}, "a"], null]]'):
    assert f(*args) == result
"""
CHECK_LOOP = """def check(candidate):
    from ast import literal_eval
    for args, result in literal_eval('[[[(1, 2)], {3}]]'):
        assert candidate(*args) == result
"""

PLAIN: list[tuple[str, str | None]] = [
    ("assert f(1, [2], key=(3,)) == {'a': {1, 2}}", None),
    ("assert 2 == f(1)", None),
    ("assert f(-1) == -2.5e-3, 'a message'", "f"),
    ("assert f(1)\nassert not f(0)\nassert f(2) is None\nassert f(3) is True", None),
    ("assert f(b'x') == b'y'", None),
    ("assert abs(f(1) - 2) < 1e-6\nassert abs(-0.5 - f(2)) <= 1e-6\nassert abs(f(3) - 2.0/3.0) < 0.1", None),
    ("def check(candidate):\n    assert abs(candidate(1) - 2.5) < 1e-6\n", "f"),
    (f"assert {NEAR_ROW.format('f(1)', '[1.5, -2]')}", None),
    (LOOP, None),
    (LOOP, "f"),
    (CHECK_LOOP, "f"),
    (CHECK_LOOP, "Solution().f"),
    (PYTEST, None),
    ("from solution import f\n\n" + PYTEST, None),
    ("from solution import f\nassert f(1) == 2", None),
    (CHECK, "f"),
    (CHECK, "Solution().f"),
    (CHECK + "check(f)\n", "f"),
    ("METADATA = {'author': 'jt', 'dataset': 'test'}\n\n\n" + CHECK, "f"),
    ("def check(candidate):\n    '''About.'''\n    assert True, 'always'\n    assert candidate() == ()\n    pass", "f"),
]

OTHER: list[tuple[str, str | None, str]] = [
    ("assert f(1) == 2\nassert g(1) == 2", None, "two functions"),
    ("assert f(f(1)) == 2", None, "an argument that is no literal"),
    ("x = 1\nassert f(x) == 2", None, "a variable"),
    ("assert f(1) == 1 + 1", None, "an operand that is no literal"),
    ("assert f(1) in (1, 2)", None, "another comparison"),
    ("assert 0 < f(1) < 2", None, "a chain of comparisons"),
    ("assert f(1) != 2", None, "another comparison"),
    ("assert f(1) is 1000", None, "the identity of a number"),
    ("assert f(*[1]) == 2", None, "unpacked arguments"),
    ("assert f(**{'a': 1}) == 2", None, "unpacked keywords"),
    ("assert f(1) == 2, f'got {f(1)}'", None, "a message that calls"),
    ("assert sum([1]) == 1", None, "a builtin"),
    ("assert f.g(1) == 2", None, "an attribute"),
    ("assert f(1)[0] == 2", None, "an item"),
    ("assert abs(f(1) - 2) > 1e-6", None, "a least distance"),
    ("assert abs(f(1) - '2') < 1e-6", None, "a distance from a text"),
    ("assert abs(f(1) - 2) < 1e-6 < 1", None, "a chain behind a distance"),
    ("assert abs(f(1) + 2) < 1e-6", None, "a sum"),
    ("assert abs(f(1) - 1/0) < 1e-6", None, "a quotient that is none"),
    (f"assert abs(f(1) - 1{'0' * 300}) < 1e-6", None, "a number that is too large"),
    (f"assert {NEAR_ROW.format('f(1)', '[1.5, None]')}", None, "a row with another value"),
    (f"assert {NEAR_ROW.format('f(1)', '[1.5]')}".replace("1e-06", "0.1"), None, "another tolerance"),
    (f"assert {NEAR_ROW.format('f(1)', '[1.5]')}".replace("strict=True", "strict=False"), None, "rows of any lengths"),
    (f"assert {NEAR_ROW.format('f(1)', '[1.5]')[:-1]} if a)", None, "a part of a row"),
    ("assert abs(f(1)) < 1e-6", None, "a size"),
    ("assert abs(abs(1) - 1) < 1e-6", None, "a builtin under test"),
    ("from solution import abs\nassert abs(f(1) - 2) < 1e-6", None, "the submission's builtin"),
    ("def check(candidate):\n    assert abs(candidate(1) - 2) < 1", "abs", "an entry point that is a builtin"),
    ("def check(abs):\n    assert abs(abs(1) - 2) < 1", "f", "a parameter that is a builtin's name"),
    (LOOP, "g", "a loop that calls another function"),
    (LOOP.replace("f(", "loads("), None, "a loop that calls its reader"),
    (LOOP.replace("f(", "args("), None, "a loop that calls its variable"),
    (LOOP.replace("f(", "sum("), None, "a loop that calls a builtin"),
    (LOOP.replace("*args", "args"), None, "a loop that passes its arguments as one"),
    (LOOP.replace("*args", "**args"), None, "a loop that passes its arguments by name"),
    (LOOP.replace("==", "!="), None, "a loop that compares otherwise"),
    (LOOP.replace("== result", "== args"), None, "a loop that compares with its arguments"),
    (LOOP.replace("loads", "load"), None, "a loop with another reader"),
    (LOOP.replace("json", "pickle"), None, "a loop with a reader of another module"),
    (LOOP.replace("from json", "from .json"), None, "a loop with a module beside it"),
    (LOOP.replace("3]", "3, 4]"), None, "a loop whose rows have more"),
    (LOOP.replace("[1, [2]]", "1"), None, "a loop whose arguments are no list"),
    (LOOP.replace("null", "nul"), None, "a loop over what is no JSON"),
    (LOOP + "    assert f(1) == 2\n", None, "a loop with two assertions"),
    (LOOP + "else:\n    pass\n", None, "a loop with an end"),
    (LOOP + "assert f(1) == 2\n", None, "an assertion behind a loop"),
    (LOOP.replace("result\n", "result, 'a message'\n"), None, "a loop with a message"),
    (CHECK_LOOP.replace("candidate(*", "f(*"), "f", "a loop that calls another name than the parameter"),
    ("assert True", None, "no call"),
    ("assert False\nassert f(1) == 2", None, "an assertion that never holds"),
    ("import math\nassert f(1) == 2", None, "an import"),
    ("for _ in range(3):\n    assert f(1) == 2", None, "a loop"),
    ("def test_f(tmp_path):\n    assert f(1) == 2", None, "a fixture"),
    ("import pytest\ndef test_f():\n    assert f(1) == 2", None, "pytest"),
    ("def test_f():\n    assert f(1) == 2\ntest_f()", None, "a function that is called"),
    ("def test_f():\n    assert f(1) == 2\ndef test_f():\n    assert f(2) == 2", None, "two functions of one name"),
    ("def helper():\n    assert f(1) == 2", None, "a function that nothing calls"),
    ("assert f(0) == 1\ndef test_f():\n    assert f(1) == 2", None, "assertions in both places"),
    ("async def test_f():\n    assert f(1) == 2", None, "a coroutine"),
    ("def test_f(x=1):\n    assert f(1) == 2", None, "a parameter"),
    ("from solution import f, g\nassert f(1) == 2", None, "two names from the submission"),
    ("from solution import f as g\nassert g(1) == 2", None, "another name for it"),
    ("from solution import f\nassert g(1) == 2", None, "another function than the imported one"),
    ("from .solution import f\nassert f(1) == 2", None, "a relative import"),
    ("assert f(1) == 2", "g", "another entry point"),
    (CHECK, None, "no entry point"),
    (CHECK, "f(3)", "an entry point with an argument"),
    (CHECK, "__import__('os').getpid", "an entry point with a text"),
    (CHECK + "check(g)\n", "f", "a call with another function"),
    ("check(f)\n" + CHECK, "f", "a call before the definition"),
    (CHECK + "check(f)\ncheck(f)\n", "f", "two calls"),
    (CHECK + "assert f(2) == 3\n", "f", "an assertion beside check"),
    (CHECK + CHECK, "f", "two definitions"),
    ("def check(candidate, other=1):\n    assert candidate(1) == 2", "f", "two parameters"),
    ("def check(F):\n    F = 3\n    assert F(1) == 2", "f", "a parameter that is assigned"),
    ("@print\n" + CHECK, "f", "a decorator"),
    ("class Check:\n    pass\nassert f(1) == 2", None, "a class"),
    ("assert f(1) ==", None, "a syntax error"),
    ("assert f(1) == {[1]: 2}", None, "a key that cannot be hashed"),
    ("assert f({[1]}) == 2", None, "an item that cannot be hashed"),
    ("assert f(" + "[" * 500 + "]" * 500 + ") == 1", None, "brackets without end"),
    ("assert f(1) == 2\n" + "#" * (1 << 16), None, "a long program"),
]


def read(code: str, entry_point: str | None, prelude: str = "") -> PlainTest | None:
    return plain_test(code, entry_point, prelude)


@pytest.mark.parametrize(("code", "entry_point"), PLAIN)
def test_plain_assertions_are_read(code: str, entry_point: str | None) -> None:
    assert read(code, entry_point) is not None


@pytest.mark.parametrize(("code", "entry_point", "why"), OTHER, ids=[f"{row[2]}-{at}" for at, row in enumerate(OTHER)])
def test_anything_else_is_left_to_a_box(code: str, entry_point: str | None, why: str) -> None:
    assert read(code, entry_point) is None, why


@pytest.mark.parametrize(
    ("code", "entry_point", "is_plain"),
    [("assert f(1) == 2", None, False), (CHECK + "check(f)\n", "f", False), (CHECK, "f", True)],
)
def test_a_name_that_the_prelude_may_define_is_left_to_a_box(code: str, entry_point: str, is_plain: bool) -> None:
    for prelude in ("f = 1", "from m import *", "def f(): pass", "from m import g as f", "import f.g", "exec('f = 1')"):
        assert (read(code, entry_point, prelude) is not None) is is_plain


def test_a_distance_is_left_to_a_box_if_the_prelude_may_define_abs() -> None:
    code = "assert abs(f(1) - 2) < 1"
    assert read(code, None, "import math") is not None
    for prelude in ("def abs(x): return 0", "from m import abs", "from m import *"):
        assert read(code, None, prelude) is None


@pytest.mark.parametrize("code", ["assert f(1) == 2", CHECK, CHECK + "check(f)\n"])
def test_a_prelude_that_gives_other_names_is_none_of_a_test_s_business(code: str) -> None:
    for prelude in (
        "\n\n",
        "from typing import List\n\n\n",
        "import f2, g.f as h\ndef helper(x):\n    f = x\n    return f\n",
    ):
        found = read(code, "f", prelude)
        assert found is not None
        assert found.has_prelude == bool(prelude.strip())
    for prelude in ("def (", "@leetcode", "x = 1"):  # they may give any name
        assert (read(code, "f", prelude) is not None) == (code == CHECK)


def test_the_requests_hold_no_expected_value() -> None:
    test = read(CODE, None)
    assert test is not None
    assert [frame(text) for text in FRAMES] == split(test.requests)
    assert b"4242" not in test.requests


CODE = "assert f([1, (2,)], k={'a': {3}}) == 4242\nassert f(None, 'é', b'\\xff') == [4242]"
FRAMES = [
    'look\n[["f"],null]',
    'call 0\n[[[[1,{"T":[2]}]],["k"],[{"D":[["a"],[{"S":[3]}]]}]]]',
    'call 0\n[[[null,"é",{"B":"ÿ"}],[],[]]]',
]


def frame(text: str) -> bytes:
    data = text.encode()
    return len(data).to_bytes(4, "little") + data


def split(data: bytes) -> list[bytes]:
    found = []
    while data:
        size = 4 + int.from_bytes(data[:4], "little")
        found.append(data[:size])
        data = data[size:]
    return found
