"""Widens kinds of arguments: values that the given calls do not show, of the classes on which wrong programs fail.

Each widening is a tier: references believe or doubt its calls together. Some need several references to judge them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sandbox_service.strengthen.constants import Constants
from sandbox_service.strengthen.kinds import MOST_ITEMS, Choice, Fixed, Items, Kind, Mapping, Mixed, Real, Text, Whole
from sandbox_service.strengthen.ranges import LEAST_HIGH, WIDER
from sandbox_service.strengthen.tiers import LEAST_JUDGES
from sandbox_service.strengthen.words import widened as more_letters

CHARACTERS = " aZ09-_.,'é\t"  # of texts that may hold any


@dataclass(frozen=True, slots=True)
class Widening:
    """Widening of values beyond the given ones.

    Attributes:
        name: Of the tier.
        judges: How many references it needs.
        shortest: Lists and texts may have as few items; None for no fewer than seen.
        least: Numbers of which none is negative may be as small; None for none smaller than seen.
        times: Numbers, and lengths of which several were seen, may be so many times as great.
        most: Numbers go up to this.
        is_signed: Numbers may be negative.
        has_repeats: Items may be equal where no equal ones were seen.
        is_loose: Lists need not be in order, nor two arguments in a relation that chance explains.
        letters: Texts have all letters of an alphabet of which some were seen.
        characters: Texts have further characters.
        constants: Numbers, lengths and parts of texts are those near constants of the references.
        of_formulas: Only for references without loops: their time does not grow with a number.
    """

    name: str
    judges: int = 1
    shortest: int | None = None
    least: int | None = None
    times: int = 1
    most: int = 0
    is_signed: bool = False
    has_repeats: bool = False
    is_loose: bool = False
    letters: bool = False
    characters: str = ""
    constants: bool = False
    of_formulas: bool = False


SEEN = Widening("seen")
WIDENINGS = (
    Widening("constants", constants=True),
    Widening("repeats", has_repeats=True),
    Widening("short", shortest=1),
    Widening("small", least=1),
    Widening("wider", times=WIDER),
    Widening("empty", shortest=0),
    Widening("zero", least=0),
    Widening("letters", letters=True),
    Widening("formula", most=10**5, of_formulas=True),
    Widening("loose", judges=LEAST_JUDGES, is_loose=True, has_repeats=True),
    Widening("signs", judges=LEAST_JUDGES, is_signed=True),
    Widening("characters", judges=LEAST_JUDGES, characters=CHARACTERS),
    *(Widening(f"numbers to 10^{digits}", judges=LEAST_JUDGES, most=10**digits) for digits in (3, 6, 9)),
)


def widened(kind: Kind, how: Widening, constants: Constants, *, is_item: bool = False) -> Kind:
    """Return a kind that has further values, or the same one if the widening does not concern it.

    Args:
        kind: As seen.
        how: The widening.
        constants: Of the references.
        is_item: The kind is one of a list's items: if all have one length, it has a meaning, as that of pairs.
    """
    if isinstance(kind, Whole):
        return _whole(kind, how, constants)
    if isinstance(kind, Real):
        low, high = _bounds(kind.low, kind.high, how)
        return replace(kind, low=low, high=high)
    if isinstance(kind, Text):
        return _text(kind, how, constants, has_free_size=not is_item or kind.low < kind.high)
    if isinstance(kind, Items):
        return _items(kind, how, constants, has_free_size=not is_item or kind.low < kind.high)
    if isinstance(kind, Fixed):
        return replace(kind, items=tuple(widened(each, how, constants, is_item=True) for each in kind.items))
    if isinstance(kind, Mapping):
        low, high = _sizes(kind.low, kind.high, how)
        key, value = (widened(each, how, constants, is_item=True) for each in (kind.key, kind.value))
        return replace(kind, key=key, value=value, low=low, high=high)
    if isinstance(kind, Mixed):
        return Mixed(tuple(widened(each, how, constants, is_item=is_item) for each in kind.kinds))
    return kind


def _whole(kind: Whole, how: Widening, constants: Constants) -> Kind:
    if how.constants:
        least = min(kind.low, 0, *constants.numbers)
        values = {each for each in constants.near if each >= least}
        is_known = all(kind.low <= each <= kind.high for each in values) and kind.high - kind.low <= len(values)
        return kind if not values or is_known else Choice(tuple(sorted(values | {kind.low, kind.high})))
    low, high = _bounds(kind.low, kind.high, how)
    return Whole(int(low), int(high))


def _bounds(low: float, high: float, how: Widening) -> tuple[float, float]:
    if how.least is not None and low > how.least:
        return how.least, high
    if how.is_signed and low >= 0:
        return -high, high
    factor = how.times
    wider = max(high * factor, LEAST_HIGH) if factor > 1 and high > 0 else high
    lower = low * factor if low < 0 else low
    if how.most > high:
        return max(lower, -how.most) if low < 0 else low, how.most
    return lower, wider


def _sizes(low: int, high: int, how: Widening) -> tuple[int, int]:
    if how.shortest is not None:
        return min(low, how.shortest), max(high, how.shortest)
    return (low, high * how.times) if low < high else (low, high)


def _text(kind: Text, how: Widening, constants: Constants, *, has_free_size: bool) -> Kind:
    if kind.choice:
        return kind
    if how.constants:
        sizes = _near_sizes(kind.low, constants) if has_free_size else ()
        return replace(kind, parts=constants.texts, sizes=sizes) if constants.texts or sizes else kind
    low, high = _sizes(kind.low, kind.high, how) if has_free_size else (kind.low, kind.high)
    alphabet = more_letters(kind.alphabet) if how.letters else kind.alphabet
    if how.characters:
        alphabet = "".join(sorted({*alphabet, *how.characters}))
    return replace(kind, alphabet=alphabet, low=low, high=high)


def _items(kind: Items, how: Widening, constants: Constants, *, has_free_size: bool) -> Kind:
    low, high = _sizes(kind.low, kind.high, how) if has_free_size else (kind.low, kind.high)
    is_distinct = kind.is_distinct and not how.has_repeats
    is_sorted = kind.is_sorted and not how.is_loose
    sizes = _near_sizes(kind.low, constants) if how.constants and has_free_size else ()
    item = widened(kind.item, how, constants, is_item=True)
    return replace(kind, item=item, low=low, high=high, is_sorted=is_sorted, is_distinct=is_distinct, sizes=sizes)


def _near_sizes(low: int, constants: Constants) -> tuple[int, ...]:
    return tuple(each for each in constants.near if min(low, 1) <= each <= MOST_ITEMS)
