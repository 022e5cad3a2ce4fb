"""Reads plain values packed with pickle, zlib and base 64, without unpickling.

LiveCodeBench packs its hidden tests as such a text, open-instruct as a list. A pickle is a program that can call any
function. So it is only disassembled with `pickletools`, and text, numbers, None, lists, tuples and dictionaries are
built from its opcodes; a pickle with any other opcode is refused, and none of it runs. The size of the result is
bounded like the bytes: a memoized value may be repeated only if it is text or a number, and each repetition counts.
"""

from __future__ import annotations

import base64
import binascii
import pickletools
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from sandbox_service.errors.fields import kind_of

MOST_BYTES = 1 << 30  # after decompression
MOST_STEPS = 500_000
MOST_DEPTH = 32
MOST_BITS = 1 << 13  # of a number
MARK = object()

_VALUES = frozenset(
    "UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8 INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT".split()
)
_CONSTANTS: Mapping[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_NEW: Mapping[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "MARK": lambda: MARK}
_HARMLESS = frozenset({"PROTO", "FRAME", "STOP"})


class TooLargeError(ValueError):
    """The unpacked data exceeds the limit."""


def packed_text(packed: str, most_bytes: int = MOST_BYTES) -> str:
    """Return a packed text of at most `most_bytes`. Raise ValueError for anything else."""
    found = packed_value(packed, most_bytes)
    if not isinstance(found, str):
        raise ValueError(f"the packed value should be text, but is {kind_of(found)}")
    return found


def packed_value(packed: str, most_bytes: int = MOST_BYTES) -> Any:
    """Return a packed plain value.

    Args:
        packed: The base 64 text.
        most_bytes: The limit of the unpacked bytes.

    Raises:
        TooLargeError: The unpacked data exceeds the limit.
        ValueError: The text is invalid, or contains more than plain values, too many steps or too deep nesting.
    """
    found = _Pickle(most_bytes).read(unpacked(packed, most_bytes))
    _check_depth(found, MOST_DEPTH)
    return found


def unpacked(packed: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the bytes that a text has packed. Raise ValueError for invalid text, TooLargeError beyond the limit."""
    try:
        unzip = zlib.decompressobj()
        found = unzip.decompress(base64.b64decode(packed, validate=True), most_bytes)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"not zlib data in base 64: {error}") from None
    if not unzip.eof:
        if len(found) >= most_bytes:
            raise TooLargeError(f"the data unpacks to more than {most_bytes} bytes")
        raise ValueError("the packed data is truncated")
    return found


class _Pickle:
    """Builds the value of a pickle on a stack, like the pickle machine."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes  # budget for repeated values
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def read(self, pickled: bytes) -> Any:
        """Return the pickled value. Raise ValueError for an invalid pickle or one with more than plain values."""
        try:
            for count, (step, value, _) in enumerate(pickletools.genops(pickled)):
                if count > MOST_STEPS:
                    raise ValueError(f"the pickle has more than {MOST_STEPS} steps")
                self._do(step.name, value)
            [found] = self._stack
        except (IndexError, KeyError, TypeError):
            raise ValueError("the pickle is invalid") from None
        if found is MARK:
            raise ValueError("the pickle is truncated")
        return found

    def _do(self, name: str, value: Any) -> None:
        if name in _VALUES:
            self._stack.append(_small(value))
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _NEW:
            self._stack.append(_NEW[name]())
        elif name in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[len(self._memo) if name == "MEMOIZE" else value] = self._stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            self._stack.append(self._again(self._memo[value]))
        elif name not in _HARMLESS:
            self._collect(name)

    def _collect(self, name: str) -> None:
        """Handle opcodes that put values into a container."""
        if name in ("APPEND", "APPENDS"):
            items = self._taken(1 if name == "APPEND" else None)
            self._container(list).extend(items)
        elif name in ("SETITEM", "SETITEMS"):
            items = self._taken(2 if name == "SETITEM" else None)
            self._container(dict).update(zip(items[::2], items[1::2], strict=True))
        elif name in ("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"):
            self._stack.append(tuple(self._taken(int(name[5:]) if name[5:] else None)))
        elif name == "LIST":
            self._stack.append(self._taken(None))
        elif name == "DICT":
            items = self._taken(None)
            self._stack.append(dict(zip(items[::2], items[1::2], strict=True)))
        else:
            raise ValueError(f"the pickle contains more than plain values ({name}); it is not unpickled")

    def _taken(self, count: int | None) -> list[Any]:
        """Pop `count` values, or all above the last mark and the mark itself."""
        if count is None:
            items = []
            while (top := self._stack.pop()) is not MARK:
                items.append(top)
            return items[::-1]
        items = [self._stack.pop() for _ in range(count)][::-1]
        if any(each is MARK for each in items):
            raise IndexError
        return items

    def _container(self, kind: type[Any]) -> Any:
        """Return the container on top of the stack, of this type."""
        if type(self._stack[-1]) is not kind:
            raise TypeError
        return self._stack[-1]

    def _again(self, known: Any) -> Any:
        """Return a memoized value. Containers are refused: nested repetition would grow exponentially."""
        if isinstance(known, (list, dict)) or known is MARK or (isinstance(known, tuple) and known):
            raise ValueError("the pickle repeats a container; it is not unpickled")
        self._left -= len(known) if isinstance(known, str) else 1
        if self._left < 0:
            raise ValueError("the pickle repeats values until it is too large")
        return known


def _small(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError(f"the pickle contains a number of more than {MOST_BITS} bits")
    return value


def _check_depth(value: Any, most: int) -> None:
    if not isinstance(value, (list, tuple, dict)):
        return
    if most == 0:
        raise ValueError(f"the value is nested more than {MOST_DEPTH} deep")
    for each in value.values() if isinstance(value, dict) else value:
        _check_depth(each, most - 1)
