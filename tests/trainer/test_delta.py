"""Tests that a delta gives the same bits as a full sync, or fails and is replaced by one.

For 50 steps with two vLLM servers, one of which is killed: `python -m benchmarks delta`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.trainer.vllm_digests import held_by_vllm
from tests.trainer.vllm_world import Policy, World
from trainer.config import resolve
from trainer.errors import ConfigError, InterruptedGenerationError, StaleWeightsError
from trainer.sync.delta import ALL, DeltaSender, Patch, WeightCopy, decode_into, encode, parse_label
from trainer.sync.transports import Transport
from trainer.sync.weights import FIRST, SECOND, Bucket, Checksum, merged, unpack

Named = dict[str, Tensor]

# --- with vLLM


@pytest.mark.parametrize("transport", ["file", "broadcast"])
def test_after_each_delta_vllm_holds_the_very_bits(world: World, policy: Policy, transport: str) -> None:
    syncer = world.syncer(transport=transport, delta=True, full_every=4, timeout_seconds=30.0)
    synced = [world.step(policy, syncer, seed) for seed in range(6)]
    assert [each.kind for each in synced] == ["full", "delta", "delta", "delta", "full", "delta"]
    for each in synced:
        assert each.kind == "full" or 0.01 < each.density < 0.03
        assert each.kind == "full" or each.bytes < synced[0].bytes / 10
    syncer.close()


@pytest.mark.parametrize("kind", ["corrupt once: first", "corrupt once: last", "misremember"])
@pytest.mark.parametrize("transport", ["file", "broadcast"])
def test_a_delta_that_vllm_does_not_get_right_is_noticed_and_all_is_sent(
    world: World, policy: Policy, transport: str, kind: str
) -> None:
    syncer = world.syncer(transport=transport, delta=True, bucket_bytes=1 << 10, timeout_seconds=30.0)
    before = len(world.notices)
    assert [world.step(policy, syncer, seed).kind for seed in (1, 2)] == ["full", "delta"]
    with world.sabotaged(kind):
        assert world.step(policy, syncer, 4).kind == "full"
    assert ("received other weights" if kind == "misremember" else "changed on its way") in world.notices[before]
    assert [world.step(policy, syncer, seed).kind for seed in (5, 6)] == ["delta", "delta"]
    assert len(world.notices) == before + 1
    syncer.close()


@pytest.mark.parametrize("kind", ["ignore", "corrupt"])
def test_a_full_one_after_it_that_fails_as_well_ends_the_run(world: World, policy: Policy, kind: str) -> None:
    syncer = world.syncer(delta=True)
    world.step(policy, syncer, 1)
    with world.sabotaged(kind), pytest.raises(StaleWeightsError, match=r"does not hold it|received other weights"):
        world.step(policy, syncer, 2)
    assert [world.step(policy, syncer, seed).kind for seed in (3, 4)] == ["full", "delta"]


class Adapted(Policy):
    """A policy whose projections have adapters, sent as `Learner.weights` of the trainer sends them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.parts: Named = {}

    def move(self, seed: int, by: float = 0.1) -> None:
        """Other adapters."""
        generator = torch.Generator().manual_seed(seed)
        self.parts = self.parts or {name: weight.detach().clone() for name, weight in self.model.named_parameters()}
        with torch.no_grad():
            for name, weight in self.model.named_parameters():
                if name.endswith("proj.weight"):
                    for suffix, shape in ((FIRST, (2, weight.shape[1])), (SECOND, (weight.shape[0], 2))):
                        self.parts[name + suffix] = torch.randn(shape, generator=generator) * by
                    weight.copy_(merged(self.parts[name], self.parts[name + FIRST], self.parts[name + SECOND]))

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        for name, _ in self.model.named_parameters():
            yield from ((each, self.parts[each]) for each in (name + FIRST, name + SECOND, name) if each in self.parts)


@pytest.mark.parametrize(("transport", "bucket_bytes"), [("file", 1 << 12), ("file", 1 << 24), ("broadcast", 1 << 12)])
def test_a_delta_of_a_run_with_adapters_has_the_adapters_alone(world: World, transport: str, bucket_bytes: int) -> None:
    """Also where a weight and its adapters are in one file."""
    earlier = world.syncer(delta=True)
    assert world.sync(Policy(world.model), earlier)  # the workers know the weights' names
    earlier.close()
    policy = Adapted(world.model)
    syncer = world.syncer(
        transport=transport, delta=True, full_every=3, bucket_bytes=bucket_bytes, timeout_seconds=30.0
    )
    kinds, adapters = [], 0
    for seed in range(1, 5):
        policy.move(seed)
        synced = world.sync(policy, syncer)
        assert synced is not None
        (said,) = world.loop.do(world.engine.rpc("digests"))
        assert said["digests"] == held_by_vllm(dict(policy.model.named_parameters()), said["digests"])
        kinds.append(synced.kind)
        adapters = sum(part.numel() for name, part in policy.parts.items() if name.endswith((FIRST, SECOND)))
        assert synced.kind == "full" or synced.bytes < 1.3 * 4 * adapters
    assert kinds == ["full", "delta", "delta", "full"]
    assert adapters < sum(weight.numel() for weight in policy.model.parameters()) / 10
    syncer.close()


# --- patches


def patched(old: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> Patch:
    """Made, applied, and right."""
    patch, copy = encode(old, new), old.copy()
    assert patch is not None
    decode_into(patch.payload, patch.count, copy)
    assert np.array_equal(copy, new)
    assert patch.changed == (old != new).sum()
    assert patch.payload.size <= new.nbytes
    return patch


def with_changes(count: int, places: Iterable[int], dtype: str = "<i2") -> tuple[Any, Any]:
    old = np.random.default_rng(0).integers(-30000, 30000, count).astype(dtype)
    new = old.copy()
    new[list(places)] ^= 1
    return old, new


@pytest.mark.parametrize("dtype", ["<i1", "<i2", "<i4", "<i8"])
@pytest.mark.parametrize("density", [1e-4, 0.002, 0.04, 0.3, 0.6, 1.0])
def test_what_is_patched_has_the_new_bits_and_takes_no_more_than_all_of_them(dtype: str, density: float) -> None:
    count = 100_000
    patched(*with_changes(count, np.flatnonzero(np.random.default_rng(1).random(count) < density), dtype))


@pytest.mark.parametrize("way", [1, 254, 255, 256, 257, 510, 511, 65535, 65536, 65537, 131071])
@pytest.mark.parametrize("first", [0, 1, 255, 256, 65536])
def test_no_way_is_too_long_to_be_said(way: int, first: int) -> None:
    patched(*with_changes(300_000, [first, first + way, 299_999]))
    patched(*with_changes(first + way + 1, [first + way]))


@pytest.mark.parametrize(
    ("density", "is_sparse", "bytes_each"),
    [(0.04, True, 3.01), (0.006, True, 3.3), (0.0008, True, 7.7), (0.7, False, 3)],
)
def test_the_form_that_makes_the_fewest_bytes_is_taken(density: float, is_sparse: bool, bytes_each: float) -> None:
    count = 1 << 20
    places = np.flatnonzero(np.random.default_rng(2).random(count) < density)
    patch = patched(*with_changes(count, places))
    assert patch.count == (len(places) if is_sparse else ALL)
    assert patch.payload.size <= bytes_each * len(places)


def test_nothing_is_made_of_no_difference() -> None:
    old, _ = with_changes(10, [])
    assert encode(old, old.copy()) is None
    assert encode(old[:0], old[:0]) is None


def test_any_bit_that_flips_in_a_patch_is_noticed() -> None:
    """Also where the sums of all weights cannot tell: a 1.0 that is put where another 1.0 was."""
    ones = torch.ones(1000, dtype=torch.bfloat16).view(torch.int16).numpy()
    new = ones.copy()
    new[[3, 500, 800]] += 1
    patch = patched(ones, new)
    label = patch.label("norm", 0)
    for byte in range(patch.payload.size):
        for bit in range(8):
            payload = patch.payload.copy()
            payload[byte] ^= 1 << bit
            with pytest.raises(ValueError, match="changed on its way: 3:0:norm"):
                parse_label(label, payload)
    for place, letter in enumerate(label):
        with pytest.raises(ValueError, match="changed on its way"):
            parse_label(label[:place] + chr(ord(letter) ^ 1) + label[place + 1 :], patch.payload)


# --- what is kept


def weights(seed: int = 0) -> Named:
    generator = torch.Generator().manual_seed(seed)
    return {
        "embed": torch.randn(300, 16, generator=generator).to(torch.bfloat16),
        "norm": torch.ones(64, dtype=torch.bfloat16),
        "bias": torch.randn(40, generator=generator),
        "scale": torch.tensor(3.0),
        "none": torch.empty(0, 4),
    }


def stepped(named: Named, seed: int) -> Named:
    """A few numbers of each changed, some into others that compare strangely."""
    generator = torch.Generator().manual_seed(seed)
    new = {name: tensor.clone() for name, tensor in named.items()}
    for tensor in new.values():
        flat = tensor.view(-1)
        flat[torch.rand(flat.shape, generator=generator) < 0.05] += 0.5
    new["bias"][:4] = torch.tensor([float("nan"), float("inf"), -0.0, 0.0])
    return new


def is_same(one: Iterable[tuple[str, Tensor]], other: Iterable[tuple[str, Tensor]]) -> bool:
    """In names, shapes, data types and bits."""
    return [(n, t.dtype, t.shape, raw(t)) for n, t in one] == [(n, t.dtype, t.shape, raw(t)) for n, t in other]


def raw(tensor: Tensor) -> bytes:
    return tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes()


def fleeting(named: Named, seen: list[str]) -> Iterator[tuple[str, Tensor]]:
    """Each is there until the next one is asked for."""
    for name, tensor in named.items():
        seen.append(name)
        lent = tensor.clone()
        yield name, lent
        lent.view(-1).view(torch.uint8).fill_(0xAB)


@pytest.mark.parametrize("piece", [1, 7, 64, 1 << 20])
def test_patches_bring_a_copy_up_to_date_and_are_made_to_the_end_though_nobody_wants_them(
    monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr("trainer.sync.delta.PIECE", piece)
    ours, theirs, old = WeightCopy(), WeightCopy(), weights()
    new = stepped(old, 1)
    assert [list(kept.tee(old.items())) for kept in (ours, theirs)]
    for label, payload in ours.encode_changes(fleeting(new, [])):
        theirs.apply_patch(label, payload)
    assert is_same(theirs.items(), new.items())
    assert is_same(ours.items(), new.items())
    newer = stepped(new, 2)
    stream = iter(newer.items())
    for _ in ours.encode_changes(stream):
        break
    assert list(ours.encode_changes(stream))
    assert is_same(ours.items(), newer.items())


# --- two workers, in this process


class Worker:
    """What vllm_ext.Extension does, without a vLLM."""

    def __init__(self) -> None:
        self.kept, self.model, self.version = WeightCopy(), Named(), -1
        self.base: int | None = None
        self.begun = ""
        self.fault = ""
        self.received = Checksum()

    def proctor_state(self) -> dict[str, Any]:
        return {"base": self.base}

    def proctor_begin(self, begun: str) -> dict[str, Any]:
        self.begun, self.base, self.version, self.received, self.fault = begun, None, -1, Checksum(), ""
        return {}

    def take(self, coming: Iterable[tuple[str, Tensor]]) -> None:
        if self.begun == "delta":
            for label, payload in coming:
                try:
                    self.kept.apply_patch(label, payload)
                except ValueError as trouble:
                    self.fault = str(trouble)
            return
        for name, tensor in self.kept.tee(self.received.tee(coming)):
            self.model[name] = tensor.clone()

    def proctor_end(self, version: int) -> dict[str, Any]:
        if self.fault:
            raise StaleWeightsError(self.fault)  # as the engine would
        if self.begun == "delta":
            self.received = Checksum.of(self.kept.items())
            self.model = {name: tensor.clone() for name, tensor in self.kept.items()}
        self.base = self.version = version
        held = Checksum.of(self.model.items()).plain
        return {"version": version, "received": self.received.as_json(), "held": held}


class Wire(Transport):
    """To all workers; `spoil` may do something to what each gets, or raise what an engine would."""

    def __init__(self, workers: list[Worker], bucket_bytes: int = 200) -> None:
        super().__init__(self.ask, bucket_bytes)
        self.workers = workers
        self.spoil: Callable[[Tensor], object] = lambda _: None

    def ask(self, method: str, *arguments: Any) -> Future[list[dict[str, Any]]]:
        answer: Future[list[dict[str, Any]]] = Future()
        answer.set_result([getattr(worker, method)(*arguments) for worker in self.workers])
        return answer

    def _deliver(self, buckets: Iterable[Bucket]) -> None:
        for bucket in buckets:
            for worker in self.workers:
                coming = {name: tensor.clone() for name, tensor in unpack(bucket.places, bucket.payload)}
                for tensor in coming.values():
                    self.spoil(tensor.view(-1).view(torch.uint8))
                worker.take(coming.items())


class Pair:
    """Two workers, a trainer, and what it said."""

    def __init__(self, full_every: int = 10) -> None:
        self.wire = Wire([Worker(), Worker()])
        self.notices: list[str] = []
        self.delta = DeltaSender(self.wire, self.wire.ask, full_every, self.notices.append)
        self.now = weights()
        self.version = 0

    def step(self) -> str:
        """Train and sync: what kind of sync it was, once all is seen to be right."""
        self.version += 1
        self.now = stepped(self.now, self.version)
        seen: list[str] = []
        delivery = self.delta.send(self.version, fleeting(self.now, seen))
        assert seen == list(self.now)
        for worker in self.wire.workers:
            assert is_same(worker.model.items(), self.now.items())
        return delivery.kind

    def spoil_once(self, at: int, nth: int = 1) -> None:
        """Flip a bit in what comes next to somebody, or later."""
        left = [nth]

        def flip(payload: Tensor) -> None:
            left[0] -= 1
            if left[0] == 0:
                payload[at] ^= 1

        self.wire.spoil = flip


def test_over_50_steps_two_workers_have_the_same_bits_as_we_though_one_is_replaced() -> None:
    pair, kinds = Pair(), []
    for step in range(50):
        if step == 25:
            pair.wire.workers[1] = Worker()
        kinds.append(pair.step()[0])
    assert "".join(kinds) == "fddddddddd" * 2 + "fdddd" + "fddddddddd" * 2 + "fdddd"
    assert pair.notices == []


def test_a_delta_says_how_much_changed_and_how_much_was_sent() -> None:
    pair = Pair()
    pair.step()
    before, size = pair.now, sum(tensor.nbytes for tensor in pair.now.values())
    pair.now = stepped(before, 7)
    delivery = pair.delta.send(2, pair.now.items())
    changed = sum(int((raw_numbers(before[name]) != raw_numbers(pair.now[name])).sum()) for name in before)
    assert delivery.density == changed / sum(tensor.numel() for tensor in pair.now.values())
    assert 0.03 < delivery.density < 0.07
    assert delivery.bytes < size / 3
    assert pair.delta.send(3, pair.now.items()).bytes == 0


def raw_numbers(tensor: Tensor) -> Tensor:
    return tensor.view(-1).view({2: torch.int16, 4: torch.int32}[tensor.element_size()])


@pytest.mark.parametrize("late", [None, 1])
def test_one_that_is_behind_makes_it_full_for_all(late: int | None) -> None:
    pair = Pair()
    assert [pair.step() for _ in range(3)] == ["full", "delta", "delta"]
    pair.wire.workers[0].base = late
    assert [pair.step() for _ in range(2)] == ["full", "delta"]


@pytest.mark.parametrize("full_every", [1, 2, 3])
def test_every_nth_is_full(full_every: int) -> None:
    pair = Pair(full_every)
    assert [pair.step() for _ in range(6)] == (["full"] + ["delta"] * (full_every - 1)) * (6 // full_every)


@pytest.mark.parametrize("nth", [1, 2, 3, 6])
@pytest.mark.parametrize("at", [0, -1])
def test_a_bit_that_flips_on_its_way_is_noticed_and_all_is_sent_once(at: int, nth: int) -> None:
    pair = Pair()
    pair.step()
    pair.spoil_once(at, nth)
    assert pair.step() == "full"
    assert "changed on its way" in pair.notices[0]
    assert [pair.step(), pair.step()] == ["delta", "delta"]
    assert len(pair.notices) == 1


def test_a_bit_that_flips_in_a_workers_copy_is_noticed_by_what_it_adds_up_to() -> None:
    pair = Pair()
    pair.step()
    dict(pair.wire.workers[1].kept.items())["embed"].view(torch.int16)[5, 5] ^= 4
    assert pair.step() == "full"
    assert "worker 1 of vLLM received other weights than were sent" in pair.notices[0]


def test_a_delta_that_ends_in_the_middle_is_followed_by_all_there_is() -> None:
    pair = Pair()
    pair.step()
    failures = [StaleWeightsError("stopped")]

    def stop(_: Tensor) -> None:
        if failures:
            raise failures.pop()

    pair.wire.spoil = stop
    assert pair.step() == "full"
    assert pair.notices == ["a delta failed, all weights are sent instead: stopped"]


def test_what_goes_wrong_twice_ends_the_run() -> None:
    pair = Pair()
    pair.step()
    pair.wire.spoil = lambda payload: payload[:1].bitwise_xor_(1)
    with pytest.raises(StaleWeightsError, match="received other weights"):
        pair.step()


def test_after_an_interruption_all_is_sent() -> None:
    pair = Pair()
    pair.step()

    def interrupt(_: Tensor) -> None:
        raise InterruptedGenerationError("gone")

    pair.wire.spoil = interrupt
    with pytest.raises(InterruptedGenerationError):
        pair.step()
    pair.wire.spoil = lambda _: None
    for worker in pair.wire.workers:
        worker.base = 1  # and if they say so: our own copy is half of one version and half of another
    assert [pair.step(), pair.step()] == ["full", "delta"]
    assert pair.notices == []  # it was not tried


def test_a_delta_of_what_does_not_travel_is_refused() -> None:
    said = {"model": {"path": "m"}, "data": {"train": ["t"]}, "rollout": {"engine": "colocated"}}
    resolve(said)
    with pytest.raises(ConfigError, match="delta"):
        resolve(said | {"sync": {"delta": True}})
