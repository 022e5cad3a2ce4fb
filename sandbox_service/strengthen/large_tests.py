"""Finds tests of large inputs, as large as the time limit bears, which refuse programs that are right and too slow.

A right program may be several times slower than the references. So each of these has to answer within an eighth of the
limit; otherwise a quarter of the size is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sandbox_service.schema import Limits
from sandbox_service.strengthen import answers
from sandbox_service.strengthen.answers import Answered, Bounds, Candidate
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.subjects import Subject
from sandbox_service.strengthen.tiers import Wanted
from sandbox_service.strengthen.validators import Validator, accepted

TIME_SHARE = 1 / 8  # of the limit that a reference may take,
COMPILED_FACTOR = 10  # … and so many times less where no reference is in Python
OUTPUT_BYTES = 1 << 20
SHRUNK = (1, 4, 16)  # times smaller, where references take too long


async def find(
    runner: Runner,
    subject: Subject,
    references: Sequence[Program],
    wanted: Wanted,
    validators: Sequence[Validator],
    hash_seed: int,
) -> Answered:
    """Return valid tests of large inputs, of each plan the largest one; none if references differ or crash on one.

    The time that they need says nothing about other tests.

    Args:
        runner: Runs programs.
        subject: Makes inputs.
        references: At least one; the first one answers.
        wanted: Has the size of the largest input; 0 for no inputs.
        validators: They accept an input before the references do.
        hash_seed: Another seed than the judge's own.

    Raises:
        BadRequestError: The problem is refused.
        NotJudgedError: The service failed.
        UnavailableError: The judge stayed away for too long.
    """
    limits, bounds = runner.problem.limits or Limits(), bounds_of(references)
    found: dict[str, Candidate] = {}
    tried, doubted = set[str](), set[str]()
    left: set[str] | None = None
    for shrunk in SHRUNK if wanted.most_bytes else ():
        made = subject.large(replace(wanted, most_bytes=wanted.most_bytes // shrunk), left, shrunk)
        made = await accepted(runner, validators, made)
        answered = await answers.find(runner, subject, references, made, limits, hash_seed, bounds) if made else None
        if answered is None:
            break
        found |= {each.made.tier: each for each in answered.candidates}
        tried |= answered.tried
        doubted |= answered.doubted
        left = tried - found.keys() - doubted
        if not left:
            break
    if doubted:  # of so few inputs one that breaks a rule says that others may
        found = {}
    return Answered(list(found.values()), 0.0, [])


def bounds_of(references: Sequence[Program]) -> Bounds:
    """Return what references may need for a large input.

    Args:
        references: If one is in Python, others in Python are not much slower.
    """
    has_python = any(each.language == "python" for each in references)
    return Bounds(TIME_SHARE if has_python else TIME_SHARE / COMPILED_FACTOR, OUTPUT_BYTES)
