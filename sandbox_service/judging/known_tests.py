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
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from sandbox_service.judging.syntax_trees import parsed
from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase

MOST_CHARACTERS = 200_000  # of a source; a longer one counts as knowing
MOST_TESTS = 64  # that are looked for
MOST_CODE = 20_000  # characters of a test program that is read; nothing is known of a longer one
MOST_TEXT = 5_000  # characters of an input or an answer that are looked for
LONG = 12  # characters of a line or an argument that no program has by chance, without blanks and quotes;
LONG_TOKENS, LEAST_TOKENS = 10, 3  # or its characters, and so many tokens
MOST_WORDS = 8  # of an input and its answer that are looked for before their tokens are
NEAR = 40  # characters between an input and its answer
TELLING = 4  # characters of an input and its answer that no program has beside each other by chance

_DOCSTRING = re.compile(
    r"""^[ \t]*[rRuU]?(?:\"\"\"[^\"]*+(?:\"(?!\"\")[^\"]*+)*+\"\"\"|'''[^']*+(?:'(?!'')[^']*+)*+''')[ \t]*$""",
    re.MULTILINE,
)  # a look at each character would take ten times as long
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
_BUILTIN = frozenset({"abs", "all", "any", "bool", "dict", "float", "int", "len", "list", "math", "max", "min", "round",
                      "set", "sorted", "str", "sum", "tuple", "isinstance", "isclose", "allclose"})  # fmt: skip
_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)  # the nodes that may hold statements


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as tokens, and the longest of them: a source without it does not have the text."""

    text: str
    longest: str


@dataclass(frozen=True, slots=True)
class Known:
    """Tokens of an input and its answer, and the long parts of the input, as tokens and without blanks and quotes."""

    given: str
    answer: str
    words: tuple[str, ...]  # the longest ones of both, of which a source without one does not have the two
    parts: tuple[Tokens, ...]
    plain: frozenset[str]
    is_digest: bool = False  # of the answer

    @property
    def size(self) -> int:
        """Characters that it holds."""
        parts = sum(len(each.text) for each in self.parts)
        return len(self.given) + len(self.answer) + sum(map(len, self.words)) + parts + sum(map(len, self.plain))

    @property
    def is_telling(self) -> bool:
        """True if no program has the two beside each other by chance."""
        given, answer = self.given.strip(), self.answer.strip()
        return len(given) > 1 and len(given) + (0 if answer in _TRUTH else len(answer)) >= TELLING


class _Source:
    """A program without comments and docstrings, in the forms in which texts are looked for.

    Making its tokens costs most, and few programs have all words of a text that tokens are looked for.
    """

    def __init__(self, source: str) -> None:
        self._bare = _bare(source)
        self._lower = self._bare.lower()
        self.plain = _plain(self._bare)

    @cached_property
    def _tokens(self) -> str:
        return _tokens(self._bare)

    def has(self, part: Tokens) -> bool:
        """Return whether it has these tokens."""
        return part.longest in self._lower and part.text in self._tokens

    def has_near(self, known: Known) -> bool:
        """Return whether it has an answer soon after one of the first places of its input."""
        return all(word in self._lower for word in known.words) and _are_near(self._tokens, known.given, known.answer)


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
    program = _Source(source)
    beside, known = 0, known[:MOST_TESTS]
    for each in known:
        if any(part in program.plain for part in each.plain) or any(map(program.has, each.parts)):
            return True
        if program.has_near(each):
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


def _bare(source: str) -> str:
    """Return a source without docstrings and lines of comment."""
    if '"""' in source or "'''" in source:
        source = _DOCSTRING.sub("", source)
    return _COMMENT.sub("", source) if "#" in source or "//" in source else source


def _tokens(text: str) -> str:
    """Return the tokens of a text, in lower case, each between blanks."""
    return f" {' '.join(_TOKEN.findall(_unescaped(text).lower()))} "


def _plain(text: str) -> str:
    """Return a text without blanks and quotes."""
    return "".join(_unescaped(text).split()).replace("'", "").replace('"', "")


def _unescaped(text: str) -> str:
    """Return a text with blanks in place of escapes that mean one."""
    return _ESCAPE.sub(" ", text) if "\\" in text else text


def _known_pair(given: Sequence[str], answer: str) -> Known:
    texts = dict.fromkeys((" ".join(given), *given))
    tokens = list(dict.fromkeys(map(_tokens, texts)))
    whole, said = tokens[0], _tokens(answer)
    return Known(
        whole,
        said,
        tuple(_by_length([*whole.split(), *said.split()])[:MOST_WORDS]),
        tuple(
            Tokens(each, max(each.split(), key=len))
            for each in tokens
            if len(each) > LONG_TOKENS and each.count(" ") > LEAST_TOKENS
        ),
        frozenset(each for each in map(_plain, texts) if len(each) >= LONG and not each.isidentifier()),
        _DIGEST.fullmatch(_plain(answer)) is not None,
    )


def _by_length(words: Sequence[str]) -> list[str]:
    """Return different words, the longest first."""
    return sorted(dict.fromkeys(words), key=len, reverse=True)


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
        tree = parsed(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = code.replace("\r\n", "\n").replace("\r", "\n").encode().split(b"\n")  # as the parser counts them
    for test in _assertions(tree):
        if (call := _call_in(test)) is not None:
            args = [_written(each, lines) for each in (*call.args, *(each.value for each in call.keywords))]
            answer = _answer_of(test, call)
            yield args, str(not isinstance(test, ast.UnaryOp)) if answer is None else _written(answer, lines)


def _assertions(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the asserted expressions in the order of `ast.walk`, which would go through all literals."""
    left = deque[ast.AST](tree.body)
    while left:
        node = left.popleft()
        if isinstance(node, ast.Assert):
            yield node.test
        else:
            left.extend(each for each in ast.iter_child_nodes(node) if isinstance(each, _BLOCKS))


def _answer_of(test: ast.expr, call: ast.Call) -> ast.expr | None:
    """Return what the result of a call is compared with, on either side, or measured from; None if it is a truth."""
    match test:
        case ast.Compare(ast.Call(ast.Name("abs"), [ast.BinOp(left, ast.Sub(), right)]), [ast.Lt() | ast.LtE()]):
            operands = [left, right]
        case ast.Compare(left, _, others):
            operands = [left, *others]
        case _:
            return None
    calling = next((each for each in operands if call in ast.walk(each)), None)  # before a literal, which may be long
    return next(each for each in operands if each is not calling)


def _written(node: ast.expr, lines: Sequence[bytes]) -> str:
    """Return the text of an expression, which costs a fraction of `ast.unparse`."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    if first == last:
        return lines[first][node.col_offset : node.end_col_offset].decode()
    parts = [lines[first][node.col_offset :], *lines[first + 1 : last], lines[last][: node.end_col_offset]]
    return b"\n".join(parts).decode()


def _call_in(node: ast.expr) -> ast.Call | None:
    """The outermost call of a function that is not built in."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and _name_of(each.func) not in _BUILTIN:
            return each
    return None


def _name_of(function: ast.expr) -> str:
    """The name of a function or a method; empty for the result of another expression."""
    match function:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
    return ""
