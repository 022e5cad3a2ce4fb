"""The tester's record of a remote object: its number, its kind, and how the test obtained it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from connection import Connection


PLAIN_BASES = {kind.__name__: kind for kind in (int, float, str, bytes, tuple, list, dict, set, frozenset)}
"""Plain classes that a class of the candidate's may extend so that its instances are compared by their content."""

RETURNED, DERIVED, MADE = 0, 1, 2
"""Ranks. RETURNED: a function's result. DERIVED: the result of an operator on a ranked object, or an attribute of a
named class. MADE: created by the test from a named class."""

SORTS = ("class", "error", "function", "iterator", "instance", "coroutine", "async_iterator")
"""Kinds of object that a handle may refer to."""

PLAIN_DUNDERS = frozenset(
    ("__dict__", "__doc__", "__qualname__", "__annotations__", "__defaults__", "__kwdefaults__", "__signature__")
)
"""Dunder attributes that a test may read, because they are data that describe the object."""

NOT_HERE = frozenset(("__code__", "__closure__", "__globals__"))
"""Attributes that no handle provides; a test that reads them cannot be run here."""


class HandleState:
    """State of a `RemoteHandle`.

    `bound`: the name that the test reads it by. `origin`: for an object that the test made, the class's name.
    `tainted`: an operator has sent it a plain operand, so its own answers may be that operand.
    """

    __slots__ = (
        "base",
        "bases",
        "bound",
        "connection",
        "helper",
        "name",
        "number",
        "origin",
        "rank",
        "sort",
        "tainted",
    )

    def __init__(self, connection: Connection, number: int, sort: str, name: str) -> None:
        self.connection = connection
        self.number = number
        self.sort = sort
        self.name = name
        self.bases: list[tuple[str, list[str]]] = []
        self.base: type | None = None
        self.bound = ""
        self.helper = False
        self.origin = ""
        self.rank = RETURNED
        self.tainted = False
