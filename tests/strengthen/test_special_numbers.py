"""Special numbers: they are what they are called, and within their range."""

from __future__ import annotations

import math
import random

import pytest

from sandbox_service.strengthen.special_numbers import prime_below, special


def has_small_factor(number: int) -> bool:
    return any(number % each == 0 for each in range(2, math.isqrt(number) + 1))


def test_the_prime_below_a_number_is_the_greatest() -> None:
    primes = [each for each in range(2, 2000) if not has_small_factor(each)]
    for most in range(2, 2000):
        assert prime_below(most) == max(each for each in primes if each <= most)
    assert prime_below(1) == 1
    assert prime_below(10**18) == 10**18 - 11  # the greatest prime of 18 digits


@pytest.mark.parametrize(("low", "high"), [(1, 10**9), (-100, 100), (5, 5), (-9, -3), (0, 1), (10**9, 10**9 + 2)])
def test_special_numbers_are_within_their_range(low: int, high: int) -> None:
    chance = random.Random(7)
    assert all(low <= special(low, high, chance) <= high for _ in range(300))


def test_they_have_powers_primes_and_squares_and_products_of_primes() -> None:
    chance = random.Random(7)
    found = {special(1, 10**10, chance) for _ in range(20_000)}
    root = prime_below(10**5)
    assert {2**33, 3**20, 10**10, prime_below(10**10), root**2, root * prime_below(root - 1)} <= found
    assert {each for each in found if each & (each - 1) == 0} >= {1 << power for power in range(20)}
