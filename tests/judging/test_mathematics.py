"""Mathematical answers that are decided without a sandbox: equal text and plain numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_service.judging.mathematics import accepted, at_once, refusal

SAME = [("5", "5"), ("$x+1$", "x + 1"), (r"\left(1,2\right)", "(1, 2)"), ("nonsense {", "nonsense {")]
UNDECIDED = [("1 2", "12"), ("x+1", "1+x"), ("1/0", "5"), (r"\frac{1}{x}", "5"), ("٣", "3"), ("sin x", "sinx")]


@pytest.mark.parametrize(("got", "expected"), SAME)
def test_the_same_text_is_right_whatever_it_says(got: str, expected: str) -> None:
    assert at_once(got.encode(), [expected]) == (True, None)


@pytest.mark.parametrize(("got", "expected"), UNDECIDED)
def test_what_has_to_be_understood_is_left_open(got: str, expected: str) -> None:
    assert at_once(got.encode(), [expected]) == (False, None)


@given(st.fractions(), st.fractions())
def test_plain_numbers_are_compared_exactly(one: Fraction, other: Fraction) -> None:
    decided, reason = at_once(rf"\frac{{{one.numerator}}}{{{one.denominator}}}".encode(), [str(other)])
    assert decided
    assert (reason is None) == (one == other)


def test_a_number_that_may_be_near_enough_is_left_open() -> None:
    assert at_once(b"3.14", ["3.15"]) == (True, "got '3.14', expected '3.15'")
    assert at_once(b"3.14", ["3.15"], tolerant=True) == (False, None)
    assert at_once(b"3", ["4"], tolerant=True) == (True, "got '3', expected '4'")


def test_any_of_several_will_do() -> None:
    assert at_once(b"0.5", ["7", r"\frac{1}{2}"]) == (True, None)
    assert at_once(b"8", ["7", "x"]) == (False, None)
    assert at_once(b"8", ["7", "9"])[1] is not None


def test_too_much_is_no_answer() -> None:
    assert at_once(b"1" * 5_000_000, ["1"]) == (True, "the answer has 5000000 bytes, the most is 4000")
    assert at_once(b" \n", ["1"]) == (True, "there is no answer")
    assert refusal("1" * 5000) == "an answer that is too long"
    assert refusal(r"\boxed{}") == "an empty answer"
    assert refusal("1") is None


def test_an_expected_answer_may_stand_in_a_box() -> None:
    assert accepted([r"so $\boxed{\frac{1}{2}}$", " 7 "]) == [r"\frac{1}{2}", "7"]
