"""The adapters' common behaviour, and those for trainers that cannot be installed here: slime, rLLM, open-r1."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sandbox_service.adapters import common, rllm, slime
from sandbox_service.adapters.trl import CodeReward
from sandbox_service.client import Client, GraderFaultError
from sandbox_service.errors import ConfigurationError
from sandbox_service.schema import Grade, StdinTest, Verdict
from tests.adapters.programs import ANSWERS, BAD_TEST, COLUMNS
from tests.conftest import Service

SERVICE_ONLY = "fastapi starlette uvicorn uvloop redis rq orjson psutil prometheus_client zstandard rich torch".split()
TRUTH = {"tests": COLUMNS, "limits": {"cpu_seconds": 1}}


@pytest.fixture
def url(service: Service, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(common.URL_VARIABLE, service.client.url)
    return service.client.url


# --- what is asked


@pytest.mark.parametrize(
    "completion",
    [
        "text",
        {"content": "text"},
        [{"role": "user", "content": "no"}, {"role": "assistant", "content": "text"}],
        [{"role": "assistant", "content": [{"type": "text", "text": "te"}, {"type": "text", "text": "xt"}]}],
    ],
)
def test_an_answer_is_text_or_the_last_message(completion: Any) -> None:
    assert common.text_of(completion) == "text"


def test_an_answer_that_only_calls_tools_is_empty() -> None:
    assert common.text_of([{"role": "assistant", "content": None}]) == ""


def test_a_ground_truth_goes_before_the_options() -> None:
    truth = json.dumps({"tests": COLUMNS, "limits": {"cpu_seconds": 9}})
    asked = common.submission("text", truth, {"limits": {"cpu_seconds": 1}, "language": "python"})
    assert (asked["limits"], asked["language"], len(asked["tests"])) == ({"cpu_seconds": 9}, "python", 3)


def test_containers_of_other_libraries_are_made_plain() -> None:
    array = SimpleNamespace(tolist=lambda: ["1 2"])
    assert common.plain({"inputs": array, "outputs": ("3",)}) == {"inputs": ["1 2"], "outputs": ["3"]}


def test_what_open_r1_calls_verification_info_is_understood() -> None:
    case = {"fn_name": None, "input": "1 2\n", "output": "3\n", "type": "stdin_stdout"}
    info = {"language": "python", "test_cases": [case]}
    asked = common.submission("text", info, {})
    assert asked["tests"] == [StdinTest(input="1 2\n", output="3\n")]


def test_as_many_truths_as_answers_are_wanted() -> None:
    with pytest.raises(ValueError, match="2 answers and 1 ground truths"):
        common.submissions(["a", "b"], [COLUMNS], {})


def test_nobody_to_ask_is_said_with_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(common.URL_VARIABLE, raising=False)
    with pytest.raises(ConfigurationError, match="PROCTOR_URL"):
        common.client()


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no column 'tests'"):
        CodeReward("http://127.0.0.1:1")(["text"], prompts=["x"])


def test_adapters_need_nothing_that_only_the_service_needs() -> None:
    blocked = "; ".join(f"sys.modules[{name!r}] = None" for name in SERVICE_ONLY)
    modules = "common, openrlhf, rllm, slime, trl, verifiers, verl"
    code = f"import sys; {blocked}; from sandbox_service.adapters import {modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- retries


class Moody:
    """A client whose service returns this many faults before a verdict."""

    def __init__(self, faults: int, kind: str = "sandbox") -> None:
        self.left = faults
        self.kind = kind

    def grade(self, *, on_fault: str, **_: Any) -> Grade:
        assert on_fault == "raise"
        if self.left:
            self.left -= 1
            raise GraderFaultError("no verdict", self.kind)
        return Grade(id="x", verdict=Verdict.AC, reward=1.0)


def ask(moody: Moody, seconds: float = 60.0) -> Grade:
    return common.grade_with_retries(moody, {}, seconds)  # type: ignore[arg-type]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    made: list[float] = []
    monkeypatch.setattr("sandbox_service.adapters.common.time.sleep", made.append)
    return made


def test_a_fault_is_tried_again_after_longer_and_longer_pauses(pauses: list[float]) -> None:
    assert ask(Moody(6)).reward == 1.0
    assert pauses == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_bad_test_is_not_tried_again(pauses: list[float]) -> None:
    with pytest.raises(GraderFaultError):
        ask(Moody(1, "bad_test"))
    assert pauses == []


def test_retries_end(pauses: list[float]) -> None:
    with pytest.raises(GraderFaultError):
        ask(Moody(9), seconds=0.5)


# --- slime and rLLM, whose classes are stood in for


@dataclass
class Sample:
    """The fields of slime's samples that the adapter uses."""

    response: str
    label: Any
    prompt: str = "add"
    index: int = 0
    group_index: int = 0
    remove_sample: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)


def rewards(samples: Any) -> Any:
    return asyncio.run(_closed(samples))


async def _closed(samples: Any) -> Any:
    found = await slime.reward(None, samples)
    await common.async_client().close()
    return found


def test_slime_gets_a_number_for_a_sample(url: str) -> None:
    assert rewards(Sample(ANSWERS["right"] + "<|im_end|>", json.dumps(TRUTH))) == 1.0


def test_slime_gets_a_list_for_samples_and_tests_may_be_metadata(url: str) -> None:
    samples = [Sample(each, None, metadata={"tests": TRUTH}) for each in ANSWERS.values()]
    assert rewards(samples) == [float(name == "right") for name in ANSWERS]
    assert not any(sample.remove_sample for sample in samples)


def test_a_sample_without_a_verdict_is_left_out_of_slime_s_loss_and_moves_no_mean(url: str) -> None:
    samples = [Sample(ANSWERS[name], TRUTH) for name in ("right", "right", "wrong", "crashing")]
    samples.append(Sample(ANSWERS["right"], BAD_TEST))
    assert rewards(samples) == [1.0, 1.0, 0.0, 0.0, 0.5]
    assert [sample.remove_sample for sample in samples] == [False] * 4 + [True]


@pytest.fixture
def rllm_types(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rllm", "rllm.rewards", "rllm.rewards.reward_types"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["rllm.rewards.reward_types"], "RewardOutput", SimpleNamespace, raising=False)


def test_rllm_gets_a_reward_output(url: str, rllm_types: None) -> None:
    said = rllm.code_reward({"ground_truth": json.dumps(TRUTH)}, SimpleNamespace(action=ANSWERS["right"]))
    assert (said.reward, said.is_correct, said.metadata["verdict"]) == (1.0, True, "AC")


def test_without_a_verdict_rllm_gets_an_exception(url: str, rllm_types: None) -> None:
    with pytest.raises(GraderFaultError):
        rllm.code_reward({"ground_truth": json.dumps(BAD_TEST)}, ANSWERS["right"])


def test_open_r1_and_trl_are_graded_as_one_batch(url: str) -> None:
    reward = CodeReward(truth="verification_info", limits={"cpu_seconds": 1})
    cases = [{"input": a, "output": b, "type": "stdin_stdout"} for a, b in zip(*COLUMNS.values(), strict=True)]
    info = {"language": "python", "test_cases": cases}
    messages: Sequence[Any] = [[{"role": "assistant", "content": each}] for each in ANSWERS.values()]
    found = reward(messages, prompts=["x"] * len(messages), verification_info=[info] * len(messages))
    assert found == [float(name == "right") for name in ANSWERS]
    assert isinstance(common.client(), Client)
