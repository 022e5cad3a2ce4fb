"""Finds where a source declares a function, without a parser: by its braces, after comments and strings are blanked.

It answers two questions of the drivers: does a class have the function, or is it free; and is a name declared at all.
The types of parameters are not read here: compilers and reflection know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE, _BLOCK = r"//[^\n]*", r"/\*.*?(?:\*/|\Z)"
_STRING, _CHARACTER = r'"(?:\\.|[^"\\\n])*"?', r"'(?:\\.|[^'\\\n])*'?"
MOST_NAME_BYTES = 240  # of a type whose file can have its name
# Each pattern also matches an unclosed text, up to its possible end, so that every source is read in linear time.
_HIDDEN = {
    "cpp": (_LINE, _BLOCK, r'R"([^()\s\\]{0,16})\(.*?(?:\)\1"|\Z)', _STRING, r"(?<![0-9a-fA-F])" + _CHARACTER),
    "java": (_LINE, _BLOCK, r'""".*?(?:"""|\Z)', _STRING, _CHARACTER),
    "csharp": (_LINE, _BLOCK, r'\$?@\$?"(?:""|[^"])*"?', _STRING, _CHARACTER),
    "go": (_LINE, _BLOCK, r"`[^`]*`?", _STRING, _CHARACTER),
    "rust": (_LINE, _BLOCK, r'\br(#{0,8})".*?(?:"\1|\Z)', r'"(?:\\.|[^"\\])*"?', r"'(?:\\[^\n]{1,9}?|[^'\\\n])'"),
    "javascript": (
        _LINE,
        _BLOCK,
        r"`(?:\\.|[^`\\])*`?",
        _STRING,
        _CHARACTER,
        r"(?<=[(,=:\[!&|?{};+])[ ]?/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/",
    ),
}
_HIDDEN["typescript"] = _HIDDEN["javascript"]
_PATTERNS = {language: re.compile("|".join(hidden), re.DOTALL) for language, hidden in _HIDDEN.items()}

_WORDS = re.compile(r"[A-Za-z_$][\w$]*|[{}();]")
_PUBLIC_TYPE = re.compile(
    r"[{}]|\bpublic\s+(?:(?:final|abstract|strictfp|static|sealed|non-sealed)\s+)*"
    r"(?:class|enum|record|@?interface)\s+(?P<name>[\w$]+)"
)
_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*+)\\u++([0-9a-fA-F]{4})")  # of Java: after an even number of backslashes
_CLASS = {"class", "struct", "interface", "impl", "record", "enum", "union", "trait"}
_NAMESPACE = {"namespace", "extern", "module", "mod"}
_NO_TYPE = {"return", "new", "else", "throw", "case", "await", "yield", "in", "of", "typeof", "goto"}
_DEEPEST = 200


def masked(source: str, language: str) -> str:
    """Return the source with its comments and the contents of strings replaced by spaces; lines stay lines.

    Args:
        source: the text.
        language: the name of a language with a driver.
    """
    return _PATTERNS[language].sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def owners(code: str, language: str, name: str) -> list[str]:
    """Return the classes that declare a function; an empty name if it is a free function.

    Args:
        code: a masked source.
        language: its language.
        name: the function's name.
    """
    return [".".join(scope) for scope, start in _places(code, name) if _is_declared(code, language, start, name, scope)]


def parameters(code: str, language: str, name: str, owner: str = "") -> list[str]:
    """Return the parameters, as they are written, with which a function is declared; one text a declaration.

    Args:
        code: a masked source.
        language: its language.
        name: the function's name.
        owner: its class; empty if it is free.
    """
    found = []
    for scope, start in _places(code, name):
        if ".".join(scope) == owner and _is_declared(code, language, start, name, scope):
            begin = code.index("(", start) + 1
            end = code.find(")", begin)
            found.append(" ".join(code[begin:end].split()))
    return found


def has_class(code: str, name: str, language: str = "") -> bool:
    """Return whether a masked source defines a type of this name.

    Args:
        code: a masked source.
        name: the name.
        language: rust: `struct X;` and `struct X(i32);` define it, and are no declarations of what comes later.
    """
    kinds, rest = (
        ("struct|enum|union|type", "") if language == "rust" else ("class|struct|interface|record", r"(?!\s*[;*&(])")
    )
    return re.search(rf"\b(?:{kinds})\s+{re.escape(name)}\b{rest}", code) is not None


def public_type(source: str) -> str | None:
    """Return the name of the public type of a Java source, after which its file is named; None if it has none.

    A name that no file can have is as none: the compiler then refuses the source. The compiler replaces Unicode
    escapes before it reads anything else, also those in names and in the ends of comments.

    Args:
        source: the text.
    """
    depth = 0
    read = _ESCAPE.sub(lambda found: found[1] + chr(int(found[2], 16)), source)
    for found in _PUBLIC_TYPE.finditer(masked(read, "java")):
        if found["name"] and depth == 0:
            return found["name"] if len(found["name"].encode()) <= MOST_NAME_BYTES else None
        depth += {"{": 1, "}": -1}.get(found[0], 0)
    return None


def _places(code: str, name: str) -> Iterator[tuple[list[str], int]]:
    """Yield the places of the name outside function bodies, with the classes around each."""
    scopes = _Scopes()
    for found in _WORDS.finditer(code):
        scopes.read(found[0])
        if found[0] == name and scopes.are_types:
            yield scopes.names, found.start()


class _Scopes:
    """The blocks around a place, and what the words since the last block say about the next one."""

    def __init__(self) -> None:
        self._blocks: list[str | None] = []  # a class, an empty string for a namespace, None for any other block
        self._next: str | None = None
        self._names_class = False
        self._parentheses = 0

    @property
    def names(self) -> list[str]:
        """The classes, from the outermost."""
        return [block for block in self._blocks if block]

    @property
    def are_types(self) -> bool:
        """True outside of functions and parentheses."""
        return None not in self._blocks and len(self._blocks) < _DEEPEST and self._parentheses <= 0

    def read(self, word: str) -> None:
        """Go one word further."""
        if word == "{":
            self._blocks.append(self._next)
        elif word == "}" and self._blocks:
            self._blocks.pop()
        if word in "{};":
            self._next, self._names_class = None, False
            self._parentheses = 0 if word != ";" else self._parentheses
        elif word in "()":
            self._parentheses += 1 if word == "(" else -1
            self._next = None
        else:
            self._read_name(word)

    def _read_name(self, word: str) -> None:
        if self._names_class:
            self._next, self._names_class = word, False
        elif word in _CLASS or (word == "for" and self._next):  # impl Trait for Type
            self._names_class = True
        elif word in _NAMESPACE:
            self._next = ""


def _is_declared(code: str, language: str, start: int, name: str, scope: list[str]) -> bool:
    before = code[max(0, start - 200) : start].rstrip()
    after = code[start + len(name) : start + len(name) + 200].lstrip()
    last = re.search(r"[\w$]+$", before)
    word = last[0] if last else ""
    if language == "rust":
        return word == "fn"
    if language == "go":
        return word == "func"
    if language in ("javascript", "typescript"):
        if scope:
            return after.startswith(("(", "<"))
        return (
            word in ("function", "const", "let", "var")
            or before.endswith("*")
            or re.match(r"=[^=>]", after) is not None
        )
    if not after.startswith("("):
        return False
    return (bool(word) and word not in _NO_TYPE) or before.endswith((">", "*", "&", "]"))
