"""The messages between host and driver: calls with plain arguments go in on stdin, JSON results come out on stdout.

A call is one line, `call NAME COUNT`, and its COUNT arguments. `value NAME COUNT` is a call of which only the result
counts, and not what became of an argument; `json NAME COUNT` asks for what JSON.stringify makes of the result. Behind
COUNT there may be the number of an object: calls of one number are calls of the same object, in Java and JavaScript. A
design problem is `class NAME COUNT`, and COUNT operations, each a line `METHOD COUNT` with its arguments. A value
begins with a line that names its kind: `n` null, `b0`, `b1`, `i-5`, `d0.1`, `s3` (three bytes of UTF-8 and a line feed
follow), `l2` (two values follow), `m2` (two pairs of a string and a value follow).

The first line of the input is a token. A driver writes each result as a line that begins with it, so that what the
submission prints does not look like a result by accident. The submission runs in the driver's process and can find the
token: all that this gains it is to answer a value, which the host compares with the expected one, or to fail. A driver
has no words for a fault of the test, since a submission that could write them would choose not to be graded.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

Asks = Literal["call", "value", "json"]
RESULT = b"="
TOKEN_BYTES = 12


class UnsupportedCallError(ValueError):
    """The driver of a language cannot make this call: a limit of the service, and not of the submission."""


@dataclass(frozen=True)
class Call:
    """A call with plain arguments.

    Attributes:
        name: of a function, or `Class.method`; of a class if there are operations.
        args: the arguments.
        operations: methods with their arguments; the first is the constructor.
        asks: the first word of the message, if there are no operations.
        object: the number of the object whose method it is; 0 for one that is made for this call.
    """

    name: str
    args: Sequence[JsonValue] = ()
    operations: Sequence[tuple[str, Sequence[JsonValue]]] | None = None
    asks: Asks = "call"
    object: int = 0


@dataclass(frozen=True)
class Results:
    """The output of a driver.

    Attributes:
        lines: the results, each JSON.
        misfit: why the calls do not fit the submission; None if they did.
        printed: the output without the driver's lines.
    """

    lines: list[bytes]
    misfit: str | None
    printed: bytes


def token() -> bytes:
    """Return a new token."""
    return secrets.token_hex(TOKEN_BYTES).encode()


def encode(token: bytes, calls: Sequence[Call]) -> bytes:
    """Return the input of a driver.

    Args:
        token: begins the driver's lines.
        calls: made in this order.

    Raises:
        UnsupportedCallError: a value is too deep.
    """
    parts = [token, b"%d" % len(calls)]
    try:
        for call in calls:
            _add_call(parts, call)
    except RecursionError:
        raise UnsupportedCallError("an argument is nested too deeply") from None
    return b"\n".join(parts) + b"\n"


def _add_call(parts: list[bytes], call: Call) -> None:
    name = call.name.encode()
    if call.operations is None:
        number = b" %d" % call.object if call.object else b""
        parts.append(b"%s %s %d%s" % (call.asks.encode(), name, len(call.args), number))
        _add_values(parts, call.args)
        return
    parts.append(b"class %s %d" % (name, len(call.operations)))
    for method, args in call.operations:
        parts.append(b"%s %d" % (method.encode(), len(args)))
        _add_values(parts, args)


def _add_values(parts: list[bytes], values: Sequence[JsonValue]) -> None:
    for value in values:
        _add_value(parts, value)


def _add_value(parts: list[bytes], value: JsonValue) -> None:
    if value is None:
        parts.append(b"n")
    elif value is True or value is False:
        parts.append(b"b%d" % value)
    elif isinstance(value, int):
        parts.append(b"i%d" % value)
    elif isinstance(value, float):
        parts.append(b"d" + json.dumps(value).encode())
    elif isinstance(value, str):
        text = value.encode("utf-8", "replace")
        parts += (b"s%d" % len(text), text)
    elif isinstance(value, dict):
        parts.append(b"m%d" % len(value))
        for key, item in value.items():
            _add_value(parts, key)
            _add_value(parts, item)
    else:
        parts.append(b"l%d" % len(value))
        _add_values(parts, value)


def decode(token: bytes, output: bytes) -> Results:
    """Return the results in a driver's output.

    Args:
        token: the one given with the calls.
        output: the whole stdout.
    """
    lines: list[bytes] = []
    misfit: str | None = None
    printed, *framed = output.split(b"\n" + token)
    rest = [printed]
    for frame in framed:
        line, end, after = frame.partition(b"\n")
        rest.append(after)
        if not end:  # it was cut off
            break
        if line.startswith(RESULT):
            lines.append(line[1:])
        elif misfit is None:
            misfit = line[1:].decode("utf-8", "replace")
    return Results(lines, misfit, b"".join(rest))
