"""Tells that a test program failed because a library that it imports is not there.

Such a test program fails with every submission: the fault is the test's. Two facts must agree: the test program imports
the library, and the compiler or interpreter says that it is missing. A submission's own imports fail at its expense.
"""

from __future__ import annotations

import re

from sandbox_service.languages.drivers.scan import masked

_NODE_IMPORT = re.compile(r"""(?:\brequire\s*\(\s*|\bfrom\s*|\bimport\s*\(?\s*)(["'])(?P<name>[^"'\n]+)\1""")
_CPP_IMPORT = re.compile(r"#\s*include\s*[<\"](?P<name>[^<>\"\n]+)[>\"]")
_IMPORTS = {
    "javascript": _NODE_IMPORT,
    "typescript": _NODE_IMPORT,
    "java": re.compile(r"\bimport\s+(?:static\s+)?(?P<name>\w+(?:\.\w+)*)"),
    "rust": re.compile(r"\b(?:use\s+(?:::)?|extern\s+crate\s+)(?P<name>\w+)"),
    "cpp": _CPP_IMPORT,
    "c": _CPP_IMPORT,
}
_NODE_MISSING = re.compile(r"Cannot find (?:module|package) '(?P<name>[^'\n]+)'")
_CPP_MISSING = re.compile(r"fatal error: (?P<name>[^:\n]+): No such file")
_MISSING = {
    "javascript": _NODE_MISSING,
    "typescript": _NODE_MISSING,
    "java": re.compile(r"error: package (?P<name>[\w.]+) does not exist"),
    "rust": re.compile(r"(?:unresolved import|find crate for|(?:undeclared|unlinked) crate[^`\n]*) `(?P<name>\w+)"),
    "cpp": _CPP_MISSING,
    "c": _CPP_MISSING,
}


def missing(language: str, code: str, said: str) -> str | None:
    """Return a library that a test program imports and that is not there, or None.

    Args:
        language: the name of a language's family.
        code: the test program, with its prelude.
        said: what the compiler or interpreter said when the program failed.
    """
    if language not in _IMPORTS:
        return None
    visible = masked(code, "cpp" if language == "c" else language)
    imports = [
        found["name"] for found in _IMPORTS[language].finditer(code) if visible[found.start()] == code[found.start()]
    ]
    absent = {found["name"] for found in _MISSING[language].finditer(said)}
    return next((name for name in imports if any(_is_of(name, each, language) for each in absent)), None)


def _is_of(imported: str, absent: str, language: str) -> bool:
    return imported == absent or (language == "java" and imported.startswith(f"{absent}."))
