"""Converts submissions for graders that start a process per test: a program, its stdin, and the expected result.

A stdin test is the program itself. A call becomes the program and a line that prints the result as a Python literal,
since importing json would cost more than the call. A test program is appended to the submission, and exit code 0 counts
as a pass, as in such graders.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.workloads import Body


@dataclass(frozen=True)
class Program:
    """One run. Expected are `tokens` on stdout, a Python `value` there, or only `exit` code 0."""

    source: str
    stdin: bytes = b""
    asks: Literal["tokens", "value", "exit"] = "exit"
    answer: Any = None

    def accepts(self, exit_code: int, stdout: bytes) -> bool:
        """Return whether the result is the expected one."""
        if exit_code != 0:
            return False
        if self.asks == "tokens":
            return bool(stdout.split() == self.answer)
        return self.asks == "exit" or _is(stdout, self.answer)


def per_test(body: Body) -> list[Program]:
    """Return a program for each test of a submission."""
    return [_program(body["code"], test) for test in body["tests"]]


def asserted_together(body: Body) -> Program:
    """Return all calls of a submission as assertions in one program."""
    checks = [f"assert {call_expression(test)} == {test['output']!r}" for test in body["tests"]]
    return Program("\n".join([body["code"], *checks, ""]))


def with_test(code: str, test: dict[str, Any]) -> str:
    """Return a submission with its test program appended, and a call of `check` if the test has none."""
    source = f"{code}\n{test['code']}\n"
    if "def check(" in test["code"] and "\ncheck(" not in test["code"]:
        source += f"check({test['entry_point']})\n"
    return source


def call_expression(test: dict[str, Any]) -> str:
    """Return the call of a call test as Python."""
    words = [repr(value) for value in test["args"]]
    words += [f"{name}={value!r}" for name, value in test.get("kwargs", {}).items()]
    return f"{test['function']}({', '.join(words)})"


def _program(code: str, test: dict[str, Any]) -> Program:
    if test["type"] == "stdin":
        return Program(code, test["input"].encode(), "tokens", test["output"].encode().split())
    if test["type"] == "call":
        return Program(f"{code}\nprint(repr({call_expression(test)}))\n", asks="value", answer=test["output"])
    return Program(with_test(code, test))


def _is(text: bytes, value: Any) -> bool:
    try:
        return bool(ast.literal_eval(text.decode()) == value)
    except (ValueError, SyntaxError):
        return False
