"""TRL's GRPOTrainer, unmodified, with our reward function: a tiny model, a few steps, on a CPU."""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

import pytest

from tests.adapters.foreign import Foreign, opened
from tests.adapters.programs import ANSWERS, BAD_TEST, CODE, COLUMNS, SLOW, answer
from tests.adapters.troubled import bereaved, full, restarted
from tests.conftest import Service

LIMITS = {"limits": {"cpu_seconds": 1}}
TINY = 1e-4  # that TRL adds to a deviation
NAP = "import time\ntime.sleep(4)\n"


@pytest.fixture(scope="module")
def trl() -> Iterator[Foreign]:
    with opened("trl", "trl_grpo", TRL_EXPERIMENTAL_SILENCE="1") as running:
        yield running


def scripted(url: str, groups: dict[str, tuple[Any, list[str]]], steps: int = 1, **more: Any) -> dict[str, Any]:
    """Run the trainer with scripted answers to each prompt, which are listed beside the tests."""
    rows = [{"prompt": prompt, "tests": json.dumps(truth)} for prompt, (truth, _) in groups.items()]
    answers = {prompt: said for prompt, (_, said) in groups.items()}
    return {"url": url, "rows": rows, "answers": answers, "steps": steps, "options": LIMITS} | more


def of(said: dict[str, Any], prompt: str, what: str) -> list[Any]:
    """Return the logs of the answers to a prompt."""
    return [value for asked, value in zip(said["prompts"], said[what], strict=True) if asked == prompt]


def advantages(rewards: list[float]) -> list[float]:
    """Return GRPO's advantages with TRL's defaults."""
    return [(each - mean(rewards)) / (stdev(rewards) + TINY) for each in rewards]


def test_every_end_of_a_program_is_rewarded_and_trained_on(trl: Foreign, service: Service) -> None:
    groups = {
        "a": (COLUMNS, [ANSWERS[name] for name in ("right", "wrong", "late", "crashing")]),
        "b": (COLUMNS, [ANSWERS[name] for name in ("broken", "right", "silent", "right")]),
    }
    said = trl.ask(scripted(service.client.url, groups))
    assert of(said, "a", "verdicts") == ["AC", "WA", "TLE", "RTE"]
    assert of(said, "b", "verdicts") == ["CE", "AC", "CE", "AC"]
    assert of(said, "a", "rewards") == [1.0, 0.0, 0.0, 0.0]
    assert of(said, "b", "advantages") == pytest.approx(advantages([0.0, 1.0, 0.0, 1.0]), abs=1e-3)
    assert said["steps"][0]["rewards/proctor/mean"] == pytest.approx(3 / 8)


def test_a_tiny_model_learns_from_the_rewards(trl: Foreign, service: Service) -> None:
    """One of the letters in its alphabet is right; its output is graded as text."""
    said = trl.ask(
        {
            "url": service.client.url,
            "rows": [{"prompt": prompt, "tests": [{"type": "stdin", "output": "c"}]} for prompt in "abcd"],
            "alphabet": "abcdefg",
            "options": {"language": "text", "extraction": "whole"},
            "longest": 1,
            "steps": 24,
            "learning_rate": 3e-2,
        }
    )
    rewards = [step["reward"] for step in said["steps"]]
    print("mean reward by step:", [round(each, 2) for each in rewards])
    assert mean(rewards[:3]) < 0.5
    assert mean(rewards[-5:]) > 0.9


# --- without a verdict


def test_a_group_without_a_verdict_moves_nothing(trl: Foreign, service: Service) -> None:
    """The test is bad for every answer: no reward is a number, and every advantage is 0."""
    groups = {"bad": (BAD_TEST, [ANSWERS["right"]] * 4), "good": (COLUMNS, mixed())}
    said = trl.ask(scripted(service.client.url, groups, steps=2))
    assert of(said, "bad", "rewards") == [None] * 4
    assert of(said, "bad", "advantages") == [0.0] * 4
    assert of(said, "good", "advantages") == pytest.approx(advantages([1.0, 0.0, 0.0, 1.0]), abs=1e-3)
    assert all(math.isfinite(step["loss"]) and math.isfinite(step["grad_norm"]) for step in said["steps"])
    assert said["steps"][0]["reward"] == pytest.approx(0.5), "the mean should be that of what was graded"
    assert said["steps"][0]["proctor/no_verdict"] == 0.5
    assert said["is_finite"]
    print("bad test:", {name: said["steps"][0][name] for name in ("loss", "grad_norm", "reward", "reward_std")})


def test_a_step_without_any_verdict_changes_no_weight(trl: Foreign, service: Service) -> None:
    said = trl.ask(scripted(service.client.url, {"bad": (BAD_TEST, [ANSWERS["right"]] * 4)}))
    assert (said["steps"][0]["loss"], said["steps"][0]["grad_norm"]) == (0.0, 0.0)
    assert said["is_finite"]


def test_a_sample_without_a_verdict_is_no_part_of_its_group_s_baseline(trl: Foreign, service: Service) -> None:
    """A program that fails by itself has a verdict even with a bad test; the others have none."""
    test = BAD_TEST["tests"][0]  # type: ignore[index]
    truth = {"tests": [{"type": "stdin", "input": "1 2\n", "output": "3\n"}, test], "checker": {"type": "numbers"}}
    groups = {"mixed": (truth, [ANSWERS["right"], ANSWERS["crashing"], ANSWERS["broken"], answer("print(4)")])}
    said = trl.ask(scripted(service.client.url, groups))
    assert of(said, "mixed", "rewards") == [None, 0.0, 0.0, 0.0]
    assert of(said, "mixed", "advantages") == pytest.approx([0.0] * 4)


def mixed() -> list[str]:
    return [ANSWERS[name] for name in ("right", "wrong", "crashing", "right")]


# --- trouble


def test_more_than_there_is_room_for_is_waited_for(trl: Foreign) -> None:
    with full() as service:
        groups = {prompt: (COLUMNS, mixed()) for prompt in "abc"}
        said = trl.ask(scripted(service.client.url, groups))
    assert said["steps"][0]["reward"] == pytest.approx(0.5)


def test_a_slot_that_dies_costs_no_reward(trl: Foreign) -> None:
    with bereaved() as url:
        said = trl.ask(scripted(url, {"a": (COLUMNS, [answer(NAP + CODE["right"])] * 4)}))
    assert said["rewards"] == [1.0] * 4


def test_a_crash_of_the_service_costs_no_reward(trl: Foreign) -> None:
    with restarted(signal.SIGKILL, away_seconds=3) as url:
        said = trl.ask(scripted(url, {"a": (COLUMNS, [answer(SLOW)] * 4)}))
    assert said["rewards"] == [1.0] * 4
