"""Reads the fenced blocks of the documents, and the shell commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "*/README.md", "sandbox_service/guest/README.md")
    for path in REPOSITORY.glob(pattern)
)

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:proctor|make|python -m) [^`]+)`")
PLACEHOLDER = re.compile(r"…|\.\.\.")  # `python -m benchmarks labelled FILE…`
COMMENT = re.compile(r"\s+#\s.*$", re.MULTILINE)
OPERATORS = ("&", "&&", "|", ";", ">")


class Shown(NamedTuple):
    """A shell command as a document shows it."""

    document: str
    text: str
    """Without its comment and the `&` at its end."""
    exports: tuple[str, ...] = ()
    """The `export` commands before it in its block."""

    @property
    def words(self) -> list[str]:
        """The words of the first simple command, without assignments before it."""
        own = dropwhile(lambda word: "=" in word or word == "sudo", shlex.split(self.text, comments=True))
        return list(takewhile(lambda word: word not in OPERATORS, own))


def blocks(document: str) -> list[tuple[str, str]]:
    """Return language and content of every fenced block."""
    return BLOCK.findall((REPOSITORY / document).read_text())


def commands(document: str) -> Iterator[Shown]:
    """Yield the commands of the `sh` blocks. Blocks of `curl` have answers, and test_readme.py compares those."""
    for language, content in blocks(document):
        if language != "sh" or content.startswith("curl"):
            continue
        exports: list[str] = []
        for text in statements(content):
            yield Shown(document, text, tuple(exports))
            if text.startswith("export "):
                exports.append(text)


def statements(content: str) -> Iterator[str]:
    """Yield the commands of a block; one that begins with `#!` is a script and one command."""
    if content.startswith("#!"):
        yield content
        return
    text = ""
    for line in content.replace("\\\n", " ").splitlines():
        text = f"{text}{line}\n"
        with suppress(ValueError):  # a quote that is not closed yet
            words = shlex.split(text, comments=True)
            if words:
                yield COMMENT.sub("", text).strip().removesuffix("&").rstrip()
            text = ""


def inline_commands(document: str) -> Iterator[Shown]:
    """Yield the commands in the running text, but not those with a placeholder."""
    text = BLOCK.sub("", (REPOSITORY / document).read_text())
    for found in INLINE.findall(text):
        if not PLACEHOLDER.search(found):
            yield Shown(document, " ".join(found.split()))
