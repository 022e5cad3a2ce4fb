"""Pytest fixtures that a test program defines, and `capsys`, for tests that are run without pytest.

Supported: functions and methods under `pytest.fixture` (also `autouse`, `name`, and with `yield`), which may request
each other. Each test gets new ones. Not supported: `params`, and pytest's own fixtures other than `capsys`.
"""

from __future__ import annotations

import contextlib
import io
import sys
import types
from collections.abc import Iterator
from typing import Any


class UnknownFixtureError(Exception):
    """Raised when a test requests a fixture that neither the program nor this module defines."""


class Fixtures:
    """The fixtures of one test, as a context manager that finishes the fixtures with `yield` on exit."""

    def __init__(self, namespace: dict[str, Any], instance: Any) -> None:
        self._defined = dict(_defined(namespace.values(), None))
        if instance is not None:
            self._defined.update(_defined(vars(type(instance)).values(), instance))
        self._values: dict[str, Any] = {}
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Fixtures:
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.close()

    def for_test(self, names: list[str]) -> dict[str, Any]:
        """Return fixtures by name; `autouse` fixtures are created first.

        Args:
            names: the names that the test requests.

        Raises:
            UnknownFixtureError: a fixture is not defined; the message is its name.
        """
        for name, (_, marker, _) in self._defined.items():
            if getattr(marker, "autouse", False):
                self._value(name)
        return {name: self._value(name) for name in names}

    def _value(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._made(name)
        return self._values[name]

    def _made(self, name: str) -> Any:
        if name in self._defined:
            function, marker, instance = self._defined[name]
            if getattr(marker, "params", None) is None:
                bound = function if instance is None else types.MethodType(function, instance)
                return self._entered(bound(**{each: self._value(each) for each in required_parameters(bound)}))
        elif name == "capsys":
            return self._ends.enter_context(_captured())
        raise UnknownFixtureError(name)

    def _entered(self, value: Any) -> Any:
        if not isinstance(value, types.GeneratorType):
            return value
        self._ends.callback(next, value, None)
        return next(value)


def _defined(values: Any, instance: Any) -> Iterator[tuple[str, tuple[Any, Any, Any]]]:
    """Yield names with function, marker and instance. pytest wraps a fixture in a function, from 8.4 in a class."""
    for value in list(values):
        marker = getattr(value, "_pytestfixturefunction", None) or getattr(value, "_fixture_function_marker", None)
        wrapped = getattr(value, "__pytest_wrapped__", None)
        function = getattr(wrapped, "obj", None) or getattr(value, "_fixture_function", None)
        if marker is not None and isinstance(function, types.FunctionType):
            yield marker.name or function.__name__, (function, marker, instance)


def required_parameters(function: Any) -> list[str]:
    """Return the names of the parameters without defaults.

    Args:
        function: any callable.
    """
    import inspect

    parameters = inspect.signature(function).parameters.values()
    return [
        each.name
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]


class _Captured:
    """Replacement for pytest's `capsys`: the text printed since the last call of `readouterr`."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    def readouterr(self) -> Any:
        """Return the output as a namespace with `out` and `err`."""
        text = self._stream.getvalue()
        self._stream.seek(0)
        self._stream.truncate()
        return types.SimpleNamespace(out=text, err="")


@contextlib.contextmanager
def _captured() -> Iterator[_Captured]:
    kept, sys.stdout = sys.stdout, io.StringIO()
    try:
        yield _Captured(sys.stdout)
    finally:
        sys.stdout = kept
