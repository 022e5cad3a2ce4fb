"""How a source becomes a program: one row for each language.

`text` is the one whose sources are no programs: what is submitted is itself the output. It is not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sandbox_service.errors import UnsupportedLanguage
from sandbox_service.schema import Limits

_NUMPY = re.compile(r"\b(numpy|scipy|pandas|sklearn)\b")


@dataclass(frozen=True)
class Language:
    """A language: the names it goes by, and which kind of jail runs a given source; None if nothing is run."""

    name: str
    aliases: tuple[str, ...]
    jail_kind: Callable[[str, Limits], str] | None


def _python_jail(source: str, limits: Limits) -> str:
    """Numpy doubles the price of a fork, so only sources that mention it get a zygote that has it loaded."""
    if limits.processes > 1:
        return "processes"
    return "numpy" if _NUMPY.search(source) else "std"


LANGUAGES = (
    Language("python", ("py", "python3"), _python_jail),
    Language("text", (), None),
)


def find(name: str) -> Language:
    """The language of that name or alias. Raises UnsupportedLanguage naming those there are."""
    for language in LANGUAGES:
        if name == language.name or name in language.aliases:
            return language
    known = ", ".join(language.name for language in LANGUAGES)
    raise UnsupportedLanguage(f"language {name!r} is not supported; there is: {known}")
