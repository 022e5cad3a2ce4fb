"""Patterns of numbers: lists that are equal, sorted, alternating, full of ties, at the edges, special, or random."""

from __future__ import annotations

import random
from collections.abc import Callable

from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.special_numbers import prime_below, special

MOST_PRIMES = 16  # different ones of a list


def log_uniform(low: int, high: int, chance: random.Random) -> int:
    """Return a number from `low` to `high` whose count of digits is uniform.

    Args:
        low: The least number.
        high: The greatest number.
        chance: The source of randomness.
    """
    span = (high - low).bit_length()
    return max(low, min(low + (1 << chance.randint(0, span)) - chance.randint(0, 2), high)) if span else low


def arranged(numbers: list[int], pattern: str, chance: random.Random) -> list[int]:
    """Return sorted numbers in the order of a pattern.

    Args:
        numbers: Sorted numbers.
        pattern: The name of an order.
        chance: The source of randomness.
    """
    if pattern in ("ascending", "equal", "low"):
        return numbers
    if pattern in ("descending", "high"):
        return numbers[::-1]
    if pattern == "ridge":
        return _ridge(numbers)
    if pattern in ("narrow", "odd one") and len(numbers) > 1:  # one exchange from sorted
        first, second = chance.sample(range(len(numbers)), 2)
        numbers[first], numbers[second] = numbers[second], numbers[first]
        return numbers
    chance.shuffle(numbers)
    return numbers


def distinct_numbers(allowed: Range, length: int, pattern: str, chance: random.Random) -> list[int]:
    """Return distinct numbers of a pattern.

    Args:
        allowed: Their range, which has enough of them.
        length: How many.
        pattern: Narrow, low, and high ones lie together.
        chance: Random numbers.
    """
    high = min(allowed.high, allowed.low + 2 * length) if pattern in ("narrow", "ties", "low") else allowed.high
    low = max(allowed.low, allowed.high - 2 * length) if pattern == "high" else allowed.low
    found = chance.sample(range(low, max(high, low + length - 1) + 1), length)
    if pattern in ("ascending", "equal"):
        return sorted(found)
    if pattern == "ridge":
        return _ridge(sorted(found))
    return sorted(found, reverse=True) if pattern == "descending" else found


def _wide(low: int, high: int, length: int, chance: random.Random) -> list[int]:
    return [chance.randint(low, high) for _ in range(length)]


def _narrow(low: int, high: int, length: int, chance: random.Random) -> list[int]:
    start = chance.randint(low, max(low, high - 3)) if chance.random() < 0.3 else low
    return [chance.randint(start, min(high, start + 3)) for _ in range(length)]


def _equal(low: int, high: int, length: int, chance: random.Random) -> list[int]:
    return [chance.choice([low, high, chance.randint(low, high)])] * length


def _edges(low: int, high: int, length: int, chance: random.Random) -> list[int]:
    return [chance.choice([low, min(low + 1, high), max(high - 1, low), high]) for _ in range(length)]


def _ties(low: int, high: int, length: int, chance: random.Random) -> list[int]:
    few = [chance.randint(low, high) for _ in range(3)]
    return [chance.choice(few) for _ in range(length)]


def _alternating(low: int, high: int, length: int, _: random.Random) -> list[int]:
    return [(low, high)[place % 2] for place in range(length)]


def _odd_one(low: int, high: int, length: int, chance: random.Random) -> list[int]:
    found = [chance.randint(low, high)] * length
    found[chance.randrange(length)] = chance.randint(low, high)
    return found


def _ridge(numbers: list[int]) -> list[int]:
    """Return sorted numbers so that the greatest is the first, half of the others ascend, and then half descend.

    Some slow programs are fast on ascending numbers, others on descending or on random ones.
    """
    return [*numbers[-1:], *numbers[:-1:2], *numbers[1:-1:2][::-1]]


def _primes(low: int, high: int, length: int, chance: random.Random) -> list[int]:
    """A few of the greatest primes; the greatest number, if there is none."""
    pool = [prime_below(high)]
    while len(pool) < MOST_PRIMES and pool[-1] > 2:
        pool.append(prime_below(pool[-1] - 1))
    found = [each for each in pool if low <= each <= high] or [high]
    return [chance.choice(found) for _ in range(length)]


def _special(low: int, high: int, length: int, chance: random.Random) -> list[int]:
    return [special(low, high, chance) for _ in range(length)]


LISTS: dict[str, Callable[[int, int, int, random.Random], list[int]]] = {
    "wide": _wide,
    "narrow": _narrow,
    "equal": _equal,
    "edges": _edges,
    "ascending": lambda *given: sorted(_wide(*given)),
    "descending": lambda *given: sorted(_wide(*given), reverse=True),
    "ties": _ties,
    "low": lambda low, _, length, __: [low] * length,
    "high": lambda _, high, length, __: [high] * length,
    "alternating": _alternating,
    "odd one": _odd_one,
    "lower half": lambda low, high, length, chance: _wide(low, (low + high) // 2, length, chance),
    "special": _special,
    "ridge": lambda *given: _ridge(sorted(_wide(*given))),
    "prime": _primes,
}
