"""Encodes Python values as messages between the tester box and the candidate box; `codec` describes the format."""

# ruff: noqa: ARG001, ARG005 (writers share one signature)

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from codec import (
    ATOMS,
    BARE_INT,
    DEPTH,
    INT_BITS,
    MUTABLE_TYPES,
    NODES,
    NUMPY_TYPE,
    PATH_CHARACTERS,
    TYPE_NAMES,
    Json,
    NotPlainError,
    TooBigError,
    check_decimal,
    is_plain_elsewhere,
    to_text,
)
from shared_classes import SharedClasses

_ONLY_INT: frozenset[type] = frozenset((int,))
_VIEWS: dict[type, str] = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items"}


class Encoder:
    """Encodes the values of one message.

    A request numbers the mutable values that it contains (`kept`); a reply is given the numbers of its request.
    """

    __slots__ = ("_classes", "_nodes", "_numbering", "_numbers", "_places", "_queue", "kept")

    def __init__(self, classes: SharedClasses, kept: Sequence[Any] | None = None) -> None:
        self._classes = classes
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
        """Return the text of a message.

        Args:
            root: the message's value, already encoded.
            changes: append the current contents of all numbered values.
        """
        changed = [[number, self._content(value)] for number, value in enumerate(self.kept)] if changes else []
        table = self._table()
        if changed:
            return to_text([root, table, changed])
        return to_text([root, table] if table else [root])

    def items(self, values: Iterable[Any], depth: int = 0) -> Json:
        """Encode a list of values. A list of atoms is passed to the C encoder unchanged.

        Args:
            values: the items.
            depth: nesting depth of the list.

        Returns:
            The encoded list.

        Raises:
            NotPlainError: an item cannot be sent.
            TooBigError: the message has too many values.
        """
        plain = values if type(values) is list else list(values)
        self._nodes += len(plain)
        if self._nodes > NODES:
            raise TooBigError("too many values")
        kinds = set(map(type, plain))
        if kinds <= ATOMS or (kinds == _ONLY_INT and max(plain) < BARE_INT and min(plain) > -BARE_INT):
            return plain
        return [self.value(item, depth + 1) for item in plain]

    def value(self, value: Any, depth: int = 0) -> Json:
        """Encode one value.

        Args:
            value: any object.
            depth: nesting depth of the value.

        Returns:
            The encoded value.

        Raises:
            NotPlainError: the value cannot be sent.
            TooBigError: the message has too many values.
        """
        kind = type(value)
        if kind in ATOMS:
            return value
        if kind is int:
            return value if -BARE_INT < value < BARE_INT else {"I": _hexadecimal(value)}
        number = self._numbers.get(id(value))
        if number is not None:
            return {"@": number}
        if depth > DEPTH:
            raise TooBigError("nested too deeply")
        if kind in MUTABLE_TYPES and self._numbering:
            self._keep(value)
        write = _WRITERS.get(kind)
        if write is not None:
            return write(self, value, depth)
        if kind in self._classes.names:
            return self._instance(value)
        return self.other(value, depth)

    def other(self, value: Any, depth: int) -> Json:
        """Encode a value that is not plain data; subclasses add their own cases.

        Args:
            value: any object.
            depth: nesting depth of the value.

        Returns:
            The encoded value.

        Raises:
            NotPlainError: the value cannot be sent.
        """
        kind = type(value)
        if kind.__module__ == "numpy":
            return _write_numpy(self, value, depth)
        if is_plain_elsewhere(kind):
            return _write_text(value)
        raise NotPlainError(f"a value of type {type(value).__name__}")

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
        """Encode the instances met so far and those they refer to, in a loop over a growing list, without recursion."""
        return [[self._classes.names[type(instance)], *self._attributes(instance)] for instance in self._queue]

    def _attributes(self, instance: Any) -> list[Json]:
        allowed = self._classes.by_name[self._classes.names[type(instance)]].attributes
        carried: dict[str, Any] = dict(getattr(instance, "__dict__", {}))
        if not carried:
            carried = {name: getattr(instance, name) for name in sorted(allowed) if hasattr(instance, name)}
        names = [name for name in carried if name in allowed]
        self._nodes += 1
        return [names, self.items([carried[name] for name in names])]

    def _content(self, value: Any) -> Json:
        """Encode the contents of a numbered value."""
        write = _WRITERS.get(type(value))
        return self._attributes(value) if write is None else write(self, value, 0)


def _hexadecimal(value: int) -> str:
    if value.bit_length() > INT_BITS:
        raise TooBigError(f"an integer of {value.bit_length()} bits")
    return hex(value)


def _pairs(encoder: Encoder, value: dict[Any, Any], depth: int) -> list[Json]:
    return [encoder.items(value.keys(), depth), encoder.items(value.values(), depth)]


def _write_defaultdict(encoder: Encoder, value: collections.defaultdict[Any, Any], depth: int) -> Json:
    return {"E": [TYPE_NAMES.get(value.default_factory), *_pairs(encoder, value, depth)]}


def _write_range(encoder: Encoder, value: range, depth: int) -> Json:
    return {"R": encoder.items([value.start, value.stop, value.step], depth)}


def _write_decimal(encoder: Encoder, value: decimal.Decimal, depth: int) -> Json:
    text = str(value)
    check_decimal(value, text)
    return {"M": text}


def _write_fraction(encoder: Encoder, value: fractions.Fraction, depth: int) -> Json:
    return {"Z": encoder.items([value.numerator, value.denominator], depth)}


def _write_datetime(encoder: Encoder, value: Any, depth: int) -> Json:
    zone = None if type(value) is datetime.date else value.tzinfo
    if type(zone) in (type(None), datetime.timezone):
        return {"W": [type(value).__name__, value.isoformat(), getattr(value, "fold", 0)]}
    key = getattr(zone, "key", None)
    if type(zone).__module__.partition(".")[0] != "zoneinfo" or type(key) is not str:
        raise NotPlainError("a time in a time zone without a name")
    return {"W": [type(value).__name__, value.replace(tzinfo=None).isoformat(), value.fold, key]}


def _write_timedelta(encoder: Encoder, value: datetime.timedelta, depth: int) -> Json:
    return {"U": [value.days, value.seconds, value.microseconds]}


def _write_type(encoder: Encoder, value: type, depth: int) -> Json:
    name = TYPE_NAMES.get(value)
    return encoder.other(value, depth) if name is None else {"Y": name}


def _write_view(encoder: Encoder, value: Iterable[Any], depth: int) -> Json:
    return {"V": [_VIEWS[type(value)], encoder.items(value, depth)]}


def _write_numpy(encoder: Encoder, value: Any, depth: int) -> Json:
    numpy = sys.modules.get("numpy")
    if numpy is None or not NUMPY_TYPE.fullmatch(value.dtype.str):
        raise NotPlainError(f"a value of type {type(value).__name__}")
    if type(value) is numpy.ndarray:
        return {"N": [value.dtype.str, list(value.shape), encoder.items(value.ravel().tolist(), depth)]}
    return {"G": [value.dtype.str, encoder.value(value.item(), depth + 1)]}


def _write_text(value: Any) -> Json:
    text = str(value)
    if len(text) > PATH_CHARACTERS:
        raise TooBigError("a path too long")
    return {"L": [type(value).__name__, text]}


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
    slice: lambda encoder, value, depth: {"/": encoder.items([value.start, value.stop, value.step], depth)},
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
