"""Checker programs that a built-in checker replaces, and the built-in checkers for words in any order and yes or no."""

from __future__ import annotations

import pytest

from sandbox_service.judging import standard_checkers
from sandbox_service.judging.checkers import check
from sandbox_service.schema import Checker, JudgeProgram

SOURCE = """#include "testlib.h"
int main(int argc, char *argv[]) { // compares
    setName("compare two words");
    quitf(ans.readToken() == ouf.readToken() ? _ok : _wa, "the %s words", "two");
}
"""


def program(source: str, **fields: object) -> JudgeProgram:
    return JudgeProgram.model_validate({"type": "program", "language": "cpp", "source": source, **fields})


def test_comments_layout_and_messages_do_not_matter_and_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Checker(type="tokens")
    monkeypatch.setitem(standard_checkers.KNOWN, standard_checkers.hash_of(SOURCE), ("two", tokens))
    other = SOURCE.replace("// compares", "/* looks\n at both */").replace("the %s", "all %s").replace("    ", "\t")
    assert standard_checkers.known(program(other)) == ("two", tokens)
    assert standard_checkers.known(program(SOURCE.replace("==", "!="))) is None
    assert standard_checkers.known(program(SOURCE.replace('"two"', '"three"'))) is None  # not a message
    assert standard_checkers.known(program(SOURCE, arguments=["-x"])) is None
    assert standard_checkers.known(program(SOURCE, protocol="kattis")) is None


@pytest.mark.parametrize(
    ("output", "expected", "is_right"),
    [
        (b"1\v2", "1 2", False),
        (b"1\f2", "1 2", False),
        (b"1 2\f", "1 2", False),
        (b"\v", "", False),
        (b"1\v2", "1\v2", True),
        (b"1\t2\r\n", "1 2", True),
        (b"\xef\xbb\xbf1", "1", True),
        (b"1 \xef\xbb\xbf2", "1 2", False),
        (b"1\xff", "1", False),
        (b"1\0", "1", False),
    ],
)
def test_outputs_are_read_as_testlib_reads_them(output: bytes, expected: str, is_right: bool) -> None:
    """The verdicts are those of wcmp, compiled with testlib."""
    assert (standard_checkers.check(Checker(type="tokens"), output, [expected]) is None) == is_right


@pytest.mark.parametrize(
    ("kind", "output", "expected", "is_right"),
    [
        ("yes_no", b"yes\nNo", b"YES NO", True),
        ("yes_no", b"yes", b"NO", False),
        ("yes_no", b"yes yes", b"YES", False),
        ("yes_no", b"", b"YES", False),
        ("yes_no", b"maybe", b"maybe", False),  # the test itself is bad
        ("unordered_tokens", b"3 1\n2 2", b"1 2 2 3", True),
        ("unordered_tokens", b"3 1 2", b"1 2 2 3", False),
        ("unordered_tokens", b"1 2 3 3", b"1 2 2 3", False),
        ("unordered_tokens", b"", b"", True),
        ("token_lines", b" 1  2 \r\n\n \n3", b"\n1 2\n3\n", True),
        ("token_lines", b"1 2 3", b"1 2\n3\n", False),
        ("token_lines", b"1\n2\n3", b"1 2\n3\n", False),
        ("token_lines", b"1 2", b"1 2\n3\n", False),
        ("token_lines", b"1 2\n3\n4", b"1 2\n3\n", False),
        ("token_lines", b"", b"\n", True),
    ],
)
def test_built_in_checkers(kind: str, output: bytes, expected: bytes, is_right: bool) -> None:
    assert (check(Checker.model_validate({"type": kind}), output, expected) is None) == is_right


@pytest.mark.parametrize(
    ("kind", "output", "expected", "with_integers", "without"),
    [
        ("tokens", b"2000001", b"2000000", True, False),
        ("tokens", b"2000003", b"2000000", False, False),
        ("tokens", b"2000001.0", b"2000000", True, True),
        ("tokens", b"-1 x", b"1 x", False, False),
        ("tokens", b"1" + b"0" * 1999 + b"1", b"1" + b"0" * 2000, True, False),
        ("token_lines", b"2000001 x\n5", b"2000000 x\n5", True, False),
        ("token_lines", b"2000001\nx\n5", b"2000000 x\n5", False, False),
        ("token_lines", b"0.3333333", b"0.333333333", True, True),
        ("numbers", b"2000001", b"2000000", True, False),
    ],
)
def test_a_tolerance_may_be_for_integers_too(
    kind: str, output: bytes, expected: bytes, with_integers: bool, without: bool
) -> None:
    checker = Checker.model_validate({"type": kind, "float_tolerance": 1e-6})
    assert (check(checker, output, expected) is None) == without
    assert (check(checker.model_copy(update={"integers_too": True}), output, expected) is None) == with_integers
