"""Evaluates literal values of six languages to plain ones."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

from sandbox_service.languages.assertions.expressions import MUTABLY, Node
from sandbox_service.languages.assertions.script_equality import TAG, UNDEFINED, big_integer
from sandbox_service.languages.assertions.tokens import NotPlainError

_CONSTANTS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "nil": None, "None": None, "undefined": UNDEFINED, "nullptr": None,
    "std::nullopt": None, "nullopt": None, "NULL": None, "INT_MAX": 2**31 - 1, "INT_MIN": -(2**31),
    "i32::MAX": 2**31 - 1, "i32::MIN": -(2**31), "i64::MAX": 2**63 - 1, "i64::MIN": -(2**63),
    "LLONG_MAX": 2**63 - 1, "LLONG_MIN": -(2**63),
}  # fmt: skip
_MEMBERS = {
    "Integer.MAX_VALUE": 2**31 - 1, "Integer.MIN_VALUE": -(2**31), "Long.MAX_VALUE": 2**63 - 1,
    "Long.MIN_VALUE": -(2**63), "math.MaxInt32": 2**31 - 1, "math.MinInt32": -(2**31), "math.MaxInt64": 2**63 - 1,
    "math.MinInt64": -(2**63), "Number.MAX_SAFE_INTEGER": 2**53 - 1,
}  # fmt: skip
_MOST_DIGITS = 4000  # of a bigint: Python converts no more than 4,300 at once
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9.]+(?:[eE][+-]?\d+)?)(.*)")

# functions that return their argument, as a value of another type: a text, any, a list or table, an integer
_TEXT_OF = {"string", "std::string", "String::from", "str", "String"}
_SAME = {"Some", "std::optional", "optional", "Optional.of", "Optional.ofNullable", "std::make_optional", "Box::new"}
_COPIES = {
    "List.copyOf", "ArrayList", "LinkedList", "std::vector", "vector", "list", "std::list", "deque", "std::deque",
    "array", "std::array", "Vec::from", "LinkedHashMap", "TreeMap", "HashMap",
}  # fmt: skip
_INTEGERS = {
    "int", "int32", "int64", "long", "Integer.valueOf", "Long.valueOf", "BigInt", "Integer", "Long", "rune",
}  # fmt: skip
_FLOATS = {"float64", "double", "Double", "Double.valueOf"}
_SINGLE = {"float", "float32", "Float"}
_LISTS = {
    "Arrays.asList", "List.of", "std::make_tuple", "make_tuple", "std::make_pair", "make_pair", "std::tuple", "tuple",
    "std::pair", "pair",
}  # fmt: skip
_EMPTY = {
    "ArrayList", "LinkedList", "List.of", "Arrays.asList", "Collections.emptyList", "Vec::new", "std::vector", "vector",
    "list", "std::list", "Array",
}  # fmt: skip
_NOTHING = {"Optional.empty", "std::optional", "optional"}
_EMPTY_TABLES = {"HashMap", "TreeMap", "LinkedHashMap", "Map.of", "HashMap::new", "BTreeMap::new", "std::map", "map"}
_TABLES = {
    "std::map", "map", "unordered_map", "std::unordered_map", "HashMap::from", "BTreeMap::from", "HashMap::from_iter",
}  # fmt: skip
_TEXTS = {"to_string", "to_owned", "into", "to_vec", "clone", "iter", "as_str", "as_slice"}
_CASTS_TO_FLOAT = re.compile(r"(?:float|Float)\b")
_CASTS_TO_DOUBLE = re.compile(r"(?:double|Double)\b")


def name_of(node: Node) -> str:
    """Return the dotted name that an expression is; empty if it is none."""
    if node.kind == "name":
        return node.text
    if node.kind == "member" and (owner := name_of(node.parts[0])):
        return f"{owner}.{node.text}"
    return ""


def single(number: float) -> float:
    """Return the nearest number of single precision."""
    try:
        found: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return found


def value(node: Node, known: Mapping[str, Any]) -> Any:
    """Return the plain value of a literal expression.

    Args:
        node: the expression.
        known: values of variables.

    Raises:
        NotPlainError: it is no literal.
    """
    read = _READERS.get(node.kind)
    if read is None:
        raise NotPlainError(f"a {node.kind} is not a literal")
    return read(node, known)


def table(pairs: Any) -> dict[str, Any]:
    """Return pairs as a dict whose keys are text, as JSON has it. Raises NotPlainError."""
    found: dict[str, Any] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list | dict | float | None):
            raise NotPlainError("not a table of pairs")
        key = str(pair[0]).lower() if isinstance(pair[0], bool) else str(pair[0])
        found[key] = pair[1]
    return found


def _number(node: Node, known: Mapping[str, Any]) -> Any:  # noqa: ARG001
    match = _NUMBER.fullmatch(node.text.replace("_", ""))
    if match is None:
        raise NotPlainError(f"{node.text} is not a number")
    digits, suffix = match[1], match[2].lower()
    if suffix == "n":
        if not digits.isdigit() or len(digits) > _MOST_DIGITS:
            raise NotPlainError("a bigint that is not written in digits, or too long")
        return big_integer(digits)
    if suffix in ("f", "f32"):
        return float(digits)
    if suffix in ("", "l", "ll", "u", "ul", "ull", "d") or re.fullmatch(r"[iu](?:\d+|size)|f64", suffix):
        if digits[:2] in ("0x", "0X"):
            return int(digits, 16)
        is_real = "." in digits or "e" in digits.lower() or suffix in ("d", "f64")
        if not is_real and len(digits) > 1 and digits[0] == "0":
            raise NotPlainError("an octal number")
        return float(digits) if is_real else int(digits)
    raise NotPlainError(f"{node.text} is not a number")


def _name(node: Node, known: Mapping[str, Any]) -> Any:
    if node.text in known and not isinstance(known[node.text], Node):
        return known[node.text]
    if node.text in _CONSTANTS:
        return _CONSTANTS[node.text]
    raise NotPlainError(f"{node.text} is not a literal")


def _list(node: Node, known: Mapping[str, Any]) -> Any:
    if any(part.kind == "entry" for part in node.parts) or node.text == "map":
        return table([_entry(part, known) for part in node.parts])
    return [value(part, known) for part in node.parts]


def _entry(node: Node, known: Mapping[str, Any]) -> list[Any]:
    if node.kind != "entry":
        raise NotPlainError("a table has something else in it")
    key, held = node.parts
    name = key.text if key.kind == "name" and key.text not in known else value(key, known)
    if name == TAG:
        raise NotPlainError(f"{TAG} marks what JSON lacks")
    return [name, value(held, known)]


def _unary(node: Node, known: Mapping[str, Any]) -> Any:
    operand = value(node.parts[0], known)
    if node.text == MUTABLY:
        return operand
    if node.text == "!":
        if not isinstance(operand, bool):
            raise NotPlainError("! of a value")
        return not operand
    if isinstance(operand, bool) or not isinstance(operand, int | float):
        raise NotPlainError(f"{node.text} of a value")
    if node.text == "+":
        return operand
    return -operand or -0.0  # JavaScript tells it from 0


def _binary(node: Node, known: Mapping[str, Any]) -> Any:
    left, right = (value(part, known) for part in node.parts)
    if node.text == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right
    plain = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (left, right))
    if not plain or node.text not in ("+", "-", "*", "/"):
        raise NotPlainError(f"{node.text} of values")
    if node.text == "/":
        if not right or (isinstance(left, int) and isinstance(right, int)):
            raise NotPlainError("a division of integers")
        return left / right
    return {"+": left + right, "-": left - right, "*": left * right}[node.text]


def _call(node: Node, known: Mapping[str, Any]) -> Any:
    function, *parts = node.parts
    if node.text == "cast":
        return _cast(function.text, value(parts[0], known))
    if function.kind == "member" and function.text in _TEXTS and not parts:
        return value(function.parts[0], known)
    return _made(name_of(function), [value(part, known) for part in parts])


def _cast(kind: str, given: Any) -> Any:
    if _CASTS_TO_FLOAT.match(kind) or _CASTS_TO_DOUBLE.match(kind):
        return float(given) if isinstance(given, int) else given
    if re.match(r"(?:std ?:: ?|unordered_)*map\b", kind):
        return table(given)
    if isinstance(given, float) or (
        isinstance(given, str) and not re.match(r"(?:const )?(?:std::)?(?:str|Str|Obj)", kind)
    ):
        raise NotPlainError(f"a cast to {kind}")
    return given


def _made(name: str, given: list[Any]) -> Any:
    name = name.removeprefix("java.util.")
    if not given and name in _EMPTY:
        return []
    if not given and name in _NOTHING:
        return None
    if not given and name in _EMPTY_TABLES:
        return {}
    if name in _LISTS:
        return given
    if name in _TABLES and len(given) == 1:
        return table(given[0]) if isinstance(given[0], list) else given[0]
    if name == "Map.of" and len(given) % 2 == 0:
        return table([list(pair) for pair in zip(given[::2], given[1::2], strict=True)])
    if name in _FLOATS | _SINGLE and len(given) == 1 and isinstance(given[0], int | float):
        return float(given[0])
    if len(given) == 1 and _is_kept(name, given[0]):
        return given[0].copy() if name in _COPIES else given[0]
    raise NotPlainError(f"{name or 'a call'} does not make a literal")


def _is_kept(name: str, given: Any) -> bool:
    """Return whether a function of this name returns this argument as it is."""
    if name in _TEXT_OF:
        return isinstance(given, str)
    if name in _COPIES:
        return isinstance(given, list | dict)
    return name in _SAME or (name in _INTEGERS and isinstance(given, int) and not isinstance(given, bool))


def _new(node: Node, known: Mapping[str, Any]) -> Any:
    return _made(node.text, [value(part, known) for part in node.parts])


def _macro(node: Node, known: Mapping[str, Any]) -> Any:
    if node.text != "vec":
        raise NotPlainError(f"{node.text}! does not make a literal")
    parts = node.parts
    if len(parts) == 3 and parts[1] == Node("name", ";"):
        count = value(parts[2], known)
        if not isinstance(count, int) or not 0 <= count <= 100_000:
            raise NotPlainError("a list of unknown length")
        return [value(parts[0], known)] * count
    return [value(part, known) for part in parts]


def _member(node: Node, known: Mapping[str, Any]) -> Any:  # noqa: ARG001
    name = name_of(node)
    if name not in _MEMBERS:
        raise NotPlainError(f"{name or 'a member'} is not a literal")
    return _MEMBERS[name]


_READERS: dict[str, Callable[[Node, Mapping[str, Any]], Any]] = {
    "number": _number,
    "text": lambda node, known: node.text,  # noqa: ARG005
    "char": lambda node, known: node.text,  # noqa: ARG005
    "name": _name,
    "list": _list,
    "tuple": lambda node, known: [value(part, known) for part in node.parts],
    "unary": _unary,
    "binary": _binary,
    "call": _call,
    "new": _new,
    "macro": _macro,
    "member": _member,
}
