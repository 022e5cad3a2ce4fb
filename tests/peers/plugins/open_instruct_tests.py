"""A pytest plugin for open-instruct's tests of its code server: its functions, answered by this service.

`open_instruct.code_utils.code_utils` is replaced by functions of the same names that ask the service.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any

import httpx
from report import refused

URL = os.environ["PEERS_URL"]
SECONDS = 600.0


def _asked(path: str, program: str, tests: Any, max_execution_time: float) -> tuple[list[int], list[float]]:
    body = {"program": program, "tests": tests, "max_execution_time": max_execution_time}
    response = httpx.post(f"{URL}{path}", json=body, timeout=SECONDS)
    if response.status_code == 422:
        refused(response.text[:300])
    response.raise_for_status()
    answer = response.json()
    return answer["results"], answer["runtimes"]


def get_successful_tests_fast(program: str, tests: Any, max_execution_time: float = 1.0) -> Any:
    """Return results and runtimes of assertions."""
    return _asked("/test_program", program, tests, max_execution_time)


def get_successful_tests_stdio(program: str, tests: Any, max_execution_time: float = 1.0) -> Any:
    """Return results and runtimes of inputs and outputs."""
    return _asked("/test_program_stdio", program, tests, max_execution_time)


def get_successful_tests_functional(program: str, tests: Any, max_execution_time: float = 1.0) -> Any:
    """Return results and runtimes of calls."""
    return _asked("/test_program", program, tests, max_execution_time)


def decode_tests(tests: Any) -> Any:
    """Return the tests as they are: the service decodes them."""
    return tests


def pytest_configure() -> None:
    """Put the functions in place of open-instruct's module."""
    module = types.ModuleType("open_instruct.code_utils.code_utils")
    for function in (
        get_successful_tests_fast,
        get_successful_tests_stdio,
        get_successful_tests_functional,
        decode_tests,
    ):
        setattr(module, function.__name__, function)
    for name in ("open_instruct", "open_instruct.code_utils"):
        package = types.ModuleType(name)
        package.__path__ = []
        sys.modules[name] = package
    sys.modules["open_instruct.code_utils.code_utils"] = module
    sys.modules["open_instruct.code_utils"].code_utils = module  # type: ignore[attr-defined]
