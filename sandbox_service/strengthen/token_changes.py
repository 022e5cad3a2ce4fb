"""Changes single tokens of given inputs: for inputs without a form, and for changes that no form suggests.

The line structure stays. A number becomes another number between the least and the greatest in the same place of all
inputs' lines, a word another word that was seen there, or one with the same letters.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from sandbox_service.strengthen.form import whole

CHANGES = 3  # at most, in one input
NEAR_SHARE = 0.3  # of changed numbers become one near a constant of the references


def changed(inputs: Sequence[str], number: int, chance: random.Random, near: Sequence[int] = ()) -> str:
    """Return a given input with some tokens changed.

    Args:
        inputs: The given inputs.
        number: Selects the input; several numbers give several changes.
        chance: Random numbers.
        near: Numbers that some tokens become, where they are between the least and the greatest.
    """
    lines = [line.split(" ") for line in inputs[number % len(inputs)].split("\n")]
    places = [(row, column) for row, line in enumerate(lines) for column, token in enumerate(line) if token]
    for _ in range(chance.randint(1, CHANGES) if places else 0):
        row, column = chance.choice(places)
        lines[row][column] = _other(lines[row][column], inputs, near, chance)
    if places and chance.random() < 0.3:
        _exchange(lines, chance)
    return "\n".join(" ".join(line) for line in lines)


def _other(token: str, inputs: Sequence[str], near: Sequence[int], chance: random.Random) -> str:
    number = whole(token)
    if number is None:
        return _other_word(token, inputs, chance)
    numbers = [value for text in inputs for each in text.split() if (value := whole(each)) is not None]
    numbers = numbers or [number]  # a word that became a number, where no input has one
    low, high = min(numbers), max(numbers)
    within = [each for each in near if low <= each <= high]
    if within and chance.random() < NEAR_SHARE:
        return str(chance.choice(within))
    found = chance.choice([number - 1, number + 1, chance.choice(numbers), low, high, chance.randint(low, high)])
    return str(min(max(found, low), high))


def _other_word(token: str, inputs: Sequence[str], chance: random.Random) -> str:
    words = sorted({each for text in inputs for each in text.split() if whole(each) is None})
    same = [each for each in words if len(each) == len(token)]
    if chance.random() < 0.5 and len(same) > 1:
        return chance.choice(same)
    letters = list(token)
    place = chance.randrange(len(letters))
    letters[place] = chance.choice(sorted(set("".join([*same, token]))))  # it may be two words with a tab between
    return "".join(letters)


def _exchange(lines: list[list[str]], chance: random.Random) -> None:
    """Exchange two neighbouring lines with as many tokens."""
    pairs = [place for place, (one, next_) in enumerate(pairwise(lines)) if len(one) == len(next_) and one != next_]
    if pairs:
        place = chance.choice(pairs)
        lines[place], lines[place + 1] = lines[place + 1], lines[place]
