"""Forms of stdin inputs: lines of tokens, lists and repeated parts whose lengths are earlier numbers of the input.

A form parses an input into a value and prints the value back. It does not say which numbers are allowed: see facts.py.
Every token has a slot; the slots of whole numbers may be lengths of what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_REPEATS = 200_000
_NOT_WHOLE = ("-0",)
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,18})")

Lines = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Length:
    """A length: the number in a slot, times a factor, plus an offset."""

    slot: int
    factor: int = 1
    offset: int = 0

    def of(self, numbers: dict[int, int]) -> int | None:
        """Return the length for these numbers by slot, or None if it is unknown or negative."""
        if self.slot not in numbers:
            return None
        length = numbers[self.slot] * self.factor + self.offset
        return length if 0 <= length <= MOST_REPEATS else None


@dataclass(frozen=True, slots=True)
class Rest:
    """The tokens at the end of a line, all of one kind. Without a length, any number of them."""

    slot: int
    length: Length | None


@dataclass(frozen=True, slots=True)
class Line:
    """A line: single tokens, each in its slot, and perhaps a list."""

    slots: tuple[int, ...]
    rest: Rest | None = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """Lines that are repeated: as often as a number says, or to the end of the input."""

    length: Length | None
    body: tuple[Item, ...]


Item = Line | Repeat
Numbers = dict[int, int]  # by slot, those read last


@dataclass(frozen=True)
class Value:
    """A parsed line: its single tokens, and the tokens of its list."""

    tokens: list[str]
    rest: list[str] = field(default_factory=list)


class MisfitError(ValueError):
    """An input does not have the form."""


@dataclass(frozen=True)
class Form:
    """The form of a problem's inputs."""

    items: tuple[Item, ...]

    def parse(self, text: str) -> list[Any]:
        """Return the value of an input: for each item a `Value`, or a list of such lists.

        Args:
            text: The input.

        Raises:
            MisfitError: The input has another form.
        """
        lines = lines_of(text)
        values, at = parse_items(self.items, lines, 0, {})
        if at < len(lines):
            raise MisfitError(f"line {at + 1} is beyond the form")
        return values

    def values_of(self, line: Line, inputs: Sequence[str]) -> list[Value]:
        """Return the values of one line of the form in inputs that have the form.

        Args:
            line: One of `lines_in`.
            inputs: The inputs.
        """
        return [value for text in inputs for value in _values_of(line, self.items, self.parse(text))]

    def text(self, values: Sequence[Any]) -> str:
        """Return a value as an input."""
        lines: list[str] = []
        _print(self.items, values, lines)
        return "\n".join(lines) + "\n"

    def fits(self, text: str) -> bool:
        """Return whether the form parses a text and prints it back, but for blanks at the end of lines."""
        try:
            values = self.parse(text)
        except MisfitError:
            return False
        return trimmed(self.text(values)) == trimmed(text)


def lines_in(items: Sequence[Item]) -> Iterator[Line]:
    """Yield the lines of a form, also those of repeated parts.

    Args:
        items: The items of the form.
    """
    for item in items:
        if isinstance(item, Repeat):
            yield from lines_in(item.body)
        else:
            yield item


def case_slots(items: Sequence[Item]) -> Iterator[int]:
    """Yield the slots that say how many cases there are, each with lengths of its own.

    Args:
        items: The items of the form.
    """
    for item in items:
        if isinstance(item, Repeat) and item.length is not None and any(map(_is_case, item.body)):
            yield item.length.slot


def column_slots(items: Sequence[Item]) -> Iterator[int]:
    """Yield the slots that say how many lines of one token there are: a number of cases, or the length of a list.

    Args:
        items: The items of the form.
    """
    for item in items:
        if isinstance(item, Repeat) and item.length is not None and len(item.body) == 1:
            line = item.body[0]
            if isinstance(line, Line) and line.rest is None and len(line.slots) == 1:
                yield item.length.slot


def _is_case(item: Item) -> bool:
    """Return whether an item has a length; only then are repeats of it cases and not rows."""
    return isinstance(item, Repeat) or item.rest is not None or len(item.slots) == 1


def _values_of(line: Line, items: Sequence[Item], values: Sequence[Any]) -> Iterator[Value]:
    for item, value in zip(items, values, strict=True):
        if isinstance(item, Repeat):
            for turn in value:
                yield from _values_of(line, item.body, turn)
        elif item == line:
            yield value


def lines_of(text: str) -> list[list[str]]:
    """Return the tokens of a text's lines, without empty lines at the end."""
    lines = [line.split() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def trimmed(text: str) -> str:
    """Return a text without blanks at the end of its lines, and without lines that end it."""
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def whole(token: str) -> int | None:
    """Return a token as a number, or None if it is not a whole one that prints back as itself."""
    if _WHOLE.fullmatch(token) and token not in _NOT_WHOLE:
        return int(token)
    return None


def parse_items(items: Sequence[Item], lines: Lines, at: int, numbers: Numbers) -> tuple[list[Any], int]:
    """Parse lines from a place on, and remember their numbers.

    Args:
        items: What is expected.
        lines: Tokens of all lines.
        at: Number of the first line, from 0.
        numbers: By slot; changed.

    Returns:
        The values, and the place after them.

    Raises:
        MisfitError: The lines have another form.
    """
    values: list[Any] = []
    for item in items:
        if isinstance(item, Line):
            values.append(_parse_line(item, lines, at, numbers))
            at += 1
        else:
            repeated, at = _parse_repeat(item, lines, at, numbers)
            values.append(repeated)
    return values, at


def _parse_line(item: Line, lines: Lines, at: int, numbers: Numbers) -> Value:
    given = item.rest.length if item.rest is not None else None
    if at >= len(lines) and not (given and given.of(numbers) == 0):  # an empty list at the end is an empty line
        raise MisfitError("the input ends too early")
    line = lines[at] if at < len(lines) else []
    single = len(item.slots)
    if len(line) < single:
        raise MisfitError(f"line {at + 1} is too short")
    for slot, token in zip(item.slots, line, strict=False):
        _remember(slot, token, numbers)
    length = 0
    if item.rest is not None:
        given = item.rest.length
        found = given.of(numbers) if given else len(line) - single
        if found is None:
            raise MisfitError(f"line {at + 1} has a length that is no number")
        length = found
    if len(line) != single + length:
        raise MisfitError(f"line {at + 1} has {len(line)} tokens instead of {single + length}")
    return Value(list(line[:single]), list(line[single:]))


def _remember(slot: int, token: str, numbers: Numbers) -> None:
    number = whole(token)
    if number is None:
        numbers.pop(slot, None)
    else:
        numbers[slot] = number


def _parse_repeat(item: Repeat, lines: Lines, at: int, numbers: Numbers) -> tuple[list[Any], int]:
    values: list[Any] = []
    if item.length is None:
        while at < len(lines):
            value, at = parse_items(item.body, lines, at, numbers)
            values.append(value)
        return values, at
    count = item.length.of(numbers)
    if count is None:
        raise MisfitError(f"line {at + 1}: the number of repeats is no number")
    for _ in range(count):
        value, at = parse_items(item.body, lines, at, numbers)
        values.append(value)
    return values, at


def _print(items: Sequence[Item], values: Sequence[Any], lines: list[str]) -> None:
    for item, value in zip(items, values, strict=True):
        if isinstance(item, Line):
            lines.append(" ".join([*value.tokens, *value.rest]))
        else:
            for each in value:
                _print(item.body, each, lines)
