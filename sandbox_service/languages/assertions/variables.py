"""Copies values of a test program, so that its later statements do not change what was read, and bounds their size.

`e.add(2)` changes the list that the variable has. A call or a condition before it must keep the list as it was. In
C++ and Rust a variable has a copy from the beginning. Values that name each other could grow with each statement to
twice as much, or without end.
"""

from __future__ import annotations

from typing import Any

from sandbox_service.languages.assertions.tokens import NotPlainError

MOST_PARTS = 1_000_000  # of all values of a program
DEEPEST = 200  # lists in lists
_BYTES_OF_PART = 8
_SMALL = frozenset({bool, float, type(None)})
COPYING = frozenset({"cpp", "rust"})  # an assignment copies


class Copier:
    """Copies the values of one test program."""

    def __init__(self) -> None:
        self._left = MOST_PARTS

    def copied(self, value: Any, depth: int = 0) -> Any:
        """Return a value whose lists and tables are new.

        Args:
            value: of any plain type.
            depth: in how many lists and tables it is.

        Raises:
            NotPlainError: the values of the program are too large, or too deep.
        """
        kind = type(value)
        if kind is list or kind is dict:
            self._count(len(value) + 1)
            if depth > DEEPEST:
                raise NotPlainError("a value that is too deep")
            if kind is list:
                return [each if type(each) in _SMALL else self.copied(each, depth + 1) for each in value]
            return {key: self.copied(each, depth + 1) for key, each in value.items()}
        if kind is str:
            self._count(len(value) // _BYTES_OF_PART)
        elif kind is int:
            self._count(value.bit_length() // (8 * _BYTES_OF_PART))
        return value

    def _count(self, parts: int) -> None:
        self._left -= parts
        if self._left < 0:
            raise NotPlainError("values that are too large")
