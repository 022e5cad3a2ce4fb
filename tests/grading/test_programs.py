"""Results of calls against the checks of test programs, by the equality of their language."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandbox_service.grading.programs import difference
from sandbox_service.languages.assertions.conditions import Check
from sandbox_service.languages.drivers import Call

CALL = Call("f", [], asks="value")
SAME: list[tuple[str, bytes, Any]] = [
    ("rust", b"[1,2]", [1, 2]),
    ("cpp", b"true", 1),
    ("cpp", b'"a"', 97),
    ("cpp", b"97", "a"),
    ("cpp", b"[2.3333333]", [2.3333333333333335]),
    ("java", b'"x"', "x"),
    ("java", b"[1.0]", [1]),
    ("go", b"[]", None),
]
DIFFERENT: list[tuple[str, bytes, Any]] = [
    ("rust", b"true", 1),
    ("cpp", b"2.33", 2.3333333333333335),
    ("cpp", b"0.1000000001", 0.1),
    ("cpp", b"[1]", [1, 2]),
    ("cpp", b"null", 0),
    ("cpp", b"{", 0),
    ("cpp", b"NaN", 0),
    ("java", b'"ab"', 97),
    *((language, sign + b"7" * 400, 2) for language in ("c", "cpp", "java", "go") for sign in (b"", b"-")),
    ("java", b"[" + b"7" * 400 + b"]", [0.5]),
    ("java", b"1e39", 2),
    *(("cpp", line, 1e39) for line in (b"1e40", b"1e300", b"Infinity", b"7" * 400)),
]


@pytest.mark.parametrize(("language", "line", "expected"), SAME)
def test_equal(language: str, line: bytes, expected: Any) -> None:
    assert difference(Check(CALL, expected), line, language) is None
    assert difference(Check(CALL, expected, negated=True), line, language) is not None


@pytest.mark.parametrize(("language", "line", "expected"), DIFFERENT)
def test_not_equal(language: str, line: bytes, expected: Any) -> None:
    assert difference(Check(CALL, expected), line, language) is not None
    assert difference(Check(CALL, expected, negated=True), line, language) is None


@pytest.mark.parametrize(
    ("language", "true", "false"),
    [
        (
            "javascript",
            (b"2", b"-1.5", b'"0"', b"[]", b"{}", b"Infinity", b"true"),
            (b"0", b"-0", b'""', b"null", b"NaN"),
        ),
        ("cpp", (b"2", b"0.5", b"true", b'"a"', b"NaN"), (b"0", b"-0.0", b"false", b'"\\u0000"')),
        ("java", (b"true",), (b"false",)),
    ],
)
def test_a_result_as_a_truth_value(language: str, true: tuple[bytes, ...], false: tuple[bytes, ...]) -> None:
    for lines, negated in ((true, False), (false, True)):
        for line in lines:
            check = Check(CALL, True, is_truth=True, negated=negated)
            assert difference(check, line, language) is None, line
            assert difference(replace(check, negated=not negated), line, language) is not None, line
    for negated in (False, True):
        check = Check(CALL, True, is_truth=True, negated=negated)
        assert difference(check, b"{", "javascript") is not None
        assert difference(check, b"null", "java") is not None


def test_a_tolerance_is_absolute_and_for_every_number() -> None:
    check = Check(CALL, [1000.0, 2.5], tolerance=1e-3)
    assert difference(check, b"[1000.0009,2.4999]", "cpp") is None
    assert difference(check, b"[1000.0011,2.5]", "cpp") is not None


def test_what_is_no_number_is_neither_near_nor_far() -> None:
    for negated in (False, True):
        check = Check(CALL, 1.0, tolerance=0.5, negated=negated)
        assert difference(check, b"NaN", "cpp") is not None


@pytest.mark.parametrize("negated", [False, True])
def test_null_has_no_method_that_a_test_program_in_java_calls(negated: bool) -> None:
    check = Check(CALL, "x", negated=negated, is_receiver=True)
    assert difference(check, b"null", "java") is not None
    assert difference(check, b'"y"' if negated else b'"x"', "java") is None
