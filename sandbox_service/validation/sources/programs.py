"""Reads the solutions of a row: a list, JSON, or text, with or without a code fence."""

from __future__ import annotations

import json
import re
from typing import Any

from sandbox_service.formats.problem import Solution

ACCEPTED, WRONG = "AC", "NOT_AC"

_FENCE = re.compile(r"\s*```([\w+#.-]*)[^\n]*\n(.*?)\n?```\s*", re.DOTALL)
_LANGUAGES = {"py": "python", "python3": "python", "c++": "cpp", "js": "javascript", "golang": "go", "c#": "csharp"}


def solutions(value: Any, *verdicts: str, language: str = "python") -> list[Solution]:
    """Return the solutions in a field; entries without code are left out.

    Args:
        value: The field.
        verdicts: Verdicts of all of them; AC if there are none.
        language: Their language.
    """
    return [one(each, *verdicts, language=language) for each in _texts(value) if each.strip()]


def one(code: str, *verdicts: str, language: str = "python", name: str = "") -> Solution:
    """Return a solution from its code. A code fence is removed, and may name the language.

    Args:
        code: The program, or a fenced block.
        *verdicts: The verdicts that it may get; AC if there are none.
        language: Its language, if no fence names one.
        name: Its name in reports.
    """
    fence = _FENCE.fullmatch(code)
    if fence is not None:
        code, language = fence[2], language_of(fence[1]) or language
    return Solution.model_validate(
        {"code": code, "language": language, "verdicts": list(verdicts) or [ACCEPTED], "name": name}
    )


def language_of(name: str) -> str:
    """Return the service's name of a language; an unknown name is returned unchanged."""
    return _LANGUAGES.get(name.strip().lower(), name.strip().lower())


def _texts(value: Any) -> list[str]:
    """TACO and APPS have the list as JSON text; any other text is one solution."""
    if isinstance(value, str):
        value = _unpacked(value)
    if isinstance(value, list):
        return [each for each in value if isinstance(each, str)]
    return [value] if isinstance(value, str) else []


def _unpacked(text: str) -> Any:
    if not text.lstrip().startswith(("[", '"')):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
