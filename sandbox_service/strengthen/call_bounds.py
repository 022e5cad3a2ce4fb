"""Bounds of the arguments of a call, as statements of LeetCode's kind give them: `1 <= nums.length <= 10^4`.

A bound of a name holds for the argument of that name; `[i]` and `.length` lead to its items and its length. A bound
that a given call breaks was read wrongly, or belongs to something else, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_service.strengthen.bounds import NUMBER, number_in
from sandbox_service.validation.notation import plain

_STEP = r"(?:\.length|\.size\(\)|\[\w+\])"
_NAME = rf"(?:len\(\w+\)|[A-Za-z]\w*{_STEP}*)"
_BOUND = re.compile(
    rf"(?P<low>{NUMBER})\s*(?P<from><=?|≤)\s*(?P<names>{_NAME}(?:\s*(?:,|<=?|≤)\s*{_NAME})*)"
    rf"\s*(?P<to><=?|≤)\s*(?P<high>{NUMBER})"
)
_PARTS = re.compile(rf"\w+|{_STEP}")


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound of what lies at the end of some steps from an argument: its items (`[]`) or its length."""

    place: int
    steps: tuple[str, ...]
    low: int
    high: int

    def holds(self, args: Sequence[Any]) -> bool:
        """Return whether the arguments of a call keep it.

        Args:
            args: the arguments. A value without such items or length keeps every bound.
        """
        numbers = [each for each in self._reached(args[self.place]) if isinstance(each, int | float)]
        return all(self.low <= each <= self.high for each in numbers)

    def _reached(self, value: Any) -> list[Any]:
        found = [value]
        for step in self.steps:
            sized = [each for each in found if isinstance(each, list | tuple | str | set | dict)]
            found = [len(each) for each in sized] if step == "length" else [item for each in sized for item in each]
        return found


def bounds_of(statement: str, names: Sequence[str], given: Sequence[Sequence[Any]]) -> list[Bound]:
    """Return the bounds of arguments that no given call breaks.

    Args:
        statement: Text of the problem.
        names: Of the arguments.
        given: The arguments of the given calls.
    """
    return [each for each in _read(statement, names) if all(each.holds(args) for args in given)]


def names_in(text: str, function: str) -> tuple[str, ...]:
    """Return the names of a function's arguments by its first line in a text, without `self`.

    Args:
        text: Code, or a statement with code.
        function: Its name, perhaps that of a class and a method.
    """
    head = re.search(rf"def {re.escape(function.rpartition('.')[2])}\(([^)]*)\)", text)
    without = re.sub(r"\[[^\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", head[1])) if head else ""
    names = [each.partition(":")[0].partition("=")[0].strip() for each in without.split(",")]
    return tuple(each for each in names if each.isidentifier() and each != "self")


def _read(statement: str, names: Sequence[str]) -> Iterator[Bound]:
    for each in _BOUND.finditer(plain(statement).replace("`", "")):
        low, high = number_in(each["low"]), number_in(each["high"])
        for path in re.findall(_NAME, each["names"]):
            first, *steps = _PARTS.findall(path.removeprefix("len(").removesuffix(")"))
            if first in names and low is not None and high is not None:
                ways = ["length" if step[0] == "." else "item" for step in steps]
                ways += ["length"] if path.startswith("len(") else []
                low_and_high = low + (each["from"] == "<"), high - (each["to"] == "<")
                yield Bound(names.index(first), tuple(ways), *low_and_high)
