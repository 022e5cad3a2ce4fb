"""Makes the arguments of calls like the given ones, and the relations of two arguments."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from sandbox_service.strengthen.constants import NONE, Constants
from sandbox_service.strengthen.kinds import PATTERNS, Text, Whole, kind_of, make, worded
from sandbox_service.strengthen.small_changes import changed
from sandbox_service.strengthen.widening import SEEN, Widening, widened

RELATED = 4  # one in so many calls has an argument that occurs in another one
MOST_CHANGES = 2  # of a call that differs a little
CERTAIN = ("length", "equal lengths")  # relations that chance hardly explains


class Arguments:
    """Makes the arguments of one function.

    Args:
        given: Positional arguments of the given calls, all of one length.
        how: How far they go beyond these.
        constants: Of the references.
        of_words: Texts are made of the words of given texts, where these have several.
    """

    def __init__(
        self,
        given: Sequence[Sequence[Any]],
        how: Widening = SEEN,
        constants: Constants = NONE,
        *,
        of_words: bool = False,
    ) -> None:
        self._given = [list(each) for each in given]
        seen = [kind_of([call[place] for call in given]) for place in range(len(given[0]))]
        self._kinds = [widened(each, how, constants) for each in seen]
        if of_words:
            self._kinds = [worded(each) for each in seen]
        self.is_as_seen = self._kinds == seen
        ties = _ties(self._given) if len(given) > 1 else []
        self._ties = [each for each in ties if each[0] in CERTAIN or not how.is_loose]

    def make(self, number: int, chance: random.Random) -> list[Any]:
        """Return new arguments.

        Args:
            number: Selects the pattern.
            chance: Random numbers.
        """
        pattern = PATTERNS[number % len(PATTERNS)]
        if number % 3 == 2:
            call = list(self._given[chance.randrange(len(self._given))])
            place = chance.randrange(len(call)) if call else 0
            if call:
                call[place] = make(self._kinds[place], chance.choice(PATTERNS), chance)
        else:
            call = [make(kind, pattern, chance) for kind in self._kinds]
        if number % RELATED == 1:
            self._relate(call, chance)
        return self._tied(call, pattern, chance)

    def near(self, calls: Sequence[Sequence[Any]], number: int, chance: random.Random) -> list[Any]:
        """Return arguments that differ a little from those of a call.

        Args:
            calls: Calls to start from.
            number: Selects one.
            chance: Random numbers.
        """
        call = list(calls[number % len(calls)])
        for _ in range(chance.randint(1, MOST_CHANGES)):
            place = chance.randrange(len(call))
            call[place] = changed(call[place], self._kinds[place], chance)
        return self._tied(call, "wide", chance)

    def _relate(self, call: list[Any], chance: random.Random) -> None:
        """Replace an argument by a part of another one: a text by a part of a text, a number by an item of a list.

        Where there is no such argument, one becomes equal to another one of the same kind.
        """
        places = [place for place, kind in enumerate(self._kinds) if isinstance(kind, Text | Whole)]
        others = [place for place, value in enumerate(call) if isinstance(value, str | list | tuple) and value]
        pairs = [(place, other) for place in places for other in others if place != other]
        if not pairs:
            self._equate(call, chance)
            return
        place, other = chance.choice(pairs)
        kind, whole = self._kinds[place], call[other]
        part = whole if isinstance(whole, str) else chance.choice(whole)
        if isinstance(kind, Text) and isinstance(part, str) and not kind.choice and kind.low <= len(part):
            size = chance.randint(kind.low, min(kind.high, len(part)))
            start = chance.choice([0, len(part) - size, chance.randint(0, len(part) - size)])
            call[place] = part[start : start + size]
        elif isinstance(kind, Whole) and type(part) is int and kind.low <= part <= kind.high:
            call[place] = part

    def _equate(self, call: list[Any], chance: random.Random) -> None:
        """Replace an argument by another one, if that has its kind."""
        places = range(len(call))
        pairs = [(place, other) for place in places for other in places if place != other]
        fitting = [(place, other) for place, other in pairs if self._may_be(place, call[other])]
        if fitting:
            place, other = chance.choice(fitting)
            call[place] = call[other]

    def _may_be(self, place: int, value: Any) -> bool:
        """Return whether a value that another argument has would not widen the kind of this one."""
        values = [call[place] for call in self._given]
        return kind_of([*values, value]) == kind_of(values)

    def fits(self, call: Sequence[Any]) -> bool:
        """Return whether a call has the kinds, ranges and relations of the given ones.

        Args:
            call: As many positional arguments.
        """
        both = Arguments([*self._given, list(call)])
        return both._kinds == self._kinds and both._ties == self._ties

    def _tied(self, call: list[Any], pattern: str, chance: random.Random) -> list[Any]:
        for tie, left, right in self._ties:
            if tie == "equal lengths" and len(call[left]) != len(call[right]):
                size = min(len(call[left]), len(call[right]))
                call[left], call[right] = call[left][:size], call[right][:size]
            elif tie == "length":
                call[right] = len(call[left])
            elif tie == "at most length" and call[right] > len(call[left]):
                call[right] = (
                    chance.randint(min(1, len(call[left])), len(call[left])) if pattern != "high" else len(call[left])
                )
            elif tie == "at most" and call[left] > call[right]:
                call[left], call[right] = call[right], call[left]
        return call


def _ties(given: Sequence[Sequence[Any]]) -> list[tuple[str, int, int]]:
    """Relations of two arguments that hold in all calls."""
    found = []
    places = range(len(given[0]))
    for left in places:
        for right in places:
            pairs = [(call[left], call[right]) for call in given]
            if left == right:
                continue
            if all(isinstance(a, list | str) and type(a) is type(b) for a, b in pairs):
                if left < right and all(len(a) == len(b) for a, b in pairs) and len({len(a) for a, _ in pairs}) > 1:
                    found.append(("equal lengths", left, right))
            elif all(isinstance(a, list | str) and type(b) is int for a, b in pairs):
                if all(b == len(a) for a, b in pairs):
                    found.append(("length", left, right))
                elif all(0 <= b <= len(a) for a, b in pairs):
                    found.append(("at most length", left, right))
            elif all(type(a) is int and type(b) is int for a, b in pairs) and all(a <= b for a, b in pairs):
                found.append(("at most", left, right))
    return found
