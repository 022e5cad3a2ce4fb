"""Reads JSON lines, one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from sandbox_service.formats.cases import kind_of
from sandbox_service.validation.sources.rows import MOST_ROW_BYTES, Found, Malformed, Row, excerpt


def rows(stream: IO[bytes], name: str, most_bytes: int = MOST_ROW_BYTES) -> Iterator[Found | Malformed]:
    """Yield every line that is not blank.

    Args:
        stream: The bytes.
        name: Name of the file, for messages.
        most_bytes: Longest line; a longer one is malformed and is skipped without being held in memory.
    """
    number = 0
    while line := stream.readline(most_bytes + 1):
        number += 1
        if len(line) > most_bytes:
            _skip(stream, line)
            yield Malformed(f"{name}:{number}", f"the line has more than {most_bytes} bytes", excerpt(line))
        elif line.strip():
            yield found(name, number, line)


def found(name: str, number: int, text: bytes) -> Found | Malformed:
    """Return a row from its JSON text, or Malformed.

    Args:
        name: The name of the file.
        number: The line, from 1.
        text: The line's content.
    """
    place = f"{name}:{number}"
    try:
        return Found(name, str(number), place, _object(text))
    except (ValueError, RecursionError) as trouble:
        return Malformed(place, f"not a JSON object: {trouble}", excerpt(text))


def _object(text: bytes) -> Row:
    value: Any = json.loads(text.decode("utf-8-sig"))
    if not isinstance(value, dict):
        raise ValueError(f"it is {kind_of(value)}")
    return value


def _skip(stream: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(1 << 20)
