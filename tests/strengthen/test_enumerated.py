"""Inputs that are enumerated: the least and the greatest ones, and those of special numbers."""

from __future__ import annotations

from sandbox_service.schema import StdinTest
from sandbox_service.strengthen import tiers
from sandbox_service.strengthen.answers import Candidate
from sandbox_service.strengthen.choice import extremes
from sandbox_service.strengthen.form import Form, Length, Line, Rest
from sandbox_service.strengthen.special_numbers import greatest, powers
from sandbox_service.strengthen.tiers import Made
from tests.strengthen.test_bounds import made


def test_the_greatest_special_numbers_of_a_range_are_there() -> None:
    found = set(greatest(1, 10**9))
    assert found >= {1, 2, 10**9 - 1, 10**9, 2**29, 2**29 - 1, 3**18, 5**12, 7**10, 31622**2, 31607**2, 999_999_937}
    assert all(5 <= each <= 40 for each in greatest(5, 40))
    assert greatest(-9, -3) == [-9, -3, -8, -4]


def test_powers_have_every_exponent() -> None:
    assert set(powers(1, 10**9)) >= {base**exponent for base in (2, 3, 5, 7, 10) for exponent in range(1, 10)}
    assert {2**exponent for exponent in range(1, 30)} <= set(powers(1, 10**9))
    assert all(10 <= each <= 99 for each in powers(10, 99))


def test_one_of_two_numbers_is_special_while_the_other_one_is_least() -> None:
    found = {each.text for each in made("1 ≤ a, b ≤ 10^9", ["15 20\n", "14 8\n"])}
    assert {f"{2**29} 1\n", f"1 {2**29}\n", "999999937 1\n", "1000000000 1\n"} <= found


def test_numbers_in_order_stay_in_order() -> None:
    found = [tuple(map(int, each.text.split())) for each in made("1 ≤ n ≤ m ≤ 5·10^8", ["120 51840\n", "42 42\n"])]
    assert (1, 2**28) in found
    assert all(n <= m for n, m in found)


def test_lines_of_numbers_share_inputs() -> None:
    inputs = ["2\n6 3\n4 2\n", "1\n1754 8217\n"]
    found = [each for each in made("1 ≤ q ≤ 100, 1 ≤ x_i, y_i ≤ 10^6", inputs) if each.tier == tiers.SPECIAL.name]
    rows = {line for each in found for line in each.text.split("\n")[1:]}
    assert {"524288 1000000", "1 1000000", "1000000 1"} <= rows
    assert max(int(each.text.split()[0]) for each in found) > 10


def test_the_least_and_the_greatest_inputs_are_made() -> None:
    found = made("1 ≤ n ≤ 100, -50 ≤ a_i ≤ 1000", ["3\n7 7 4\n", "5\n2 0 900 2 4\n"])
    assert "1\n-50\n" in {each.text for each in found if each.tier == tiers.LEAST.name}
    assert any(set(each.text.split()[1:]) == {"1000"} for each in found if each.tier == tiers.GREATEST.name)


def test_an_empty_list_at_the_end_is_an_empty_line() -> None:
    form = Form((Line((0,)), Line((), Rest(1, Length(0, 1, -1)))))
    assert form.fits("1\n\n")
    assert form.fits("1\n")
    assert not form.fits("2\n")


def test_the_least_input_comes_first_of_the_extremes() -> None:
    texts = [("1\n0\n", "seen"), ("1\n-50\n", tiers.LEAST.name), ("2\n999 1\n", "seen")]
    candidates = [Candidate(StdinTest(input=text, output="1"), Made(text, tier, tier), "1") for text, tier in texts]
    assert extremes(candidates)[:2] == [1, 2]
