"""Encoding and decoding of mathematical answers: a round trip preserves an answer, and malformed trees are refused."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

pytest.importorskip("math_verify", reason="pip install 'proctor[math]'")

from tests.guest import boxes  # noqa: F401 (puts the guest on the path)

import equality  # isort: skip
import latex_answers  # isort: skip
import trees  # isort: skip

TEXTS = [
    r"\frac{1}{2}", "0.5", "x^2+2x+1", r"1\pm\sqrt{2}", "(1,2)", r"[1,\infty)", r"\{1,2\}", "x=5", r"1<x\le 2", "2+3i",
    r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"(-\infty,2)\cup(3,4]", "f(x)=x+1", "9^{9^9}", "100!", r"\log_2 8",
]  # fmt: skip

NO_TREES: list[Any] = [
    None, 5, "x", [], {}, [[]], ["x"], ["x", 5], ["x", "zz"], ["x", "1", "0"], ["x", "-" * 9], ["s"], ["s", "x" * 61],
    ["s", "<Pow('Integer(9)',)>"], ["s", 5], ["s", "x\ny"], ["c", "nope"], ["c", []], ["eval", ["s", "x"]],
    ["Integral", ["s", "x"]], ["__import__", ["s", "os"]], ["sympify", ["s", "x"]], ["Lambda", ["s", "x"], ["s", "x"]],
    ["f", "__class__()", ["x", "1"]], ["f"], ["Matrix"], ["Matrix", [5]], ["Matrix", [[["x", "1"]] * 101]],
    ["Matrix", [[["x", "1"]], []]], ["Pow", ["x", "2"]], ["Interval", ["x", "1"]], ["x", "f" * 5_000],
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_there_and_back(text: str) -> None:
    said = json.loads(json.dumps(latex_answers.read(text)))
    assert equality.difference(equality.Value(latex_answers.read(text)), equality.Value(said)) is None


@pytest.mark.parametrize("tree", NO_TREES)
def test_what_is_no_tree_is_refused(tree: Any) -> None:
    with pytest.raises(Exception):  # noqa: B017  (whatever it is, the referee calls the answer unreadable)
        trees.decode(tree)


def test_large_trees_are_refused_at_once() -> None:
    deep: Any = ["x", "1"]
    for _ in range(100):
        deep = ["Add", deep, ["x", "1"]]
    wide = ["Add", *[["s", "x"]] * 5_000]
    for tree in (deep, wide):
        with pytest.raises(trees.ForeignNodeError, match="too large"):
            trees.decode(tree)


@pytest.mark.parametrize(
    "tree",
    [
        ["Pow", ["x", "9"], ["Pow", ["x", "9"], ["x", "9"]]],
        ["Pow", ["Pow", ["x", "2"], ["x", "1", "2"]], ["x", "f" * 20]],
        ["Pow", ["Mul", ["x", "3"], ["s", "x"]], ["x", "f" * 20]],
        ["factorial", ["factorial", ["x", "ff"]]],
        ["binomial", ["x", "ffffff"], ["x", "ffff"]],
        ["gamma", ["x", "ffffffff"]],
    ],
)
def test_what_is_too_large_to_be_written_down_is_not_computed(tree: Any) -> None:
    begin = time.process_time()
    value = trees.decode(tree)
    assert time.process_time() - begin < 1
    assert value == trees.decode(tree)
    assert value.free_symbols


def test_nothing_but_text_and_numbers_passes() -> None:
    """Encoding makes only JSON values."""
    for text in TEXTS:
        assert latex_answers.read(text) == json.loads(json.dumps(latex_answers.read(text)))
