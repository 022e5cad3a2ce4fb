"""Finds the names that a source declares at its top level, which a test program could declare again.

Only declarations that begin a line are found: variables, functions, classes and imports of JavaScript and TypeScript,
items and imports of Rust, functions, types, constants and variables of Go. Modules of Rust are left out, since those of
tests are not compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sandbox_service.languages.drivers.scan import masked

# a name, or a list of names that ends a statement or stands in braces
_JAVASCRIPT = re.compile(
    r"^(?:export\s++(?:default\s++)?)?(?:(?:async\s++)?function\b\s*+\*?\s*+|class\s++|(?:const|let|(?P<var>var)|import)\s++"
    r"(?:type\s++)?(?:\w++\s*+,\s*+)?(?:\*\s*+as\s++)?)(?:(?P<name>[\w$]++)|\{(?P<names>[^{}]*+)\})",
    re.MULTILINE,
)
_RUST = re.compile(
    r"^(?:pub(?:\([^()]*+\))?\s++)?(?:(?:(?:async|unsafe)\s++)*+(?:const\s++)?(?:fn|struct|enum|trait|type|static|const|union)\s++"
    r"(?:mut\s++)?(?P<name>\w++)|use\s++(?P<names>[^;]++);)",
    re.MULTILINE,
)
_GO = re.compile(r"^(?:func|type|var|const)[ \t]++(?P<name>\w++)", re.MULTILINE)
_DECLARING = {"javascript": _JAVASCRIPT, "rust": _RUST, "go": _GO}
_LAST = {
    "javascript": re.compile(r"([\w$]++)\s*+(?:=[^,]*+)?(?:,|$)"),  # of `a`, `a: b` and `a as b`
    "rust": re.compile(r"(\w++)\s*+(?:[,}]|$)"),  # of `a::b`, `a::{b, c}` and `a as b`
}
_NONE = frozenset({"main", "self", "from"})


def declared(source: str, language: str, *, again: bool = False) -> set[str]:
    """Return the names.

    Args:
        source: the text.
        language: `javascript`, `rust` or `go`.
        again: leave out those whose declaration keeps a variable that is there, as `var` in JavaScript does.
    """
    return set(_names(source, language, again=again)) - _NONE


def _names(source: str, language: str, *, again: bool) -> Iterator[str]:
    for found in _DECLARING[language].finditer(masked(source, language)):
        if again and found.groupdict().get("var"):
            continue
        if found["name"] is not None:
            yield found["name"]
        else:
            yield from _LAST[language].findall(found["names"])
