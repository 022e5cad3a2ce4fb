"""Reads the classes, fields and methods that a Java class file names or defines. A box wrote these bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

MAGIC = b"\xca\xfe\xba\xbe"
POOL = 8  # where the constants begin, with their number

# kinds of constants, by the parts that are read of them
TEXT, CLASS, FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE = 1, 7, 9, 10, 11, 12
SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4}
"""Bytes of each kind but TEXT behind its tag. Modules have further kinds."""
WIDE = (5, 6)  # long and double take two places


class NotAClassError(ValueError):
    """Bytes are not a class file that is understood."""


@dataclass
class ClassFile:
    """The names in a class file; those of classes have slashes.

    Attributes:
        name: its own name.
        above: its superclass; empty for none.
        interfaces: those that it implements or extends.
        classes: the names of all classes in it, arrays as their descriptors.
        members: class, name and descriptor of all fields and methods that it uses.
        declared: name and descriptor of its own fields and methods.
    """

    name: str
    above: str
    interfaces: list[str]
    classes: list[str] = field(default_factory=list)
    members: list[tuple[str, str, str]] = field(default_factory=list)
    declared: set[tuple[str, str]] = field(default_factory=set)


def read(code: bytes) -> ClassFile:
    """Return the names in a class file.

    Args:
        code: its bytes.

    Raises:
        NotAClassError: they are no class file, or one of a module.
    """
    try:
        return _read(code)
    except (struct.error, IndexError, KeyError) as error:
        raise NotAClassError(f"{type(error).__name__}: {error}") from None


def _read(code: bytes) -> ClassFile:
    if not code.startswith(MAGIC):
        raise NotAClassError("no magic number")
    pool = _Pool(code)
    _, this, above, count = struct.unpack_from(">HHHH", code, pool.end)
    interfaces = struct.unpack_from(f">{count}H", code, pool.end + 8)
    return ClassFile(
        pool.class_name(this),
        pool.class_name(above) if above else "",
        [pool.class_name(each) for each in interfaces],
        [pool.text(name) for name in pool.classes.values()],
        [(pool.class_name(owner), *pool.name_and_type(rest)) for owner, rest in pool.members],
        {(pool.text(name), pool.text(kind)) for name, kind in _declared(code, pool.end + 8 + 2 * count)},
    )


class _Pool:
    """The constants of a class file.

    Attributes:
        classes: by place, the place of the name.
        members: the places of class, and of name and type.
        end: where the constants end.
    """

    def __init__(self, code: bytes) -> None:
        self.classes: dict[int, int] = {}
        self.members: list[tuple[int, int]] = []
        self._texts: dict[int, str] = {}
        self._names_and_types: dict[int, tuple[int, int]] = {}
        (count,) = struct.unpack_from(">H", code, POOL)
        at, place = POOL + 2, 1
        while place < count:
            tag = code[at]
            at += 1 + self._take(place, tag, code, at + 1)
            place += 2 if tag in WIDE else 1
        self.end = at

    def _take(self, place: int, tag: int, code: bytes, at: int) -> int:
        """Keep a constant, and return its size."""
        if tag == TEXT:
            (size,) = struct.unpack_from(">H", code, at)
            self._texts[place] = code[at + 2 : at + 2 + size].decode("utf-8", "replace")
            return 2 + int(size)
        if tag == CLASS:
            (self.classes[place],) = struct.unpack_from(">H", code, at)
        elif tag in (FIELD, METHOD, INTERFACE_METHOD):
            owner, rest = struct.unpack_from(">HH", code, at)
            self.members.append((owner, rest))
        elif tag == NAME_AND_TYPE:
            name, kind = struct.unpack_from(">HH", code, at)
            self._names_and_types[place] = name, kind
        return SIZES[tag]

    def text(self, place: int) -> str:
        """Return the text at `place`."""
        return self._texts[place]

    def class_name(self, place: int) -> str:
        """Return the name of the class at `place`."""
        return self._texts[self.classes[place]]

    def name_and_type(self, place: int) -> tuple[str, str]:
        """Return name and descriptor of a member, which are at `place`."""
        name, kind = self._names_and_types[place]
        return self._texts[name], self._texts[kind]


def _declared(code: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield the places of name and descriptor of each field and method; their tables begin at `at`."""
    for _ in ("fields", "methods"):
        (count,) = struct.unpack_from(">H", code, at)
        at += 2
        for _ in range(count):
            _, name, descriptor, attributes = struct.unpack_from(">HHHH", code, at)
            yield name, descriptor
            at += 8
            for _ in range(attributes):
                (size,) = struct.unpack_from(">I", code, at + 2)
                at += 6 + size
