"""Generators: programs written by a model that print inputs for a problem.

A generator runs in a box like any other program, once for each seed. Its inputs are judged by the same rules as all
made inputs: the references decide which are valid. The inputs of one generator are doubted together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sandbox_service.errors import BadRequestError
from sandbox_service.formats.problem import Problem
from sandbox_service.judging.extraction import extract
from sandbox_service.schema import Limits, StdinTest, TestCase
from sandbox_service.strengthen.runs import Program, Row, Runner
from sandbox_service.strengthen.subjects import Subject
from sandbox_service.strengthen.tiers import Made
from sandbox_service.validation.duplicates import text_of
from sandbox_service.validation.model import Messages, ModelRefusedError
from sandbox_service.validation.recipe import Generators
from sandbox_service.validation.sampler import Sampler

LIMITS = Limits(cpu_seconds=5.0)
MOST_EXAMPLE = 2000  # characters of the example in the prompt

_PROMPT = """Write a Python program that generates test inputs for the problem below.

It reads one integer from standard input, the seed, and prints {printed}. It prints nothing else. The same seed always
prints the same input, and different seeds print different inputs. Seed 0 prints the smallest input that the problem
allows, and seed 1 a large one, of at most {most_bytes} bytes. Further seeds print inputs that are likely to break
wrong or slow solutions: extreme values, equal values, sorted and reversed orders, special structures, random ones.
Every input must obey all rules of the problem. Use only the standard library. Answer with one block of Python code.

## Problem

{statement}

## An input

{example}"""


def messages(problem: Problem, subject: Subject, most_bytes: int) -> Messages:
    """Return the conversation that asks for a generator.

    Args:
        problem: The problem.
        subject: Describes its inputs.
        most_bytes: Size of the largest input.
    """
    statement, example = text_of(problem).strip(), subject.example[:MOST_EXAMPLE]
    text = _PROMPT.format(printed=subject.printed, most_bytes=most_bytes, statement=statement, example=example)
    return [{"role": "user", "content": text}]


async def inputs_of(
    runner: Runner, subject: Subject, sampler: Sampler, wanted: Generators, *, judges: int, most_bytes: int
) -> list[Made]:
    """Return the inputs that a model's generators print; an empty list if the model refuses the prompt.

    Args:
        runner: Runs the generators.
        subject: Decides about inputs.
        sampler: Asks the model.
        wanted: How many generators and inputs.
        judges: How many references will judge the inputs.
        most_bytes: Size of the largest input.

    Raises:
        ConfigurationError: The model refuses every prompt.
        NotJudgedError: The service failed.
        UnavailableError: The judge or the model stayed away for too long.
    """
    asked = messages(runner.problem, subject, most_bytes)
    try:
        said = await asyncio.gather(*(sampler.completion(asked, number) for number in range(wanted.programs)))
    except ModelRefusedError:
        return []
    codes = [extract(each.text, "last_block", "python") for each in said]
    programs = [Program("generator", f"generator {at}", code) for at, code in enumerate(codes, 1) if code]
    seeds: list[TestCase] = [StdinTest(input=f"{seed}\n", output="") for seed in range(wanted.inputs)]
    found: dict[str, Made] = {}
    for program, row in zip(programs, await _rows(runner, programs, seeds), strict=True):
        for seed, output in enumerate(row.outputs):
            text = subject.admitted(output, judges=judges) if output and len(output.encode()) <= most_bytes else None
            if text is not None and text.strip():
                found.setdefault(text, Made(text, f"{program.name}, seed {seed}", program.name))
    return list(found.values())


async def _rows(runner: Runner, programs: Sequence[Program], seeds: Sequence[TestCase]) -> list[Row]:
    """The output of each program for each seed. A program that the judge refuses to run printed nothing."""
    try:
        return await runner.run(programs, seeds, LIMITS, to_the_end=True, wants_outputs=True)
    except BadRequestError:
        return [Row(()) for _ in programs]
