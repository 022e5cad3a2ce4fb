"""Solutions that come with a row: as a list, as JSON, as text, with or without a fence around them."""

from __future__ import annotations

import json
import re
from typing import Any

from sandbox_service.problem import Solution

ACCEPTED, WRONG = "AC", "NOT_AC"

_FENCE = re.compile(r"\s*```([\w+#.-]*)[^\n]*\n(.*?)\n?```\s*", re.DOTALL)
_LANGUAGES = {"py": "python", "python3": "python", "c++": "cpp", "js": "javascript", "golang": "go", "c#": "csharp"}


def solutions(value: Any, *verdicts: str, language: str = "python") -> list[Solution]:
    """Each with these verdicts (AC if there are none). What holds no code is left out."""
    return [one(each, *verdicts, language=language) for each in _texts(value) if each.strip()]


def one(code: str, *verdicts: str, language: str = "python", name: str = "") -> Solution:
    """A solution. A fence around it is taken off; it may say the language."""
    fence = _FENCE.fullmatch(code)
    if fence is not None:
        code, language = fence[2], language_of(fence[1]) or language
    return Solution.model_validate(
        {"code": code, "language": language, "verdicts": list(verdicts) or [ACCEPTED], "name": name}
    )


def language_of(name: str) -> str:
    """Our name for it; an unknown one keeps its own."""
    return _LANGUAGES.get(name.strip().lower(), name.strip().lower())


def _texts(value: Any) -> list[str]:
    """TACO and APPS keep the list as JSON text; elsewhere a text is the one solution."""
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
