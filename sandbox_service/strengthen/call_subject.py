"""The subject of problems whose tests are calls of a function in Python: arguments by their kinds, in tiers."""

from __future__ import annotations

import ast
import json
import math
import random
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.judging.numeric import tolerance_of
from sandbox_service.schema import AssertTest, CallTest, Checker, TestCase
from sandbox_service.strengthen import tables
from sandbox_service.strengthen.arguments import Arguments
from sandbox_service.strengthen.call_bounds import bounds_of, names_in
from sandbox_service.strengthen.calls import Calls, examples_in, is_row_of_reals
from sandbox_service.strengthen.constants import NONE, Constants
from sandbox_service.strengthen.kinds import PATTERNS
from sandbox_service.strengthen.runs import Program
from sandbox_service.strengthen.statement import guarantees_in
from sandbox_service.strengthen.tiers import LEAST_JUDGES, WORDS, Made, Wanted
from sandbox_service.strengthen.uniqueness import Uniqueness
from sandbox_service.strengthen.widening import SEEN, WIDENINGS, Widening
from sandbox_service.validation import seeds
from sandbox_service.validation.duplicates import text_of

Maker = Callable[[int, random.Random], list[Any]]

SEEN_EVERY = 2  # so many other tiers have a turn between two of the usual one
NEAR = 8  # calls of a later round, where there are enough
CHANGED = "changed"
CALL_SECONDS = 0.5
TRIES = 4  # for each input that is wanted
MARK = "proctor-result:"

_DRIVER = """
import ast as _ast, sys as _sys
args = _ast.literal_eval(_sys.stdin.read())
_found = {called}({unpacked})
if hasattr(_found, "__iter__") and not isinstance(_found, (str, bytes, dict, list, tuple, set, frozenset)):
    _found = list(_found)  # of a generator or a view; the judge compares it as a list as well
print()
print({mark!r} + repr(_found))
"""


class CallSubject:
    """Functions in Python that are called with plain arguments."""

    def __init__(self, problem: Problem, calls: Calls) -> None:
        self._problem, self._calls = problem, calls
        text = text_of(problem)
        names = calls.names or names_in(text, calls.function)
        is_known = len(names) == len(calls.given[0].args)
        self._bounds = bounds_of(text, names, [each.args for each in calls.given]) if is_known else []
        self._guarantees = guarantees_in(text)
        self._uniqueness = Uniqueness(text, Checker())

    @property
    def form(self) -> str:
        """See `Subject`."""
        return "arguments"

    @property
    def unexplained(self) -> str:
        """See `Subject`."""
        return next(iter(self._guarantees), "")

    @property
    def most_seconds(self) -> float:
        """See `Subject`. All calls of a problem run in one box, and most need less than a millisecond."""
        return CALL_SECONDS

    def made(self, wanted: Wanted) -> list[Made]:
        """See `Subject`."""
        makers = self._makers(wanted)
        if self._guarantees:  # which made calls may break
            makers = [] if wanted.judges < LEAST_JUDGES else [each for each in makers if each[0] == SEEN.name]
        known = {repr(list(each.args)) for each in self._calls.given}
        found: dict[str, Made] = {}
        tries = wanted.count * TRIES if makers else 0
        for number in range(wanted.round * tries, (wanted.round + 1) * tries):
            tier, maker = makers[number % len(makers)]
            turn = number // len(makers)
            args = maker(turn, random.Random(f"{self._problem.id} {number}"))  # noqa: S311
            text = repr(args)
            if text not in known and all(each.holds(args) for each in self._bounds) and len(text) <= wanted.most_bytes:
                found.setdefault(text, Made(text, _how(tier, turn), tier))
            if len(found) == (NEAR if wanted.is_enough else wanted.count):
                break
        return list(found.values())

    def _makers(self, wanted: Wanted) -> list[tuple[str, Maker]]:
        """The tiers of a round, which take turns; the usual one if all others are doubted."""
        if wanted.is_enough:
            return list(self._near(wanted))
        seen: tuple[str, Maker] = (SEEN.name, self._arguments().make)
        others = [each for each in self._others(wanted) if each[0] not in wanted.doubted]
        found = [seen] if SEEN.name not in wanted.doubted or not others else []
        for place, each in enumerate(others):
            found += [each, seen] if place % SEEN_EVERY == SEEN_EVERY - 1 and found else [each]
        return [*found, *self._near(wanted)]

    def _others(self, wanted: Wanted) -> Iterator[tuple[str, Maker]]:
        """The tiers that make other calls than the usual one."""
        usual = self._arguments()
        given = [each.args for each in self._calls.given]
        yield CHANGED, lambda turn, chance: usual.near(given, turn, chance)
        worded = self._arguments(of_words=True)
        if not worded.is_as_seen:
            yield WORDS.name, worded.make
        for how in WIDENINGS:
            if how.judges > wanted.judges or (how.of_formulas and not wanted.constants.are_formulas):
                continue
            made = self._arguments(how, wanted.constants)
            if not made.is_as_seen:
                yield how.name, made.make

    def _near(self, wanted: Wanted) -> Iterator[tuple[str, Maker]]:
        """Calls that differ a little from those with rare answers."""
        rare = [ast.literal_eval(each) for each in wanted.rare]
        if rare:
            usual = self._arguments()
            yield f"near {wanted.round}", lambda turn, chance: usual.near(rare, turn, chance)

    def _arguments(
        self,
        how: Widening = SEEN,
        constants: Constants = NONE,
        *,
        of_words: bool = False,
    ) -> Arguments:
        said = examples_in(text_of(self._problem), self._calls.function, len(self._calls.given[0].args))
        return Arguments([each.args for each in self._calls.given] + said, how, constants, of_words=of_words)

    def large(self, wanted: Wanted, names: Container[str] | None = None, shrunk: int = 1) -> list[Made]:  # noqa: ARG002
        """See `Subject`: none, since the calls of a problem share a process and its time."""
        return []

    @property
    def printed(self) -> str:
        """See `Subject`."""
        return f"the arguments of one call of `{self._calls.function}`, as a Python list of literals on one line"

    @property
    def example(self) -> str:
        """See `Subject`."""
        return repr(list(self._calls.given[0].args))

    def admitted(self, text: str, *, judges: int) -> str | None:
        """See `Subject`."""
        try:
            args = ast.literal_eval(text.strip())
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        if not isinstance(args, list) or len(args) != len(self._calls.given[0].args):
            return None
        return repr(args) if judges >= LEAST_JUDGES or self._arguments().fits(args) else None

    def asking(self, reference: Program) -> Program:
        """See `Subject`."""
        owner, _, method = self._calls.function.rpartition(".")
        called = f"{owner}().{method}" if owner else method
        prelude = (self._calls.like.prelude if isinstance(self._calls.like, AssertTest) else None) or ""
        if prelude.startswith("@"):
            prelude = seeds.USUAL_IMPORTS
        head = f"__name__ = 'solution'\n{prelude}\n"
        if "from __future__" in reference.code:
            head = ""
        code = f"{head}{reference.code}\n{_DRIVER.format(called=called, unpacked=self._calls.unpacked, mark=MARK)}"
        return Program(reference.kind, reference.name, code, reference.language)

    def test(self, made: Made, output: str) -> TestCase | None:
        """See `Subject`."""
        _, mark, said = output.rpartition(MARK)
        if not mark:
            return None
        try:
            args, result = ast.literal_eval(made.text), ast.literal_eval(said.strip())
            if isinstance(self._calls.like, CallTest):
                result = json.loads(json.dumps(result, allow_nan=False))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        is_sound = result is not None and self._is_comparable(args, result)
        return self._calls.test(args, result) if is_sound and self._uniqueness.is_unique_value(result) else None

    def _is_comparable(self, args: Any, result: Any) -> bool:
        """Return whether a right program that computes in another order has an equal result."""
        reals = set(_reals_in(result))
        if not all(map(math.isfinite, reals)):
            return False
        if isinstance(self._calls.like, AssertTest):  # these have a tolerance for a number, and for a row of them
            return type(result) is float or is_row_of_reals(result) or reals <= set(_reals_in(args))
        checker = self._problem.checker
        has_tolerance = isinstance(checker, Checker) and tolerance_of(checker) is not None
        return has_tolerance or reals <= set(_reals_in(args))

    def merged(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """See `Subject`."""
        return self._calls.merged(tests)

    def merged_audit(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """See `Subject`."""
        return self._calls.table(tests)

    def tables(self) -> list[tables.Table]:
        """See `Subject`."""
        return tables.of_calls(self._calls.function, self._calls.given)


def _how(tier: str, turn: int) -> str:
    how = f"arguments, {PATTERNS[turn % len(PATTERNS)]}"
    return how if tier == SEEN.name else f"{tier}: {how}"


def _reals_in(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        yield from _reals_in([*value, *value.values()])
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from _reals_in(each)
