"""Headers for judges in C and C++, such as testlib.h and validate.h, from a folder on this machine.

No package registry has these headers, so the operator names a folder that holds them, or a request brings them among a
judge's files. A request's own file comes first.
"""

from __future__ import annotations

import re
from pathlib import Path

USUAL = ("testlib.h", "validate.h")
LANGUAGES = ("c", "cpp")
MOST_BYTES = 1 << 20
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([A-Za-z0-9_][A-Za-z0-9_.+-]*\.h(?:pp)?)[">]', re.MULTILINE)


class JudgeLibraries:
    """The headers in a folder, read when a judge first includes them."""

    def __init__(self, folder: str) -> None:
        """Args:
        folder: its path; empty for none.
        """
        self._folder = Path(folder) if folder else None
        self._read: dict[str, str | None] = {}

    def missing_from(self, files: dict[str, str]) -> dict[str, str]:
        """Return the headers that these files include, directly or not, and that are in the folder and not among them.

        Args:
            files: a judge's sources by name.
        """
        found: dict[str, str] = {}
        waiting = list(files.values())
        while waiting:
            for name in _INCLUDED.findall(waiting.pop()):
                if name not in files and name not in found and (text := self._text(name)) is not None:
                    found[name] = text
                    waiting.append(text)
        return found

    def _text(self, name: str) -> str | None:
        if name not in self._read:
            self._read[name] = read(self._folder, name)
        return self._read[name]


def read(folder: Path | None, name: str) -> str | None:
    """Return the text of a header, or None if the folder does not have it.

    Args:
        folder: the folder, if there is one.
        name: the file's name.
    """
    if folder is None:
        return None
    try:
        data = (folder / name).read_bytes()
    except OSError:
        return None
    return data.decode("utf-8", "replace") if len(data) <= MOST_BYTES else None
