"""Tests of plans: published shapes, formulas by hand, and the table in the document."""

from __future__ import annotations

import re
import subprocess
from math import ceil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.trainer.tiny import save_tiny
from trainer.__main__ import main
from trainer.config import Config, load, resolve, shipped
from trainer.engines import process
from trainer.errors import ConfigError
from trainer.inspection.plan import GB, Machine, Shape, machine_of, needs, problems, stages

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
        ("Qwen/Qwen3-1.7B", 1_720_574_976),
        ("Qwen/Qwen3-8B", 8_190_735_360),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", 14_770_033_664),
    ],
)
def test_a_shape_has_as_many_weights_as_its_files_on_the_hub(model: str, parameters: int) -> None:
    assert Shape.of(model).parameters == parameters


def test_a_folders_shape_is_that_of_the_model_in_it(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    loader: Any = AutoModelForCausalLM
    for is_tied in (True, False):
        folder = save_tiny(tmp_path / str(is_tied), layers=3, tied=is_tied)
        shape = Shape.of(str(folder))
        model = loader.from_pretrained(folder)
        assert shape.parameters == sum(each.numel() for each in model.parameters())


@pytest.mark.parametrize(
    ("zero", "bytes_of_weights", "bytes_of_states"),
    [(1, 2, 4 + 12 / 4), (2, 2, (4 + 12) / 4), (3, 2 / 4, (4 + 12) / 4)],
)
def test_memory_is_shared_out_by_stage(zero: int, bytes_of_weights: float, bytes_of_states: float) -> None:
    four = Machine(ranks=4)
    found = needs(config(deepspeed={"zero": zero}, kl={"coefficient": 0.0}), four)
    assert found.weights == pytest.approx(bytes_of_weights * P / GB)
    assert found.states == pytest.approx(bytes_of_states * P / GB)
    with_reference = needs(config(deepspeed={"zero": zero}, kl={"coefficient": 0.1}), four)
    assert with_reference.weights == pytest.approx(2 * found.weights)
    offloaded = needs(config(deepspeed={"zero": zero, "offload": True}, kl={"coefficient": 0.0}), four)
    assert found.states - offloaded.states == pytest.approx(12 / 4 * P / GB)


def test_the_cache_is_what_weights_leave() -> None:
    found = needs(config(rollout={"gpu_memory": 0.5, "max_tokens": 8192}), Machine())
    assert found.cache == pytest.approx(0.5 * 80 - 5 - 2 * P / GB)
    assert found.longest == int(found.cache * GB / (4 * 28 * 256) / (2048 + 8192))


def test_ranks_that_share_rows_share_activations() -> None:
    whole, split = (needs(config(deepspeed={"sequence_parallel": ranks}), Machine()) for ranks in (1, 4))
    assert whole.activations == pytest.approx(4 * split.activations)


@pytest.mark.parametrize(
    ("said", "gpu_gb", "complaint"),
    [
        ({}, 80.0, "servers share the GPUs of ranks"),
        ({"rollout": {"servers": ["http://a"]}}, 80.0, None),
        ({"rollout": {"devices": "8"}}, 80.0, None),
        ({"rollout": {"devices": "8"}}, 16.0, "a training GPU needs"),
        ({"rollout": {"devices": "8", "gpu_memory": 0.1}}, 80.0, "holds no sequence of full length"),
        ({"rollout": {"turns": True, "gpu_memory": 0.9}}, 80.0, "while vLLM samples, a GPU holds"),
        ({"rollout": {"turns": True, "gpu_memory": 0.7}}, 80.0, None),
    ],
)
def test_what_does_not_fit_is_said_with_a_remedy(said: dict[str, Any], gpu_gb: float, complaint: str | None) -> None:
    found = problems(config(**said), Machine(gpu_gb=gpu_gb))
    assert bool(found) == bool(complaint)
    assert complaint is None or any(complaint in line for line in found)


@pytest.mark.parametrize("name", shipped())
def test_a_dry_run_of_every_shipped_configuration(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Except smoke's model, which `make train` makes."""
    if name == "smoke":
        return
    assert main([name, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{name}: ")
    assert said.count("  fits") == len(load(Path(name)).stage_configs)


def table() -> str:
    """Return the plans of all shipped configurations as a Markdown table."""
    lines = [["", "ranks", "servers", "GB a GPU to train", "KV GB", "sequences", "fits 80 GB"], ["---"] * 7]
    for name in shipped():
        if name == "smoke":
            continue
        config, machine = load(Path(name)), machine_of(name, 0, Machine.gpu_gb)
        for stage in stages(config):
            own = needs(stage, machine)
            label = f"`{name}`" + (f" {stage.rollout.max_tokens // 1024}K" if config.stages else "")
            servers = f"{config.rollout.replicas} × {config.rollout.tensor_parallel}"
            fits = "no" if problems(stage, machine) else "yes"
            figures = [f"{ceil(own.training)}", f"{own.cache:.0f}", f"{own.longest}", fits]
            lines.append([label, f"{machine.ranks}", servers + (", in turn" if config.rollout.turns else ""), *figures])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def test_the_document_has_the_table() -> None:
    assert table() in DOCUMENT, f"docs/sizing.md needs this table:\n{table()}"
    assert all(f"`{name}`" in table() for name in set(shipped()) - {"smoke"})


def test_the_documents_servers_are_started_as_ours_are() -> None:
    config = load(Path("deepcoder_14b"), ["rollout.turns=false"])
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


def test_a_dry_run_is_by_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deepscaler_1.5b", "--dry-run", "--ranks", "4", "--gpu-gb", "24"]) == 1
    said = capsys.readouterr().out
    assert [int(step) for step in re.findall(r"from step (\d+)", said)] == [1, 1041, 1521]
    assert said.count("does not fit: ") >= 3
    assert "8 servers, on GPUs 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7, which give memory back while the ranks train" in said
    assert "weights: by file" in said


def test_a_model_that_is_not_known_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.toml"
    path.write_text('model.path = "nobody/knows"\ndata.train = ["d"]\n')
    assert main([str(path), "--dry-run"]) == 2
    assert "the shape of 'nobody/knows' is not known" in capsys.readouterr().err
    with pytest.raises(ConfigError):
        Shape.of("nobody/knows")
