"""What a model thinks of given tokens: log-probabilities and entropies, with logits for a chunk of tokens at a time.

The logits of a batch are the largest tensor of the training of a language model: 16,384 tokens × 152,064 words × 4
bytes are 10 GB, and a gradient and a softmax are as large. Here they are made for `chunk_tokens` at a time, and made
again in the backward pass. Neither packing nor losses are known here.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - everybody's name for it
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

# what some architectures do to their logits beyond a matrix product, by the key of their configuration
UNKNOWN_TO_US = ("final_logit_softcapping", "logit_scale", "logits_scaling")


class Scorer(nn.Module):
    """A causal language model of Hugging Face's, asked for log-probabilities of rows that stand end to end.

    For target y at temperature τ, with h the hidden state before it and W the output embedding, in float32:

        z = W h / τ,    logp = z_y - log Σ_v exp z_v,    entropy = -Σ_v p_v log p_v    with p = softmax(z)

    Values and gradients are those of the full softmax. Instead of three tensors of [N, vocabulary] in float32 at a
    time (their log-softmax and two gradients) there are three of [chunk_tokens, vocabulary]: with a chunk of an eighth
    of N, an eighth of the memory. The price is one more product with W.

    Rows do not see each other: without a mask and without a cache, transformers takes each restart of the positions
    for a new row (a block-diagonal mask in sdpa and eager, the variable-length kernel in flash_attention_2; the
    latter was not run here, it needs a GPU).
    """

    def __init__(self, model: Any, chunk_tokens: int) -> None:
        super().__init__()
        self.model = model
        self.head = Head(_projection(model), chunk_tokens)

    def forward(
        self,
        ids: Tensor,
        positions: Tensor,
        where: Tensor,
        targets: Tensor,
        temperature: float = 1.0,
        with_entropy: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """The log-probabilities of `targets` after the tokens at `where`, and the entropies there.

        Args:
            ids: [T] int64, rows end to end.
            positions: [T] int64, from 0 in each row.
            where: [N] int64, indices into T; N may be 0.
            targets: [N] int64.
            temperature: what the logits are divided by: the one that the tokens were sampled at.
            with_entropy: whether entropies are wanted; else they are 0.

        Returns:
            Log-probabilities [N] float32 with a gradient, entropies [N] float32 in nats without.
        """
        answer = self.model.base_model(
            input_ids=ids[None], position_ids=positions[None], attention_mask=None, use_cache=False
        )
        hidden = answer.last_hidden_state[0].index_select(0, where)
        logp, entropy = self.head(hidden, targets, temperature, with_entropy)
        return logp, entropy


class Head(nn.Module):
    """The output embedding and the softmax, chunk by chunk.

    A module of its own for ZeRO-3, which gathers the parameters of a module around its forward pass, and again around
    its backward pass, and all ranks must do so equally often. Ranks have different numbers of chunks. So this module,
    which is called once, is what gathers (`policy` declares it a leaf), and the chunks use the weight as it lies.
    """

    def __init__(self, projection: nn.Linear, chunk_tokens: int) -> None:
        super().__init__()
        self.projection = projection
        self.chunk_tokens = chunk_tokens

    def forward(self, hidden: Tensor, targets: Tensor, temperature: float, with_entropy: bool) -> tuple[Tensor, Tensor]:
        """As `Scorer.forward`, for hidden states [N, width]."""
        chunks = zip(torch.split(hidden, self.chunk_tokens), torch.split(targets, self.chunk_tokens), strict=True)
        scored = [self._again_later(some, wanted, temperature, with_entropy) for some, wanted in chunks]
        logp, entropy = zip(*scored, strict=True)
        return torch.cat(logp), torch.cat(entropy)

    def _again_later(self, *arguments: Any) -> Any:
        """`_score`, of which only the hidden states are kept for the backward pass."""
        weight, bias = self.projection.weight, self.projection.bias
        return checkpoint(_score, *arguments, weight, bias, use_reentrant=False, preserve_rng_state=False)


def _score(
    hidden: Tensor, targets: Tensor, temperature: float, with_entropy: bool, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """A chunk: log-probabilities and entropies [n]."""
    logits = F.linear(hidden, weight, bias).float().div_(temperature)
    all_logp = torch.log_softmax(logits, dim=-1)
    logp = all_logp.gather(1, targets[:, None])[:, 0]
    return logp, entropy_of(all_logp) if with_entropy else torch.zeros_like(logp, requires_grad=False)


@torch.no_grad()
def entropy_of(all_logp: Tensor) -> Tensor:
    """Nats [n] of distributions given as log-probabilities [n, vocabulary]."""
    return all_logp.exp().mul_(all_logp).sum(-1).neg_()


def _projection(model: Any) -> nn.Linear:
    """The model's output embedding. Raises ValueError if its logits are not just a product with it."""
    more = [key for key in UNKNOWN_TO_US if getattr(model.config, key, None) not in (None, 1, 1.0)]
    projection = model.get_output_embeddings()
    if more or not isinstance(projection, nn.Linear):
        raise ValueError(f"{type(model).__name__}: logits that are no plain product are not supported ({more})")
    return projection
