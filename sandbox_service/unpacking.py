"""Plain values packed with pickle, zlib and base 64. Nothing is unpickled: they are taken out by hand.

LiveCodeBench's hidden tests are such a text, open-instruct's tests a list. A pickle is a program, which can call any
function that its author likes. So it is only listed here, as `pickletools` does, and text, numbers, None, lists, tuples
and dictionaries are built by what it says; one that does anything else is refused, and nothing of it was run. What is
built is bounded like the bytes: what was put down once may be named again only if it is text or a number, and counts
again.
"""

from __future__ import annotations

import base64
import binascii
import pickletools
import zlib
from collections.abc import Callable, Mapping
from typing import Any

MOST_BYTES = 1 << 30  # unpacked
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


def packed_text(packed: str, most_bytes: int = MOST_BYTES) -> str:
    """A text. Raises ValueError for anything else."""
    found = packed_value(packed, most_bytes)
    if not isinstance(found, str):
        raise ValueError(f"it is not one text, pickled, but a {type(found).__name__}")
    return found


def packed_value(packed: str, most_bytes: int = MOST_BYTES) -> Any:
    """A plain value. Raises ValueError for anything else, and for what is too large, too long or too deep."""
    found = _Pickle(most_bytes).read(unpacked(packed, most_bytes))
    _check_depth(found, MOST_DEPTH)
    return found


def unpacked(packed: str, most_bytes: int = MOST_BYTES) -> bytes:
    """What zlib and base 64 have packed. Raises ValueError if it is not so, or more than that."""
    try:
        unzip = zlib.decompressobj()
        found = unzip.decompress(base64.b64decode(packed, validate=True), most_bytes)
    except (binascii.Error, zlib.error) as trouble:
        raise ValueError(f"it is not packed by zlib and in base 64: {trouble}") from None
    if not unzip.eof:
        raise ValueError(f"it is cut off, or has more than {most_bytes} bytes")
    return found


class _Pickle:
    """Builds what a pickle says, on a stack as pickle has it."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes  # of text that may still be named
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def read(self, pickled: bytes) -> Any:
        """The value. Raises ValueError for what is no pickle, or not of plain values."""
        try:
            for count, (step, value, _) in enumerate(pickletools.genops(pickled)):
                if count > MOST_STEPS:
                    raise ValueError(f"it has more than {MOST_STEPS} steps")
                self._do(step.name, value)
            [found] = self._stack
        except (IndexError, KeyError, TypeError):
            raise ValueError("it is not a pickle that makes sense") from None
        if found is MARK:
            raise ValueError("it is an unfinished pickle")
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
        """Steps that put values into a container."""
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
            raise ValueError(f"it is more than plain values: it has {name}, and is not unpickled")

    def _taken(self, count: int | None) -> list[Any]:
        """So many values from the top, or all above the last mark, which goes too."""
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
        """What is on top, and must be one."""
        if type(self._stack[-1]) is not kind:
            raise TypeError
        return self._stack[-1]

    def _again(self, known: Any) -> Any:
        """A value that is named again. A container in itself, or in many others, would be a bomb."""
        if isinstance(known, (list, dict)) or known is MARK or (isinstance(known, tuple) and known):
            raise ValueError("it names a container again, and is not unpickled")
        self._left -= len(known) if isinstance(known, str) else 1
        if self._left < 0:
            raise ValueError("it names the same text so often that it is too large")
        return known


def _small(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError(f"it has a number of more than {MOST_BITS} bits")
    return value


def _check_depth(value: Any, most: int) -> None:
    if not isinstance(value, (list, tuple, dict)):
        return
    if most == 0:
        raise ValueError(f"it is nested more than {MOST_DEPTH} deep")
    for each in value.values() if isinstance(value, dict) else value:
        _check_depth(each, most - 1)
