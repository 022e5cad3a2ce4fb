"""Checks that test inputs keep to the bounds that the prompt states, without running anything.

Reads one bound: that of the first number of the first line, from a sentence such as "The first line contains two
integers n and m (2 ≤ n ≤ 10^5, …)". Yields nothing where that line begins with something else, the bound is another
variable's, or lines or test cases were mentioned before. Statements copied as plain text have lost their superscripts
("n ≤ 105" stands for 10^5); a number that may be such a power is read as the larger one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import StdinTest
from sandbox_service.validation.duplicates import text_of
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.notation import plain
from sandbox_service.validation.recipe import Recipe

_NUMBER = r"-?\d[\d ,]*(?:\s*[·⋅*×]\s*10)?(?:\s*\^\s*\{?\d+\}?)?(?:\d+)?"
_SENTENCE = re.compile(
    r"\b(?:[Ff]irst|[Oo]nly|[Ss]ingle)\s+line\b[^.(\n]{0,30}?\b(?:contains?|holds?|has|have)\s+(?P<what>[^.\n(]{0,60}?)\s*"
    rf"\((?P<low>{_NUMBER})\s*(?:≤|<=)\s*(?P<name>[A-Za-z])\s*(?:≤|<=)\s*(?P<high>{_NUMBER})\s*[,;)]"
)
# after the first of these, a line may be one of several
_LINE_OR_CASES = re.compile(
    r"\b(?:first|only|single)\s+line\b|\b(?:test|data)\s?(?:cases?|sets?)\b|\b(?:each|every)\s+(?:test|case|query|line)\b",
    re.IGNORECASE,
)
_POWER = r"(?:(\d+)[·⋅*×])?(\d+)\^\{?(\d{1,2})\}?"
_LOST_POWER = r"(?:(\d+)[·⋅*×])?(10)([1-9]\d?)"
_OF_SEVERAL = re.compile(r"\b(?:each|every|case|test|query)\b", re.IGNORECASE)
_VARIABLE = re.compile(r"\b[A-Za-z]\b(?!')")


def are_kept(problem: Problem, _: Evidence, __: Recipe) -> Iterator[Finding]:
    """Yield a finding if the first number of an input is out of bounds."""
    bounds = bounds_of(text_of(problem))
    if bounds is None:
        return
    name, low, high = bounds
    outside = [
        (place, value)
        for place, test in enumerate(problem.tests or (), 1)
        if isinstance(test, StdinTest) and (value := _first(test.input)) is not None and not low <= value <= high
    ]
    if outside:
        place, value = outside[0]
        total = f"{len(outside)} of {len(problem.tests or ())} inputs"
        yield Finding("outside_constraints", f"{total}, first that of test {place}: {name} = {value}")


def bounds_of(text: str) -> tuple[str, int, int] | None:
    """Return name, minimum and maximum of the input's first number, or None if the text is not certain."""
    text = plain(text)
    first = _LINE_OR_CASES.search(text)
    found = _SENTENCE.match(text, first.start()) if first is not None else None
    if found is None or _OF_SEVERAL.search(text, found.start(), found.start("what")):
        return None
    variables = [each for each in _VARIABLE.findall(found["what"]) if each not in ("a", "A")]
    low, high = _number(found["low"], [_POWER]), _number(found["high"], [_POWER, _LOST_POWER])
    if variables[:1] != [found["name"]] or low is None or high is None:
        return None
    return found["name"], low, high


def _first(text: str) -> int | None:
    words = text.split(maxsplit=1)
    return int(words[0]) if words and re.fullmatch(r"-?\d{1,18}", words[0]) else None


def _number(text: str, forms: Sequence[str]) -> int | None:
    plain = re.sub(r"[\s,]", "", text)
    for form in forms:
        if (power := re.fullmatch(form, plain)) is not None:
            return int(power[1] or 1) * int(pow(int(power[2]), int(power[3])))
    return int(plain) if re.fullmatch(r"-?\d+", plain) else None
