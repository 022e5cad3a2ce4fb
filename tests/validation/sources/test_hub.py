"""The hub is read row by row at a commit, with a stand-in for the library: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.validation import sources
from sandbox_service.validation.sources import optional_libraries
from tests.validation.sources.published import LIVECODEBENCH, TACO

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class DatasetsError(Exception):
    """Stands for the library's own errors, which are not OSErrors."""


class Library:
    """The used part of `datasets`; records its calls."""

    exceptions = SimpleNamespace(DatasetsError=DatasetsError)

    def __init__(self, rows: list[dict[str, Any]], trouble: Exception | None = None) -> None:
        self.rows, self.trouble = rows, trouble
        self.asked: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def load_dataset(self, *args: Any, **named: Any) -> Iterator[dict[str, Any]]:
        self.asked.append((args, named))
        return self._stream()

    def _stream(self) -> Iterator[dict[str, Any]]:
        yield from self.rows
        if self.trouble is not None:
            raise self.trouble


def unreachable(*_: str) -> None:
    raise ConfigurationError("not installed")


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library([TACO, TACO | {"question": ""}])
    monkeypatch.setattr(optional_libraries, "need", lambda *_: found)
    return found


def test_a_split_is_streamed_at_its_commit(library: Library) -> None:
    good, bad = sources.read("BAAI/TACO", split="train", revision=COMMIT, options={"config": "ALL"})
    assert library.asked == [(("BAAI/TACO", "ALL"), {"split": "train", "revision": COMMIT, "streaming": True})]
    assert isinstance(good, Problem)
    assert good.provenance is not None
    assert good.provenance.model_dump() == {
        "dataset": "BAAI/TACO", "revision": COMMIT, "row": "train:1", "reader": "taco", "url": "https://example.org/1",
    }  # fmt: skip
    assert isinstance(bad, sources.Malformed)
    assert (bad.place, bad.reason) == ("BAAI/TACO[train]:2", "field question is missing or empty")


def test_files_are_read_where_a_set_is_a_script(library: Library) -> None:
    library.rows = [LIVECODEBENCH]
    (found,) = sources.read("hub:org/lcb", revision=COMMIT, options={"files": "test*.jsonl"})
    assert isinstance(found, Problem)
    named = {"data_files": f"hf://datasets/org/lcb@{COMMIT}/test*.jsonl", "split": "train", "streaming": True}
    assert library.asked == [(("json",), named)]


@pytest.mark.parametrize("revision", ["", "main", "v1.0", "0123abc"])
def test_what_may_move_is_no_revision(monkeypatch: pytest.MonkeyPatch, revision: str) -> None:
    monkeypatch.setattr(optional_libraries, "need", unreachable)
    with pytest.raises(ConfigurationError, match="give a commit's whole hash") as error:
        sources.read("org/name", split="train", revision=revision)
    assert ("the recipe names no revision" in str(error.value)) == (not revision)
    assert "the hub shows it under Files and versions" in str(error.value)


def test_the_newest_revision_is_told_where_the_hub_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    api = SimpleNamespace(dataset_info=lambda *_, **__: SimpleNamespace(sha=COMMIT))
    monkeypatch.setattr(optional_libraries, "need", lambda *_: SimpleNamespace(HfApi=lambda: api))
    with pytest.raises(ConfigurationError, match=f'the newest is revision = "{COMMIT}"'):
        sources.read("org/name", split="train")


def test_a_split_has_to_be_said(library: Library) -> None:
    with pytest.raises(ConfigurationError, match="name the split"):
        sources.read("org/name", revision=COMMIT)


@pytest.mark.parametrize("trouble", [ConnectionError("gone"), DatasetsError("gone")])
def test_a_stream_that_breaks_off_says_where(library: Library, trouble: Exception) -> None:
    library.trouble = trouble
    found = sources.read("org/name", split="train", revision=COMMIT)
    next(found)
    with pytest.raises(ConfigurationError, match="reading stopped after row 2; run it again: gone"):
        list(found)
