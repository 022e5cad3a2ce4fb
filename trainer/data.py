"""Problems from files of JSON lines, and the place in them that a checkpoint can come back to.

A line is `{"id", "prompt": text, or "messages": […], "tests": […], or "suite": "sha256:…"}` and, if wanted, "checker",
"limits", "language" (as in a submission, see the service's docs/api.md) and "source", the name of the data set.

All lines are checked before anything is begun, but only their places are kept: tests may be gigabytes. What a problem
becomes for a model is said in `prompts`, not here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sandbox_service.schema import SUITE_ID, Checker, Limits, TestCase
from trainer.errors import ConfigError

GRADING = ("tests", "suite", "checker", "limits", "language")
SHOWN_ERRORS = 5


class Message(BaseModel):
    """One turn of a conversation."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str


class Line(BaseModel):
    """What a line may say. Only for checking: what is sent to the service is what the line says, word by word."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    prompt: str | None = Field(None, min_length=1)
    messages: list[Message] | None = Field(None, min_length=1)
    source: str = ""
    tests: list[TestCase] | None = Field(None, min_length=1)
    suite: str | None = Field(None, pattern=SUITE_ID)
    checker: Checker | None = None
    limits: Limits | None = None
    language: str = "python"

    @model_validator(mode="after")
    def _one_of_each(self) -> Line:
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("give exactly one of prompt and messages")
        if (self.tests is None) == (self.suite is None):
            raise ValueError("give exactly one of tests and suite")
        return self


@dataclass(frozen=True)
class Problem:
    """What is asked, and how answers are graded. `messages` has at least one turn; `text` is None if it has more."""

    id: str
    messages: Sequence[Mapping[str, str]]
    text: str | None  # the prompt, if the line has one in place of messages
    grading: Mapping[str, Any]
    source: str
    place: str  # file:line


@dataclass(frozen=True)
class Spot:
    """Where a problem is."""

    id: str
    path: Path
    line: int
    offset: int  # bytes

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
        for spot, line in _lines(paths):
            checked = _checked(line, spot)
            if checked.id in places:
                raise ConfigError(f"{spot.place}: the id {checked.id!r} is also at {places[checked.id]}: rename one")
            places[checked.id] = spot.place
            if keep(_problem(line, spot.place)):
                self._spots.append(Spot(checked.id, spot.path, spot.line, spot.offset))
            else:
                self.left_out += 1
        if not self._spots:
            raise ConfigError(self._none(paths))

    def __len__(self) -> int:
        return len(self._spots)

    def __getitem__(self, index: Any) -> Any:
        """The problem at a place, read anew."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return self._read(self._spots[index])

    @property
    def fingerprint(self) -> str:
        """The same for the same problems in the same order."""
        return hashlib.sha256("\n".join(spot.id for spot in self._spots).encode()).hexdigest()[:16]

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
    """Problem after problem, epoch after epoch, each in an order of its own that only the seed decides.

    A `take` that meets the end of an epoch goes on in the next one: every epoch has every problem exactly once.
    """

    def __init__(self, problems: Problems, seed: int, shuffle: bool = True) -> None:
        self._problems = problems
        self._seed = seed
        self._shuffle = shuffle
        self.epoch = 0
        self.position = 0  # in the epoch: that of the next problem
        self._order = self._order_of(0)

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
        if self.position == len(self._order):
            self.epoch, self.position = self.epoch + 1, 0
            self._order = self._order_of(self.epoch)
        self.position += 1
        return self._order[self.position - 1]

    def _order_of(self, epoch: int) -> Sequence[int]:
        """By a hash of seed, epoch and place: the same on every interpreter, whatever its generator of chance."""
        places = range(len(self._problems))
        if not self._shuffle:
            return places
        return sorted(places, key=lambda each: hashlib.blake2b(f"{self._seed}/{epoch}/{each}".encode()).digest())


def _lines(paths: Sequence[Path]) -> Iterator[tuple[Spot, bytes]]:
    """Lines that are not blank, and where they are."""
    for path in paths:
        try:
            with path.open("rb") as file:
                offset = 0
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield Spot("", path, number, offset), line
                    offset += len(line)
        except OSError as trouble:
            raise ConfigError(f"data.train: {path}: {trouble.strerror or trouble}") from None


def _checked(line: bytes, spot: Spot) -> Line:
    try:
        return Line.model_validate_json(line)
    except ValidationError as trouble:
        errors = trouble.errors(include_url=False, include_input=False)
        said = [f"{'.'.join(map(str, each['loc'])) or 'the line'}: {each['msg']}" for each in errors[:SHOWN_ERRORS]]
        raise ConfigError("\n  ".join([f"{spot.place}: mend or remove this problem:", *said])) from None


def _problem(line: bytes, place: str) -> Problem:
    said = json.loads(line)
    text = said.get("prompt")
    messages = said["messages"] if text is None else [{"role": "user", "content": text}]
    grading = {name: said[name] for name in GRADING if said.get(name) is not None}
    return Problem(said["id"], messages, text, grading, said.get("source", ""), place)
