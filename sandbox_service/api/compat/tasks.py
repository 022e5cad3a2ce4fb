"""Tasks: the fields of a submission that a row of a data set asks for, and the way from an answer to a program.

Some rows want a whole program, others the continuation of their prompt. In HumanEval's classes an answer without a
fenced block continues the prompt, up to the first stop token, unless `config.extra.is_freeform` is set. An answer that
has a closed block in the language is that program, whatever is set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_service.errors import BadRequestError
from sandbox_service.judging.extraction import extract
from sandbox_service.schema import ExtractionRule

DONE = "[DONE]"  # ends an answer that follows MBPP's examples
_TOP_LEVEL = re.compile(r"\n(?=\S)")
_DEFINITION = re.compile(r"^(?:def|class|async def) ", re.MULTILINE)
_MOST_STOPS = 100
# the end of a function's body in these languages, where a row names no stop token
_ENDS = {
    "cpp": "\n}",
    "csharp": "\n}",
    "typescript": "\n}",
    "go": "\n}",
    "javascript": "\n}",
    "lua": "\nend",
    "ruby": "\nend",
}


@dataclass(frozen=True)
class Task:
    """The task of a row.

    Attributes:
        fields: Of a submission: `tests`, and possibly `language` and others.
        prompt: The program's beginning, which an answer may continue; empty if it may not.
        stops: Texts that end a continuation and do not belong to it.
        plain: An answer without a fenced block that defines a function is a program.
        tag: The name of brackets around a program, as in `[Python]…[/Python]`.
        lacks_prompt: The row should have the program's beginning, and does not.
    """

    fields: Mapping[str, Any]
    prompt: str = ""
    stops: tuple[str, ...] = ()
    plain: bool = False
    tag: str = ""
    lacks_prompt: bool = False


def program_of(completion: str, task: Task, language: str, rule: ExtractionRule, *, freeform: bool) -> str | None:
    """Return the program that an answer stands for, or None.

    Args:
        completion: The answer.
        task: What the row asks for.
        language: The name of the language.
        rule: The extraction rule for fenced blocks.
        freeform: The answer does not continue the prompt.

    Raises:
        BadRequestError: The answer continues a prompt that the row does not have.
    """
    code = extract(completion, rule, language)
    if code is not None or not completion.strip():
        return code
    if task.tag and (inside := _between(completion, f"[{task.tag}]", f"[/{task.tag}]")):
        return inside
    if "```" in completion or freeform:
        return None
    if task.lacks_prompt:
        raise BadRequestError("config.provided_data: prompt: it is missing, and the answer continues it")
    if task.prompt:
        return f"{task.prompt}\n{_continuation(completion, task, language)}"
    return completion.partition(DONE)[0] if task.plain and _DEFINITION.search(completion) else None


def _continuation(completion: str, task: Task, language: str) -> str:
    """Return the answer up to the end of the function's body."""
    if language == "python":
        found = _TOP_LEVEL.search(completion)
        return completion[: found.start()] if found else completion
    for stop in task.stops:
        completion = completion.partition(stop)[0]
    end = _ENDS.get(language, "")
    place = completion.find(end) if end else -1
    return completion if place < 0 else completion[: place + len(end)]


def stops_of(found: list[str]) -> tuple[str, ...]:
    """Return the stop tokens of a row. A paragraph's end is none, as in SandboxFusion.

    Args:
        found: The row's stop tokens.

    Raises:
        ValueError: One is a pattern (`re:`), which this service would search for in hostile text; or they are too many.
    """
    if any(each.startswith("re:") for each in found):
        raise ValueError("stop_tokens: patterns (re:…) are not supported; use texts")
    if len(found) > _MOST_STOPS:
        raise ValueError(f"stop_tokens: at most {_MOST_STOPS}")
    return tuple(each for each in found if each and each != "\n\n")


def _between(text: str, begin: str, end: str) -> str:
    _, found, rest = text.partition(begin)
    inside, closed, _ = rest.partition(end)
    return inside.strip("\n") if found and closed and "```" not in inside else ""
