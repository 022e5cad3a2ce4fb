"""Log-probabilities and entropies of given tokens, computed in chunks to bound the memory of the logits.

The logits of 16,384 tokens with a vocabulary of 152,064 are 10 GB, and the softmax and the gradient are as large. Here
they exist for `chunk_tokens` tokens at a time and are recomputed in the backward pass.
"""

from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F  # noqa: N812 - the conventional name
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from trainer.attention import ROWS

# configuration keys of architectures that transform their logits after the matrix product
UNKNOWN_TO_US = ("final_logit_softcapping", "logit_scale", "logits_scaling")


class Scorer(nn.Module):
    """A Hugging Face causal language model that returns log-probabilities of packed rows.

    For target y at temperature τ, with h the hidden state before it and W the output embedding, in float32:

        z = W h / τ,    logp = z_y - log Σ_v exp z_v,    entropy = -Σ_v p_v log p_v    with p = softmax(z)

    Rows do not attend to each other: `attention` gets their lengths, and without a mask and a cache transformers starts
    a new row wherever positions restart at 0.

    With a `sequence_group`, all ranks of the group are given the same rows. Each passes an equal part of the tokens
    through the model and gets the others' results without gradient, so that losses see whole responses.
    """

    def __init__(self, model: Any, chunk_tokens: int, learns_entropy: bool = False, sequence_group: Any = None) -> None:
        super().__init__()
        self.model = model
        self.head = Head(_projection(model), chunk_tokens, learns_entropy)
        self._group = sequence_group

    def forward(
        self,
        ids: Tensor,
        positions: Tensor,
        where: Tensor,
        targets: Tensor,
        temperature: float = 1.0,
        with_entropy: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Return log-probabilities of `targets` [N] after the tokens at the indices `where` [N], and entropies there.

        Rows are end to end: `ids` [T], and `positions` [T] from 0 in each row. Logits are divided by the temperature.
        Log-probabilities have a gradient; entropies, in nats, have one if `learns_entropy`, and are 0 unless asked for
        (`with_entropy`).
        """
        if self._group is not None:
            return self._split(ids, positions, where, targets, temperature, with_entropy)
        hidden = self._hidden(ids, positions, row_lengths(positions)).index_select(0, where)
        scored: tuple[Tensor, Tensor] = self.head(hidden, targets, temperature, with_entropy)
        return scored

    def _hidden(self, ids: Tensor, positions: Tensor, lengths: list[int]) -> Tensor:
        is_by_rows = self.model.config._attn_implementation == ROWS
        own = {"row_lengths": lengths, "sequence_group": self._group} if is_by_rows else {}
        answer = self.model.base_model(
            input_ids=ids[None], position_ids=positions[None], attention_mask=None, use_cache=False, **own
        )
        states: Tensor = answer.last_hidden_state[0]
        return states

    def _split(
        self, ids: Tensor, positions: Tensor, where: Tensor, targets: Tensor, *more: Any
    ) -> tuple[Tensor, Tensor]:
        """Score this rank's part of the tokens, and gather the parts of all ranks."""
        size, rank = dist.get_world_size(self._group), dist.get_rank(self._group)
        room = -len(ids) % size  # a last row of zeros makes the parts equal
        ids, positions = F.pad(ids, (0, room)), torch.cat([positions, positions.new_tensor(range(room))])
        part = len(ids) // size
        own = slice(rank * part, (rank + 1) * part)
        counts = torch.bincount(where // part, minlength=size).tolist()  # `where` ascends
        begin = sum(counts[:rank])
        mine = slice(begin, begin + counts[rank])
        hidden = self._hidden(ids[own], positions[own], row_lengths(positions))
        scored = self.head(hidden.index_select(0, where[mine] - rank * part), targets[mine], *more)
        logp, entropy = (_gathered(each, counts, rank, self._group) for each in scored)
        return logp, entropy


def row_lengths(positions: Tensor) -> list[int]:
    """Return the lengths of packed rows by the positions of their tokens [T], from 0 in each row."""
    starts = (positions == 0).nonzero()[:, 0].tolist()
    return [end - start for start, end in zip(starts, [*starts[1:], len(positions)], strict=True)]


def _gathered(own: Tensor, counts: list[int], rank: int, group: Any) -> Tensor:
    """Join the tensors of all ranks, of which only the own one has a gradient."""
    if not any(counts):
        return own
    padded = F.pad(own.detach(), (0, max(counts) - len(own)))
    everyone = [torch.empty_like(padded) for _ in counts]
    dist.all_gather(everyone, padded, group=group)
    parts = [each[:count] for each, count in zip(everyone, counts, strict=True)]
    return torch.cat([*parts[:rank], own, *parts[rank + 1 :]])


class Head(nn.Module):
    """The output embedding and the softmax, in chunks.

    Under ZeRO-3 all ranks gather a module's parameters equally often, and have different numbers of chunks. `policy`
    declares this module a leaf: it gathers the weight once for all chunks.
    """

    def __init__(self, projection: nn.Linear, chunk_tokens: int, learns_entropy: bool = False) -> None:
        super().__init__()
        self.projection = projection
        self.chunk_tokens = chunk_tokens
        self.learns_entropy = learns_entropy

    def forward(self, hidden: Tensor, targets: Tensor, temperature: float, with_entropy: bool) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and entropies [N]; see `Scorer.forward`."""
        more = temperature, with_entropy, self.projection.weight, self.projection.bias
        chunks = zip(torch.split(hidden, self.chunk_tokens), torch.split(targets, self.chunk_tokens), strict=True)
        scored = [  # only the hidden states are stored for the backward pass
            checkpoint(self._score, *chunk, *more, use_reentrant=False, preserve_rng_state=False) for chunk in chunks
        ]
        logp, entropy = zip(*scored, strict=True)
        return torch.cat(logp), torch.cat(entropy)

    def _score(
        self, hidden: Tensor, targets: Tensor, temperature: float, with_entropy: bool, weight: Tensor, bias: Any
    ) -> tuple[Tensor, Tensor]:
        logits = F.linear(hidden, weight, bias).float().div_(temperature)
        all_logp = torch.log_softmax(logits, dim=-1)
        logp = all_logp.gather(1, targets[:, None])[:, 0]
        if not with_entropy:
            return logp, torch.zeros_like(logp, requires_grad=False)
        if self.learns_entropy:
            return logp, -(all_logp.exp() * all_logp).sum(-1)
        with torch.no_grad():
            return logp, all_logp.exp().mul_(all_logp).sum(-1).neg_()  # without a second tensor [n, vocabulary]


def _projection(model: Any) -> nn.Linear:
    """Return the model's output embedding. Raises ValueError if the logits are not a plain product with it."""
    more = [key for key in UNKNOWN_TO_US if getattr(model.config, key, None) not in (None, 1, 1.0)]
    projection = model.get_output_embeddings()
    if more or not isinstance(projection, nn.Linear):
        raise ValueError(f"{type(model).__name__} is not supported: its logits are not a plain matrix product ({more})")
    return projection
