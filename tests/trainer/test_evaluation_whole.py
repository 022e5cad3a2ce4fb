"""End-to-end tests of evaluation with a real vLLM and the real service."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped, unused-ignore]
import pytest

from tests.ports import free_port
from tests.trainer.tiny import save_tiny
from tests.trainer.vllm_world import SECONDS, World, need_vllm
from trainer.engines.process import VllmProcess
from trainer.errors import ConfigError, UnavailableError
from trainer.evaluation import models
from trainer.evaluation.evaluation import RESULTS, SUMMARY
from trainer.evaluation.models import LOG, Model, served
from trainer.evaluation.samples import SAMPLES, SamplingOptions

ROOT = Path(__file__).parents[2]
TESTS = [{"type": "stdin", "input": "1 2\n", "output": "3\n"}, {"type": "stdin", "input": "5 6\n", "output": "11\n"}]
RIGHT = "```python\nprint(sum(map(int, input().split())))\n```"
ANSWERS = (RIGHT, "```python\nprint(3)\n```", "```python\nwhile True:\n    pass\n```", "no program", RIGHT)
VERDICTS = {"AC": 2, "CE": 1, "TLE": 1, "WA": 1}


def problems(path: Path, count: int) -> Path:
    lines = [
        {
            "id": f"add{each}",
            "prompt": f"Add two numbers, please. ({each})",
            "tests": TESTS,
            "limits": {"cpu_seconds": 0.5},
            "meta": {"difficulty": "easy" if each % 2 else "hard"},
        }
        for each in range(count)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "trainer.evaluation", *map(str, words)]


def evaluate(*words: object) -> str:
    """What it prints."""
    done = subprocess.run(command(*words), cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_samples_from_elsewhere_are_graded_by_the_real_service(service: str, tmp_path: Path) -> None:
    asked = problems(tmp_path / "problems.jsonl", 1)
    lines = [{"problem": "add0", "sample": number, "text": text} for number, text in enumerate(ANSWERS)]
    (tmp_path / "theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = evaluate("--samples", tmp_path / "theirs.jsonl", asked, "--service", service, "--k", "1,5")
    told = read(tmp_path / SUMMARY)
    assert told["verdicts"] == VERDICTS
    assert told["avg"]["value"] == 0.4
    assert told["pass"]["5"]["value"] == 1.0
    assert "40.0 (" in shown
    assert "avg@5" in shown


def test_the_same_model_evaluated_twice_gives_the_same_samples_and_figures(
    world: World, service: str, tmp_path: Path
) -> None:
    """On a CPU, whatever is sampled beside it: one after the other, and all at once."""
    world.sync(world.policy(seed=11))
    asked = problems(tmp_path / "problems.jsonl", 6)
    for name, at_once in (("one", 1), ("other", 24)):
        evaluate(
            world.process.url, asked, "--n", "4", "--max-tokens", "24", "--concurrency", at_once,
            "--service", service, "--out", tmp_path / name,
        )  # fmt: skip
    one, other = (sorted((tmp_path / name / SAMPLES).read_text().splitlines()) for name in ("one", "other"))
    assert len(one) == 24
    assert one == other
    assert len({json.loads(line)["text"] for line in one}) > 20, "samples differ from each other"
    told, again = (read(tmp_path / name / SUMMARY) for name in ("one", "other"))
    assert told["by"].keys() == {"difficulty"}
    assert told | {"name": ""} == again | {"name": ""}
    assert (tmp_path / "one" / RESULTS).read_text() == (tmp_path / "other" / RESULTS).read_text()


def checkpoint(run: Path, step: int) -> Path:
    """As a run leaves it."""
    path = run / "checkpoints" / f"step_{step:06}"
    save_tiny(path / "model", seed=step)
    files = {str(each.relative_to(path)): {"bytes": each.stat().st_size} for each in path.rglob("*") if each.is_file()}
    (path / "manifest.json").write_text(json.dumps({"step": step, "files": files}))
    return path


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + SECONDS
    while not path.exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end, f"{path} does not come"
        time.sleep(0.05)


@pytest.mark.full
def test_a_scanner_evaluates_a_checkpoint_and_ends_what_it_started_when_it_is_asked_to_end(
    service: str, tmp_path: Path
) -> None:
    need_vllm()
    run = tmp_path / "first"
    checkpoint(run, 5)
    words = ["--watch", run, problems(tmp_path / "problems.jsonl", 2), "--n", 2, "--max-tokens", 16, "--every", 0.1]
    serving = ["--service", service, "--dtype", "float32"]
    process = subprocess.Popen(command(*words, *serving), cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(run / "evaluations" / "evaluations.jsonl", process)
        told = read(run / "evaluations" / "step_000005" / SUMMARY)
        assert (told["step"], told["samples"]) == (5, 4)
        assert not psutil.Process(process.pid).children(), "its vLLM has ended"
        checkpoint(run, 6)
        wait_for(run / "evaluations" / "step_000006" / LOG, process)
        end = time.monotonic() + 30
        while not (children := psutil.Process(process.pid).children(recursive=True)):
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=600)[1]
        assert process.returncode == 130, said
        assert "step_000005: done" in said
        assert not psutil.wait_procs(children, timeout=60)[1]
    finally:
        process.kill()
        process.wait()
    assert not (run / "evaluations" / "step_000006" / "attempts.json").exists()


def test_a_folder_without_a_model_is_an_error_before_anything_is_started(tmp_path: Path) -> None:
    need_vllm()

    async def work() -> None:
        async with served(Model(str(tmp_path)), SamplingOptions(), tmp_path / "out", print):
            pass

    with pytest.raises(ConfigError, match="no model in"):
        asyncio.run(work())
    assert not (tmp_path / "out").exists()


def test_a_vllm_that_dies_ends_what_waits_for_it_and_shows_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = VllmProcess([], tmp_path / LOG)
    process._command = [sys.executable, "-c", "print('out of memory')"]
    monkeypatch.setattr(models, "_process", lambda *_: process)

    async def work() -> None:
        async with served(Model("model"), SamplingOptions(), tmp_path, print):
            pass

    with pytest.raises(UnavailableError, match=r"(?s)vLLM ended\. The end of .*vllm\.log:.*out of memory"):
        asyncio.run(work())


def test_a_url_where_nobody_is_is_waited_for_and_then_an_error(tmp_path: Path) -> None:
    began = time.monotonic()
    url = f"http://127.0.0.1:{free_port()}"
    asked = problems(tmp_path / "problems.jsonl", 1)
    done = subprocess.run(
        command(url, asked, "--generate-only", "--out", tmp_path / "out", "--patience", "0.5"),
        cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"the model's server at {url} has been away for" in done.stderr
    assert time.monotonic() - began < 60
