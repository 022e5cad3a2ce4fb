"""Samples a model and appends the samples to a file. Samples in the file are not drawn again.

A sample's seed depends on its problem and number only, not on order, concurrency or date. docs/evaluation.md says how
far a GPU then reproduces the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.data import Problem, Problems
from trainer.errors import ConfigError
from trainer.evaluation import jsonl, samples
from trainer.evaluation.concurrency import for_each
from trainer.evaluation.endpoint import Endpoint
from trainer.evaluation.samples import Sample, SamplingOptions


@dataclass(frozen=True)
class SamplingRun:
    """The model, the sampling settings and the number of samples a problem."""

    model: str  # "" if not known yet
    weights: str
    sampling: SamplingOptions
    description: Mapping[str, Any]  # all other settings that determine a sample
    system: str
    n: int
    concurrency: int


async def generate(
    problems: Problems,
    endpoint: Endpoint,
    draw: SamplingRun,
    path: Path,
    take: Callable[[Sample], None] = lambda _: None,
) -> None:
    """Complete the file to n samples of each problem.

    Args:
        problems: The problems.
        endpoint: The model's server.
        draw: What to sample.
        path: The file of samples.
        take: Receives each new sample.

    Raises:
        ConfigError: Existing samples were drawn with other settings.
    """
    there = {sample.key for sample in read_compatible(path, draw)}
    with jsonl.JsonlWriter(path) as file:

        async def one(missing: tuple[Problem, int]) -> None:
            problem, number = missing
            sample = await _sample(problem, number, endpoint, draw)
            file.append(sample.plain())
            take(sample)

        await for_each(_missing(problems, draw.n, there), one, draw.concurrency)


def read_compatible(path: Path, draw: SamplingRun) -> Iterator[Sample]:
    """Yield the samples in a file.

    Args:
        path: The file of samples.
        draw: The settings that they must have.

    Raises:
        ConfigError: A sample is of another model or was drawn with other settings.
    """
    for sample in samples.read(path):
        for name, ours, theirs in (
            ("model", draw.model or sample.model, sample.model),
            ("weights", draw.weights, sample.weights),
            ("sampling", dict(draw.description), sample.sampling),
        ):
            if ours != theirs:
                raise ConfigError(
                    f"{path} has samples of another {name} ({theirs}, now {ours}): use another --out or delete it"
                )
        yield sample


def _missing(problems: Problems, n: int, there: set[tuple[str, int]]) -> Iterator[tuple[Problem, int]]:
    """Yield missing samples problem by problem, so that the server's prefix cache is used."""
    for spot in problems.spots:
        if left := [number for number in range(n) if (spot.id, number) not in there]:
            problem = problems.by_id(spot.id)
            yield from ((problem, number) for number in left)


async def _sample(problem: Problem, number: int, endpoint: Endpoint, draw: SamplingRun) -> Sample:
    seed = draw.sampling.seed_of(problem.id, number)
    spoken = await endpoint.ask(messages_for(problem, draw.system), seed)
    return Sample(
        problem=problem.id,
        sample=number,
        text=spoken.text,
        finish=spoken.finish,
        tokens=spoken.tokens,
        model=draw.model,
        weights=draw.weights,
        sampling=draw.description,
        seed=seed,
        prompt=spoken.prompt,
    )


def messages_for(problem: Problem, system: str) -> list[dict[str, str]]:
    """Return the problem's messages, with the given system text before its own.

    Args:
        problem: The problem.
        system: The system text.
    """
    turns = [dict(turn) for turn in problem.messages]
    theirs = turns.pop(0)["content"] if turns[0]["role"] == "system" else ""
    text = "\n\n".join(filter(None, (system, theirs)))
    return [{"role": "system", "content": text}, *turns] if text else turns
