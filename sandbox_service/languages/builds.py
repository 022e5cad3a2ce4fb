"""The result of a compile box as a value: a refusal, or the files of a program."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from dataclasses import dataclass

SIZE = struct.Struct("<Q")
MOST_PARTS = 2000
JAR, CLASSES = "solution.jar", "classes.txt"
_OURS = re.compile(r"proctor/Proctor(Main|Tests)(\$\w+)?\.class")
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a zip file: the same bytes for the same classes


class NotABuildError(ValueError):
    """The bytes were not written by a builder or a cache."""


@dataclass(frozen=True)
class Build:
    """The result of compiling.

    Attributes:
        refusal: the compiler's words if it refused the source, else None.
        parts: the files that it made, by name.
        can_share: several tests of the program may share a box.
    """

    refusal: str | None
    parts: tuple[tuple[str, bytes], ...] = ()
    can_share: bool = False

    @property
    def size(self) -> int:
        """Bytes that it takes to keep."""
        return len(self.refusal or "") + sum(len(content) for _, content in self.parts)

    def encoded(self) -> bytes:
        """Return it as bytes."""
        sizes = [[name, len(content)] for name, content in self.parts]
        head = {"refusal": self.refusal, "parts": sizes, "can_share": self.can_share}
        return json.dumps(head).encode() + b"\n" + b"".join(content for _, content in self.parts)

    @classmethod
    def decoded(cls, body: bytes) -> Build:
        """Return the build in a body that `encoded` wrote. Raises NotABuildError."""
        line, _, rest = body.partition(b"\n")
        try:
            head = json.loads(line)
            parts, at = [], 0
            for name, size in head["parts"]:
                parts.append((str(name), rest[at : at + size]))
                at += size
            if at != len(rest):
                raise NotABuildError(f"{len(rest)} bytes, not {at}")
            return cls(head["refusal"], tuple(parts), bool(head["can_share"]))
        except (ValueError, KeyError, TypeError) as error:
            raise NotABuildError(str(error)) from None


def unpacked(archive: bytes) -> dict[str, bytes]:
    """Return the files of a folder that a builder copied (guest/builder.c). A box wrote these bytes.

    Args:
        archive: the bytes.

    Raises:
        NotABuildError: they are no archive, or a name leads out of the folder.
    """
    found: dict[str, bytes] = {}
    at = 0
    while at < len(archive):
        end = archive.find(b"\0", at + SIZE.size)
        if end < 0 or len(found) >= MOST_PARTS:
            raise NotABuildError("not an archive of files")
        (size,) = SIZE.unpack_from(archive, at)
        name = archive[at + SIZE.size : end].decode("utf-8", "surrogateescape")
        at = end + 1 + size
        if at > len(archive) or name.startswith("/") or ".." in name.split("/"):
            raise NotABuildError("not an archive of files")
        found[name] = archive[end + 1 : at]
    return found


def program_of(classes: dict[str, bytes]) -> dict[str, bytes]:
    """Return the class files of a Java submission, without our own that were compiled with it (languages/inside).

    Args:
        classes: the class files by path.
    """
    return {path: code for path, code in classes.items() if not _OURS.fullmatch(path)}


def jar_of(classes: dict[str, bytes], main: str) -> bytes:
    """Return a jar of Java classes, with a list of the submission's, those whose `main` is likeliest its first.

    Args:
        classes: the class files by path.
        main: the name of the source's public class.

    Raises:
        NotABuildError: a name is no text.
    """
    names = [path.removesuffix(".class").replace("/", ".") for path in program_of(classes) if path.endswith(".class")]
    names.sort(key=lambda name: (name.rpartition(".")[2] != main, name.rpartition(".")[2] != "Main", "$" in name, name))
    buffer = io.BytesIO()
    try:
        listed = "\n".join(names).encode()
        with zipfile.ZipFile(buffer, "w") as jar:
            for path, content in sorted([*classes.items(), (CLASSES, listed)]):
                jar.writestr(zipfile.ZipInfo(path, EARLIEST), content)
    except (UnicodeEncodeError, zipfile.LargeZipFile, ValueError) as error:
        raise NotABuildError(str(error)) from None
    return buffer.getvalue()
