"""Which compilers and interpreters this machine has: found by their paths, named by the versions that they print."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Thread

from sandbox_service.errors import UnsupportedLanguageError
from sandbox_service.languages.launcher import REBUILD, is_built
from sandbox_service.languages.rows import HOME, LANGUAGES, Language, Toolchain

ASK_SECONDS = 30.0
ASKED_AT_ONCE = 4
_VERSION = re.compile(r"\d+(\.\d+)+(?:[-+~\w.]*)?")


def is_present(language: Language) -> bool:
    """Return whether this machine can grade the language."""
    toolchain = language.toolchain
    if toolchain is None:
        return True
    is_allowed = os.geteuid() == 0 or not toolchain.needs_root
    return os.path.exists(toolchain.probe) and is_built() and is_allowed  # noqa: PTH110


def present() -> list[Language]:
    """Return the languages of launchers that this machine can grade."""
    return [each for each in LANGUAGES if each.toolchain is not None and is_present(each)]


def require(language: Language) -> None:
    """Raise UnsupportedLanguageError if this machine cannot grade the language; the message says what to install."""
    if language.toolchain is None or is_present(language):
        return
    if not is_built():
        raise UnsupportedLanguageError(f"language {language.name!r} is missing on this machine: {REBUILD}")
    raise UnsupportedLanguageError(
        f"language {language.name!r} is missing on this machine: {language.toolchain.remedy}"
    )


def versions() -> dict[str, str]:
    """Return version and flags of each language that this machine has beside Python.

    The first call asks all compilers at the same time, for seconds.
    """
    languages = present()
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        found = pool.map(described, languages)
        return {each.name: words.removeprefix(f"{each.name} ") for each, words in zip(languages, found, strict=True)}


class KnownVersions:
    """The versions for callers that must not wait: read in the background from the first call on."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}
        self._reader: Thread | None = None

    def now(self) -> Mapping[str, str]:
        """Return the known part of `versions`. A language whose compiler was not yet asked has its flags only."""
        if self._reader is None:
            self._reader = Thread(target=self._read, name="versions", daemon=True)
            self._reader.start()
        return self._found or {each.name: each.toolchain.flags for each in present() if each.toolchain is not None}

    def _read(self) -> None:
        self._found = versions()


def identity(toolchain: Toolchain) -> str:
    """Return a text that differs between two versions of a compiler, without running it.

    Args:
        toolchain: one that this machine has.
    """
    programs = {toolchain.probe, *(command[0] for command in compile_commands(toolchain))}
    return " ".join(_file_identity(Path(program).resolve()) for program in sorted(programs))


def _file_identity(path: Path) -> str:
    seen = path.stat()
    return f"{path} {seen.st_size} {seen.st_mtime_ns}"


def compile_commands(toolchain: Toolchain) -> list[list[str]]:
    """Return the commands of a compiler that this machine has."""
    return [[_placed(toolchain, word) for word in command] for command in toolchain.compile]


def compile_environment(toolchain: Toolchain) -> dict[str, str]:
    """Return the variables of a compiler that this machine has."""
    return {name: _placed(toolchain, value) for name, value in toolchain.compile_environment}


def _placed(toolchain: Toolchain, text: str) -> str:
    return text.replace(HOME, str(Path(toolchain.probe).resolve().parent.parent)) if HOME in text else text


def version(toolchain: Toolchain) -> str:
    """Return the version that the compiler or interpreter prints; empty if it prints none."""
    return _printed(toolchain.version)


@cache
def _printed(command: tuple[str, ...]) -> str:
    try:
        said = subprocess.run(
            command, capture_output=True, timeout=ASK_SECONDS, cwd="/", check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search((said.stdout + said.stderr).decode("utf-8", "replace"))
    return found[0] if found else ""


def described(language: Language) -> str:
    """Return language, version and flags in a line, as `grader.language` has them."""
    toolchain = language.toolchain
    assert toolchain is not None
    return f"{language.name} {version(toolchain)}: {toolchain.flags}"
