"""Reads AReaL's JSON lines: a prompt, and `input_output` for code, or boxed `solutions` for mathematics."""

from __future__ import annotations

from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem
from sandbox_service.validation.sources import bounds, fields, mathematics, programs, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row


def is_mine(row: Row) -> bool:
    """Return whether the row has AReaL's fields and not those of TACO or LeetCodeDataset."""
    if {"difficulty", "entry_point", "test"} & row.keys():
        return False
    prompt = bool({"question", "prompt"} & row.keys())
    return prompt and ("input_output" in row or ("task" in row and "query_id" in row))


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: For tasks other than code and mathematics.
    """
    task = fields.optional(row, "task") or ("code" if row.get("input_output") else "")
    if task not in ("code", "math"):
        raise ValueError(f"task is {task!r}: code and math are known")
    return _code(row) if task == "code" else _mathematics(row)


def _code(row: Row) -> Problem:
    found, starter = fields.mapping(row, "input_output"), fields.optional(row, "starter_code")
    return Problem(
        id=_name(row),
        prompt=_prompt(row, starter, str(found.get("fn_name") or "")),
        starter=starter,
        tests=cases.columns(found, starter=starter),
        limits=bounds.limits(row),
        solutions=programs.solutions(row.get("solutions")),
        source="areal",
        meta=fields.meta(platform=row.get("source")),
    )


def _prompt(row: Row, starter: str, function: str) -> str:
    """A `prompt` is complete; a `question` needs instructions."""
    prompt = fields.optional(row, "prompt")
    return prompt or prompts.to_solve(fields.text(row, "question"), starter, function)


def _mathematics(row: Row) -> Problem:
    answers = [str(each) for each in fields.listing(row, "solutions")]
    return mathematics.problem(_name(row), fields.text(row, "prompt", "question"), answers, "areal")


def _name(row: Row) -> str:
    if row.get("query_id"):
        return f"areal/{row['query_id']}"
    return fields.hashed("areal", row.get("prompt") or row.get("question"), row.get("input_output"))


READER = Reader("areal", "AReaL's JSON lines, code and mathematics", is_mine, make)
