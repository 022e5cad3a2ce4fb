"""Tests of the start of a run: wrong settings and files end it before a model is loaded, and a sync has an end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from tests.ports import free_port
from tests.trainer.pipeline_world import Simulated, Slow
from tests.trainer.tiny import save_tiny
from trainer import train
from trainer.checkpoint import LOCK, locked
from trainer.config import Config, resolve
from trainer.errors import ConfigError, UnavailableError, WriteError
from trainer.model import load
from trainer.report import Report
from trainer.train import Learner


def configured(folder: Path, **said: Any) -> Config:
    path = str(save_tiny(folder / "tiny", heads=4))
    train_files = {"train": [str(folder / "none.jsonl")], "format": "plain"}
    watch = {"tensorboard": False}
    return resolve({"model": {"path": path}, "data": train_files, "out": str(folder), "watch": watch} | said)


@pytest.fixture
def ranks(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Ranks that no model is loaded on."""
    ranks = SimpleNamespace(size=1, is_leader=True, broadcast=lambda thing: thing)
    monkeypatch.setattr("trainer.train.Ranks.join", lambda: ranks)
    monkeypatch.setattr(train, "Policy", lambda *_: pytest.fail("the model is loaded"))
    return ranks


def test_problems_are_read_before_the_model_is_loaded(tmp_path: Path, ranks: SimpleNamespace) -> None:
    with pytest.raises(ConfigError, match=r"none\.jsonl: No such file"):
        train.run(configured(tmp_path))
    (tmp_path / "none.jsonl").write_text(PROBLEM)
    with pytest.raises(ConfigError, match=r"held\.jsonl: No such file"):
        train.run(configured(tmp_path, held_out={"problems": [str(tmp_path / "held.jsonl")]}))


PROBLEM = '{"id": "a", "prompt": "hi", "tests": [{"type": "stdin", "output": ""}]}\n'


def test_the_reward_service_is_asked_before_the_model_is_loaded(tmp_path: Path, ranks: SimpleNamespace) -> None:
    """With a wrong key, at an address where something else answers, and with settings that it refuses."""

    async def start(status: int) -> None:
        async def refuse(_: web.Request) -> web.Response:
            return web.json_response({"error": {"message": "no"}}, status=status)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", refuse)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port := free_port()).start()
        try:
            config = configured(tmp_path, reward={"url": f"http://127.0.0.1:{port}", "key_variable": "NO_SUCH_KEY"})
            await asyncio.to_thread(train.run, config)
        finally:
            await runner.cleanup()

    (tmp_path / "none.jsonl").write_text(PROBLEM)
    refusals = {401: "the environment variable NO_SUCH_KEY is not set", 404: "is reward.url the address", 422: "422 no"}
    for status, said in refusals.items():
        with pytest.raises(ConfigError, match=said):
            asyncio.run(start(status))


def test_a_missing_package_is_found_before_the_model_is_loaded(
    tmp_path: Path, ranks: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none.jsonl").write_text(PROBLEM)
    for name in ("wandb", "peft"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match="wandb is not installed"):
        train.run(configured(tmp_path, watch={"wandb": "project"}))
    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_pretrained", lambda *_, **__: pytest.fail("loaded"))
    config = configured(tmp_path, lora={"rank": 4})
    with pytest.raises(ConfigError, match="peft is not installed"):
        load(config, config.model.path)


def test_a_folder_is_one_runs_and_a_failed_start_is_no_run(tmp_path: Path, ranks: SimpleNamespace) -> None:
    config = configured(tmp_path)
    with locked(config.folder / LOCK) as is_ours:
        assert is_ours
        with pytest.raises(ConfigError, match="another run uses"):
            train.run(config)
    (tmp_path / "none.jsonl").write_text(PROBLEM)
    Report(config).close()
    config = configured(tmp_path, reward={"url": "http://127.0.0.1:9", "patience_seconds": 0.1})
    with pytest.raises(UnavailableError, match=r"reward\.url"):
        train.run(config)


def test_a_rank_goes_on_after_a_write_that_failed_and_after_no_other_error() -> None:
    def follow(error: OSError, calls: list[Any]) -> None:
        def save_model(_: Path) -> None:
            raise error

        ranks: Any = SimpleNamespace(broadcast=lambda: calls.pop(0))
        policy: Any = SimpleNamespace(save_model=save_model)
        Learner(resolve({"model": {"path": "m"}, "data": {"train": ["d"]}}), policy, ranks).follow()

    calls: list[Any] = [("save", Path(), False), ("save", Path(), False), None]
    follow(WriteError("no space left"), calls)
    assert not calls
    with pytest.raises(BrokenPipeError):
        follow(BrokenPipeError(), [("save", Path(), False), None])


def test_a_vllm_in_the_process_is_for_one_rank(tmp_path: Path, ranks: SimpleNamespace) -> None:
    ranks.size = 2
    with pytest.raises(ConfigError, match="'colocated' is for one rank, and there are 2"):
        train.run(configured(tmp_path, rollout={"engine": "colocated"}))


def test_ranks_that_share_rows_share_out_the_heads(tmp_path: Path) -> None:
    config = configured(tmp_path, deepspeed={"sequence_parallel": 3})
    with pytest.raises(ConfigError, match="sequence_parallel is 3, which does not divide the 4 attention heads"):
        load(config, config.model.path)


def test_a_sync_that_is_always_interrupted_ends_the_run(tmp_path: Path) -> None:
    slow, syncs = Slow(uneven=False), list[int]()
    slow.send = lambda version, *_: syncs.append(version)  # type: ignore[method-assign]
    config = configured(tmp_path)
    report = Report(config)
    controller = Simulated(slow, config, report)
    try:
        with pytest.raises(UnavailableError, match="5 syncs of version 0 were interrupted"):
            controller.run(None)
    finally:
        controller.close()
        report.close()
    assert syncs == [0] * train.MOST_SYNCS
