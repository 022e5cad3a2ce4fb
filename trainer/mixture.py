"""Which source the next prompt is from, so that each has its share: exactly, over time, and not by lot.

Each source has a cursor and epochs of its own: a small one with a large share is seen more often. Without shares there
is one cursor over all problems. What is chosen may change from step to step (`choose`): cursors go on where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from trainer.data import Cursor, Order, Problem, Problems, Range
from trainer.errors import ConfigError

ALL = ""  # the name of the cursor over all problems; no source has it


class Mixture:
    """Problems of several sources by turns. Raises ConfigError if a cursor does."""

    def __init__(self, problems: Problems, seed: int, order: Order = "shuffled") -> None:
        self._problems = problems
        self._seed = seed
        self._kind = order
        self._sources = sorted({spot.source for spot in problems.spots})
        self._cursors = {ALL: Cursor(problems, seed, order)}
        self._said: dict[str, float] = {}  # the shares as they were given
        self._shares = {ALL: Fraction(1)}
        self._taken = {ALL: 0}  # since these shares hold
        self._difficulty: Range | None = None

    @property
    def epoch(self) -> int:
        """From 0: of the source that was seen least often."""
        return min(self._cursors[name].epoch for name in self._shares)

    def choose(self, shares: Mapping[str, float], difficulty: Range | None) -> None:
        """What holds from here on: shares by source (none: as they are), and how hard a problem may be.

        The same as before changes nothing. Raises ConfigError for a source that is not there, for one that is not
        named, and if a source with a share has no problem as hard as that.
        """
        if (dict(shares), difficulty) == (self._said, self._difficulty):
            return
        chosen = self.check(shares, difficulty)
        for name in chosen:
            self._cursor(name).within(difficulty)
        if dict(shares) != self._said:
            self._taken = dict.fromkeys(chosen, 0)
        self._said, self._shares, self._difficulty = dict(shares), chosen, difficulty

    def check(self, shares: Mapping[str, float], difficulty: Range | None) -> dict[str, Fraction]:
        """The shares of those that have one, their sum 1. Raises ConfigError for what `choose` would not take."""
        self._check_names(shares)
        parts = {name: Fraction(repr(shares[name])) for name in sorted(shares) if shares[name]} or {ALL: Fraction(1)}
        for name in parts:
            self._cursor(name).check(difficulty)
        return {name: part / sum(parts.values()) for name, part in parts.items()}

    def take(self, count: int) -> list[Problem]:
        """The next `count` problems."""
        return [problem for _ in range(count) for problem in self._cursor(self._turn()).take(1)]

    def state(self) -> dict[str, Any]:
        """What `restore` needs, as plain data."""
        return {
            "cursors": {name: cursor.state() for name, cursor in self._cursors.items()},
            "mixture": self._said,
            "difficulty": self._difficulty,
            "taken": self._taken,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where another was: also in the middle of epochs and of a stage. Raises ConfigError for other data."""
        for name, place in state["cursors"].items():
            self._cursor(name).restore(place)
        self.choose(state["mixture"], None if state["difficulty"] is None else tuple(state["difficulty"]))
        self._taken = dict(state["taken"])

    def _turn(self) -> str:
        """Whose turn it is, so that after n prompts a source with a share of s has had ⌊s·n⌋ or ⌈s·n⌉ of them.

        The quota method of Balinski and Young (1975), which gives seats of a parliament one after the other: of those
        that would not have more than ⌈s·n⌉, the one with the greatest s / (what it has + 1).
        """
        prompts = sum(self._taken.values()) + 1
        may = [name for name, share in self._shares.items() if self._taken[name] < share * prompts]
        name = max(may, key=lambda each: self._shares[each] / (self._taken[each] + 1))
        self._taken[name] += 1
        return name

    def _cursor(self, name: str) -> Cursor:
        """Of a source, from its beginning when it is first asked for."""
        if name not in self._cursors:
            self._cursors[name] = Cursor(self._problems, self._seed, self._kind, name)
        return self._cursors[name]

    def _check_names(self, shares: Mapping[str, float]) -> None:
        there = ", ".join(self._sources)
        for name in shares:
            if name not in self._sources:
                raise ConfigError(f"data.mixture: there is no source {name!r}; there are {there}")
        for name in self._sources if shares else ():
            if name not in shares:
                raise ConfigError(f"data.mixture: the source {name!r} is not named: give it a share, 0 to leave it out")
