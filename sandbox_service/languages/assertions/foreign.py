"""Tells that a test program failed because a library that it imports is not there.

Such a test program fails with every submission: the fault is the test's. Two facts must agree: the test program imports
the library, and the compiler or interpreter says that it is missing. A submission can have it say so, and the caller
must run the test program alone before it believes that. A submission's own imports fail at its expense.
"""

from __future__ import annotations

import re

from sandbox_service.languages.drivers.scan import masked

# The imports of a language, and what its compiler or interpreter says of a missing one
_NODE = (
    re.compile(r"""(?:\brequire\s*+\(\s*+|\bfrom\s*+|\bimport\s*+(?:\(\s*+)?)(["'])(?P<name>[^"'\n]++)\1"""),
    re.compile(r"Cannot find (?:module|package) '(?P<name>[^'\n]++)'"),
)
_CPP = (
    re.compile(r"#\s*+include\s*+[<\"](?P<name>[^<>\"\n]++)[>\"]"),
    re.compile(r"fatal error: (?P<name>[^:\n]++): No such file"),
)
_LANGUAGES = {
    "javascript": _NODE,
    "typescript": _NODE,
    "java": (
        re.compile(r"\bimport\s++(?:static\s++)?(?P<name>\w++(?:\.\w++)*+)"),
        re.compile(r"error: package (?P<name>[\w.]++) does not exist"),
    ),
    "rust": (
        re.compile(r"\b(?:use\s++(?:::)?|extern\s++crate\s++)(?P<name>\w++)"),
        re.compile(r"(?:unresolved import|find crate for|(?:undeclared|unlinked) crate[^`\n]{0,80}) `(?P<name>\w++)"),
    ),
    "cpp": _CPP,
    "c": _CPP,
}


def missing(language: str, code: str, said: str) -> str | None:
    """Return a library that a test program imports and that is not there, or None.

    Args:
        language: the name of a language's family.
        code: the test program, with its prelude.
        said: what the compiler or interpreter said when the program failed.
    """
    if language not in _LANGUAGES:
        return None
    importing, missed = _LANGUAGES[language]
    visible = masked(code, "cpp" if language == "c" else language)
    imports = [found["name"] for found in importing.finditer(code) if visible[found.start()] == code[found.start()]]
    absent = {found["name"] for found in missed.finditer(said)}
    return next((name for name in imports if any(_is_of(name, each, language) for each in absent)), None)


def _is_of(imported: str, absent: str, language: str) -> bool:
    return imported == absent or (language == "java" and imported.startswith(f"{absent}."))
