"""Tests of engines with a real vLLM: samples are reported correctly, and log-probabilities are those of the given
model.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any, cast
from unittest.mock import patch

import pytest
from aiohttp import web
from transformers import AutoTokenizer

from tests.markers import one_in
from tests.ports import free_port
from tests.trainer.launcher import launch
from tests.trainer.parents import child_after, is_alive, wait_until
from tests.trainer.vllm_world import PROBE, SECONDS, TEMPERATURE, Policy, World, need_vllm, prompts
from trainer.config import resolve
from trainer.engines import colocated
from trainer.engines import process as engine_process
from trainer.engines.process import VllmProcess, arguments_of, check_state, devices_of
from trainer.engines.server import ServerEngine
from trainer.engines.server_pool import ServerPool
from trainer.engines.vllm_api import VllmApi
from trainer.episode import Completion
from trainer.errors import ConfigError, InterruptedGenerationError, TrainerError, UnavailableError
from trainer.sync.syncer import transport_of

CLOSE = 1e-4  # nats
ROOT = Path(__file__).parents[2]
END = 1  # the token
SAID = {"model": {"path": "m"}, "data": {"train": ["d"]}}
UNFINISHED = "\ufffd"  # vLLM keeps back the bytes of a character that the length cut


def test_logprobs_of_samples_are_the_models_at_the_sampling_temperature(world: World, policy: Policy) -> None:
    asked = prompts(16)
    gaps = [policy.gap(ids, made) for ids, made in zip(asked, world.samples(asked), strict=True)]
    assert max(gaps) < CLOSE


def test_a_sample_is_truncated_if_it_has_no_end_token(world: World, policy: Policy) -> None:
    samples = world.samples(prompts(120))
    for sample in samples:
        assert sample.is_truncated == (sample.ids[-1] != END)
        assert not sample.is_truncated or len(sample.ids) == world.config.rollout.max_tokens
    assert {sample.is_truncated for sample in samples} == {True, False}


def test_text_has_no_special_tokens(world: World, policy: Policy) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(world.model)
    for sample in world.samples(prompts(8)):
        whole = tokenizer.decode(sample.ids, skip_special_tokens=True)
        assert sample.text == whole[: len(sample.text)]
        assert whole[len(sample.text) :].strip(UNFINISHED) == ""


def test_a_seed_draws_the_same_sample_again_and_another_seed_another(world: World, policy: Policy) -> None:
    first, again = world.samples([PROBE, PROBE]), world.samples([PROBE, PROBE])
    assert [sample.ids for sample in first] == [sample.ids for sample in again]
    assert first[0].ids != first[1].ids


def test_scores_are_the_models_at_temperature_one(world: World, policy: Policy) -> None:
    theirs = world.loop.do(world.engine.score(PROBE))
    assert theirs == pytest.approx(policy.score(PROBE), abs=CLOSE)
    assert theirs != pytest.approx(policy.score(PROBE, TEMPERATURE), abs=CLOSE)


def test_a_prompt_that_fills_the_model_is_refused(world: World, policy: Policy) -> None:
    with pytest.raises(TrainerError, match="answered 400"):
        world.samples([[2] * 1024])


def test_nothing_is_sampled_before_the_first_sync(world: World, policy: Policy) -> None:
    engine = world.engine_of(process=None)
    world.loop.do(engine.open())
    try:
        assert engine.needs_sync
        assert engine.version == -1
        asked = world.begin(prompts(2), engine)
        time.sleep(1.0)
        assert not asked.done()
        world.sync(policy, world.syncer(engine))
        assert [policy.gap(ids, made) < CLOSE for ids, made in zip(prompts(2), asked.result(30), strict=True)]
    finally:
        world.loop.do(engine.close())


def test_a_sample_in_flight_lives_through_a_sync_and_says_so(world: World, policy: Policy) -> None:
    engine = world.engine_of(process=None)
    world.loop.do(engine.open())
    try:
        syncer = world.syncer(engine)
        world.sync(policy, syncer)
        before = world.version
        asked = world.begin([[2, 10, 20, 30 + number] for number in range(12)], engine, 1000)
        time.sleep(0.5)
        newer = world.policy(seed=4711)
        assert world.sync(newer, syncer)
        samples = asked.result(120)
    finally:
        world.loop.do(engine.close())
    across = [sample for sample in samples if sample.last_version == before + 1]
    assert {sample.version for sample in samples} == {before}
    assert across
    assert all(len(sample.ids) == len(sample.logprobs) for sample in samples)


def test_a_server_that_dies_as_it_starts_shows_the_end_of_its_log(world: World, tmp_path: Path) -> None:
    process = VllmProcess(arguments_of(world.config), tmp_path / "vllm.log")
    process._command = [sys.executable, "-c", "import sys; sys.exit('unrecognized arguments: --no-such-option')"]
    engine = ServerEngine(world.config, process.url, process=process)
    with pytest.raises(UnavailableError, match=r"(?s)died as it started.*unrecognized arguments: --no-such-option"):
        world.loop.do(engine.open())


def environment_of(pid: int) -> list[bytes]:
    """Of a process. While its program is being loaded it has none."""
    last = time.monotonic() + 10
    while not (found := Path(f"/proc/{pid}/environ").read_bytes()):
        assert time.monotonic() < last
        time.sleep(0.01)
    return found.split(b"\0")


def test_a_server_has_the_gpus_that_it_is_given_and_its_log_begins_with_its_command(tmp_path: Path) -> None:
    process = VllmProcess(["--model", "m"], tmp_path / "log", environment={"CUDA_VISIBLE_DEVICES": "6,7"})
    process.start()
    try:
        environment = environment_of(process.pid)
    finally:
        process.end()
    assert b"CUDA_VISIBLE_DEVICES=6,7" in environment
    first = (tmp_path / "log").read_text().splitlines()[0]
    assert first.startswith("$ VLLM_SERVER_DEV_MODE=1 ")
    assert "--worker-extension-cls trainer.vllm_ext.Extension --model m" in first


@pytest.mark.parametrize(
    ("dtype", "gpu", "said", "expected"),
    [
        ("float32", True, "", b"ieee"),
        ("float32", True, "tf32", b"tf32"),
        ("bfloat16", True, "", None),
        ("float32", False, "", None),
    ],
)
def test_a_server_in_float32_on_a_gpu_multiplies_without_tf32_unless_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, gpu: bool, said: str, expected: bytes | None
) -> None:
    monkeypatch.setattr(engine_process, "has_gpu", lambda: gpu)
    monkeypatch.delenv("TRITON_F32_DEFAULT", raising=False)
    if said:
        monkeypatch.setenv("TRITON_F32_DEFAULT", said)
    process = VllmProcess(["--model", "m", "--dtype", dtype], tmp_path / "log")
    process.start()
    try:
        variables = dict(each.partition(b"=")[::2] for each in environment_of(process.pid))
    finally:
        process.end()
    assert variables.get(b"TRITON_F32_DEFAULT") == expected


@pytest.mark.parametrize(("dtype", "expected"), [("float32", "ieee"), ("bfloat16", None)])
def test_vllm_in_the_trainers_process_multiplies_float32_matrices_without_tf32(
    monkeypatch: pytest.MonkeyPatch, dtype: str, expected: str | None
) -> None:
    seen: list[str | None] = []
    vllm = ModuleType("vllm")
    vllm.LLM = lambda *_, **__: seen.append(os.environ.get("TRITON_F32_DEFAULT"))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    monkeypatch.setattr(engine_process, "has_gpu", lambda: True)
    with patch.dict(os.environ):
        os.environ.pop("TRITON_F32_DEFAULT", None)
        colocated._vllm(resolve(SAID | {"model": {"path": "m", "dtype": dtype}}))
    assert seen == [expected]


@pytest.mark.parametrize("number", one_in(2, [signal.SIGKILL, signal.SIGTERM]))
def test_a_server_ends_with_whoever_started_it_though_it_does_not_listen(tmp_path: Path, number: int) -> None:
    child = child_after("engine", tmp_path / "pid", number)
    wait_until(lambda: not is_alive(child))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"logprobs_mode": "raw_logprobs"}, "processed_logprobs"),
        ({"quantization": "fp8"}, "quantised"),
        ({"dtype": "float16"}, "--dtype bfloat16"),
        ({"max_model_len": 512}, "max-model-len 512"),
    ],
)
def test_a_server_that_was_started_otherwise_is_refused(state: dict[str, Any], said: str) -> None:
    good = {"logprobs_mode": "processed_logprobs", "quantization": None, "dtype": "bfloat16", "max_model_len": 1024}
    config = resolve(SAID | {"rollout": {"max_model_len": 1024}, "data": {"train": ["d"], "max_prompt_tokens": 64}})
    check_state(good, config, "vLLM")
    with pytest.raises(ConfigError, match=said):
        check_state(good | state, config, "vLLM")


def test_a_response_without_a_token_is_no_sample() -> None:
    """The end token is one; without any there is nothing to train on, and nothing that tells whose sample it is."""

    async def work() -> None:
        app, port = web.Application(), free_port()
        choice: dict[str, Any] = {"token_ids": [], "logprobs": None, "finish_reason": "stop", "text": ""}

        async def answer(_: web.Request) -> web.Response:
            return web.json_response({"choices": [choice]})

        app.router.add_post("/v1/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        api = VllmApi(f"http://127.0.0.1:{port}")
        try:
            with pytest.raises(InterruptedGenerationError, match="a sample of 0 tokens ended by 'stop'"):
                await api.sample([1], 0, 8, resolve(SAID), 0)
        finally:
            await api.close()
            await runner.cleanup()

    asyncio.run(work())


class _Idle:
    """A server of which only the load is known."""

    def __init__(self, name: str, in_flight: int, is_ready: bool = True) -> None:
        self.name, self.in_flight, self.is_ready = name, in_flight, is_ready

        self.version, self.needs_sync = 1, not is_ready
        self.dies = False
        self.pauses = 0
        self.is_away = False
        self.listeners: list[Any] = []

    async def attempt(self, *_: object) -> Completion:
        if self.dies:
            self.is_ready = False
            raise InterruptedGenerationError("it died")
        return Completion([], [], self.name, is_truncated=False, version=0, last_version=0)

    async def pause(self) -> None:
        self.pauses += 1

    async def wait_until_healthy(self) -> None:
        while self.is_away:
            await asyncio.sleep(0.001)

    async def score(self, _: object) -> list[float]:
        return [float(self.in_flight)]


def test_of_several_servers_the_one_that_is_ready_and_has_least_to_do_is_asked() -> None:
    servers = ServerPool(cast(Any, [_Idle("busy", 5), _Idle("free", 2), _Idle("away", 0, is_ready=False)]))
    assert asyncio.run(servers.generate([1], None, 8)).text == "free"


def test_what_a_server_leaves_behind_another_one_does() -> None:
    dying, other = _Idle("dying", 0), _Idle("other", 3)
    dying.dies = True
    assert asyncio.run(ServerPool(cast(Any, [dying, other])).generate([1], None, 8)).text == "other"


def test_a_sample_that_waits_for_weights_goes_to_the_server_that_has_them_first() -> None:
    async def work() -> str:
        dead, other = _Idle("dead", 0, is_ready=False), _Idle("other", 3, is_ready=False)
        asked = asyncio.create_task(ServerPool(cast(Any, [dead, other])).generate([1], None, 8))
        await asyncio.sleep(0)
        assert not asked.done()
        other.is_ready = True
        for listener in other.listeners:
            listener()
        return (await asyncio.wait_for(asked, 5.0)).text

    assert asyncio.run(work()) == "other"


def test_a_sample_that_ended_on_a_server_that_dies_during_a_sync_is_not_waited_for() -> None:
    async def work() -> None:
        engine = ServerEngine(resolve(SAID), "http://none")
        ended = asyncio.create_task(engine._verified())
        await asyncio.sleep(0)
        assert not ended.done()
        engine._recovery = asyncio.create_task(asyncio.sleep(60))
        engine._move_gate()
        with pytest.raises(InterruptedGenerationError, match="went away during a sync"):
            await asyncio.wait_for(ended, 5.0)
        engine._recovery.cancel()

    asyncio.run(work())


def test_a_sync_leaves_out_a_server_that_is_away_and_waits_only_if_all_are() -> None:
    async def work() -> None:
        dead, other = _Idle("dead", 0), _Idle("other", 0)
        pool = ServerPool(cast(Any, [dead, other]))
        dead.is_away = dead.needs_sync = True
        assert not pool.needs_sync, "not as long as it is away"
        await pool.pause(2)
        assert (dead.pauses, other.pauses) == (0, 1)
        await pool.pause(1)  # the other one has this version
        assert (dead.pauses, other.pauses) == (1, 1)
        waiting = asyncio.create_task(pool.wait_until_healthy())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        dead.is_away = False
        await asyncio.wait_for(waiting, 5.0)
        assert pool.needs_sync
        dead.is_away = True
        pool._targets = cast(Any, [dead, other])
        await asyncio.wait_for(pool.wait_until_healthy(), 5.0)  # for the other one

    asyncio.run(work())


def test_only_a_server_that_lacks_the_weights_is_disturbed() -> None:
    fine, restarted = _Idle("fine", 0), _Idle("restarted", 1, is_ready=False)
    pool = ServerPool(cast(Any, [fine, restarted]))
    asyncio.run(pool.pause(1))
    assert (fine.pauses, restarted.pauses) == (0, 1)
    assert asyncio.run(pool.score([1])) == [[1.0]], "of the one that gets weights"
    asyncio.run(pool.pause(2))
    assert (fine.pauses, restarted.pauses) == (1, 2)


@pytest.mark.parametrize(
    ("rollout", "visible", "expected"),
    [
        ({}, "", ["", ""]),
        ({"replicas": 2}, "", ["0", "1"]),
        ({"replicas": 2, "tensor_parallel": 2}, "", ["0,1", "2,3"]),
        ({"replicas": 2, "tensor_parallel": 2}, "4,5,6,7", ["4,5", "6,7"]),
        ({"replicas": 2, "devices": "6,7"}, "0,1", ["6", "7"]),
        ({"turns": True}, "3", ["3", ""]),
    ],
)
def test_each_server_has_its_own_gpus(
    rollout: dict[str, Any], visible: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    config = resolve({"model": {"path": "m"}, "data": {"train": ["d"]}, "rollout": rollout})
    assert [devices_of(config, number) for number in (0, 1)] == expected


def test_too_few_gpus_for_the_replicas_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5")
    config = resolve({"model": {"path": "m"}, "data": {"train": ["d"]}, "rollout": {"replicas": 3}})
    with pytest.raises(ConfigError, match=r"CUDA_VISIBLE_DEVICES names 4,5: .* needs 3 GPUs"):
        devices_of(config, 0)


@pytest.mark.parametrize(
    ("rollout", "sync", "has_gpu", "expected"),
    [
        ({}, {}, False, "file"),
        ({}, {}, True, "file"),
        ({"devices": "1"}, {}, True, "broadcast"),
        ({"servers": ["http://other:8000"]}, {}, True, "broadcast"),
        ({"engine": "colocated"}, {}, False, "memory"),
        ({"turns": True}, {}, True, "file"),
        ({"turns": True, "replicas": 8}, {}, True, "file"),
        ({"turns": True}, {}, False, "file"),
        ({}, {"transport": "file"}, True, "file"),
    ],
)
def test_the_transport_is_chosen(rollout: dict[str, Any], sync: dict[str, Any], has_gpu: bool, expected: str) -> None:
    said = {"model": {"path": "m"}, "data": {"train": ["d"]}, "rollout": rollout, "sync": sync}
    assert transport_of(resolve(said), has_gpu) == expected


def test_an_engine_in_this_process_samples_at_once_and_takes_weights(tmp_path: Path) -> None:
    need_vllm()
    status, said = launch("tests.trainer.colocated_world", [str(tmp_path)], SECONDS)
    assert status == 0, said[-3000:]
    found = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    assert found["waits"]
    assert max(found[f"{what} {version}"] for what in ("probe", "gap") for version in (1, 2)) < CLOSE
    assert found["held 1"]
    assert found["held 2"]
    assert not found["in order"]  # each is there when it is finished, not when those before it are
    assert "does not use the synced weights" in found["stale"]


def test_requests_of_a_turn_are_added_together_and_aborted_ones_are_dropped_after_a_sync() -> None:
    need_vllm()
    status, said = launch("tests.trainer.stepped_world", [], SECONDS)
    assert status == 0, said[-3000:]
    found = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    assert found["together"] == ["add sample-0", "add sample-1", "add sample-2", "step", "step", "step"]
    assert found["held"]
    assert found["versions"] == [1, 2]
    assert found["aborted"] == ["abort sample-3"]
    assert found["errors"] == ["vLLM ended: RuntimeError('out of memory')", "vLLM has ended"]
