"""The folder of a judge between two runs: what the host wrote and what a judge left is gone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_service.sandbox.judge_folder import FEEDBACK, JudgeFolder
from tests.conftest import need_firejail


@pytest.fixture
def folder() -> Iterator[JudgeFolder]:
    need_firejail()
    made = JudgeFolder()
    yield made
    made.close()


def names(folder: JudgeFolder) -> list[str]:
    with os.scandir(folder.fd) as entries:
        return [entry.name for entry in entries]


def content(folder: JudgeFolder, name: str) -> bytes:
    fd = os.open(name, os.O_RDONLY, dir_fd=folder.fd)
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


def leave(folder: JudgeFolder, name: str, text: bytes) -> None:
    """Write a file as a judge does."""
    fd = os.open(f"{FEEDBACK}/{name}", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=folder.fd)
    os.write(fd, text)
    os.close(fd)


def test_a_pass_replaces_the_files_and_keeps_the_feedback(folder: JudgeFolder) -> None:
    folder.fill({"input": b"1", "answer": b"2"})
    leave(folder, "state", b"kept")
    folder.fill({"input": b"3"})
    assert (content(folder, "input"), content(folder, "answer")) == (b"3", b"2")
    assert folder.left() == {"state"}
    assert folder.feedback("state", 100) == b"kept"
    folder.remove("state")
    folder.remove("never")
    assert folder.left() == frozenset()


@pytest.mark.parametrize("left", [[], ["judgemessage.txt"], ["a", "b"]])
def test_nothing_of_a_run_is_there_in_the_next(folder: JudgeFolder, left: list[str]) -> None:
    folder.fill({"input": b"1", "answer": b"2"})
    for name in left:
        leave(folder, name, b"x")
    if left:
        os.mkdir(f"{FEEDBACK}/inner", dir_fd=folder.fd)
    folder.clear()
    folder.fill({"input": b"3"})
    assert content(folder, "input") == b"3"
    assert set(names(folder)) == {FEEDBACK, "input"}
    assert folder.left() == frozenset()


@pytest.mark.parametrize("after", [b"", b"1", b"12", b"13", b"123456", b"x" * (1 << 17)])
def test_a_file_has_the_content_of_its_run_whatever_was_there(folder: JudgeFolder, after: bytes) -> None:
    for before in (b"", b"12", b"x" * (1 << 17), b"12"):
        folder.fill({"input": before})
        folder.clear()
        folder.fill({"input": after})
        path = f"/proc/self/fd/{folder.fd}/input"
        assert (Path(path).read_bytes(), oct(Path(path).stat().st_mode & 0o777)) == (after, "0o444")
        folder.clear()


def test_no_descriptor_is_left(folder: JudgeFolder) -> None:
    folder.fill({"input": b"1"})
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(20):
        folder.fill({f"file{number}": b"1"})
        folder.clear()
    folder.fill({"input": b"1"})
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_folder_that_was_never_filled_is_clear(folder: JudgeFolder) -> None:
    folder.clear()
    assert folder.left() == frozenset()
    assert names(folder) == []


def test_an_empty_feedback_folder_is_not_listed(folder: JudgeFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.fill({"input": b"1"})
    leave(folder, "state", b"x")
    folder.remove("state")
    monkeypatch.setattr(os, "listdir", lambda _: pytest.fail("the folder was listed"))
    assert folder.left() == frozenset()
