"""The values of a body are counted in its bytes exactly as a parser would count them, whatever its strings contain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_service.api import json_bounds
from sandbox_service.errors import BadRequestError, BodyTooLargeError, LimitTooHighError

TEXTS = st.text(st.sampled_from('"\\,[]{}:aé\n'), max_size=6)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def counted(value: Any) -> tuple[int, int, int]:
    """Return the number of commas, lists and objects of a value."""
    if not isinstance(value, (list, dict)):
        return 0, 0, 0
    items = list(value.values() if isinstance(value, dict) else value)
    inner = [counted(each) for each in items]
    own = max(0, len(items) - 1), int(isinstance(value, list)), int(isinstance(value, dict))
    return tuple(map(sum, zip(own, *inner, strict=True)))  # type: ignore[return-value]


@given(VALUES, st.integers(1, 9), st.booleans())
def test_separators_within_strings_are_no_values(value: Any, window: int, is_ascii: bool) -> None:
    body = json.dumps(value, ensure_ascii=is_ascii).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_bounds, "WINDOW_BYTES", window)
        assert json_bounds._counts_outside_strings(body) == counted(value)


@pytest.mark.parametrize("item", ["{}", "[]", "0"])
def test_a_body_that_would_take_too_much_memory_is_not_parsed(item: str) -> None:
    most = 10_000
    body = ("[" + f"{item}," * 100_000 + f"{item}]").encode()
    with pytest.raises(BodyTooLargeError, match="values"):
        json_bounds.parse(body, most)


def test_a_text_may_have_any_number_of_commas() -> None:
    body = json.dumps({"code": ",[{" * 100_000}).encode()
    assert json_bounds.parse(body, 10_000) == {"code": ",[{" * 100_000}


@pytest.mark.parametrize("body", [b"", b"{", b'"\\ud800"', b"\xff", b"[" * 5000, b'{"a":' * 5000])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequestError, match="Invalid JSON"):
        json_bounds.parse(body, 1 << 20)


def test_an_object_with_more_fields_than_any_model_is_refused() -> None:
    many = {str(number): 0 for number in range(json_bounds.MOST_FIELDS + 1)}
    for found in (many, {"limits": many}, {"tests": [{}, many]}):
        with pytest.raises(BadRequestError, match="fields"):
            json_bounds.check_submission(found, 10)
    json_bounds.check_submission({"args": many}, 10)


def test_tests_are_counted_before_they_are_looked_at() -> None:
    with pytest.raises(LimitTooHighError, match="SANDBOX_MAX_TESTS"):
        json_bounds.check_submission({"tests": [{}] * 11}, 10)
