"""The candidate's side of the codec: objects become handles, handles become objects, callbacks become functions."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import operations
from codec import Json, is_plain_elsewhere
from decoder import Decoder
from encoder import Encoder
from error_codec import OWN_MODULES, describe_error, is_sent

if TYPE_CHECKING:
    from dispatcher import Dispatcher

_FUNCTIONS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
    types.MethodDescriptorType, types.WrapperDescriptorType,
)  # fmt: skip
_DATA = (
    bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset,
    types.ModuleType, BaseException,
)  # fmt: skip


class CandidateEncoder(Encoder):
    """Encodes values; an object that is not plain data is exported as a handle."""

    __slots__ = ("_dispatcher",)

    def __init__(self, dispatcher: Dispatcher, kept: list[Any] | None = None) -> None:
        super().__init__(dispatcher.classes, kept)
        self._dispatcher = dispatcher

    def arguments(self, arguments: list[Any], keywords: dict[str, Any]) -> Json:
        """Encode the arguments of a call; see `CandidateDecoder.arguments`.

        Args:
            arguments: positional arguments.
            keywords: keyword arguments.

        Returns:
            Encoded positional arguments, keyword names, encoded keyword values.
        """
        return [self.items(arguments), list(keywords), self.items(list(keywords.values()))]

    def other(self, value: Any, depth: int) -> Json:
        """Encode a named tuple, an instance of a class that extends a plain type, or a handle.

        Args:
            value: any object.
            depth: nesting depth of the value.

        Returns:
            The encoded value.
        """
        kind = type(value)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            fields = [str(field) for field in kind._fields]
            return {
                "t": [self._dispatcher.export(kind), kind.__name__, fields, self.items(tuple.__iter__(value), depth)]
            }
        if is_plain_elsewhere(kind):
            return super().other(value, depth)
        if issubclass(kind, Exception) and is_sent(kind):
            return {"!": describe_error(value)}
        if issubclass(kind, _DATA) and not issubclass(kind, type):
            return self._extended(value, kind, depth)
        name = value.__name__ if isinstance(value, (type, types.FunctionType)) else kind.__name__
        sort = _kind_of(value)
        described: list[Json] = [self._dispatcher.export(value), sort, str(name)]
        return {"H": [*described, operations.bases(value)] if sort == "error" else described}

    def _extended(self, value: Any, kind: type, depth: int) -> Json:
        """Encode the plain content of a value whose class extends a plain type; a handle if the class has behaviour."""
        base = operations.plain_base(kind)
        if base is None:
            return super().other(value, depth)
        content = self.value(operations.CONTENT[base](value), depth + 1)
        if operations.is_member(kind):
            member = [self._dispatcher.export(kind), self._dispatcher.export(value), kind.__name__, str(value.name)]
            return {"e": [*member, content]}
        if operations.behaves(kind, base):
            return {"H": [self._dispatcher.export(value), "instance", kind.__name__, None, base.__name__]}
        return content


def _kind_of(value: Any) -> str:
    if isinstance(value, type):
        return "error" if issubclass(value, Exception) and value.__module__ in OWN_MODULES else "class"
    if isinstance(value, _FUNCTIONS):
        return "function"
    if isinstance(value, types.CoroutineType):
        return "coroutine"
    if hasattr(value, "__anext__"):
        return "async_iterator"
    return "iterator" if hasattr(value, "__next__") else "instance"


class CandidateDecoder(Decoder):
    """Decodes values; handles become the objects, callbacks become functions that call the tester."""

    __slots__ = ("_dispatcher",)

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher.classes)
        self._dispatcher = dispatcher

    def arguments(self, json: Json) -> tuple[list[Any], dict[str, Any]]:
        """Decode the arguments of a call.

        Args:
            json: positional arguments, keyword names, keyword values.

        Returns:
            Positional and keyword arguments.
        """
        positional, names, given = json
        return self.items(positional), dict(zip(names, self.items(given), strict=True))

    def other(self, tag: str, content: Json) -> Any:
        """Decode the tags that only the tester sends.

        Args:
            tag: the type tag.
            content: the encoded content.

        Returns:
            The value.
        """
        if tag == "H":
            return self._dispatcher.objects[content]
        if tag == "X":
            return _callback(self._dispatcher, content)
        if tag == "J":
            return iter(self.items(content))
        if tag == "b":
            return getattr(builtins, content)
        if tag == "a":
            return _ready(self.value(content))
        if tag == "!":
            return self._dispatcher.error(content)
        if tag == "t":
            return tuple.__new__(self._dispatcher.objects[content[0]], self.items(content[1]))
        return super().other(tag, content)


async def _ready(value: Any) -> Any:
    """The result of a callback that is a coroutine function; the tester has run it."""
    return value


def _callback(dispatcher: Dispatcher, content: Json) -> Callable[..., Any]:
    """Return a function that calls the test's function with this number."""
    number, name, doc = content

    def callback(*arguments: Any, **keywords: Any) -> Any:
        encoder = CandidateEncoder(dispatcher, [])
        text = encoder.message(encoder.arguments(list(arguments), keywords))
        dispatcher.channel.send(f"back {number}", text)
        return dispatcher.serve_requests()

    callback.__name__ = callback.__qualname__ = name
    callback.__doc__ = doc
    return callback
