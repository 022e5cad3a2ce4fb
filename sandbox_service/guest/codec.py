"""Limits, errors, type names and JSON text shared by the encoder and the decoder of an assert test's messages.

Messages between the tester box and the candidate box carry plain values. Pickle is ruled out because the candidate is
hostile and pickle names code. Bare JSON is ruled out because a test must see a tuple as a tuple and a `Counter` as a
`Counter`. The text is JSON: `None`, `bool`, small `int`, `float`, `str` and `list` stand for themselves, every other
value is an object with one key, its type tag. Types are compared by identity (`type(x) is list`), so encoding never
runs a method of a user's class.

Aliasing: the mutable values among a call's arguments are numbered in the order in which the encoder meets them. A
result, or the report of changed arguments, may refer to those numbers (`{"@": 3}`) and to nothing else: other shared
values are written out again and counted, and a cycle exceeds the depth limit. Instances of shared classes (those of
the prelude) are stored in a flat table beside the value, so that a list of 10,000 nodes does not nest; sharing and
cycles among them are preserved.

Covered: the tester's decoder trusts no byte. It checks a frame's length before it allocates; it bounds depth, number
of nodes, size of integers, exponents and ranges; class and attribute names come from a table made from the prelude;
colliding keys are refused; everything else that is malformed raises `NotPlainError`.
NOT covered: the meaning of the values (the candidate may return any value), and the time that the test spends on them
(a legal list of colliding integers is quadratic in `set(...)`, as are strings that collide under a known hash seed).
Both use up the candidate's own time limit, and a timeout never passes. The candidate can modify its own copy of these
modules; nothing relies on that copy.
"""

from __future__ import annotations

import builtins
import collections
import decimal
import itertools
import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value as the `json` module reads and writes it."""
FRAME_BYTES = 64 << 20
NODES = 10_000_000
CONTAINERS = 1_000_000
DEPTH = 200
INT_BITS = 1 << 26
EXPONENT = 10_000
RANGE_ITEMS = 10_000_000
ARRAY_BYTES = 64 << 20
COLLISION_FLOOR = 1_000

BARE_INT = 10**300
"""Smaller integers are sent as decimal digits, larger ones as hexadecimal text: `json` is quadratic in the digits."""
_JSON_DEPTH = 3 * DEPTH + 16


class NotPlainError(Exception):
    """Raised when a value cannot be sent or a message is malformed: too big, too deep, or of an unknown type."""


class TooBigError(NotPlainError):
    """Raised when a value cannot be sent only because of its size or depth. It may contain data from the other side."""


BROKEN = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError, MemoryError)
"""Exceptions that reading a forged message can raise."""
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
to_text: Callable[[Json], str] = _ENCODER.encode
_parse: Callable[[str], Json] = json.JSONDecoder().decode
_NOT_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def from_text(text: str) -> Json:
    """Parse a message from the other side. Depth and number of containers are checked before the parser runs.

    Args:
        text: JSON text.

    Returns:
        The parsed JSON value.

    Raises:
        NotPlainError: the text is not JSON, nests too deeply or has too many containers.
    """
    if text.count("[") + text.count("{") > _JSON_DEPTH:
        brackets = _STRING.sub("", text).encode("utf-8", "surrogatepass").translate(None, _NOT_BRACKETS)
        if len(brackets) > 4 * CONTAINERS:
            raise NotPlainError("too many lists")
        if max(itertools.accumulate(map(_STEP.__getitem__, brackets)), default=0) > _JSON_DEPTH:
            raise NotPlainError("nested too deeply")
    try:
        return _parse(text)
    except BROKEN as error:
        raise NotPlainError(f"a message that is not JSON: {type(error).__name__}") from error


ATOMS: frozenset[type] = frozenset((type(None), bool, float, str))
TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, object, type,
    )
}  # fmt: skip
TYPES["NoneType"] = type(None)
ERRORS: dict[str, type[Exception]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind.__name__ != "ExceptionGroup"
}
"""Builtin classes that derive from Exception, by name."""
TYPES |= {kind.__name__: kind for kind in ERRORS.values()}
TYPE_NAMES: dict[Any, str] = {kind: name for name, kind in TYPES.items()}
AS_TEXT = {
    "PosixPath": "pathlib", "PurePosixPath": "pathlib", "PureWindowsPath": "pathlib", "UUID": "uuid",
    "IPv4Address": "ipaddress", "IPv6Address": "ipaddress", "IPv4Network": "ipaddress", "IPv6Network": "ipaddress",
}  # fmt: skip
"""Classes of libraries whose values are sent as their text, and their modules."""
PATH_CHARACTERS = 1 << 16
NUMPY_TYPE = re.compile(r"[<>|=]?([biufcU])(\d{1,5})")


def is_plain_elsewhere(kind: type) -> bool:
    """Return True for a type of a library that is sent as plain data, and imported only if a value of it is sent.

    Args:
        kind: the type.
    """
    library = AS_TEXT.get(kind.__name__)
    return kind.__module__ == "numpy" or (library is not None and kind.__module__.partition(".")[0] == library)


def check_decimal(value: decimal.Decimal, text: str) -> None:
    """Check the length and the exponent of a decimal number.

    Args:
        value: the number.
        text: the number as text.

    Raises:
        TooBigError: the text or the exponent exceeds `EXPONENT`.
    """
    if len(text) > 2 * EXPONENT or (value.is_finite() and abs(value.adjusted()) > EXPONENT):
        raise TooBigError("a decimal number with too large an exponent")


MUTABLE_TYPES: frozenset[type] = frozenset(
    (
        list, dict, set, bytearray, collections.deque,
        collections.Counter, collections.OrderedDict, collections.defaultdict,
    )
)  # fmt: skip


def sendable(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot represent, as backslash escapes.

    Args:
        text: any text.
    """
    return text.encode("utf-8", "backslashreplace").decode()
