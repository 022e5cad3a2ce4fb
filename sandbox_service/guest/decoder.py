"""Decodes messages between the tester box and the candidate box; `codec` describes the format and the checks."""

# ruff: noqa: ARG001, ARG002, ARG005 (readers share one signature)

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
from collections.abc import Callable, Iterable
from typing import Any

from codec import (
    ARRAY_BYTES,
    AS_TEXT,
    BROKEN,
    COLLISION_FLOOR,
    EXPONENT,
    INT_BITS,
    MUTABLE_TYPES,
    NODES,
    NUMPY_TYPE,
    PATH_CHARACTERS,
    RANGE_ITEMS,
    TYPES,
    Json,
    NotPlainError,
    check_decimal,
    from_text,
)
from shared_classes import SharedClasses

_CONTAINERS: frozenset[type] = frozenset((list, dict))


class Decoder:
    """Decodes the values of one message.

    A request is decoded with `kept=None` and numbers its mutable values; a reply is given those of its request.
    """

    __slots__ = ("_classes", "_instances", "_nodes", "_numbering", "_table", "kept")

    def __init__(self, classes: SharedClasses, kept: list[Any] | None = None) -> None:
        self._classes = classes
        self._numbering = kept is None
        self.kept: list[Any] = [] if kept is None else kept
        self._table: list[Json] = []
        self._instances: dict[int, Any] = {}
        self._nodes = 0

    def message(self, text: str, read: Callable[[Json], Any]) -> Any:
        """Decode a message, then apply the changes that it reports to numbered values.

        Args:
            text: the message.
            read: decodes the message's root.

        Returns:
            The result of `read`.

        Raises:
            NotPlainError: the message is malformed or exceeds a limit.
        """
        parts = from_text(text)
        try:
            root, self._table, changes = _message_parts(parts)
            value = read(root)
            new = [(self.kept[_index(number)], self._new_content(self.kept[number], json)) for number, json in changes]
            self._finish()
        except BROKEN as error:
            raise NotPlainError(f"malformed message: {type(error).__name__}") from error
        for target, content in new:
            set_content(target, content)
        return value

    def items(self, json: Json) -> list[Any]:
        """Decode a list that is not itself a value of the message.

        Args:
            json: the encoded list.

        Returns:
            The decoded items.

        Raises:
            NotPlainError: not a list, or too many values.
        """
        if type(json) is not list:
            raise NotPlainError("malformed message")
        self._nodes += len(json)
        if self._nodes > NODES:
            raise NotPlainError("too many values")
        if _CONTAINERS.isdisjoint(map(type, json)):
            return json
        return [self.value(item) for item in json]

    def value(self, json: Json) -> Any:
        """Decode one value.

        Args:
            json: the encoded value.

        Returns:
            The value.

        Raises:
            NotPlainError: the value is malformed or exceeds a limit.
        """
        kind = type(json)
        if kind is list:
            return self._list(json)
        if kind is dict:
            ((tag, content),) = json.items()
            read = _READERS.get(tag)
            return self.other(tag, content) if read is None else read(self, content)
        return json

    def other(self, tag: str, content: Json) -> Any:
        """Decode a tag that does not stand for plain data; subclasses add their own tags.

        Args:
            tag: the type tag.
            content: the encoded content.

        Raises:
            NotPlainError: the tag is unknown.
        """
        raise NotPlainError(f"unknown tag {tag[:20]!r}")

    def keep(self, value: Any) -> Any:
        """Number a mutable value; called before its contents are decoded.

        Args:
            value: the new, empty value.

        Returns:
            The same value.
        """
        if self._numbering:
            self.kept.append(value)
        return value

    def _list(self, json: list[Json]) -> list[Any]:
        if _CONTAINERS.isdisjoint(map(type, json)):
            self._nodes += len(json)
            if self._nodes > NODES:
                raise NotPlainError("too many values")
            self.keep(json)
            return json
        result: list[Any] = []
        self.keep(result)
        result += self.items(json)
        return result

    def instance(self, index: Json) -> Any:
        """Return the instance at a place of the table. It is created at its first use; attributes are set later.

        Args:
            index: place in the table.
        """
        instance = self._instances.get(_index(index))
        if instance is None:
            shared = self._classes.by_name[self._table[index][0]]
            instance = self._instances[index] = object.__new__(shared.kind)
            self.keep(instance)
        return instance

    def _finish(self) -> None:
        """Set the attributes of instances, in the table's order."""
        for index, (name, names, values) in enumerate(self._table):
            instance = self._instances[index]
            _set_attributes(instance, self._attributes(name, names, values))

    def _attributes(self, class_name: str, names: Json, values: Json) -> dict[str, Any]:
        if not self._classes.by_name[class_name].attributes.issuperset(names):
            raise NotPlainError("an attribute that the class does not declare")
        return dict(_zipped(names, self.items(values)))

    def _new_content(self, target: Any, json: Json) -> Any:
        """Decode a numbered value's new contents: a value of the same type, or an instance's attributes."""
        if type(target) in self._classes.names:
            return self._attributes(self._classes.names[type(target)], *json)
        content = self.items(json) if type(json) is list else self.value(json)
        if type(content) is not type(target):
            raise NotPlainError("an argument changed its type")
        return content


def _message_parts(parts: Json) -> tuple[Json, Json, Json]:
    """Return root, table and changes of a message; the last two are optional."""
    if type(parts) is not list or not 1 <= len(parts) <= 3:
        raise NotPlainError("malformed message")
    return parts[0], parts[1] if len(parts) > 1 else [], parts[2] if len(parts) > 2 else []


def _index(number: Json) -> int:
    """Return a non-negative list index."""
    if type(number) is not int or number < 0:
        raise NotPlainError("malformed message")
    return number


def _zipped(keys: list[Any], values: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(_without_collisions(keys), values, strict=True)


def _without_collisions(keys: list[Any]) -> list[Any]:
    """Return the keys. Raise NotPlainError if so many collide that a table of them would take quadratic time."""
    if len(keys) > COLLISION_FLOOR and 2 * len(set(map(hash, keys))) < len(keys):
        raise NotPlainError("too many colliding keys")
    return keys


def _set_attributes(instance: Any, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        object.__setattr__(instance, name, value)


def set_content(target: Any, content: Any) -> None:
    """Set the contents of a mutable value to those of the other side's copy.

    Args:
        target: the value.
        content: a value of the same type; an instance's attributes.
    """
    kind = type(target)
    if kind is list or kind is bytearray:
        target[:] = content
    elif kind not in MUTABLE_TYPES:
        _set_attributes(target, content)
    else:
        target.clear()
        _fill_method(kind)(target, content)


def _fill_method(kind: type) -> Callable[[Any, Any], None]:
    """Return the method that fills an empty container; a Counter's own `update` would add."""
    if kind is collections.deque:
        return collections.deque.extend
    if kind is collections.OrderedDict:
        return collections.OrderedDict.update
    return set.update if kind is set else dict.update


def _bounded(value: Any) -> Any:
    if value.bit_length() > INT_BITS:
        raise NotPlainError("an integer too large")
    return value


def _read_int(decoder: Decoder, json: Json) -> int:
    if len(json) > INT_BITS // 4 + 4:
        raise NotPlainError("an integer too large")
    return int(json, 16)


def _read_into(decoder: Decoder, target: dict[Any, Any], keys: Json, values: Json) -> Any:
    decoder.keep(target)
    known = decoder.items(keys)
    _fill_method(type(target))(target, _zipped(known, decoder.items(values)))
    return target


def _read_set(decoder: Decoder, json: Json) -> set[Any]:
    result: set[Any] = decoder.keep(set())
    result.update(_without_collisions(decoder.items(json)))
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
        raise NotPlainError("a range too long")
    return range(start, stop, step)


def _read_decimal(decoder: Decoder, json: Json) -> decimal.Decimal:
    if type(json) is not str or len(json) > 2 * EXPONENT:
        raise NotPlainError("a decimal number too long")
    value = decimal.Decimal(json)
    check_decimal(value, json)
    return value


def _read_fraction(decoder: Decoder, json: Json) -> fractions.Fraction:
    numerator, denominator = (_bounded(part) for part in decoder.items(json))
    return fractions.Fraction(numerator, denominator)


def _read_datetime(decoder: Decoder, json: Json) -> Any:
    name, text, fold, *zone = json
    kind: Any = {"date": datetime.date, "datetime": datetime.datetime, "time": datetime.time}[name]
    value = kind.fromisoformat(text)
    if zone:
        value = value.replace(tzinfo=_zone(*zone))
    return value.replace(fold=1) if fold == 1 and isinstance(value, (datetime.datetime, datetime.time)) else value


def _zone(key: Json) -> datetime.tzinfo:
    import zoneinfo

    return zoneinfo.ZoneInfo(key)


def _read_view(decoder: Decoder, json: Json) -> Any:
    name, items = json[0], decoder.items(json[1])
    if name == "keys":
        return dict.fromkeys(_without_collisions(items)).keys()
    if name == "values":
        return dict(enumerate(items)).values()
    if name == "items":
        _without_collisions([key for key, _ in items])
        return dict(items).items()
    raise NotPlainError("malformed message")


def _numpy_type(text: Json, count: int) -> Any:
    """Return numpy and a dtype of numbers or strings, if `count` items of it fit. Imports numpy."""
    match = NUMPY_TYPE.fullmatch(text)
    if match is None or count * int(match[2]) * 4 > ARRAY_BYTES:
        raise NotPlainError("an array of unknown type, or too large")
    try:
        import numpy
    except ImportError as error:
        raise NotPlainError("a numpy value, but numpy is not installed for tests") from error
    return numpy, numpy.dtype(text)


def _read_array(decoder: Decoder, json: Json) -> Any:
    text, shape, items = json
    numpy, dtype = _numpy_type(text, len(items))
    return numpy.array(decoder.items(items), dtype=dtype).reshape([_index(size) for size in shape])


def _read_scalar(decoder: Decoder, json: Json) -> Any:
    text, item = json
    _, dtype = _numpy_type(text, 1)
    return dtype.type(decoder.value(item))


def _read_text(decoder: Decoder, json: Json) -> Any:
    name, text = json
    if name not in AS_TEXT or type(text) is not str or len(text) > PATH_CHARACTERS:
        raise NotPlainError("malformed message")
    return getattr(__import__(AS_TEXT[name]), name)(text)


def _read_slice(decoder: Decoder, json: Json) -> slice:
    start, stop, step = decoder.items(json)
    return slice(start, stop, step)


_READERS: dict[str, Callable[[Decoder, Json], Any]] = {
    "@": lambda decoder, json: decoder.kept[_index(json)],
    "P": Decoder.instance,
    "I": _read_int,
    "T": lambda decoder, json: tuple(decoder.items(json)),
    "D": lambda decoder, json: _read_into(decoder, {}, *json),
    "S": _read_set,
    "F": lambda decoder, json: frozenset(_without_collisions(decoder.items(json))),
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
    "L": _read_text,
    "/": _read_slice,
}
