"""The candidate's half of an assert test: loads the submission, then answers the tester's requests until it hangs up.

This process belongs to the submission: from `exec` on, everything here, this module included, is in its hands. Nothing
here is a defence; all that it sends is checked by the tester. It is written for honest programs: values are taken by
exact type, what is no data (functions, classes, generators, instances of the submission's own classes) stays here and
travels as a numbered handle, and what a call did to its own arguments is sent back with its result.

What is not sent back: changes of an argument that happen after its call, of numpy arrays, and of callbacks' arguments.
"""

from __future__ import annotations

import builtins
import contextlib
import operator
import sys
import types
from collections.abc import Callable
from typing import Any, TypeAlias

import leetcode
import values
from values import Channel, Decoder, Encoder, Json, NotPlain, World

LEETCODE = "@leetcode"
FILENAME = "prelude.py"

LOAD_FAILED = 1

_FUNCTIONS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
    types.MethodDescriptorType, types.WrapperDescriptorType,
)  # fmt: skip
_DATA = (
    bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset,
    types.ModuleType, BaseException,
)  # fmt: skip


def serve(read_fd: int, write_fd: int, program: types.CodeType, prelude: types.CodeType | str | None) -> int:
    """Run the prelude, run the program as `__main__`, answer requests. Returns the exit status.

    `prelude`: code, its source, or the name of the built-in one, "@leetcode".
    """
    namespace = sys.modules["__main__"].__dict__
    channel = Channel(read_fd, write_fd)
    try:
        world = run_prelude(prelude, namespace)
        exec(program, namespace)
    except BaseException as error:
        with contextlib.suppress(OSError):
            channel.send("load", values.to_text([values.describe_error(error)]))
        return LOAD_FAILED
    world.prefer(namespace)
    with contextlib.suppress(EOFError, OSError):
        _Desk(channel, world, namespace).answer()
    return 0


def run_prelude(prelude: types.CodeType | str | None, namespace: dict[str, Any]) -> World:
    """Run the trusted code that both boxes run first, and find the classes that they then share."""
    if prelude == LEETCODE:
        namespace.update(leetcode.namespace())
        return World({kind.__name__: kind for kind in leetcode.SHARED})
    if prelude is not None:
        code = compile(prelude, FILENAME, "exec", dont_inherit=True) if isinstance(prelude, str) else prelude
        exec(code, namespace)
    return World(namespace if prelude is not None else {})


_Request: TypeAlias = "Callable[[_Desk, str, str], None]"


class _Desk:
    """The objects that the tester holds handles of, and the requests it may make of them."""

    def __init__(self, channel: Channel, world: World, namespace: dict[str, Any]) -> None:
        self.channel = channel
        self.world = world
        self.namespace = namespace
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}

    def export(self, value: Any) -> int:
        """The number of an object, given at first sight."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return number

    def answer(self) -> Any:
        """Answer requests until the pipe ends, or until the answer to our own question (a callback) comes."""
        while True:
            head, body = self.channel.receive()
            word, _, rest = head.partition(" ")
            if word == "return":
                decoder = _Decoder(self)
                return decoder.message(body, decoder.value)
            if word == "throw":
                names, arguments = values.from_text(body)[0]
                raise values.make_error(names, arguments, self.world)
            try:
                _REQUESTS[word](self, rest, body)
            except (NotPlain, MemoryError) as error:
                self.channel.send("no", values.to_text([str(error) or "too big"]))

    def look(self, _: str, body: str) -> None:
        """Which of these names the program defines, and what the entry expression comes to."""
        names, expression = values.from_text(body)
        encoder = _Encoder(self, [])
        found = [[name, self._look_at(encoder, self.namespace[name])] for name in names if name in self.namespace]
        try:
            entry = None if expression is None else self._entry(expression)
        except BaseException as error:
            self._throw(error, encoder)
            return
        self.channel.send("ok", encoder.message([found, encoder.value(entry)]))

    def _entry(self, expression: str) -> Any:
        if not expression.isidentifier():
            return eval(expression, self.namespace)
        if expression not in self.namespace:
            raise NameError(f"name {expression!r} is not defined")
        return self.namespace[expression]

    def _look_at(self, encoder: Encoder, value: Any) -> Json:
        try:
            json = encoder.value(value)
        except NotPlain:
            return None
        return json if type(json) is dict and "H" in json else None

    def call(self, number: str, body: str) -> None:
        """Call an object."""
        decoder = _Decoder(self)
        arguments, keywords = decoder.message(body, decoder.arguments)
        target = self.objects[int(number)]
        self.do(lambda: target(*arguments, **keywords), decoder, body, (arguments, keywords))

    def get(self, rest: str, _: str) -> None:
        """Read an attribute."""
        number, _, name = rest.partition(" ")
        target = self.objects[int(number)]
        self.do(lambda: getattr(target, name))

    def set(self, rest: str, body: str) -> None:
        """Set an attribute."""
        number, _, name = rest.partition(" ")
        decoder = _Decoder(self)
        value = decoder.message(body, decoder.value)
        target = self.objects[int(number)]
        self.do(lambda: setattr(target, name, value))

    def item(self, number: str, body: str) -> None:
        """Subscribe an object."""
        decoder = _Decoder(self)
        key = decoder.message(body, decoder.value)
        target = self.objects[int(number)]
        self.do(lambda: operator.getitem(target, key))

    def do(self, action: Callable[[], Any], decoder: Decoder | None = None, body: str = "", sent: Any = None) -> None:
        """Run the submission's code; send what it returns or raises, and what it changed."""
        try:
            result = action()
        except BaseException as error:
            self._throw(error, _Encoder(self, decoder.kept if decoder else []), self._changed(decoder, body, sent))
            return
        encoder = _Encoder(self, decoder.kept if decoder else [])
        self.channel.send("ok", encoder.message(encoder.value(result), self._changed(decoder, body, sent)))

    def _changed(self, decoder: Decoder | None, body: str, sent: Any) -> bool:
        """Whether the arguments, written again, read differently from what came."""
        if decoder is None or not decoder.kept:
            return False
        encoder = _Encoder(self)
        return encoder.message(encoder.arguments(*sent)) != body

    def _throw(self, error: BaseException, encoder: Encoder, changed: bool = False) -> None:
        self.channel.send("raise", encoder.message(values.describe_error(error), changed))


def _special(function: Callable[[Any], Any]) -> _Request:
    """A request that applies a builtin to one object."""

    def request(desk: _Desk, number: str, _: str) -> None:
        desk.do(lambda: function(desk.objects[int(number)]))

    return request


_REQUESTS: dict[str, _Request] = {
    "look": _Desk.look,
    "call": _Desk.call,
    "get": _Desk.get,
    "set": _Desk.set,
    "item": _Desk.item,
    "bool": _special(bool),
    "len": _special(len),
    "str": _special(str),
    "iter": _special(iter),
    "next": _special(next),
}


class _Encoder(Encoder):
    """What is no data becomes a handle."""

    __slots__ = ("_desk",)

    def __init__(self, desk: _Desk, kept: list[Any] | None = None) -> None:
        super().__init__(desk.world, kept)
        self._desk = desk

    def arguments(self, arguments: list[Any], keywords: dict[str, Any]) -> Json:
        """What a call is given; see `Decoder.arguments`."""
        return [self.items(arguments), list(keywords), self.items(list(keywords.values()))]

    def other(self, value: Any, depth: int) -> Json:
        """A handle; the base content of a named tuple; or nothing that can be sent."""
        kind = type(value)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return {"T": self.items(tuple.__iter__(value), depth)}
        if kind.__module__ == "numpy" or (issubclass(kind, _DATA) and not issubclass(kind, type)):
            return super().other(value, depth)
        name = value.__name__ if isinstance(value, (type, types.FunctionType)) else kind.__name__
        return {"H": [self._desk.export(value), _sort(value), str(name)]}


def _sort(value: Any) -> str:
    if isinstance(value, type):
        return "class"
    if isinstance(value, _FUNCTIONS):
        return "function"
    return "iterator" if hasattr(value, "__next__") else "instance"


class _Decoder(Decoder):
    """Handles come home; callbacks become functions that ask the tester."""

    __slots__ = ("_desk",)

    def __init__(self, desk: _Desk) -> None:
        super().__init__(desk.world)
        self._desk = desk

    def arguments(self, json: Json) -> tuple[list[Any], dict[str, Any]]:
        """What a call is given: positional arguments, names, values of these."""
        positional, names, given = json
        return self.items(positional), dict(zip(names, self.items(given), strict=True))

    def other(self, tag: str, content: Json) -> Any:
        """Tags that only the tester may send."""
        if tag == "H":
            return self._desk.objects[content]
        if tag == "X":
            return _callback(self._desk, content)
        if tag == "J":
            return iter(self.items(content))
        if tag == "b":
            return getattr(builtins, content)
        return super().other(tag, content)


def _callback(desk: _Desk, content: Json) -> Callable[..., Any]:
    """A function of the test's, called across the pipe."""
    number, name = content

    def callback(*arguments: Any, **keywords: Any) -> Any:
        encoder = _Encoder(desk, [])
        text = encoder.message(encoder.arguments(list(arguments), keywords))
        desk.channel.send(f"back {number}", text)
        return desk.answer()

    callback.__name__ = name
    return callback
