"""Makes tables: programs that know the answers of given tests and nothing else.

A table answers a test that it knows, and says the most frequent answer to any other. Tables of stdin tests are Python
programs that read stdin; tables of calls define the function. Where all inputs are empty there is no table: to know the
answer is to solve the problem.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_service.strengthen.calls import GivenCall


@dataclass(frozen=True, slots=True)
class Table:
    """A program that knows some tests."""

    name: str
    code: str


def of_inputs(known: Sequence[tuple[str, str]]) -> list[Table]:
    """Return tables for stdin tests.

    Args:
        known: Inputs and answers of the given tests.
    """
    has_inputs = any(given.split() for given, _ in known)
    return [Table(name, _program(part)) for name, part in _parts(known)] if has_inputs else []


def of_calls(function: str, calls: Sequence[GivenCall]) -> list[Table]:
    """Return tables for calls.

    Args:
        function: Name of the function, or of a method as `Class.method`.
        calls: The given calls with their results.
    """
    known = [(repr(list(each.args)), repr(each.result)) for each in calls]
    has_arguments = any(each.args for each in calls)
    return [Table(name, _function(function, part)) for name, part in _parts(known)] if has_arguments else []


def _parts(known: Sequence[tuple[str, str]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """All known tests, the first one, and the first half."""
    half = len(known) // 2
    sizes = {len(known): "all tests"}
    sizes.setdefault(1, "the first test")
    sizes.setdefault(half, f"the first {half} tests")
    return [(f"a table of {name}", list(known[:size])) for size, name in sizes.items() if size]


def _most_frequent(known: Sequence[tuple[str, str]]) -> str:
    return Counter(answer for _, answer in known).most_common(1)[0][0]


def _program(known: Sequence[tuple[str, str]]) -> str:
    answers = {" ".join(given.split()): answer for given, answer in known}
    return (
        f"import sys\nknown = {answers!r}\n"
        f"print(known.get(' '.join(sys.stdin.read().split()), {_most_frequent(known)!r}))\n"
    )


def _function(name: str, known: Sequence[tuple[str, str]]) -> str:
    """Results are written as Python, so that tuples and lists differ."""
    owner, _, method = name.rpartition(".")
    pairs = "".join(f"    {given!r}: {result},\n" for given, result in dict(known).items())
    head = f"known = {{\n{pairs}}}\n"
    given = "self, *args, **named" if owner else "*args, **named"
    body = f"def {method}({given}):\n    return known.get(repr([*args, *named.values()]), {_most_frequent(known)})\n"
    if not owner:
        return head + body
    return f"{head}class {owner}:\n" + "".join(f"    {line}\n" for line in body.splitlines())
