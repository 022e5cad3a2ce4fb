"""Splits test programs into tokens. What it does not know raises NotPlainError: such a test is not translated."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_BYTES = 1 << 20


class NotPlainError(ValueError):
    """A test program is not made of plain calls with literal values."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token.

    Attributes:
        kind: `name`, `number`, `text`, `char` or `sign`; `end` behind the last.
        text: as it is written; of a text or char, its value.
    """

    kind: str
    text: str


END = Token("end", "")
_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|(?:^|(?<=\n))[ \t]*#(?!\[|!)[^\n]*)"
    r"|(?P<number>0[xX][0-9a-fA-F_]+[a-zA-Z]*|(?:\d[\d_]*(?:\.\d+|\.(?![.\w]))?|\.\d+)(?:[eE][+-]?\d+)?[a-zA-Z_0-9]*)"
    r"|(?P<name>[A-Za-z_$][\w$]*(?:::[A-Za-z_]\w*)*)"
    r'|(?P<text>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>'(?:\\[^\n]{1,8}?|[^'\\\n])*?')"
    r"|(?P<raw>`[^`\\$]*`)"
    r"|(?P<sign>===|!==|==|!=|<=|>=|&&|\|\||->|=>|:=|::|\+\+|--|\+=|-=|[-+*/%=<>!&|^~?:;,.(){}\[\]#@])",
    re.DOTALL,
)
_LAST = {")", "]", "}", "++", "--"}  # signs after which a line of Go ends a statement
_ESCAPE = re.compile(r"\\(u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "\\": "\\", '"': '"', "'": "'"}


def tokens(code: str, language: str = "") -> list[Token]:
    """Return the tokens of a test program.

    Args:
        code: the program.
        language: its language. Go's ends of lines become the semicolons that they stand for.

    Raises:
        NotPlainError: there is something else in it.
    """
    if len(code) > MOST_BYTES:
        raise NotPlainError("the test program is too long")
    found: list[Token] = []
    position = 0
    while position < len(code):
        match = _TOKEN.match(code, position)
        if match is None:
            raise NotPlainError(f"{code[position : position + 20]!r} is not a token")
        position = match.end()
        kind, text = match.lastgroup or "", match[0]
        if kind in ("text", "char"):
            found.append(Token(kind, _ESCAPE.sub(_escaped, text[1:-1])))
        elif kind == "raw":
            found.append(Token("text", text[1:-1]))
        elif kind != "skip":
            found.append(Token(kind, text))
        elif language == "go" and "\n" in text and found and (found[-1].kind != "sign" or found[-1].text in _LAST):
            found.append(Token("sign", ";"))
    return found


def _escaped(match: re.Match[str]) -> str:
    _, braced, four, two, octal, other = match.groups()
    if hexadecimal := braced or four or two:
        code = int(hexadecimal, 16)
        if two and code > 127:
            raise NotPlainError("a string has a byte that is not ASCII")
        return chr(code)
    if octal:
        return chr(int(octal, 8))
    if other not in _SIMPLE:
        raise NotPlainError(f"a string has the escape \\{other}")
    return _SIMPLE[other]
