"""Finds accepted programs whose source shows that they may know their tests, so that audit tests run on these.

A program that answers tests from a table has their inputs, or short ones beside their answers, in its source; one that
hides them has a digest of them. This is no proof: programs may have an example of the problem in their source. It
selects programs for audit tests, which then tell. Comments and docstrings are not looked at: prompts have examples.
Works on sources in any language, and on hostile ones in linear time.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase

MOST_CHARACTERS = 200_000  # of a source; a longer one counts as knowing
MOST_TESTS = 64  # that are looked for
MOST_CODE = 20_000  # characters of a test program that is read; nothing is known of a longer one
MOST_TEXT = 5_000  # characters of an input or an answer that are looked for
LONG = 12  # characters of a line or an argument that no program has by chance, without blanks and quotes;
LONG_TOKENS, LEAST_TOKENS = 10, 3  # or its characters, and so many tokens
NEAR = 40  # characters between an input and its answer
TELLING = 4  # characters of an input and its answer that no program has beside each other by chance

_DOCSTRING = re.compile(r"^[ \t]*[rRuU]?(\"\"\"|''')(?:(?!\1).)*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^[ \t]*(?:#|//)[^\n]*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\[nrt]")
_TOKEN = re.compile(r"\d+|[^\W\d]+|[^\w\s'\",;:()\[\]{}\\]+")
_DIGEST_NAMES = (
    "hashlib", "md5", "sha1", "sha256", "crc32", "adler32", "base64", "b64decode", "zlib", "marshal", "pickle",
)  # fmt: skip
_DIGEST_WORDS = (*_DIGEST_NAMES, "hash(")  # of which a source has one if _DIGESTS is found in it
_DIGESTS = re.compile(rf"\b(?:{'|'.join(_DIGEST_NAMES)})\b|\bhash\(")
_DIGEST = re.compile(r"(?=\d*[a-fA-F])[0-9a-fA-F]{16,}")
_TRUTH = frozenset({"true", "false", "yes", "no", "none"})
_BLANK = re.compile(r"[\s'\"]+")
_BUILTIN = frozenset({"abs", "all", "any", "bool", "dict", "float", "int", "len", "list", "math", "max", "min", "round",
                      "set", "sorted", "str", "sum", "tuple", "isinstance", "isclose", "allclose"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """Tokens of an input and its answer, and the long parts of the input, as tokens and without blanks and quotes."""

    given: str
    answer: str
    parts: frozenset[str]
    plain: frozenset[str]
    is_digest: bool = False  # of the answer

    @property
    def size(self) -> int:
        """Characters that it holds."""
        return len(self.given) + len(self.answer) + sum(map(len, self.parts)) + sum(map(len, self.plain))

    @property
    def is_telling(self) -> bool:
        """True if no program has the two beside each other by chance."""
        given, answer = self.given.strip(), self.answer.strip()
        return len(given) > 1 and len(given) + (0 if answer in _TRUTH else len(answer)) >= TELLING


def may_know(source: str, known: Sequence[Known]) -> bool:
    """Return whether a source may have the answers of tests.

    Args:
        source: The program.
        known: Inputs and answers of tests that it passed, of which the first ones are looked for.
    """
    if len(source) > MOST_CHARACTERS:
        return True
    if _has_digest(source) and not any(each.is_digest for each in known):  # or the problem asks for digests
        return True
    bare = _COMMENT.sub("", _DOCSTRING.sub("", source))
    text, plain = _tokens(bare), _plain(bare)
    beside, known = 0, known[:MOST_TESTS]
    for each in known:
        if any(part in text for part in each.parts) or any(part in plain for part in each.plain):
            return True
        if _are_near(text, each.given, each.answer):
            if each.is_telling:
                return True
            beside += 1
    return beside >= 1 and 2 * beside >= len(known)


def _has_digest(source: str) -> bool:
    """Return whether a source names a digest function; most have none of the words at all, which is quickly seen."""
    return any(word in source for word in _DIGEST_WORDS) and _DIGESTS.search(source) is not None


def known_of(test: TestCase) -> list[Known]:
    """Return the inputs and answers of a test that have tokens; a test program has several.

    Args:
        test: A scored test. Reading it costs more than looking for the result in a source.
    """
    found = [
        _known_pair([each[:MOST_TEXT] for each in given[:MOST_TESTS]], answer[:MOST_TEXT])
        for given, answer in islice(_pairs(test), MOST_TESTS)
    ]
    return [each for each in found if each.given.strip() or each.plain]


def _are_near(text: str, given: str, answer: str) -> bool:
    """Return whether an answer comes soon after one of the first places of its input."""
    at = text.find(given)
    for _ in range(MOST_TESTS):
        if at < 0:
            return False
        end = at + len(given) - 1
        if text.find(answer, end, end + NEAR + len(answer)) >= 0:
            return True
        at = text.find(given, at + 1)
    return False


def _tokens(text: str) -> str:
    """Return the tokens of a text, in lower case, each between blanks."""
    return f" {' '.join(_TOKEN.findall(_ESCAPE.sub(' ', text).lower()))} "


def _plain(text: str) -> str:
    """Return a text without blanks and quotes."""
    return _BLANK.sub("", _ESCAPE.sub(" ", text))


def _known_pair(given: Sequence[str], answer: str) -> Known:
    whole = " ".join(given)
    tokens = {_tokens(each) for each in (whole, *given)}
    plain = {_plain(each) for each in (whole, *given)}
    return Known(
        _tokens(whole),
        _tokens(answer),
        frozenset(each for each in tokens if len(each) > LONG_TOKENS and each.count(" ") > LEAST_TOKENS),
        frozenset(each for each in plain if len(each) >= LONG and not each.isidentifier()),
        _DIGEST.fullmatch(_plain(answer)) is not None,
    )


def _pairs(test: TestCase) -> Iterator[tuple[list[str], str]]:
    """Inputs of a test in parts, lines or arguments, and answers, as text."""
    if isinstance(test, StdinTest):
        yield test.input.splitlines(), test.outputs[0]
    elif isinstance(test, CallTest):
        args = [*test.args, *test.kwargs.values()] or [args for _, args in test.calls or ()]
        yield list(map(json.dumps, args)), json.dumps(test.output)
    elif isinstance(test, AssertTest):
        yield from _asserted(test.code)


def _asserted(code: str) -> Iterator[tuple[list[str], str]]:
    """Arguments and results of the calls in a Python test program's assertions."""
    if len(code) > MOST_CODE:
        return
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and (call := _call_in(node.test)) is not None:
            args = list(map(ast.unparse, [*call.args, *(each.value for each in call.keywords)]))
            if isinstance(node.test, ast.Compare):
                yield args, ast.unparse(node.test.comparators[0])
            else:
                yield args, str(not isinstance(node.test, ast.UnaryOp))


def _call_in(node: ast.expr) -> ast.Call | None:
    """The outermost call of a function that is not built in."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and ast.unparse(each.func).rpartition(".")[2] not in _BUILTIN:
            return each
    return None
