"""Files that a request gives a Python program, written by code that runs before it.

The service itself writes none: the files are made in the box, in its own /tmp, which is the program's current folder.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

FOLDER = PurePosixPath("/tmp")  # noqa: S108  the box's own
MOST_FILES = 1000
MOST_BYTES = 16 << 20  # the box's /tmp has 32 MiB


def decoded(found: Any, where: str) -> dict[str, bytes]:
    """Return the files in a mapping of paths to contents in base 64. A file without content is left out.

    Args:
        found: The mapping.
        where: Its path in the request, for error messages.

    Raises:
        ValueError: A path or a content is invalid, or they are too many or too large.
    """
    if not isinstance(found, Mapping):
        raise ValueError(f"{where} should be an object of paths and contents")
    if len(found) > MOST_FILES:
        raise ValueError(f"{where}: {len(found)} files, the limit is {MOST_FILES}")
    files = {
        name_of(path, where): _bytes(content, path, where) for path, content in found.items() if content is not None
    }
    for folder in {str(each) for name in files for each in PurePosixPath(name).parents} & set(files):
        raise ValueError(f"{where}: {folder[:100]!r} is a file and a folder of others")
    if sum(map(len, files.values())) > MOST_BYTES:
        raise ValueError(f"{where}: the files have more than {MOST_BYTES} bytes")
    return files


def name_of(path: Any, where: str) -> str:
    """Return a path relative to the program's folder.

    Args:
        path: The path, relative or below /tmp.
        where: Its place in the request, for error messages.

    Raises:
        ValueError: The path leads elsewhere, or is none.
    """
    if not isinstance(path, str) or not path or "\0" in path:
        raise ValueError(f"{where}: a path should be text")
    pure = PurePosixPath(path)
    if pure.is_absolute():
        if not pure.is_relative_to(FOLDER):
            raise ValueError(f"{where}: {path[:100]!r} is outside of the program's folder; use a relative path")
        pure = pure.relative_to(FOLDER)
    if ".." in pure.parts or not pure.parts:
        raise ValueError(f"{where}: {path[:100]!r} is not a file in the program's folder")
    return str(pure)


def writer(files: Mapping[str, bytes]) -> str:
    """Return Python code that writes the files and leaves no name behind.

    Args:
        files: Contents by path, relative to the program's folder.
    """
    packed = {name: base64.b64encode(content).decode() for name, content in files.items()}
    return (
        "def _write_files(files):\n"
        "    import base64, os\n"
        "    for name, content in files.items():\n"
        f"        path = os.path.join({str(FOLDER)!r}, name)\n"
        "        os.makedirs(os.path.dirname(path), exist_ok=True)\n"
        "        with open(path, 'wb') as file:\n"
        "            file.write(base64.b64decode(content))\n"
        f"_write_files({packed!r})\n"
        "del _write_files\n"
    )


def _bytes(content: Any, path: Any, where: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise ValueError(f"{where}: {str(path)[:100]!r} is not base 64: {error}") from None
