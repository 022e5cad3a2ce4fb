"""Reads a JSON file of records: a list of objects, or concatenated objects, as pandas and other tools write them.

Records are cut out of the text one at a time by counting brackets, so that a file may be larger than memory, and parsed
by `json`. A record may be malformed; brackets that never close end the reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from sandbox_service.validation.sources import jsonlines
from sandbox_service.validation.sources.rows import MOST_ROW_BYTES, Found, Malformed

CHUNK_BYTES = 1 << 20
MARK = b"\xef\xbb\xbf"  # byte order mark, which some programs write before UTF-8

_BETWEEN = re.compile(rb"[\s,]*")
_BRACKET_OR_STRING = re.compile(rb'["{}\[\]]')
_PLAIN_END = re.compile(rb"[\s,\[\]{}\"]")


def rows(stream: IO[bytes], name: str, most_bytes: int = MOST_ROW_BYTES) -> Iterator[Found | Malformed]:
    """Yield all records.

    Args:
        stream: The bytes.
        name: Name of the file, for messages.
        most_bytes: Longest record.

    Raises:
        EOFError: The text ends within a record, or a record is too long.
    """
    for number, text in enumerate(_Text(stream, most_bytes).values(), 1):
        yield jsonlines.found(name, number, text)


class _Text:
    """The part of the text that was read and is still needed."""

    def __init__(self, stream: IO[bytes], most_bytes: int) -> None:
        self._stream = stream
        self._most_bytes = most_bytes
        self._data = b""
        self._at = 0

    def values(self) -> Iterator[bytes]:
        """Yield the text of each value, of a list or of concatenated values."""
        self._data = self._stream.read(max(CHUNK_BYTES, len(MARK))).removeprefix(MARK)
        self._skip_between()
        is_list = self._peek() == b"["
        self._at += is_list
        while self._skip_between():
            if self._peek() in (b"]", b"}"):
                self._end(is_list)
                return
            yield self._value()
        if is_list:
            raise EOFError("the file ends in the middle of the list")

    def _value(self) -> bytes:
        end = self._end_of_value()
        value, self._at = self._data[self._at : end], end
        return value

    def _end_of_value(self) -> int:
        first = self._peek()
        if first == b'"':
            return self._end_of_string(self._at)
        return self._end_of_brackets() if first in (b"{", b"[") else self._end_of_plain()

    def _end_of_brackets(self) -> int:
        depth, at = 0, self._at
        while True:
            match = _BRACKET_OR_STRING.search(self._data, at)
            if match is None:
                at = self._more(len(self._data))
                continue
            at = match.end()
            if match[0] == b'"':
                at = self._end_of_string(match.start())
                continue
            depth += 1 if match[0] in (b"{", b"[") else -1
            if depth == 0:
                return at

    def _end_of_string(self, start: int) -> int:
        """The end of a string: the first quotation mark after an even number of backslashes."""
        searched = start + 1
        while True:
            quote = self._data.find(b'"', searched)
            if quote < 0:
                before = self._at
                searched = self._more(len(self._data))
                start -= before - self._at
                continue
            backslashes = self._backslashes(start + 1, quote)
            searched = quote + 1
            if backslashes % 2 == 0:
                return searched

    def _backslashes(self, start: int, end: int) -> int:
        at = end
        while at > start and self._data[at - 1] == 0x5C:
            at -= 1
        return end - at

    def _end_of_plain(self) -> int:
        """The end of a number or a word, which is a value but not a record."""
        at = self._at + 1
        while (match := _PLAIN_END.search(self._data, at)) is None:
            size = len(self._data) - self._at
            at = self._more(len(self._data), needed=False)
            if len(self._data) - self._at == size:
                return len(self._data)
        return match.start()

    def _end(self, is_list: bool) -> None:
        """Check that nothing follows the end of the list."""
        if not is_list or self._peek() != b"]":
            raise EOFError("a bracket is closed that was not opened")
        self._at += 1
        if self._skip_between():
            raise EOFError("something follows after the end of the list")

    def _peek(self) -> bytes:
        return self._data[self._at : self._at + 1]

    def _skip_between(self) -> bool:
        """Skip to the next value; false if there is none."""
        while True:
            match = _BETWEEN.match(self._data, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._data):
                return True
            size = len(self._data) - self._at
            self._more(self._at, needed=False)
            if len(self._data) - self._at == size:
                return False

    def _more(self, at: int, *, needed: bool = True) -> int:
        """Read more and drop finished text.

        Doubles the buffer, so that a long value is copied a few times instead of once a chunk.

        Returns:
            The new place of `at`.

        Raises:
            EOFError: The file ends, and more is needed.
        """
        pending = self._data[self._at :]
        if len(pending) > self._most_bytes:
            raise EOFError(f"a record has more than {self._most_bytes} bytes, or its brackets never close")
        chunk = self._stream.read(max(CHUNK_BYTES, len(pending)))
        if needed and not chunk:
            raise EOFError("the file ends in the middle of a record")
        at -= self._at
        self._data, self._at = pending + chunk, 0
        return at
