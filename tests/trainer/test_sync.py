"""Tests of weight transports that run on a CPU, and of the detection of failed transfers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.trainer.vllm_world import PROBE, Policy, World, prompts
from trainer.errors import StaleWeightsError
from trainer.sync.transports import Delivery, MemoryTransport, check_delivery
from trainer.sync.weights import Checksum, pack, sum_of_bits, sum_on_device, unpack

CPU = torch.device("cpu")
CLOSE = 1e-4  # nats


@pytest.mark.parametrize("transport", ["file", "broadcast"])
def test_weights_that_changed_arrive_and_are_computed_with(world: World, policy: Policy, transport: str) -> None:
    newer = world.policy(seed=99)
    syncer = world.syncer(transport=transport, timeout_seconds=30.0)
    (before,) = world.samples([PROBE])
    assert newer.gap(PROBE, before) > 100 * CLOSE
    for changed in (newer, world.policy(seed=100)):  # twice: a circle is joined once
        synced = world.sync(changed, syncer)
        assert synced is not None
        assert all(each["held"] is not None for each in synced.reports)
        assert synced.gap < CLOSE
        assert synced.bytes >= sum(weight.nbytes for _, weight in changed.weights())
        gaps = [changed.gap(ids, made) for ids, made in zip(prompts(4), world.samples(prompts(4)), strict=True)]
        assert max(gaps) < CLOSE
    syncer.close()


def test_no_file_is_left_behind(world: World, policy: Policy, tmp_path: Path) -> None:
    assert world.sync(world.policy(seed=5), world.syncer(folder=str(tmp_path)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("ignore", "does not hold it"),
        ("corrupt", "received other weights"),
        ("forget", "has version -1 and should have"),
        ("pack", "does not use the synced weights"),
    ],
)
@pytest.mark.parametrize("transport", ["file", "broadcast"])
def test_a_sync_that_fails_in_silence_is_found(
    world: World, policy: Policy, transport: str, kind: str, said: str
) -> None:
    syncer = world.syncer(transport=transport, timeout_seconds=30.0)
    with world.sabotaged(kind), pytest.raises(StaleWeightsError, match=said):
        world.sync(world.policy(seed=7), syncer)
    assert world.engine.needs_sync
    assert world.sync(policy, syncer)
    assert not world.engine.needs_sync


def test_the_probe_alone_finds_weights_that_nobody_loaded(
    world: World, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainer.sync.transports.check_delivery", lambda *_: None)
    with world.sabotaged("ignore"), pytest.raises(StaleWeightsError, match=r"off by \d"):
        world.sync(world.policy(seed=8))


def test_a_name_that_the_model_does_not_have_is_told(world: World, policy: Policy) -> None:
    world.version += 1
    with pytest.raises(StaleWeightsError, match="proctor_load_files"):
        world.syncer().send(world.version, [("model.no.such", torch.ones(4))], policy.score)


def test_a_folder_that_vllm_does_not_see_is_told(
    world: World, policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainer.sync.transports.save_file", lambda *_: None)
    with pytest.raises(StaleWeightsError, match=r"sync\.folder must be one that vLLM sees"):
        world.sync(policy, world.syncer(folder=str(tmp_path)))


def test_weights_are_gone_through_once_and_to_the_end_though_it_fails(world: World, policy: Policy) -> None:
    seen: list[str] = []
    scored: list[Sequence[int]] = []

    def once() -> Any:
        for name, tensor in policy.weights():
            seen.append(name)
            yield name, tensor

    def score(ids: Sequence[int]) -> list[float]:
        scored.append(ids)
        return policy.score(ids)

    world.version += 1
    assert world.syncer().send(world.version, once(), score)
    assert seen == [name for name, _ in policy.weights()]
    assert scored == [PROBE]


# --- without vLLM


def tensors() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {
        "q": torch.randn(8, 16, generator=generator),
        "k": torch.randn(4, 16, generator=generator),
        "norm": torch.randn(7, generator=generator).to(torch.bfloat16),
        "scale": torch.tensor(3.0),
        "none": torch.empty(0, 4),
    }


def test_a_checksum_is_of_all_bits_in_any_order_fused_or_apart() -> None:
    one, two = tensors()["q"], tensors()["k"]
    assert (
        sum_of_bits(torch.cat([one, two])) == sum_of_bits(one) + sum_of_bits(two) == sum_of_bits(torch.cat([two, one]))
    )
    assert sum_of_bits(torch.cat([one, torch.zeros(3, 16)])) == sum_of_bits(one)
    assert sum_of_bits(one) != sum_of_bits(torch.nextafter(one, one + 1))
    assert sum_of_bits(one) == int(one.view(torch.int32).to(torch.int64).sum())


def test_a_checksum_wraps_and_is_the_same_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    large = torch.full((5,), -(1 << 62), dtype=torch.int64)
    monkeypatch.setattr("trainer.sync.weights.CHUNK", 2)
    assert sum_of_bits(large) == sum_on_device(large) == -(1 << 62)
    some = tensors()["q"]
    assert sum_of_bits(some) == sum_on_device(some.view(-1).view(torch.int32))


def test_two_that_changed_places_are_told_by_their_names() -> None:
    named = {"a": torch.ones(3), "b": torch.zeros(3)}
    swapped = {"a": named["b"], "b": named["a"]}
    assert Checksum.of(named.items()).plain == Checksum.of(swapped.items()).plain
    assert Checksum.of(named.items()).named != Checksum.of(swapped.items()).named


@pytest.mark.parametrize("bucket_bytes", [1, 64, 600, 1 << 20])
def test_what_is_packed_comes_out_again(bucket_bytes: int) -> None:
    buckets = list(pack(tensors().items(), bucket_bytes, CPU))
    back = {name: tensor for bucket in buckets for name, tensor in unpack(bucket.places, bucket.payload)}
    assert list(back) == list(tensors())
    for name, tensor in tensors().items():
        assert back[name].dtype == tensor.dtype
        assert torch.equal(back[name], tensor)
    assert all(bucket.payload.numel() <= max(bucket_bytes, 8 * 16 * 4) for bucket in buckets)
    assert len(buckets) == 1 or bucket_bytes < 1 << 20


def test_a_weight_may_be_gone_when_the_next_is_asked_for() -> None:
    def fleeting() -> Any:
        for name, tensor in tensors().items():
            lent = tensor.clone()
            yield name, lent
            lent.fill_(0)

    (bucket,) = pack(fleeting(), 1 << 20, CPU)
    back = dict(unpack(bucket.places, bucket.payload))
    assert all(torch.equal(back[name], tensor) for name, tensor in tensors().items())


def test_direct_hands_over_the_tensors_and_what_came_is_what_was_sent() -> None:
    came: dict[str, Tensor] = {}

    def call(method: str, *arguments: Any) -> Future[list[dict[str, Any]]]:
        if method == "proctor_load_tensors":
            came.update({name: tensor.clone() for name, tensor in arguments[0]})
        answer: Future[list[dict[str, Any]]] = Future()
        version = arguments[0] if method == "proctor_end" else -1
        answer.set_result([{"version": version, "received": Checksum.of(came.items()).as_json(), "held": None}])
        return answer

    MemoryTransport(call, 256).send(3, tensors().items())
    assert came.keys() == tensors().keys()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "worker 1 of vLLM has version 2 and should have 3"),
        ({"received": Checksum.of([]).as_json()}, "received other weights than were sent"),
        ({"held": {"torch.float32": 1}}, "does not hold it"),
    ],
)
def test_each_worker_is_looked_at(change: dict[str, Any], said: str) -> None:
    sent = Checksum.of([("a", torch.ones(3))])
    good = {"version": 3, "received": sent.as_json(), "held": sent.plain}
    delivery = Delivery(sent, [good, good], 12)
    check_delivery(delivery, 3)
    with pytest.raises(StaleWeightsError, match=said):
        check_delivery(replace(delivery, reports=[good, good | change]), 3)
