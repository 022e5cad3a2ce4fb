"""Takes problems of several sources in exact proportions, and keeps a position that can be checkpointed.

Each source has its own epochs, so a small source with a large share repeats more often. An epoch has every problem of
its source exactly once, in an order of its own (a permutation that depends on the seed only, `shuffled`), in that of
the files (`file`) or by difficulty (`easiest_first`), except those outside the difficulty range when their turn comes.
Without shares all problems are one source. Shares and range may change from step to step (`select`); positions stay.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal

from trainer.data import Problem, Problems
from trainer.errors import ConfigError

ALL = ""  # all problems; no source has this name
Order = Literal["shuffled", "file", "easiest_first"]
Range = tuple[float, float]


class Mixture:
    """The problems of a run in the order in which they are taken."""

    def __init__(self, problems: Problems, seed: int, order: Order = "shuffled") -> None:
        self._problems = problems
        self._seed = seed
        self._kind = order
        self._places: dict[str, list[int]] = {ALL: [*range(len(problems))]}  # by source
        for place, spot in enumerate(problems.spots):
            self._places.setdefault(spot.source, []).append(place)
        self._positions: dict[str, tuple[int, int]] = {}  # by source: an epoch, and the index of the next place in it
        self._said: dict[str, float] = {}  # the shares as configured
        self._shares = {ALL: Fraction(1)}
        self._taken = {ALL: 0}  # prompts a source, since the shares last changed
        self._difficulty: Range | None = None
        if order == "easiest_first":
            self._check_known(ALL, "data.order = 'easiest_first'")

    def select(self, shares: Mapping[str, float], difficulty: Range | None) -> None:
        """Set relative shares by source and the difficulty range for the following prompts; see `check`."""
        if (dict(shares), difficulty) == (self._said, self._difficulty):
            return
        self._shares = self.check(shares, difficulty)
        if dict(shares) != self._said:
            self._taken = dict.fromkeys(self._shares, 0)
        self._said, self._difficulty = dict(shares), difficulty

    def check(self, shares: Mapping[str, float], difficulty: Range | None) -> dict[str, Fraction]:
        """Return the shares of sources that have one, with sum 1, from relative shares by source; none: all as one.

        Raises:
            ConfigError: A source is unknown or not named, or has a share but no problem within the difficulty range.
        """
        sources = self._places.keys() - {ALL}
        if unknown := shares.keys() - sources:
            there = ", ".join(sorted(sources))
            raise ConfigError(f"data.mixture: there is no source {min(unknown)!r}; there are {there}")
        if shares and (missing := min(sources - shares.keys(), default=None)) is not None:
            raise ConfigError(f"data.mixture: the source {missing!r} is not named: give it a share, 0 to leave it out")
        parts = {name: Fraction(repr(shares[name])) for name in sorted(shares) if shares[name]} or {ALL: Fraction(1)}
        low, high = difficulty or (0, 1)
        for name in parts if difficulty else ():
            self._check_known(name, "data.difficulty")
            if not any(self._is_within(place, difficulty) for place in self._places[name]):
                raise ConfigError(f"data.difficulty: no problem of {name or 'any source'!r} is from {low} to {high}")
        return {name: part / sum(parts.values()) for name, part in parts.items()}

    def take(self, count: int) -> list[Problem]:
        """Return the next problems, `count` of them, across epochs."""
        return [self._problems[self._next_place(self._next_source())] for _ in range(count)]

    def state(self) -> dict[str, Any]:
        """Return the position as plain data for `restore`."""
        return {
            "problems": self._problems.fingerprint,
            "positions": self._positions,
            "mixture": self._said,
            "difficulty": self._difficulty,
            "taken": self._taken,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue at the position of another mixture, its `state`. Raise ConfigError if it had other problems."""
        if state["problems"] != self._problems.fingerprint:
            advice = "use the same files and data.max_prompt_tokens, or start a new run"
            raise ConfigError(f"the problems differ from those of the checkpoint: {advice}")
        self._positions = {name: (epoch, position) for name, (epoch, position) in state["positions"].items()}
        self.select(state["mixture"], state["difficulty"] and tuple(state["difficulty"]))
        self._taken = dict(state["taken"])

    def _next_source(self) -> str:
        """Return the next source: after n prompts one with share s has had ⌊s·n⌋ or ⌈s·n⌉ (Balinski and Young 1975)."""
        prompts = sum(self._taken.values()) + 1
        may = [name for name, share in self._shares.items() if self._taken[name] < share * prompts]
        name = max(may, key=lambda each: self._shares[each] / (self._taken[each] + 1))
        self._taken[name] += 1
        return name

    def _next_place(self, source: str) -> int:
        """Return the place of a source's next problem within the difficulty range."""
        epoch, position = self._positions.get(source, (0, 0))
        while True:
            order = self._order_of(source, epoch)
            for index in range(position, len(order)):
                if self._is_within(order[index], self._difficulty):
                    self._positions[source] = epoch, index + 1
                    return order[index]
            epoch, position = epoch + 1, 0

    @lru_cache(maxsize=16)  # noqa: B019 - there is one mixture a process
    def _order_of(self, source: str, epoch: int) -> Sequence[int]:
        """Shuffle by a hash of seed, epoch and index: independent of any interpreter's random generator."""

        def rank(place: int) -> Any:
            if self._kind == "easiest_first":
                return self._problems.spots[place].difficulty
            return blake2b(f"{self._seed}/{epoch}/{place}".encode()).digest()

        places = self._places[source]
        return places if self._kind == "file" else sorted(places, key=rank)

    def _is_within(self, place: int, difficulty: Range | None) -> bool:
        own = self._problems.spots[place].difficulty
        return difficulty is None or (own is not None and difficulty[0] <= own <= difficulty[1])

    def _check_known(self, source: str, setting: str) -> None:
        for spot in map(self._problems.spots.__getitem__, self._places[source]):
            if spot.difficulty is None:
                raise ConfigError(f'{spot.place}: {setting} needs a "difficulty" on this line')
