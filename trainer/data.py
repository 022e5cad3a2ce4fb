"""Problems from files of JSON lines, and the place in them that a checkpoint can come back to.

A line is a `Problem` of sandbox_service.problem; training reads of it what is asked, how answers are graded, "source",
the name of the data set (without one it is the file's) and "difficulty". What is sent to the service is what the line
says, word by word.

All lines are checked before anything is begun, but only their places are kept: tests may be gigabytes. What a problem
becomes for a model is said in `prompts`, not here.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from sandbox_service.problem import Problem as Line
from trainer.errors import ConfigError

GRADING = ("tests", "suite", "checker", "limits", "language")
SHOWN_ERRORS = 5
Order = Literal["shuffled", "file", "easiest_first"]
Range = tuple[float, float]


@dataclass(frozen=True)
class Problem:
    """What is asked, and how answers are graded. `messages` has at least one turn; `text` is None if it has more."""

    id: str
    messages: Sequence[Mapping[str, str]]
    text: str | None  # the prompt, if the line has one in place of messages
    grading: Mapping[str, Any]
    source: str
    place: str  # file:line
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a problem is, and what must be known to choose it."""

    id: str
    path: Path
    line: int
    offset: int  # bytes
    source: str
    difficulty: float | None

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.path}:{self.line}"


class Problems(Sequence[Problem]):
    """All problems of some files, but those that `keep` does not want: they are counted in `left_out`.

    Raises ConfigError with the file, the line and what is wrong, also for an id that is there twice.
    """

    def __init__(self, paths: Sequence[Path], keep: Callable[[Problem], bool] = lambda _: True) -> None:
        self._spots: list[Spot] = []
        self.left_out = 0
        places: dict[str, str] = {}
        for spot, line in _spots(paths):
            if spot.id in places:
                raise ConfigError(f"{spot.place}: the id {spot.id!r} is also at {places[spot.id]}: rename one")
            places[spot.id] = spot.place
            if keep(_problem(line, spot.place)):
                self._spots.append(spot)
            else:
                self.left_out += 1
        self._by_id = {spot.id: index for index, spot in enumerate(self._spots)}
        if not self._spots:
            raise ConfigError(self._none(paths))

    def __len__(self) -> int:
        return len(self._spots)

    def __getitem__(self, index: Any) -> Any:
        """The problem at a place, read anew."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return self._read(self._spots[index])

    def by_id(self, name: str) -> Problem:
        """The problem of this id. Raises ConfigError if there is none, or if it was left out."""
        if name not in self._by_id:
            raise ConfigError(f"there is no problem {name!r} in the files of data.train, or it is too long by now")
        return self._read(self._spots[self._by_id[name]])

    @property
    def spots(self) -> Sequence[Spot]:
        """Where they are, in the order of the files."""
        return self._spots

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same problems, as hard and from the same sources, in the same order."""
        lines = [f"{spot.id}\t{spot.source}\t{spot.difficulty}" for spot in self._spots]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

    def _read(self, spot: Spot) -> Problem:
        with spot.path.open("rb") as file:
            file.seek(spot.offset)
            line = file.readline()
        try:
            problem = _problem(line, spot.place)
        except (ValueError, KeyError):
            problem = None
        if problem is None or problem.id != spot.id:
            raise ConfigError(
                f"{spot.place}: the file has changed since the run began: leave it as it is while it is used"
            )
        return problem

    def _none(self, paths: Sequence[Path]) -> str:
        files = ", ".join(map(str, paths))
        if self.left_out:
            return f"{files}: all {self.left_out} problems were left out for their length: see data.max_prompt_tokens"
        return f"{files}: no problems: a line of JSON for each is expected"


class Cursor:
    """Problem after problem, epoch after epoch, of one source or of all.

    The order is one of its own in each epoch, which only the seed decides (`shuffled`), that of the files (`file`), or
    by difficulty (`easiest_first`). A `take` that meets the end of an epoch goes on in the next one: every epoch has
    every problem exactly once, but those that are not `within` a range of difficulty when their turn comes.

    Raises ConfigError if a difficulty is needed that a line does not say.
    """

    def __init__(self, problems: Problems, seed: int, order: Order = "shuffled", source: str | None = None) -> None:
        self._problems = problems
        self._seed = seed
        self._kind = order
        self._places = [place for place, spot in enumerate(problems.spots) if source in (None, spot.source)]
        self._range: Range | None = None
        self.epoch = 0
        self.position = 0  # in the epoch: that of the next problem
        if order == "easiest_first":
            self._check_difficulties("data.order = 'easiest_first'")
        self._order = self._order_of(0)

    def within(self, difficulty: Range | None) -> None:
        """From here on only what is as hard as that, both ends included; None: all. See `check`."""
        self.check(difficulty)
        self._range = difficulty

    def check(self, difficulty: Range | None) -> None:
        """Raises ConfigError if nothing is as hard as that, or if a line does not say."""
        if difficulty is None:
            return
        self._check_difficulties("data.difficulty")
        if not any(self._is_in(place, difficulty) for place in self._places):
            source = self._problems.spots[self._places[0]].source
            raise ConfigError(f"data.difficulty: no problem of {source!r} is from {difficulty[0]} to {difficulty[1]}")

    def take(self, count: int) -> list[Problem]:
        """The next `count` problems."""
        return [self._problems[self._next()] for _ in range(count)]

    def state(self) -> dict[str, Any]:
        """What `restore` needs, as plain data."""
        return {"epoch": self.epoch, "position": self.position, "problems": self._problems.fingerprint}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where another cursor over the same problems was. Raises ConfigError if they are not the same."""
        if state["problems"] != self._problems.fingerprint:
            raise ConfigError(
                "the problems are not those that the checkpoint was made with: "
                "give the same files and data.max_prompt_tokens, or begin a new run"
            )
        self.epoch, self.position = int(state["epoch"]), int(state["position"])
        self._order = self._order_of(self.epoch)

    def _next(self) -> int:
        while True:
            if self.position == len(self._order):
                self.epoch, self.position = self.epoch + 1, 0
                self._order = self._order_of(self.epoch)
            self.position += 1
            place = self._order[self.position - 1]
            if self._is_in(place, self._range):
                return place

    def _order_of(self, epoch: int) -> Sequence[int]:
        """By a hash of seed, epoch and place: the same on every interpreter, whatever its generator of chance."""
        if self._kind == "file":
            return self._places
        if self._kind == "easiest_first":
            return sorted(self._places, key=lambda place: self._problems.spots[place].difficulty or 0.0)
        return sorted(self._places, key=lambda each: hashlib.blake2b(f"{self._seed}/{epoch}/{each}".encode()).digest())

    def _is_in(self, place: int, difficulty: Range | None) -> bool:
        """Whether a problem is as hard as that."""
        if difficulty is None:
            return True
        low, high = difficulty
        own = self._problems.spots[place].difficulty
        return own is not None and low <= own <= high

    def _check_difficulties(self, wanted: str) -> None:
        for place in self._places:
            spot = self._problems.spots[place]
            if spot.difficulty is None:
                raise ConfigError(f'{spot.place}: {wanted} needs a "difficulty" on this line')


def _spots(paths: Sequence[Path]) -> Iterator[tuple[Spot, bytes]]:
    """Checked lines, and where they are."""
    for path in paths:
        for number, offset, line in _lines(path):
            said = _checked(line, f"{path}:{number}")
            source = sys.intern(said.source or path.stem)
            yield Spot(said.id, path, number, offset, source, said.difficulty), line


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Lines that are not blank, with their number and place."""
    try:
        with path.open("rb") as file:
            offset = 0
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, offset, line
                offset += len(line)
    except OSError as trouble:
        raise ConfigError(f"{path}: {trouble.strerror or trouble}") from None


def _checked(line: bytes, place: str) -> Line:
    try:
        return Line.model_validate_json(line)
    except ValidationError as trouble:
        errors = trouble.errors(include_url=False, include_input=False)
        said = [f"{'.'.join(map(str, each['loc'])) or 'the line'}: {each['msg']}" for each in errors[:SHOWN_ERRORS]]
        raise ConfigError("\n  ".join([f"{place}: mend or remove this problem:", *said])) from None


def _problem(line: bytes, place: str) -> Problem:
    said = json.loads(line)
    text = said.get("prompt")
    messages = said["messages"] if text is None else [{"role": "user", "content": text}]
    grading = {name: said[name] for name in GRADING if said.get(name) is not None}
    return Problem(said["id"], messages, text, grading, said.get("source", ""), place, said.get("meta") or {})
