"""Reads the bounds of variables from a statement: `1 ≤ n ≤ 10^5`, `1 ≤ a_i, b_i ≤ n`, `0 ≤ m ≤ min(2n, 10^5)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox_service.strengthen.sections import parts_of
from sandbox_service.validation.notation import plain

NUMBER = r"-?\s?(?:\d{1,3}(?: \d{3})+(?!\d)|\d[\d,]*)(?:\s*[·⋅*×]\s*10)?(?:\s*\^\s*\{?\d+\}?)?(?:\s*[-−–+]\s*1(?!\d))?"
RELATION = r"(?:≤|<=|<)"
NAME = r"[A-Za-z](?:_?\{?[a-z0-9]{1,3}\}?)?"
_LONE = r"(?<![A-Za-z\d_^])[A-Za-z](?:_?\{?[a-z0-9]\}?)?(?![A-Za-z])"  # no part of a word
_MORE = r"(?:\s*[-−–+]\s*\d+)?"
_BOUND = re.compile(
    rf"(?:(?P<least>{_LONE}{_MORE})|(?P<low>{NUMBER}))\s*(?P<from>{RELATION})"
    rf"\s*(?P<names>{NAME}(?:\s*(?:,|{RELATION})\s*{NAME})*)\s*(?P<to>{RELATION})\s*"
    rf"(?:min\s*\((?:[^≤<]{{1,60}}?,)?\s*(?P<min>{NUMBER})\s*(?:\)|,[^≤<]{{1,60}}?\))"
    rf"|(?P<most>\d{{0,2}}(?:(?<=\d)\s*[·⋅*]\s*)?[A-Za-z](?:_?\{{?[a-z0-9]\}}?)?{_MORE})(?![\w(]|\s*[·⋅*×/^])"
    rf"|(?P<high>{NUMBER})(?!\s*[·⋅*×/]|\w)|(?P<unknown>\S))"
)
_POWER = re.compile(r"(-?)(?:(\d+)[·⋅*×])?(\d+)\^\{?(\d{1,2})\}?([-−–+]1)?")
_TERM = re.compile(r"(\d*)[·⋅*]?([A-Za-z][^-−–+]*)([-−–+]\d+)?")
_INDICES = ("i", "j")


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of a variable.

    Attributes:
        name: Of the variable.
        low: Its least value.
        high: Its greatest value, None if it cannot be read.
        limit: The key of another variable, which times `factor` and plus `by` it does not exceed; empty for none.
    """

    name: str
    low: int
    high: int | None
    limit: str = ""
    factor: int = 1
    by: int = 0

    @property
    def key(self) -> str:
        """The letter of the name, and whether it has an index: `a_1` and `ai` are of one list, `a` is a number."""
        return _key_of(self.name)


def bounds_in(statement: str) -> list[tuple[str, int, int]]:
    """Return name, least and greatest value of the variables that numbers bound, in the order of the statement."""
    found = _bounds(plain(statement))
    return [(each.name, each.low, each.high) for each in found if each.high is not None and not each.limit]


def input_bounds_in(statement: str) -> list[Bound]:
    """Return the bounds of all variables in the part about the input; in the whole statement if there are none.

    Args:
        statement: Text of the problem.
    """
    text = plain(statement)
    return _bounds(parts_of(text)[1]) or _bounds(text)


def _bounds(text: str) -> list[Bound]:
    found: dict[str, Bound] = {}
    for each in _BOUND.finditer(text):
        for bound in _read(each, found):
            found.setdefault(bound.key, bound)
    return list(found.values())


def _key_of(name: str) -> str:
    """Return the key of a name: see `Bound.key`."""
    return name[0] + "i" * (len(name) > 1)


def _read(match: re.Match[str], known: dict[str, Bound]) -> Iterator[Bound]:
    """The bounds of the names of a relation, where those of names before them are known."""
    low = number_in(match["low"]) if match["low"] else _value(match["least"], known, is_least=True)
    if low is None:
        return
    low += match["from"] == "<"
    names = [each for each in re.findall(NAME, re.sub(RELATION, ",", match["names"])) if each not in _INDICES]
    number, limit, factor, by = match["high"] or match["min"], "", 1, 0
    high = number_in(number) if number else None
    if match["most"] and (term := _term(match["most"])) and term[1] in known:
        factor, limit, by = term
        by -= match["to"] == "<"
        high = _value(match["most"], known, is_least=False)
    if high is not None:
        high -= match["to"] == "<"
    if (number and high is None) or (high is not None and low > high):
        return
    for name in names:
        yield Bound(name, low, high, limit, factor, by)


def _term(text: str) -> tuple[int, str, int] | None:
    """Factor, key of the name, and summand of `2·n - 1`."""
    found = _TERM.fullmatch(re.sub(r"\s", "", text))
    if found is None:
        return None
    by = re.sub("[−–]", "-", found[3] or "0")
    return int(found[1] or 1), _key_of(found[2]), int(by)


def _value(text: str, known: dict[str, Bound], *, is_least: bool) -> int | None:
    """The least or the greatest value of a term, if its variable has one."""
    term = _term(text)
    if term is None or term[1] not in known:
        return None
    factor, name, by = term
    value = known[name].low if is_least else known[name].high
    return None if value is None else factor * value + by


def number_in(text: str) -> int | None:
    """Return the number that a statement writes, such as `2 ⋅ 10^5` or `2^{25} - 1`, or None if it is none.

    Args:
        text: Digits, perhaps with commas, a factor, an exponent, and one more or less.
    """
    plain = re.sub(r"[\s,]", "", text)
    if power := _POWER.fullmatch(plain):
        sign, factor, base, exponent, by = power.groups()
        if int(base) > 10:
            return None
        found: int = int(factor or 1) * int(base) ** int(exponent)
        return (-found if sign else found) + (0 if not by else 1 if by[0] == "+" else -1)
    return int(plain) if re.fullmatch(r"-?\d{1,19}", plain) else None
