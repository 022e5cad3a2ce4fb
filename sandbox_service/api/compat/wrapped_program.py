"""Wraps a Python program in code that gives it files and arguments before it begins, and sends files back afterwards.

All of it runs in the program's box and as part of it: the program controls the files that come back, as it controls its
output. For routes that run programs and judge nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic_core import from_json

from sandbox_service.api.compat import host_files

_RUNNER = """
def _run(source, arguments, wanted, mark, merged):
    import base64, json, os, sys
    main = sys.modules["__main__"].__dict__
    main.pop("_run", None)
    sys.argv[1:] = arguments
    if merged:
        os.dup2(1, 2)
    try:
        exec(compile(source, "main.py", "exec", dont_inherit=True), main)
    finally:
        found = {}
        for name, path in wanted:
            try:
                with open(path, "rb") as file:
                    found[name] = base64.b64encode(file.read()).decode()
            except OSError:
                continue
        if wanted:
            sys.stdout.flush()
            with open(1, "w", closefd=False) as out:
                out.write(mark + json.dumps(found))
"""


@dataclass(frozen=True)
class Wrapping:
    """Things that a program is given beside its input, and those that are wanted back.

    Attributes:
        files: Contents by path in the program's folder.
        wanted: Paths of files to return, by the names under which they are returned.
        arguments: Of its command line, without its own name.
        merged: Its stderr goes where its stdout goes.
    """

    files: Mapping[str, bytes]
    wanted: Mapping[str, str]
    arguments: Sequence[str] = ()
    merged: bool = False

    @property
    def is_needed(self) -> bool:
        """True if a program has to be wrapped."""
        return bool(self.files or self.wanted or self.arguments or self.merged)

    def source(self, code: str) -> str:
        """Return the wrapped program.

        Args:
            code: The program.
        """
        wanted = list(self.wanted.items())
        given = f"_run({code!r}, {list(self.arguments)!r}, {wanted!r}, {self._mark(code)!r}, {self.merged!r})\n"
        return host_files.writer(self.files) + _RUNNER + given

    def parted(self, code: str, stdout: str) -> tuple[str, dict[str, str]]:
        """Return the program's own output, and the files that it left, in base 64 by name.

        Args:
            code: The program.
            stdout: The output of the wrapped program.
        """
        printed, found, rest = stdout.rpartition(self._mark(code))
        if not self.wanted or not found:
            return stdout, {}
        try:
            files = from_json(rest)
        except ValueError:
            return printed, {}
        if not isinstance(files, dict):
            return printed, {}
        return printed, {name: text for name, text in files.items() if name in self.wanted and isinstance(text, str)}

    def _mark(self, code: str) -> str:
        """Return text that separates output and files: the same for the same request, so that answers are cached."""
        return "\n" + hashlib.sha256(json.dumps([code, dict(self.wanted)]).encode()).hexdigest() + "\n"


def wrapping(
    files: Mapping[str, str | None], wanted: Sequence[str], arguments: Sequence[str] = (), *, merged: bool = False
) -> Wrapping:
    """Return the wrapping for the files of a request.

    Args:
        files: Contents in base 64 by path; a file without content is left out.
        wanted: Paths of files to return.
        arguments: Of the program's command line.
        merged: The program's stderr goes to its stdout.

    Raises:
        ValueError: A path or content is invalid.
    """
    given = host_files.decoded(files, "files")
    return Wrapping(given, {path: host_files.name_of(path, "fetch_files") for path in wanted}, arguments, merged)
