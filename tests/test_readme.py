"""The documents' examples of `curl` and their answers, and every name of a file, a heading or a setting.

An example is a `sh` block that begins with `curl`; the `json` block after it shows fields that the answer must have.
test_shell_examples.py runs all other commands.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sandbox_service.settings import PREFIX, Settings
from sandbox_service.validation.recipe import Recipe
from tests.conftest import Service
from tests.guards import HANG_GUARD_SECONDS
from tests.shell_blocks import BLOCK, DOCUMENTS, REPOSITORY, blocks

ANSWERED = (
    "README.md",
    "docs/api.md",
    "docs/compat.md",
    "docs/math.md",
    "docs/judges.md",
)  # with answers
RECIPES = ("docs/validation.md", "docs/strengthen.md")  # documents of parts of recipes
ADDRESS = "localhost:8080"

LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# `slots/main.py`, from the repository, sandbox_service/ or trainer/ on; other projects' files are in folders of theirs
PATH = re.compile(r"(?<![\w./-])((?:[\w-]+/)+[\w-]+\.(?:py|md|toml|lua|c|h|sh|yml|yaml|json|profile))\b")
FOREIGN = ("sandbox/utils/",)  # SandboxFusion's
BASES = (REPOSITORY, REPOSITORY / "sandbox_service", REPOSITORY / "trainer")


class Example(NamedTuple):
    """A command of a document and what must be in what it prints."""

    document: str
    command: str
    expected: str


def examples() -> Iterator[Example]:
    for document in ANSWERED:
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
    ended = subprocess.run(
        ["bash", "-euc", command], capture_output=True, text=True, timeout=HANG_GUARD_SECONDS, check=True
    )
    printed, expected = values(ended.stdout), values(example.expected)
    if "/v1/grade/batch" in example.command:  # which answers in the order of finishing
        printed.sort(key=lambda line: str(line.get("id")))
    assert has(printed, expected), ended.stdout


def test_the_first_example_is_accepted() -> None:
    (answer,) = values(next(examples()).expected)
    assert (answer["verdict"], answer["reward"]) == ("AC", 1.0)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_shown_programs_and_configurations_are_valid(document: str) -> None:
    """Those in Python that need nothing else than this project run in tests/client."""
    for language, content in blocks(document):
        if language == "python":
            compile(content, document, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        elif language == "toml":
            tomllib.loads(content)


@pytest.mark.parametrize(
    "part", [content for document in RECIPES for language, content in blocks(document) if language == "toml"]
)
def test_a_shown_part_of_a_recipe_is_valid(part: str) -> None:
    Recipe.model_validate({"name": "mine", "sources": [{"path": "problems.jsonl"}], **tomllib.loads(part)})


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_settings_exist(document: str) -> None:
    text = (REPOSITORY / document).read_text()
    for target, anchor in LINK.findall(text):
        path = (REPOSITORY / document).parent / target if target else REPOSITORY / document
        assert path.exists(), target
        assert not anchor or path.suffix != ".md" or anchor in anchors(path), f"{target}#{anchor}"
    named = set(re.findall(rf"\b{PREFIX}(?!FUSION_)([A-Z]\w*)", text))  # SANDBOX_FUSION_… are SkyRL's and verl's
    assert named <= {name.upper() for name in Settings.model_fields}


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = HEADING.findall(BLOCK.sub("", path.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing_paths(text: str) -> list[str]:
    """Return the paths of ours in a text that do not exist."""
    ours = [path for path in PATH.findall(text) if any((base / path.partition("/")[0]).is_dir() for base in BASES)]
    return [path for path in ours if not path.startswith(FOREIGN) and not any((base / path).exists() for base in BASES)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_paths_exist(document: str) -> None:
    assert missing_paths((REPOSITORY / document).read_text()) == []


@pytest.mark.parametrize("folder", ["sandbox_service", "trainer", "examples", "benchmarks", "scripts"])
def test_paths_named_in_code_exist(folder: str) -> None:
    found = {path: missing_paths(path.read_text()) for path in (REPOSITORY / folder).rglob("*.py")}
    assert {path: missing for path, missing in found.items() if missing} == {}


def test_a_missing_path_is_found() -> None:
    assert missing_paths("See `slots/main.py`, docs/nothing.md and `verl/utils/reward.py`.") == ["docs/nothing.md"]


def test_no_block_is_of_a_kind_that_is_not_tried() -> None:
    for document in ANSWERED:
        assert {language for language, _ in blocks(document)} <= {"sh", "json", "text", "python"}  # tests/client
