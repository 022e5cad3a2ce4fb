"""Reads conditions of test programs as calls of the submission with an expected result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sandbox_service.languages.assertions import script_equality
from sandbox_service.languages.assertions.expressions import Node
from sandbox_service.languages.assertions.literals import name_of, table, value
from sandbox_service.languages.assertions.order import Order, containers, names
from sandbox_service.languages.assertions.tokens import NotPlainError
from sandbox_service.languages.assertions.variables import COPYING, Copier
from sandbox_service.languages.drivers.functions import SOLUTION
from sandbox_service.languages.drivers.values import Call

_ABSOLUTE = {"abs", "fabs", "std::abs", "std::fabs", "Math.abs", "math.Abs"}
_EQUAL = {"Objects.equals", "Arrays.equals", "Arrays.deepEquals", "reflect.DeepEqual", "_.isEqual"}
_SAME_TEXT = {"JSON.stringify", "Arrays.toString"}
_BY_VALUE = {"deep", "deep strict", "json"}
_STRICT = {"==": "is", "deep": "deep strict"}
_UNCHANGED = {"iter", "clone", "as_str", "to_vec", "intValue", "longValue", "doubleValue", "get", "unwrap"}


@dataclass(frozen=True)
class Check:
    """A call of the submission, and the condition that its result must meet.

    Attributes:
        call: the call.
        expected: the value; of any plain type.
        tolerance: the largest absolute difference of two numbers, wherever they are; None: they are equal.
        negated: the result must be another one.
        is_truth: the result is used as a truth value.
        equality: in JavaScript, which one of `script_equality.EQUALITIES`.
        is_receiver: the condition is a method of the result, which null has not.
    """

    call: Call
    expected: Any
    tolerance: float | None = None
    negated: bool = False
    is_truth: bool = False
    equality: str = ""
    is_receiver: bool = False


@dataclass
class _Late:
    """An expression of a variable, which is read where the variable is used."""

    node: Node
    moment: int
    is_call: bool
    is_read: bool = False


@dataclass(frozen=True)
class Helper:
    """A function of the test program that compares two values.

    Attributes:
        tolerance: as in Check.
        is_table: the values are tables, which C++ writes as lists of pairs.
    """

    tolerance: float | None = None
    is_table: bool = False


class Conditions:
    """The meaning of the names of a test program at the place where it is read.

    Attributes:
        known: values of variables; a Node if the value is not literal.
        helpers: functions that compare.
        own: names of all functions of the test program: they are not the submission's.
        language: the language.
        is_script: it is JavaScript or TypeScript.
        is_strict: their functions `equal` and `deepEqual` are those of `assert.strict`.
        order: the calls that were read.
    """

    def __init__(self, helpers: Mapping[str, Helper], own: Iterable[str], language: str) -> None:
        self.known: dict[str, Any] = {}
        self.helpers = helpers
        self.own = frozenset(own)
        self.language = language
        self.is_script = language in ("javascript", "typescript")
        self.is_strict = False
        self.order = Order(language)
        self._copier = Copier()
        self._late: dict[str, _Late] = {}  # by variable

    def bind(self, name: str, node: Node) -> None:
        """Remember the value of a variable, or else its expression.

        Args:
            name: the variable.
            node: what is assigned to it.

        Raises:
            NotPlainError: an expression that is read later has the variable's value before.
        """
        _check_read(self._late.pop(name, None))
        self._check_late(name)
        try:
            found = value(node, self.known)
        except NotPlainError:
            self._bind_late(name, node)
        else:
            copy = self._copier.copied(found)
            self.known[name] = copy if self.language in COPYING else found

    def _bind_late(self, name: str, node: Node) -> None:
        """Remember the expression of a variable."""
        self.known[name] = found = self._resolved(node)
        if found.kind == "call" and not self.order.is_bound(found):
            with suppress(NotPlainError):
                self.order.bind(found, self._made(found))
        if not self.order.is_bound(found):
            self._late[name] = _Late(found, self.order.now, is_call=_has_call(found))

    def _check_late(self, name: str, held: Any = None) -> None:
        """Refuse a change of a variable, or of the value that it has, before an expression is read that has it."""
        for late in self._late.values():
            for each in names(late.node):
                if each == name or (held is not None and self._has(self.known.get(each), held)):
                    raise NotPlainError("a variable changes before an expression is used that has it")

    def _has(self, found: Any, held: Any) -> bool:
        self._copier.copied(found)  # counts the parts that are looked at
        return any(each is held for each in containers(found))

    def add(self, name: str, given: list[Node], *, is_entry: bool) -> None:
        """Add to the list or table that a variable has.

        Args:
            name: the variable.
            given: the item; or the key and the value of an entry.
            is_entry: it is a table.

        Raises:
            NotPlainError: the item is no literal or has the list, or the list was used where the change would matter.
        """
        held, values = self.known[name], [value(each, self.known) for each in given]
        self.order.check_unchanged(held)
        self._check_late(name, held)
        copies = [self._copier.copied(each) for each in values]
        if any(each is held for item in values for each in containers(item)):
            raise NotPlainError("a value is a part of itself")
        items = copies if self.language in COPYING else values
        if is_entry:
            held |= table([items])
        else:
            held.append(items[0])

    def expression(self, name: str) -> Any:
        """Return the value of a variable, which may be an expression that is read now; None without one.

        Args:
            name: the variable.

        Raises:
            NotPlainError: the expression has a call, and there were others since.
        """
        if late := self._late.get(name):
            if late.is_call and late.moment != self.order.now:
                raise NotPlainError("calls are made in another order than that of their expressions")
            late.is_read = True
        return self.known.get(name)

    def end(self) -> None:
        """Raise NotPlainError if the program makes a call that no condition has."""
        self.order.end()
        for late in self._late.values():
            _check_read(late)

    def _literal(self, node: Node) -> Any:
        """Return the value of an expression, which later statements do not change."""
        return self._copier.copied(value(node, self.known))

    def checks(self, node: Node) -> list[Check]:
        """Return the checks that a condition makes. Raises NotPlainError if it makes others as well."""
        node = self._resolved(node)
        if node.kind == "binary":
            return self._binary(node)
        if node.kind == "unary" and node.text == "!":
            inner = self.checks(node.parts[0])
            if len(inner) != 1:
                raise NotPlainError("'!' of several conditions")
            return [replace(inner[0], negated=not inner[0].negated)]
        if node.kind != "call":
            raise NotPlainError(f"a {node.kind} is no condition")
        function, *given = node.parts
        name = name_of(function)
        if len(given) == 2 and (name in _EQUAL or name in self.helpers):
            return [self.equal(given[0], given[1], self.helpers.get(name, Helper()), equality="deep strict")]
        if function.kind == "member" and function.text in ("equals", "eq") and len(given) == 1 and not self.is_script:
            receiver = function.parts[0]
            return [replace(self.equal(receiver, given[0]), is_receiver=self._may_be_null(receiver, given[0]))]
        return [Check(self._call(node), True, is_truth=True)]

    def _may_be_null(self, receiver: Node, other: Node) -> bool:
        """Return whether the receiver of `equals` in Java is a result that is null if the driver writes null."""
        is_optional = other.kind == "call" and name_of(other.parts[0]).startswith("Optional.")
        if self.language != "java" or other.kind == "name" or is_optional:
            return False
        try:
            value(receiver, self.known)
        except NotPlainError:
            return True
        return False

    def asserted(self, one: Node, other: Node, equality: str) -> Check:
        """Return the check of an assertion that two expressions are equal.

        Args:
            one: an expression.
            other: an expression.
            equality: of the assertion, unless the program uses `assert.strict`.
        """
        return self.equal(one, other, equality=_STRICT.get(equality, equality) if self.is_strict else equality)

    def equal(self, one: Node, other: Node, helper: Helper | None = None, *, equality: str = "") -> Check:
        """Return the check that two expressions are equal, of which one is a call and one a literal.

        Args:
            one: an expression.
            other: an expression.
            helper: what compares them.
            equality: which equality it is, in JavaScript.
        """
        helper = helper or Helper()
        left, right = self._resolved(one), self._resolved(other)
        if left.kind == right.kind == "call" and name_of(left.parts[0]) == name_of(right.parts[0]) in _SAME_TEXT:
            left, right = left.parts[1], right.parts[1]
            equality = "json"
        try:
            call, literal = self._call(left), right
        except NotPlainError:
            call, literal = self._call(right), left
        expected = self._literal(literal)
        self.order.check_literal(literal, self.known)
        self.order.check_result(expected)
        if self.is_script:
            return self._of_script(call, expected, equality)
        return Check(
            call, table(expected) if helper.is_table and isinstance(expected, list) else expected, helper.tolerance
        )

    def _of_script(self, call: Call, expected: Any, equality: str) -> Check:
        is_reference = isinstance(expected, list | dict) and script_equality.TAG not in expected
        if is_reference and equality not in _BY_VALUE:
            raise NotPlainError("an array or object equals itself only")
        return Check(replace(call, asks="json") if equality == "json" else call, expected, equality=equality)

    def _binary(self, node: Node) -> list[Check]:
        left, right = node.parts
        if node.text == "&&":
            return [*self.checks(left), *self.checks(right)]
        if node.text in ("==", "===", "!=", "!=="):
            equality = node.text.replace("!=", "==")
            return [replace(self.equal(left, right, equality=equality), negated=node.text[0] == "!")]
        if node.text in ("<", "<=", ">", ">="):
            near = self._near(left, right, includes_bound=node.text in ("<=", ">"))
            return [replace(near, negated=node.text[0] == ">")]
        raise NotPlainError(f"{node.text} is no condition")

    def _near(self, left: Node, right: Node, *, includes_bound: bool) -> Check:
        left = self._resolved(left)
        while left.kind == "member" and left.text == "abs":
            left = left.parts[0]
        given = left.parts[-1] if left.kind == "call" else left
        if left.kind == "call" and left.parts[0].kind == "member" and left.parts[0].text == "abs":
            name, given = "abs", left.parts[0].parts[-1] if len(left.parts) == 1 else left.parts[1]
        else:
            name = name_of(left.parts[0]) if left.kind == "call" else ""
        tolerance = value(right, self.known)
        if (
            name not in _ABSOLUTE
            or given.kind != "binary"
            or given.text != "-"
            or not isinstance(tolerance, int | float)
        ):
            raise NotPlainError("a comparison that is not one of a difference")
        check = self.equal(given.parts[0], given.parts[1], equality="==")
        if isinstance(check.expected, bool) or not isinstance(check.expected, int | float):
            raise NotPlainError("a difference from something else than a number")
        bound = float(tolerance) if includes_bound else math.nextafter(tolerance, 0)
        return replace(check, expected=float(check.expected), tolerance=bound)

    def _resolved(self, node: Node) -> Node:
        """Return the expression behind a name, and behind calls that change no value."""
        seen = 0
        while seen < 100:
            seen += 1
            if node.kind == "name" and isinstance(self.known.get(node.text), Node):
                node = self.expression(node.text)
            elif (
                node.kind == "call"
                and len(node.parts) == 1
                and node.parts[0].text in _UNCHANGED
                and node.parts[0].parts
            ):
                node = node.parts[0].parts[0]
            elif node.kind == "call" and node.text == "cast" and node.parts[1].kind == "call":
                raise NotPlainError("a cast of a result")
            else:
                return node
        raise NotPlainError("a name means itself")

    def _call(self, node: Node) -> Call:
        """Return a call of the submission whose result is compared. Raises NotPlainError for anything else."""
        if self.order.is_bound(node):
            return self.order.compare(node)
        call = self._made(node)
        self.order.call()
        return call

    def _made(self, node: Node) -> Call:
        """Return a call of the submission. Raises NotPlainError if it is not one with literal arguments."""
        if node.kind != "call" or node.text:
            raise NotPlainError(f"a {node.kind} is not a call of the submission")
        written, *given = node.parts
        function = self._resolved(written)
        name, number = function.text, 0
        if function.kind == "member":
            name, number = self._method(function, is_named=written is not function)
        elif function.kind != "name" or "::" in name.removeprefix("Solution::"):
            raise NotPlainError("a function that has no name")
        name = name.rpartition("::")[2]
        if name.rpartition(".")[2] in self.own or name in _BUILT_IN:
            raise NotPlainError(f"{name} is a function of the test program")
        args = [self._literal(part) for part in given]
        self.order.lend(given, self.known)
        return Call(name, args, asks="value", object=number)

    def _method(self, function: Node, *, is_named: bool) -> tuple[str, int]:
        """Return the name of a method, with that of its class unless this is `Solution`, and the number of its object.

        Args:
            function: the member.
            is_named: a variable has the method.

        Raises:
            NotPlainError: the driver cannot make the object.
        """
        written = function.parts[0]
        owner = self._resolved(written)
        made = owner if owner.kind == "new" else None
        if owner.kind == "name" and (self.language == "cpp" or owner.text in self.known):  # of a class C++ has `::`
            raise NotPlainError(f"{owner.text} is a variable")
        if owner.kind == "call" and len(owner.parts) == 1 and self.language in _CALLS_CLASSES:  # Solution().f
            owner = owner.parts[0]
        if not (owner.kind in ("name", "new") and owner.text[:1].isupper() and owner.text not in _LIBRARY):
            raise NotPlainError(f"{name_of(function) or function.text} is not the submission's")
        if self.language not in _WITH_METHODS or (made is not None and made.parts):
            raise NotPlainError("an object that no driver makes")
        is_shared = made is not None and (is_named or written is not owner)
        name = function.text if owner.text == SOLUTION else f"{owner.text}.{function.text}"
        return name, self.order.number(owner) if is_shared else 0


def _check_read(late: _Late | None) -> None:
    if late and late.is_call and not late.is_read:
        raise NotPlainError("an expression with a call is not used")


def _has_call(node: Node) -> bool:
    return node.kind in ("call", "macro") or any(map(_has_call, node.parts))


_WITH_METHODS = {"cpp", "java", "javascript", "typescript"}  # the driver makes an object of the class
_CALLS_CLASSES = {"cpp", "javascript", "typescript"}
_LIBRARY = {
    "Math",
    "Arrays",
    "Collections",
    "Objects",
    "List",
    "Map",
    "Set",
    "JSON",
    "String",
    "Integer",
    "Object",
    "Number",
}
_BUILT_IN = {"abs", "fabs", "sizeof", "len", "string", "round", "pow", "max", "min", "sqrt", "String", "Number", "int"}
