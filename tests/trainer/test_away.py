"""Tests of servers that hang, die or restart with other weights: no sample is lost or wrong.

PROCTOR_TEST_OUTAGE_SECONDS sets the length of an outage. By default a killed server is unavailable until it has
restarted, and a stopped one for 4 s.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest
from torch import Tensor

from sandbox_service.client import retries
from tests.ports import free_port
from tests.trainer.vllm_world import SECONDS, Policy, World, pool_of, prompts
from trainer.config import Config
from trainer.engines import server, vllm_api
from trainer.engines.server import ServerEngine
from trainer.episode import Completion
from trainer.errors import UnavailableError
from trainer.sync import Syncer

OUTAGE_SECONDS = float(os.environ.get("PROCTOR_TEST_OUTAGE_SECONDS", "0"))
STOP_SECONDS = OUTAGE_SECONDS or 4.0
CLOSE = 1e-4  # nats
LONG = 400  # tokens


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks more often than it would."""
    monkeypatch.setattr(server, "HEALTH_POLL_SECONDS", 0.2)
    for module in (vllm_api, server):
        monkeypatch.setattr(module, "HEALTH_TIMEOUT_SECONDS", 1.0)
    monkeypatch.setattr(retries, "NOTICE_SECONDS", 1.0)


def patient(config: Config, seconds: float) -> Config:
    rollout = config.rollout.model_copy(update={"patience_seconds": seconds})
    return config.model_copy(update={"rollout": rollout})


@contextmanager
def engine_for(world: World, policy: Policy, patience_seconds: float = SECONDS) -> Iterator[ServerEngine]:
    """One that did not start the server; its samples are long, so that something can happen in the middle."""
    engine = ServerEngine(patient(world.config, patience_seconds), world.process.url, world.notices.append)
    world.loop.do(engine.open())
    try:
        world.sync(policy, world.syncer(engine))
        yield engine
    finally:
        world.loop.do(engine.close())


@contextmanager
def stopped(world: World) -> Iterator[None]:
    """It is there and does nothing."""
    os.killpg(world.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(world.process.pid, signal.SIGCONT)


def until_done(
    world: World, asked: Future[list[Completion]], engine: ServerEngine, policy: Policy, syncer: Syncer
) -> tuple[list[Completion], list[str]]:
    """What the trainer's loop does: weights for an engine that came back without them. The samples, and the syncs."""
    kinds: list[str] = []
    until = time.monotonic() + SECONDS
    while not asked.done() and time.monotonic() < until:
        if engine.needs_sync and (synced := world.sync(policy, syncer)):
            kinds.append(synced.kind)
        time.sleep(0.1)
    return asked.result(0), kinds


def test_killed_in_the_middle_no_sample_is_lost_or_of_its_first_weights(world: World, policy: Policy) -> None:
    """The server that comes back gets all weights, and then deltas again."""
    engine, asked_for = world.engine, prompts(24)
    syncer = world.syncer(transport="broadcast", delta=True, timeout_seconds=30.0)
    assert [world.step(policy, syncer, seed).kind for seed in (1, 2)] == ["full", "delta"]
    before = engine._workers
    consumed: list[str] = []

    def weights() -> Iterator[tuple[str, Tensor]]:
        for name, tensor in policy.weights():
            consumed.append(name)
            yield name, tensor

    try:
        asked = world.begin(asked_for, max_tokens=LONG)
        time.sleep(1.0)
        assert not asked.done()
        os.killpg(world.process.pid, signal.SIGKILL)
        if OUTAGE_SECONDS:
            engine._process = None  # others start it
            time.sleep(OUTAGE_SECONDS)
            world.process.start()
        assert syncer.send(world.version + 1, weights(), policy.score) is None
        assert consumed == [name for name, _ in policy.weights()]
        assert engine.needs_sync
        assert not asked.done()
        samples, kinds = until_done(world, asked, engine, policy, syncer)
    finally:
        engine._process = world.process
    gaps = [policy.gap(ids, made) for ids, made in zip(asked_for, samples, strict=True)]
    initial = Policy(world.model)
    assert max(gaps) < CLOSE
    assert min(initial.gap(ids, made) for ids, made in zip(asked_for, samples, strict=True)) > 100 * CLOSE
    assert engine._workers != before
    assert any("waits for weights" in notice for notice in world.notices)
    assert [*kinds, world.step(policy, syncer, 3).kind] == ["full", "delta"]
    syncer.close()


@pytest.mark.usefixtures("impatient")
def test_stopped_for_a_while_the_run_waits_and_goes_on(world: World, policy: Policy) -> None:
    with engine_for(world, policy) as engine:
        asked = world.begin(prompts(24), engine, LONG)
        time.sleep(0.5)
        assert not asked.done()
        world.notices.clear()
        with stopped(world):
            time.sleep(STOP_SECONDS)
            assert not asked.done()
        samples = asked.result(SECONDS)
        assert not engine.needs_sync
        assert max(policy.gap(ids, made) for ids, made in zip(prompts(24), samples, strict=True)) < CLOSE
    said = "\n".join(world.notices)
    assert "is away (no answer for " in said
    assert "is back after" in said


@pytest.mark.usefixtures("impatient")
def test_away_for_longer_than_there_is_patience_ends_the_run(world: World, policy: Policy) -> None:
    with engine_for(world, policy, patience_seconds=2.0) as engine:
        asked = world.begin(prompts(4), engine, LONG)
        time.sleep(0.3)
        with (
            stopped(world),
            pytest.raises(UnavailableError, match=r"has been away for \d+ s.*rollout\.patience_seconds"),
        ):
            asked.result(30)
        with pytest.raises(UnavailableError):  # and it stays ended
            world.loop.do(pool_of(engine).generate([2, 3], 0, LONG))


def test_a_server_that_never_comes_ends_the_run(world: World) -> None:
    engine = ServerEngine(patient(world.config, 0.5), f"http://127.0.0.1:{free_port()}")
    with pytest.raises(UnavailableError, match="has been away"):
        world.loop.do(engine.open())


def test_a_server_that_was_started_again_between_two_requests_is_known_by_its_name(
    world: World, policy: Policy
) -> None:
    """Its answer is whole, on a connection that held, and of weights that are not ours."""
    with engine_for(world, policy) as engine:
        engine._workers = ("another",)
        asked = world.begin([[2, 3, 4]], engine)
        samples, _ = until_done(world, asked, engine, policy, world.syncer(engine))
        assert engine._workers != ("another",)
    assert policy.gap([2, 3, 4], samples[0]) < CLOSE
    assert "waits for weights" in world.notices[-1]
