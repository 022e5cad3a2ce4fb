"""Tests that chunked log-probabilities of packed rows equal the full softmax of each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from tests.trainer.tiny import tiny_model, tiny_tokenizer
from trainer.attention import ROWS, attend
from trainer.batch import collate
from trainer.config import resolve
from trainer.episode import MicroBatch, Row
from trainer.logprob import Head, Scorer
from trainer.model import attention_of

TEMPERATURE = 0.7
SHAPES = ((12, 5), (2, 1), (30, 17), (7, 6))  # tokens of a row, and of its response
close = partial(torch.testing.assert_close, rtol=1e-5, atol=2e-6)  # float32, sums in another order


def rows() -> list[Row]:
    draw = torch.Generator().manual_seed(3)
    return [
        Row(torch.randint(4, 260, (tokens,), generator=draw).tolist(), response, [0.0] * response, 1.0)
        for tokens, response in SHAPES
    ]


def packed() -> MicroBatch:
    return collate(rows(), [1.0] * len(SHAPES))


def scored(model: Any, chunk: int, micro: MicroBatch, with_entropy: bool = True) -> tuple[Tensor, Tensor]:
    logp, entropy = Scorer(model, chunk)(
        micro.ids, micro.positions, micro.where, micro.targets, TEMPERATURE, with_entropy
    )
    return logp, entropy


@dataclass
class Full:
    """By Hugging Face's own forward pass and the full softmax."""

    logp: Tensor
    entropy: Tensor


def alone(model: Any) -> Full:
    """A row at a time."""
    logp, entropy = [], []
    for row in rows():
        logits = model(torch.tensor([row.ids])).logits[0, -row.response - 1 : -1] / TEMPERATURE
        every = torch.log_softmax(logits, -1)
        logp.append(every.gather(1, torch.tensor(row.ids)[-row.response :, None])[:, 0])
        entropy.append(-(logits.softmax(-1) * every).sum(-1))
    return Full(torch.cat(logp), torch.cat(entropy))


def padded(model: Any) -> Tensor:
    """All rows at once, with padding to the right and a mask."""
    longest = max(tokens for tokens, _ in SHAPES)
    ids = torch.tensor([[*row.ids, *[0] * (longest - len(row.ids))] for row in rows()])
    mask = torch.tensor([[1] * tokens + [0] * (longest - tokens) for tokens, _ in SHAPES])
    every = torch.log_softmax(model(ids, attention_mask=mask).logits[:, :-1] / TEMPERATURE, -1)
    logp = every.gather(2, ids[:, 1:, None])[..., 0]
    return torch.cat([logp[n, tokens - response - 1 : tokens - 1] for n, (tokens, response) in enumerate(SHAPES)])


def model_with(attention: str = "sdpa", tied: bool = True) -> Any:
    AttentionInterface.register(ROWS, attend)
    model = tiny_model(tiny_tokenizer(), hidden=32, tied=tied)
    model.set_attn_implementation(attention)
    return model


def gradients(model: Any, logp: Tensor) -> dict[str, Tensor]:
    """Of a sum in which all tokens differ."""
    model.zero_grad()
    (logp * torch.linspace(-1, 2, logp.numel())).sum().backward()  # type: ignore[no-untyped-call]
    return {name: weight.grad for name, weight in model.named_parameters()}


@pytest.mark.parametrize("attention", ["sdpa", "eager", ROWS])
def test_packed_is_each_row_alone(attention: str) -> None:
    truth = alone(model_with("eager"))
    model = model_with(attention)
    logp = scored(model, 8, packed())[0]
    close(logp, truth.logp)
    reference = model_with("eager")
    expected = gradients(reference, alone(reference).logp)
    for name, gradient in gradients(model, logp).items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.filterwarnings("ignore")  # of torch and transformers, on the way
def test_flex_attention_is_each_row_alone() -> None:
    """Without its compiler, which takes minutes, and without gradients, which it has on GPUs only."""
    truth = alone(model_with("eager")).logp
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        close(scored(model_with("flex_attention"), 8, packed())[0], truth)


@pytest.mark.skipif(
    not (find_spec("flash_attn") and torch.cuda.is_available()), reason="flash_attention_2 needs its package and a GPU"
)
def test_packed_is_each_row_alone_with_flash_attention() -> None:
    with torch.device("cuda"):
        model = model_with("flash_attention_2").bfloat16()
        torch.testing.assert_close(scored(model, 8, packed())[0], alone(model).logp.float(), rtol=0.02, atol=0.05)


@pytest.mark.parametrize("attention", ["sdpa", "eager", ROWS])
def test_packed_is_padded(attention: str) -> None:
    model = model_with(attention)
    close(scored(model, 8, packed())[0], padded(model_with("eager")))


@pytest.mark.parametrize("attention", ["sdpa", "eager", ROWS])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_rows_do_not_see_each_other(attention: str, checkpointing: bool) -> None:
    """What the first row is does not matter to the others; it does if positions run on (so the test can tell)."""
    model = model_with(attention).train()
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    micro, other = packed(), packed()
    other.ids[: SHAPES[0][0]] = 99
    after = slice(SHAPES[0][1], None)
    assert torch.equal(scored(model, 8, micro)[0][after], scored(model, 8, other)[0][after])
    for each in (micro, other):
        each.positions.copy_(torch.arange(each.ids.numel()))
    assert not torch.allclose(scored(model, 8, micro)[0][after], scored(model, 8, other)[0][after], atol=1e-3)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("chunk", [1, 4, 29, 1000])
def test_chunked_is_full(chunk: int, tied: bool) -> None:
    """Values, entropies, and the gradient of every parameter."""
    model = model_with(tied=tied)
    full = alone(model)
    expected = gradients(model, full.logp)
    logp, entropy = scored(model, chunk, packed())
    close(logp, full.logp)
    close(entropy, full.entropy)
    assert not entropy.requires_grad
    for name, gradient in gradients(model, logp).items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-5, msg=name)


def test_no_response_token_at_all_goes_forward_and_backward() -> None:
    model = model_with()
    micro = packed()
    none = torch.zeros(0, dtype=torch.int64)
    nothing = MicroBatch(micro.ids, micro.positions, none, none, none, Tensor(), Tensor(), Tensor())
    logp, entropy = scored(model, 4, nothing)
    assert logp.shape == entropy.shape == (0,)
    assert all(not gradient.any() for gradient in gradients(model, logp).values())


def test_entropies_are_only_made_when_asked_for() -> None:
    model = model_with()
    assert not scored(model, 8, packed(), with_entropy=False)[1].any()


def test_bfloat16_gives_float32() -> None:
    model = model_with()
    exact = scored(model, 8, packed())[0]
    logp, entropy = scored(model.bfloat16(), 8, packed())
    assert logp.dtype == entropy.dtype == torch.float32
    assert (logp - exact).abs().max() < 0.05


def test_other_logits_than_a_product_are_refused() -> None:
    model = model_with()
    model.config.final_logit_softcapping = 30.0
    with pytest.raises(ValueError, match="final_logit_softcapping"):
        Scorer(model, 8)


def peak_bytes(work: Any) -> int:
    """The most that was allocated at a time, above what there was before, by torch's own account of its CPU memory."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        work()
    results = profile.profiler.kineto_results
    changes = [(event.start_ns(), event.nbytes()) for event in results.events() if event.name() == "[memory]"]
    held = most = 0
    for _, change in sorted(changes, key=lambda each: each[0]):
        held += change
        most = max(most, held)
    return most


def test_an_eighth_of_the_memory() -> None:
    """Forward and backward at a vocabulary of 32,768, in chunks of an eighth; the hidden states are next to nothing."""
    tokens, width, vocabulary = 256, 16, 32_768
    projection = nn.Linear(width, vocabulary, bias=False)
    projection.weight.requires_grad_(False)  # its gradient is as large either way
    hidden = torch.randn(tokens, width, requires_grad=True)
    targets = torch.arange(tokens)

    def full() -> None:
        every = torch.log_softmax(projection(hidden) / TEMPERATURE, -1)
        every.gather(1, targets[:, None]).sum().backward()  # type: ignore[no-untyped-call]

    def chunked() -> None:
        Head(projection, tokens // 8)(hidden, targets, TEMPERATURE, True)[0].sum().backward()

    full()  # gradients are allocated
    whole, part = peak_bytes(full), peak_bytes(chunked)
    print(f"peak: full {whole >> 20} MiB, chunked {part >> 20} MiB")
    assert whole >= 3 * tokens * vocabulary * 4
    assert part <= 1.01 * whole / 8  # a per cent for what is as long as N


def test_a_sliding_window_ends_where_transformers_ends_it() -> None:
    """With a window of five tokens; and it matters (so the test can tell)."""
    logp = {}
    for attention in ("eager", ROWS):
        model = model_with(attention)
        model.config.sliding_window, model.config.layer_types = 5, ["sliding_attention"] * 2
        model.model.has_sliding_layers = True
        for layer in model.model.layers:
            layer.attention_type, layer.self_attn.sliding_window = "sliding_attention", 5
        logp[attention] = scored(model, 8, packed())[0]
    close(logp[ROWS], logp["eager"])
    assert not torch.allclose(logp[ROWS], scored(model_with(), 8, packed())[0], atol=1e-3)


def test_what_rows_cannot_do_is_refused() -> None:
    some = torch.zeros(1, 2, 3, 4)
    with pytest.raises(ValueError, match="'eager'"):
        attend(None, some, some, some, None, row_lengths=[3], softcap=30.0)


@pytest.mark.parametrize(
    ("wanted", "has_flash", "is_split", "expected"),
    [
        ("auto", False, False, ROWS),
        ("auto", True, False, "flash_attention_2"),
        ("auto", True, True, ROWS),
        ("rows", True, False, ROWS),
        ("eager", True, False, "eager"),
        ("flash_attention_2", False, False, "flash_attention_2"),
    ],
)
def test_attention_is_chosen(
    wanted: str, has_flash: bool, is_split: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.utils.import_utils.is_flash_attn_2_available", lambda: has_flash)
    settings = {"path": "m", "attention": wanted, "dtype": "bfloat16"}
    assert attention_of(resolve({"model": settings, "data": {"train": ["d"]}}), is_split) == expected
    flash = {"path": "m", "attention": "auto", "dtype": "float32"}
    assert attention_of(resolve({"model": flash, "data": {"train": ["d"]}}), is_split) == ROWS, "not in float32"


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, pytest.param(16, marks=pytest.mark.full)])
def test_rows_need_no_mask_of_all_tokens_against_all(count: int) -> None:
    """Rows of 1,024 tokens, forward: sdpa's mask of 4,096 tokens is 16 MiB of bool, of 16,384 tokens 256."""
    draw = torch.Generator().manual_seed(0)
    long = [Row(torch.randint(4, 260, (1024,), generator=draw).tolist(), 8, [0.0] * 8, 1.0) for _ in range(count)]
    micro = collate(long, [1.0] * count)
    peaks = {name: peak_bytes(partial(scored, model_with(name), 64, micro)) for name in ("sdpa", ROWS)}
    print({name: f"{peak >> 20} MiB" for name, peak in peaks.items()})
    assert peaks[ROWS] + micro.ids.numel() ** 2 <= peaks["sdpa"]


def test_the_entropy_has_a_gradient_where_it_is_rewarded() -> None:
    model = model_with()
    micro = packed()
    scorer = Scorer(model, 4, learns_entropy=True)
    entropy = scorer(micro.ids, micro.positions, micro.where, micro.targets, TEMPERATURE, True)[1]
    full = alone(model).entropy
    close(entropy, full)
    expected = gradients(model, full)
    for name, gradient in gradients(model, entropy).items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-5, msg=name)
