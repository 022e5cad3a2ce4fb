"""Makes arguments of calls by type, from the arguments that are there.

The kind of a value is read from all given calls: numbers and their range, letters, lengths, what a list holds. Made
values stay within it: signs, order, distinctness, equal lengths and fixed choices are kept. As EvalPlus (2305.01210)
does, some calls are given ones with one value changed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox_service.strengthen.patterns import LISTS

PATTERNS = tuple(LISTS)
MOST_ITEMS = 60
WIDER = 2  # longer than any list seen
FEW_VALUES = 4  # texts with as few values are a choice
MOST_WORDS = 24  # texts of more words are not made of these
RELATED = 4  # one in so many calls has an argument that occurs in another one


@dataclass(frozen=True)
class Whole:
    """Whole numbers."""

    low: int
    high: int


@dataclass(frozen=True)
class Real:
    """Real numbers with decimals."""

    low: float
    high: float
    decimals: int


@dataclass(frozen=True)
class Text:
    """Texts: of some letters and lengths, or one of a few. `words` are those of texts that have several."""

    alphabet: str
    low: int
    high: int
    choice: tuple[str, ...] = ()
    words: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Phrase:
    """Texts of some words with single blanks."""

    words: tuple[str, ...]
    most: int


@dataclass(frozen=True)
class Items:
    """Lists of one kind of item. `type` is the Python type: list, tuple or set."""

    item: Kind
    low: int
    high: int
    type: type = list
    is_sorted: bool = False
    is_distinct: bool = False


@dataclass(frozen=True)
class Fixed:
    """Tuples or lists with a kind for each place."""

    items: tuple[Kind, ...]
    type: type = tuple


@dataclass(frozen=True)
class Mapping:
    """Dictionaries."""

    key: Kind
    value: Kind
    low: int
    high: int


@dataclass(frozen=True)
class Choice:
    """One of the values that are there, for kinds that have no other rule."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Mixed:
    """Values of several kinds."""

    kinds: tuple[Kind, ...]


Kind = Whole | Real | Text | Phrase | Items | Fixed | Mapping | Choice | Mixed


class Arguments:
    """Makes the arguments of one function.

    Args:
        given: Positional arguments of the calls that are there, all of one length.
        of_words: Texts are made of the words of given texts, where these have several.
    """

    def __init__(self, given: Sequence[Sequence[Any]], *, of_words: bool = False) -> None:
        self._given = [list(each) for each in given]
        kinds = [kind_of([call[place] for call in given]) for place in range(len(given[0]))]
        worded = [_worded(each) for each in kinds]
        self.has_words = worded != kinds
        self._kinds = worded if of_words else kinds
        self._ties = list(_ties(self._given)) if len(given) > 1 else []

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

    def _relate(self, call: list[Any], chance: random.Random) -> None:
        """Replace an argument by a part of another one: a text by a part of a text, a number by an item of a list."""
        places = [place for place, kind in enumerate(self._kinds) if isinstance(kind, Text | Whole)]
        others = [place for place, value in enumerate(call) if isinstance(value, str | list | tuple) and value]
        pairs = [(place, other) for place in places for other in others if place != other]
        if not pairs:
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


def kind_of(values: Sequence[Any]) -> Kind:
    """Return the kind of these values; at least one is there."""
    types = {type(value) for value in values}
    if types == {int}:
        return Whole(min(values), max(values))
    if types <= {int, float} and all(abs(value) < 1e15 for value in values):
        decimals = max(len(repr(float(value)).partition(".")[2]) for value in values)
        return Real(min(values), max(values), min(decimals, 6))
    if types == {str}:
        return _text(values)
    if len(types) == 1 and types <= {list, tuple, set}:
        return _items(values, types.pop())
    if types == {dict} and any(values):
        keys = [key for value in values for key in value]
        items = [item for value in values for item in value.values()]
        sizes = [len(value) for value in values]
        return Mapping(kind_of(keys), kind_of(items), min(sizes), max(sizes))
    if len(types) > 1 and types <= {int, float, str, bool, list, tuple, type(None)}:
        return Mixed(tuple(kind_of([each for each in values if type(each) is one]) for one in sorted(types, key=str)))
    return Choice(tuple(values))


def _text(values: Sequence[str]) -> Text:
    sizes = [len(value) for value in values]
    letters = "".join(sorted({letter for value in values for letter in value})) or "a"
    distinct = tuple(sorted(set(values)))
    is_choice = len(distinct) <= FEW_VALUES and len(values) >= 3 * len(distinct)
    return Text(letters, min(sizes), max(sizes), distinct if is_choice else (), _words(values))


def _words(values: Sequence[str]) -> tuple[str, ...]:
    """The words of texts that are words with single blanks, and of which one has several."""
    words = tuple(sorted({word for value in values for word in value.split(" ")} - {""}))
    are_phrases = all(value == " ".join(value.split()) for value in values)
    return words if are_phrases and len(words) <= MOST_WORDS and any(" " in value for value in values) else ()


def _worded(kind: Kind) -> Kind:
    """The kind with phrases instead of texts, where words are known."""
    if isinstance(kind, Items):
        return replace(kind, item=_worded(kind.item))
    if isinstance(kind, Text) and kind.words and not kind.choice:
        return Phrase(kind.words, kind.high // min(map(len, kind.words)) // 2 + 1)
    return kind


def _items(values: Sequence[Any], type_: type) -> Kind:
    sizes = [len(value) for value in values]
    items = [item for value in values for item in value]
    if not items:
        return Choice(tuple(values))
    if len(set(sizes)) == 1 and type_ is not set and len({type(item) for item in items}) > 1:
        return Fixed(tuple(kind_of([value[place] for value in values]) for place in range(sizes[0])), type_)
    kind = kind_of(items)
    long = [value for value in values if len(value) > 2]
    is_plain = isinstance(kind, Whole | Real | Text) and type_ is not set
    is_sorted = is_plain and len(long) > 1 and all(list(value) == sorted(value) for value in long)
    is_distinct = is_plain and len(long) > 1 and all(len(set(value)) == len(value) for value in long)
    return Items(kind, min(sizes), max(sizes), type_, is_sorted, is_distinct)


def make(kind: Kind, pattern: str, chance: random.Random) -> Any:
    """Return a value of a kind.

    Args:
        kind: What is made.
        pattern: A name in PATTERNS.
        chance: Random numbers.
    """
    if isinstance(kind, Whole):
        return _whole(kind, pattern, chance)
    if isinstance(kind, Real):
        return round(chance.uniform(kind.low, kind.high), kind.decimals)
    if isinstance(kind, Text):
        return _made_text(kind, pattern, chance)
    if isinstance(kind, Phrase):
        return " ".join(chance.choices(kind.words, k=chance.randint(1, min(kind.most, MOST_ITEMS))))
    if isinstance(kind, Items):
        return _made_items(kind, pattern, chance)
    if isinstance(kind, Fixed):
        return kind.type(make(each, pattern, chance) for each in kind.items)
    if isinstance(kind, Mapping):
        size = chance.randint(kind.low, kind.high)
        keys = [make(kind.key, "wide", chance) for _ in range(size)]
        return {key: make(kind.value, pattern, chance) for key in keys}
    if isinstance(kind, Mixed):
        return make(chance.choice(kind.kinds), pattern, chance)
    return chance.choice(kind.values)


def _whole(kind: Whole, pattern: str, chance: random.Random) -> int:
    if pattern == "low":
        return kind.low
    if pattern == "high":
        return kind.high
    if pattern in ("edges", "equal"):
        return chance.choice([kind.low, min(kind.low + 1, kind.high), max(kind.high - 1, kind.low), kind.high])
    if pattern in ("narrow", "ties"):
        return chance.randint(kind.low, min(kind.high, kind.low + 12))
    return chance.randint(kind.low, kind.high)


def _size(low: int, high: int, pattern: str, chance: random.Random) -> int:
    if pattern == "low":
        return low
    if pattern == "high":
        return min(high * WIDER, max(MOST_ITEMS, high))
    return chance.randint(low, max(low, min(high + 3, MOST_ITEMS)))


def _made_text(kind: Text, pattern: str, chance: random.Random) -> str:
    if kind.choice:
        return chance.choice(kind.choice)
    size = kind.low if kind.low == kind.high else _size(kind.low, kind.high, pattern, chance)
    letters = (
        chance.sample(kind.alphabet, min(2, len(kind.alphabet))) if pattern in ("narrow", "ties") else kind.alphabet
    )
    if pattern == "equal":
        return chance.choice(kind.alphabet) * size
    word = "".join(chance.choices(letters, k=size))
    if pattern in ("edges", "odd one"):  # the same from both ends
        half = word[: (size + 1) // 2]
        word = half + half[: size // 2][::-1]
    return "".join(sorted(word)) if pattern == "ascending" else word


def _made_items(kind: Items, pattern: str, chance: random.Random) -> Any:
    size = kind.low if kind.low == kind.high else _size(kind.low, kind.high, pattern, chance)
    if isinstance(kind.item, Whole) and not kind.is_distinct:
        found: list[Any] = LISTS[pattern](kind.item.low, kind.item.high, size, chance) if size else []
    elif pattern == "equal" and size and not kind.is_distinct:
        found = [make(kind.item, "wide", chance)] * size
    else:
        found = [make(kind.item, "narrow" if pattern == "ties" else "wide", chance) for _ in range(size)]
    if kind.is_distinct:
        found = list(dict.fromkeys(found))
    if kind.is_sorted or (pattern in ("ascending", "descending") and isinstance(kind.item, Whole | Real | Text)):
        found.sort(reverse=pattern == "descending" and not kind.is_sorted)
    return kind.type(found)
