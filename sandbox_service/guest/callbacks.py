"""Callbacks: functions of the test that the submission received as arguments and calls.

A call arrives as `back NUMBER` while the tester waits for a reply, and may cause requests and calls of its own.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from codec import Json, NotPlainError, to_text
from error_codec import describe_error
from explanations import exception_text
from tester_codec import TesterDecoder, TesterEncoder

if TYPE_CHECKING:
    from connection import Connection

MOST_CALLS = 100_000
MOST_DEPTH = 20


class Callbacks:
    """The functions that one test has passed, by number, and the bounds on their calls."""

    def __init__(self, connection: Connection) -> None:
        self.depth = 0  # callbacks that run now, each called within the one before
        self._connection = connection
        self._functions: list[Any] = []
        self._calls = 0

    def add(self, function: Any) -> int:
        """Return the number by which the candidate calls a function.

        Args:
            function: any callable of the test's.
        """
        self._functions.append(function)
        return len(self._functions) - 1

    def reply(self, head: str, body: str) -> tuple[str, str]:
        """Make a call of the candidate's, or end the run.

        Args:
            head: header line of the call, with the function's number.
            body: the encoded arguments.

        Returns:
            Header line and body of the reply.
        """
        self._calls += 1
        self.depth += 1
        if self._calls > MOST_CALLS or self.depth > MOST_DEPTH:
            self._connection.end("not_plain", "too many callbacks")
        function, args, kwargs = self._call(head, body)
        encoder = TesterEncoder(self._connection)
        try:
            result = function(*args, **kwargs)
            if isinstance(result, types.CoroutineType):
                head, body = "return", encoder.message({"a": encoder.value(_finished(result))})
            else:
                head, body = "return", encoder.message(encoder.value(result))
        except NotPlainError as error:
            self._connection.end("not_plain", f"a callback's result cannot be sent: {error}")
        except AssertionError as error:  # the candidate could suppress it
            self._connection.end("failed", f"in a callback: AssertionError: {exception_text(error)}")
        except Exception as error:
            head, body = "throw", to_text([describe_error(error)])
        except BaseException as error:  # `sys.exit` given as a callback: the candidate must not end the test
            self._connection.end("failed", f"in a callback: {type(error).__name__}")
        self.depth -= 1
        return head, body

    def _call(self, head: str, body: str) -> tuple[Any, list[Any], dict[str, Any]]:
        """Return the function, and the positional and keyword arguments."""
        decoder = TesterDecoder(self._connection, [])

        def read(json: Json) -> tuple[Any, list[Any], dict[str, Any]]:
            positional, names, given = json
            if not all(type(name) is str for name in names):
                raise NotPlainError("malformed message")
            function = self._functions[int(head.removeprefix("back "))]
            return function, decoder.items(positional), dict(zip(names, decoder.items(given), strict=True))

        try:
            result: tuple[Any, list[Any], dict[str, Any]] = decoder.message(body, read)
        except NotPlainError as problem:
            self._connection.end("not_plain", str(problem))
        return result


def _finished(coroutine: types.CoroutineType[Any, Any, Any]) -> Any:
    """Return the result of a coroutine of the test's, in a loop of its own: the test's waits for the candidate."""
    import asyncio

    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()
        asyncio._set_running_loop(outer)
