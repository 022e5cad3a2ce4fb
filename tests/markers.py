"""Marks each test with what it starts (a jail, Redis, a browser, vLLM), found by what its code can reach.

A helper that starts one of these is decorated with `needs`. A test is marked if its function or one of its fixtures
refers to such a helper, directly or through other functions and classes in tests/. What the search misses (a helper
that is called through a table, for example) fails when it runs: a decorated helper raises in a test without the mark.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import pytest
from _pytest.mark import ParameterSet

FOLDER = str(Path(__file__).parent)

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

running: pytest.Item | None = None
"""The test that runs now. Set by conftest.py."""

_direct: dict[int, tuple[object, list[object]]] = {}
_marks: dict[int, frozenset[str]] = {}


def needs(*marks: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Say that a helper starts what these markers stand for."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            missing = [mark for mark in marks if running is not None and running.get_closest_marker(mark) is None]
            assert not missing, f"{running} is not marked {missing}: mark it by hand, or refer to {function} directly"
            return function(*args, **kwargs)

        checked.needs = marks  # type: ignore[attr-defined]
        return checked

    return decorate


def some(things: Iterable[T], first: Container[T]) -> list[ParameterSet]:
    """Parameters for `parametrize`: those that are not in `first` are marked `full`.

    Args:
        things: All parameters.
        first: The parameters that `make test` runs too.

    Returns:
        One parameter set for each thing, in the same order.
    """
    return [pytest.param(thing, marks=() if thing in first else pytest.mark.full) for thing in things]


def one_in(step: int, things: Iterable[T]) -> list[ParameterSet]:
    """Parameters for `parametrize`, of which `make test` runs an even share; the others are marked `full`.

    Args:
        step: The first of each so many is in the share.
        things: All parameters.

    Returns:
        One parameter set for each thing, in the same order.
    """
    return [pytest.param(thing, marks=pytest.mark.full if place % step else ()) for place, thing in enumerate(things)]


def crosswise(things: Iterable[object], others: Iterable[object]) -> list[ParameterSet]:
    """Pairs for `parametrize`; `make test` runs each thing with one of the others, which take turns.

    Args:
        things: The first parameter of a pair.
        others: The second parameter of a pair.

    Returns:
        Each thing with each of the others, all but one of them marked `full`.
    """
    turns = [*others]
    return [
        pytest.param(thing, other, marks=pytest.mark.full if (place - turn) % len(turns) else ())
        for place, thing in enumerate(things)
        for turn, other in enumerate(turns)
    ]


def selected(request: pytest.FixtureRequest, name: str) -> list[Any]:
    """Return the parameters `name` of the selected tests for which a fixture is made, so that it prepares no others.

    Args:
        request: The fixture's request.
        name: The parameter's name.

    Returns:
        One for each test of the fixture's module that uses the fixture and has this parameter, in order.
    """
    own = [item for item in request.session.items if item.path == request.path]
    calls = [
        item.callspec.params
        for item in own
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and request.fixturename in item.fixturenames
    ]
    return [call[name] for call in calls if name in call]


def mark(items: Iterable[pytest.Item]) -> None:
    """Add to each test the markers of all that it reaches."""
    for item in items:
        for name in sorted(frozenset().union(*map(reached, roots(item)))):
            item.add_marker(name)


def roots(item: pytest.Item) -> Iterator[object]:
    """The functions that run for a test: its own, its fixtures', and those among its parameters."""
    yield getattr(item, "function", None)
    for definitions in getattr(item, "_fixtureinfo").name2fixturedefs.values():  # noqa: B009 private to pytest
        yield from (definition.func for definition in definitions)
    if (call := getattr(item, "callspec", None)) is not None:
        yield from call.params.values()


def reached(root: object) -> frozenset[str]:
    """The markers of all that a function or class refers to, within tests/."""
    if id(root) not in _marks:
        found: set[str] = set()
        seen, waiting = {id(root)}, [root]
        while waiting:
            thing = waiting.pop()
            found.update(getattr(thing, "needs", ()) if isinstance(thing, FunctionType) else ())
            for other in direct(thing):
                if id(other) not in seen:
                    seen.add(id(other))
                    waiting.append(other)
        _marks[id(root)] = frozenset(found)
        direct(root)  # which keeps it, so that its id stays its own
    return _marks[id(root)]


def direct(thing: object) -> list[object]:
    """The functions and classes in tests/ that this one refers to."""
    if id(thing) not in _direct:
        _direct[id(thing)] = thing, list(_referred(thing))
    return _direct[id(thing)][1]


def _referred(thing: object) -> Iterator[object]:
    if isinstance(thing, type):
        if _is_ours(thing):
            yield from thing.__bases__
            for member in vars(thing).values():
                inner = getattr(member, "fget", None) or getattr(member, "__func__", member)
                yield from _ours(inner)
    elif isinstance(thing, FunctionType):
        yield from _ours(getattr(thing, "__wrapped__", None))
        for cell in thing.__closure__ or ():
            try:
                yield from _ours(cell.cell_contents)
            except ValueError:  # not filled yet
                continue
        names = set(_names(thing.__code__))
        values = [thing.__globals__[name] for name in names if name in thing.__globals__]
        modules = [value for value in values if isinstance(value, ModuleType) and value.__name__.startswith("tests.")]
        for value in (*values, *(vars(module)[name] for module in modules for name in names if name in vars(module))):
            yield from _ours(value)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _ours(value: object) -> Iterator[object]:
    """A function or class of tests/, or those in a list or table."""
    if isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            if isinstance(each, FunctionType | type):
                yield from _ours(each)
    elif isinstance(value, FunctionType | type) and _is_ours(value):
        yield value


def _is_ours(thing: FunctionType | type) -> bool:
    if isinstance(thing, FunctionType):
        return hasattr(thing, "__wrapped__") or thing.__code__.co_filename.startswith(FOLDER)
    return thing.__module__.startswith("tests.")
