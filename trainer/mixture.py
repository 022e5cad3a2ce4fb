"""Mixes problems of several sources in exact proportions, without randomness.

Each source has its own cursor and epochs, so a small source with a large share repeats more often. Without shares there
is one cursor over all problems. The mixture may change from step to step (`select`); cursors keep their positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from trainer.data import Cursor, Order, Problem, Problems, Range
from trainer.errors import ConfigError

ALL = ""  # the name of the cursor over all problems; no source has this name


class Mixture:
    """Problems of several sources in turn.

    Raises:
        ConfigError: As raised by `Cursor`.
    """

    def __init__(self, problems: Problems, seed: int, order: Order = "shuffled") -> None:
        self._problems = problems
        self._seed = seed
        self._kind = order
        self._sources = sorted({spot.source for spot in problems.spots})
        self._cursors = {ALL: Cursor(problems, seed, order)}
        self._said: dict[str, float] = {}  # the shares as configured
        self._shares = {ALL: Fraction(1)}
        self._taken = {ALL: 0}  # prompts a source, since the shares last changed
        self._difficulty: Range | None = None

    def select(self, shares: Mapping[str, float], difficulty: Range | None) -> None:
        """Set relative shares by source and the difficulty range for the following prompts; see `check`."""
        if (dict(shares), difficulty) == (self._said, self._difficulty):
            return
        chosen = self.check(shares, difficulty)
        if dict(shares) != self._said:
            self._taken = dict.fromkeys(chosen, 0)
        self._said, self._shares, self._difficulty = dict(shares), chosen, difficulty

    def check(self, shares: Mapping[str, float], difficulty: Range | None) -> dict[str, Fraction]:
        """Return the shares of sources that have one, with sum 1, from relative shares by source.

        Every source must be named; empty shares stand for all problems as one source. The difficulty is a range with
        both ends.

        Raises:
            ConfigError: A source is unknown or not named, or has a share but no problem within the range.
        """
        self._check_names(shares)
        parts = {name: Fraction(repr(shares[name])) for name in sorted(shares) if shares[name]} or {ALL: Fraction(1)}
        for name in parts:
            self._cursor(name).check(difficulty)
        return {name: part / sum(parts.values()) for name, part in parts.items()}

    def take(self, count: int) -> list[Problem]:
        """Return the next problems, `count` of them, across epochs."""
        return [self._cursor(self._next_source()).take(self._difficulty) for _ in range(count)]

    def state(self) -> dict[str, Any]:
        """Return the position as plain data for `restore`."""
        return {
            "cursors": {name: cursor.state() for name, cursor in self._cursors.items()},
            "mixture": self._said,
            "difficulty": self._difficulty,
            "taken": self._taken,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue at the position of another mixture, its `state`, also within an epoch or a stage.

        Raises:
            ConfigError: The problems differ from those of the state.
        """
        for name, place in state["cursors"].items():
            self._cursor(name).restore(place)
        self.select(state["mixture"], None if state["difficulty"] is None else tuple(state["difficulty"]))
        self._taken = dict(state["taken"])

    def _next_source(self) -> str:
        """Return the next source, such that after n prompts a source with share s has had ⌊s·n⌋ or ⌈s·n⌉ of them.

        The quota method of Balinski and Young (1975) for the apportionment of seats: among the sources that would not
        exceed ⌈s·n⌉, take the one with the greatest s / (taken + 1).
        """
        prompts = sum(self._taken.values()) + 1
        may = [name for name, share in self._shares.items() if self._taken[name] < share * prompts]
        name = max(may, key=lambda each: self._shares[each] / (self._taken[each] + 1))
        self._taken[name] += 1
        return name

    def _cursor(self, name: str) -> Cursor:
        """Return the cursor of a source, created on first use."""
        if name not in self._cursors:
            self._cursors[name] = Cursor(self._problems, self._seed, self._kind, name)
        return self._cursors[name]

    def _check_names(self, shares: Mapping[str, float]) -> None:
        if unknown := shares.keys() - self._sources:
            there = ", ".join(self._sources)
            raise ConfigError(f"data.mixture: there is no source {min(unknown)!r}; there are {there}")
        if shares and (missing := set(self._sources) - shares.keys()):
            raise ConfigError(
                f"data.mixture: the source {min(missing)!r} is not named: give it a share, 0 to leave it out"
            )
