"""The documents' commands of the trainer, which need its environment; tests/shell_ways.py says which those are.

A run is planned (`--dry-run`) and not begun. The launchers' and vLLM's own parsers read their options.
"""

from __future__ import annotations

import importlib
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.shell_blocks import DOCUMENTS, REPOSITORY, Shown, blocks, inline_commands
from tests.shell_places import Place, make_checkout, running
from tests.shell_ways import SHOWN, way_of
from trainer import __main__ as command_line
from trainer.config import merge, resolve
from trainer.evaluation import options

FILES = {"/shared/deepcoder.toml": "deepcoder_14b"}  # a copy of a shipped configuration, as docs/sizing.md says
RUN = REPOSITORY / "tests" / "shown" / "runs" / "first"
HOSTFILE = "trainer-0 slots=8\ntrainer-1 slots=8\n"

OURS = [each for each in SHOWN if way_of(each).trainer]
IN_TEXT = [each for document in DOCUMENTS for each in inline_commands(document)]
SERVERS = [each for each in OURS if each.words[:2] == ["vllm", "serve"]]
JOBS = [each for each in OURS if each.text.startswith("#!")]
LAUNCHED = [each for each in OURS if each.words[:1] == ["deepspeed"]]


def arguments(shown: Shown) -> list[str]:
    """Return the arguments of the trainer, empty for any other command."""
    words = shown.words
    if words[:2] == ["proctor", "train"]:
        return words[2:]
    return words[words.index("--module") + 2 :] if words[:1] == ["deepspeed"] else []


ALL = [found for shown in (*OURS, *IN_TEXT) if (found := arguments(shown))]
TRAINED = [found for found in ALL if "--show" not in found and "CONFIG" not in found]
KEPT = [found for found in ALL if "--show" in found and len(found) > 1]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the run and the configuration that docs/training.md shows."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RUN, "runs/first")
    [content, *_] = [content for language, content in blocks("docs/training.md") if language == "toml"]
    Path("run.toml").write_text(content)


@pytest.mark.parametrize("found", TRAINED, ids=" ".join)
def test_a_shown_run_is_planned(found: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    dry = [FILES.get(each, each) for each in found] + ["--dry-run"] * ("--dry-run" not in found)
    assert command_line.main(dry) in (0, 1), "1: something does not fit"
    printed = capsys.readouterr().out
    assert "fits" in printed or "does not fit" in printed


@pytest.mark.parametrize("shown", LAUNCHED, ids=lambda shown: shown.text)
def test_a_shown_launch_is_understood_by_deepspeed(shown: Shown) -> None:
    runner: Any = importlib.import_module("deepspeed.launcher.runner")

    Path("hostfile").write_text(HOSTFILE)
    given = runner.parse_args(shown.words[1:])
    assert (given.module, given.user_script) == (True, "trainer")
    assert given.user_args == arguments(shown)
    if "--hostfile" in shown.words:
        assert len(runner.fetch_hostfile(given.hostfile)) == 2


@pytest.mark.full
@pytest.mark.parametrize("shown", SERVERS, ids=lambda shown: shown.text[:70])
def test_a_shown_server_is_understood_by_vllm(shown: Shown) -> None:
    arguments = pytest.importorskip("vllm.entrypoints.launchers.cli_args", reason="vLLM 0.32 has it")
    parser: Any = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser()
    given = arguments.make_arg_parser(parser).parse_args(shown.words[2:])
    assert given.model_tag == "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"
    assert given.worker_extension_cls == "trainer.vllm_ext.Extension"


@pytest.mark.full
@pytest.mark.parametrize("shown", JOBS, ids=lambda shown: shown.text.splitlines()[1])
def test_a_shown_job_starts_its_servers_and_ranks(shown: Shown, tmp_path: Path) -> None:
    way = way_of(shown)
    place = Place(make_checkout(tmp_path / "checkout"), 0, 0, 0, 0)
    with running(f"export SLURM_JOB_NODELIST=node-[1-4]\n{place.script(shown, way)}", place, way) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        process.wait()
    assert "16 ranks, 8 servers" in printed
    assert process.returncode == 0, printed
    logs = sorted(each.name for each in place.folder.glob("vllm-*.log"))
    assert logs == [f"vllm-node-{node}-800{port}.log" for node in (3, 4) for port in (0, 2, 4, 6)]


def test_shown_options_of_evaluations_are_valid() -> None:
    """tests/test_shell_examples.py runs them without vLLM, against a server."""
    found = [each.words[2:] for each in SHOWN if each.words[:2] == ["proctor", "evaluate"]]
    for each in found:
        if "--samples" not in each:  # a file that is read
            options.parse(each)
    assert len(found) >= 4
    for name in ("--url", "--service"):
        assert options.parse(["model", "problems.jsonl", name, "http://grader:8080"]).judge.url == "http://grader:8080"


@pytest.mark.parametrize(
    "block",
    [content for name in ("training", "sizing") for kind, content in blocks(f"docs/{name}.md") if kind == "toml"],
)
def test_a_shown_part_of_a_configuration_is_valid(block: str) -> None:
    resolve(merge(tomllib.loads(Path("run.toml").read_text()), tomllib.loads(block)))


@pytest.mark.parametrize("found", KEPT, ids=" ".join)
def test_kept_samples_are_shown(found: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(found) == 0
    assert "step 110 · sum" in capsys.readouterr().out


def test_all_documents_of_the_trainer_have_commands() -> None:
    found = {each.document for each in (*OURS, *IN_TEXT) if arguments(each)}
    assert found >= {"README.md", "docs/training.md", "docs/sizing.md"}
