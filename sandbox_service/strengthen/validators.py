"""Validators of inputs that a data set ships: programs that say whether an input obeys the rules of the statement.

A validator runs in a box like any other program, with the input as its stdin, and accepts by its exit status. All
validators of a problem must accept an input. They are believed if they accept all inputs of the problem's own tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandbox_service.formats.problem import InputValidator
from sandbox_service.schema import Limits, StdinTest, TestCase
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.tiers import Made
from sandbox_service.validation.evidence import can_be_run

LIMITS = Limits(cpu_seconds=10.0)


@dataclass(frozen=True, slots=True)
class Validator:
    """A program, and the exit status by which it accepts an input."""

    program: Program
    accepts: int


async def sound_validators(runner: Runner) -> list[Validator]:
    """Return the validators of the problem if all of them run here and accept its own inputs; otherwise none.

    A part of the validators would accept too much.

    Args:
        runner: Runs programs.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    given, tests = runner.problem.validators, runner.problem.tests or []
    inputs = [each.input for each in tests if isinstance(each, StdinTest)]
    if len(inputs) < len(tests) or not all(can_be_run(each.language) for each in given):
        return []
    found = [Validator(_program(runner, each, place), each.accepts) for place, each in enumerate(given, 1)]
    return found if all(await _are_valid(runner, found, inputs)) else []


async def accepted(runner: Runner, validators: Sequence[Validator], made: Sequence[Made]) -> list[Made]:
    """Return the inputs that all validators accept; all of them if there is no validator.

    Args:
        runner: Runs programs.
        validators: Those of the problem.
        made: Inputs.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    valid = await _are_valid(runner, validators, [each.text for each in made])
    return [each for each, is_valid in zip(made, valid, strict=True) if is_valid]


def refused_tiers(made: Sequence[Made], valid: Sequence[Made]) -> frozenset[str]:
    """Return the tiers of which more than half of the inputs are invalid: later rounds look for others instead.

    Args:
        made: Inputs.
        valid: Those of them that the validators accept.
    """
    all_made, all_valid = Counter(each.tier for each in made), Counter(each.tier for each in valid)
    return frozenset(tier for tier, count in all_made.items() if 2 * all_valid[tier] < count)


def _program(runner: Runner, given: InputValidator, place: int) -> Program:
    headers = runner.headers({"validator": given.code, **given.files})
    return Program("validator", f"validator {place}", given.code, given.language, {**given.files, **headers})


async def _are_valid(runner: Runner, validators: Sequence[Validator], inputs: Iterable[str]) -> list[bool]:
    tests: list[TestCase] = [StdinTest(input=each, output="") for each in inputs]
    programs = [each.program for each in validators]
    rows = await runner.run(programs, tests, LIMITS, to_the_end=True, wants_statuses=True)
    statuses = [row.statuses or (None,) * len(tests) for row in rows]
    accepts = [each.accepts for each in validators]
    return [
        all(status == wanted for status, wanted in zip(of_test, accepts, strict=True))
        for of_test in (zip(*statuses, strict=True) if statuses else ((),) * len(tests))
    ]
