"""Plain values as text, and the frames that carry them between the tester box and the candidate box.

Why not pickle, and why not bare JSON: what comes from the candidate is hostile, so nothing in it may name code, and yet
a test must see a tuple as a tuple, a `Counter` as a `Counter`, and its own list changed where the candidate sorted it.
So the text is JSON; `None`, `bool`, small `int`, `float`, `str` and `list` stand for themselves, all else is an object
with one key, its tag. Types are told apart by identity (`type(x) is list`), so no method of a user's class ever runs
while a value is written.

Aliasing. The mutable values among a call's own arguments are numbered in the order in which they are met; a result, or
the report of what the call changed, may point back to them (`{"@": 3}`), and to nothing else: sharing inside a result
is written out again and counted, a cycle is too deep. Instances of shared classes (those of the prelude) lie in a flat
table beside the value, so that a list of 10,000 nodes does not nest; among them sharing and cycles are kept.

Covered: the tester's decoder trusts no byte. A frame's length is read and refused before anything is allocated; depth,
number of nodes, size of integers, exponents and ranges are bounded; class and attribute names come from a table made
from the prelude; colliding keys are refused; whatever else is odd ends in `NotPlain`.
NOT covered: what the values *say* (a value may be any the candidate likes); the time that the test itself spends on
them (a legal list of colliding integers is quadratic in `set(...)`); strings that collide under a known hash seed. Both
cost the candidate its own time limit, and a time-out is never a pass. The candidate's own copy of this module is in its
power and protects nobody.
"""

# ruff: noqa: ARG001, ARG002, ARG005 (writers share one signature, and so do readers)

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import fractions
import itertools
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""What `json` reads and writes."""

FRAME_BYTES = 16 << 20
NODES = 1_000_000
DEPTH = 200
INT_BITS = 1 << 16
EXPONENT = 10_000
RANGE_ITEMS = 10_000_000
ARRAY_BYTES = 64 << 20
COLLISION_FLOOR = 1_000

_BARE = 10**300
"""Integers below this go as decimal digits, others as hexadecimal text: `json` is quadratic in the digits."""
_JSON_DEPTH = 3 * DEPTH + 16
_LENGTH = 4
_CHUNK = 1 << 16


class NotPlain(Exception):
    """The value cannot be sent, or what was received is no message: too big, too deep, of a type unknown here."""


class TooBig(NotPlain):
    """It cannot be sent for its size or depth alone: it may have been made of what the other side sent."""


BROKEN = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError, MemoryError)
"""What reading a forged message can raise."""


# --- frames ----------------------------------------------------------------------------------------------------------


def frame(head: str, body: str) -> bytes:
    """The bytes of one frame. Raises NotPlain if it is too long."""
    payload = f"{head}\n{body}".encode("utf-8", "surrogatepass")
    if len(payload) > FRAME_BYTES:
        raise TooBig(f"too big: {len(payload)} bytes")
    return len(payload).to_bytes(_LENGTH, "little") + payload


class Channel:
    """Length-prefixed frames over two pipes: a line of words (`call 3`), then a message.

    `received` counts bytes, for whoever bounds them.
    """

    __slots__ = ("_buffer", "_read_fd", "_write_fd", "received")

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._buffer = bytearray()
        self.received = 0

    def send(self, head: str, body: str = "") -> None:
        """Write one frame. Raises OSError if nobody reads, NotPlain if it is too long."""
        data = frame(head, body)
        sent = os.write(self._write_fd, data)
        while sent < len(data):
            sent += os.write(self._write_fd, memoryview(data)[sent:])

    def receive(self) -> tuple[str, str]:
        """Read one frame: its words, its message. Raises EOFError, OSError, NotPlain."""
        self._fill(_LENGTH)
        size = int.from_bytes(self._buffer[:_LENGTH], "little")
        if size > FRAME_BYTES:
            raise NotPlain(f"too big: a frame of {size} bytes")
        end = _LENGTH + size
        self._fill(end)
        payload = bytes(self._buffer[_LENGTH:end])
        del self._buffer[:end]
        self.received += end
        try:
            head, _, body = payload.decode("utf-8", "surrogatepass").partition("\n")
        except UnicodeDecodeError as error:
            raise NotPlain("a frame that is not text") from error
        return head, body

    def _fill(self, size: int) -> None:
        buffer = self._buffer
        while len(buffer) < size:
            chunk = os.read(self._read_fd, _CHUNK if size - len(buffer) <= _CHUNK else 1 << 20)
            if not chunk:
                raise EOFError
            buffer += chunk


# --- messages --------------------------------------------------------------------------------------------------------

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
to_text: Callable[[Json], str] = _ENCODER.encode
_parse: Callable[[str], Json] = json.JSONDecoder().decode

_NOT_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def from_text(text: str) -> Json:
    """Parse a message from the other side; depth and number of containers are checked before the parser runs."""
    if text.count("[") + text.count("{") > _JSON_DEPTH:
        brackets = _STRING.sub("", text).encode("utf-8", "surrogatepass").translate(None, _NOT_BRACKETS)
        if len(brackets) > 4 * NODES:
            raise NotPlain("too many values")
        if max(itertools.accumulate(map(_STEP.__getitem__, brackets)), default=0) > _JSON_DEPTH:
            raise NotPlain("nested too deeply")
    try:
        return _parse(text)
    except BROKEN as error:
        raise NotPlain(f"a message that is not JSON: {type(error).__name__}") from error


# --- shared classes --------------------------------------------------------------------------------------------------


class Shared:
    """A class that both boxes know by name, and the attributes of its instances that may travel."""

    __slots__ = ("attributes", "kind")

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.attributes = declared_attributes(kind)


class World:
    """The classes that both boxes have from the same prelude: those that travel by value, and exceptions."""

    __slots__ = ("errors", "names", "shared")

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.shared: dict[str, Shared] = {}
        self.names: dict[type, str] = {}
        self.errors: dict[str, type[Exception]] = {}
        for name, value in namespace.items():
            if isinstance(value, type):
                self._adopt(name, value)

    def _adopt(self, name: str, kind: type) -> None:
        if kind.__module__ not in ("__main__", "leetcode") or kind.__name__ != name:
            return
        if issubclass(kind, Exception):
            self.errors[name] = kind
        elif all(base is object or base.__module__ == kind.__module__ for base in kind.__mro__):
            self.shared[name] = Shared(kind)
            self.names[kind] = name

    def prefer(self, namespace: dict[str, Any]) -> None:
        """Let a program's own class of the same name (LeetCode solutions repeat `ListNode`) stand for the prelude's."""
        for name, shared in self.shared.items():
            kind = namespace.get(name)
            if type(kind) is type and kind is not shared.kind:
                shared.kind = kind
                self.names[kind] = name


def declared_attributes(kind: type) -> frozenset[str]:
    """Names that instances may carry over: slots, annotations, and names in the class's own methods.

    Never a dunder, nor anything that the class itself defines as more than a plain value (methods, properties).
    """
    names: set[str] = set()
    barred: set[str] = set()
    for base in kind.__mro__[:-1]:
        slots = base.__dict__.get("__slots__", ())
        names.update((slots,) if isinstance(slots, str) else slots)
        names.update(getattr(base, "__annotations__", ()))
        for name, value in base.__dict__.items():
            code = getattr(value, "__code__", None)
            if code is not None:
                names.update(code.co_names)
            if type(value) in _ATOMS or type(value) is int:
                names.add(name)
            elif type(value).__name__ != "member_descriptor":
                barred.add(name)
    return frozenset(name for name in names - barred if not is_dunder(name))


def is_dunder(name: str) -> bool:
    """Whether the interpreter gives the name a meaning."""
    return name.startswith("__") and name.endswith("__")


# --- writing ---------------------------------------------------------------------------------------------------------

_ATOMS: frozenset[type] = frozenset((type(None), bool, float, str))
_ONLY_INT: frozenset[type] = frozenset((int,))
_VIEWS: dict[type, str] = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items"}
TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, object, type,
    )
}  # fmt: skip
TYPES["NoneType"] = type(None)
_TYPE_NAMES: dict[Any, str] = {kind: name for name, kind in TYPES.items()}
_NUMPY_TYPE = re.compile(r"[<>|=]?([biufcU])(\d{1,5})")


class Encoder:
    """Writes the values of one message.

    A request numbers the mutable values that it meets (`kept`); a reply is given the numbers of its request.
    """

    __slots__ = ("_nodes", "_numbering", "_numbers", "_places", "_queue", "_world", "kept")

    def __init__(self, world: World, kept: Sequence[Any] | None = None) -> None:
        self._world = world
        self._numbering = kept is None
        self.kept: list[Any] = []
        self._numbers: dict[int, int] = {}
        if kept:
            self.kept = list(kept)
            self._numbers = {id(value): number for number, value in enumerate(kept)}
        self._places: dict[int, int] = {}
        self._queue: list[Any] = []
        self._nodes = 0

    def message(self, root: Json, changes: bool = False) -> str:
        """The text of a message whose root is written already; `changes` adds the content of all that is kept."""
        changed = [[number, self._content(value)] for number, value in enumerate(self.kept)] if changes else []
        table = self._table()
        if changed:
            return to_text([root, table, changed])
        return to_text([root, table] if table else [root])

    def items(self, values: Iterable[Any], depth: int = 0) -> Json:
        """A list of values; lists of atoms go to the C encoder untouched."""
        plain = values if type(values) is list else list(values)
        self._nodes += len(plain)
        if self._nodes > NODES:
            raise TooBig("too many values")
        kinds = set(map(type, plain))
        if kinds <= _ATOMS or (kinds == _ONLY_INT and max(plain) < _BARE and min(plain) > -_BARE):
            return plain
        return [self.value(item, depth + 1) for item in plain]

    def value(self, value: Any, depth: int = 0) -> Json:
        """Any value. Raises NotPlain."""
        kind = type(value)
        if kind in _ATOMS:
            return value
        if kind is int:
            return value if -_BARE < value < _BARE else {"I": _hexadecimal(value)}
        number = self._numbers.get(id(value))
        if number is not None:
            return {"@": number}
        if depth > DEPTH:
            raise TooBig("nested too deeply")
        if kind in _NUMBERED and self._numbering:
            self._keep(value)
        write = _WRITERS.get(kind)
        if write is not None:
            return write(self, value, depth)
        if kind in self._world.names:
            return self._instance(value)
        return self.other(value, depth)

    def other(self, value: Any, depth: int) -> Json:
        """Values that are no data; each side has its own."""
        if type(value).__module__ == "numpy":
            return _write_numpy(self, value, depth)
        raise NotPlain(f"a value of type {type(value).__name__}")

    def _keep(self, value: Any) -> None:
        self._numbers[id(value)] = len(self.kept)
        self.kept.append(value)

    def _instance(self, value: Any) -> Json:
        place = self._places.get(id(value))
        if place is None:
            place = self._places[id(value)] = len(self._queue)
            self._queue.append(value)
            if self._numbering:
                self.kept.append(value)
        return {"P": place}

    def _table(self) -> list[Json]:
        """Instances met so far, and those that they lead to: a loop over a growing list, not recursion."""
        return [[self._world.names[type(instance)], *self._attributes(instance)] for instance in self._queue]

    def _attributes(self, instance: Any) -> list[Json]:
        allowed = self._world.shared[self._world.names[type(instance)]].attributes
        carried: dict[str, Any] = dict(getattr(instance, "__dict__", {}))
        if not carried:
            carried = {name: getattr(instance, name) for name in sorted(allowed) if hasattr(instance, name)}
        names = [name for name in carried if name in allowed]
        self._nodes += 1
        return [names, self.items([carried[name] for name in names])]

    def _content(self, value: Any) -> Json:
        """A kept value written out, though it has a number."""
        write = _WRITERS.get(type(value))
        return self._attributes(value) if write is None else write(self, value, 0)


def _hexadecimal(value: int) -> str:
    if value.bit_length() > INT_BITS:
        raise NotPlain(f"an integer of {value.bit_length()} bits")
    return hex(value)


def _pairs(encoder: Encoder, value: dict[Any, Any], depth: int) -> list[Json]:
    return [encoder.items(value.keys(), depth), encoder.items(value.values(), depth)]


def _write_defaultdict(encoder: Encoder, value: collections.defaultdict[Any, Any], depth: int) -> Json:
    return {"E": [_TYPE_NAMES.get(value.default_factory), *_pairs(encoder, value, depth)]}


def _write_range(encoder: Encoder, value: range, depth: int) -> Json:
    return {"R": encoder.items([value.start, value.stop, value.step], depth)}


def _write_decimal(encoder: Encoder, value: decimal.Decimal, depth: int) -> Json:
    text = str(value)
    _check_decimal(value, text)
    return {"M": text}


def _check_decimal(value: decimal.Decimal, text: str) -> None:
    if len(text) > 2 * EXPONENT or (value.is_finite() and abs(value.adjusted()) > EXPONENT):
        raise NotPlain("a decimal number with too large an exponent")


def _write_fraction(encoder: Encoder, value: fractions.Fraction, depth: int) -> Json:
    return {"Z": encoder.items([value.numerator, value.denominator], depth)}


def _write_datetime(encoder: Encoder, value: Any, depth: int) -> Json:
    if type(value) is not datetime.date and type(value.tzinfo) not in (type(None), datetime.timezone):
        raise NotPlain("a time in a time zone")
    return {"W": [type(value).__name__, value.isoformat(), getattr(value, "fold", 0)]}


def _write_timedelta(encoder: Encoder, value: datetime.timedelta, depth: int) -> Json:
    return {"U": [value.days, value.seconds, value.microseconds]}


def _write_type(encoder: Encoder, value: type, depth: int) -> Json:
    name = _TYPE_NAMES.get(value)
    return encoder.other(value, depth) if name is None else {"Y": name}


def _write_view(encoder: Encoder, value: Iterable[Any], depth: int) -> Json:
    return {"V": [_VIEWS[type(value)], encoder.items(value, depth)]}


def _write_numpy(encoder: Encoder, value: Any, depth: int) -> Json:
    numpy = sys.modules.get("numpy")
    if numpy is None or not _NUMPY_TYPE.fullmatch(value.dtype.str):
        raise NotPlain(f"a value of type {type(value).__name__}")
    if type(value) is numpy.ndarray:
        return {"N": [value.dtype.str, list(value.shape), encoder.items(value.ravel().tolist(), depth)]}
    return {"G": [value.dtype.str, encoder.value(value.item(), depth + 1)]}


_NUMBERED: frozenset[type] = frozenset(
    (
        list, dict, set, bytearray, collections.deque,
        collections.Counter, collections.OrderedDict, collections.defaultdict,
    )
)  # fmt: skip

_WRITERS: dict[type, Callable[[Encoder, Any, int], Json]] = {
    list: Encoder.items,
    tuple: lambda encoder, value, depth: {"T": encoder.items(value, depth)},
    dict: lambda encoder, value, depth: {"D": _pairs(encoder, value, depth)},
    set: lambda encoder, value, depth: {"S": encoder.items(value, depth)},
    frozenset: lambda encoder, value, depth: {"F": encoder.items(value, depth)},
    bytes: lambda encoder, value, depth: {"B": value.decode("latin-1")},
    bytearray: lambda encoder, value, depth: {"A": value.decode("latin-1")},
    complex: lambda encoder, value, depth: {"C": [value.real, value.imag]},
    range: _write_range,
    collections.Counter: lambda encoder, value, depth: {"K": _pairs(encoder, value, depth)},
    collections.OrderedDict: lambda encoder, value, depth: {"O": _pairs(encoder, value, depth)},
    collections.defaultdict: _write_defaultdict,
    collections.deque: lambda encoder, value, depth: {"Q": [value.maxlen, encoder.items(value, depth)]},
    decimal.Decimal: _write_decimal,
    fractions.Fraction: _write_fraction,
    datetime.date: _write_datetime,
    datetime.datetime: _write_datetime,
    datetime.time: _write_datetime,
    datetime.timedelta: _write_timedelta,
    type: _write_type,
    **dict.fromkeys(_VIEWS, _write_view),
}


# --- reading ---------------------------------------------------------------------------------------------------------

_CONTAINERS: frozenset[type] = frozenset((list, dict))


class Decoder:
    """Reads the values of one message.

    A request is read with `kept=None` and numbers its mutable values; a reply is given those of its request.
    """

    __slots__ = ("_instances", "_nodes", "_numbering", "_table", "_world", "kept")

    def __init__(self, world: World, kept: list[Any] | None = None) -> None:
        self._world = world
        self._numbering = kept is None
        self.kept: list[Any] = [] if kept is None else kept
        self._table: list[Json] = []
        self._instances: dict[int, Any] = {}
        self._nodes = 0

    def message(self, text: str, read: Callable[[Json], Any]) -> Any:
        """Parse a message and read its root with `read`; then apply what it changes. Raises NotPlain."""
        parts = from_text(text)
        try:
            root, self._table, changes = _three(parts)
            value = read(root)
            new = [(self.kept[_index(number)], self._new_content(self.kept[number], json)) for number, json in changes]
            self._finish()
        except BROKEN as error:
            raise NotPlain(f"a message out of order: {type(error).__name__}") from error
        for target, content in new:
            _replace(target, content)
        return value

    def items(self, json: Json) -> list[Any]:
        """A list that is not itself a value of the message."""
        if type(json) is not list:
            raise NotPlain("a message out of order")
        self._nodes += len(json)
        if self._nodes > NODES:
            raise NotPlain("too many values")
        if _CONTAINERS.isdisjoint(map(type, json)):
            return json
        return [self.value(item) for item in json]

    def value(self, json: Json) -> Any:
        """Any value."""
        kind = type(json)
        if kind is list:
            return self._list(json)
        if kind is dict:
            ((tag, content),) = json.items()
            read = _READERS.get(tag)
            return self.other(tag, content) if read is None else read(self, content)
        return json

    def other(self, tag: str, content: Json) -> Any:
        """Tags that stand for no data; each side has its own."""
        raise NotPlain(f"unknown tag {tag[:20]!r}")

    def keep(self, value: Any) -> Any:
        """Number a mutable value, before what it contains is read."""
        if self._numbering:
            self.kept.append(value)
        return value

    def _list(self, json: list[Json]) -> list[Any]:
        if _CONTAINERS.isdisjoint(map(type, json)):
            self._nodes += len(json)
            if self._nodes > NODES:
                raise NotPlain("too many values")
            self.keep(json)
            return json
        result: list[Any] = []
        self.keep(result)
        result += self.items(json)
        return result

    def instance(self, index: Json) -> Any:
        """The instance at a place of the table, made when it is first met; its attributes come later."""
        instance = self._instances.get(_index(index))
        if instance is None:
            shared = self._world.shared[self._table[index][0]]
            instance = self._instances[index] = object.__new__(shared.kind)
            self.keep(instance)
        return instance

    def _finish(self) -> None:
        """Give instances their attributes, in the table's order."""
        for index, (name, names, values) in enumerate(self._table):
            instance = self._instances[index]
            _set_attributes(instance, self._attributes(name, names, values))

    def _attributes(self, class_name: str, names: Json, values: Json) -> dict[str, Any]:
        if not self._world.shared[class_name].attributes.issuperset(names):
            raise NotPlain("an attribute that the class does not declare")
        return dict(_zipped(names, self.items(values)))

    def _new_content(self, target: Any, json: Json) -> Any:
        """What a kept value holds after the call: a value of the same type, or an instance's attributes."""
        if type(target) in self._world.names:
            return self._attributes(self._world.names[type(target)], *json)
        content = self.items(json) if type(json) is list else self.value(json)
        if type(content) is not type(target):
            raise NotPlain("an argument that changed its type")
        return content


def _three(parts: Json) -> tuple[Json, Json, Json]:
    """Root, table and changes, the last two being optional."""
    if type(parts) is not list or not 1 <= len(parts) <= 3:
        raise NotPlain("a message out of order")
    return parts[0], parts[1] if len(parts) > 1 else [], parts[2] if len(parts) > 2 else []


def _index(number: Json) -> int:
    """A place in a list, from the start only."""
    if type(number) is not int or number < 0:
        raise NotPlain("a message out of order")
    return number


def _zipped(keys: list[Any], values: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(_spread(keys), values, strict=True)


def _spread(keys: list[Any]) -> list[Any]:
    """The keys, unless so many of them collide that a table of them would take quadratic time."""
    if len(keys) > COLLISION_FLOOR and 2 * len(set(map(hash, keys))) < len(keys):
        raise NotPlain("keys that collide")
    return keys


def _set_attributes(instance: Any, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        object.__setattr__(instance, name, value)


def _replace(target: Any, content: Any) -> None:
    """Make a kept value hold what the other side's copy holds now."""
    kind = type(target)
    if kind is list or kind is bytearray:
        target[:] = content
    elif kind not in _NUMBERED:
        _set_attributes(target, content)
    else:
        target.clear()
        _filler(kind)(target, content)


def _filler(kind: type) -> Callable[[Any, Any], None]:
    """How to fill an empty container; a Counter's own `update` would add."""
    if kind is collections.deque:
        return collections.deque.extend
    if kind is collections.OrderedDict:
        return collections.OrderedDict.update
    return set.update if kind is set else dict.update


def _bounded(value: Any) -> Any:
    if value.bit_length() > INT_BITS:
        raise NotPlain("an integer too large")
    return value


def _read_int(decoder: Decoder, json: Json) -> int:
    if len(json) > INT_BITS // 4 + 4:
        raise NotPlain("an integer too large")
    return int(json, 16)


def _read_into(decoder: Decoder, target: dict[Any, Any], keys: Json, values: Json) -> Any:
    decoder.keep(target)
    known = decoder.items(keys)
    _filler(type(target))(target, _zipped(known, decoder.items(values)))
    return target


def _read_set(decoder: Decoder, json: Json) -> set[Any]:
    result: set[Any] = decoder.keep(set())
    result.update(_spread(decoder.items(json)))
    return result


def _read_deque(decoder: Decoder, json: Json) -> collections.deque[Any]:
    maxlen, items = json
    result: collections.deque[Any] = decoder.keep(collections.deque(maxlen=maxlen))
    result.extend(decoder.items(items))
    return result


def _read_defaultdict(decoder: Decoder, json: Json) -> Any:
    factory, keys, values = json
    return _read_into(decoder, collections.defaultdict(None if factory is None else TYPES[factory]), keys, values)


def _read_range(decoder: Decoder, json: Json) -> range:
    start, stop, step = (_bounded(part) for part in decoder.items(json))
    if abs(stop - start) // abs(step) > RANGE_ITEMS:
        raise NotPlain("a range too long")
    return range(start, stop, step)


def _read_decimal(decoder: Decoder, json: Json) -> decimal.Decimal:
    if type(json) is not str or len(json) > 2 * EXPONENT:
        raise NotPlain("a decimal number too long")
    value = decimal.Decimal(json)
    _check_decimal(value, json)
    return value


def _read_fraction(decoder: Decoder, json: Json) -> fractions.Fraction:
    numerator, denominator = (_bounded(part) for part in decoder.items(json))
    return fractions.Fraction(numerator, denominator)


def _read_datetime(decoder: Decoder, json: Json) -> Any:
    name, text, fold = json
    kind: Any = {"date": datetime.date, "datetime": datetime.datetime, "time": datetime.time}[name]
    value = kind.fromisoformat(text)
    return value.replace(fold=1) if fold == 1 and isinstance(value, (datetime.datetime, datetime.time)) else value


def _read_view(decoder: Decoder, json: Json) -> Any:
    name, items = json[0], decoder.items(json[1])
    if name == "keys":
        return dict.fromkeys(_spread(items)).keys()
    if name == "values":
        return dict(enumerate(items)).values()
    if name == "items":
        _spread([key for key, _ in items])
        return dict(items).items()
    raise NotPlain("a message out of order")


def _numpy_type(text: Json, count: int) -> Any:
    """A dtype of numbers or strings, by its own name, if `count` of them fit. numpy is imported if it is not there."""
    match = _NUMPY_TYPE.fullmatch(text)
    if match is None or count * int(match[2]) * 4 > ARRAY_BYTES:
        raise NotPlain("an array of unknown type, or too large")
    try:
        import numpy
    except ImportError as error:
        raise NotPlain("a numpy value, and the tester has no numpy") from error
    return numpy, numpy.dtype(text)


def _read_array(decoder: Decoder, json: Json) -> Any:
    text, shape, items = json
    numpy, dtype = _numpy_type(text, len(items))
    return numpy.array(decoder.items(items), dtype=dtype).reshape([_index(size) for size in shape])


def _read_scalar(decoder: Decoder, json: Json) -> Any:
    text, item = json
    _, dtype = _numpy_type(text, 1)
    return dtype.type(decoder.value(item))


_READERS: dict[str, Callable[[Decoder, Json], Any]] = {
    "@": lambda decoder, json: decoder.kept[_index(json)],
    "P": Decoder.instance,
    "I": _read_int,
    "T": lambda decoder, json: tuple(decoder.items(json)),
    "D": lambda decoder, json: _read_into(decoder, {}, *json),
    "S": _read_set,
    "F": lambda decoder, json: frozenset(_spread(decoder.items(json))),
    "B": lambda decoder, json: json.encode("latin-1"),
    "A": lambda decoder, json: decoder.keep(bytearray(json.encode("latin-1"))),
    "C": lambda decoder, json: complex(*json),
    "R": _read_range,
    "K": lambda decoder, json: _read_into(decoder, collections.Counter(), *json),
    "O": lambda decoder, json: _read_into(decoder, collections.OrderedDict(), *json),
    "E": _read_defaultdict,
    "Q": _read_deque,
    "M": _read_decimal,
    "Z": _read_fraction,
    "W": _read_datetime,
    "U": lambda decoder, json: datetime.timedelta(*json),
    "Y": lambda decoder, json: TYPES[json],
    "V": _read_view,
    "N": _read_array,
    "G": _read_scalar,
}

# --- exceptions ------------------------------------------------------------------------------------------------------

ERRORS: dict[str, type[Exception]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind.__name__ != "ExceptionGroup"
}
"""The exceptions that may cross by name: builtin ones that derive from Exception."""

_TEXT = 1_000


def describe_error(error: BaseException) -> Json:
    """An exception as data: the names of its classes, the nearest first, and its arguments or else its text."""
    names = [kind.__name__ for kind in type(error).__mro__]
    arguments = list(error.args)
    if len(arguments) > 4 or not all(_short(argument) for argument in arguments):
        arguments = [str(error)[:_TEXT]]
    return [names, arguments]


def _short(value: Any) -> bool:
    if type(value) is int:
        return -_BARE < value < _BARE
    return type(value) in _ATOMS and (type(value) is not str or len(value) <= _TEXT)


def read_error(json: Json) -> tuple[list[str], list[Any]]:
    """The names and arguments of `describe_error`, checked."""
    names, arguments = json
    if not names or not all(type(name) is str for name in names) or not all(_short(item) for item in arguments):
        raise NotPlain("a message out of order")
    return names, arguments


def make_error(names: list[str], arguments: list[Any], world: World) -> Exception:
    """The nearest exception that is known here; never a StopIteration, which would end a test's loop early."""
    for name in names:
        kind = world.errors.get(name) or ERRORS.get(name)
        if kind is None:
            continue
        if issubclass(kind, (StopIteration, StopAsyncIteration)):
            return RuntimeError(f"{name} raised by the candidate")
        try:
            return kind(*arguments)
        except (TypeError, ValueError):
            break
    return Exception(": ".join([names[0], *map(str, arguments)]))
