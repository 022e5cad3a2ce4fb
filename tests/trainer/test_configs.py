"""Tests that each shipped configuration loads, documents its sources and runs as a scaled-down copy with a real vLLM.

`make test` runs three of them (stages, a buffer with deltas, a curriculum), `make test-all` all.

The copies have the same algorithm: loss, means, KL, correction, filters, epochs, mini-batches, staleness, stages.
Model, lengths and batch are small. Rewards are random, so nothing is learnt; see test_learning for that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.ports import free_port
from tests.trainer.configs_world import STEPS, TOKENS, Lottery, shrunken
from tests.trainer.launcher import launch
from tests.trainer.tiny import save_tiny, tiny_model, tiny_tokenizer
from tests.trainer.vllm_world import Loop, World
from trainer.attention import ROWS
from trainer.checkpoint import Checkpoints
from trainer.config import CONFIGS, Config, load, resolve, shipped
from trainer.model import load as load_model

NAMES = shipped()
ROOT = Path(__file__).parents[2]
SECONDS = 1800  # a guard against hanging
PROBLEMS = 24
ENDS_OFTEN = 20.0  # what the end's embedding is multiplied by: some responses end before they are cut off
Figures = dict[str, list[dict[str, float]]]
FEW = ("deepscaler_1.5b", "m2po_8b_delta", "smoke")  # with stages, with a buffer and deltas, and the shortest
RUN = [pytest.param(name, marks=() if name in FEW else pytest.mark.full) for name in NAMES]
SAME = ("loss", "kl", "correction", "advantage", "buffer", "checkpoint", "deepspeed")


def config_of(name: str) -> Config:
    return load(Path(name))


def small(config: Config) -> Config:
    return resolve(shrunken(config, Path("f"), Path("m"), "http://s", "http://v"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all runs."""
    return tmp_path_factory.mktemp("configs")


@pytest.fixture(scope="module")
def ran(world: World, folder: Path, request: pytest.FixtureRequest) -> Iterator[Figures]:
    """The figures of each run that the selected tests look at, step by step."""
    own = [
        item
        for item in request.session.items
        if item.path == request.path and "ran" in getattr(item, "fixturenames", ())
    ]
    names = NAMES if any(item.get_closest_marker("full") for item in own) else FEW
    loop, port = Loop(), free_port()
    model = model_that_ends(folder / "model")
    (folder / "problems.jsonl").write_text("".join(json.dumps(problem(each)) + "\n" for each in range(PROBLEMS)))
    service = Lottery().running(port)
    loop.do(service.__aenter__())
    try:
        where = (folder, model, f"http://127.0.0.1:{port}", world.process.url)
        runs = {name: shrunken(config_of(name), *where) for name in names}
        runs["curriculum"] = curriculum(runs["smoke"])
        paths = [folder / f"{name}.json" for name in runs]
        for path, said in zip(paths, runs.values(), strict=True):
            path.write_text(json.dumps(said))
        status, output = launch("tests.trainer.configs_world", [str(path) for path in paths], SECONDS)
        assert status == 0, output[-6000:]
        yield {name: rows(folder / name / "metrics.jsonl") for name in runs}
    finally:
        loop.do(service.__aexit__(None, None, None))
        loop.close()


def problem(number: int) -> dict[str, Any]:
    """Of two sources, and harder and harder."""
    tests = [{"type": "stdin", "output": "3"}]
    more = {"source": "ab"[number % 2], "difficulty": number / PROBLEMS}
    return {"id": str(number), "prompt": f"print {number}", "tests": tests} | more


def curriculum(said: dict[str, Any]) -> dict[str, Any]:
    """What no shipped configuration does: a mixture, and problems that become harder."""
    data = said["data"] | {"order": "easiest_first", "mixture": {"a": 0.75, "b": 0.25}, "difficulty": [0.0, 0.3]}
    stages = [
        {"begin": 2, "data": {"difficulty": [0.3, 0.6]}},
        {"begin": 3, "data": {"difficulty": [0.6, 1.0], "mixture": {"a": 0, "b": 1}}},
    ]
    return said | {"name": "curriculum", "data": data, "stages": stages, "checkpoint": {"every": 1}}


def model_that_ends(folder: Path) -> Path:
    tokenizer: Any = tiny_tokenizer()
    model = tiny_model(tokenizer)
    with torch.no_grad():
        model.get_input_embeddings().weight[tokenizer.eos_token_id] *= ENDS_OFTEN
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def rows(path: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_there_are_those_of_the_seeds() -> None:
    wanted = {"archercoder_dapo_1.5b", "archer_1.5b", "aspo_1.5b", "deepcoder_14b", "deepscaler_1.5b", "code_r1_7b"}
    duels = {"cure_7b", "verifier_8b_solver", "verifier_8b_tester"}
    assert set(NAMES) == wanted | {"m2po_8b_full", "m2po_8b_delta", "smoke"} | duels


@pytest.mark.parametrize("name", NAMES)
def test_it_loads_under_its_own_name(name: str) -> None:
    config = config_of(name)
    assert config.name == name
    assert config == load(CONFIGS / f"{name}.toml")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "smoke"])
def test_every_value_has_a_source(name: str) -> None:
    lines = (CONFIGS / f"{name}.toml").read_text().splitlines()
    said = [line for line in lines if re.match(r"[\w.]+ = ", line) and not line.startswith(("name = ", "begin = "))]
    bare = [line for line in said if not re.search(r"# (\[[\w', ]+\]|ours:)", line)]
    assert said
    assert not bare


@pytest.mark.parametrize("name", NAMES)
def test_a_small_copy_has_the_same_algorithm(name: str) -> None:
    config = config_of(name)
    copy = small(config)
    for section in SAME:
        assert getattr(copy, section) == getattr(config, section), section
    for key in ("epochs", "minibatches", "lr", "warmup_steps", "schedule", "betas", "weight_decay", "clip"):
        assert getattr(copy.optimiser, key) == getattr(config.optimiser, key), key
    assert copy.reward.overlong_filter == config.reward.overlong_filter
    assert bool(copy.reward.overlong_buffer) == bool(config.reward.overlong_buffer)
    assert (copy.data.format, copy.rollout.temperature) == (config.data.format, config.rollout.temperature)
    assert (copy.sync.delta, copy.sync.full_every) == (config.sync.delta, config.sync.full_every)
    assert [stage.begin for stage in copy.stages] == list(range(2, 2 + len(config.stages)))


@pytest.mark.skipif(find_spec("flash_attn") is not None, reason="flash-attn is installed")
def test_every_configuration_loads_without_flash_attention(tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model", hidden=32)
    for name in NAMES:
        config = config_of(name)
        assert config.model.attention == "auto"
        scorer = load_model(config, str(model))
        assert scorer.model.config._attn_implementation == ROWS


@pytest.mark.parametrize("name", RUN)
def test_a_small_copy_runs_three_steps(name: str, ran: Figures) -> None:
    config, found = small(config_of(name)), ran[name]
    assert [row["step"] for row in found] == [*range(1, STEPS + 1)]
    assert all(math.isfinite(value) for row in found for value in row.values() if isinstance(value, float))
    if config.duel.trains == "tester":  # the tiny model writes no test cases: all testers earn 0, and no step is taken
        return
    assert any(row.get("grad_norm", 0) > 0 for row in found), "nothing was learnt from"
    assert ("kl" in found[-1]) == config.kl.is_on


def test_responses_grow_with_the_stages(ran: Figures) -> None:
    lengths = [row["length_max"] for row in ran["deepscaler_1.5b"]]
    assert lengths == [TOKENS // 3, TOKENS * 2 // 3, TOKENS], "in each step something is cut off"


def test_old_samples_are_learnt_from_where_they_may_be(ran: Figures) -> None:
    """`buffer.depth` is 8 there, and the steps are three."""
    assert [row["staleness_max"] for row in ran["m2po_8b_delta"]] == [0, 1, 2]
    assert {row["staleness_max"] for row in ran["deepscaler_1.5b"]} == {0}


@pytest.mark.full
def test_old_samples_are_learnt_from_in_the_other_configurations(ran: Figures) -> None:
    assert [row["staleness_max"] for row in ran["m2po_8b_full"]] == [0, 1, 2]
    assert {row["staleness_max"] for row in ran["aspo_1.5b"]} == {0}


@pytest.mark.full
def test_what_is_cut_off_is_masked_where_it_is_to_be(ran: Figures) -> None:
    assert any(row["masked_share"] > 0 for row in ran["archercoder_dapo_1.5b"])
    assert all(row["masked_share"] == 0 for row in ran["deepcoder_14b"]), "there it is silenced"


def test_a_curriculum_and_a_mixture_are_where_the_stages_say(ran: Figures, folder: Path) -> None:
    assert len(ran["curriculum"]) == STEPS
    places = [checkpoint.state()["prompts"] for checkpoint in Checkpoints(folder / "curriculum").all()]
    assert [place["difficulty"] for place in places] == [[0.3, 0.6], [0.6, 1.0], [0.6, 1.0]], "of the next step"
    assert [place["taken"] for place in places] == [{"a": 3, "b": 1}, {"b": 2}, {"b": 2}]
