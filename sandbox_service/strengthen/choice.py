"""The tests that are chosen for a problem, and how many wrong programs they refuse."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from sandbox_service.schema import StdinTest, TestCase
from sandbox_service.strengthen import cover, strength, tiers
from sandbox_service.strengthen.answers import Candidate
from sandbox_service.strengthen.runs import Kind, Program
from sandbox_service.strengthen.strength import Share
from sandbox_service.validation.recipe import Recipe

SLOW_SECONDS = 0.005  # beyond the fastest test, of which most is the start of a process;
SLOW_FACTOR, NOISE_SECONDS = 2, 0.001  # or so many times the fastest one, and what a clock may be wrong by
MOST_DEEP = 2  # deep trees among the chosen tests, of different patterns
AUDIT_DEPTH = 2  # audit tests that fail each mutant: one is enough to find a program
_DIGITS = re.compile(r"\d{1,100}")  # of a number; a longer one is text


@dataclass(frozen=True)
class Choice:
    """The tests chosen for a problem, and the wrong programs with the tests that they fail.

    Attributes:
        programs: Mutants, tables, known wrong programs.
        passed: The places of those that pass all given tests.
        fails: For these, the candidates that they fail.
        known: The same for mutants that the given tests refuse, where audit tests are wanted. A program that knows the
            given tests may be one of them otherwise.
        candidates: Valid tests.
        scouts: The candidates that each scout fails.
        chosen: Places of the candidates that are added.
        audit: Places of the candidates that are added as audit tests.
    """

    programs: list[Program]
    passed: list[int]
    fails: dict[int, set[int]]
    candidates: list[Candidate]
    known: dict[int, set[int]] = field(default_factory=dict)
    scouts: Sequence[Set[int]] = ()
    chosen: list[int] = field(default_factory=list)
    audit: list[int] = field(default_factory=list)


def chosen(found: Choice, recipe: Recipe, without: Sequence[int] = ()) -> Choice:
    """Return a choice of tests.

    Args:
        found: Wrong programs and what they fail.
        recipe: Says how many tests to choose.
        without: Places of programs that have no part in the choice.
    """
    wanted, candidates = recipe.strengthen, found.candidates
    sizes = [size_of(each.test) for each in candidates]
    groups = [each.made.how for each in candidates]
    said = [each.answer for each in candidates]
    large = {place for place, each in enumerate(candidates) if each.made.is_large}
    every_fail = {place: tests for place, tests in found.fails.items() if place not in without}
    fails = {place: tests - large for place, tests in every_fail.items()}
    least = min(wanted.least_tests, wanted.tests)
    of_scouts = {~place: tests for place, tests in enumerate(found.scouts)}
    first = _first({**fails, **of_scouts}, sizes, recipe, extremes(candidates))
    added = cover.filled(first, groups, said, least, without=large)
    usual = set(range(len(candidates))) - large
    enough = min(least, len(usual) - wanted.audit)  # some are left for audit tests
    added += _shortest(sizes, usual - set(added))[: max(enough - len(added), 0)]
    others = {place: tests - set(added) for place, tests in {**found.known, **fails}.items() if place not in without}
    slow = _slow(candidates)
    others = {place: _fast(tests, slow) for place, tests in others.items()}
    every = [*added, *cover.choose(others, sizes, wanted.audit, min(wanted.depth, AUDIT_DEPTH))]
    every = cover.filled(every, groups, said, len(added) + wanted.audit, without=slow.keys() | large)
    left = usual - set(every) - slow.keys()
    every += _shortest(sizes, left)[: len(added) + wanted.audit - len(every)]
    last = _large(every_fail, set(added), sorted(large), wanted.large_tests)
    return replace(found, chosen=[*added, *last], audit=every[len(added) :])


def _large(fails: Mapping[int, set[int]], added: set[int], large: Sequence[int], most: int) -> list[int]:
    """Return the large tests that fail programs which no other test fails, and the first ones, until there are `most`.

    They stand last in the suite: a program that fails another test does not run them.
    """
    left = {place: tests & set(large) for place, tests in fails.items() if not tests & added}
    found = cover.choose(left, [0] * (max(large, default=0) + 1), most, 1)
    return [*found, *(each for each in large if each not in found)][:most]


def _first(fails: Mapping[int, Set[int]], sizes: Sequence[int], recipe: Recipe, ends: Sequence[int]) -> list[int]:
    """Return the tests that refuse most programs, and the extremes, where each program can be refused beside them."""
    wanted = recipe.strengthen
    needed = len(cover.choose(fails, sizes, wanted.tests, 1))
    found = cover.choose(fails, sizes, max(needed, wanted.tests - len(ends)), wanted.depth)
    least = min(wanted.least_tests, wanted.tests)
    return found + [each for each in ends if each not in found][: max(least - len(found), 0)]


def _shortest(sizes: Sequence[int], places: Set[int]) -> list[int]:
    return sorted(places, key=lambda place: (sizes[place], place))


def _slow(candidates: Sequence[Candidate]) -> dict[int, float]:
    """Return the places of tests on which references take much longer than on others, and how long they take.

    An audit test costs each selected program its time, and an endless one a multiple of that.
    """
    known = {place: each.seconds for place, each in enumerate(candidates) if each.seconds is not None}
    fastest = min(known.values(), default=0.0)
    most = min(fastest + SLOW_SECONDS, SLOW_FACTOR * fastest + NOISE_SECONDS)
    return {place: seconds for place, seconds in known.items() if seconds > most}


def _fast(tests: set[int], slow: Mapping[int, float]) -> set[int]:
    """Return the tests that are not slow; if all are, the fastest of them."""
    if not tests:
        return tests
    return tests - slow.keys() or {min(tests, key=lambda place: (slow[place], place))}


def extremes(candidates: Sequence[Candidate]) -> list[int]:
    """Return the places of the least candidate and the shortest one, of one with the greatest number, of two deep ones,
    of the longest one and of one with the greatest numbers alone.

    Large candidates are left out, but for the deep ones.
    """
    cheap = [
        place for place, each in enumerate(candidates) if size_of(each.test) <= cover.LARGE and not each.made.is_large
    ]
    texts = {place: each.made.text for place, each in enumerate(candidates)}
    deep = {each.made.how: place for place, each in enumerate(candidates) if each.made.tier in tiers.DEEP_NAMES}
    greatest = max(cheap, key=lambda place: (_greatest_number(texts[place]), -len(texts[place]), -place), default=None)
    longest = max(cheap, key=lambda place: (len(texts[place]), -place), default=None)
    shortest = min(cheap, key=lambda place: (len(texts[place]), texts[place]), default=None)
    made = [(candidates[place].made.tier, place) for place in reversed(cheap)]
    least, most = (dict(made).get(tier.name) for tier in (tiers.LEAST, tiers.GREATEST))
    deepest = list(deep.values())[:MOST_DEEP]
    found = (least, greatest, *deepest[:1], shortest, *deepest[1:], longest, most)
    return list(dict.fromkeys(each for each in found if each is not None))


def _greatest_number(text: str) -> int:
    return max((int(digits) for digits in _DIGITS.findall(text)), default=0)


def size_of(test: TestCase) -> int:
    """Return the size of a made test, in characters."""
    return len(test.input) if isinstance(test, StdinTest) else len(test.model_dump_json())


def counts(choice: Choice, kind: Kind | None = None, places: Sequence[int] | None = None) -> tuple[Share, Share]:
    """Return the shares of wrong programs that are refused before and after.

    A mutant that no valid input tells from its reference is not counted.

    Args:
        choice: Programs and chosen tests.
        kind: Only programs of this kind.
        places: Only these programs.
    """
    before = after = programs = 0
    tests = set(choice.chosen)
    for place in range(len(choice.programs)) if places is None else places:
        program = choice.programs[place]
        if kind is not None and program.kind != kind:
            continue
        if place not in choice.fails:
            before, after, programs = before + 1, after + 1, programs + 1
        elif choice.fails[place] or program.kind != "mutant":
            after += bool(choice.fails[place] & tests)
            programs += 1
    return Share(before, programs), Share(after, programs)


def held_out(found: Choice, recipe: Recipe) -> Share:
    """Return the share that is refused by tests which other programs chose: each fifth by those of the other four."""
    parts = strength.folds(len(found.programs))
    return strength.total(counts(chosen(found, recipe, without=part), places=part)[1] for part in parts)
