"""Properties of single numbers that a statement says in usual words: an even integer, a prime, a power of two.

Made inputs keep a property where all given inputs have it. The number that the sentence is about is among these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

Numbers = Mapping[int, Sequence[int]]
"""The numbers of an input by slot."""

MOST_TESTED = 10**10  # no larger number is taken for a prime


def _is_prime(number: int) -> bool:
    return 1 < number <= MOST_TESTED and all(number % each for each in range(2, isqrt(number) + 1))


def _said(word: str) -> re.Pattern[str]:
    """Return what finds `an even integer`, `n is even`, `n, a power of two`; and no word on several numbers."""
    return re.compile(
        rf"\b(?:an?|one) (?:\w+ )?{word} (?:\w+ )?(?:integer|number)\b"
        rf"|\b[a-z](?:\s?\([^)]*\))?,? (?:(?:is|being) )?(?:an? )?{word}\b(?! (?:of|numbers|integers))",
        re.IGNORECASE,
    )


_PROPERTIES: tuple[tuple[re.Pattern[str], Callable[[int], bool]], ...] = (
    (_said("even"), lambda number: number % 2 == 0),
    (_said("odd"), lambda number: number % 2 == 1),
    (_said("power of (?:two|2)"), lambda number: number > 0 and not number & (number - 1)),
    (_said("prime"), _is_prime),
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A property, and the slots of a form whose numbers have it in all given inputs."""

    holds: Callable[[int], bool]
    slots: frozenset[int]

    def is_in(self, numbers: Numbers) -> bool:
        """Return whether the numbers of an input have the property."""
        return all(self.holds(number) for slot in self.slots for number in numbers.get(slot, ()))


def kept_in(sentence: str, given: Sequence[Numbers]) -> tuple[list[Kept], str]:
    """Return the properties that a sentence says, and the sentence without them.

    Args:
        sentence: Of a statement.
        given: The numbers of each given input.
    """
    found = []
    for words, holds in _PROPERTIES:
        if words.search(sentence) and (slots := frozenset(_slots_with(holds, given))):
            found.append(Kept(holds, slots))
            sentence = words.sub("", sentence)
    return found, sentence


def _slots_with(holds: Callable[[int], bool], given: Sequence[Numbers]) -> Iterator[int]:
    """Yield the slots whose numbers have a property in all given inputs."""
    for slot in sorted({slot for each in given for slot, numbers in each.items() if numbers}):
        if all(holds(number) for each in given for number in each.get(slot, ())):
            yield slot
