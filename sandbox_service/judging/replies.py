"""Judges the replies of a candidate's box to the requests of a plain test (plain_asserts.py).

The replies are the candidate's own words, as the results of calls are: it can claim values, and the expected ones are
never in its box. Values are read by type, as guest/decoder.py reads them in the tester's box, but only those whose
comparison is plain and cheap. For everything else there is no finding, and the test program runs in a box.

Covered: bytes, depth and sizes are bounded before anything is compared; nothing of the candidate's is executed; a set
or dictionary, whose items could be made to collide, has at most `MOST_HASHED` of them.
"""

from __future__ import annotations

import enum
import json
from typing import Any

from sandbox_service.judging.distances import UndecidedError
from sandbox_service.judging.plain_asserts import PlainAssert, PlainTest
from sandbox_service.schema import Verdict

MOST_BYTES = 1 << 17
MOST_DEPTH = 32
MOST_HASHED = 256
MOST_ARGUMENTS, MOST_TEXT = 4, 1000  # of an exception
MESSAGE_CHARACTERS = 2000
LENGTH_BYTES = 4

Json = Any


class Open(enum.Enum):
    """The replies decide nothing."""

    RIGHT_SO_FAR = enum.auto()  # the next reply is not whole
    UNREADABLE = enum.auto()  # only the test program itself can tell


class _UnreadableError(Exception):
    """A reply has a form that is left to the test program."""


class Replies:
    """The replies to a plain test, judged while they come: each is read once.

    Attributes:
        finding: the verdict and its reason, or `Open`. AC if all assertions hold, else of the first one that does not.
    """

    def __init__(self, test: PlainTest, skipped: int = 0) -> None:
        """Args:
        test: the test.
        skipped: calls of another test, whose replies come before those to this one's.
        """
        self.finding: tuple[Verdict, str | None] | Open = Open.RIGHT_SO_FAR
        self._test = test
        self._skipped = skipped
        self._frames = 0  # that were read
        self._bytes = 0

    def read(self, data: bytes) -> bool:
        """Read the replies that there are.

        Args:
            data: what the candidate's box has written, from the beginning; at most `MOST_BYTES` + 1.

        Returns:
            Whether no further reply can change the finding.
        """
        if self.finding is Open.RIGHT_SO_FAR:
            try:
                self.finding = self._judge(data)
            except (_UnreadableError, ValueError, RecursionError):
                self.finding = Open.UNREADABLE
        return self.finding is not Open.RIGHT_SO_FAR

    def _judge(self, data: bytes) -> tuple[Verdict, str | None] | Open:
        if len(data) > MOST_BYTES:
            return Open.UNREADABLE
        while self._frames <= len(self._test.asserts):
            if self._frames == 1 and not self._skip(data):
                return Open.RIGHT_SO_FAR
            frame = self._next_frame(data)
            if frame is None:
                return Open.RIGHT_SO_FAR
            if (failure := _failure(self._test, self._frames, *frame)) is not None:
                return failure
            self._frames += 1
        return Verdict.AC, None

    def _skip(self, data: bytes) -> bool:
        """Skip the replies to the other test; return whether all of them have come."""
        while self._skipped and self._next_payload(data) is not None:
            self._skipped -= 1
        return not self._skipped

    def _next_frame(self, data: bytes) -> tuple[str, Json] | None:
        """Return the head and the message of the next frame, if it is whole."""
        payload = self._next_payload(data)
        if payload is None:
            return None
        head, _, body = payload.decode("utf-8", "surrogatepass").partition("\n")
        return head, json.loads(body)

    def _next_payload(self, data: bytes) -> bytes | None:
        """Return the bytes of the next frame, if it is whole."""
        begin = self._bytes + LENGTH_BYTES
        end = begin + int.from_bytes(data[self._bytes : begin], "little")
        if len(data) < max(begin, end):
            return None
        self._bytes = end
        return data[begin:end]


class BothReplies:
    """The replies to an audit test and then a scored test, in the same box.

    Attributes:
        audit, scored: the replies to each. A failure of the audit test leaves the scored one open.
    """

    def __init__(self, audit: PlainTest, scored: PlainTest) -> None:
        """Args:
        audit: the test whose calls come first.
        scored: the other one.
        """
        self.audit = Replies(audit)
        self.scored = Replies(scored, skipped=len(audit.asserts))
        self._length = -1  # of the replies that were read last

    def read(self, data: bytes) -> bool:
        """Read the replies that there are; see `Replies.read`.

        Args:
            data: what the candidate's box has written, from the beginning.

        Returns:
            Whether no further reply can change the findings, or is worth its time: after the audit test has failed, a
            call that takes long may never end. The scored test then runs alone.
        """
        self.audit.read(data)
        has_failed = not isinstance(self.audit.finding, Open) and self.audit.finding[0] != Verdict.AC
        is_stuck, self._length = has_failed and len(data) == self._length, len(data)
        return self.audit.finding is Open.UNREADABLE or self.scored.read(data) or is_stuck


def _failure(test: PlainTest, number: int, head: str, message: Json) -> tuple[Verdict, str] | None:
    """Return the failure that a reply says: the first one is on the function, the others are on its calls."""
    return _failed_load(test, head, message) if number == 0 else _failed_call(test.asserts[number - 1], head, message)


def _failed_load(test: PlainTest, head: str, message: Json) -> tuple[Verdict, str] | None:
    """Read the first reply: the function, which gets the number 0, or the exception that ended the program."""
    match head, message:
        case "load", [[list(names), list(arguments)]] if not test.has_prelude:
            return _raised(names, arguments)
        case "ok", [[[[name, [{"H": [0, *_]}]]], None]] if test.name is not None and name == test.name:
            return None
        case "ok", [[[], {"H": [0, *_]}]] if test.name is None:
            return None
    raise _UnreadableError


def _failed_call(asserted: PlainAssert, head: str, message: Json) -> tuple[Verdict, str] | None:
    match head, message:
        case "raise", [[list(names), list(arguments), *_], *_]:
            return _raised(names, arguments)
        case "no", [str(reason)]:
            return Verdict.RTE, _sendable(f"the value cannot be sent: {reason}")
        case "ok", [value, *rest]:
            return _failed_assertion(asserted, _result(asserted, value, rest))
    raise _UnreadableError


def _failed_assertion(asserted: PlainAssert, found: Any) -> tuple[Verdict, str] | None:
    try:
        return None if asserted.holds(found) else (Verdict.WA, asserted.failure)
    except UndecidedError:
        raise _UnreadableError from None
    except (TypeError, ValueError, OverflowError) as error:  # by the test's own expression
        return Verdict.WA, _sendable(f"{type(error).__name__}: {error} {asserted.place}")


def _result(asserted: PlainAssert, value: Json, rest: list[Json]) -> Any:
    """Return the result of a call, which may be the first list among the arguments, as the call has left it."""
    match value, rest:
        case {"@": 0}, [[], [[0, content], *_]] if asserted.first_list is not None:
            return _decoded(content, 0)
        case {"@": 0}, [] if asserted.first_list is not None:
            return asserted.first_list
        case {"@": _}, _:
            raise _UnreadableError
        case _, [] | [[]] | [[], list()]:
            return _decoded(value, 0)
    raise _UnreadableError


def _raised(names: list[Json], arguments: list[Json]) -> tuple[Verdict, str]:
    """Return the verdict on an exception, with the text of guest/error_codec.py."""
    if not names or not all(type(name) is str for name in names):
        raise _UnreadableError
    if len(arguments) > MOST_ARGUMENTS or not all(_is_short(each) for each in arguments):
        raise _UnreadableError
    text = ", ".join(map(str, arguments))
    message = _sendable(f"{names[0]}: {text}" if text else names[0])
    return Verdict.MLE if message.startswith("MemoryError") else Verdict.RTE, message


def _sendable(message: str) -> str:
    return message[:MESSAGE_CHARACTERS].encode("utf-8", "backslashreplace").decode()


def _is_short(value: Json) -> bool:
    return type(value) in (type(None), bool, int, float) or (type(value) is str and len(value) <= MOST_TEXT)


def _decoded(value: Json, depth: int) -> Any:
    if depth > MOST_DEPTH:
        raise _UnreadableError
    if type(value) is list:
        return [_decoded(each, depth + 1) for each in value]
    if type(value) is not dict:
        return value
    match value:
        case {"T": list(items), **rest} if not rest:
            return tuple(_decoded(each, depth + 1) for each in items)
        case {"S": list(items), **rest} if not rest:
            return set(_hashed(items, depth))
        case {"D": [list(keys), list(values)], **rest} if not rest and len(keys) == len(values):
            return dict(zip(_hashed(keys, depth), [_decoded(each, depth + 1) for each in values], strict=True))
        case {"B": str(text), **rest} if not rest:
            return text.encode("latin-1")
    raise _UnreadableError


def _hashed(items: list[Json], depth: int) -> dict[Any, None]:
    """Return the items of a set or the keys of a dictionary, all different."""
    if len(items) > MOST_HASHED:
        raise _UnreadableError
    try:
        found = dict.fromkeys(_decoded(each, depth + 1) for each in items)
    except TypeError:
        raise _UnreadableError from None
    if len(found) != len(items):
        raise _UnreadableError
    return found
