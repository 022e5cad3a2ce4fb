"""Measures the difficulty of a problem for a model: 1 − the share of its samples that pass, avg@k (Chen et al. 2021).

Samples come from a results file, or are requested from the model and graded by the judge of the validation. Journals
keep completions and verdicts, so a resumed run requests and grades only what is missing. A sample that the sandbox
failed to judge does not count, and the next run grades it again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sandbox_service.errors import BadRequestError, ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Checker, Limits, Verdict
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Fields, Judge
from sandbox_service.validation.model import Messages, ModelRefusedError
from sandbox_service.validation.recipe import Difficulty
from sandbox_service.validation.sampler import Sampler

TOO_EASY, TOO_HARD = "too easy", "too hard"


@dataclass(frozen=True, slots=True)
class Tally:
    """Outcome of a problem's samples: `n` have a verdict, `faults` more could not be judged."""

    n: int = 0
    correct: int = 0
    cut: int = 0
    faults: int = 0
    refusal: str = ""  # why there are none, if the model or the judge refused

    @property
    def difficulty(self) -> float | None:
        """Difficulty from 0 (every sample passes) to 1; None without samples."""
        return 1.0 - self.correct / self.n if self.n else None

    @property
    def reason(self) -> str:
        """Why the difficulty is unknown."""
        if self.refusal:
            return self.refusal
        return f"the sandbox could judge none of {self.faults} samples" if self.faults else "the results do not have it"

    def line(self, problem: str) -> dict[str, Any]:
        """Return a line of difficulty.jsonl, which `Results` reads.

        Args:
            problem: Id of the problem.
        """
        return {"problem": problem, "n": self.n, "correct": self.correct, "cut": self.cut}


def unwanted(tally: Tally, wanted: Difficulty) -> str | None:
    """Return the reason for which a clean problem is left out.

    Args:
        tally: Outcome of the problem's samples.
        wanted: The recipe's bounds.

    Returns:
        TOO_EASY or TOO_HARD, or None if the difficulty is within the bounds or unknown.
    """
    known = tally.difficulty
    if known is None:
        return None
    if known < wanted.least:
        return TOO_EASY
    return TOO_HARD if known > wanted.most else None


class DifficultySource(Protocol):
    """A source of difficulties."""

    async def tally(self, problem: Problem) -> Tally:
        """Return the outcome of the samples of a clean problem.

        Args:
            problem: The problem with the limits and the checker of its clean line.

        Raises:
            UnavailableError: The model or the judge stayed away for too long.
        """
        ...


class Results:
    """Outcomes from a results file. Raises ConfigurationError if the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self._tallies = _read(path)

    def of(self, name: str) -> Tally:
        """Return the outcome of the problem with the id `name`; an empty one if the file does not have it."""
        return self._tallies.get(name, Tally())

    async def tally(self, problem: Problem) -> Tally:
        """See `DifficultySource`."""
        return self.of(problem.id)


class Samples:
    """Outcomes of completions that are requested now. `graded` is the journal of verdicts."""

    def __init__(self, wanted: Difficulty, sampler: Sampler, judge: Judge, graded: Journal) -> None:
        self._wanted = wanted
        self._sampler = sampler
        self._judge = judge
        self._graded = graded
        self.graded_now = 0

    @property
    def asked_now(self) -> int:
        """The number of completions that were requested in this run."""
        return self._sampler.asked_now

    async def stop(self) -> None:
        """Cancel all requests and wait until they have ended."""
        await self._sampler.stop()

    async def tally(self, problem: Problem) -> Tally:
        """See `DifficultySource`.

        Returns:
            The counts of the samples.

        Raises:
            ConfigurationError: The model refuses every prompt.
        """
        messages = asked_of(problem)
        try:
            completions = await asyncio.gather(
                *(self._sampler.completion(messages, number) for number in range(self._wanted.samples))
            )
            verdicts = await self._verdicts(problem, [each.text for each in completions])
        except ModelRefusedError as refusal:
            return Tally(refusal=f"the model refuses it: {refusal}")
        except BadRequestError as refusal:
            return Tally(refusal=f"the judge refuses what the model said: {refusal}")
        known = [verdict for verdict in verdicts if verdict is not None]
        return Tally(
            n=len(known),
            correct=known.count(Verdict.AC),
            cut=sum(each.is_cut for each in completions),
            faults=len(verdicts) - len(known),
        )

    # --- grading

    async def _verdicts(self, problem: Problem, texts: Sequence[str]) -> list[str | None]:
        """A verdict for each text, in order; None where the sandbox failed. Equal texts are graded once."""
        shared = _shared(problem)
        base = _hash(shared)
        keys = [_hash([base, text]) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._graded}
        if missing:
            await self._grade(shared, missing)
        return [(self._graded.get(key) or {}).get("verdict") for key in keys]

    async def _grade(self, shared: Fields, missing: Mapping[str, str]) -> None:
        grades = await self._judge.grade(shared, [{"completion": text} for text in missing.values()])
        for key, grade in zip(missing, grades, strict=True):
            if grade.verdict != Verdict.IE:
                self.graded_now += 1
                self._graded.put(key, {"verdict": str(grade.verdict)})


def asked_of(problem: Problem) -> Messages:
    """Return the messages for the model: the problem's conversation, or its prompt as a user message."""
    if problem.messages is not None:
        return [each.model_dump() for each in problem.messages]
    return [{"role": "user", "content": problem.prompt or ""}]


def _shared(problem: Problem) -> Fields:
    return {
        "language": problem.language,
        "tests": [each.model_dump(mode="json") for each in problem.tests or ()],
        "checker": (problem.checker or Checker()).model_dump(mode="json"),
        "interactor": problem.interactor.model_dump(mode="json") if problem.interactor else None,
        "limits": (problem.limits or Limits()).model_dump(mode="json"),
    }


def _hash(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, Tally]:
    found = {}
    try:
        with path.open(encoding="utf-8") as file:
            for line in filter(str.strip, file):
                name, tally = _parsed(json.loads(line))
                found[name] = tally
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{path}: lines with problem, n and correct are expected: {error!r}") from None
    return found


def _parsed(line: Mapping[str, Any]) -> tuple[str, Tally]:
    tally = Tally(int(line["n"]), int(line["correct"]), int(line.get("cut") or 0))
    if not 0 <= tally.correct <= tally.n:
        raise ValueError(f"{tally.correct} correct of {tally.n}")
    return str(line["problem"]), tally
