"""Tests of the report: file, sinks, terminal, clock and repetition."""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from trainer.config import Config, resolve
from trainer.errors import ConfigError
from trainer.metrics import repetition
from trainer.report import Clock, PatientFile, Report, read, where_the_time_went


class Time:
    """That passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def configured(folder: Path, **watch: Any) -> Config:
    watch = {"tensorboard": False} | watch
    return resolve(
        {"model": {"path": "m"}, "data": {"train": ["d"]}, "out": str(folder), "name": "r", "steps": 9, "watch": watch}
    )


def clock(**seconds: float) -> Clock:
    made = Clock(at := Time())
    for name, length in seconds.items():
        with made(name):
            at.now += length
    return made


def report(folder: Path, done: int = 0, **watch: Any) -> Report:
    return Report(configured(folder, **watch), done)


# --- the clock


def test_times_add_up_to_the_step() -> None:
    made = Clock(at := Time())
    with made("generate"):
        at.now += 5
        with made("sync"):
            at.now += 2
            with made("deep"):
                at.now += 0.5
        at.now += 1
    at.now += 0.25
    with made("sync"):
        at.now += 1
    assert made.seconds() == {"generate": 6, "sync": 3, "deep": 0.5, "other": 0.25}


def test_waiting_is_taken_from_generating() -> None:
    made = clock(generate=6)
    made.count_as_wait(2)
    assert made.seconds() == {"generate": 4, "wait": 2, "other": 0}
    made.count_as_wait(100)
    assert made.seconds() == {"generate": 0, "wait": 6, "other": 0}


def test_a_reset_begins_again() -> None:
    made = clock(train=1)
    made.reset()
    assert made.seconds() == {"other": 0}


def test_time_that_ends_in_trouble_counts() -> None:
    made = Clock(at := Time())

    def train() -> None:
        with made("train"):
            at.now += 3
            raise OSError

    with pytest.raises(OSError):
        train()
    assert made.seconds()["train"] == 3


# --- the file


def test_a_step_is_a_line_at_once(tmp_path: Path) -> None:
    made = report(tmp_path)
    made.step(1, {"reward": 0.5, "entropy": float("nan"), "gap": float("inf")}, clock(train=2, generate=3))
    (row,) = read(tmp_path / "r" / "metrics.jsonl")
    assert abs(row.pop("time") - time.time()) < 60
    assert row == {
        "step": 1,
        "reward": 0.5,
        "entropy": None,
        "gap": None,
        "step_seconds": 5,
        "seconds_generate": 3,
        "seconds_train": 2,
        "seconds_other": 0,
    }
    assert list(row)[-3:] == ["seconds_generate", "seconds_train", "seconds_other"], "in the order of a step"
    made.close()


def test_a_resumed_run_goes_on_after_what_was_saved(tmp_path: Path) -> None:
    first = report(tmp_path)
    for step in (1, 2, 3, 4):
        first.step(step, {"reward": step}, clock())
    first.close()
    second = report(tmp_path, done=2)
    second.step(3, {"reward": 30}, clock())
    second.close()
    assert [(row["step"], row["reward"]) for row in read(tmp_path / "r" / "metrics.jsonl")] == [(1, 1), (2, 2), (3, 30)]


def test_a_line_that_was_not_finished_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r" / "metrics.jsonl"
    path.parent.mkdir()
    path.write_text('{"step": 1}\n{"step": 2, "rew')
    made = report(tmp_path, done=2)
    made.step(2, {}, clock())
    made.close()
    assert [row["step"] for row in read(path)] == [1, 2]


def test_a_line_that_is_damaged_is_named(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"st\n{"step": 3}\n')
    with pytest.raises(ConfigError, match=r"metrics\.jsonl: a line is damaged, remove it: (Unterminated|Invalid)"):
        read(path)


def test_a_new_run_begins_a_new_file(tmp_path: Path) -> None:
    for _ in range(2):
        made = report(tmp_path)
        made.step(1, {}, clock())
        made.close()
    assert len(read(tmp_path / "r" / "metrics.jsonl")) == 1


# --- the sinks


def test_tensorboard_has_the_figures(tmp_path: Path) -> None:
    made = report(tmp_path, tensorboard=True)
    made.step(1, {"reward": 0.25, "entropy": float("nan")}, clock(train=1))
    made.step(2, {"reward": 0.5}, clock(train=1))
    made.close()
    events = EventAccumulator(str(tmp_path / "r" / "tensorboard"))
    events.Reload()
    assert [(each.step, each.value) for each in events.Scalars("reward")] == [(1, 0.25), (2, 0.5)]
    assert "entropy" not in events.Tags()["scalars"]


def test_a_tensorboard_that_is_missing_is_only_mentioned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    report(tmp_path, tensorboard=True).close()
    assert "pip install tensorboard" in capsys.readouterr().err


def test_a_wandb_that_is_asked_for_and_missing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    report(tmp_path).close()
    with pytest.raises(
        ConfigError, match=r"watch\.wandb names a project, but wandb is not installed: pip install wandb"
    ):
        report(tmp_path, wandb="project")


class FakeWandb(ModuleType):
    """Remembers what it was told."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.told: list[Any] = []

    def init(self, **options: Any) -> FakeWandb:
        self.told.append((options["project"], options["name"], options["config"]["steps"]))
        return self

    def log(self, figures: dict[str, float], step: int) -> None:
        self.told.append((step, figures["reward"], "entropy" in figures))

    def finish(self) -> None:
        self.told.append("finished")


def test_wandb_is_told_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", fake := FakeWandb())
    made = report(tmp_path, wandb="project")
    made.step(1, {"reward": 0.5, "entropy": float("nan")}, clock())
    made.close()
    assert fake.told == [("project", "r", 9), (1, 0.5, False), "finished"]


# --- the terminal


def test_a_step_is_a_plain_line_on_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = report(tmp_path)
    made.step(1, {"reward": 0.5, "pass_rate": 0.25}, clock(train=2, generate=1))
    made.notice("[bold]vLLM[/] is away")
    made.close()
    assert capsys.readouterr().err.splitlines() == [
        "step 1/9 · reward 0.500 · passed 25.0% · s/step 3",
        "[bold]vLLM[/] is away",
        "0:00:03: generate 33% · train 67%",
    ]


def test_where_the_time_went_is_one_line_in_the_order_of_a_step() -> None:
    seconds = {"other": 36.0, "sync": 0.0, "train": 1800.0, "generate": 3600.0, "wait": 1764.0}
    assert where_the_time_went(seconds) == "2:00:00: generate 50% · wait 24% · train 25% · other 0%"
    assert where_the_time_went({"train": 61.0}) == "0:01:01: train 100%"


# --- repetition


def slow_repetition(ids: list[int], span: int) -> float:
    windows = [tuple(ids[at : at + span]) for at in range(len(ids) - span + 1)]
    return (len(windows) - len(set(windows))) / len(windows) if windows else 0.0


def test_repetition_is_the_share_of_windows_seen_before() -> None:
    assert repetition([]) == repetition(range(19)) == repetition(range(1000)) == 0.0
    assert repetition([7] * 20) == 0.0
    assert repetition([7] * 119) == 0.99
    assert repetition([*range(20), *range(20)]) == 1 / 21


@pytest.mark.parametrize("span", [1, 2, 5, 20])
def test_repetition_is_what_plain_counting_says(span: int) -> None:
    chance = random.Random(span)
    for _ in range(50):
        motif = [chance.randrange(3) for _ in range(chance.randrange(1, 30))]
        ids = [
            each
            for _ in range(chance.randrange(1, 9))
            for each in (motif if chance.random() < 0.7 else [chance.randrange(150_000)])
        ]
        assert repetition(ids, span) == slow_repetition(ids, span)


def test_repetition_is_cheap() -> None:
    ids = [random.Random(0).randrange(150_000) for _ in range(32_768)]
    began = time.process_time()
    for _ in range(10):
        repetition(ids)
    assert time.process_time() - began < 1.0


def test_lines_are_json(tmp_path: Path) -> None:
    made = report(tmp_path)
    made.step(1, {"é": 1.5}, clock())
    made.close()
    assert json.loads((tmp_path / "r" / "metrics.jsonl").read_text())["é"] == 1.5


def test_what_waits_for_a_full_disk_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainer.report.LEFT_BYTES", 30)
    path, before = tmp_path / "lines", resource.getrlimit(resource.RLIMIT_FSIZE)
    file = PatientFile(path, lambda _: None)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, before[1]))
    try:
        for number in range(100):
            file.append(f"{number:03} " + 10 * "x" + "\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    file.append("end\n")
    file.close()
    assert path.read_text().splitlines() == [*(f"{number:03} xxxxxxxxxx" for number in range(3)), "end"], "whole lines"


def test_a_full_disk_ends_no_run_and_loses_no_line(tmp_path: Path) -> None:
    """A limit on the size of files stands in for it."""
    path, notices = tmp_path / "lines", list[str]()
    file, before = PatientFile(path, notices.append), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (25, before[1]))
    try:
        for number in range(3):
            file.append(f"{number} " + 10 * "x" + "\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.stat().st_size == 25
    assert file.append("end\n") == len(path.read_bytes())
    file.close()
    assert path.read_text().splitlines() == [*(f"{number} xxxxxxxxxx" for number in range(3)), "end"]
    assert len(notices) == 2
    assert "the run continues: [Errno 27]" in notices[0]
