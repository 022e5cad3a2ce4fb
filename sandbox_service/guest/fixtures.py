"""Pytest fixtures that a test program defines, and `capsys`, for tests that are run without pytest.

Supported: functions and methods under `pytest.fixture` (also `autouse`, `name`, `params`, and with `yield`), which may
request each other. Each test gets new ones. Not supported: pytest's own fixtures other than `capsys` and
`request.param`.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple


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
        self.params: dict[str, Any] = {}

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
        for name in self._autouse():
            self._value(name)
        return {name: self._value(name) for name in names}

    def choices(self, names: list[str]) -> list[dict[str, Any]]:
        """Return the values of `params` for each run of a test, by fixture: every combination of them.

        Args:
            names: the names that the test requests.
        """
        tables: dict[str, list[Any]] = {}
        waiting, seen = [*names, *self._autouse()], {"request"}
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self._defined:
                continue
            seen.add(name)
            function, marker, instance = self._defined[name]
            waiting += required_parameters(function)[instance is not None :]
            if getattr(marker, "params", None) is not None:
                tables[name] = [
                    each.values[0] if type(each).__name__ == "ParameterSet" else each for each in marker.params
                ]
        return [dict(zip(tables, row, strict=True)) for row in itertools.product(*tables.values())]

    def _autouse(self) -> list[str]:
        return [name for name, (_, marker, _) in self._defined.items() if getattr(marker, "autouse", False)]

    def _value(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._made(name)
        return self._values[name]

    def _made(self, name: str) -> Any:
        if name in self._defined:
            function, _, instance = self._defined[name]
            bound = function if instance is None else types.MethodType(function, instance)
            needed = {each: self._needed(name, each) for each in required_parameters(bound)}
            return self._entered(bound(**needed))
        if name == "capsys":
            return self._ends.enter_context(_captured())
        raise UnknownFixtureError(name)

    def _needed(self, name: str, requested: str) -> Any:
        if requested == "request" and name in self.params:
            return types.SimpleNamespace(param=self.params[name])
        return self._value(requested)

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


class _Output(NamedTuple):
    out: str
    err: str


class _Captured:
    """Replacement for pytest's `capsys`: the text printed since the last call of `readouterr`."""

    def __init__(self, *streams: io.StringIO) -> None:
        self._streams = streams

    def readouterr(self) -> _Output:
        """Return the texts printed on stdout and stderr."""
        return _Output(*map(_taken, self._streams))


def _taken(stream: io.StringIO) -> str:
    text = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return text


@contextlib.contextmanager
def _captured() -> Iterator[_Captured]:
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    try:
        yield _Captured(sys.stdout, sys.stderr)
    finally:
        sys.stdout, sys.stderr = kept
