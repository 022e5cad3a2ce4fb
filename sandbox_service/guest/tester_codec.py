"""The tester's side of the codec: objects become handles; functions and iterators become callbacks and lists."""

from __future__ import annotations

import builtins
import datetime
import functools
import itertools
import types
from collections.abc import Coroutine, Iterator
from typing import TYPE_CHECKING, Any

import proxy_classes
from codec import Json, NotPlainError, TooBigError, is_plain_elsewhere
from decoder import Decoder
from encoder import Encoder
from error_codec import TEXT, describe_error, make_error, read_error
from handle_state import PLAIN_BASES, SORTS
from remote_handle import RemoteHandle

if TYPE_CHECKING:
    from connection import Connection

ITERATOR_ITEMS = 1_000_000

_BUILTIN_FUNCTIONS: dict[Any, str] = {
    getattr(builtins, name): name
    for name in (
        "abs", "all", "any", "bin", "chr", "divmod", "enumerate", "filter", "hash", "hex", "len", "map", "max", "min",
        "oct", "ord", "pow", "print", "repr", "reversed", "round", "sorted", "sum", "zip",
    )
}  # fmt: skip
"""Builtins that a test may pass as an argument; the candidate uses its own."""
_CALLABLES = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


class TestValueError(NotPlainError):
    """Raised when a value cannot be sent because of its type, and only the test's own code can have made it."""


class TesterEncoder(Encoder):
    """Encodes values; handles become numbers, functions become callbacks, iterators become lists of items."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection.classes)
        self._connection = connection

    def other(self, value: Any, depth: int) -> Json:
        """Encode a value that a test may pass besides plain data.

        Args:
            value: any object.
            depth: nesting depth of the value.

        Returns:
            The encoded value.

        Raises:
            NotPlainError: the value cannot be sent.
            TooBigError: an iterator has too many items.
            TestValueError: a test may not pass values of this type.
        """
        kind = type(value)
        if kind is RemoteHandle:
            return {"H": value.proctor_handle.number}
        if kind in self._connection.value_classes:
            return self._of_theirs(value, kind, depth)
        if isinstance(value, type) and value in self._connection.errors:
            return {"H": self._connection.errors[value]}
        if isinstance(value, (types.BuiltinFunctionType, type)) and value in _BUILTIN_FUNCTIONS:
            return {"b": _BUILTIN_FUNCTIONS[value]}
        if isinstance(value, _CALLABLES):
            number = self._connection.callbacks.add(value)
            return {"X": [number, getattr(value, "__name__", "callback"), _doc_of(value)]}
        if isinstance(value, Exception):
            return {"!": describe_error(value)}
        if isinstance(value, Iterator):
            items = list(itertools.islice(value, ITERATOR_ITEMS + 1))
            if len(items) > ITERATOR_ITEMS:
                raise TooBigError("an iterator with too many items")
            return {"J": self.items(items, depth)}
        if is_plain_elsewhere(kind) or isinstance(value, (datetime.tzinfo, Coroutine)):
            # values of the candidate's may contain these
            return super().other(value, depth)
        raise TestValueError(f"a value of type {kind.__name__}")

    def _of_theirs(self, value: Any, kind: type, depth: int) -> Json:
        if issubclass(kind, proxy_classes.NamedTupleProxy):
            return {"t": [self._connection.value_classes[kind], self.items(tuple.__iter__(value), depth)]}
        return {"H": value.proctor_number}


class TesterDecoder(Decoder):
    """Decodes values; received objects become handles and instances of proxy classes."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection, kept: list[Any]) -> None:
        super().__init__(connection.classes, kept)
        self._connection = connection

    def other(self, tag: str, content: Json) -> Any:
        """Decode the tags that only the candidate sends.

        Args:
            tag: the type tag.
            content: the encoded content.

        Returns:
            The value.

        Raises:
            NotPlainError: the content is malformed.
        """
        if tag == "H":
            return self._handle(*content)
        if tag == "!":
            return make_error(read_error(content), self._connection.classes)
        if tag == "t":
            number, name, fields, items = content
            return self._connection.proxies.named_tuple(number, name, fields, self.items(items))
        if tag == "e":
            number, place, name, member, value = content
            return self._connection.proxies.member(number, place, name, member, self.value(value))
        return super().other(tag, content)

    def _handle(self, number: Json, sort: Json, name: Json, bases: Json = None, base: Json = None) -> Any:
        if type(number) is not int or sort not in SORTS or type(name) is not str:
            raise NotPlainError("malformed message")
        handle = self._connection.handle(number, sort, name)
        if base is not None:
            handle.proctor_handle.base = PLAIN_BASES[base]
        if bases is not None:
            handle.proctor_handle.bases = _read_bases(bases)
        if handle.proctor_handle.sort == "coroutine":
            coroutine: Coroutine[Any, Any, Any] = self._connection.run_coroutine(number)
            return coroutine
        return handle


def _doc_of(function: Any) -> str | None:
    doc = getattr(function, "__doc__", None)
    return doc[:TEXT] if isinstance(doc, str) and isinstance(function, types.FunctionType) else None


def _read_bases(json: Json) -> list[tuple[str, list[str]]]:
    found = [(name, list(bases)) for name, bases in json]
    if len(found) > 100 or not all(type(name) is str for own, bases in found for name in (own, *bases)):
        raise NotPlainError("malformed message")
    return found
