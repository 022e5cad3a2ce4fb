"""Judge0's numbers for languages, as its versions 1.13.1 and 1.14.0 have them.

A number stands for one version of a compiler there. Here all numbers of a language stand for the version that is
installed. Multi-file programs run in bash, see `judge0_programs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

API_VERSION = "1.14.0"
"""The version of Judge0 whose routes and numbers these are; its SDK knows no numbers of any other but 1.13.1."""

MULTI_FILE = 89
_NUMBERS: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "python": ("Python", (71, 92, 100, 109, 113)),
    "text": ("Plain Text", (43,)),
    "c": ("C", (48, 49, 50, 103)),
    "cpp": ("C++", (52, 53, 54, 105)),
    "java": ("Java", (62, 91)),
    "javascript": ("JavaScript", (63, 93, 97, 102)),
    "typescript": ("TypeScript", (74, 94, 101)),
    "go": ("Go", (60, 95, 106, 107)),
    "rust": ("Rust", (73, 108)),
    "csharp": ("C#", (51,)),
    "ruby": ("Ruby", (72,)),
    "bash": ("Bash", (46,)),
    "lua": ("Lua", (64,)),
    "sql": ("SQL", (82,)),
}
_BY_NUMBER = {number: name for name, (_, numbers) in _NUMBERS.items() for number in numbers} | {MULTI_FILE: "bash"}


def name_of(number: int) -> str | None:
    """Return the language with this number, or None."""
    return _BY_NUMBER.get(number)


def listed(versions: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the numbers and names of languages in Judge0's format.

    Args:
        versions: The versions of the languages that can be graded, by name; empty where it is not known.
    """
    found = [
        {"id": number, "name": f"{label} ({versions[name]})" if versions[name] else label}
        for name, (label, numbers) in _NUMBERS.items()
        if name in versions
        for number in numbers
    ]
    if "bash" in versions:
        found.append({"id": MULTI_FILE, "name": "Multi-file program"})
    return sorted(found, key=lambda each: int(str(each["id"])))
