"""Dispatches the tester's requests to the submission's objects, in the candidate's box.

The submission controls this process; nothing here is a defence.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import operations
from candidate_codec import CandidateDecoder, CandidateEncoder
from channel import Channel
from codec import Json, NotPlainError, from_text, to_text
from decoder import Decoder, set_content
from encoder import Encoder
from error_codec import OWN_MODULES, describe_error, make_error, read_error, text_of
from shared_classes import SharedClasses

_Request: TypeAlias = "Callable[[Dispatcher, str, str], None]"


class Dispatcher:
    """Registry of the objects that the tester holds handles of, and the requests on them."""

    def __init__(self, channel: Channel, classes: SharedClasses, namespace: dict[str, Any]) -> None:
        self.channel = channel
        self.classes = classes
        self.namespace = namespace
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.printed: Any = None
        self.loop: Any = None

    def export(self, value: Any) -> int:
        """Return the number of an object; a new object is added to the registry.

        Args:
            value: the object.
        """
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return number

    def serve_requests(self) -> Any:
        """Serve requests until the pipe closes, or until the reply to a callback of ours arrives.

        Returns:
            The callback's result.

        Raises:
            BaseException: the exception that the callback raised.
        """
        while True:
            head, body = self.channel.receive()
            word, _, rest = head.partition(" ")
            if word == "return":
                decoder = CandidateDecoder(self)
                return decoder.message(body, decoder.value)
            if word == "throw":
                raise self.error(from_text(body)[0])
            try:
                _REQUESTS[word](self, rest, body)
            except (NotPlainError, MemoryError) as error:
                self.channel.send("no", to_text([str(error) or "too big"]))

    def look_up(self, _: str, body: str) -> None:
        """Reply with the requested names that the program defines and the value of the entry expression.

        Args:
            body: the request's message: names and expression.
        """
        names, expression = from_text(body)
        encoder = CandidateEncoder(self, [])
        defined = [name for name in names if name in self.namespace]
        found = [[name, self._handle_of(encoder, self.namespace[name])] for name in defined]
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

    def _handle_of(self, encoder: Encoder, value: Any) -> Json:
        """Encode the value of a name in a list, which is empty if the value cannot be sent."""
        try:
            return [encoder.value(value)]
        except NotPlainError:
            return []

    def error(self, described: Json) -> BaseException:
        """Return an exception of the test's, of the program's own class if it has one of that name.

        Args:
            described: the data of `describe_error`.
        """
        error = read_error(described)
        kind = self.namespace.get(error.names[0])
        if isinstance(kind, type) and issubclass(kind, Exception):
            with contextlib.suppress(TypeError, ValueError):
                return kind(*error.arguments)
        return make_error(error, self.classes)

    def capture_output(self, rest: str, body: str) -> None:
        """Run a request and send its output before its reply; used when the test has replaced its streams.

        Args:
            rest: which streams (1: stdout, 2: stderr, 3: both), and the header line of the request.
            body: the request's message.
        """
        import io

        streams, word, rest = (*rest.split(" ", 2), "")[:3]
        kept, self.printed = (sys.stdout, sys.stderr), (io.StringIO(), io.StringIO())
        sys.stdout, sys.stderr = (
            new if int(streams) & bit else old for new, old, bit in zip(self.printed, kept, (1, 2), strict=True)
        )
        try:
            _REQUESTS[word](self, rest, body)
        finally:
            (sys.stdout, sys.stderr), self.printed = kept, None

    def reply(self, head: str, body: str) -> None:
        """Send a reply, after any captured output.

        Args:
            head: header line.
            body: message text.
        """
        if self.printed is not None:
            texts = [stream.getvalue() for stream in self.printed]
            for stream in self.printed:
                stream.seek(0)
                stream.truncate()
            if any(texts):
                self.channel.send("printed", to_text(texts))
        self.channel.send(head, body)

    def call(self, number: str, body: str) -> None:
        """Call an object.

        Args:
            number: the object's number.
            body: the request's message: the arguments.
        """
        decoder = CandidateDecoder(self)
        arguments, keywords = decoder.message(body, decoder.arguments)
        target = self.objects[int(number)]
        self.run(lambda: target(*arguments, **keywords), decoder, body, (arguments, keywords))

    def value(self, body: str) -> Any:
        """Return the single value of a request.

        Args:
            body: the request's message.
        """
        decoder = CandidateDecoder(self)
        return decoder.message(body, decoder.value)

    def get(self, rest: str, _: str) -> None:
        """Read an attribute.

        Args:
            rest: the object's number and the attribute's name.
        """
        number, _, name = rest.partition(" ")
        target = self.objects[int(number)]
        if name == "__signature__":
            self.run(lambda: operations.signature(target))
        else:
            self.run(lambda: getattr(target, name))

    def set(self, rest: str, body: str) -> None:
        """Set an attribute.

        Args:
            rest: the object's number and the attribute's name.
            body: the request's message: the value.
        """
        number, _, name = rest.partition(" ")
        value = self.value(body)
        target = self.objects[int(number)]
        self.run(lambda: setattr(target, name, value))

    def fill(self, rest: str, body: str) -> None:
        """Give an attribute's mutable value the content that the test's copy has now.

        Args:
            rest: the object's number and the attribute's name.
            body: the request's message: the copy.
        """
        number, _, name = rest.partition(" ")
        content = self.value(body)
        target = self.objects[int(number)]
        self.run(lambda: _fill(target, name, content))

    def fill_item(self, number: str, body: str) -> None:
        """Give an item that is mutable the content that the test's copy has now.

        Args:
            number: the object's number.
            body: the request's message: the key and the copy.
        """
        key, content = self.value(body)
        target = self.objects[int(number)]
        self.run(lambda: _fill_item(target, key, content))

    def unset(self, rest: str, _: str) -> None:
        """Delete an attribute.

        Args:
            rest: the object's number and the attribute's name.
        """
        number, _, name = rest.partition(" ")
        target = self.objects[int(number)]
        self.run(lambda: delattr(target, name))

    def operate(self, rest: str, body: str) -> None:
        """Apply an operator to an object, with the message's operand if it has one.

        Args:
            rest: the operator's name and the object's number.
            body: the request's message: the operand, or empty.
        """
        word, _, number = rest.partition(" ")
        target = self.objects[int(number)]
        operands = (self.value(body),) if body else ()
        self.run(lambda: operations.OPERATORS[word](target, *operands))

    def exit(self, number: str, body: str) -> None:
        """Leave a `with` block of the submission's, with the exception in the message.

        Args:
            number: the context manager's number.
            body: the request's message: the exception, or None.
        """
        target, error = self.objects[int(number)], self._left_with(body)
        self.run(lambda: bool(type(target).__exit__(target, type(error) if error else None, error, None)))

    def exit_async(self, number: str, body: str) -> None:
        """Leave an `async with` block of the submission's; see `exit`."""
        target, error = self.objects[int(number)], self._left_with(body)
        left = type(target).__aexit__
        self.run(lambda: bool(self.run_awaitable(left(target, type(error) if error else None, error, None))))

    def _left_with(self, body: str) -> BaseException | None:
        described = self.value(body)
        return None if described is None else self.error(described)

    def enter_async(self, number: str, _: str) -> None:
        """Enter an `async with` block of the submission's.

        Args:
            number: the context manager's number.
        """
        target = self.objects[int(number)]
        self.run(lambda: self.run_awaitable(type(target).__aenter__(target)))

    def attribute(self, name: str, body: str) -> None:
        """Read an attribute of a value that is sent whole: a named tuple.

        Args:
            name: the attribute's name.
            body: the request's message: the value.
        """
        value = self.value(body)
        self.run(lambda: getattr(value, name))

    def run_coroutine(self, number: str, _: str) -> None:
        """Run a coroutine to its end.

        Args:
            number: the coroutine's number.
        """
        self.run(lambda: self.run_awaitable(self.objects[int(number)]))

    def content(self, number: str, _: str) -> None:
        """Reply with the plain content of a value whose class extends a plain one.

        Args:
            number: the object's number.
        """
        value = self.objects[int(number)]
        self.run(lambda: operations.CONTENT[operations.plain_base(type(value)) or object](value))

    def next_async(self, number: str, _: str) -> None:
        """Reply with the next item of an asynchronous iterator.

        Args:
            number: the iterator's number.
        """
        self.run(lambda: self.run_awaitable(anext(self.objects[int(number)])))

    def run_awaitable(self, awaitable: Any) -> Any:
        """Run an awaitable in the process's event loop.

        Args:
            awaitable: a coroutine or any other awaitable.

        Returns:
            The awaitable's result.
        """
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)

        async def main() -> Any:
            return await awaitable

        return self.loop.run_until_complete(main())

    def run(self, action: Callable[[], Any], decoder: Decoder | None = None, body: str = "", sent: Any = None) -> None:
        """Run the submission's code; send its result or exception, and the arguments that it changed.

        Args:
            action: runs the code.
            decoder: decoder of the request, if it has arguments.
            body: the request's message.
            sent: the decoded arguments.
        """
        try:
            result = action()
        except BaseException as error:
            self._throw(
                error, CandidateEncoder(self, decoder.kept if decoder else []), self._changed(decoder, body, sent)
            )
            return
        encoder = CandidateEncoder(self, decoder.kept if decoder else [])
        self.reply("ok", encoder.message(encoder.value(result), self._changed(decoder, body, sent)))

    def _changed(self, decoder: Decoder | None, body: str, sent: Any) -> bool:
        """Return True if the arguments, encoded again, differ from the request."""
        if decoder is None or not decoder.kept:
            return False
        encoder = CandidateEncoder(self)
        return encoder.message(encoder.arguments(*sent)) != body

    def _throw(self, error: BaseException, encoder: Encoder, changed: bool = False) -> None:
        described = describe_error(error)
        if type(error).__module__ in OWN_MODULES:
            described += [text_of(error), self.export(error)]
        self.reply("raise", encoder.message(described, changed))


def _fill(target: Any, name: str, content: Any) -> None:
    value = getattr(target, name)
    if type(value) is type(content):
        set_content(value, content)
    else:  # replaced since the copy was made
        setattr(target, name, content)


def _fill_item(target: Any, key: Any, content: Any) -> None:
    value = target[key]
    if type(value) is type(content):
        set_content(value, content)
    else:
        target[key] = content


def _special(function: Callable[..., Any]) -> _Request:
    """Return a request that applies a function to one object, and to the message's value if it has one."""

    def request(dispatcher: Dispatcher, number: str, body: str) -> None:
        operands = (dispatcher.value(body),) if body else ()
        dispatcher.run(lambda: function(dispatcher.objects[int(number)], *operands))

    return request


_REQUESTS: dict[str, _Request] = {
    "look": Dispatcher.look_up,
    "call": Dispatcher.call,
    "get": Dispatcher.get,
    "set": Dispatcher.set,
    "unset": Dispatcher.unset,
    "fill": Dispatcher.fill,
    "op": Dispatcher.operate,
    "exit": Dispatcher.exit,
    "aenter": Dispatcher.enter_async,
    "aexit": Dispatcher.exit_async,
    "attribute": Dispatcher.attribute,
    "fillitem": Dispatcher.fill_item,
    "await": Dispatcher.run_coroutine,
    "anext": Dispatcher.next_async,
    "content": Dispatcher.content,
    "printing": Dispatcher.capture_output,
    **{word: _special(function) for word, function in operations.SPECIAL.items()},
}
