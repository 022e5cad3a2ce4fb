"""Finds sources that could use other descriptors or files than their own, from their text.

A box of several tests has more descriptors than any other, and `/proc` tells how many tests it has run. A program that
opens files or uses descriptors by number shares a box only if its text says which: 0 to 2, `/dev/stdin`, or a name
without a folder. What does not fit is refused, so that comments may refuse a program too; that costs it only time.
"""

import re

MOST_CHARACTERS = 200_000  # of a source that is looked into
NEEDED = "os open FileIO"  # a source in ASCII without these words strays nowhere

_WORDS = r"os|open|open_code|FileIO"
_TEXT = r"""'[^'"\\/\n]*'|"[^'"\\/\n]*\""""
_FILE = rf"""(?:{_TEXT}|'/dev/stdin'|"/dev/stdin")"""
_MORE = rf"(?:\s*,\s*(?:\w+\s*=\s*)?(?:{_TEXT}|-?\d+|None|True|False))*\s*\)"
_FITTING = re.compile(
    rf"""
    (?<![\w.]) (?:
        open \s* \( \s* (?: [012] | {_FILE} ) {_MORE}
      | os\.(?:read|write|fstat|lseek) \s* \( \s* [012] \s* [,)]
      | os\.path\.(?:exists|isfile|isdir|getsize) \s* \( \s* {_FILE} \s* \)
      | os\.(?:environ|getenv|linesep|sep|name|getcwd|cpu_count|urandom|devnull|curdir|SEEK_[A-Z]+) \b
    )
    | (?:^|;) [ \t]* import [ \t]+ \w+ (?:[ \t]*,[ \t]*\w+)* (?=[ \t]*(?:[;\#]|$))
    """,
    re.VERBOSE | re.MULTILINE,
)
_ANY = re.compile(rf"\b(?:{_WORDS})\b")
# with `type` or an initialiser, the file of one descriptor leads to that of another
_STRAY = re.compile(rf"\b(?:{_WORDS}|type)\b|__(?:init|new)__\s*=|\.\s*__(?:init|new)__")


def strays(text: str) -> bool:
    """Return whether a source may use other descriptors or files, if it opens any.

    Args:
        text: the source. Other letters than those of ASCII may be spellings of these, and are not looked into.
    """
    if not text.isascii():
        return True
    if _ANY.search(text) is None:
        return False
    return len(text) > MOST_CHARACTERS or _STRAY.search(_FITTING.sub(" ", text)) is not None
