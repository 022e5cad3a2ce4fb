"""The documents' commands of the trainer: configurations are loaded, options parsed, and kept samples shown."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from tests.shell_blocks import DOCUMENTS, REPOSITORY, Shown, blocks, commands, inline_commands
from trainer import __main__ as command_line
from trainer.config import load, merge, resolve
from trainer.evaluation import options

FILES = {"/shared/deepcoder.toml": "deepcoder_14b"}  # a copy of a shipped configuration, as docs/sizing.md says
RUN = REPOSITORY / "tests" / "shown" / "runs" / "first"


def arguments(shown: Shown) -> list[str] | None:
    """Return the arguments of the trainer, or None for any other command."""
    words = shown.words
    if words[:2] == ["proctor", "train"]:
        return words[2:]
    if words[:1] == ["deepspeed"]:
        return words[words.index("--module") + 2 :]
    return None


ALL = [
    (document, found)
    for document in DOCUMENTS
    for shown in (*commands(document), *inline_commands(document))
    if (found := arguments(shown))
]
TRAINED = [found for _, found in ALL if "--show" not in found and "CONFIG" not in found]
SHOWN = [found for _, found in ALL if "--show" in found and len(found) > 1]


EVALUATED = [
    shown.words[2:]
    for document in DOCUMENTS
    for shown in commands(document)
    if shown.words[:2] == ["proctor", "evaluate"] and "--samples" not in shown.words  # which is run without torch
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the run and the configuration that docs/training.md shows."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RUN, "runs/first")
    [content, *_] = [content for language, content in blocks("docs/training.md") if language == "toml"]
    Path("run.toml").write_text(content)


@pytest.mark.parametrize("found", TRAINED, ids=" ".join)
def test_a_shown_configuration_is_valid(found: list[str]) -> None:
    given = command_line._parser().parse_args(found)
    load(Path(FILES.get(str(given.config), given.config)), given.overrides)


@pytest.mark.parametrize("found", EVALUATED, ids=" ".join)
def test_shown_options_of_an_evaluation_are_valid(found: list[str]) -> None:
    options.parse(found)


@pytest.mark.parametrize(
    "block",
    [content for name in ("training", "sizing") for kind, content in blocks(f"docs/{name}.md") if kind == "toml"],
)
def test_a_shown_part_of_a_configuration_is_valid(block: str) -> None:
    resolve(merge(tomllib.loads(Path("run.toml").read_text()), tomllib.loads(block)))


@pytest.mark.parametrize("found", SHOWN, ids=" ".join)
def test_kept_samples_are_shown(found: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(found) == 0
    assert "step 110 · sum" in capsys.readouterr().out


def test_all_documents_of_the_trainer_have_commands() -> None:
    assert {document for document, _ in ALL} >= {"README.md", "docs/training.md", "docs/sizing.md"}
