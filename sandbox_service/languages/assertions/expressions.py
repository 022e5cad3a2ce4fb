"""Parses the expressions of test programs in C++, Java, JavaScript, TypeScript, Go and Rust into one kind of tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox_service.languages.assertions.tokens import END, NotPlainError, Token

DEEPEST = 200  # seven for each pair of brackets
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_PRIORITIES = [("||",), ("&&",), ("==", "!=", "===", "!=="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%")]
MUTABLY = "&mut"
_GENERIC = re.compile(
    r"(?:std::)?(?:vector|list|deque|map|unordered_map|set|unordered_set|pair|tuple|optional|array|multiset)"
    r"|(?:java\.util\.)?(?:\w*List|\w*Map|\w*Set|Optional|Pair|\w*Deque|\w*Queue|Entry)|Vec|Option|Array"
)
_MADE_OF_ITEMS = {"pair", "tuple", "optional"}  # whose braces hold what a constructor takes, and no list
_CAST = re.compile(
    r"(?:const )?(?:std::)?(?:unsigned |signed |long |short )*"
    r"(?:int|long|short|float|double|char|bool|boolean|byte|string|vector|map|unordered_map|list|set|tuple|pair|String"
    r"|Integer|Long|Double|Float|Object|Character|Boolean|size_t|u?int(?:32|64)_t)\b[\w :<>,\[\]]*"
)


@dataclass(frozen=True)
class Node:
    """A part of an expression.

    Attributes:
        kind: `number`, `text`, `char`, `name`, `list` (in braces or brackets), `entry` (key and value), `call`,
            `member`, `unary`, `binary`, `macro`, `tuple` (in parentheses), `new`.
        text: the number, text, name, operator or type.
        parts: the operands; of a call, the function and the arguments.
    """

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = field(default=())


class Parser:
    """Reads expressions from tokens."""

    def __init__(self, tokens: Sequence[Token], language: str) -> None:
        """Begin at the first token.

        Args:
            tokens: of a statement or a whole program.
            language: the name of the language.
        """
        self._tokens, self._language = tokens, language
        self._depth = 0
        self.at = 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self._tokens[self.at] if self.at < len(self._tokens) else END

    def follows(self, *words: str) -> bool:
        """Return whether these names and signs come next."""
        rest = self._tokens[self.at : self.at + len(words)]
        return [token.text for token in rest if token.kind in ("name", "sign")] == list(words)

    def take(self, *words: str) -> bool:
        """Go behind these names and signs, if they come next."""
        if not self.follows(*words):
            return False
        self.at += len(words)
        return True

    def need(self, word: str) -> None:
        """Go behind a sign.

        Args:
            word: the sign.

        Raises:
            NotPlainError: another token comes next.
        """
        if not self.take(word):
            raise NotPlainError(f"{word!r} is missing before {self.next.text!r}")

    def skip_balanced(self) -> str:
        """Go behind the bracket that closes the next one, and return the text between them."""
        words, depth = [], 0
        while True:
            token = self.next
            if token is END:
                raise NotPlainError("a bracket is not closed")
            self.at += 1
            if token.kind == "sign" and token.text in _CLOSING:
                depth += 1
            elif token.kind == "sign" and token.text in _CLOSING.values():
                depth -= 1
            words.append(token.text)
            if depth == 0:
                return " ".join(words[1:-1])

    def expression(self, priority: int = 0) -> Node:
        """Return the next expression.

        Args:
            priority: that of the operators that end it; 0 for none.

        Raises:
            NotPlainError: there is none.
        """
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotPlainError("an expression is too deep")
        found = self._unary() if priority == len(_PRIORITIES) else self._binary(priority)
        self._depth -= 1
        return found

    def _binary(self, priority: int) -> Node:
        left = self.expression(priority + 1)
        while self.next.kind == "sign" and self.next.text in _PRIORITIES[priority]:
            operator = self.next.text
            self.at += 1
            left = Node("binary", operator, (left, self.expression(priority + 1)))
        return left

    def _unary(self) -> Node:
        for operator in ("-", "!", "+"):
            if self.take(operator):
                return Node("unary", operator, (self._unary(),))
        if self.take("&"):
            if self.take("mut"):
                return Node("unary", MUTABLY, (self._unary(),))
            return self._unary()
        if self.follows("(") and self._language in ("cpp", "java") and (cast := self._cast()):
            return Node("call", "cast", (Node("name", cast), self._unary()))
        return self._postfix(self._primary())

    def _cast(self) -> str:
        begin = self.at
        inside = self.skip_balanced()
        starts = self.next.kind in ("number", "text", "char", "name") or self.next.text in ("(", "{", "-")
        if starts and _CAST.fullmatch(inside.replace("std :: ", "std::")):
            return inside
        self.at = begin
        return ""

    def _primary(self) -> Node:
        token = self.next
        if token.kind in ("number", "text", "char"):
            self.at += 1
            text = token.text
            while token.kind == "text" and self.next.kind == "text":  # C++ joins them
                text += self.next.text
                self.at += 1
            return Node(token.kind, text)
        if token.kind == "name":
            return self._named()
        if self.follows("("):
            return self._tuple()
        if self.follows("[") and self._language == "go":
            return self._go_literal()
        if self.follows("[") or self.follows("{"):
            is_object = self.follows("{") and self._language in ("javascript", "typescript")
            return Node("list", "map" if is_object else "", self._items())
        raise NotPlainError(f"{token.text!r} does not begin a value")

    def _tuple(self) -> Node:
        self.need("(")
        parts: list[Node] = []
        comma = False
        while not self.take(")"):
            parts.append(self.expression())
            comma = self.take(",") or (comma and not self.follows(")"))
            if not comma and not self.follows(")"):
                raise NotPlainError("',' or ')' is missing")
        return parts[0] if len(parts) == 1 and not comma else Node("tuple", "", tuple(parts))

    def _named(self) -> Node:
        name = self.next.text
        self.at += 1
        if name == "new":
            return self._new()
        if name == "not" and self._language == "cpp":
            return Node("unary", "!", (self._unary(),))
        if self._language == "go" and name == "map":
            self.skip_balanced()
            self._type()
            return Node("list", "map", self._items())
        if self._language == "rust" and self.take("!"):
            return self._macro(name)
        if self._language == "rust" and self.follows("::", "<"):
            self.at += 1
            self.skip_balanced()
            if self.take("::"):
                name += "::" + self.next.text
                self.at += 1
        if self.follows("<") and _GENERIC.fullmatch(name):
            self.skip_balanced()
        if self.follows("{") and self._language == "cpp":
            items = self._items()
            is_made_of_items = name.removeprefix("std::") in _MADE_OF_ITEMS
            return Node("call", "", (Node("name", name), *(items if is_made_of_items else [Node("list", "", items)])))
        return Node("name", name)

    def _macro(self, name: str) -> Node:
        opening = self.next.text
        if opening not in ("[", "("):
            raise NotPlainError(f"{name}! is not known")
        self.at += 1
        parts: list[Node] = []
        while not self.take(_CLOSING[opening]):
            parts.append(self.expression())
            if self.take(";"):
                parts.append(Node("name", ";"))
            elif not self.take(",") and not self.follows(_CLOSING[opening]):
                raise NotPlainError("',' is missing")
        return Node("macro", name, tuple(parts))

    def _new(self) -> Node:
        name = self.next.text
        self.at += 1
        while self.take("."):
            name = self.next.text
            self.at += 1
        if self.follows("<"):
            self.skip_balanced()
        while self.follows("[", "]"):
            self.at += 2
            name += "[]"
        if self.follows("{"):
            return Node("list", "", self._items())
        return Node("new", name, self._arguments())

    def _go_literal(self) -> Node:
        self.skip_balanced()
        self._type()
        return Node("list", "", self._items())

    def _type(self) -> None:
        """Go behind a type of Go's."""
        while self.follows("[") or self.take("*"):
            if self.follows("["):
                self.skip_balanced()
        name = self.next
        self.at += 1
        if name.text == "map":
            self.skip_balanced()
            self._type()
        elif name.text == "interface":
            self.skip_balanced()
        elif name.kind != "name":
            raise NotPlainError(f"{name.text!r} is not a type")

    def _items(self) -> tuple[Node, ...]:
        closing = _CLOSING[self.next.text]
        self.at += 1
        found: list[Node] = []
        while not self.take(closing):
            item = self.expression()
            if self.take(":"):
                item = Node("entry", "", (item, self.expression()))
            found.append(item)
            if not self.take(",") and not self.follows(closing):
                raise NotPlainError(f"',' or {closing!r} is missing before {self.next.text!r}")
        return tuple(found)

    def _arguments(self) -> tuple[Node, ...]:
        if not self.follows("("):
            raise NotPlainError("'(' is missing")
        return self._items()

    def _postfix(self, node: Node) -> Node:
        while True:
            if self.follows("("):
                node = Node("call", "", (node, *self._arguments()))
            elif self.take("."):
                node = Node("member", self.next.text, (node,))
                self.at += 1
            elif self._language == "rust" and self.take("as"):
                node = Node("call", "cast", (Node("name", self.next.text), node))
                self.at += 1
            else:
                return node
