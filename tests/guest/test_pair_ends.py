"""A submission cannot cause the result `bad_test`: its own failures count against it.

Each row is a wrong program and a test that might end with another result than failure: values that the test's own code
cannot handle, text that cannot be sent, crafted names and exceptions, forged messages.
"""

# ruff: noqa: E501 (rows of programs)

from __future__ import annotations

import pytest

from tests.guest.boxes import judge
from tests.guest.test_two_boxes import FORGE
from tests.markers import one_in

ROWS: list[tuple[str, str, str | None]] = [
    # (program, test, entry)
    ("def f(g): return g(10**400)", "assert f(lambda x: x + 1) == 3", "f"),
    ("def f(g): return g(1 << 60_000_000)", "assert f(lambda x: x * x * x) == 3", "f"),
    ("import decimal\ndef f(g): return g(decimal.Decimal('1e9999'))", "assert f(lambda x: x * x) == 3", "f"),
    ("def f(g): return g('\\ud800')", "assert f(lambda x: x + 'a') == 3", "f"),
    ("def f(g): return g('\\ud800')", "assert f(lambda x: x.encode()) == 3", "f"),
    ("def f(g): return g('\\ud800')", "def h(x): raise ValueError(x)\nassert f(h) == 3", "f"),
    ("def f(g): return g('\\ud800')", "def h(x):\n    assert x == 3, x\nassert f(h) == 3", "f"),
    ("class O: pass\ndef f(g): return g(O())", "assert f(lambda x: x) == 3", "f"),
    ("class O: pass\ndef f(g): return g(O())", "assert f(lambda x: x + 1) == 3", "f"),
    (
        "class O:\n    def __iter__(s):\n        while 1: yield s\ndef f(g): return g(O())",
        "assert f(lambda x: [y for _, y in zip(range(5), x)]) == 3",
        "f",
    ),
    ("def f(g):\n    x = []\n    for _ in range(199): x = [x]\n    return g(x)", "assert f(lambda x: [[x]]) == 3", "f"),
    ("def f(g): return g(range(10**6))", "assert f(lambda x: list(x) * 100) == 3", "f"),
    ("import numpy\ndef f(g): return g(numpy.int64(3))", "assert f(lambda x: x * 10**400) == 3", "f"),
    ("import numpy\ndef f(g): return g(numpy.int64(3))", "assert f(lambda x: x.dtype) == 3", "f"),
    (
        "import datetime\ndef f(g): return g(datetime.datetime.now(datetime.timezone.utc))",
        "assert f(lambda x: x.tzinfo) == 3",
        "f",
    ),
    ("def f(g): return g(10**8)", "assert f(lambda x: 'a' * x) == 3", "f"),
    ("def f(g): return g(10**12)", "assert f(lambda x: [0] * x) == 3", "f"),
    ("def f(g): return g(2)", "class K: pass\nassert f(lambda x: K()) == 3", "f"),
    ("def f(g): return g(g)", "assert f(lambda x: x(x)) == 3", "f"),
    ("def f(g): return g(0)", "import sys\nassert f(sys.exit) == 3", "f"),
    ("def f(g): return g(0)", "import sys\nf(lambda x: sys.exit(x))\nassert False", "f"),
    ("def f(g): return g(0)", "import os\nf(lambda x: exit(x))\nassert False", "f"),
    ("def f(g): return g()", "def h(): raise KeyboardInterrupt\ntry:\n    f(h)\nexcept: pass\n", "f"),
    ("def f(x): return 1 << 67_000_000", "assert f(f(1) * 2) == 3", "f"),
    ("def f(x): return 1 << 66_000_000", "assert f(f(1) * 16) == 3", "f"),
    ("import decimal\ndef f(x): return decimal.Decimal('1e9999')", "assert f(f(1) * f(1)) == 3", "f"),
    ("def f(x): return [0] * 5_000_000", "assert f(f(1) * 3) == 3", "f"),
    ("def f(x):\n    x = []\n    for _ in range(198): x = [x]\n    return x", "assert f([[[f(1)]]]) == 3", "f"),
    ("def f(x): return '\\ud800'", "assert f(1) == 'a', f(1)", "f"),
    ("def f(x): raise ValueError('\\ud800')", "assert f(1) == 'a'", "f"),
    ("class E(Exception):\n    def __str__(s): return '\\ud800' * 3000\ndef f(x): raise E", "assert f(1) == 'a'", "f"),
    (
        "class E(Exception):\n    def __str__(s): raise E\n    __repr__ = __str__\ndef f(x): raise E(1,2,3,4,5)",
        "assert f(1) == 'a'",
        "f",
    ),
    (
        "class M(type):\n    __name__ = property(lambda s: '\\ud800')\nclass E(Exception, metaclass=M): pass\ndef f(x): raise E",
        "assert f(1) == 'a'",
        "f",
    ),
    ("E = type('\\ud800', (Exception,), {})\ndef f(x): raise E('\\udfff')", "assert f(1) == 'a'", "f"),
    ("O = type('\\ud800', (), {})\ndef f(x): return O()", "assert f(1) == 'a', f(1)", "f"),
    ("def f(x): return {'\\ud800': 1}", "assert f(1)['a'] == 1", "f"),
    ("def f(x): return {'\\ud800': 1}", "for k in f(1): getattr(3, k)", "f"),
    ("def f(x): return '\\ud800'", "print(f(1))\nassert f(1) == 3", "f"),
    ("def f(x): return '\\ud800'", "exec(f(1))", "f"),
    ("def f(x): return '\\ud800'", "__import__(f(1))\nassert 0", "f"),
    ("def f(x): return 'nosuchmodule'", "import importlib\nimportlib.import_module(f(1))\nassert 0", "f"),
    ("def f(x): return 'x y'", "compile(f(1), 'a', 'exec')\nassert 0", "f"),
    ("def f(x): return 0", "assert f(1) == 1, undefined_name", "f"),
    ("def f(x): return 0", "if f(1) == 0:\n    undefined_name\nassert 0", "f"),
    ("def f(x): return 0", "if not f(1):\n    import no_such_module\nassert 0", "f"),
    ("def f(x): return 0", "assert f(1) or undefined_name", "f"),
    ("x = 1", "try:\n    f(1)\nexcept: pass", "f"),
    ("x = 1", "try:\n    f(1)\nexcept: pass", None),
    ("def f(x): raise ValueError", "sub(1)\nadd(2)", None),
    ("def sub(a, b): return a - b", "assert sub(3, 1) == 2\nassert add(1, 2) == 3", None),
    ("def add(a, b): return a + b", "assert sub(3, 1) == 2\nassert add(1, 2) == 3", None),
    ("x = 1", "assert sub(3, 1) == 2\nassert add(1, 2) == 3", None),
    ("def max_chain(p): return 3\ndef Pair(a, b): return (a, b)", "assert max_chain([Pair(1, 2)]) == 2", "max_chain"),
    ("def max_chain(p): return 3", "assert max_chain([Pair(1, 2)]) == 2", "max_chain"),
    ("Pair = 3\ndef max_chain(p): return 3", "assert max_chain([Pair(1, 2)]) == 2", "max_chain"),
    ("def f(x): return 1", "def check(c):\n    assert c(1) == 2", "f"),
    ("class f:\n    def __init__(s, *a): pass", "assert f(2) != 5 and 0", "f"),
    ("class f:\n    def __init__(s, *a): pass", "r = f(2)\nassert r is None", "f"),
    ("def f(x): return f", "assert f(1).__code__", "f"),
    ("def f(x): return f", "class A(f(1)): pass\nassert 0", "f"),
    ("class MyErr: pass\ndef f(x): raise ValueError", "class X(MyErr): pass\ntry: f(1)\nexcept X: pass", "f"),
    ("class Oops: pass\ndef f(x): raise ValueError", "try: f(1)\nexcept Oops: pass", "f"),
    ("Oops = Exception\ndef f(x): return 3", "try:\n    f(1)\n    assert False\nexcept Oops: pass", "f"),
    ("Oops = AssertionError\ndef f(x): return 3", "try:\n    f(1)\n    assert False\nexcept Oops: pass", "f"),
    ("Oops = BaseException\ndef f(x): return 3", "try:\n    f(1)\n    assert False\nexcept Oops: pass", None),
    (
        "class Oops(AssertionError): pass\ndef f(x): return 3",
        "try:\n    f(1)\n    assert False\nexcept Oops: pass",
        None,
    ),
    (
        "Exception.__name__\nclass Oops(BaseException): pass\ndef f(x): raise Oops",
        "try:\n    f(1)\n    assert False\nexcept Oops: pass\nassert 0",
        None,
    ),
    ("class Oops(StopIteration): pass\ndef f(x): raise Oops", "for _ in map(f, [1]): assert 0\nassert 0", None),
    (FORGE + 'def f(x): say(\'raise\', \'[[["Oops", "Exception"], [], "\\\\ud800", -5]]\')', "f(1)", "f"),
    (FORGE + "def f(x): say('raise', '[[[\"Oops\", \"Exception\"], [], 3, 5]]')", "f(1)", "f"),
    (FORGE + "def f(x): say('printed', '[\"x\"]')", "f(1)", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"t":[1,"P",["__eq__"],[1]]}]\')', "assert f(1) == 3", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"t":[1,"P",["a","a"],[1]]}]\')', "assert f(1) == 3", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"t":[1,"P","ab",[1,2]]}]\')', "assert f(1) == 3", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"t":[[],"P",["a"],[1]]}]\')', "assert f(1) == 3", "f"),
    (FORGE + "def f(x): say('ok', '[{\"t\":[1,\"P\",[[]],[1]]}]')", "assert f(1) == 3", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"e":[1,2,"C","A",[]]}]\')', "assert f(1) == 3", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"e":[1,2,"C","__eq__",4]}]\')', "assert f(1) == 3", "f"),
    (FORGE + "def f(x): say('ok', '[{\"e\":[1,2,[],\"A\",4]}]')", "assert f(1) == 3", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"H":[1,"coroutine","A"]}]\')', "assert f(1) == 3", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"H":[1,"error","A",[["A",["B"]]]]}]\')', "assert f(1) == 3", "f"),
    (FORGE + 'def f(x): say(\'ok\', \'[{"H":[1,"error","A",3]}]\')', "assert f(1) == 3", "f"),
    (FORGE + "def f(x): say('ok', '[' + '[' * 190 + '{\"D\":[[1],[1]]}' + ']' * 190 + ']')", "assert f(1) == 3", "f"),
    ("async def f(x): return 3", "assert f(1) == 3", "f"),
    ("async def f(x): raise SystemExit(0)", "import asyncio\nassert asyncio.run(f(1)) == 3", "f"),
    (
        "async def f(x):\n    import asyncio\n    await asyncio.sleep(0)\n    return 4",
        "import asyncio\nassert asyncio.run(f(1)) == 3",
        "f",
    ),
    ("def f(x): raise ImportError('no')", "f(1)", "f"),
    ("def f(x): raise ModuleNotFoundError('no', name='solution')", "f(1)", "f"),
    ("def f(x): raise NameError('no', name='q')", "f(1)\nq = 1", "f"),
    ("def g(x): return 1", "from solution import f\nassert f(1) == 1", None),
    ("def g(x): return 1", "import solution\nassert solution.f(1) == 1", None),
    (
        "def f(x): return 1",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), 2)\nunittest.main(exit=False)",
        None,
    ),
    (
        "def f(x): raise KeyError",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), 2)\nunittest.main()",
        None,
    ),
    (
        "def g(x): raise KeyError",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), 2)\nunittest.main()",
        None,
    ),
    (
        "import unittest\ndef f(x): raise unittest.SkipTest('x')",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), 2)\nunittest.main()",
        None,
    ),
    (
        "def f(x): raise SystemExit(0)",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), 2)\nunittest.main()",
        None,
    ),
    (
        "def f(x): return 1",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        with self.subTest(): self.assertEqual(f(1), 2)",
        None,
    ),
    ("def f(x): return 1", "def test_a(): assert f(1) == 2", None),
    ("def f(x): return 1", "class TestA:\n    def test_a(self): assert f(1) == 2", None),
    (
        "class Swallow:\n    def __enter__(s): return s\n    def __exit__(s, *a): return True\ndef f(x): return 1",
        "with Swallow():\n    assert f(1) == 2",
        None,
    ),
    (
        "class Swallow:\n    def __enter__(s): return s\n    def __exit__(s, *a): return True\ndef f(x): return 1",
        "with Swallow():\n    [][f(1)]",
        None,
    ),
    (
        "class Swallow:\n    def __enter__(s): return s\n    def __exit__(s, *a): return True\ndef f(x): return 1",
        "with Swallow():\n    g(1)\nassert f(1) == 2",
        None,
    ),
]


@pytest.mark.parametrize("place", one_in(3, range(len(ROWS))))
def test_not_masked_and_not_paid(place: int) -> None:
    """The tester writes a report that can be sent and that says that the submission failed."""
    report = judge(*ROWS[place], seconds=8)
    assert report.result in ("failed", "raised", "not_plain", "gone", "load_failed"), report
    report.message.encode()


BAD = {
    "a module that is not here": ("import no_such_module\nassert f(1) == 1", "no_such_module"),
    "a module that is not here, in check": ("def check(c):\n    import no_such_module\n    assert c(1) == 1", "no_such_module"),
    "a name that nobody has": ("assert f(1) == three", "three"),
    "a class of the candidate's to derive from": ("class Mine(Theirs):\n    pass\nassert f(1) == 1", "Theirs"),
    "the candidate's code": ("assert f.__code__.co_argcount == 1", "__code__"),
    "an argument of the test's own class": ("class Mine: pass\nassert f(1) == 1\nf(Mine())", "Mine"),
    "the candidate's source": ("import inspect\nassert f(1) == 1\nassert 'for' not in inspect.getsource(f)", "source"),
    "an argument that is no value, later": ("assert f(1) == 1\nf(object())", "object"),
    "a fixture": ("def test_a(tmp_path):\n    assert f(1) == 1", "tmp_path"),
    "no call": ("assert True", "never called"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str) -> None:
    """An error of the test's own is not the submission's failure, and the message names it."""
    test, word = BAD[name]
    report = judge("class Theirs: pass\ndef f(x): return 1", test, "f")
    assert (report.result, word in report.message) == ("bad_test", True), report


LARGE = {
    "an integer of 40,000,000 bits": ("return (1 << 40_000_000) - 1", "(1 << 40_000_000) - 1"),
    "a list of 2,000,000": ("return [7] * 2_000_000", "[7] * 2_000_000"),
    "a text of 30 MB": ("return 'x' * 30_000_000", "'x' * 30_000_000"),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, LARGE))
def test_large_results(name: str) -> None:
    """Results are limited by bytes; those within the limit arrive complete."""
    body, expected = LARGE[name]
    report = judge(f"def f(x): {body}", f"assert f(1) == {expected}\nassert f([f(1)]) == f(2)", "f")
    assert (report.result, report.message) == ("passed", "")
