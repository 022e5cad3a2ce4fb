"""A pickle in a data set can do nothing: it is listed, not run."""

from __future__ import annotations

import base64
import os
import pickle
import zlib
from pathlib import Path

import pytest

from sandbox_service.validation.sources.unpacking import packed_text
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
    with pytest.raises(ValueError, match="it has STACK_GLOBAL"):
        packed_text(packed(Malicious(tmp_path / "made")))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("found", [["[]"], b"[]", 3, None, {"a": "b"}, ("a", "b")], ids=repr)
def test_anything_but_a_text_is_refused(found: object) -> None:
    with pytest.raises(ValueError, match="not unpickled"):
        packed_text(packed(found))


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
    with pytest.raises(ValueError, match="cut off"):
        packed_text(base64.b64encode(whole[:-6]).decode())
