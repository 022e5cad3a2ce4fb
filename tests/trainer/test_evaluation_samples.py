"""Tests of samples and verdicts: resumption, incomplete files, and samples without a verdict."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.fake_service import FAULT, PASSED, FakeService, answers
from tests.ports import free_port
from tests.trainer.fake_model import FakeModel
from tests.trainer.fake_service import run
from trainer import text_api
from trainer.data import Problems
from trainer.errors import ConfigError, TooManyFaultsError, TrainerError
from trainer.evaluation import grading, jsonl, samples
from trainer.evaluation.evaluation import RESULTS, SUMMARY, Evaluation
from trainer.evaluation.options import parse
from trainer.evaluation.problems import select_problems
from trainer.evaluation.samples import SAMPLES, SamplingOptions

ROOT = Path(__file__).parents[2]
WRONG = {"verdict": "WA", "reward": 0.0}


@pytest.fixture(autouse=True)
def _quick(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "FAULT_PAUSES", (0.01, 0.01))


def problems(path: Path, count: int = 3) -> Path:
    rows = [
        {"id": f"p{each}", "prompt": f"print {each}", "tests": [{"type": "stdin", "output": "3"}]}
        for each in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def by_its_text(said: dict[str, Any]) -> dict[str, Any]:
    """Right is what prints 3."""
    return PASSED if "print(3)" in said["completion"] else WRONG


class World:
    """A folder, a model and a judge, and evaluations with them."""

    def __init__(self, folder: Path) -> None:
        self.out = folder / "out"
        self.problems = problems(folder / "problems.jsonl")
        self.model = FakeModel()
        self.judge = FakeService(verdict=by_its_text)
        self.notices: list[str] = []

    def evaluate(self, *options: str, samples: Path | None = None) -> dict[str, Any]:
        """Its summary. What it asked is in `model.asked` and `judge.asked`, anew each time."""
        self.model.asked, self.judge.asked = [], []

        async def work() -> Any:
            port = free_port()
            async with self.model.running() as url, self.judge.running(port):
                what = ["--samples", str(samples)] if samples else [url]
                where = ["--out", str(self.out), "--service", f"http://127.0.0.1:{port}"]
                plan = parse([*what, str(self.problems), *where, "--n", "4", *options])
                chosen = select_problems(plan.asked, plan.out)
                return await Evaluation(plan, chosen.problems, plan.out, plan.model, {}, self.notices.append).run()

        return run(work()) or {}

    @property
    def samples(self) -> Path:
        return self.out / SAMPLES


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_samples_are_drawn_and_graded_and_counted(world: World) -> None:
    told = world.evaluate("--k", "1,4")
    drawn = lines(world.samples)
    right = sum("print(3)" in each["text"] for each in drawn)
    assert 0 < right < 12
    assert told["avg"]["value"] == pytest.approx(right / 12)
    assert len(drawn) == len(world.model.asked) == 12
    assert json.loads((world.out / SUMMARY).read_text()) == told
    assert [line["problem"] for line in lines(world.out / RESULTS)] == ["p0", "p1", "p2"]
    assert sum(line["correct"] for line in lines(world.out / RESULTS)) == right


def test_a_sample_says_where_it_came_from(world: World) -> None:
    world.evaluate("--temperature", "0.8", "--seed", "7", "--system", "Be brief.")
    each = lines(world.samples)[0]
    assert (each["model"], each["finish"], each["problem"]) == ("fake", "stop", "p0")
    assert each["tokens"] == len(each["text"])
    assert each["seed"] == SamplingOptions(seed=7).seed_of("p0", each["sample"])
    assert each["sampling"] == {
        "temperature": 0.8,
        "top_p": 0.95,
        "max_tokens": 8192,
        "seed": 7,
        "format": "chat",
        "system": "Be brief.",
    }


def test_vllm_is_asked_with_token_ids_and_nothing_left_to_its_defaults(world: World) -> None:
    world.evaluate("--system", "Be brief.")
    asked = min(world.model.asked, key=lambda each: bytes(each["prompt"]))
    assert bytes(asked["prompt"]).decode() == "system:Be brief.;user:print 0;"
    assert asked["max_tokens"] == 64, "what is left of the model's room"
    assert {name: asked[name] for name in ("top_k", "min_p", "repetition_penalty", "top_p", "temperature")} == {
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "top_p": 0.95,
        "temperature": 0.6,
    }


def test_plain_prompts_have_no_template(world: World) -> None:
    world.evaluate("--format", "plain")
    assert {bytes(each["prompt"]).decode() for each in world.model.asked} == {"print 0", "print 1", "print 2"}


def test_others_are_asked_by_chat(world: World) -> None:
    world.model.is_vllm = False
    told = world.evaluate()
    assert world.model.asked[0]["messages"] == [{"role": "user", "content": "print 0"}]
    assert told["samples"] == 12
    world.out = world.out.with_name("plain")
    with pytest.raises(ConfigError, match="only vLLM takes them"):
        world.evaluate("--format", "plain")


def test_what_is_cut_is_known_and_what_has_no_room_is_not_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    told = world.evaluate("--max-tokens", "5")
    assert told["cut"] == 1.0
    monkeypatch.setattr("tests.trainer.fake_model.ROOM", 0)
    world.out = world.out.with_name("other")
    assert world.evaluate()["cut"] == 1.0
    assert {each["finish"] for each in lines(world.samples)} == {"no_room"}
    assert world.model.asked == []


# --- again


def test_the_same_evaluation_again_asks_nothing_and_says_the_same(world: World) -> None:
    told = world.evaluate()
    assert world.evaluate() == told
    assert (world.model.asked, world.judge.asked) == ([], [])


def test_the_same_model_evaluated_twice_gives_the_same_figures(world: World) -> None:
    """Whatever the order and the number of those that are asked at once."""
    told = world.evaluate("--concurrency", "1")
    world.out = world.out.with_name("again")
    world.model.seconds = 0.002
    assert world.evaluate("--concurrency", "64", "--grading-concurrency", "3") == told
    world.out = world.out.with_name("third")
    assert [each["right"] for each in _results(world, "--seed", "1")] != [each["right"] for each in _results(world)]


def _results(world: World, *options: str) -> list[dict[str, Any]]:
    world.out = world.out.with_name(f"out{len(options)}")
    world.evaluate(*options)
    return lines(world.out / RESULTS)


def test_more_samples_are_those_that_were_there_and_new_ones(world: World) -> None:
    world.evaluate("--n", "2")
    before = {(each["problem"], each["sample"]): each["text"] for each in lines(world.samples)}
    world.evaluate("--n", "5")
    assert len(world.model.asked) == 9
    after = {(each["problem"], each["sample"]): each["text"] for each in lines(world.samples)}
    assert after.items() >= before.items()
    assert len(after) == 15
    assert world.evaluate("--n", "2")["samples"] == 6, "fewer are the first ones"


def test_samples_of_another_kind_are_not_mixed(world: World) -> None:
    world.evaluate()
    for options, what in ((["--temperature", "0.9"], "sampling"), (["--seed", "3"], "sampling")):
        with pytest.raises(ConfigError, match=f"has samples of another {what}"):
            world.evaluate(*options)


def test_generating_and_grading_apart_is_generating_and_grading(world: World) -> None:
    told = world.evaluate()
    world.out = world.out.with_name("apart")
    assert world.evaluate("--generate-only") == {}
    assert world.judge.asked == []
    again = world.evaluate("--k", "1,4", samples=world.samples)
    assert world.model.asked == []
    assert {name: again[name] for name in ("avg", "pass", "cut", "tokens", "verdicts")} == {
        name: told[name] for name in ("avg", "pass", "cut", "tokens", "verdicts")
    }


def test_samples_from_elsewhere_need_three_fields(world: World, tmp_path: Path) -> None:
    (path := tmp_path / "theirs.jsonl").write_text(
        '{"problem": "p0", "sample": 0, "text": "```python\\nprint(3)\\n```", "their": "own"}\n'
    )
    told = world.evaluate("--n", "1", samples=path)
    assert (told["avg"]["value"], told["missing"], told["without_verdict"]["problems"]) == (1.0, 2, 2)
    path.write_text('{"problem": "p0", "text": ""}\n')
    with pytest.raises(ConfigError, match=r"theirs\.jsonl:1: no sample: .*'sample'"):
        world.evaluate(samples=path)
    path.write_text('{"problem": "other", "sample": 0, "text": ""}\n')
    with pytest.raises(ConfigError, match="no sample belongs to these problems"):
        world.evaluate("--n", "1", samples=path)


def test_a_changed_test_is_graded_again_and_a_changed_answer_too(world: World) -> None:
    world.evaluate()
    rows = lines(world.problems)
    rows[0]["tests"][0]["output"] = "4"
    world.problems.write_text("".join(json.dumps(row) + "\n" for row in rows))
    world.evaluate()
    assert len(world.judge.suites) == 2
    assert [each["problem"] for each in lines(world.out / grading.VERDICTS)[12:]] == ["p0"] * 4
    drawn = lines(world.samples)
    drawn[0]["text"] = "```python\nprint(5)\n```"
    world.samples.write_text("".join(json.dumps(sample) + "\n" for sample in drawn))
    world.evaluate()
    assert len(lines(world.out / grading.VERDICTS)) == 17
    world.evaluate("--cpu-seconds", "9")
    assert len(lines(world.out / grading.VERDICTS)) == 29
    assert {each["limits"]["cpu_seconds"] for each in world.judge.asked} == {9.0}


# --- killed


def test_a_last_line_that_was_not_finished_is_repaired(world: World) -> None:
    told = world.evaluate()
    for name in (SAMPLES, grading.VERDICTS):
        whole = (world.out / name).read_bytes()
        (world.out / name).write_bytes(whole[:-20])
    assert world.evaluate() == told
    assert (len(world.model.asked), len({each["id"] for each in world.judge.asked})) == (1, 1)
    assert len(lines(world.samples)) == 12


def test_a_line_in_the_middle_that_is_broken_is_an_error(world: World) -> None:
    world.evaluate()
    text = world.samples.read_text().splitlines(keepends=True)
    world.samples.write_text("".join([text[0], text[1][:30] + "\n", *text[2:]]))
    with pytest.raises(ConfigError, match=r"samples\.jsonl:2: invalid JSON"):
        world.evaluate()


def test_killed_in_the_middle_only_what_was_on_its_way_is_drawn_again(tmp_path: Path) -> None:
    """A real process, and SIGKILL."""
    world = World(tmp_path)
    problems(world.problems, 20)
    world.model.seconds = 0.02

    async def work() -> int:
        async with world.model.running() as url:
            command = [sys.executable, "-m", "trainer.evaluation", url, str(world.problems), "--generate-only"]
            command += ["--n", "8", "--out", str(world.out), "--concurrency", "4"]
            process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=subprocess.DEVNULL)
            while not world.samples.exists() or world.samples.read_bytes().count(b"\n") < 20:
                await asyncio.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            await process.wait()
            there = len(list(samples.read(world.samples)))
            asked = len(world.model.asked)
            again = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=subprocess.DEVNULL)
            assert await again.wait() == 0
            assert len(world.model.asked) - asked == 160 - there
            return there

    assert 20 <= run(work()) < 150
    drawn = lines(world.samples)
    assert len({(each["problem"], each["sample"]) for each in drawn}) == len(drawn) == 160


def test_a_journal_is_mended_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    for rest in (b"", b"{", b'{"a": 1}', b"\xff\x00"):
        path.write_bytes(b'{"a": 0}\n' + rest)
        with jsonl.JsonlWriter(path) as file:
            file.append({"b": 1})
        assert path.read_bytes() == b'{"a": 0}\n{"b": 1}\n'


# --- trouble


def test_a_server_that_stumbles_is_asked_again_and_one_that_falls_is_an_error(world: World) -> None:
    def trouble() -> web.Response:
        return web.json_response({"error": {"message": "a defect"}}, status=500)

    aborted = {"choices": [{"finish_reason": "abort", "text": "", "token_ids": []}]}
    world.model.acts = [trouble(), web.json_response(aborted)]
    assert world.evaluate("--concurrency", "1")["samples"] == 12
    world.out = world.out.with_name("other")
    world.model.acts = [trouble() for _ in range(text_api.TRIES)]
    with pytest.raises(TrainerError, match="returns no sample: /v1/completions: 500 a defect"):
        world.evaluate("--concurrency", "1")


def test_a_refusal_is_an_error_at_once(world: World) -> None:
    world.model.acts = [web.json_response({"error": {"message": "too long"}}, status=400)]
    with pytest.raises(ConfigError, match="refuses /v1/completions: 400 too long"):
        world.evaluate("--concurrency", "1")


def test_a_sample_without_a_verdict_is_asked_about_again(world: World) -> None:
    world.judge.acts = [answers(FAULT), answers(FAULT)]
    told = world.evaluate("--grading-concurrency", "1")
    assert (told["faults"], told["samples"]) == (0, 12)


def test_without_a_verdict_in_the_end_n_shrinks_and_the_next_run_asks_again(world: World) -> None:
    world.judge.acts = [answers(FAULT)] * (1 + len(grading.FAULT_PAUSES))
    told = world.evaluate("--grading-concurrency", "1", "--max-fault-share", "0.1")
    assert (told["faults"], told["samples"]) == (1, 11)
    assert sorted(line["n"] for line in lines(world.out / RESULTS)) == [3, 4, 4]
    assert world.evaluate()["samples"] == 12
    assert len({each["id"] for each in world.judge.asked}) == 1


def test_a_test_that_is_at_fault_is_not_asked_about_again(world: World) -> None:
    world.judge.verdict = lambda _: FAULT | {"failure_kind": "bad_test"}
    with pytest.raises(TooManyFaultsError):
        world.evaluate("--grading-concurrency", "1")
    graded = lines(world.out / grading.VERDICTS)
    assert len(world.judge.asked) == len(graded) + 1, "and once for an unknown suite"


def test_too_many_without_a_verdict_are_an_error_and_no_summary(world: World) -> None:
    world.judge.acts = [answers(FAULT)] * (1 + len(grading.FAULT_PAUSES))
    with pytest.raises(TooManyFaultsError, match=r"8\.3% of the samples, more than 1\.0% \(--max-fault-share\)"):
        world.evaluate("--grading-concurrency", "1")
    assert not (world.out / SUMMARY).exists()
    assert (world.out / RESULTS).exists()
    assert world.evaluate()["faults"] == 0


# --- what is said


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ([], "MODEL_OR_URL"),
        (["model"], "PROBLEMS is missing"),
        (["model", "p", "--k", "9", "--n", "8"], "--k 9: pass@k is estimated from n samples"),
        (["model", "p", "--k", "a"], "whole numbers"),
        (["model", "p", "--k", "0,1"], "at least 1"),
        (["model", "p", "--preset", "none"], "'none' is none of livecodebench-v5"),
        (["p", "--samples", "nowhere.jsonl"], "nowhere.jsonl does not exist"),
        (["model", "p", "--generate-only", "--watch", "run"], "--generate-only and --watch exclude each other"),
        (["model", "p", "--fetch-standings"], "needs --standings FILE"),
    ],
)
def test_what_does_not_fit_together_is_refused(said: list[str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        parse(said)


def test_a_preset_says_what_is_not_said_otherwise() -> None:
    plan = parse(["model", "--preset", "livecodebench-v6", "--n", "4", "--max-tokens", "100"])
    assert plan.asked.hub is not None
    assert plan.asked.window is not None
    assert (plan.n, plan.k, plan.sampling.temperature, plan.sampling.top_p) == (4, (1, 4), 0.8, 0.95)
    assert (plan.sampling.max_tokens, plan.judge.default_limits) == (100, {"cpu_seconds": 6.0})
    assert parse(["model", "file", "--preset", "humaneval"]).asked.hub is None
    assert parse(["model", "--n", "2", "file", "--seed", "3", "more"]).asked.files == (Path("file"), Path("more"))


def test_a_seed_is_of_its_problem_and_number_alone() -> None:
    seeds = {
        SamplingOptions(seed=seed).seed_of(name, number)
        for seed in (0, 1)
        for name in ("a", "b")
        for number in range(50)
    }
    assert len(seeds) == 200
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert SamplingOptions(temperature=0.1).seed_of("a", 3) == SamplingOptions(max_tokens=5).seed_of("a", 3)


def test_judges_and_groups_of_a_problem_are_sent(tmp_path: Path) -> None:
    judged: dict[str, Any] = {
        "interactor": {"type": "program", "protocol": "function", "source": "def interact(*_): return True"},
        "groups": [{"name": "small", "points": 40.0}],
        "language": "cpp",
    }
    path = tmp_path / "problems.jsonl"
    line = {"id": "p", "prompt": "ask", "tests": [{"type": "interactive", "input": "3", "group": "small"}], **judged}
    path.write_text(json.dumps(line))
    (problem,) = Problems([path])
    sent = grading.submission_of(samples.Sample("p", 0, "answer"), problem, grading.GradingOptions())
    assert judged.items() <= sent.items()
