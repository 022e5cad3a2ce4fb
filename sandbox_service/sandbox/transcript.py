"""The transcript of an interaction: its beginning, line by line, each marked with its writer.

The relay, or its C part, makes the text; this module keeps it within a bound.
"""

from __future__ import annotations


class Transcript:
    """The beginning of a conversation, with a mark of its flow before each line."""

    def __init__(self, most: int) -> None:
        """Args:
        most: bytes after which nothing is added.
        """
        self._text = bytearray()
        self._most = most
        self._last = -1

    @property
    def state(self) -> tuple[int, int, bool]:
        """The state for `_host`: the room that is left, the last flow, and whether its line has ended."""
        return self._most - len(self._text), self._last, not self._text or self._text.endswith(b"\n")

    def extend(self, text: bytes, last: int) -> None:
        """Add the lines that `_host` made of pieces.

        Args:
            text: the text.
            last: the flow of the last piece.
        """
        self._text += text
        self._last = last

    def text(self) -> bytes:
        """Return the recorded text."""
        return bytes(self._text)
