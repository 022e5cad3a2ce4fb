"""What a run is said to need: shapes as published, formulas by hand, and a document that says what the code says."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.trainer.tiny import save_tiny
from trainer.config import Config, load, resolve, shipped
from trainer.engines import process
from trainer.errors import ConfigError
from trainer.sizing import GB, LAYOUTS, SHAPES, Assumed, Shape, main, needs, table

DOCUMENT = (Path(__file__).parents[2] / "docs" / "sizing.md").read_text()
SMALL = "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B"
P = 1_777_088_000


def config(**said: Any) -> Config:
    return resolve({"model": {"path": SMALL}, "data": {"train": ["d"]}} | said)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (SMALL, P),
        ("Qwen/Qwen2.5-7B-Instruct-1M", 7_615_616_512),
        ("Qwen/Qwen3-8B", 8_190_735_360),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", 14_770_033_664),
    ],
)
def test_a_shape_has_as_many_weights_as_its_files_on_the_hub(model: str, parameters: int) -> None:
    assert SHAPES[model].parameters == parameters


def test_a_folders_shape_is_that_of_the_model_in_it(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    loader: Any = AutoModelForCausalLM
    for is_tied in (True, False):
        folder = save_tiny(tmp_path / str(is_tied), layers=3, tied=is_tied)
        shape = Shape.of(str(folder))
        model = loader.from_pretrained(folder)
        assert shape.parameters == sum(each.numel() for each in model.parameters())
        embedding = 0 if is_tied else model.get_input_embeddings().weight.numel()
        assert shape.multiplied == shape.parameters - embedding


@pytest.mark.parametrize(
    ("zero", "bytes_of_weights", "bytes_of_states"),
    [(1, 2, 4 + 12 / 4), (2, 2, (4 + 12) / 4), (3, 2 / 4, (4 + 12) / 4)],
)
def test_memory_is_shared_out_by_stage(zero: int, bytes_of_weights: float, bytes_of_states: float) -> None:
    alone = config(deepspeed={"zero": zero}, kl={"coefficient": 0.0})
    found = needs(alone, Assumed(trainers=4))
    assert found.weights_gb == pytest.approx(bytes_of_weights * P / GB)
    assert found.states_gb == pytest.approx(bytes_of_states * P / GB)
    with_reference = needs(config(deepspeed={"zero": zero}, kl={"coefficient": 0.1}), Assumed(trainers=4))
    assert with_reference.weights_gb == pytest.approx(2 * found.weights_gb)
    offloaded = needs(config(deepspeed={"zero": zero, "offload": True}, kl={"coefficient": 0.0}), Assumed(trainers=4))
    assert found.states_gb - offloaded.states_gb == pytest.approx(12 / 4 * P / GB)


def test_the_cache_is_what_weights_leave() -> None:
    found = needs(config(rollout={"gpu_memory": 0.5, "max_tokens": 8192}), Assumed())
    assert found.cache_gb == pytest.approx(0.5 * 80 - 5 - 2 * P / GB)
    assert found.longest == int(found.cache_gb * GB / (4 * 28 * 256) / (2048 + 8192))


def test_a_batch_takes_as_long_as_its_longest_response() -> None:
    few = config(rollout={"prompts": 1, "samples": 2, "max_tokens": 32768})
    assert needs(few, Assumed()).sample_s == pytest.approx(32768 * 0.008)
    many = config(rollout={"prompts": 512, "samples": 16, "max_tokens": 32768})
    assert needs(many, Assumed()).sample_s > 1000


def test_twice_the_gpus_halve_the_work() -> None:
    one, two = (needs(config(), Assumed(trainers=ranks, samplers=ranks)) for ranks in (4, 8))
    assert one.train_s == pytest.approx(2 * two.train_s)


def test_pipelined_steps_take_the_longer_of_the_two() -> None:
    apart, at_once = (needs(config(buffer={"depth": depth}), Assumed()) for depth in (0, 1))
    assert apart.step_s == pytest.approx(apart.sample_s + apart.train_s + apart.sync_s)
    assert at_once.step_s == pytest.approx(max(apart.sample_s, apart.train_s) + apart.sync_s)


def test_a_delta_is_less_than_everything() -> None:
    full, delta = (needs(config(sync={"delta": is_delta}), Assumed()) for is_delta in (False, True))
    assert full.sync_gb == pytest.approx(2 * P / GB)
    assert full.sync_gb / 10 < delta.sync_gb < full.sync_gb / 7
    dense = needs(config(sync={"delta": True}), Assumed(changed=0.9))
    assert dense.sync_gb == pytest.approx(full.sync_gb), "a patch is never larger than what it patches"


def test_grading_takes_the_tests_that_are_asked_for() -> None:
    some, all_of_them = (needs(config(reward={"tests": tests}), Assumed()) for tests in (5, 0))
    assert all_of_them.cores == pytest.approx(4 * some.cores)
    assert some.cores == pytest.approx(1024 * 5 * 0.05141 / some.sample_s)


def test_groups_that_are_replaced_are_sampled_too() -> None:
    kept = needs(config(buffer={"drop_flat": True, "max_generations": 1}), Assumed())
    replaced = needs(config(buffer={"drop_flat": True, "max_generations": 10}), Assumed(flat=0.5))
    assert (kept.samples, replaced.samples) == (1024, 2048)


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_every_shipped_configuration_fits(name: str) -> None:
    trainers, samplers = LAYOUTS[name]
    for plan in load(Path(name)).plans:
        found = needs(plan, replace(Assumed(), trainers=trainers, samplers=samplers))
        assert found.train_gb < 0.9 * 80
        assert found.longest >= 1


def test_the_document_has_the_table() -> None:
    assert table() in DOCUMENT, "python -m trainer.sizing --table, into docs/sizing.md"
    assert set(LAYOUTS) == set(shipped()) - {"smoke"}
    assert all(f"`{name}`" in table() for name in LAYOUTS)


def test_the_documents_servers_are_started_as_ours_are() -> None:
    config = load(Path("deepcoder_14b"))
    with patch.object(process, "has_gpu", lambda: True):
        arguments = process.arguments_of(config)
    commands = re.findall(r"vllm serve.*?gpu-memory-utilization\W+0\.8", DOCUMENT, re.DOTALL)
    commands += re.findall(r"\[vllm, serve.*?\]", DOCUMENT, re.DOTALL)
    assert len(commands) == 3
    for command in commands:
        words = re.sub(r'[\\,"\[\]]', " ", command).replace("$model", config.model.path).split()
        for word in arguments[2:]:
            assert word in words, word
        assert "trainer.vllm_ext.Extension" in words


@pytest.mark.parametrize("block", re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL))
def test_the_documents_scripts_are_scripts(block: str) -> None:
    checked = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_documents_manifests_are_manifests() -> None:
    yaml = pytest.importorskip("yaml")
    (block,) = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
    kinds = [each["kind"] for each in yaml.safe_load_all(block)]
    assert kinds == ["Service", "StatefulSet", "NetworkPolicy", "Service", "Job"]


def test_the_command_says_it_by_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deepscaler_1.5b", "rollout.prompts=64", "--length", "0.5"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("deepscaler_1.5b: 1.78 billion weights, 28 KiB a token")
    assert [int(step) for step in re.findall(r"from step (\d+)", said)] == [1, 1041, 1521]
    assert re.findall(r"samples +([\d,.]+)\n", said) == ["512.0", "1,024.0", "1,024.0"]
    assert re.search(r"length +0\.500", said)
    assert re.search(r"trainers +4\.000", said), "the machine that it was made for"


def test_a_model_that_is_not_known_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.toml"
    path.write_text('model.path = "nobody/knows"\ndata.train = ["d"]\n')
    assert main([str(path)]) == 2
    assert "the shape of 'nobody/knows' is not known" in capsys.readouterr().err
    with pytest.raises(ConfigError):
        Shape.of("nobody/knows")
