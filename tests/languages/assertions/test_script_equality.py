"""Results of JavaScript against literals, as node itself compares them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
from pydantic import JsonValue

from sandbox_service.grading.programs import difference
from sandbox_service.languages import drivers
from sandbox_service.languages.assertions.conditions import Check
from sandbox_service.languages.assertions.programs import checks
from sandbox_service.languages.assertions.tokens import NotPlainError
from sandbox_service.languages.drivers.values import Asks
from tests.languages.toolchains import need

PRIMITIVES = (
    "1", '"1"', "true", "false", "0", "-0", '""', '" 1 "', "null", "undefined", "NaN", "1n", "0n", "1e21",
)  # fmt: skip
VALUES = (
    *PRIMITIVES, "[]", "[1]",
    '["1"]', "[1, 2]", "[null]", "[undefined]", "[, 1]", "[1n]", "[-0]", "[[1], []]", "({})", "({ a: 1 })",
    "({ b: 2, a: 1 })", "({ 2: 1, 1: 2 })", "({ a: undefined })", "({ get a() { return 1; } })", "new Number(1)",
    "new Uint8Array([1])", "new Set([1])", 'new Map([["a", 1]])', "new (class { a = 1; })()", "Object.create(null)",
    "new (class extends Array {})(1, 2)", "Object.assign([1], { x: 1 })", "({ a: 1, [Symbol.iterator]: 1 })",
    "Promise.resolve(1)", "() => 1", 'Symbol("a")', "new Date(0)", "({ val: 1, next: null })", "[new Set([1])]",
    '({ __js__: "undefined", own: null })', '[({ __js__: "bigint", own: "1" })]',
)  # fmt: skip
LITERALS = (
    "1", '"1"', "true", "false", "0", "-0", '""', "null", "undefined", "1n", "2.5", "1e21", "[]", "[1]", '["1"]',
    "[1, 2]", "[null]", "[undefined]", "[0]", "[[1], []]", "{}", "{ a: 1 }", '{ "a": "1" }', "{ a: 1, b: 2 }",
    "{ 1: 2, 2: 1 }", "{ a: undefined }",
)  # fmt: skip
FORMS = (
    "assert(f() == {});", "assert(f() != {});", "assert(f() === {});", "assert(!(f() === {}));",
    "assert.equal(f(), {});", "assert.strictEqual(f(), {});", "assert.deepEqual(f(), {});",
    "assert.deepStrictEqual(f(), {});", "assert(JSON.stringify(f()) === JSON.stringify({}));",
    "if (f() !== {}) throw new Error();",
)  # fmt: skip
OTHERS = ("assert(f());", "assert(!f());", "assert(Math.abs(f() - 1) < 1);", "assert(Math.abs(f() - 2) >= 1);")
ASKED = """
const assert = require("node:assert");
Error.stackTraceLimit = 0;
const [values, tests] = JSON.parse(require("fs").readFileSync(0));
const passes = (value, code) => {
  try { new Function("assert", "f", code)(assert, () => value); return true; } catch { return false; }
};
console.log(JSON.stringify(values.map((each) => tests.map((code) => passes((0, eval)("(" + each + ")"), code)))));
"""


def _programs() -> Iterator[tuple[str, Check]]:
    for code in [form.replace("{}", literal) for form in FORMS for literal in LITERALS] + [*OTHERS]:
        try:
            [check] = checks(code, "javascript")
        except NotPlainError:
            continue
        yield code, check


def _node(program: str, given: bytes) -> bytes:
    return subprocess.run(["node", "-e", program], input=given, capture_output=True, timeout=30, check=False).stdout


def _lines(source: str, calls: list[drivers.Call]) -> tuple[bytes, ...]:
    """Return what the driver writes of the calls' results."""
    driven = drivers.driven("javascript", source, calls)
    program = driven.text.replace('eval("require")', "require")
    return tuple(drivers.decode(b"token", _node(program, driven.stdin(b"token", calls))).lines)


def _results() -> list[dict[str, bytes]]:
    """Return what the driver writes of each value, by the way in which it is asked."""
    source = "".join(f"const f{index} = () => ({value});\n" for index, value in enumerate(VALUES))
    asked: list[tuple[int, Asks]] = [(index, "value") for index in range(len(VALUES))]
    asked += [
        (index, "json") for index, value in enumerate(VALUES) if "n" not in value[-2:]
    ]  # JSON.stringify(1n) throws
    calls = [drivers.Call(f"f{index}", asks=asks) for index, asks in asked]
    lines = _lines(source, calls)
    found: list[dict[str, bytes]] = [{"value": b"", "json": b""} for _ in VALUES]
    for (index, asks), line in zip(asked, lines, strict=True):
        found[index][asks] = line
    return found


def test_results_are_compared_as_node_does() -> None:
    need("javascript")
    programs = dict(_programs())
    assert len(programs) > 150
    verdicts = json.loads(_node(ASKED, json.dumps([VALUES, [*programs]]).encode()))
    for value, results, passed in zip(VALUES, _results(), verdicts, strict=True):
        for (code, check), passes in zip(programs.items(), passed, strict=True):
            is_right = difference(check, results[check.call.asks], "javascript") is None
            assert passes or not is_right, f"{value} passes {code}"
            # a conversion of an object to a number or a text is refused
            assert is_right or not passes or (check.equality == "==" and value not in PRIMITIVES), (
                f"{value} fails {code}"
            )


UNREADABLE = [b"", b"{", b"[1", b'{"a":1,"a":1}', b"7" * 100_000 + b"]", b"[" * 100_000]
OWN = (b"[]", b"null", b"1e999", b"NaN", b"1.5", b'"x"', b'"1%s"' % (b"0" * 5000))
FORGED = [b'{"__js__":"bigint","own":%s}' % own for own in OWN]


@pytest.mark.parametrize("line", [*UNREADABLE, *FORGED, *(b"[%s]" % line for line in FORGED)])
def test_what_cannot_be_read_equals_nothing(line: bytes) -> None:
    for equality in ("==", "===", "deep", "json"):
        check = Check(drivers.Call("f", asks="value"), 1, equality=equality)
        assert difference(check, line, "javascript") is not None


@pytest.mark.parametrize(
    "literal", ["0x1fn", "1" * 5000 + "n", '{ __js__: "undefined", own: null }', "[{ __js__: 1 }]"]
)
def test_a_literal_that_would_be_misread_is_not_plain(literal: str) -> None:
    with pytest.raises(NotPlainError):
        checks(f"assert.deepEqual(f(), {literal});", "javascript")


def test_an_argument_of_a_call_test_is_what_it_says() -> None:
    need("javascript")
    given: dict[str, JsonValue] = {"__js__": "undefined", "own": None}
    [line] = _lines("const f = (x) => x;", [drivers.Call("f", [given])])
    assert json.loads(line) == given
