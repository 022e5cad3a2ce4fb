"""A JSON file of records: a list of objects, or objects one after another, as pandas and others write them.

They are cut out of the text one at a time by counting brackets, so that a file may be larger than the memory. What is
cut out is parsed by `json`, and may be malformed; brackets that never close leave nothing to go on with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from sandbox_service.validation.sources import jsonlines
from sandbox_service.validation.sources.rows import MOST_ROW_BYTES, Found, Malformed

CHUNK_BYTES = 1 << 20
MARK = b"\xef\xbb\xbf"  # that a text is UTF-8, which some programs put before it

_BETWEEN = re.compile(rb"[\s,]*")
_BRACKET_OR_STRING = re.compile(rb'["{}\[\]]')
_PLAIN_END = re.compile(rb"[\s,\[\]{}\"]")


def rows(stream: IO[bytes], name: str, most_bytes: int = MOST_ROW_BYTES) -> Iterator[Found | Malformed]:
    """All records. Raises EOFError if the text ends in the middle of one, or one has more than `most_bytes`."""
    for number, text in enumerate(_Text(stream, most_bytes).values(), 1):
        yield jsonlines.found(name, number, text)


class _Text:
    """What was read of the text and is not done with."""

    def __init__(self, stream: IO[bytes], most_bytes: int) -> None:
        self._stream = stream
        self._most_bytes = most_bytes
        self._data = b""
        self._at = 0

    def values(self) -> Iterator[bytes]:
        """The text of each value: of a list, if the file is one, else of those that follow each other."""
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
            raise EOFError("it ends in the middle of the list")

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
        """Past the quotation mark that closes the string: the first one with an even number of backslashes before."""
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
        """A number or a word: no record, but one value all the same."""
        at = self._at + 1
        while (match := _PLAIN_END.search(self._data, at)) is None:
            size = len(self._data) - self._at
            at = self._more(len(self._data), needed=False)
            if len(self._data) - self._at == size:
                return len(self._data)
        return match.start()

    def _end(self, is_list: bool) -> None:
        """The list's end, after which nothing may come."""
        if not is_list or self._peek() != b"]":
            raise EOFError("a bracket closes that was never opened")
        self._at += 1
        if self._skip_between():
            raise EOFError("something follows after the end of the list")

    def _peek(self) -> bytes:
        return self._data[self._at : self._at + 1]

    def _skip_between(self) -> bool:
        """On to the next value; whether there is one."""
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
        """Read on, and forget what is done with; where `at` is now. Raises EOFError if there is nothing, but needed.

        As much again as there is: a long value is then copied a few times, not once a chunk.
        """
        pending = self._data[self._at :]
        if len(pending) > self._most_bytes:
            raise EOFError(f"a record has more than {self._most_bytes} bytes, or its brackets never close")
        chunk = self._stream.read(max(CHUNK_BYTES, len(pending)))
        if needed and not chunk:
            raise EOFError("it ends in the middle of a record")
        at -= self._at
        self._data, self._at = pending + chunk, 0
        return at
