"""Text checkers: what each accepts and refuses, and errors of other graders that they avoid."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_service.judging.checkers import EXACT_BYTES, _parsed, accepts_equal, check
from sandbox_service.judging.numeric import same_number, same_numbers, tolerance_of
from sandbox_service.judging.values import MOST_OBJECTS, check_result, refusal
from sandbox_service.schema import Checker
from sandbox_service.schema.tests import OWN_TOLERANCE

TYPES = ["exact", "lines", "tokens", "numbers", "json", "unordered_lines"]
TEXT_TYPES = ["exact", "lines", "tokens", "unordered_lines"]
MEGABYTE = 1 << 20


def right(checker: Checker, output: bytes, expected: bytes) -> bool:
    reason = check(checker, output, expected)
    assert reason is None or (isinstance(reason, str) and 0 < len(reason) < 300)
    return reason is None


EXACT = [
    (b"3\n", b"3\n", True),
    (b"3", b"3\n", False),
    (b"3\r\n", b"3\n", False),
    (b"a b", b"a  b", False),
    (b"", b"", True),
    (b"", b"\n", False),
]
LINES = [
    (b"a b  \nc\n", b"a b\nc", True),
    (b"a\r\nb\r\n", b"a\nb\n", True),
    (b"a\n\n \n", b"a\n", True),
    (b"a\n\nb", b"a\nb", False),
    (b" a", b"a", False),
    (b"a  b", b"a b", False),
    (b"a\nb\nc", b"a\nb", False),
    (b"a", b"a\nb", False),
    (b"\n\n", b"", True),
    (b"a b\n", b"a\nb\n", False),
]
TOKENS = [
    (b" 1\t2\r\n3\x0b", b"1 2 3", True),
    (b"1 2", b"1 2 3", False),
    (b"1 2 3", b"1 2", False),
    (b"12", b"1 2", False),
    (b"1.0", b"1", False),
    (b"01", b"1", False),
    (b"yes", b"YES", False),
    (b"nan", b"nan", True),
    (b"\xff\xfe", b"\xff\xfe", True),
    (b"\xff", b"\xfe", False),
    (b"1\x002", b"1 2", False),
    (b"1\xc2\xa02", b"1 2", False),
]
NUMBERS = [
    (b"1.0", b"1", True),
    (b"+1 -0 1e2", b"1 0 100", True),
    (b".5 5.", b"0.5 5.0", True),
    (b"1e400", b"1e401", False),
    (b"10e399", b"1e400", True),
    (b"0.1", b"0.10000000000000000001", False),
    (b"1000000000000000001", b"1000000000000000000", False),
    (b"1000000000000000001", b"1e18", False),
    (b"one", b"1", False),
    (b"one", b"one", False),
    (b"1 one", b"1 one", False),
    (b"nan", b"nan", False),
    (b"inf", b"inf", False),
    (b"0x1", b"1", False),
    (b"1_0", b"10", False),
    ("١".encode(), b"1", False),
    (b"1 1", b"1", False),
    (b"1e1 01 1. .5 -0", b"10 1 1.0 0.50 0", True),
    (b"1e1 1e5", b"10 100001", False),
    (b"1e-9 1e-99", b"0.000000001 1e-999", False),
    (b"1 +-1", b"1 1", False),
    (b"1 1e", b"1 1", False),
    (b"1 .", b"1 0", False),
    (b"9007199254740993", b"9007199254740992.0", False),
    (b"123456789012345", b"123456789012345.0", True),
    (b"1234567890.12345", b"1234567890.12346", False),
    (b"", b"1", False),
    (b"1e99999999999999999999", b"2e99999999999999999999", False),
]
JSON = [
    (b'{"a": [1, 2], "b": null}', b'{"b":null,"a":[1,2]}', True),
    (b"[1, 2]", b"[2, 1]", False),
    (b"1.0", b"1", True),
    (b"true", b"1", False),
    (b"false", b"0", False),
    (b"0", b"null", False),
    (b"NaN", b"NaN", False),
    (b"[NaN]", b"[NaN]", False),
    (b"1e400", b"2e400", False),
    (b"1e400", b"1e400", True),
    (b"1000000000000000001", b"1e18", False),
    (b'"\\u0041"', b'"A"', True),
    (b'{"1": 2}', b'{"1": 2, "2": 3}', False),
    (b'{"a": 1, "a": 2}', b'{"a": 2}', False),
    (b'[{"a": 2, "a": 2}]', b'[{"a": 2}]', False),
    (b"[1.0, true]", b"[1, true]", True),
    (b"[1.0, 1]", b"[1, true]", False),
    (b"[0.5, NaN]", b"[0.50, NaN]", False),
    (b"[1.0, 2.0]", b"[1, 2]", True),
    (b"[1e-400]", b"[0.0]", False),
    (b"[0." + b"0" * 400 + b"1]", b"[0.0]", False),
    (b"[1e1]", b"[10]", True),
    (b"[1", b"[1", False),
    (b"1 2", b"1 2", False),
    (b'"\xff"', b'"\xff"', False),
    (b"\xef\xbb\xbf1", b"1", False),
    (b"", b"1", False),
    (b"1", b"", False),
    (b"\n", b"", True),
]
UNORDERED_LINES = [
    (b"b\na\n", b"a\nb\n", True),
    (b"b \r\na", b"a\nb", True),
    (b"a\na\nb", b"a\nb\nb", False),
    (b"a\nb", b"a\nb\nb", False),
    (b"a\nb\nb", b"a\nb", False),
    (b"2 1", b"1 2", False),
    (b"\n\n", b"", True),
]


@pytest.mark.parametrize(
    ("kind", "output", "expected", "verdict"),
    [
        (kind, *case)
        for kind, cases in zip(TYPES, [EXACT, LINES, TOKENS, NUMBERS, JSON, UNORDERED_LINES], strict=True)
        for case in cases
    ],
)
def test_each_checker_accepts_and_refuses(kind: str, output: bytes, expected: bytes, verdict: bool) -> None:
    assert right(Checker(type=kind), output, expected) is verdict


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param(b"NO", b"YES", id="any word for any word (DeepCoder)"),
        pytest.param(b"abc def", b"xyz qqq", id="any two words for any two (DeepCoder)"),
        pytest.param(b"5", b"5 5", id="duplicates ignored (rLLM)"),
        pytest.param(b"100000001", b"100000000", id="near integers (rLLM)"),
        pytest.param(b"1000000000000000001", b"1000000000000000000", id="large integers as floats (rLLM)"),
        pytest.param(b"-100000001", b"-100000000", id="negative integers as floats (AstraFlow)"),
        pytest.param(b"", b"0", id="nothing for something"),
        pytest.param(b"YES NO", b"YES", id="print everything"),
        pytest.param(b"YES\nNO\n", b"NO", id="print everything, the answer last"),
        pytest.param(b"x", b"", id="something for nothing"),
    ],
)
@pytest.mark.parametrize("tolerance", [None, 1e-5])
def test_nobody_pays_for_what_other_graders_pay(
    kind: str, output: bytes, expected: bytes, tolerance: float | None
) -> None:
    assert not right(Checker(type=kind, float_tolerance=tolerance), output, expected)


@pytest.mark.parametrize("kind", ["exact", "lines", "tokens", "numbers", "json"])
def test_order_matters_unless_asked_otherwise(kind: str) -> None:
    assert not right(Checker(type=kind), b"1\n2\n", b"2\n1\n")
    assert right(Checker(type="unordered_lines"), b"1\n2\n", b"2\n1\n")


@pytest.mark.parametrize("kind", ["lines", "tokens", "numbers", "unordered_lines"])
def test_valid_programs_are_not_refused_for_their_white_space(kind: str) -> None:
    assert right(Checker(type=kind), b"1 2 \r\n3\r\n\r\n", b"1 2\n3")


TOLERANT = [
    # absolute or relative, whichever is met
    (b"0.0000001", b"0.0", True),
    (b"0.00001", b"0.0", False),
    (b"1000000.5", b"1000000.0", True),
    (b"1000002.5", b"1000000.0", False),
    # exactly at the bound, as it is written
    (b"1.000001", b"1.0", True),
    (b"1.0000011", b"1.0", False),
    (b"1", b"1.0", True),
    (b"1.0", b"1", True),
    (b"1.0000001", b"1", True),
    (b"1e0", b"1", True),
    (b"007", b"7", True),
    (b"+7", b"7", True),
    (b"-0", b"0", True),
    # integers are never rounded
    (b"1000000001", b"1000000000", False),
    (b"-1000000001", b"-1000000000", False),
    (b"-7", b"7", False),
    # numbers only where both are
    (b"x", b"1.0", False),
    (b"1.0", b"x", False),
    (b"x", b"x", True),
    # no numbers at all
    (b"nan", b"1.0", False),
    (b"1.0", b"nan", False),
    (b"nan", b"nan", False),
    (b"-NaN", b"-NaN", False),
    (b"banana", b"banana", True),
    (b"inf", b"inf", True),
    (b"inf", b"infinity", False),
    (b"inf", b"1e999", False),
    (b"0x10", b"16.0", False),
    (b"1_0.0", b"10.0", False),
    (b"10.0", b"1_0.0", False),
    (b"1.0", b"\xff", False),
    (b"1e", b"1.0", False),
    (b".", b"0.0", False),
    ("１.0".encode(), b"1.0", False),
    # beyond floats
    (b"5", b"1e400", False),
    (b"2e400", b"1e400", False),
    (b"1.00000001e400", b"1e400", True),
    (b"1e999999999999999999999", b"5.0", False),
    (b"5.0", b"1e999999999999999999999", False),
    (b"1e999999999999999999", b"-1e999999999999999999", False),
]


@pytest.mark.parametrize(("output", "expected", "verdict"), TOLERANT)
def test_tokens_with_a_tolerance(output: bytes, expected: bytes, verdict: bool) -> None:
    assert right(Checker(float_tolerance=1e-6), output, expected) is verdict
    assert right(Checker(float_tolerance=1e-6), b"a " + output, b"a " + expected) is verdict


def test_each_tolerance_can_be_given_alone() -> None:
    assert right(Checker(absolute_tolerance=0.5), b"100.4", b"100.0")
    assert not right(Checker(absolute_tolerance=0.5), b"100.6", b"100.0")
    assert right(Checker(relative_tolerance=0.5), b"140.0", b"100.0")
    assert not right(Checker(relative_tolerance=0.5), b"0.1", b"0.0")


def test_differences_are_not_rounded_down_to_the_tolerance() -> None:
    assert right(Checker(absolute_tolerance=0.1), b"1.1", b"1.0")
    assert not right(Checker(absolute_tolerance=0.1), b"1.100000000000000000000000000001", b"1.0")


def test_a_named_tolerance_goes_before_the_common_one() -> None:
    checker = Checker(float_tolerance=0.1, absolute_tolerance=0.0)
    assert not right(checker, b"0.05", b"0.0")
    assert right(checker, b"1.05", b"1.0")


def test_the_relative_tolerance_is_of_the_expected_number() -> None:
    assert right(Checker(relative_tolerance=0.5), b"1.0", b"2.0")
    assert not right(Checker(relative_tolerance=0.5), b"2.0", b"1.0")


def test_a_tolerance_of_nothing_still_compares_by_value() -> None:
    assert right(Checker(float_tolerance=0.0), b"1.50", b"1.5")
    assert not right(Checker(), b"1.50", b"1.5")


def test_numbers_and_json_have_tolerances_too() -> None:
    for kind in ("numbers", "json"):
        checker = Checker(type=kind, float_tolerance=1e-6)
        assert right(checker, b"0.3333333", b"0.33333333")
        assert right(checker, b"1.0000001", b"1")
        assert not right(checker, b"1000000001", b"1000000000")
        assert not right(checker, b"0.334", b"0.333")


@pytest.mark.parametrize("kind", TEXT_TYPES)
def test_case_is_ignored_only_if_asked(kind: str) -> None:
    assert right(Checker(type=kind, ignore_case=True), b"Yes", b"YES")
    assert not right(Checker(type=kind, ignore_case=True), b"No", b"YES")
    assert not right(Checker(type=kind), b"Yes", b"YES")


def test_case_of_json_text_but_not_of_its_syntax() -> None:
    checker = Checker(type="json", ignore_case=True)
    assert right(checker, b'["Yes"]', b'["YES"]')
    assert not right(checker, b"TRUE", b"true")


@pytest.mark.parametrize(
    ("kind", "output", "expected", "reason"),
    [
        ("tokens", b"a\nb\nNO", b"a b YES", "line 3: got 'NO', expected 'YES'"),
        ("tokens", b"1", b"1 2", "the output ends where '2' is expected"),
        ("tokens", b"1\n2", b"1", "line 2: got '2', expected the end of the output"),
        ("tokens", b"\xff", b"1", "line 1: got '\ufffd', expected '1'"),
        ("tokens", b"x" * 99, b"1", f"line 1: got '{'x' * 40}'…, expected '1'"),
        ("lines", b"a\nb", b"a\nc", "line 2: got 'b', expected 'c'"),
        ("lines", b"a" * 60 + b"b", b"a" * 60 + b"c", "line 1, byte 61: got 'b', expected 'c'"),
        ("lines", b"a", b"a\nb", "the output ends before line 2: expected 'b'"),
        ("exact", b"a\n", b"a", "line 1: got 'a\\n', expected 'a'"),
        ("unordered_lines", b"a", b"a\nb", "the line 'b' is missing"),
        ("json", b'{"a": [1, 2]}', b'{"a": [1, 3]}', "at .a[1]: got 2, expected 3"),
    ],
)
def test_the_reason_says_where_and_what(kind: str, output: bytes, expected: bytes, reason: str) -> None:
    assert check(Checker(type=kind), output, expected) == reason


@pytest.mark.parametrize("kind", TYPES)
@given(data=st.binary())
def test_a_reason_can_always_be_written_as_utf8(kind: str, data: bytes) -> None:
    for reason in (check(Checker(type=kind), data, b"7"), check(Checker(type=kind), b"7", data)):
        assert reason is None or reason.encode()


@pytest.mark.parametrize("kind", TEXT_TYPES)
@given(data=st.binary())
def test_text_is_right_if_it_is_the_same(kind: str, data: bytes) -> None:
    assert check(Checker(type=kind), data, data) is None
    assert check(Checker(type=kind, ignore_case=True), data, data) is None


WORDS = st.lists(st.text("ab1.-", min_size=1, max_size=4).map(str.encode), max_size=8)
SPACE = st.text(" \t\r\n\v\f", min_size=1, max_size=3).map(str.encode)


@given(words=WORDS, space=st.lists(SPACE, min_size=9, max_size=9), tolerance=st.sampled_from([None, 1e-6]))
def test_tokens_do_not_see_white_space(words: list[bytes], space: list[bytes], tolerance: float | None) -> None:
    spread = b"".join(gap + word for gap, word in zip(space, words, strict=False)) + space[-1]
    assert check(Checker(float_tolerance=tolerance), spread, b" ".join(words)) is None


@given(left=WORDS, right=WORDS)
def test_tokens_see_every_other_difference(left: list[bytes], right: list[bytes]) -> None:
    assert (check(Checker(), b" ".join(left), b"\n".join(right)) is None) == (left == right)


DECIMALS = st.from_regex(
    r"[+-]?(\d{1,4}(\.\d{0,4})?|\.\d{1,4})([eE][+-]?\d{1,2})?", fullmatch=True, alphabet="0123456789.+-eE"
)


@given(got=DECIMALS, expected=DECIMALS)
def test_numbers_are_compared_by_their_exact_values(got: str, expected: str) -> None:
    same = check(Checker(type="numbers"), got.encode(), expected.encode()) is None
    assert same == (Fraction(got) == Fraction(expected))


@given(got=DECIMALS, expected=DECIMALS, tolerance=st.sampled_from(["0.0", "0.001", "0.5", "2.0"]))
def test_tolerances_mean_what_they_say(got: str, expected: str, tolerance: str) -> None:
    distance, bound = abs(Fraction(got) - Fraction(expected)), Fraction(tolerance)
    integers = got.lstrip("+-").isdigit() and expected.lstrip("+-").isdigit()
    near = distance == 0 or (not integers and distance <= max(bound, bound * abs(Fraction(expected))))
    assert (check(Checker(float_tolerance=float(tolerance)), got.encode(), expected.encode()) is None) == near


@given(lines=st.lists(st.sampled_from([b"a", b"b", b"c c"]), max_size=6), data=st.data())
def test_unordered_lines_are_a_multiset(lines: list[bytes], data: st.DataObject) -> None:
    other = data.draw(st.permutations(lines))
    assert check(Checker(type="unordered_lines"), b"\n".join(other), b"\n".join(lines)) is None
    if lines:
        assert check(Checker(type="unordered_lines"), b"\n".join(other[1:]), b"\n".join(lines)) is not None


# begin, what is repeated to make eight megabytes, end
HOSTILE = {
    "digits": (b"", b"7", b""),
    "digits, then a letter": (b"", b"7", b"x"),
    "exponent of digits": (b"1e", b"9", b""),
    "points": (b"", b"1.", b""),
    "new lines": (b"", b"\n", b"x"),
    "short tokens": (b"", b"1 ", b""),
    "brackets": (b"", b"[", b""),
    "objects": (b"", b'{"":', b""),
    "quotes": (b"", b'"', b""),
    "NULs": (b"", b"\0", b""),
    "blanks": (b"", b" ", b"x"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", TYPES)
def test_hostile_output_is_merely_wrong(kind: str, name: str) -> None:
    """Quadratic time would take hours here."""
    begin, part, end = HOSTILE[name]
    output = begin + part * (8 * MEGABYTE // len(part)) + end
    assert not right(Checker(type=kind, float_tolerance=1e-6), output, b"5.5\n")


@pytest.mark.parametrize("brackets", [50_000, 60_000])
def test_deep_json_is_no_json(brackets: int) -> None:
    deep = b"[" * brackets + b"]" * brackets
    assert not right(Checker(type="json"), deep, deep)
    assert not right(Checker(type="json"), deep, b"[]")


def test_json_may_not_be_absurdly_longer_than_expected() -> None:
    bloat = b" " * MEGABYTE
    assert not right(Checker(type="json"), bloat + b"[1]", b"[1]")
    assert right(Checker(type="json"), b" " * 1000 + b"[1]", b"[1]")


@pytest.mark.parametrize("kind", ["tokens", "numbers", "json"])
@pytest.mark.parametrize("tolerance", [None, 1e-6])
def test_integers_of_millions_of_digits_are_compared_digit_by_digit(kind: str, tolerance: float | None) -> None:
    many = b"1" * 5_000_000
    checker = Checker(type=kind, float_tolerance=tolerance)
    assert right(checker, many + b"2", many + b"2\n")
    assert not right(checker, many + b"2", many + b"3\n")


def test_leading_zeros_of_long_integers_do_not_count() -> None:
    many = b"1" * 1_000_000
    assert right(Checker(type="numbers"), b"-" + b"0" * 1_000_000 + many, b"-" + many)
    assert not right(Checker(type="numbers"), b"-" + b"0" * 1_000_000 + many, many)


@pytest.mark.parametrize(("kind", "part"), [("tokens", b"12 "), ("tokens", b"12\r\n"), ("numbers", b"1.5\n")])
def test_large_outputs_are_compared_to_the_end(kind: str, part: bytes) -> None:
    """Large outputs are split into pieces; no token may be lost or cut where they join."""
    many = part * (MEGABYTE + 1)
    assert right(Checker(type=kind), many + b"34", b" " + many.replace(b"\r\n", b"\n") + b"34\n")
    assert not right(Checker(type=kind), many + b"34", many + b"35\n")
    assert not right(Checker(type=kind), many, many + b"34")
    assert not right(Checker(type=kind), many + b"34", many)


def test_a_token_longer_than_a_piece_is_one_token() -> None:
    many = b"x" * (3 * MEGABYTE)
    assert right(Checker(), many + b" y\n", b"\n" + many + b" y")
    assert not right(Checker(), many + b" y\n", many + b"y")


def test_the_line_of_a_late_token_is_right() -> None:
    many = b"12\n" * MEGABYTE
    assert check(Checker(), many + b"x", many + b"y") == f"line {MEGABYTE + 1}: got 'x', expected 'y'"


ODD_NUMBERS = [
    "0", "-0", "0.0", "-0.0", "1", "1.0", "5e-324", "1e-400", "1e308", "1e400", "2e400", "-1e400", "1" + "0" * 400,
    "1" + "0" * 5000, "9" * 5000, "1e999999999", "0.1", "0.10", "1000000", "1e6",
    "123456789012345678", "123456789012345679",
]  # fmt: skip


@given(
    kind=st.sampled_from(["exact", "stripped", "lines", "tokens", "numbers", "json", "yes_no", "token_lines"]),
    expected=st.text(st.characters(codec="utf-8")) | st.sampled_from(["nan", "1 NaN", "inf", "1.0\n"]),
    ignore_case=st.booleans(),
)
def test_an_equal_output_is_right_where_its_type_says_so(kind: Any, expected: str, ignore_case: bool) -> None:
    checker = Checker(type=kind, ignore_case=ignore_case and kind != "json")
    assert not accepts_equal(checker, expected) or right(checker, expected.encode(), expected.encode())


def test_equal_outputs_of_most_tests_need_no_comparison() -> None:
    assert all(accepts_equal(Checker(type=kind), "1 yes\n") for kind in ("exact", "stripped", "lines", "tokens"))


NO_NUMBERS = ["inf", "-inf", "nan", "NaN", "Infinity", "0x10", "1_0", "\u0661", "one", "None"]
ALL_TYPES = ["exact", "stripped", "lines", "tokens", "numbers", "json", "unordered_lines", *OWN_TOLERANCE]


@pytest.mark.parametrize("kind", ALL_TYPES)
@pytest.mark.parametrize("tolerance", [None, 1e-6])
def test_no_word_is_a_finite_number_and_no_number_a_word(kind: Any, tolerance: float | None) -> None:
    checker = Checker(type=kind, float_tolerance=None if kind in OWN_TOLERANCE else tolerance)
    for number in ODD_NUMBERS:
        for word in NO_NUMBERS:
            assert check(checker, word.encode(), number.encode()) is not None
            assert check(checker, number.encode(), word.encode()) is not None


@pytest.mark.parametrize("kind", ALL_TYPES)
@pytest.mark.parametrize("tolerance", [None, 1e-6])
def test_a_finite_number_is_right_where_it_is_expected(kind: Any, tolerance: float | None) -> None:
    checker = Checker(type=kind, float_tolerance=None if kind in OWN_TOLERANCE else tolerance)
    for number in ODD_NUMBERS:
        assert check(checker, number.encode(), number.encode()) is None


@pytest.mark.parametrize("kind", ["numbers", "json", "lcb"])
def test_numbers_beyond_a_float_are_told_apart(kind: Any) -> None:
    for got, wanted in [("1e-400", "0"), ("0", "1e-400"), ("2e400", "1e400"), ("1" + "0" * 400, "2e400")]:
        assert check(Checker(type=kind), got.encode(), wanted.encode()) is not None
    assert check(Checker(type=kind), b"1" + b"0" * 400, b"1e400") is None


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=None).map(str) | st.integers().map(str)


@given(
    pairs=st.lists(st.tuples(DECIMALS, DECIMALS) | DECIMALS.map(lambda text: (text, text)), max_size=5),
    tolerance=st.sampled_from([None, 0.0, 1e-9, 1e-3, 10.0]),
)
def test_many_numbers_are_compared_as_one_by_one(pairs: list[tuple[str, str]], tolerance: float | None) -> None:
    bounds = tolerance_of(Checker(float_tolerance=tolerance))
    gots, wanteds = [got.encode() for got, _ in pairs], [wanted.encode() for _, wanted in pairs]
    each = [same_number(got, wanted, bounds) for got, wanted in zip(gots, wanteds, strict=True)]
    assert same_numbers(gots, wanteds, bounds) == all(each)


@pytest.mark.parametrize("words", [1023, 1024, 1025, 5000])
def test_tokens_are_counted_across_the_pieces_in_which_they_are_compared(words: int) -> None:
    near = Checker(float_tolerance=1e-6)
    expected = b"0.5\n" * words
    assert check(near, b"0.50\n" * words, expected) is None
    assert check(near, b"0.50\n" * (words - 1) + b"0.6", expected) == f"line {words}: got '0.6', expected '0.5'"
    assert check(near, b"0.50\n" * (words - 1), expected) == "the output ends where '0.5' is expected"
    assert (
        check(near, b"0.50\n" * (words + 1), expected)
        == f"line {words + 1}: got '0.50', expected the end of the output"
    )


@pytest.mark.parametrize(
    "text",
    ["-0", "0e5", "1E5", "1e-7", "9007199254740993.0", "1e99", "123456789012345678901234567890", "NaN",
     "-Infinity", '"\\ud800"', '"\\ud83d\\ude00"', '"a:b"', '{"a:b": 1, "a": {}}', '{"a\\u003ab": 1, "b": 2}',
     "[" * 300 + "]" * 300],
)  # fmt: skip
def test_json_is_read_as_python_does(text: str) -> None:
    assert repr(_parsed(text.encode())) == repr(json.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '{"a:": 1, "a:": 1}',
        '[{"x\\u003a": 1, "x:": 1}]',
        "01",
        "1.",
        "[1,]",
        "-NaN",
        "\ufeff1",
        '"\t"',
    ],
)
def test_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        _parsed(text.encode())


def test_numbers_beyond_floats_are_kept_beside_others() -> None:
    assert repr(_parsed(b"[1e400, 1e-400, 0e999, 1.5, 1e300]")) == (
        "[Decimal('1E+400'), Decimal('1E-400'), 0.0, 1.5, 1e+300]"
    )


def _long(value: str) -> bytes:
    """JSON of a list of more than EXACT_BYTES, whose last element is this one."""
    return b"[" + b"0.5," * (EXACT_BYTES // 4) + value.encode() + b"]"


@pytest.mark.parametrize(
    ("output", "expected", "is_right"),
    [
        ("1e-999", "0.0", True),
        ("1e-999", "-1e-998", True),
        ("1e-999", "0.25", False),
        ("1e300", "1.0e300", True),
        ("1e300", "1e299", False),
        ("1e999", "0.5", False),
        ("0.5", "1e999", False),
        ("1e999", "1e999", False),
        ("1e999", "Infinity", False),
        ("Infinity", "1e999", False),
        ("9" * 5000, "9" * 5000, True),
        ("9" * 5000, "9" * 4999 + "8", False),
        ('["\\ud800", 1e-999]', '["\\ud800", 0.0]', True),
        ('["\\ud800", 1e999]', '["\\ud800", 0.5]', False),
        ('{"a": 1e-999, "b": 1e-99}', '{"b": 1e-99, "a": 0.0}', True),
    ],
)
def test_long_json_has_floats_only(output: str, expected: str, is_right: bool) -> None:
    assert (check(Checker(type="json"), _long(output), _long(expected)) is None) == is_right
    if "999" in expected and "e-" not in expected and len(expected) < 10:
        assert check(Checker(type="json"), _long(expected), _long(expected)) is not None  # which is `bad_test`


def test_json_of_too_many_objects_is_refused_whatever_the_answer() -> None:
    checker, many = Checker(type="json"), b"[" + b"{}," * MOST_OBJECTS + b"{}]"
    for output, expected in ((many, many), (b"[]", many), (many, b"[" + b"0," * len(many) + b"0]")):
        assert "objects, the most is" in (check(checker, output, expected) or "")
    fitting = b"[" + b"{}," * (MOST_OBJECTS - 1) + b'{"{": "' + b'{\\"' * 9 + b'"}]'
    assert check(checker, fitting, fitting) is None


def test_results_of_too_many_objects_are_refused_whatever_the_answer() -> None:
    checker = Checker()
    many: list[dict[str, int]] = [{}] * (MOST_OBJECTS + 1)
    assert "objects, the most is" in (refusal(checker, many) or "")
    assert "objects, the most is" in (check_result(checker, json.dumps(many).encode(), many) or "")
    sets = b"[" + b'{"__set__":[]},' * MOST_OBJECTS + b'{"__set__":[]}]'
    assert "objects, the most is" in (check_result(checker, sets, [[]] * (MOST_OBJECTS + 1)) or "")
    assert refusal(checker, ["{" * (MOST_OBJECTS + 1)]) is None
    assert refusal(checker, [float("nan")]) is not None
