"""Tiers: inputs that are made under the same assumptions. References believe or doubt all inputs of a tier together.

The first round of a problem tries tiers of several kinds: numbers as seen, wider and far ones, long lists, further
letters, given inputs with changed tokens. Later rounds leave out the doubted ones, and change inputs with rare answers
a little. Where a magnitude is doubted, they look for the greatest one that is believed. Where whole inputs are doubted,
they keep some lines of given ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations

from sandbox_service.strengthen.constants import Constants

LEAST_JUDGES = 3  # references that may judge inputs beyond those seen
FAR = (3, 9, 18)  # decimal digits of numbers far beyond those seen
BETWEEN = (4, 5, 6, 7, 8, 10, 11, 12, 15)  # … that are tried where greater ones are doubted
LONG = (3, 5)  # … of lengths
NEAR = 3  # turns of inputs near those with rare answers, for one of any other tier
GIVEN_WORDS = 3  # turns of inputs with given words, where others are doubted
MOST_GIVEN = 6  # with more given inputs, their changed tokens are one tier
MOST_LINES = 4  # of a form that may be kept
LARGE = "large"  # the tiers of large inputs begin with it


@dataclass(frozen=True, slots=True)
class Tier:
    """The assumptions under which inputs are made.

    Attributes:
        name: For reports and seeds.
        is_wide: Numbers go beyond those seen.
        is_loose: Facts that chance may explain need not hold.
        most: Numbers go up to this; 0 for no such numbers.
        longest: Lengths go up to this; 0 for no such lengths.
        letters: Words have all letters of an alphabet of which some were seen.
        has_given_words: Words are given ones, where these are few.
        kept: Lines of the form, from 0, that are taken from given inputs.
        given: The given input whose tokens are changed; -1 for any.
        is_near: Tokens of made inputs with rare answers are changed.
        has_constants: Some changed tokens become numbers near the constants of the references.
        is_small: Lengths and numbers are small.
        is_deep: Trees are long paths.
        is_graph: Graphs have shapes, and keep no facts but rules.
    """

    name: str
    is_wide: bool = False
    is_loose: bool = False
    most: int = 0
    longest: int = 0
    letters: bool = False
    has_given_words: bool = False
    kept: frozenset[int] = frozenset()
    given: int | None = None
    is_near: bool = False
    has_constants: bool = False
    is_small: bool = False
    is_deep: bool = False
    is_graph: bool = False


SEEN = Tier("seen")
SMALL = Tier("small", is_small=True)  # of many small inputs one tells most wrong programs
LEAST = Tier("least")  # everything is least; only what the statement allows or what was seen
GREATEST = Tier("greatest")  # all numbers are greatest, so that sums and products are
SPECIAL = Tier("special numbers")
SMALL_LOOSE = Tier("small and loose", is_small=True, is_loose=True)
GRAPHS = Tier("graphs", is_small=True, is_graph=True)
DEEP = Tier("deep", is_wide=True, is_deep=True)  # where recursion ends
DEEP_GRAPHS = Tier("deep graphs", is_deep=True, is_graph=True)
# made alike for any number of references
FOR_FEW = tuple(each.name for each in (SEEN, SMALL, GRAPHS, DEEP_GRAPHS, LEAST, GREATEST, SPECIAL))
DEEP_NAMES = (DEEP.name, DEEP_GRAPHS.name)
WIDER = Tier("wider", is_wide=True)
LOOSE = Tier("loose", is_wide=True, is_loose=True)
CASES = Tier("given cases")  # cases of given inputs, others together or in another order
THINNED = Tier("thinned")  # given inputs with fewer lines, or other names of nodes
EXAMPLES = Tier("examples")  # inputs of the statement's examples, as they are
WORDS = Tier("words")  # arguments of calls whose texts are words of given ones
CONSTANTS = Tier("constants", given=-1, has_constants=True)
LETTERS = Tier("letters", is_wide=True, letters=True)


@dataclass(frozen=True, slots=True)
class Made:
    """An input that was made. `text` is stdin, or the arguments of a call as a Python literal.

    Inputs of one `tier` are made under the same assumptions, and doubted together.
    """

    text: str
    how: str
    tier: str = SEEN.name

    @property
    def is_large(self) -> bool:
        """Return whether the input is one on which slow programs take too long."""
        return self.tier.startswith(LARGE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The inputs that are wanted in one round.

    Attributes:
        count: At most so many.
        judges: How many references will judge them.
        digits: Of the largest numbers.
        most_bytes: Size of the largest one.
        round: From 0.
        tried: Names of the tiers of earlier rounds.
        doubted: Those of them whose inputs the references do not accept, or answer differently.
        rare: Inputs of earlier rounds with rare answers.
        constants: With which the references compare.
        is_enough: There are enough valid inputs: only tiers that were not tried are of use.
        is_validated: Validators of the data set say which inputs obey the statement.
    """

    count: int
    judges: int
    digits: int = FAR[-1]
    most_bytes: int = 50_000
    round: int = 0
    tried: Set[str] = field(default_factory=frozenset)
    doubted: Set[str] = field(default_factory=frozenset)
    rare: Sequence[str] = ()
    constants: Constants = field(default_factory=Constants)
    is_enough: bool = False
    is_validated: bool = False


def changed(inputs: int) -> list[Tier]:
    """Return the tiers of changed tokens.

    Args:
        inputs: How many inputs are given.
    """
    if inputs > MOST_GIVEN:
        return [Tier("changed", given=-1)]
    return [Tier(f"changed {at + 1}", given=at) for at in range(inputs)]


def beyond(*, has_lengths: bool, has_letters: bool, digits: int) -> list[Tier]:
    """Return the tiers whose inputs go beyond those seen.

    Args:
        has_lengths: Some numbers or words have lengths that can grow.
        has_letters: Words have letters of an alphabet that may have more.
        digits: Of the largest numbers.
    """
    far = [_far(each) for each in FAR if each <= digits]
    long = [Tier(f"lengths to 10^{each}", is_wide=True, longest=10**each) for each in LONG if has_lengths]
    return [WIDER, LOOSE, *far, WIDER, *long, LOOSE, *([LETTERS] if has_letters else [])]


def _far(digits: int) -> Tier:
    return Tier(f"numbers to 10^{digits}", is_wide=True, is_loose=True, most=10**digits)


def following(wanted: Wanted, lines: int, *, is_wide: bool, has_words: bool = False) -> list[Tier]:
    """Return the tiers that earlier rounds suggest.

    Args:
        wanted: Inputs that were tried, and those that were doubted.
        lines: Lines of the form.
        is_wide: Numbers may go beyond those seen.
        has_words: Words were made, and the given ones are few.
    """
    found = list(_between(wanted)) if is_wide else []
    if wanted.doubted & {SEEN.name, WIDER.name}:
        found += [Tier("given words", is_wide=is_wide, has_given_words=True)] * GIVEN_WORDS if has_words else []
        found += _keeping(lines, is_wide=is_wide)
    found = [each for each in found if each.name not in wanted.tried]
    return found + [Tier(f"near {wanted.round}", is_near=True)] * NEAR if wanted.rare else found


def _between(wanted: Wanted) -> Iterator[Tier]:
    """The magnitudes between the greatest that is believed and the next one, which is doubted."""
    # validators judge each input by itself, so that a doubted tier may have valid ones
    for low, high in zip((1, *FAR), FAR, strict=False):
        is_low_good = wanted.is_validated or low == 1 or _far(low).name in wanted.tried - wanted.doubted
        if is_low_good and _far(high).name in wanted.doubted:
            yield from (_far(digits) for digits in BETWEEN if low < digits < high)


def _keeping(lines: int, *, is_wide: bool) -> list[Tier]:
    """Each line is kept alone, and each is made alone."""
    if not 2 <= lines <= MOST_LINES:
        return []
    kept: list[Sequence[int]] = [*combinations(range(lines), 1), *combinations(range(lines), lines - 1)]
    found = {frozenset(each): ", ".join(str(line + 1) for line in each) for each in kept}
    return [Tier(f"keeping lines {name}", is_wide=is_wide, kept=each) for each, name in found.items()]
