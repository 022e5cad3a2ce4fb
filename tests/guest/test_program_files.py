"""The source and the compiled form of a submission, and the words that are looked for in its text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandbox_service.sandbox import files
from tests.guest import boxes  # noqa: F401 (puts the guest on the path)

import _box  # isort: skip
import computed_names  # isort: skip
import descriptor_uses  # isort: skip

PIECES = [
    "os",
    "open",
    "FileIO",
    "format",
    "type",
    "open_code",
    "x.format(1)",
    "os.read(0)",
    "type(x)",
    " ",
    "(",
    ")",
    "1",
    "pos",
]


@pytest.fixture
def file() -> Iterator[int]:
    fd = files.create_sealable()
    yield fd
    os.close(fd)


def test_a_record_is_kept_once(file: int) -> None:
    assert _box.kept(file) is None
    _box.keep(file, b"Crecord")
    assert _box.kept(file) == b"record"
    _box.keep(file, b"Cother")
    assert _box.kept(file) == b"record", "it is sealed"
    with pytest.raises(PermissionError):
        os.write(file, b"x")


def test_what_is_not_sealed_was_not_written_by_a_box(file: int) -> None:
    os.write(file, b"N")
    assert _box.kept(file) == b""
    _box.keep(file, b"N")
    assert _box.kept(file) == b""


def test_a_file_that_cannot_be_written_is_told() -> None:
    with Path(os.devnull).open() as null, pytest.raises(OSError, match="descriptor"):
        _box.keep(null.fileno(), b"C")
    with pytest.raises(OSError, match="descriptor"):
        _box.kept(-1)


@pytest.mark.parametrize(
    ("content", "text"), [(b"", ""), (b"print(1)", "print(1)"), ("\ufeffé\n".encode(), "é\n"), (b"\xef\xbb", None)]
)
def test_a_source_is_utf8(file: int, content: bytes, text: str | None) -> None:
    os.write(file, content)
    if text is None:
        with pytest.raises(UnicodeDecodeError):
            _box.text_of(file)
    else:
        assert _box.text_of(file) == text


def test_words_are_found_by_group() -> None:
    groups = ("exec eval", "\n    yield\n    await\n", "")
    assert _box.words_in("", groups) == 0
    assert _box.words_in("an evaluation", groups) == 1
    assert _box.words_in("x = yield", groups) == 2
    assert _box.words_in("await exec", groups) == 3
    assert _box.words_in("é", groups) == 8
    with pytest.raises(TypeError):
        _box.words_in("x", (1,))  # type: ignore[arg-type]


@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text(st.characters(codec="ascii")))
@example("x" * 10)
def test_only_a_source_with_its_words_is_searched(text: str) -> None:
    """What is not searched is taken for harmless."""
    assert _box.words_in(text, (descriptor_uses.NEEDED,)) or not descriptor_uses.strays(text)
    assert _box.words_in(text, (computed_names.NEEDED,)) or not computed_names.may_compute(text)
