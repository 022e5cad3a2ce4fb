"""Finds programs that may use files or /proc, from their text. The others need no /tmp and no /proc of their own.

A box without these sees an empty /tmp and an empty /proc, both read-only, and shares the mounts of its zygote
(guest/box.h); that costs an eighth less. The rules refuse too much rather than too little: a program that is refused
has a box with both, which costs it only time. A program that hides the name of what it opens from these rules finds no
file and cannot write one. It gains nothing, since both folders are empty in every box when it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MODULES = frozenset(
    """
    __future__ abc array ast base64 binascii bisect calendar cmath collections contextlib copy dataclasses datetime
    decimal enum fractions functools gc hashlib heapq html io itertools json keyword math numbers operator os pprint
    queue random re resource secrets signal sortedcontainers statistics string struct sys textwrap threading time types
    typing unicodedata weakref zlib
    """.split()
)
"""The modules of Python that read no file but their own, by whatever is not among PYTHON_WORDS."""

PYTHON_WORDS = """
    FileIO open_code __import__ __builtins__ __loader__ modules _os solution.py excepthook stderr /proc /tmp /dev
""".split()
"""Words of a Python source that may use a file; `stderr` and `excepthook` may show lines of the source's own file."""

NATIVE_WORDS = """
    open file fstream creat( os.create fs:: /tmp /proc /dev/ tmpnam mkstemp mkdtemp tempnam temp_dir tempdir readdir
    scandir mkdir mknod symlink readlink realpath rename syscall asm system exec thread async omp.h concurrency sysconf
    nproc ttyname backtrace stacktrace getattr_np
""".split()
"""Words of a source in C, C++, Go or Rust, in small letters, that may use a file; threads count the processors in
/proc."""

LONGEST = 1 << 18  # characters that are read; a longer program may use files

_IMPORT = re.compile(r"\bimport\b")
# Possessive repeats: a statement is hostile text, and is read in linear time.
_STATEMENT = re.compile(r"\s*+(?:import\s++(.++)|from\s++(\w++)[\w.]*+\s++import\b.*+)", re.DOTALL)
_MODULE = re.compile(r"\s*+(\w++)[\w.]*+(?:\s++as\s++\w++)?+\s*+")
_OPEN = re.compile(r"(?<!\w)open\b(?!\(0\))|\b(?:exec|eval)\b")
_STATEMENTS = re.compile(r"(?:^|[;:])[ \t]*+(?:import|from)\b[^\n;]*+", re.MULTILINE)
_OPENING = re.compile(r"\b(?:os|io)\b")
# not followed by the name of what is used: the module may get another name, or lead to any of its functions
_WHOLE = re.compile(r"\b(?:os|io)\b(?!\.\w)")
_OS = re.compile(r"\bos\.(\w+)")
_OS_NAMES = {"read", "write", "fstat", "lseek", "environ", "getenv", "linesep", "sep", "urandom", "_exit"}


def python_uses_files(text: str) -> bool:
    """Return whether a Python source may use files or /proc.

    Args:
        text: the source.
    """
    if len(text) > LONGEST or any(word in text for word in PYTHON_WORDS) or _OPEN.search(text):
        return True
    lines = [line for line in text.splitlines() if "import" in line and _IMPORT.search(line)]
    statements = [each for line in lines for each in line.partition("#")[0].split(";") if _IMPORT.search(each)]
    if not all(map(_is_allowed, statements)):
        return True
    if not _OS_NAMES.issuperset(_OS.findall(text)):
        return True
    return any(map(_OPENING.search, statements)) and _WHOLE.search(_STATEMENTS.sub("", text)) is not None


def native_uses_files(texts: Iterable[str]) -> bool:
    """Return whether a program in C, C++, Go or Rust may use files or /proc, or count the machine's processors.

    Args:
        texts: its sources.
    """
    sources = list(texts)
    if sum(map(len, sources)) > LONGEST:
        return True
    return any(word in text for text in map(str.lower, sources) for word in NATIVE_WORDS)


def _is_allowed(statement: str) -> bool:
    """Return whether a statement imports nothing but MODULES, and `os` under its own name only."""
    found = _STATEMENT.fullmatch(statement)
    if found is None:
        return False
    listed, module = found.groups()
    if module is not None:
        return module in MODULES and module != "os"
    return all(map(_is_allowed_module, listed.split(",")))


def _is_allowed_module(text: str) -> bool:
    found = _MODULE.fullmatch(text)
    return found is not None and found[1] in MODULES and (found[1] != "os" or " as " not in text)
