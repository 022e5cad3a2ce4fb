"""Tests of the start of a run: wrong settings and files end it before a model is loaded, and a sync has an end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.trainer.pipeline_world import Simulated, Slow
from tests.trainer.tiny import save_tiny
from trainer import train
from trainer.config import Config, resolve
from trainer.errors import ConfigError, UnavailableError
from trainer.model import load
from trainer.report import Report


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
    (tmp_path / "none.jsonl").write_text('{"id": "a", "prompt": "hi", "tests": [{"type": "stdin", "output": ""}]}\n')
    with pytest.raises(ConfigError, match=r"held\.jsonl: No such file"):
        train.run(configured(tmp_path, held_out={"problems": [str(tmp_path / "held.jsonl")]}))


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
