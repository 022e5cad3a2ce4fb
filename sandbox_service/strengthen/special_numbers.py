"""Numbers on which programs differ that are equal on random ones: powers, primes, squares and products of primes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import accumulate, chain, zip_longest

TRIES = 8
BASES = (2, 3, 5, 7, 10)
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # enough below 3.3 * 10^24 (Sorenson and Webster, 2015)


def special(low: int, high: int, chance: random.Random) -> int:
    """Return a special number from `low` to `high`; a random one if none of a few tries is there.

    Args:
        low: The least number.
        high: The greatest number.
        chance: Random numbers.
    """
    for _ in range(TRIES):
        sign = -1 if low < 0 and (high <= 0 or chance.random() < 0.3) else 1
        most = -low if sign < 0 else high
        if most < 1:
            break
        found = sign * chance.choice(_KINDS)(_magnitude(most, chance), chance)
        if low <= found <= high:
            return found
    return chance.randint(low, high)


def greatest(low: int, high: int) -> list[int]:
    """Return the ends of a range, the numbers beside them, and the greatest special numbers of each kind.

    Args:
        low: The least number.
        high: The greatest number.
    """
    found = [low, high, low + 1, high - 1]
    if high > 1:
        found += [_greatest_power(base, high) for base in BASES]
        root = math.isqrt(high)
        prime = prime_below(root)
        found += [prime_below(high), root * root, prime * prime, prime * prime_below(prime - 1)]
        found += [_divisible(high, random.Random(0)), _greatest_power(2, high) - 1]  # noqa: S311
    return [each for each in dict.fromkeys(found) if low <= each <= high]


def powers(low: int, high: int) -> list[int]:
    """Return the powers of small bases within a range, the greatest of each base first: they tell bounds of loops.

    Args:
        low: The least number.
        high: The greatest number.
    """
    by_base = [[base**exponent for exponent in range(high.bit_length(), 0, -1)] for base in BASES if high > 0]
    found = chain.from_iterable(zip_longest(*([each for each in one if low <= each <= high] for one in by_base)))
    return list(dict.fromkeys(each for each in found if each is not None))


def _greatest_power(base: int, most: int) -> int:
    found = 1
    while found * base <= most:
        found *= base
    return found


def _magnitude(most: int, chance: random.Random) -> int:
    """The greatest number half of the time, otherwise one with any number of digits."""
    return most if chance.random() < 0.5 else min(most, 1 << chance.randint(0, most.bit_length()))


def _power(most: int, chance: random.Random) -> int:
    return _greatest_power(chance.choice((2, *BASES)), most) + chance.choice((-1, 0, 0, 0, 1))


def _smooth(most: int, chance: random.Random) -> int:
    found = 1
    while (factor := chance.choice((2, 3))) * found <= most:
        found *= factor
    return found


def _prime(most: int, _: random.Random) -> int:
    return prime_below(most)


def _square(most: int, _: random.Random) -> int:
    prime = prime_below(math.isqrt(most))
    return prime * prime


def _product(most: int, _: random.Random) -> int:
    prime = prime_below(math.isqrt(most))
    return prime * prime_below(prime - 1)


def _divisible(most: int, _: random.Random) -> int:
    """The greatest product of the first primes."""
    return max((each for each in accumulate((1, *_WITNESSES), int.__mul__) if each <= most), default=1)


def _of_one_digit(most: int, chance: random.Random) -> int:
    """A number whose digits are equal: some problems are about digits."""
    digit, size = chance.randint(1, 9), len(str(most))
    return int(str(digit) * (size if int(str(digit) * size) <= most else size - 1) or "1")


_KINDS: tuple[Callable[[int, random.Random], int], ...] = (
    _power,
    _power,
    _smooth,
    _prime,
    _square,
    _product,
    _divisible,
    _of_one_digit,
)


def prime_below(most: int) -> int:
    """Return the greatest prime that is not greater, 1 if there is none.

    Args:
        most: Below 3.3 * 10^24.
    """
    while most > 1 and not _is_prime(most):
        most -= 1
    return max(most, 1)


def _is_prime(number: int) -> bool:
    """The test of Miller and Rabin with witnesses that suffice for numbers of this size."""
    if number in _WITNESSES or any(number % each == 0 for each in _WITNESSES):
        return number in _WITNESSES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, pow(each, odd, number), twos) for each in _WITNESSES)


def _passes(number: int, power: int, twos: int) -> bool:
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False
