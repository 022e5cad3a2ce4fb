"""Judge0's programs of several files: `additional_files` is a zip archive in base 64.

A program in Python gets the files in its folder. A multi-file program is the script `run` of the archive, which bash
executes. Nothing in a box's folder can be executed, so a script `compile` and compiled programs are refused.
"""

from __future__ import annotations

import base64
import binascii
import io
import shlex
import zipfile
import zlib

from sandbox_service.api.compat import host_files
from sandbox_service.api.compat.wrapped_program import Wrapping

MOST_BYTES = 10 << 20  # Judge0's own limit
RUN, COMPILE = "run", "compile"
_EXECUTABLE = b"\x7fELF"
_END = "__END__"  # no line of base 64


def unpacked(archive: str) -> dict[str, bytes]:
    """Return the files of an archive by path.

    Args:
        archive: A zip archive in base 64.

    Raises:
        ValueError: It is none, has unusable paths, or is too large.
    """
    try:
        data = base64.b64decode("".join(archive.split()), validate=True)
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            return _files(opened)
    except (binascii.Error, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"is not a zip archive in base 64: {error}") from None


def _files(opened: zipfile.ZipFile) -> dict[str, bytes]:
    """Return the files of an open archive. Sizes that it states are not trusted: at most one byte more is unpacked."""
    members = [each for each in opened.infolist() if not each.is_dir()]
    if len(members) > host_files.MOST_FILES:
        raise ValueError(f"has {len(members)} files, the limit is {host_files.MOST_FILES}")
    files: dict[str, bytes] = {}
    left = MOST_BYTES
    for member in members:
        with opened.open(member) as file:
            content = file.read(left + 1)
        left -= len(content)
        if left < 0:
            raise ValueError(f"unpacks to more than {MOST_BYTES} bytes")
        files[host_files.name_of(member.filename, "additional_files")] = content
    return files


def multi_file(files: dict[str, bytes]) -> str:
    """Return a program in bash that writes the files and runs the script `run`.

    Args:
        files: Contents by path.

    Raises:
        ValueError: The script is missing, or something would have to be compiled or executed.
    """
    if RUN not in files:
        raise ValueError(f"has no script {RUN!r}, which a multi-file program needs")
    if COMPILE in files or any(content.startswith(_EXECUTABLE) for content in files.values()):
        raise ValueError(f"has a script {COMPILE!r} or an executable; only scripts run in multi-file programs here")
    lines = []
    for name, content in files.items():
        folder, _, _ = name.rpartition("/")
        if folder:
            lines.append(f"mkdir -p -- {shlex.quote(folder)}")
        packed = base64.encodebytes(content).decode()
        lines.append(f"base64 -d > {shlex.quote(name)} <<'{_END}'\n{packed}{_END}")
    return "\n".join([*lines, f"exec bash {RUN}\n"])


def arranged(files: dict[str, bytes], arguments: str, *, merged: bool) -> Wrapping:
    """Return the files and arguments of a program in Python.

    Args:
        files: Contents by path.
        arguments: Its command line, as a shell reads it.
        merged: Its stderr goes where its stdout goes.

    Raises:
        ValueError: The command line has an open quotation.
    """
    return Wrapping(files, {}, tuple(shlex.split(arguments)), merged)
