"""A pickle in a data set is disassembled and cannot run anything."""

from __future__ import annotations

import base64
import os
import pickle
import time
import zlib
from pathlib import Path

import pytest

from sandbox_service.formats.unpacking import packed_text, packed_value
from tests.validation.sources.published import packed


def raw(pickled: bytes) -> str:
    return base64.b64encode(zlib.compress(pickled)).decode()


class Malicious:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("text", ["[]", "", "ä€🙂", "x" * 300, "line\nline\\u0041"])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_text_comes_out_of_any_protocol(text: str, protocol: int) -> None:
    assert packed_text(raw(pickle.dumps(text, protocol))) == text


def test_nothing_is_called(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\(STACK_GLOBAL\)"):
        packed_text(packed(Malicious(tmp_path / "made")))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("found", [["[]"], 3, None, {"a": "b"}, ("a", "b")], ids=repr)
def test_anything_but_a_text_is_no_text(found: object) -> None:
    with pytest.raises(ValueError, match="should be text"):
        packed_text(packed(found))


ASSERTS = ["assert add(1, 2) == 3", "assert add(0, 0) == 0"]
CASES = [{"input": f"{number}\n", "output": str(number)} for number in range(3)]
PLAIN = [
    ASSERTS,
    CASES,
    [],
    {},
    ([1, -2, 2**40, 2**200], (1,), (1, 2), (1, 2, 3, 4), ()),
    {"a": [None, True, False, 1.5, "ä🙂"], "b": {"c": {}}},
    ["same"] * 5,
]


@pytest.mark.parametrize("found", PLAIN, ids=lambda found: repr(found)[:30])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_come_out_of_any_protocol(found: object, protocol: int) -> None:
    assert packed_value(raw(pickle.dumps(found, protocol))) == found


@pytest.mark.parametrize(
    "found",
    [b"[]", {"a"}, [b"x"], [pickle.PickleBuffer], [1j], [Path("x")], bytearray(b"x"), object()],
    ids=lambda each: type(each).__name__,
)
def test_what_is_not_plain_is_refused(found: object) -> None:
    with pytest.raises(ValueError, match="not unpickled"):
        packed_value(packed(found))


def nested(depth: int) -> list[object]:
    found: list[object] = []
    for _ in range(depth):
        found = [found]
    return found


def laughs() -> list[object]:
    """Return ten nested lists, each of which contains the one before ten times."""
    found: list[object] = ["ha"] * 10
    for _ in range(10):
        found = [found] * 10
    return found


def itself() -> list[object]:
    found: list[object] = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("bomb", "words"),
    [
        (raw(pickle.dumps(nested(100))), "nested more than"),
        (raw(b"]" * 200_000 + b"a" * 199_999 + b"."), "nested more than"),
        (raw(pickle.dumps(laughs())), "repeats a container"),
        (raw(pickle.dumps(itself())), "repeats a container"),
        (raw(pickle.dumps(["x" * 100_000] * 100)), "repeats values until"),
        (raw(pickle.dumps("0" * 5_000_000)), "more than 1000000 bytes"),
        (raw(b"(" + b"N" * 600_000 + b"l."), "more than 500000 steps"),
        (raw(pickle.dumps(1 << 100_000)), "more than 8192 bits"),
    ],
    ids=lambda given: given[:20],
)
def test_bombs_are_refused_at_once(bomb: str, words: str) -> None:
    begin = time.process_time()
    with pytest.raises(ValueError, match=words):
        packed_value(bomb, most_bytes=1_000_000)
    assert time.process_time() - begin < 10


@pytest.mark.parametrize(
    "pickled",
    [
        b"(.",
        b"((l.",
        b"(\x85.",
        b"a.",
        b"s.",
        b"e.",
        b"}(Ne.",
        b"}(Nu.",
        b"](NNa.",
        b"N(Ke.",
        b"h\x00.",
        b"}]Ns.",
        b"NN.",
        b"(",
    ],
    ids=repr,
)
def test_what_makes_no_sense_is_refused(pickled: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        packed_value(raw(pickled))


@pytest.mark.parametrize(
    "packed",
    [
        "no base 64!",
        base64.b64encode(b"no zlib").decode(),
        raw(b""),
        raw(b"."),
        raw(b"X\xff\xff\xff\xff."),
        raw(b"\xee"),
    ],
)
def test_what_is_no_pickle_is_refused(packed: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        packed_text(packed)


def test_a_memo_of_two_billion_places_costs_nothing() -> None:
    assert packed_text(raw(b"\x80\x02X\x01\x00\x00\x00ar\xff\xff\xff\x7f.")) == "a"


def test_what_unpacks_to_too_much_is_refused() -> None:
    bomb = packed("0" * 5_000_000)
    assert len(bomb) < 10_000
    with pytest.raises(ValueError, match="more than 1000000 bytes"):
        packed_text(bomb, most_bytes=1_000_000)


def test_what_is_cut_off_is_refused() -> None:
    whole = zlib.compress(pickle.dumps("x" * 1000))
    with pytest.raises(ValueError, match="truncated"):
        packed_text(base64.b64encode(whole[:-6]).decode())
