"""How hard a problem is for a model: 1 − the share of its samples that pass, avg@k over k samples (Chen et al. 2021).

From a file of results, or from completions that are asked for here and graded by the judge of the validation. What was
asked is kept by what was asked, and a verdict by what was graded, so a run that goes on asks and grades only what is
missing. A fault of ours is no failure: such a sample is left out, and graded again by the next run.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sandbox_service.errors import BadRequest, ConfigurationError
from sandbox_service.problem import Problem
from sandbox_service.schema import Checker, Limits, Verdict
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Fields, Judge
from sandbox_service.validation.model import Asks, Completion, Messages, Refused
from sandbox_service.validation.recipe import Difficulty

FORM = "samples 1"  # of the journal of what was asked; it does not depend on a recipe
TOO_EASY, TOO_HARD = "too easy", "too hard"


@dataclass(frozen=True, slots=True)
class Tally:
    """How the samples of a problem ended: `n` have a verdict, and the sandbox could not judge `faults` more."""

    n: int = 0
    correct: int = 0
    cut: int = 0
    faults: int = 0
    refusal: str = ""  # why there are none, if the model or the judge refused

    @property
    def difficulty(self) -> float | None:
        """1 − the share that passes; None if nothing is known."""
        return 1.0 - self.correct / self.n if self.n else None

    @property
    def reason(self) -> str:
        """Why nothing is known."""
        if self.refusal:
            return self.refusal
        return f"the sandbox could judge none of {self.faults} samples" if self.faults else "the results do not have it"

    def line(self, problem: str) -> dict[str, Any]:
        """As results are written, so that they can be read again."""
        return {"problem": problem, "n": self.n, "correct": self.correct, "cut": self.cut}


def unwanted(tally: Tally, wanted: Difficulty) -> str | None:
    """Why a clean problem is left out for its difficulty; None if it is not, or nothing is known."""
    known = tally.difficulty
    if known is None:
        return None
    if known < wanted.least:
        return TOO_EASY
    return TOO_HARD if known > wanted.most else None


class Knows(Protocol):
    """Where difficulties come from."""

    async def tally(self, problem: Problem) -> Tally:
        """Of a clean problem, with the limits and the comparison that it is kept with. Raises Unavailable."""
        ...


class Results:
    """Samples that were graded before, from a file. Raises ConfigurationError for one that cannot be read."""

    def __init__(self, path: Path) -> None:
        self._tallies = _read(path)

    def of(self, name: str) -> Tally:
        """Of the problem with this id."""
        return self._tallies.get(name, Tally())

    async def tally(self, problem: Problem) -> Tally:
        """See Knows."""
        return self.of(problem.id)


class Samples:
    """Completions that are asked for now. `asked`: their journal; `graded`: that of the judgements."""

    def __init__(self, wanted: Difficulty, model: Asks, judge: Judge, asked: Journal, graded: Journal) -> None:
        self._wanted = wanted
        self._model = model
        self._judge = judge
        self._asked = asked
        self._graded = graded
        self._asking: dict[str, asyncio.Task[Completion]] = {}
        self.asked_now = 0
        self.graded_now = 0

    async def stop(self) -> None:
        """Ask for nothing more."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def tally(self, problem: Problem) -> Tally:
        """See Knows. Raises ConfigurationError if the model refuses everybody."""
        messages = asked_of(problem)
        try:
            completions = await asyncio.gather(*(self._completion(messages, n) for n in range(self._wanted.samples)))
            verdicts = await self._verdicts(problem, [each.text for each in completions])
        except Refused as refusal:
            return Tally(refusal=f"the model refuses it: {refusal}")
        except BadRequest as refusal:
            return Tally(refusal=f"the judge refuses what the model said: {refusal}")
        known = [verdict for verdict in verdicts if verdict is not None]
        return Tally(
            n=len(known),
            correct=known.count(Verdict.AC),
            cut=sum(each.is_cut for each in completions),
            faults=len(verdicts) - len(known),
        )

    # --- asking

    async def _completion(self, messages: Messages, number: int) -> Completion:
        """The one that is in the journal, or that is on its way, or a new one."""
        key = self._key(messages, number)
        if (known := self._asked.get(key)) is not None:
            return Completion(known["text"], known["finish"] == "length", known["tokens"])
        if key not in self._asking:
            task = asyncio.create_task(self._new(key, messages))
            task.add_done_callback(lambda _: self._asking.pop(key, None))
            self._asking[key] = task
        return await asyncio.shield(self._asking[key])

    async def _new(self, key: str, messages: Messages) -> Completion:
        made = await self._model.ask(messages, int(key[:8], 16) >> 1)
        self.asked_now += 1
        self._asked.put(key, {"text": made.text, "finish": "length" if made.is_cut else "stop", "tokens": made.tokens})
        return made

    def _key(self, messages: Messages, number: int) -> str:
        """Of all that the completion depends on; its seed is made of it."""
        wanted = self._wanted
        drawn = [wanted.model, wanted.temperature, wanted.top_p, wanted.max_tokens, wanted.seed, wanted.extra]
        return _hash([*drawn, list(messages), number])

    # --- grading

    async def _verdicts(self, problem: Problem, texts: Sequence[str]) -> list[str | None]:
        """One for each text, in their order; None where the sandbox failed. The same text is graded once."""
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
    """What the model is told: the problem's conversation, or its prompt as a user's."""
    if problem.messages is not None:
        return [each.model_dump() for each in problem.messages]
    return [{"role": "user", "content": problem.prompt or ""}]


def _shared(problem: Problem) -> Fields:
    return {
        "language": problem.language,
        "tests": [each.model_dump(mode="json") for each in problem.tests or ()],
        "checker": (problem.checker or Checker()).model_dump(mode="json"),
        "limits": (problem.limits or Limits()).model_dump(mode="json"),
    }


def _hash(said: object) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


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


def _parsed(said: Mapping[str, Any]) -> tuple[str, Tally]:
    tally = Tally(int(said["n"]), int(said["correct"]), int(said.get("cut") or 0))
    if not 0 <= tally.correct <= tally.n:
        raise ValueError(f"{tally.correct} correct of {tally.n}")
    return str(said["problem"]), tally
