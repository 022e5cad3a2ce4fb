"""Limits on JSON bodies that are checked before parsing and before validation.

A byte of JSON can become two hundred bytes of Python objects: a body of `{}` and commas takes gigabytes, and a model
that gets a million unknown fields collects a million errors. So the values are counted in the raw bytes, and the fields
of objects are counted before validation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import from_json

from sandbox_service.errors import BadRequestError, BodyTooLargeError, LimitTooHighError

VALUE_BYTES, LIST_BYTES, OBJECT_BYTES = 40, 150, 500  # memory of the parsed value and of the models made from it
GROWTH = 24  # times the largest body: the memory that one request may take
MOST_FIELDS = 64  # no model has more
WINDOW_BYTES = 1 << 20
NESTED = ("checker", "interactor", "limits", "reward", "sample")


def parse(body: bytes, most_bytes: int) -> Any:
    """Return the value of a JSON body.

    Args:
        body: The body.
        most_bytes: The size of the largest body that the service accepts.

    Raises:
        BodyTooLargeError: The parsed values would exceed the memory of one request.
        BadRequestError: The body is not JSON.
    """
    check_values(body, most_bytes)
    try:
        return from_json(body)
    except ValueError as error:
        raise BadRequestError(f"body: Invalid JSON: {error}") from None


def check_values(body: bytes, most_bytes: int) -> None:
    """Check the number of values of a body.

    Separators within strings are included at first, which is fast, and excluded only if the count is too high.

    Args:
        body: The body, JSON.
        most_bytes: The size of the largest body that the service accepts.

    Raises:
        BodyTooLargeError: The parsed values would exceed the memory of one request.
    """
    most = GROWTH * most_bytes
    if _memory(_counts(body)) <= most:
        return
    counts = _counts_outside_strings(body)
    if _memory(counts) > most:
        values, lists, objects = counts
        raise BodyTooLargeError(
            f"the body has {values + 1} values, {lists} lists and {objects} objects, which take over {most} bytes of "
            "memory, the most for one request: send it in parts"
        )


def parts(body: bytes) -> int:
    """Return an upper bound of the number of values in a body."""
    return sum(_counts(body))


def _counts(text: bytes) -> tuple[int, int, int]:
    return text.count(b","), text.count(b"["), text.count(b"{")


def _memory(counts: tuple[int, int, int]) -> int:
    values, lists, objects = counts
    return values * VALUE_BYTES + lists * LIST_BYTES + objects * OBJECT_BYTES


def _counts_outside_strings(body: bytes) -> tuple[int, int, int]:
    """Count separators window by window. Splitting at quotes, every second piece is outside of strings."""
    values = lists = objects = at = 0
    is_inside = 0
    while at < len(body):
        end = _end_of_window(body, at)
        window = body[at:end].replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = window.split(b'"')
        more = _counts(b"".join(pieces[is_inside::2]))
        values, lists, objects = values + more[0], lists + more[1], objects + more[2]
        is_inside ^= (len(pieces) - 1) & 1
        at = end
    return values, lists, objects


def _end_of_window(body: bytes, at: int) -> int:
    """Return the end of the window at `at`, never between a backslash and the character that it escapes."""
    end = min(at + WINDOW_BYTES, len(body))
    backslashes = 0
    while end - 1 - backslashes >= at and body[end - 1 - backslashes] == ord("\\"):
        backslashes += 1
    return min(end + backslashes % 2, len(body))


def check_submission(found: Any, most_tests: int) -> None:
    """Check the shape of a submission or suite before validation.

    Args:
        found: The parsed JSON.
        most_tests: The limit of tests.

    Raises:
        BadRequestError: An object has more fields than any model.
        LimitTooHighError: There are too many tests.
    """
    check_fields("body", found)
    if not isinstance(found, Mapping):
        return
    for name in NESTED:
        check_fields(name, found.get(name))
    tests = found.get("tests")
    if isinstance(tests, list):
        if len(tests) > most_tests:
            raise LimitTooHighError(f"{len(tests)} tests, the most is {most_tests} (SANDBOX_MAX_TESTS)")
        for index, test in enumerate(tests):
            check_fields(f"tests.{index}", test)


def check_each(name: str, found: Iterable[Any]) -> None:
    """Raise BadRequestError if one of the objects found in the list `name` has more fields than any model."""
    for index, each in enumerate(found):
        check_fields(f"{name}[{index}]", each)


def check_fields(name: str, found: Any) -> None:
    """Raise BadRequestError if the value found in the field `name` is an object with more fields than any model."""
    if isinstance(found, Mapping) and len(found) > MOST_FIELDS:
        raise BadRequestError(f"{name}: it has {len(found)} fields, the most is {MOST_FIELDS}")
