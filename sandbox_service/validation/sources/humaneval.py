"""HumanEval, and HumanEval+ as its data set on the hub has it: a function to complete, and a test program.

What stands before the function in the prompt (imports, and in two problems a helper) is given to both the candidate and
the test program, so an answer that gives the function alone is not wrong for that.
"""

from __future__ import annotations

import re

from sandbox_service.problem import Problem
from sandbox_service.schema import AssertTest, Limits
from sandbox_service.validation.sources import fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

CPU_SECONDS, CPU_SECONDS_PLUS = 4.0, 20.0
LICENCE, LICENCE_PLUS = "MIT", "Apache-2.0"


def is_mine(row: Row) -> bool:
    """By its fields: LeetCodeDataset has all of these and more."""
    return {"task_id", "prompt", "entry_point", "test", "canonical_solution"} <= row.keys()


def make(row: Row) -> Problem:
    """A function to complete."""
    prompt, name = fields.text(row, "prompt"), fields.text(row, "entry_point")
    test, task = fields.text(row, "test"), fields.text(row, "task_id")
    is_plus = "inputs = [" in test
    return Problem(
        id=task.replace("HumanEval/", "HumanEval+/") if is_plus else task,
        prompt=f"{prompts.TO_COMPLETE}\n\n{prompts.fenced(prompt)}",
        starter=prompt,
        tests=[AssertTest(entry_point=name, code=test, prelude=before(prompt, name))],
        limits=Limits(cpu_seconds=CPU_SECONDS_PLUS if is_plus else CPU_SECONDS),
        solutions=programs.solutions(_whole(prompt, fields.optional(row, "canonical_solution"))),
        source="humaneval+" if is_plus else "humaneval",
        licence=LICENCE_PLUS if is_plus else LICENCE,
    )


def before(prompt: str, name: str) -> str:
    """What stands before the function that is to be completed."""
    found = list(re.finditer(rf"^(async )?def {re.escape(name)}\b", prompt, re.MULTILINE))
    return prompt[: found[-1].start()] if found else ""


def _whole(prompt: str, completion: str) -> str:
    return prompt + completion if completion else ""


READER = Reader("humaneval", "HumanEval and HumanEval+", is_mine, make)
