"""Call tests in languages other than Python: a driver calls the submission's functions and writes their results.

A driver is a source beside (or behind) the submission's, so that both are compiled once; the calls come on stdin
(values.py). It needs no signatures: C++ converts an argument to what a parameter wants, Rust infers what to read, Java,
C# and Go have reflection, JavaScript has no types. What is generated for a submission is only the list of functions.

Nothing that a driver says is believed. It shares its process with the submission, and says values; the expected ones
stay with the host, which compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sandbox_service.languages.drivers import cpp, csharp, functions, go, java, javascript, rust, scan
from sandbox_service.languages.drivers.functions import Names
from sandbox_service.languages.drivers.values import Call, UnsupportedCallError, decode, encode
from sandbox_service.languages.drivers.values import token as new_token

__all__ = ["LANGUAGES", "Call", "Driven", "UnsupportedCallError", "decode", "driven", "new_token"]

_WRITERS = {
    "go": go.files,
    "csharp": csharp.files,
    "cpp": cpp.files,
    "java": java.files,
    "javascript": javascript.files,
    "rust": rust.files,
    "typescript": javascript.typed_files,
}

LANGUAGES = frozenset(_WRITERS)
"""The families of languages that have drivers."""

COMPILED_AS = {"cpp11": "cpp", "cpp14": "cpp"}
"""The standard in which a source with its driver is compiled, where its own is too old: C++'s driver is in C++17."""


@dataclass(frozen=True)
class Driven:
    """A submission that can be called.

    Attributes:
        text: the main source; the name of its file is the language's.
        files: the sources beside it, by name.
        names: how the source spells what is called.
    """

    text: str
    files: Mapping[str, str]
    names: Names

    def stdin(self, token: bytes, calls: Iterable[Call]) -> bytes:
        """Return the input of a run that makes these calls, which are some of those that the driver was made for.

        Args:
            token: a new one, by which the results are found in the output.
            calls: in their order.
        """
        return encode(token, [self.names.spelled(call) for call in calls])


def driven(language: str, source: str, calls: Iterable[Call]) -> Driven:
    """Return a submission with its driver.

    Args:
        language: one of LANGUAGES.
        source: the submission.
        calls: the calls of all its tests, so that it is compiled once.
    """
    code = scan.masked(source, language)
    wanted, names = functions.resolve(code, language, calls)
    text, files = _WRITERS[language](source, code, wanted)
    return Driven(text, files, names)
