"""Tells whether calls that are made one after the other, each with arguments of its own, do what a test program does.

The driver makes a call where its result is compared. A program can make it earlier, compare one result twice, pass one
list to two calls, or change a list that it has passed. A submission that keeps or changes what it gets then has other
results. Such programs are refused. An object of a class that several calls use has a number, and the
driver keeps it.

Not covered: C++ passes copies or references as the submission's parameters say. Here each call gets a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_service.languages.assertions.expressions import MUTABLY, Node
from sandbox_service.languages.assertions.tokens import NotPlainError
from sandbox_service.languages.drivers.values import Call

_PASSING_COPIES = frozenset({"cpp", "rust"})  # in Rust a call changes only what it gets by `&mut`
_RETURNING_COPIES = frozenset({"cpp", "rust"})  # no later call changes a result that is there


@dataclass
class _Bound:
    """A call whose result a variable has."""

    node: Node  # is kept, so that its identity stays its own
    call: Call
    moment: int
    is_compared: bool = False


class Order:
    """The calls of a test program that were read, and the values that it has passed to them.

    Attributes:
        now: how many calls there were.
    """

    def __init__(self, language: str) -> None:
        """Begin without calls.

        Args:
            language: that of the program.
        """
        self._language = language
        self.now = self._latest = 0
        self._bound: dict[int, _Bound] = {}
        self._objects: dict[int, tuple[int, Node]] = {}
        self._lent: dict[int, Any] = {}

    def bind(self, node: Node, call: Call) -> None:
        """Note that a variable gets the result of a call.

        Args:
            node: the call as it is written.
            call: what it calls.
        """
        self.now += 1
        self._bound[id(node)] = _Bound(node, call, self.now)

    def is_bound(self, node: Node) -> bool:
        """Return whether a variable has the result of this call."""
        return id(node) in self._bound

    def compare(self, node: Node) -> Call:
        """Return the call whose result a variable has, which is compared now.

        Args:
            node: the call as it is written.

        Raises:
            NotPlainError: it was compared before, or later calls were.
        """
        bound = self._bound[id(node)]
        if bound.is_compared:
            raise NotPlainError("a result is compared twice")
        if bound.moment < self._latest:
            raise NotPlainError("results are compared in another order than that of their calls")
        bound.is_compared = True
        self._latest = bound.moment
        return bound.call

    def call(self) -> None:
        """Note that a call is made and its result compared at once."""
        self.now += 1
        self._latest = self.now

    def check_result(self, expected: Any) -> None:
        """Refuse a result that a later call may have changed: the one that was compared last.

        Args:
            expected: what it is compared with.

        Raises:
            NotPlainError: there was a later call, and the result is no plain value.
        """
        is_changed = self._latest < self.now and self._language not in _RETURNING_COPIES
        if is_changed and isinstance(expected, list | dict):
            raise NotPlainError("a call may change the result of an earlier one")

    def number(self, node: Node) -> int:
        """Return the number of an object, from 1.

        Args:
            node: the expression that makes it.
        """
        return self._objects.setdefault(id(node), (len(self._objects) + 1, node))[0]

    def lend(self, arguments: Iterable[Node], known: Mapping[str, Any]) -> None:
        """Note the values of variables that a call gets.

        Args:
            arguments: of the call.
            known: the values of variables.

        Raises:
            NotPlainError: another call got one before.
        """
        found: dict[int, Any] = {}
        for node in arguments:
            for value in _values(node, known, is_changed=self._language not in _PASSING_COPIES):
                self.check_unchanged(value)
                found |= {id(each): each for each in containers(value)}
        self._lent |= found

    def check_unchanged(self, value: Any) -> None:
        """Refuse the value of a variable that a call may have changed.

        Args:
            value: the value that the program gave it.

        Raises:
            NotPlainError: a call got it.
        """
        if self._lent and any(id(each) in self._lent for each in containers(value)):
            raise NotPlainError("a call may change a value that is used again")

    def check_literal(self, node: Node, known: Mapping[str, Any]) -> None:
        """Refuse an expression with a value of a variable that a call may have changed.

        Args:
            node: the expression.
            known: the values of variables.

        Raises:
            NotPlainError: a call got the value.
        """
        for value in _values(node, known, is_changed=True):
            self.check_unchanged(value)

    def end(self) -> None:
        """Raise NotPlainError if the program makes a call whose result is not compared."""
        if not all(each.is_compared for each in self._bound.values()):
            raise NotPlainError("the result of a call is not compared")


def _values(node: Node, known: Mapping[str, Any], *, is_changed: bool) -> Iterator[Any]:
    """Yield the values of variables in an expression: all of them, or those behind `&mut`."""
    if node.kind == "name" and is_changed and node.text in known:
        yield known[node.text]
    for part in node.parts:
        yield from _values(part, known, is_changed=is_changed or node.text == MUTABLY)


def names(node: Node) -> Iterator[str]:
    """Yield the names in an expression.

    Args:
        node: the expression.
    """
    if node.kind == "name":
        yield node.text
    for part in node.parts:
        yield from names(part)


def containers(value: Any) -> Iterator[Any]:
    """Yield the lists and tables that a value is and has.

    Args:
        value: of any plain type.
    """
    if isinstance(value, list | dict):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from containers(each)
