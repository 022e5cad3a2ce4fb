"""Which libraries a submission finds, and which only a test program does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox_service.languages import shown_libraries
from tests.conftest import Service, running_service

PYTHON = "/usr/bin/python3"
SORTED = "from sortedcontainers import SortedList\nprint(*SortedList([3, 1, 2]))"


def verdict(service: Service, code: str, output: str, **limits: Any) -> str:
    test = {"type": "stdin", "input": "", "output": output}
    return str(service.grade(code=code, tests=[test], limits=limits)["verdict"])


def need(name: str) -> None:
    if not shown_libraries.found(PYTHON, (name,)):
        pytest.skip(f"python3-{name} is not installed")


def test_numpy_and_sortedcontainers_are_found(service: Service) -> None:
    need("sortedcontainers")
    assert verdict(service, SORTED, "1 2 3") == "AC"
    assert verdict(service, "import numpy as np\nprint(int(np.arange(5).sum()))", "10") == "AC"
    assert verdict(service, "import numpy.linalg\nprint(round(numpy.linalg.det([[1, 2], [3, 4]])))", "-2") == "AC"


def test_calls_and_assertions_find_them_too(service: Service) -> None:
    need("sortedcontainers")
    code = "from sortedcontainers import SortedDict\ndef f(n):\n    return list(SortedDict.fromkeys(range(n)))"
    call = {"type": "call", "function": "f", "args": [2], "output": [0, 1]}
    check = {"type": "assert", "code": "from sortedcontainers import SortedList\nassert SortedList(f(2)) == [0, 1]"}
    assert [service.grade(code=code, tests=[test])["verdict"] for test in (call, check)] == ["AC", "AC"]


@pytest.mark.parametrize("name", ["pytest", "_pytest", "pluggy", "setuptools", "pip", "yaml", "apt", "cryptography"])
def test_nothing_else_is_found(service: Service, name: str) -> None:
    code = f"try:\n    import {name}\nexcept ModuleNotFoundError as error:\n    print(error.name)"
    assert verdict(service, code, name) == "AC"


def test_the_setting_decides() -> None:
    need("sortedcontainers")
    with running_service(libraries="sortedcontainers", slots=1) as service:
        assert verdict(service, SORTED, "1 2 3") == "AC"
        assert verdict(service, "import numpy", "") == "RTE"
        assert set(service.client.get("/healthz")[1]["libraries"]) == {"sortedcontainers"}


def test_the_service_says_which_there_are(service: Service) -> None:
    status, answer = service.client.get("/healthz")
    assert (status, answer["status"]) == (200, "ok")
    assert answer["libraries"]["numpy"] == shown_libraries.found(PYTHON, ("numpy",))[0].version


PYTEST = """
import pytest
@pytest.mark.parametrize("n", [1, 2])
def test_f(n):
    assert f(n) == n
def check(candidate):
    with pytest.raises(ZeroDivisionError):
        1 / 0
    assert candidate(1) == pytest.approx(1.0000000001)
"""


def test_a_test_program_may_import_pytest(service: Service) -> None:
    need("pytest")
    test = {"type": "assert", "code": PYTEST, "entry_point": "f"}
    assert service.grade(code="def f(n):\n    return n", tests=[test])["verdict"] == "AC"
    assert service.grade(code="def f(n):\n    return n + 1", tests=[test])["verdict"] == "WA"
    assert service.grade(code="import pytest\ndef f(n):\n    return n", tests=[test])["verdict"] == "RTE"


def test_what_a_library_needs_is_found_with_it() -> None:
    need("pytest")
    names = {package.name for package in shown_libraries.found(PYTHON, ("pytest",))}
    assert names >= {"pytest", "pluggy", "iniconfig"}
    assert shown_libraries.found(PYTHON, ("no-such-library",)) == ()
    assert shown_libraries.found("/no/such/python", ("numpy",)) == ()
    json.dumps(shown_libraries.paths(shown_libraries.found(PYTHON, ("numpy",))))
