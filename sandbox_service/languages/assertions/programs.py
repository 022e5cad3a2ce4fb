"""Translates test programs that are plain calls with literal values to calls whose results the host compares.

Such a program would have to share a process with the submission, which could end it with success. As calls its expected
values stay outside. A program that does anything else is refused (`NotPlainError`), not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sandbox_service.languages.assertions import types
from sandbox_service.languages.assertions.conditions import Check, Conditions, Helper
from sandbox_service.languages.assertions.expressions import MUTABLY, Node, Parser
from sandbox_service.languages.assertions.literals import name_of
from sandbox_service.languages.assertions.order import names
from sandbox_service.languages.assertions.tokens import END, NotPlainError, Token, tokens

MOST_CHECKS = 2000
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}
_CHANGES_TEXT = re.compile(r"^[ \t]*+#[ \t]*+(?:define|if)", re.MULTILINE)
_GO_COMPARED = (
    "! reflect . DeepEqual ( tc . actual , tc . expected )",
    "fmt . Sprintf ( %v , tc . actual ) != fmt . Sprintf ( %v , tc . expected )",
)
_IGNORED = ("throw", "return", "use", "import", "using", "package", "declare")
_ASSERTIONS = {"assert", "console.assert", "assert.True", "assert.ok", "assert!", "require.True", "debug_assert!"}
_ADDING = {"cpp": "push_back", "java": "add", "javascript": "push", "typescript": "push", "rust": "push"}
_REFUSALS = {"assert.False", "require.False"}
_EQUALITIES = {
    "assert.Equal", "require.Equal", "assert_eq!", "assertEquals", "Assertions.assertEquals", "assert.EqualValues",
}  # fmt: skip
_OF_SCRIPTS = {
    "assert.equal": "==",
    "assert.strictEqual": "is",
    "assert.deepEqual": "deep",
    "assert.deepStrictEqual": "deep strict",
}
# where the head of a function ends, or none is
_AFTER_HEADS = {"{", ";", ",", ")", "=", "==", "!=", "<=", ">=", "&&", "||"}
_ITERATED = r"for\((?:int|size_t)?{0}=0;{0}<\(?(?:int)?\)?{1}\.(?:size|length)\(\);(?:{0}\+\+|\+\+{0}|{0}\+=1)\)"
_DIFFERENT = r"if\((?:{0}!={1}|(?:std::)?f?abs\({0}-{1}\)>=?(?P<tolerance>[0-9.e-]+))\)returnfalse;"
_SIZES = r"if\({0}\.(?:size|length)\(\)!={1}\.(?:size|length)\(\)\)returnfalse;"


def checks(code: str, language: str) -> list[Check]:
    """Return the calls of a test program and the results that they must have.

    Args:
        code: the test program, which belongs behind the submission.
        language: the name of its language.

    Raises:
        NotPlainError: it is not made of such calls alone.
    """
    reader = _READERS.get(language)
    if reader is None:
        raise NotPlainError(f"test programs in {language} are not translated")
    if language == "cpp" and _CHANGES_TEXT.search(code):
        raise NotPlainError("a macro or a condition of the preprocessor")
    found = reader(tokens(code, language))
    if not found:
        raise NotPlainError("there is no assertion")
    if len(found) > MOST_CHECKS:
        raise NotPlainError("there are too many assertions")
    if language in types.LANGUAGES and not types.are_typed(found):
        raise NotPlainError("a parameter or a result has values of several types")
    return found


class _Body:
    """The statements of a function, read in order."""

    def __init__(self, words: list[Token], language: str, conditions: Conditions) -> None:
        self._words, self._language, self._conditions = words, language, conditions
        self._at = 0
        self.checks: list[Check] = []

    def read(self) -> list[Check]:
        """Return the checks that the statements make. Raises NotPlainError for a statement that makes no sense here."""
        self.read_before()
        self._conditions.end()
        return self.checks

    def read_before(self) -> list[Check]:
        """Return the checks of statements behind which others come with the same conditions. Raises NotPlainError."""
        while self._at < len(self._words):
            statement = self._statement()
            if statement:
                self._read(statement)
        return self.checks

    def _statement(self) -> list[Token]:
        """Return the next statement: to a semicolon, or in JavaScript to where one may be left out."""
        begin, depth = self._at, 0
        while self._at < len(self._words):
            token = self._words[self._at]
            self._at += 1
            sign = token.text if token.kind == "sign" else ""
            depth += (sign in _OPENING) - (sign in _CLOSING)
            if depth == 0 and (sign == ";" or (sign in _CLOSING and self._ends(begin))):
                break
        found = self._words[begin : self._at]
        return found[:-1] if found[-1:] == [Token("sign", ";")] else found

    def _ends(self, begin: int) -> bool:
        """Return whether a statement may end at a closing bracket."""
        first = self._words[begin].text
        following = self._words[self._at] if self._at < len(self._words) else END
        closed = self._words[self._at - 1].text
        if first in ("if", "for", "type", "while"):
            return closed == "}"
        return self._language in ("javascript", "typescript") and following.kind in ("name", "end")

    def _read(self, words: list[Token]) -> None:
        texts = [token.text for token in words]
        if words[0].kind == "name" and texts[0] == "if":
            return self._read_if(words)
        if words[0].kind == "name" and texts[0] in _IGNORED:
            if texts[0] == "throw" or (texts[0] == "return" and texts[1:] not in ([], ["0"], ["true"])):
                raise NotPlainError(f"the statement {texts[0]}")
            return None
        if self._language == "go" and texts[0] in ("for", "type"):
            return self._read_go_table(texts)
        place = self._assignment(words)
        if place:
            return self._read_assignment(words, place)
        if self._language == "java" and texts[0] == "assert" and texts[1:2] != ["("] and texts[1:2] != ["."]:
            words = words[1:]
            return self.checks.extend(self._conditions.checks(self._expression(words)))
        if self._is_declaration(words):
            return None
        return self._read_call(self._expression(words))

    def _expression(self, words: list[Token]) -> Node:
        parser = Parser(words, self._language)
        found = parser.expression()
        if parser.next is not END:
            raise NotPlainError(f"{parser.next.text!r} is not expected")
        return found

    def _is_declaration(self, words: list[Token]) -> bool:
        return len(words) > 1 and all(token.kind == "name" or token.text in "<>,&" for token in words)

    def _assignment(self, words: list[Token]) -> int:
        """Return the place of an assignment's sign; 0 if the statement is none."""
        depth = 0
        for place, token in enumerate(words):
            if token.kind != "sign":
                continue
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if depth == 0 and token.text in ("=", ":="):
                return place
        return 0

    def _read_assignment(self, words: list[Token], place: int) -> None:
        name = words[place - 1]
        if self._language == "rust" and words[0].text == "let":
            name = words[2] if words[1].text == "mut" else words[1]
        if self._language == "typescript" and words[0].text in ("const", "let", "var"):
            name = words[1]
        texts = [token.text for token in words[place + 1 :]]
        is_part = place > 1 and words[place - 2].text in (".", "->")
        if name.kind != "name" or is_part or (self._language == "go" and Token("sign", ",") in words[:place]):
            raise NotPlainError("an assignment that is not to a name")
        if texts[:1] == ["require"]:
            self._conditions.is_strict |= any("strict" in text for text in texts)
            return
        if texts == ["assert", ".", "New", "(", "t", ")"]:
            return
        expression = self._expression(words[place + 1 :])
        if (
            self._language == "go"
            and expression.kind == "list"
            and words[place + 2 : place + 4]
            and texts[2:3] == ["test"]
        ):
            self.checks.extend(map(self._row, expression.parts))
            return
        if "map" in " ".join(token.text for token in words[: place - 1]) and self._language == "cpp":
            expression = Node("call", "cast", (Node("name", "map"), expression))
        if self._is_reference(words[:place], expression):
            raise NotPlainError("another name of a variable")
        self._conditions.bind(name.text, expression)

    def _is_reference(self, declared: list[Token], expression: Node) -> bool:
        """Return whether a variable of C++ or Rust may be another name of a variable."""
        if self._language == "rust":
            return expression.text == MUTABLY
        is_reference = self._language == "cpp" and Token("sign", "&") in declared
        return is_reference and any(name in self._conditions.known for name in names(expression))

    def _row(self, node: Node) -> Check:
        """Return the check of a row of a table of Go's."""
        row = {entry.parts[0].text: entry.parts[1] for entry in node.parts if entry.kind == "entry"}
        if set(row) != {"actual", "expected"}:
            raise NotPlainError("a table of other columns")
        return self._conditions.equal(row["actual"], row["expected"])

    def _read_go_table(self, texts: list[str]) -> None:
        loop = " ".join(texts)
        if texts[0] == "for" and not any(compared in loop for compared in _GO_COMPARED):
            raise NotPlainError("a loop")

    def _read_if(self, words: list[Token]) -> None:
        """Read `if (condition) throw …`: the condition must not hold."""
        parser = Parser(words[1:], self._language)
        condition = parser.expression()
        rest = [token.text for token in words[1 + parser.at :]]
        if not rest or "throw" not in rest[:2]:
            raise NotPlainError("a condition")
        if condition.kind == "call" and condition.parts[0].kind == "member" and condition.parts[0].text == "contains":
            listed = self._conditions.expression(name_of(condition.parts[0].parts[0]))
            if not isinstance(listed, Node) or listed.kind != "call" or condition.parts[1:] != (Node("name", "false"),):
                raise NotPlainError("a condition")
            for each in listed.parts[1:]:
                self.checks.extend(self._conditions.checks(each))
            return
        self.checks.extend(self._conditions.checks(Node("unary", "!", (condition,))))

    def _read_call(self, node: Node) -> None:
        if node.kind == "macro":
            name, given = f"{node.text}!", list(node.parts)
        elif node.kind == "call":
            name, given = name_of(node.parts[0]), list(node.parts[1:])
        else:
            raise NotPlainError(f"the statement is a {node.kind}")
        if name in _ASSERTIONS and given:
            self.checks.extend(self._conditions.checks(given[0]))
        elif name in _REFUSALS and given:
            self.checks.extend(self._conditions.checks(Node("unary", "!", (given[0],))))
        elif name in _EQUALITIES and len(given) >= 2:
            self.checks.append(self._conditions.equal(given[0], given[1]))
        elif name in _OF_SCRIPTS and len(given) >= 2:
            self.checks.append(self._conditions.asserted(given[0], given[1], _OF_SCRIPTS[name]))
        else:
            self._change(node, name, given)

    def _change(self, node: Node, name: str, given: list[Node]) -> None:
        """Read a statement that adds to a variable's value."""
        owner, _, method = name.rpartition(".")
        held = self._conditions.known.get(owner)
        if node.kind == "call" and isinstance(held, dict) and method == "put" and len(given) == 2:
            self._conditions.add(owner, given, is_entry=True)
        elif (
            node.kind == "call" and isinstance(held, list) and method == _ADDING.get(self._language) and len(given) == 1
        ):
            self._conditions.add(owner, given, is_entry=False)
        else:
            raise NotPlainError(f"the statement {name or node.kind}")


def _functions(words: list[Token]) -> dict[str, tuple[str, list[Token]]]:
    """Return the functions of a program by name: parameters, and the tokens of the body."""
    found: dict[str, tuple[str, list[Token]]] = {}
    for place, token in enumerate(words[:-1]):
        if token.kind != "name" or words[place + 1].text != "(":
            continue
        after = _behind(words, place + 1)
        begin = next((at for at in range(after, min(after + 12, len(words))) if words[at].text in _AFTER_HEADS), None)
        is_head = begin is not None and words[begin].text == "{" and words[after].text != "."
        if begin is None or not is_head or token.text in ("if", "for", "while", "switch", "catch"):
            continue
        end = _behind(words, begin)
        found.setdefault(
            token.text, (" ".join(each.text for each in words[place + 2 : after - 1]), words[begin + 1 : end - 1])
        )
    return found


def _behind(words: list[Token], place: int) -> int:
    """Return the place behind the bracket that closes the one at `place`."""
    depth = 0
    for at in range(place, len(words)):
        if words[at].kind == "sign":
            depth += (words[at].text in _OPENING) - (words[at].text in _CLOSING)
            if depth == 0:
                return at + 1
    return len(words)


def _helper(parameters: str, body: list[Token]) -> Helper | None:
    """Return a function that compares its two parameters element by element; None if it does anything else."""
    names = re.fullmatch(r".*?(\w+) , .*?(\w+)", parameters)
    if names is None:
        return None
    text = "".join(token.text + (" " if token.text in ("int", "return") else "") for token in body)
    text = re.sub(r"[{} ]", "", text)
    one, other = names[1], names[2]
    both = re.escape(one), re.escape(other)
    items = [f"{name}\\[i\\]" for name in both]
    inner = [f"{item}\\[j\\]" for item in items]
    sizes, loop = _SIZES.format(*both), _ITERATED.format("i", both[0])
    loop = loop.replace("(?:int|size_t)?i", "(?:int|size_t)?i", 1)
    flat = sizes + loop + _DIFFERENT.format(*items) + "returntrue;"
    nested = (
        sizes
        + loop
        + _SIZES.format(*items)
        + _ITERATED.format("j", items[0])
        + _DIFFERENT.format(*inner)
        + "returntrue;"
    )
    for pattern in (flat, nested):
        if found := re.fullmatch(pattern, text.replace("inti", "i").replace("intj", "j")):
            return Helper(float(found["tolerance"]) if found["tolerance"] else None)
    if re.fullmatch(_TABLES.format(*both), text):
        return Helper(is_table=True)
    return None


_TABLES = (
    r"if\({0}\.size\(\)!={1}\.size\(\)\)returnfalse;map<\w+,\w+>::iteratorit;"
    r"for\(it={0}\.begin\(\);it!={0}\.end\(\);it\+\+\)(?:string|char)(\w+)=it->first;(?:string|int)(\w+)=it->second;"
    r"if\({1}\.find\(\w+\)=={1}\.end\(\)\)returnfalse;if\({1}\[\w+\]!=\w+\)returnfalse;returntrue;"
)


def _cpp(words: list[Token]) -> list[Check]:
    functions = _functions(words)
    if "main" not in functions:
        raise NotPlainError("there is no main")
    known = {name: _helper(*function) for name, function in functions.items() if name != "main"}
    helpers = {name: helper for name, helper in known.items() if helper is not None}
    return _Body(functions["main"][1], "cpp", Conditions(helpers, functions, "cpp")).read()


def _java(words: list[Token]) -> list[Check]:
    functions = _functions(words)
    if set(functions) != {"main"}:
        raise NotPlainError("there are other functions than main")
    body = functions["main"][1]
    if words.count(Token("sign", "=")) != body.count(Token("sign", "=")):
        raise NotPlainError("a field")  # whose name may be like that of a class
    return _Body(body, "java", Conditions({}, functions, "java")).read()


def _javascript(words: list[Token], language: str = "javascript") -> list[Check]:
    function = _test_function(words)
    if function is None:
        return _Body(words, language, Conditions({}, (), language)).read()
    name, begin, opening = function
    end = _behind(words, opening)
    around = words[:begin] + words[end:]
    while around[-1:] == [Token("sign", ";")]:
        around.pop()
    if [token.text for token in around[-3:]] != [name, "(", ")"]:
        raise NotPlainError("the test function is not called")
    conditions = Conditions({}, (name,), language)
    if _Body(around[:-3], language, conditions).read_before():
        raise NotPlainError("there are assertions in several places")
    return _Body(words[opening + 1 : end - 1], language, conditions).read()


def _test_function(words: list[Token]) -> tuple[str, int, int] | None:
    """Return the name of the first function, where its declaration begins and its body; None if there is none."""
    texts = [token.text for token in words]
    for at, text in enumerate(texts):
        if text == "function" and texts[at + 2 : at + 5] == ["(", ")", "{"]:
            return texts[at + 1], at, at + 4
        if texts[at + 2 : at + 7] == ["=", "(", ")", "=>", "{"]:
            return texts[at + 1], at, at + 6
    return None


def _go(words: list[Token]) -> list[Check]:
    found: list[Check] = []
    functions = _functions(words)
    tests = {name: body for name, (_, body) in functions.items() if name.startswith("Test")}
    for body in tests.values():
        found += _Body(body, "go", Conditions({}, tests, "go")).read()
    return found


def _rust(words: list[Token]) -> list[Check]:
    while Token("sign", "#") in words:  # an attribute
        at = words.index(Token("sign", "#"))
        behind = _behind(words, at + 1)
        if any(each.text in ("ignore", "should_panic") for each in words[at:behind]):
            raise NotPlainError("a test of Rust that does not have to pass")
        words = words[:at] + words[behind:]
    functions = {name: body for name, (_, body) in _functions(words).items()}
    own = set(functions)
    found: list[Check] = []
    for name, body in functions.items():
        if body or name != "main":
            found += _Body(body, "rust", Conditions({}, own, "rust")).read()
    return found


_READERS: dict[str, Callable[[list[Token]], list[Check]]] = {
    "cpp": _cpp,
    "java": _java,
    "javascript": _javascript,
    "typescript": lambda words: _javascript(words, "typescript"),
    "go": _go,
    "rust": _rust,
}

LANGUAGES = frozenset(_READERS)
"""Those whose test programs can be run."""
