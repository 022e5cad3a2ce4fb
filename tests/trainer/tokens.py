"""Loss inputs in double precision: chosen ratios, or many random ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from trainer.loss import LossInputs, LossOutputs

Tokens = torch.Tensor
RATIOS = (0.1, 0.3, 0.5, 1.0, 1.1, 1.3, 1.5, 4.0)  # those of the published table of ASPO's weights


def inputs(
    ratios: Sequence[float] | Tokens,
    advantage: float | Tokens,
    entropy: Tokens | None = None,
    sequence: Tokens | None = None,
) -> LossInputs:
    """Tokens with these ratios; one row and no entropy unless given. `logp` is a leaf."""
    ratio = torch.as_tensor(ratios, dtype=torch.float64)
    old = -torch.linspace(0.1, 3.0, len(ratio), dtype=torch.float64)
    return LossInputs(
        logp=(old + ratio.log()).requires_grad_(),
        old=old,
        advantage=torch.as_tensor(advantage, dtype=torch.float64).expand(len(ratio)),
        entropy=torch.zeros_like(ratio) if entropy is None else entropy,
        sequence=torch.zeros(len(ratio), dtype=torch.int64) if sequence is None else sequence,
    )


def drawn(seed: int = 0, rows: int = 12, spread: float = 0.5) -> LossInputs:
    """Rows of 1 to 60 tokens, their log-ratios normal, advantages of either sign and one of 0."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 61, (rows,), generator=generator)
    sequence = torch.arange(rows).repeat_interleave(lengths)
    log_ratio = spread * torch.randn(len(sequence), generator=generator, dtype=torch.float64)
    advantage = torch.randn(rows, generator=generator, dtype=torch.float64)
    advantage[0] = 0.0
    entropy = torch.rand(len(sequence), generator=generator, dtype=torch.float64)
    return inputs(log_ratio.exp(), advantage[sequence], entropy, sequence)


def slopes(found: LossOutputs, given: LossInputs) -> Tokens:
    """The gradient of the sum of the losses by logp [N]."""
    (gradient,) = torch.autograd.grad(found.loss.sum(), given.logp)
    return gradient


def weights(loss: Callable[..., LossOutputs], given: LossInputs, **constants: object) -> Tokens:
    """[N]: what A · ∇logp is multiplied by. Only for tokens with A ≠ 0."""
    return -slopes(loss(given, **constants), given) / given.advantage
