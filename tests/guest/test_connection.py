"""The tester rejects forged messages of kinds that only the candidate sends: handles, records, exceptions."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guest import boxes  # noqa: F401 (puts the guest on the path)

import codec  # isort: skip
import proxy_classes  # isort: skip
from channel import Channel  # isort: skip
from codec import NotPlainError  # isort: skip
from connection import Connection  # isort: skip
from handle_state import SORTS  # isort: skip
import tester_codec  # isort: skip

ODD_NAMES = ("", "a", "_a", "__eq__", "__class__", "class", "count", "P", "\ud800", "proctor_handle", "AssertionError")
parts = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.integers()
    | st.floats()
    | st.sampled_from((*ODD_NAMES, *SORTS, "Exception", "StopIteration", "SystemExit"))
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from("HteTDSIY@"), inner, max_size=1),
    max_leaves=12,
)


def new_connection() -> Connection:
    """A connection whose pipes are closed."""
    return Connection(Channel(-1, -1), -1)


@given(st.sampled_from("Hte"), parts)
def test_forged_values(tag: str, content: Any) -> None:
    """Any content of these tags decodes to a value whose comparison the candidate does not control, or is refused."""
    decoder = tester_codec.TesterDecoder(new_connection(), [])
    with contextlib.suppress(NotPlainError):
        value = decoder.message(codec.to_text([{tag: content}]), decoder.value)
        if isinstance(value, proxy_classes.NamedTupleProxy):
            assert type(value).__eq__ is tuple.__eq__
        if hasattr(value, "close"):
            value.close()  # a coroutine that nobody will wait for


@given(st.lists(parts, max_size=5))
def test_forged_exceptions(content: list[Any]) -> None:
    """Forged exceptions never end a loop, a test or the process."""
    own = new_connection()

    def end(result: str, message: str) -> None:
        codec.sendable(message).encode()
        raise NotPlainError(result)

    own.end = end  # type: ignore[method-assign, assignment]
    with contextlib.suppress(NotPlainError):
        error = own.replies._error(codec.to_text([content]), [], None)
        assert isinstance(error, Exception)
        assert not isinstance(error, (StopIteration, StopAsyncIteration))


@given(parts)
def test_forged_signatures_and_print(content: Any) -> None:
    with contextlib.suppress(NotPlainError):
        proxy_classes.signature(content)
    with contextlib.suppress(NotPlainError):
        new_connection().replies._print(codec.to_text(content))


def test_fields_do_not_change_what_a_record_is() -> None:
    one: Any = tuple.__new__(proxy_classes.named_tuple_class("P", ["count", "x"], getattr), (1, 2))
    assert one == (1, 2)
    assert (one.count, one.x) == (1, 2)
    for fields in (["__eq__"], ["_x"], ["a b"], ["\ud800"]):
        with pytest.raises(NotPlainError):
            proxy_classes.named_tuple_class("P", fields, getattr)


@pytest.mark.parametrize("text", ["\ud800", "a\udfff" * 5000, "\U0001f600" * 3000, "\0" * 3000])
def test_a_report_is_always_written_and_short(text: str) -> None:
    """The host reads at most 64 KiB of a report, as JSON in UTF-8."""
    read_fd, write_fd = os.pipe()
    own = Connection(Channel(-1, -1), write_fd)
    own.report("failed", text)
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as file:
        data = file.read()
    assert len(data) < 64 << 10
    data.decode().encode()
