"""The messages between host and driver."""

from __future__ import annotations

import pytest

from sandbox_service.languages.drivers.values import Call, UnsupportedCallError, decode, encode

TOKEN = b"token"


def test_calls_are_lines() -> None:
    calls = [Call("f", [None, True, -5, 0.5, "é\n", [1], {"a": []}]), Call("C", (), [("C", [1]), ("get", [])])]
    assert encode(TOKEN, calls).decode().split("\n") == [
        *("token", "2", "call f 7", "n", "b1", "i-5", "d0.5", "s3", "é", "", "l1", "i1", "m1", "s1", "a", "l0"),
        *("class C 2", "C 1", "i1", "get 0", ""),
    ]


def test_results_are_told_from_what_is_printed() -> None:
    results = decode(TOKEN, b"printed\n=5 token=6\n\ntoken=[1]\nmore token")
    assert (results.lines, results.printed) == ([b"[1]"], b"printed\n=5 token=6\nmore token")


def test_a_result_that_was_cut_off_is_none() -> None:
    assert decode(TOKEN, b"\ntoken=1\n\ntoken=2").lines == [b"1"]


def test_faults_are_told() -> None:
    results = decode(TOKEN, b"\ntoken=1\n\ntoken?no\xff\n\ntoken!what\n")
    assert (results.lines, results.misfit) == ([b"1"], "no\ufffd")


def test_an_argument_that_is_too_deep_is_refused() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(UnsupportedCallError, match="too deep"):
        encode(TOKEN, [Call("f", [deep])])  # type: ignore[list-item]
    while deep:  # or else its end would recurse
        deep = deep[0]  # type: ignore[assignment]
