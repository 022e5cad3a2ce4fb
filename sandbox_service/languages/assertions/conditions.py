"""Reads conditions of test programs as calls of the submission with an expected result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sandbox_service.languages.assertions import script_equality
from sandbox_service.languages.assertions.expressions import Node
from sandbox_service.languages.assertions.literals import name_of, table, value
from sandbox_service.languages.assertions.tokens import NotPlainError
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
    """

    call: Call
    expected: Any
    tolerance: float | None = None
    negated: bool = False
    is_truth: bool = False
    equality: str = ""


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
        is_script: the language is JavaScript or TypeScript.
        is_strict: their functions `equal` and `deepEqual` are those of `assert.strict`.
    """

    def __init__(self, helpers: Mapping[str, Helper], own: Iterable[str], *, is_script: bool = False) -> None:
        self.known: dict[str, Any] = {}
        self.helpers = helpers
        self.own = frozenset(own)
        self.is_script = is_script
        self.is_strict = False

    def bind(self, name: str, node: Node) -> None:
        """Remember the value of a variable, or else its expression.

        Args:
            name: the variable.
            node: what is assigned to it.
        """
        try:
            self.known[name] = value(node, self.known)
        except NotPlainError:
            self.known[name] = self._resolved(node)

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
            return [self.equal(function.parts[0], given[0])]
        return [Check(self._call(node), True, is_truth=True)]

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
        expected = value(literal, self.known)
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
                node = self.known[node.text]
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
        """Return a call of the submission. Raises NotPlainError if it is not one with literal arguments."""
        if node.kind != "call" or node.text:
            raise NotPlainError(f"a {node.kind} is not a call of the submission")
        function, *given = node.parts
        function = self._resolved(function)
        name = function.text
        if function.kind == "member":
            owner = self._resolved(function.parts[0])
            if owner.kind == "call" and len(owner.parts) == 1:  # Solution().f
                owner = owner.parts[0]
            if not (owner.kind in ("name", "new") and owner.text[:1].isupper() and owner.text not in _LIBRARY):
                raise NotPlainError(f"{name_of(function) or function.text} is not the submission's")
        elif function.kind != "name" or "::" in name.removeprefix("Solution::"):
            raise NotPlainError("a function that has no name")
        name = name.rpartition("::")[2]
        if name in self.own or name in _BUILT_IN:
            raise NotPlainError(f"{name} is a function of the test program")
        return Call(name, [value(part, self.known) for part in given], asks="value")


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
