"""The languages of submissions: rows of data (rows.py), and the runtimes that run them.

A row names its runtime (base.py); the slot process makes the runtimes (slots/main.py). `text` has none: the submitted
text is itself the output.
"""

from __future__ import annotations

from sandbox_service.errors import UnsupportedLanguageError
from sandbox_service.languages.rows import LANGUAGES, Language

__all__ = ["LANGUAGES", "Language", "by_suffix", "find"]

_BY_NAME = {name: language for language in LANGUAGES for name in (language.name, *language.aliases)}


SUFFIXES = {".cc": "cpp", ".cxx": "cpp", ".c++": "cpp", ".mjs": "javascript", ".cjs": "javascript"}


def by_suffix(suffix: str) -> Language | None:
    """Return the language whose sources have this suffix, such as `.cpp`; None if none but Python has.

    Of several standards it is the first row.
    """
    named = SUFFIXES.get(suffix.lower())
    for language in LANGUAGES:
        toolchain = language.toolchain
        if language.name == named:
            return language
        if toolchain and language.name != "pypy" and toolchain.source.endswith(suffix.lower() or "?"):
            return language
    return None


def find(name: str) -> Language:
    """Return the language of that name or alias. Raises UnsupportedLanguageError naming those there are."""
    language = _BY_NAME.get(name) or _BY_NAME.get(name.lower())
    if language is None:
        known = ", ".join(language.name for language in LANGUAGES)
        raise UnsupportedLanguageError(f"language {name!r} is not supported; there is: {known}")
    return language
