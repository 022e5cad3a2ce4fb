"""Reads problems from JSON Lines files.

A line is a `Problem` of sandbox_service.formats.problem. Training reads the prompt, the grading fields, "source" (by
default the file's name) and "difficulty". All lines are validated before a run starts, but only their offsets are kept
in memory, because tests may be gigabytes.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sandbox_service.errors.fields import describe
from sandbox_service.formats.problem import Problem as Line
from trainer.errors import ConfigError

SENT = ("checker", "interactor", "groups", "language")  # grading fields that a submission has unchanged
GRADING = ("tests", "suite", "limits", *SENT)
# fields of a submission to a problem that is graded by other tests than its own, which belong to no group
OTHER_TESTS = {"groups": None, "stop_on_failure": False, "display_bytes": 0}


@dataclass(frozen=True)
class Problem:
    """A prompt and how its answers are graded. `messages` has at least one turn; `text` is None if it has more."""

    id: str
    messages: Sequence[Mapping[str, str]]
    text: str | None  # the prompt, if the line has one instead of messages
    grading: Mapping[str, Any]
    source: str
    place: str  # file:line
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProblemLocation:
    """The position of a problem in a file, and the fields by which problems are selected."""

    id: str
    path: Path
    place: str  # file:line, for messages
    offset: int  # bytes
    source: str
    difficulty: float | None


class Problems(Sequence[Problem]):
    """All problems of some files, except those rejected by `keep`, which are counted in `left_out`."""

    def __init__(self, paths: Sequence[Path], keep: Callable[[Problem], bool] = lambda _: True) -> None:
        self.spots: list[ProblemLocation] = []  # of the kept problems, in the order of the files
        places: dict[str, str] = {}
        for spot, line in chain.from_iterable(map(_spots, paths)):
            if spot.id in places:
                raise ConfigError(f"{spot.place}: the id {spot.id!r} is also at {places[spot.id]}: rename one")
            places[spot.id] = spot.place
            if keep(_problem(line, spot.place)):
                self.spots.append(spot)
        self.left_out = len(places) - len(self.spots)
        self._by_id = {spot.id: index for index, spot in enumerate(self.spots)}
        if not self.spots:
            files = ", ".join(map(str, paths))
            raise ConfigError(
                f"{files}: all {self.left_out} problems are longer than data.max_prompt_tokens"
                if places
                else f"{files}: no problems found; one JSON object a line is expected"
            )

    def __len__(self) -> int:
        return len(self.spots)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return self._read(self.spots[index])

    def by_id(self, name: str) -> Problem:
        """Return the problem with an id (name). Raise ConfigError if there is none, or `keep` rejected it."""
        if name not in self._by_id:
            raise ConfigError(f"there is no problem {name!r} in the files of data.train, or it is now too long")
        return self._read(self.spots[self._by_id[name]])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of ids, sources and difficulties in order."""
        lines = [f"{spot.id}\t{spot.source}\t{spot.difficulty}" for spot in self.spots]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

    def _read(self, spot: ProblemLocation) -> Problem:
        with spot.path.open("rb") as file:
            file.seek(spot.offset)
            line = file.readline()
        with suppress(ValueError, KeyError):
            problem = _problem(line, spot.place)
            if problem.id == spot.id:
                return problem
        raise ConfigError(f"{spot.place}: the file has changed since the run began: do not modify it during a run")


def _spots(path: Path) -> Iterator[tuple[ProblemLocation, bytes]]:
    """Validate all lines of a file that are not blank, and yield them with their locations."""
    try:
        with path.open("rb") as file:
            offset = 0
            for number, line in enumerate(file, 1):
                place = f"{path}:{number}"
                if line.strip():
                    try:
                        problem = Line.model_validate_json(line)
                    except ValidationError as error:
                        wrong = describe(error, whole="the line")
                        raise ConfigError(f"{place}: correct or remove this problem: {wrong}") from None
                    source = sys.intern(problem.source or path.stem)
                    yield ProblemLocation(problem.id, path, place, offset, source, problem.difficulty), line
                offset += len(line)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None


def _problem(line: bytes, place: str) -> Problem:
    fields = json.loads(line)
    text = fields.get("prompt")
    messages = fields["messages"] if text is None else [{"role": "user", "content": text}]
    grading = {name: fields[name] for name in GRADING if fields.get(name) is not None}
    return Problem(fields["id"], messages, text, grading, fields.get("source", ""), place, fields.get("meta") or {})
