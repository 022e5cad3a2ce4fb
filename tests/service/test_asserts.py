"""Assert programs through the real service: what a framework's test program may do, and what a submission may not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Service

RIGHT = "def f(x):\n    return x + 1\n"
WRONG = "def f(x):\n    return x\n"
UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(f(1), 2)\n"
FORMS = {
    "unittest.main": UNITTEST + "unittest.main()",
    "unittest.main without an end": UNITTEST + "unittest.main(exit=False)",
    "unittest, guarded": UNITTEST + "if __name__ == '__main__':\n    unittest.main()",
    "unittest, not run": UNITTEST,
    "a runner": UNITTEST + "unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))",
    "test functions": "def test_one():\n    assert f(1) == 2",
    "a test class": "class TestF:\n    def test_one(self):\n        assert f(1) == 2",
    "from solution": "from solution import f\ndef test_one():\n    assert f(1) == 2",
    "sys.exit": "import sys\nassert f(1) == 2\nsys.exit(0)",
    "exit": "assert f(1) == 2\nexit()",
    "quit": "assert f(1) == 2\nquit()",
    "SystemExit": "assert f(1) == 2\nraise SystemExit",
    "a status that says it": "import sys\nsys.exit(0 if f(1) == 2 else 1)",
    "a caught assertion": "import sys\n"
    "try:\n    assert f(1) == 2\nexcept AssertionError:\n    sys.exit(1)\nsys.exit(0)",
}


def grade(service: Service, code: str, test: str, **fields: Any) -> dict[str, Any]:
    return service.grade(code=code, tests=[{"type": "assert", "code": test, **fields}], limits={"cpu_seconds": 2})


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_test_programs(service: Service, name: str) -> None:
    """Each form accepts what is right and refuses what is wrong."""
    accepted, refused, missing = (grade(service, code, FORMS[name]) for code in (RIGHT, WRONG, "x = 1\n"))
    assert (accepted["verdict"], refused["verdict"]) == ("AC", "WA"), (accepted, refused)
    assert missing["verdict"] in ("RTE", "WA"), missing


def test_an_import_that_is_not_here_is_the_tests_fault(service: Service) -> None:
    found = grade(service, RIGHT, "import no_such_framework\nassert f(1) == 2")
    assert (found["verdict"], found["failure_kind"]) == ("IE", "bad_test")
    assert "no_such_framework" in found["failure_reason"]


def test_a_missing_function_is_the_submissions_failure(service: Service) -> None:
    test = "assert sub(3, 1) == 2\nassert add(1, 2) == 3"
    both = "def sub(a, b):\n    return a - b\ndef add(a, b):\n    return a + b\n"
    assert grade(service, both, test)["verdict"] == "AC"
    for code in ("def sub(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n", "x = 1\n"):
        assert grade(service, code, test)["verdict"] == "RTE"


def test_a_class_cannot_stand_for_the_librarys(service: Service) -> None:
    code = (
        "class Counter:\n    def __init__(self, x): pass\n    __eq__ = lambda self, other: True\ndef f(s): return 'x'\n"
    )
    for fields in ({}, {"entry_point": "f"}):
        found = grade(service, code, "assert Counter(f('ab')) == Counter('ab')", **fields)
        assert found["verdict"] in ("WA", "RTE"), found


def test_an_object_is_not_equal_to_a_plain_value(service: Service) -> None:
    code = "class P:\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return P()\n"
    assert grade(service, code, "assert f(1) == 2")["verdict"] == "WA"
    assert grade(service, code, "assert P() == P() and f(1) is not None")["verdict"] == "AC"


@pytest.mark.parametrize(
    ("code", "test", "verdict"),
    [
        ("import time\ndef f(x):\n    time.sleep(9)\n", "f(1)", "TLE"),
        ("def f(x):\n    while True: pass\n", "f(1)", "TLE"),
        ("def f(x):\n    return 10**9\n", "for _ in range(f(1) * 1000): pass", "TLE"),
    ],
)
def test_times_are_those_of_the_run(service: Service, code: str, test: str, verdict: str) -> None:
    found = service.grade(
        code=code, tests=[{"type": "assert", "code": test}], limits={"cpu_seconds": 1, "wall_seconds": 3}
    )
    assert found["verdict"] == verdict, found
    assert found["tests"][0]["wall_seconds"] >= 0.9


def test_large_results(service: Service) -> None:
    code = "def f(n):\n    return 1 << n\ndef g(n):\n    return [0] * n\n"
    test = "assert f(200_000) == 1 << 200_000\nassert g(1_500_000) == [0] * 1_500_000"
    assert grade(service, code, test)["verdict"] == "AC"


@pytest.mark.parametrize("code", ["x = 1\n" * 100_000, "("], ids=["compiles slowly", "does not compile"])
def test_a_bad_test_is_the_test_s_fault_however_far_the_candidate_is(service: Service, code: str) -> None:
    """The candidate is stopped when the test has ended, which may be before it has compiled."""
    found = service.grade(code=code, tests=[{"type": "assert", "code": "assert 1 =="}])
    assert (found["verdict"], found["failure_kind"], found["mask_sample"]) == ("IE", "bad_test", True)
