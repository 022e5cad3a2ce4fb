"""Attributes and items of the submission's objects that a test may change in place: `s.items.append(1)`, `g[0][1] = 2`.

The test gets a copy of such a value. Before each further request, the copies that have changed are sent back, and the
submission's own value gets their content. Only for a test whose text changes the value of an attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codec import MUTABLE_TYPES, NotPlainError
from tester_codec import TesterEncoder

if TYPE_CHECKING:
    from connection import Connection

MOST = 32
MOST_CHARACTERS = 1 << 16
"""Of a copy as text; larger ones are not sent back."""


class LentValues:
    """The copies of one connection, the oldest first."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._copies: list[tuple[int, str | None, Any, Any, str]] = []

    def add(self, number: int, name: str | None, key: Any, value: Any) -> None:
        """Remember the copy of the value of an attribute or an item, if the test may change it.

        Args:
            number: number of the object.
            name: the attribute; None for an item.
            key: the item's key.
            value: the copy.
        """
        if type(value) not in MUTABLE_TYPES or not self._connection.text.changes_attributes():
            return
        text = self._text_of(value)
        if text is not None:
            self._copies = [*self._copies[1 - MOST :], (number, name, key, value, text)]

    def give_back(self) -> None:
        """Send the copies that the test has changed since they were made or sent."""
        if not self._copies:
            return
        copies, self._copies = self._copies, []  # the requests made here have nothing to give back
        for place, (number, name, key, value, before) in enumerate(copies):
            text = self._text_of(value)
            if text is None or text == before:
                continue
            if name is None:
                self._connection.request_with(f"fillitem {number}", (key, value))
            else:
                self._connection.request_with(f"fill {number} {name}", value)
            copies[place] = number, name, key, value, text
        self._copies = copies

    def _text_of(self, value: Any) -> str | None:
        encoder = TesterEncoder(self._connection)
        try:
            text = encoder.message(encoder.value(value))
        except NotPlainError:
            return None
        return text if len(text) <= MOST_CHARACTERS else None
