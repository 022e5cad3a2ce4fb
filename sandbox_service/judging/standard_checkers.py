"""Recognises checker programs that are equivalent to a built-in checker, which runs no program.

Some of testlib's standard checkers are recognised by the hash of their source without comments, white space and the
texts of messages. Any change of the comparison changes the hash. Those whose comparison no built-in checker repeats
exactly (rcmp's numbers, lcmp's lines) are run as they are.
"""

from __future__ import annotations

import hashlib
import re
from codecs import BOM_UTF8
from collections.abc import Sequence

from sandbox_service.judging.checkers import check_any
from sandbox_service.schema import Checker, JudgeProgram

# Those of testlib are a tenth as long. The service hashes a checker while requests wait.
LONGEST_SOURCE = 16_000
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Possessive repeats, and none begins at an escaped quote: a source is read in linear time.
_MESSAGES = re.compile(r'(?<!\\)"(?:\\.|[^"\\\n %])*+[ %](?:\\.|[^"\\\n])*+"')
_SPACE = re.compile(r"\s+")

_TOKENS, _YES_NO = Checker(type="tokens"), Checker(type="yes_no")
KNOWN: dict[str, tuple[str, Checker]] = {
    "26262045c923a43c898148a612a9a3fe": ("wcmp", _TOKENS),
    "2b13a4a94c73bfb65618f8e07874db56": ("yesno", _YES_NO),
    "6153954d79e8793a30bf95c7afd6a295": ("nyesno", _YES_NO),
}
"""testlib's name of a checker and the built-in one, by the hash of the source."""


def hash_of(source: str) -> str:
    """Return the hash of a source, by which two copies of a checker are told to be the same."""
    reduced = _SPACE.sub("", _MESSAGES.sub('""', _COMMENTS.sub("", source)))
    return hashlib.sha256(reduced.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def known(program: JudgeProgram) -> tuple[str, Checker] | None:
    """Return the name of a standard checker and the built-in one that replaces it; None for any other program.

    Args:
        program: the checker program.
    """
    if program.protocol != "testlib" or program.arguments or len(program.program) > LONGEST_SOURCE:
        return None
    return KNOWN.get(hash_of(program.program))


_WORDS = {0x0B: 0x01, 0x0C: 0x01}  # testlib's blanks are four: these two are parts of words


def check(checker: Checker, output: bytes, outputs: Sequence[str]) -> str | None:
    """Compare an output by a built-in checker that replaces a program, and read it as the program would.

    Args:
        checker: the built-in checker.
        output: the program's output.
        outputs: the accepted outputs.

    Returns:
        None if one of them matches, else the reason why the first does not.
    """
    expected = [each.removeprefix("\ufeff").translate(_WORDS) for each in outputs]
    return check_any(checker, output.removeprefix(BOM_UTF8).translate(bytes.maketrans(b"\v\f", b"\1\1")), expected)
