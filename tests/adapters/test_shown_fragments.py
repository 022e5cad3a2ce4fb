"""The Python examples of docs/trainers, with stand-ins for the trainers: each gives a right answer its reward."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sandbox_service.adapters import common
from tests.adapters.programs import ANSWERS, COLUMNS
from tests.conftest import Service
from tests.shell_blocks import DOCUMENTS, blocks

FOLDER = "docs/trainers/"
FRAGMENTS = {
    document.removeprefix(FOLDER).removesuffix(".md"): [
        text for language, text in blocks(document) if language == "python"
    ]
    for document in DOCUMENTS
    if document.startswith(FOLDER)
}
SHOWN_ADDRESS = "http://proctor:8080"

Names = dict[str, Any]
Run = Callable[[str, Names], Names]


class Recorder:
    """Anything of a trainer: keeps the arguments of its last call."""

    def __call__(self, *_: Any, **arguments: Any) -> Recorder:
        self.arguments = arguments
        return self


class Workflow:
    """In place of AReaL's RLVRWorkflow."""

    def __init__(self, reward: Any, **arguments: Any) -> None:
        self.reward = reward
        self.arguments = arguments
        self.tokenizer = SimpleNamespace(decode=lambda tokens, **_: tokens)


class Environment:
    """In place of SkyRL's BaseTextEnv."""


STAND_INS: dict[str, Names] = {
    "areal.workflow.rlvr": {"RLVRWorkflow": Workflow},
    "rllm.rewards.reward_types": {"RewardOutput": SimpleNamespace},
    "skyrl_gym.envs.base_text_env": {"BaseTextEnv": Environment},
    "skyrl_gym.envs": {"register": Recorder()},
    "trl": {"GRPOConfig": Recorder(), "GRPOTrainer": Recorder()},
}
ADAPTERS = ("areal", "rllm", "skyrl", "trl")


@pytest.fixture
def trainers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that stand in for the trainers, and adapters that are imported anew."""
    for name, members in STAND_INS.items():
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            path = ".".join(parts[:length])
            monkeypatch.setitem(sys.modules, path, sys.modules.get(path) or ModuleType(path))
        vars(sys.modules[name]).update(members)
    for adapter in ADAPTERS:
        monkeypatch.delitem(sys.modules, f"sandbox_service.adapters.{adapter}", raising=False)


@pytest.fixture
def run(service: Service, trainers: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the fragment of a trainer's document, with some names; return all names afterwards."""
    monkeypatch.setenv(common.URL_VARIABLE, service.client.url)

    def run(trainer: str, names: Names) -> Names:
        [source] = FRAGMENTS[trainer]
        exec(source.replace(SHOWN_ADDRESS, service.client.url), names)
        return names

    return run


def loaded(path: str) -> Any:
    """Return what `module:name` or `module.name` stands for."""
    module, _, name = path.replace(":", ".").rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_trl(run: Run) -> None:
    names = run("trl", {"model": "", "dataset": []})
    [reward] = names["trainer"].arguments["reward_funcs"]
    answers = [ANSWERS["right"], ANSWERS["wrong"]]
    assert reward(prompts=[""] * 2, completions=answers, tests=[COLUMNS] * 2) == [1.0, 0.0]


def test_rllm(run: Run) -> None:
    names = run("rllm", {"AgentTrainer": Recorder(), "SingleTurnEnvironment": object})
    reward = names["trainer"].arguments["env_args"]["reward_fn"]
    assert reward({"ground_truth": COLUMNS}, ANSWERS["right"]).reward == 1.0


def test_skyrl(run: Run) -> None:
    register = run("skyrl", {})["register"].arguments
    made = loaded(register["entry_point"])(extras={"reward_spec": {"ground_truth": COLUMNS}}, **register["kwargs"])
    assert made.step(ANSWERS["right"])["reward"] == 1.0


def test_areal(run: Run) -> None:
    train, config = Recorder(), SimpleNamespace(gconfig="settings", tokenizer_path="folder")
    run("areal", {"trainer": SimpleNamespace(train=train), "config": config})
    workflow = loaded(train.arguments["workflow"])(**train.arguments["workflow_kwargs"])
    assert workflow.arguments == {"gconfig": "settings", "tokenizer": "folder"}
    answer = SimpleNamespace(output_tokens=ANSWERS["right"])
    assert asyncio.run(workflow._compute_rewards(answer, "", {"tests": COLUMNS})) == 1.0


def test_each_fragment_is_run() -> None:
    assert {name for name, found in FRAGMENTS.items() if found} == set(ADAPTERS)
