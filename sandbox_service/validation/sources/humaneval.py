"""Reads HumanEval, and HumanEval+ as on the hub: a function to complete, and a test program.

The code before the function in the prompt (imports, and in two problems a helper) is given to the candidate and to the
test program, so that an answer with the function alone passes.
"""

from __future__ import annotations

import re

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, Limits
from sandbox_service.validation.sources import fields, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

CPU_SECONDS, CPU_SECONDS_PLUS = 4.0, 20.0
LICENCE, LICENCE_PLUS = "MIT", "Apache-2.0"


def is_mine(row: Row) -> bool:
    """Return whether the row has HumanEval's fields; LeetCodeDataset has these and more, as has HumanEvalPack."""
    wanted = {"task_id", "prompt", "entry_point", "test", "canonical_solution"}
    return wanted <= row.keys() and "declaration" not in row


def make(row: Row) -> Problem:
    """Return a problem with a function to complete."""
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
    """Return the part of the prompt before the function `name`."""
    found = list(re.finditer(rf"^(async )?def {re.escape(name)}\b", prompt, re.MULTILINE))
    return prompt[: found[-1].start()] if found else ""


def _whole(prompt: str, completion: str) -> str:
    return prompt + completion if completion else ""


READER = Reader("humaneval", "HumanEval and HumanEval+", is_mine, make)
