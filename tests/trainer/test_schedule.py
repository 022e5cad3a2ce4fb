"""Tests of stages: which settings hold in a step, their validation, and settings that cannot change."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from trainer.config import Config, load, resolve
from trainer.config.run import MAY_CHANGE
from trainer.errors import ConfigError

SAID: dict[str, Any] = {"model": {"path": "m"}, "data": {"train": ["d.jsonl"]}}
LENGTHENING = """
model.path = "m"
data.train = ["d.jsonl"]
data.mixture = {a = 1, b = 1}
rollout.max_tokens = 8192
reward.overlong_buffer = 100

[[stages]]
begin = 10
rollout.max_tokens = 16384
rollout.samples = 8
data.mixture = {a = 1}

[[stages]]
begin = 20
rollout.max_tokens = 4096
data.difficulty = [0.25, 1]
optimiser.lr = 3e-6
"""


def staged(*stages: dict[str, Any], **more: Any) -> Config:
    return resolve(SAID | more | {"stages": list(stages)})


@pytest.fixture
def config(tmp_path: Path) -> Config:
    path = tmp_path / "run.toml"
    path.write_text(LENGTHENING)
    return load(path)


def test_before_the_first_stage_the_file_holds(config: Config) -> None:
    assert config.at(1) == config.at(9) == config


def test_a_stage_holds_from_its_first_step_and_what_it_does_not_say_stays(config: Config) -> None:
    tokens = {step: config.at(step).rollout.max_tokens for step in (9, 10, 19, 20, 9999)}
    assert tokens == {9: 8192, 10: 16384, 19: 16384, 20: 4096, 9999: 4096}
    assert config.at(20).rollout.samples == 8, "what the stage before it said"
    assert config.at(20).reward == config.reward
    assert (config.at(19).optimiser.lr, config.at(20).optimiser.lr) == (1e-6, 3e-6)


def test_a_table_is_replaced(config: Config) -> None:
    assert config.at(9).data.mixture == {"a": 1, "b": 1}
    assert config.at(10).data.mixture == {"a": 1}


def test_the_longest_of_all_stages_is_what_vllm_needs(config: Config) -> None:
    assert config.longest == 2048 + 16384
    assert resolve(SAID | {"rollout": {"max_tokens": 100, "max_model_len": 5000}}).longest == 5000
    assert resolve(SAID).longest == 2048 + 8192


def test_it_is_saved_and_read_again(config: Config, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(config.model_dump_json())
    assert load(path) == config
    assert load(path).at(20) == config.at(20)
    assert load(path, ["stages=[]"]).at(20).rollout.max_tokens == 8192


@pytest.mark.parametrize(
    ("section", "settings", "said"),
    [
        ("optimiser", {"minibatches": 2}, "optimiser.minibatches cannot change within a run"),
        ("optimiser", {"epochs": 2}, "optimiser.epochs cannot change"),
        ("rollout", {"temperature": 0.5}, "rollout.temperature cannot change"),
        ("rollout", {"max_model_len": 9999}, "rollout.max_model_len cannot change"),
        ("loss", {"clip_high": 0.3}, "loss.clip_high cannot change"),
        ("model", {"path": "n"}, "model.path cannot change"),
        ("reward", {"url": "http://x"}, "reward.url cannot change"),
        ("rollout", {"sampels": 2}, "rollout.sampels cannot change"),
        ("steps", 7, "steps cannot change"),
        ("optimiser.lr", 1e-6, "the key optimiser.lr cannot change"),
    ],
)
def test_what_cannot_change_is_refused_by_name(section: str, settings: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=r"stages\[0\] is wrong: ") as refusal:
        staged({"begin": 5, section: settings})
    assert said in str(refusal.value)
    assert "rollout.max_tokens" in str(refusal.value), "it says what can"


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ({"rollout": {"max_tokens": 10}}, "from step 5 on: .*a response has only 10 tokens"),
        ({"rollout": {"samples": 1}}, r"from step 5 on: rollout\.samples should be greater than or equal to 2"),
        ({"rollout": {"prompts": 3}}, "from step 5 on: .*groups are not split"),
        ({"rollout": {"max_tokens": "long"}}, r"from step 5 on: rollout\.max_tokens should be an integer"),
        (
            {"rollout": {"max_tokens": 9000}},
            "from step 5 on: rollout.max_tokens is 9000, but rollout.max_model_len is 9000",
        ),
        ({"data": {"difficulty": [0.5, 0.2]}}, "from step 5 on: .*is not a range"),
        ({"optimiser": {"lr": 0}}, r"from step 5 on: optimiser\.lr"),
    ],
)
def test_a_stage_that_cannot_be_is_refused_before_anything_begins(stage: dict[str, Any], said: str) -> None:
    more = {
        "rollout": {"max_tokens": 100, "max_model_len": 9000},
        "optimiser": {"minibatches": 4},
        "reward": {"overlong_buffer": 50},
    }
    staged({"begin": 5, "rollout": {"max_tokens": 200}}, **more)
    with pytest.raises(ConfigError, match=said):
        staged({"begin": 5} | stage, **more)


def test_a_fault_of_a_stage_is_that_of_the_stages_before_it_too() -> None:
    first = {"begin": 5, "reward": {"overlong_buffer": 500}}
    with pytest.raises(ConfigError, match=r"from step 9 on: .*a response has only 400 tokens"):
        staged(first, {"begin": 9, "rollout": {"max_tokens": 400}})


@pytest.mark.parametrize("begins", [(5, 5), (9, 5), (1,), (0,)])
def test_stages_begin_one_after_the_other_and_after_the_first_step(begins: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match="stages"):
        staged(*({"begin": begin} for begin in begins))


@pytest.mark.parametrize("name", MAY_CHANGE)
def test_all_that_can_change_is_a_setting(name: str) -> None:
    section, _, key = name.partition(".")
    assert key in type(getattr(resolve(SAID), section)).model_fields


def test_asking_is_cheap_enough_to_be_done_in_every_step(config: Config) -> None:
    began = time.process_time()
    for _ in range(20):
        config.at(20)
    assert (time.process_time() - began) / 20 < 0.05
