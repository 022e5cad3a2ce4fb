"""Runs the tests that a test program defines for a framework: `unittest` cases, and functions and classes for pytest.

A framework catches what a test raises. This module keeps the exceptions that `unittest` records, so that they decide
the result as if they had not been caught. Tests that the program defines and does not run are run after it.
"""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import fixtures

FILENAME = "test.py"


class FrameworkTests:
    """The framework tests of one program, and the exceptions that a framework recorded."""

    def __init__(self, test: str, namespace: dict[str, Any]) -> None:
        self.recorded: list[BaseException] = []
        self.refused: str | None = None
        self._namespace = namespace
        self._results: list[Any] = []
        self._runs_itself = False
        self._unittest: Any = _module("unittest") if "unittest" in test else None
        if self._unittest is not None:
            self._watch(self._unittest.TestResult)
        pytest: Any = _module("pytest") if "pytest" in test else None
        if pytest is not None:
            pytest.main = self._pytest_main

    def _watch(self, kind: Any) -> None:
        """Record each result object that is created, and each exception added to it."""
        original_init, recorded = kind.__init__, self.recorded

        def init(result: Any, *args: Any, **kwargs: Any) -> None:
            original_init(result, *args, **kwargs)
            self._results.append(result)

        def keep(method: Callable[..., None], place: int) -> Callable[..., None]:
            def add(result: Any, *args: Any) -> None:
                error = args[place]
                recorded.extend([error[1]] if error is not None else [])
                method(result, *args)

            return add

        kind.__init__ = init
        for name, place in (("addError", 1), ("addFailure", 1), ("addSubTest", 2)):
            setattr(kind, name, keep(getattr(kind, name), place))

    def _pytest_main(self, *_: Any, **__: Any) -> int:
        """Replacement for `pytest.main`, which would look for files. The first exception ends the run."""
        self._runs_itself = True
        self._run_functions({name for name in self._namespace if name.lower().startswith("test")})
        return 0

    def run(self, uncalled: set[str]) -> None:
        """Run the tests that the program defines and does not run.

        Args:
            uncalled: names that the program defines and never reads.
        """
        if self._unittest is not None and not self._results:
            self._run_cases()
        if not self._runs_itself:
            self._run_functions(uncalled)

    def succeeded(self) -> bool:
        """Return True if every `unittest` test that was run succeeded."""
        return not self.recorded and all(result.wasSuccessful() for result in self._results)

    def _run_cases(self) -> None:
        cases = [kind for kind in self._defined(type) if issubclass(kind, self._unittest.TestCase)]
        loader = self._unittest.defaultTestLoader
        suite = self._unittest.TestSuite(map(loader.loadTestsFromTestCase, cases))
        if suite.countTestCases():
            suite.run(self._unittest.TestResult())

    def _defined(self, kind: type) -> list[Any]:
        return [value for value in list(self._namespace.values()) if isinstance(value, kind) and _is_ours(value)]

    def _run_functions(self, names: set[str]) -> None:
        for name, value in list(self._namespace.items()):
            if name not in names or not _is_ours(value):
                continue
            if isinstance(value, types.FunctionType) and name.startswith("test"):
                self._run_function(value, getattr(value, "pytestmark", []))
            elif isinstance(value, type) and name.startswith("Test") and not self._is_case(value):
                for method in [each for each in vars(value) if each.startswith("test")]:
                    self._run_method(value, method)

    def _is_case(self, kind: type) -> bool:
        return self._unittest is not None and issubclass(kind, self._unittest.TestCase)

    def _run_method(self, kind: type, name: str) -> None:
        instance = kind()
        marks = [*getattr(kind, "pytestmark", []), *getattr(vars(kind)[name], "pytestmark", [])]
        for prepare in ("setup_class", "setup_method", "setup"):
            if hasattr(instance, prepare):
                function = getattr(instance, prepare)
                function(*[None] * len(fixtures.required_parameters(function)))
        self._run_function(getattr(instance, name), marks, instance)
        if hasattr(instance, "teardown_method"):
            instance.teardown_method(*[None] * len(fixtures.required_parameters(instance.teardown_method)))

    def _run_function(self, function: Any, marks: list[Any], instance: Any = None) -> None:
        if any(self._applies(mark) for mark in marks if mark.name in ("skip", "skipif")):
            return
        may_fail = any(self._applies(mark) for mark in marks if mark.name == "xfail")
        used = [name for mark in marks if mark.name == "usefixtures" for name in mark.args]
        for given in _parameters(marks):
            required = [name for name in fixtures.required_parameters(function) if name not in given]
            for params in fixtures.Fixtures(self._namespace, instance).choices([*used, *required]):
                try:
                    self._run_once(function, instance, given, params, (used, required))
                except fixtures.UnknownFixtureError as error:
                    self.refused = f"{function.__name__} needs pytest fixtures that are not available: {error}"
                    return
                except BaseException as error:
                    if not is_skip(error) and not (may_fail and isinstance(error, Exception)):
                        raise

    def _run_once(
        self,
        function: Any,
        instance: Any,
        given: dict[str, Any],
        params: dict[str, Any],
        names: tuple[list[str], list[str]],
    ) -> None:
        """Run a test with one row of its arguments and one choice of its fixtures' params."""
        used, required = names
        with fixtures.Fixtures(self._namespace, instance) as found:
            found.params = params
            found.for_test(used)
            result = function(**given, **found.for_test(required))
            if isinstance(result, types.CoroutineType):
                import asyncio

                asyncio.run(result)

    def _applies(self, mark: Any) -> bool:
        """Return True if a mark has no condition (`skip`, `xfail`), or one that holds; text is evaluated."""
        conditions = list(mark.args[:1]) if mark.name != "skip" else []
        if "condition" in mark.kwargs:
            conditions = [mark.kwargs["condition"]]
        return all(eval(each, self._namespace) if isinstance(each, str) else each for each in conditions)


def is_skip(error: BaseException) -> bool:
    """Return True for the exception of `pytest.skip` and `pytest.importorskip`; no submission can raise it.

    Args:
        error: the exception.
    """
    pytest: Any = sys.modules.get("pytest")
    return pytest is not None and isinstance(error, pytest.skip.Exception)


def _module(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:  # the test's own import will say so
        return None


def _is_ours(value: Any) -> bool:
    """Return True for a class or function defined in the test's own text."""
    if not isinstance(value, (type, types.FunctionType)) or value.__module__ != "__main__":
        return False
    return isinstance(value, type) or value.__code__.co_filename == FILENAME


def _parameters(marks: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the arguments of each run, as given by `pytest.mark.parametrize`."""
    tables = [list(_table(*mark.args[:2])) for mark in marks if mark.name == "parametrize"]
    for row in itertools.product(*tables):
        yield {name: value for part in row for name, value in part.items()}


def _table(names: Any, rows: Any) -> Iterator[dict[str, Any]]:
    fields = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    for row in rows:
        items = getattr(row, "values", row) if type(row).__name__ == "ParameterSet" else row
        single = len(fields) == 1 and type(row).__name__ != "ParameterSet"
        yield dict(zip(fields, [items] if single else items, strict=True))
