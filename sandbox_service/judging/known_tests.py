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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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

# both begin with a line end, which is found quickly: `^` is a look at each character
_DOCSTRING = re.compile(
    r"""\n[ \t]*[rRuU]?(?:\"\"\"[^\"]*+(?:\"(?!\"\")[^\"]*+)*+\"\"\"|'''[^']*+(?:'(?!'')[^']*+)*+''')[ \t]*$""",
    re.MULTILINE,
)
_COMMENT = re.compile(r"\n[ \t]*(?:#|//)[^\n]*")
_ESCAPE = re.compile(r"\\[nrt]")
_TOKEN = re.compile(r"\d+|[^\W\d]+|[^\w\s'\",;:()\[\]{}\\]+")
_DIGEST_NAMES = (
    "hashlib", "md5", "sha1", "sha256", "crc32", "adler32", "base64", "b64decode", "zlib", "marshal", "pickle",
)  # fmt: skip
_DIGESTS = re.compile(rf"\b(?:{'|'.join(_DIGEST_NAMES)})\b|\bhash\(")
_DIGEST = re.compile(r"(?=\d*[a-fA-F])[0-9a-fA-F]{16,}")
_TRUTH = frozenset({"true", "false", "yes", "no", "none"})
_BUILTIN = frozenset({"abs", "all", "any", "bool", "dict", "float", "int", "len", "list", "math", "max", "min", "round",
                      "set", "sorted", "str", "sum", "tuple", "isinstance", "isclose", "allclose"})  # fmt: skip
_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)  # the nodes that may hold statements


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as tokens, and the longest of them: a source without one of these does not have the text."""

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Tokens of an input and its answer."""

    given: str
    answer: str
    words: tuple[str, ...]  # the longest ones of both
    is_telling: bool  # no program has the two beside each other by chance


@dataclass(frozen=True, slots=True)
class Known:
    """Parts of a test, some of which are in a program that knows it.

    Attributes:
        pairs: inputs with their answers.
        parts: long parts of the inputs, as tokens.
        plain: long parts of the inputs, without blanks and quotes.
        has_digest: an answer is a digest.
    """

    pairs: tuple[Pair, ...]
    parts: tuple[Tokens, ...]
    plain: tuple[str, ...]
    has_digest: bool = False

    @property
    def size(self) -> int:
        """Characters that it holds."""
        pairs = sum(len(each.given) + len(each.answer) + sum(map(len, each.words)) for each in self.pairs)
        return pairs + sum(len(each.text) for each in self.parts) + sum(map(len, self.plain))


class _Source:
    """A program without comments and docstrings, in the forms in which texts are looked for.

    Making its tokens costs most, and few programs have all words of a text that tokens are looked for.
    """

    def __init__(self, source: str) -> None:
        self._bare = _bare(source)
        self._lower = self._bare.lower()
        self._forms: dict[Callable[[str], str], str] = {}

    def _in(self, form: Callable[[str], str]) -> str:
        """Return the program in a form, which is made once. (A cached property takes a lock.)"""
        if form not in self._forms:
            self._forms[form] = form(self._bare)
        return self._forms[form]

    def has_part(self, known: Known) -> bool:
        """Return whether it has a long part of an input."""
        if known.plain and any(map(self._in(_plain).__contains__, known.plain)):
            return True
        return any(self.has_words(each) and each.text in self._in(_tokens) for each in known.parts)

    def has_words(self, tokens: Tokens | Pair) -> bool:
        """Return whether it has the longest words of a text, or of an input and its answer, somewhere."""
        return all(map(self._lower.__contains__, tokens.words))

    def has_near(self, pair: Pair) -> bool:
        """Return whether it has an answer soon after one of the first places of its input."""
        return _are_near(self._in(_tokens), pair.given, pair.answer)


def may_know(source: str, known: Sequence[Known]) -> bool:
    """Return whether a source may have the answers of tests.

    Args:
        source: The program.
        known: Of the tests that it passed, of which the first ones are looked for.
    """
    if len(source) > MOST_CHARACTERS:
        return True
    if _has_digest(source) and not any(each.has_digest for each in known):  # or the problem asks for digests
        return True
    program = _Source(source)
    known = known[:MOST_TESTS]
    if any(map(program.has_part, known)):
        return True
    pairs = [pair for each in known for pair in each.pairs][:MOST_TESTS]
    there = [pair for pair in pairs if program.has_words(pair)]
    least = max(1, len(pairs) / 2)
    return _tell(there, least) and _tell([pair for pair in there if program.has_near(pair)], least)


def _tell(pairs: Sequence[Pair], least: float) -> bool:
    """Return whether a program with these inputs and answers may know tests: one is telling, or they are many."""
    return len(pairs) >= least or any(each.is_telling for each in pairs)


def _has_digest(source: str) -> bool:
    """Return whether a source names a digest function; most have no such word, which is quickly seen."""
    return ("hash(" in source or any(map(source.__contains__, _DIGEST_NAMES))) and _DIGESTS.search(source) is not None


def known_of(test: TestCase) -> Known:
    """Return the parts of a test that are looked for; a test program has several inputs and answers.

    Args:
        test: A scored test. Reading it costs more than looking for the result in a source.
    """
    found = [
        ([each[:MOST_TEXT] for each in given[:MOST_TESTS]], answer[:MOST_TEXT])
        for given, answer in islice(_pairs(test), MOST_TESTS)
    ]
    texts = [dict.fromkeys((" ".join(given), *given)) for given, _ in found]
    tokens = [list(map(_tokens, each)) for each in texts]
    pairs = (_pair(each[0], _tokens(answer)) for each, (_, answer) in zip(tokens, found, strict=True))
    long = dict.fromkeys(each for of_one in tokens for each in of_one if _is_long(each))
    plain = dict.fromkeys(_plain(each) for of_one in texts for each in of_one if len(each) >= LONG)
    return Known(
        tuple(each for each in pairs if each.given.strip()),
        tuple(Tokens(each, _longest(each)) for each in long),
        tuple(each for each in plain if len(each) >= LONG and not each.isidentifier()),
        any(_DIGEST.fullmatch(_plain(answer)) for _, answer in found),
    )


def _pair(given: str, answer: str) -> Pair:
    told = answer.strip()
    length, weight = len(given.strip()), 0 if told in _TRUTH else len(told)
    return Pair(given, answer, _longest(given + answer), length > 1 and length + weight >= TELLING)


def _is_long(tokens: str) -> bool:
    """Return whether no program has these tokens by chance."""
    return len(tokens) > LONG_TOKENS and tokens.count(" ") > LEAST_TOKENS


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
    source = f"\n{source}"
    if '"""' in source or "'''" in source:
        source = _DOCSTRING.sub("\n", source)
    return _COMMENT.sub("\n", source) if "#" in source or "//" in source else source


def _tokens(text: str) -> str:
    """Return the tokens of a text, in lower case, each between blanks."""
    return f" {' '.join(_TOKEN.findall(_unescaped(text).lower()))} "


def _plain(text: str) -> str:
    """Return a text without blanks and quotes."""
    return "".join(_unescaped(text).split()).replace("'", "").replace('"', "")


def _unescaped(text: str) -> str:
    """Return a text with blanks in place of escapes that mean one."""
    return _ESCAPE.sub(" ", text) if "\\" in text else text


def _longest(tokens: str) -> tuple[str, ...]:
    """Return different words of a text, the longest ones first."""
    return tuple(sorted(dict.fromkeys(tokens.split()), key=len, reverse=True)[:MOST_WORDS])


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
    if isinstance(node, ast.Compare):  # most often on the left, where no walk is needed
        left = node.left
        if isinstance(left, ast.Call) and _name_of(left.func) not in _BUILTIN:
            return left
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
