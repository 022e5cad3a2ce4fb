"""`proctor validate` with a model: real requests, grading and kills; nothing is requested or graded twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_service import cli
from sandbox_service.validation import model
from sandbox_service.validation.output import plain
from tests.conftest import need_firejail
from tests.ports import free_port
from tests.validation.endpoint import Act, Endpoint, Json, completion, refusal, serving
from tests.validation.world import ADD, enter, sums

RIGHT = f"Both are read, and added.\n\n```python\n{ADD}\n```"
WRONG = "```python\nprint(3)\n```"
CUT = "First I have to think about"
FILES = ("clean.jsonl", "quarantine.jsonl", "difficulty.jsonl")
CLEAN_PROBLEMS, SAMPLES = 6, 4


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter an empty folder, with default settings and short pauses."""
    need_firejail()
    monkeypatch.setattr(model, "FIRST_PAUSE_SECONDS", 0.01)
    enter(tmp_path, monkeypatch)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving(Endpoint()) as running:
        yield running


def write(count: int, url: str, **fields: Any) -> None:
    """Write problems with different words, and a recipe that samples a model."""
    problems = [sums(id=f"p{n}", prompt=" ".join(f"w{n}x{each}" for each in range(60))) for n in range(count)]
    tests = [each.model_copy(update={"tests": _other_tests(n)}) for n, each in enumerate(problems)]
    Path("problems.jsonl").write_text("".join(json.dumps(plain(each)) + "\n" for each in tests))
    said = {"url": url, "model": "m", "samples": SAMPLES, **fields}
    lines = ['name = "small"', "[[sources]]", 'path = "problems.jsonl"', "[severity]", 'twin = "off"', "[difficulty]"]
    Path("recipe.toml").write_text("\n".join([*lines, *(f"{name} = {json.dumps(said[name])}" for name in said)]))


def _other_tests(number: int) -> list[Any]:
    first, *others = sums().tests or []
    return [first.model_copy(update={"input": f"1 2 {'  ' * number}"}), *others]


def read(name: str) -> list[Json]:
    return [json.loads(line) for line in Path("validated/small", name).read_text().splitlines()]


def manifest() -> Json:
    said: Json = json.loads(Path("validated/small/manifest.json").read_text())
    return said


def in_turn(*texts: Act) -> Callable[[Json], Act]:
    """Answer with one text after the other."""
    acts = iter(texts)
    return lambda _: next(acts)


def test_right_wrong_and_cut_off_completions(endpoint: Endpoint, capsys: pytest.CaptureFixture[str]) -> None:
    endpoint.say = in_turn(completion(RIGHT), completion(WRONG), completion(CUT, "length"), completion(RIGHT))
    write(1, endpoint.url)
    assert cli.main(["validate", "recipe.toml", "--jobs", "2"]) == 0
    assert read("clean.jsonl")[0]["difficulty"] == 0.5
    assert manifest()["difficulty"]["samples"] == {"graded": 4, "passed": 2, "cut": 1, "not_judged": 0}
    said = capsys.readouterr().out
    assert "2 of 4 samples pass; 0 problems too easy, 0 too hard; 1 samples cut off" in said
    assert len({each["seed"] for each in endpoint.asked}) == SAMPLES


def test_who_comes_late_and_is_busy_then_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    write(1, f"http://127.0.0.1:{port}/v1")
    late = Endpoint(say=lambda _: completion(RIGHT), acts=[refusal(429, "busy", **{"Retry-After": "1"})])
    with subprocess.Popen(command(), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "is away" in process.stderr.readline()
        with serving(late, port):
            _, rest = process.communicate(timeout=60)
    assert process.returncode == 0, rest
    assert f"the model at http://127.0.0.1:{port}/v1 answers" in rest
    assert read("clean.jsonl")[0]["difficulty"] == 0.0
    assert len(late.asked) == SAMPLES + 1


def test_killed_in_the_middle_nothing_is_asked_or_graded_twice(endpoint: Endpoint) -> None:
    endpoint.say = lambda body: completion(RIGHT if body["seed"] % 3 else WRONG)
    endpoint.seconds = 0.05
    write(CLEAN_PROBLEMS, endpoint.url, concurrency=2, least=0.2)
    with subprocess.Popen(command(), stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: lines_of("samples.jsonl") > 6, process)
        process.send_signal(signal.SIGKILL)
    known = lines_of("samples.jsonl") - 1
    assert known < CLEAN_PROBLEMS * SAMPLES, "it was too quick to be killed"
    before, verdicts = len(endpoint.asked), lines_of("journal.jsonl") - 1
    assert cli.main(["validate", "recipe.toml", "--jobs", "2"]) == 0
    assert manifest()["run"]["asked_now"] == CLEAN_PROBLEMS * SAMPLES - known
    asked = len(endpoint.asked) - before
    assert 0 <= asked - (CLEAN_PROBLEMS * SAMPLES - known) <= 2  # the killed run's last requests may arrive late
    assert before - known <= 2, "what was on its way when it was killed"
    ran = manifest()["run"]
    assert ran["judged_now"] + ran["graded_now"] == lines_of("journal.jsonl") - 1 - verdicts
    parts = results()
    assert cli.main(["validate", "recipe.toml", "--jobs", "2", "--output", "whole"]) == 0
    assert parts == [Path("whole", name).read_bytes() for name in FILES]


def test_what_the_endpoint_refuses_is_said(endpoint: Endpoint) -> None:
    endpoint.say = lambda _: refusal(401, "a key, please")
    write(CLEAN_PROBLEMS, endpoint.url)
    done = subprocess.run(command(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    words = f"proctor: the model at {endpoint.url} refuses the request: 401: a key, please"
    assert done.stderr == f"{words}\n  OPENAI_API_KEY is not set\n", "and nothing of tasks that were given up"


def command() -> list[str]:
    return [sys.executable, "-m", "sandbox_service.cli", "validate", "recipe.toml", "--jobs", "1"]


def results() -> list[bytes]:
    return [Path("validated/small", name).read_bytes() for name in FILES]


def lines_of(name: str) -> int:
    """Number of complete lines."""
    path = Path("validated/small", name)
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.01)
