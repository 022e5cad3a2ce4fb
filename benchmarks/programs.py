"""How graders that start one process per test see a submission: a program, its stdin, and what it must do.

A stdin test is the program as it stands. A call becomes the program and a generated line that prints what is returned,
as Python writes it, since importing json would cost each test more than the call. A test program is appended to the
submission, and exit code 0 is believed: that is what such graders do.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.workloads import Body


@dataclass(frozen=True)
class Program:
    """One run. What is asked for: `tokens` on stdout, a Python `value` there, or no more than `exit` code 0."""

    source: str
    stdin: bytes = b""
    asks: Literal["tokens", "value", "exit"] = "exit"
    answer: Any = None

    def accepts(self, exit_code: int, stdout: bytes) -> bool:
        """Is this what the test asked for?"""
        if exit_code != 0:
            return False
        if self.asks == "tokens":
            return bool(stdout.split() == self.answer)
        return self.asks == "exit" or _is(stdout, self.answer)


def per_test(body: Body) -> list[Program]:
    """One program for each test of a submission."""
    return [_program(body["code"], test) for test in body["tests"]]


def asserted_together(body: Body) -> Program:
    """All calls of a submission as assertions in one program."""
    checks = [f"assert {call_expression(test)} == {test['output']!r}" for test in body["tests"]]
    return Program("\n".join([body["code"], *checks, ""]))


def with_test(code: str, test: dict[str, Any]) -> str:
    """A submission with its test program appended, and `check` called if the test leaves that to us."""
    source = f"{code}\n{test['code']}\n"
    if "def check(" in test["code"] and "\ncheck(" not in test["code"]:
        source += f"check({test['entry_point']})\n"
    return source


def call_expression(test: dict[str, Any]) -> str:
    """The call of a call test, as Python."""
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
