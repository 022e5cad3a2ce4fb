"""Samples of a model, appended to a file as they come. What is in the file is not asked for again.

A sample's seed is made of its problem and its number, so it does not matter which were drawn before it, how many at
once, or on which day. How far a GPU then gives the same sample is said in docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.data import Problem, Problems
from trainer.errors import ConfigError
from trainer.evaluation import journal, samples
from trainer.evaluation.endpoint import Endpoint
from trainer.evaluation.samples import Sample, Sampling
from trainer.evaluation.together import each


@dataclass(frozen=True)
class Draw:
    """What is drawn, and from what."""

    model: str  # "": that is not known yet
    weights: str
    sampling: Sampling
    described: Mapping[str, Any]  # all that a sample depends on besides
    system: str
    n: int
    concurrency: int


async def generate(
    problems: Problems,
    endpoint: Endpoint,
    draw: Draw,
    path: Path,
    take: Callable[[Sample], None] = lambda _: None,
) -> None:
    """Bring the file to n samples of each problem; `take` gets each sample that was not there.

    Raises ConfigError if those that are there were drawn in another way.
    """
    there = {sample.key for sample in checked(path, draw)}
    with journal.Journal(path) as file:

        async def one(missing: tuple[Problem, int]) -> None:
            problem, number = missing
            sample = await _sample(problem, number, endpoint, draw)
            file.append(sample.plain())
            take(sample)

        await each(_missing(problems, draw.n, there), one, draw.concurrency)


def checked(path: Path, draw: Draw) -> Iterator[Sample]:
    """The samples that are there. Raises ConfigError if they are of another model or were drawn in another way."""
    for sample in samples.read(path):
        for name, ours, theirs in (
            ("model", draw.model or sample.model, sample.model),
            ("weights", draw.weights, sample.weights),
            ("sampling", dict(draw.described), sample.sampling),
        ):
            if ours != theirs:
                raise ConfigError(
                    f"{path} has samples of another {name} ({theirs}, now {ours}): give another --out, or remove them"
                )
        yield sample


def _missing(problems: Problems, n: int, there: set[tuple[str, int]]) -> Iterator[tuple[Problem, int]]:
    """Problem by problem: their prompts are then computed once."""
    for spot in problems.spots:
        if left := [number for number in range(n) if (spot.id, number) not in there]:
            problem = problems.by_id(spot.id)
            yield from ((problem, number) for number in left)


async def _sample(problem: Problem, number: int, endpoint: Endpoint, draw: Draw) -> Sample:
    seed = draw.sampling.seed_of(problem.id, number)
    spoken = await endpoint.ask(asked(problem, draw.system), seed)
    return Sample(
        problem=problem.id,
        sample=number,
        text=spoken.text,
        finish=spoken.finish,
        tokens=spoken.tokens,
        model=draw.model,
        weights=draw.weights,
        sampling=draw.described,
        seed=seed,
        prompt=spoken.prompt,
    )


def asked(problem: Problem, system: str) -> list[dict[str, str]]:
    """The problem's messages, with our system text before its own."""
    turns = [dict(turn) for turn in problem.messages]
    theirs = turns.pop(0)["content"] if turns[0]["role"] == "system" else ""
    text = "\n\n".join(filter(None, (system, theirs)))
    return [{"role": "system", "content": text}, *turns] if text else turns
