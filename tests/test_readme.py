"""The documents' examples, run as they stand: every `curl`, and every name of a command, a target, a file or a setting.

An example is a `sh` block that begins with `curl`; the `json` block after it shows fields that the answer must have.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sandbox_service import cli
from sandbox_service.settings import PREFIX, Settings
from tests.conftest import Service

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "docs/api.md", "docs/compat.md", "docs/math.md")
ALL_DOCUMENTS = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "*/README.md", "sandbox_service/guest/README.md")
    for path in REPOSITORY.glob(pattern)
)
ADDRESS = "localhost:8080"
SECONDS = 60

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


class Example(NamedTuple):
    """A command of a document and what must be in what it prints."""

    document: str
    command: str
    expected: str


def blocks(document: str) -> list[tuple[str, str]]:
    """Language and content of every fenced block."""
    return BLOCK.findall((REPOSITORY / document).read_text())


def examples() -> Iterator[Example]:
    for document in DOCUMENTS:
        found = blocks(document)
        for (language, content), (next_language, expected) in zip(found, [*found[1:], ("", "")], strict=True):
            if language == "sh" and content.startswith("curl"):
                assert next_language == "json", f"{document}: no answer is shown for {content}"
                yield Example(document, content, expected)


def values(text: str) -> list[Any]:
    """All JSON values in a text, one after another."""
    decoder, found, text = json.JSONDecoder(), [], text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def has(actual: Any, expected: Any) -> bool:
    """Whether `actual` is `expected`, or a dict with more in it."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            name in actual and has(actual[name], expected[name]) for name in expected
        )
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(map(has, actual, expected))
    return type(actual) is type(expected) and bool(actual == expected)


@pytest.mark.parametrize(
    "example", list(examples()), ids=lambda example: f"{example.document}-{example.command[:60]!r}"
)
def test_examples_print_what_is_shown(service: Service, example: Example) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    assert ADDRESS in example.command
    command = example.command.replace(ADDRESS, f"127.0.0.1:{service.port}")
    ended = subprocess.run(["bash", "-euc", command], capture_output=True, text=True, timeout=SECONDS, check=True)
    printed, expected = values(ended.stdout), values(example.expected)
    if "/v1/grade/batch" in example.command:  # which answers in the order of finishing
        printed.sort(key=lambda line: str(line.get("id")))
    assert has(printed, expected), ended.stdout


def test_the_first_example_is_accepted() -> None:
    (answer,) = values(next(examples()).expected)
    assert (answer["verdict"], answer["reward"]) == ("AC", 1.0)


@pytest.mark.parametrize("document", ALL_DOCUMENTS)
def test_commands_exist(document: str, capsys: pytest.CaptureFixture[str]) -> None:
    targets = re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    commands = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)
    for _, content in (block for block in blocks(document) if block[0] == "sh"):
        assert set(re.findall(r"^make (\w+)", content, re.MULTILINE)) <= set(targets)
        assert set(re.findall(r"^(?:\.venv/bin/)?proctor (\w+)", content, re.MULTILINE)) <= set(commands)


@pytest.mark.parametrize("document", ALL_DOCUMENTS)
def test_links_and_settings_exist(document: str) -> None:
    text = (REPOSITORY / document).read_text()
    for target in LINK.findall(text):
        assert ((REPOSITORY / document).parent / target).exists(), target
    named = set(re.findall(rf"\b{PREFIX}(?!FUSION_)([A-Z]\w*)", text))  # SANDBOX_FUSION_… are SkyRL's and verl's
    assert named <= {name.upper() for name in Settings.model_fields}


def test_no_block_is_of_a_kind_that_is_not_tried() -> None:
    for document in DOCUMENTS:
        assert {language for language, _ in blocks(document)} <= {"sh", "json", "text", "python"}  # tests/client
