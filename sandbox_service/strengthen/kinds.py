"""Kinds of argument values: read from the given values, and used to make further ones.

A kind has the type, the range of numbers, the letters and lengths, and what a list holds. Made values stay within it.
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
    """Texts: of some letters and lengths, or one of a few.

    `words` are those of texts that have several; `parts` are put into texts; `sizes` are their only lengths.
    """

    alphabet: str
    low: int
    high: int
    choice: tuple[str, ...] = ()
    words: tuple[str, ...] = field(default=(), compare=False)
    parts: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Phrase:
    """Texts of some words with single blanks."""

    words: tuple[str, ...]
    most: int


@dataclass(frozen=True)
class Items:
    """Lists of one kind of item. `type` is the Python type: list, tuple or set; `sizes` are the only lengths."""

    item: Kind
    low: int
    high: int
    type: type = list
    is_sorted: bool = False
    is_distinct: bool = False
    sizes: tuple[int, ...] = ()


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
    """One of the given values, for kinds that have no other rule."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Mixed:
    """Values of several kinds."""

    kinds: tuple[Kind, ...]


Kind = Whole | Real | Text | Phrase | Items | Fixed | Mapping | Choice | Mixed


def kind_of(values: Sequence[Any]) -> Kind:
    """Return the kind of these values; at least one is there."""
    types = {type(value) for value in values}
    if types == {bool}:
        return Choice((False, True))
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


def worded(kind: Kind) -> Kind:
    """Return the kind with phrases instead of texts, where words are known."""
    if isinstance(kind, Items):
        return replace(kind, item=worded(kind.item))
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
    ordered = [value for value in values if len(value) > 1]
    is_sorted = is_plain and bool(ordered) and all(list(value) == sorted(value) for value in ordered)
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
        return _real(kind, pattern, chance)
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


def _real(kind: Real, pattern: str, chance: random.Random) -> float:
    """A real number of which the extremes and whole ones are as likely as others."""
    if pattern in ("low", "high"):
        return round(float(kind.low if pattern == "low" else kind.high), kind.decimals)
    found = chance.uniform(kind.low, kind.high)
    if pattern in ("edges", "equal"):
        found = chance.choice([kind.low, kind.high, min(max(round(found), kind.low), kind.high)])
    return round(float(found), kind.decimals)


def _size(low: int, high: int, pattern: str, chance: random.Random) -> int:
    if pattern == "low":
        return low
    if pattern == "high":
        return min(high * WIDER, max(MOST_ITEMS, high))
    return chance.randint(low, max(low, min(high + 3, MOST_ITEMS)))


def _size_of(kind: Text | Items, pattern: str, chance: random.Random) -> int:
    if kind.sizes:
        return chance.choice(kind.sizes)
    return kind.low if kind.low == kind.high else _size(kind.low, kind.high, pattern, chance)


def _made_text(kind: Text, pattern: str, chance: random.Random) -> str:
    if kind.choice:
        return chance.choice(kind.choice)
    size = _size_of(kind, pattern, chance)
    letters = (
        chance.sample(kind.alphabet, min(2, len(kind.alphabet))) if pattern in ("narrow", "ties") else kind.alphabet
    )
    if pattern == "equal":
        return chance.choice(kind.alphabet) * size
    word = "".join(chance.choices(letters, k=size))
    if kind.parts and (not kind.sizes or chance.random() < 0.5):
        place = chance.randint(0, len(word))
        return word[:place] + chance.choice(kind.parts) + word[place:]
    if pattern in ("edges", "odd one"):  # the same from both ends
        half = word[: (size + 1) // 2]
        word = half + half[: size // 2][::-1]
    return "".join(sorted(word)) if pattern == "ascending" else word


def _made_items(kind: Items, pattern: str, chance: random.Random) -> Any:
    size = _size_of(kind, pattern, chance)
    if isinstance(kind.item, Whole) and not kind.is_distinct:
        found: list[Any] = LISTS[pattern](kind.item.low, kind.item.high, size, chance) if size else []
    elif pattern == "equal" and size and not kind.is_distinct:
        found = [make(kind.item, "wide", chance)] * size
    else:
        found = [make(kind.item, "narrow" if pattern == "ties" else "wide", chance) for _ in range(size)]
    if kind.is_distinct:
        found = _distinct(found, kind, chance)
    if kind.is_sorted or (pattern in ("ascending", "descending") and isinstance(kind.item, Whole | Real | Text)):
        found.sort(reverse=pattern == "descending" and not kind.is_sorted)
    return kind.type(found)


def _distinct(items: list[Any], kind: Items, chance: random.Random) -> list[Any]:
    """Items without equal ones; further ones replace these where there would be too few."""
    found = list(dict.fromkeys(items))
    for _ in range(MOST_ITEMS):
        if len(found) >= kind.low:
            break
        found = list(dict.fromkeys([*found, make(kind.item, "wide", chance)]))
    return found
