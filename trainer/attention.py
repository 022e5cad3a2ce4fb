"""Attention over packed rows, row by row: no mask of all tokens against all.

transformers masks packed rows with a T × T matrix (sdpa, eager), or needs FlashAttention or a compiler (flex). Here
each row is a causal attention of its own, with memory linear in the row.

With a process group (`deepspeed.sequence_parallel`) each rank has an equal part of the packed tokens. The ranks
exchange them for all tokens of a share of the heads, attend, and exchange back: Ulysses, arXiv 2309.14509.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F  # noqa: N812 - the conventional name
from torch import Tensor
from torch.distributed.nn.functional import all_to_all_single

ROWS = "proctor_rows"  # its name in transformers' registry


def attend(
    _module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    sliding_window: int | None = None,
    row_lengths: Sequence[int] = (),
    sequence_group: Any = None,
    **more: Any,
) -> tuple[Tensor, None]:
    """Return the attention within each row [1, tokens, heads, size], for transformers; see `AttentionInterface`.

    The query [1, heads, tokens, size] has the tokens of all rows end to end; key and value may have fewer heads. The
    row lengths are those of all ranks of the sequence group together, over which tokens are split (None: they are not).

    Raises:
        ValueError: The architecture has attention sinks or soft caps.
    """
    if any(more.get(name) is not None for name in ("s_aux", "softcap")):
        raise ValueError("attention sinks and soft caps are not supported: set model.attention = 'eager'")
    if sequence_group is not None:
        query, key, value = (_whole_rows(each, query.shape[1], sequence_group) for each in (query, key, value))
    queries, keys, values = (torch.split(each, list(row_lengths), dim=2) for each in (query, key, value))
    found = []
    for row in zip(queries, keys, values, strict=True):
        length, mask = row[0].shape[2], None
        if sliding_window is not None and length > sliding_window:
            square = torch.ones(length, length, dtype=torch.bool, device=query.device)
            mask = square.tril().triu(1 - sliding_window)
        options: Any = {"attn_mask": mask, "is_causal": mask is None, "dropout_p": dropout, "scale": scaling}
        found.append(F.scaled_dot_product_attention(*row, enable_gqa=True, **options))
    answer = torch.cat(found, dim=2)
    if sequence_group is not None:
        answer = _exchange(sequence_group, answer, 2, 1)
    return answer.transpose(1, 2).contiguous(), None


def _whole_rows(part: Tensor, heads: int, group: Any) -> Tensor:
    """Return all tokens of this rank's share of the heads. Key heads that cannot be shared out are repeated."""
    if part.shape[1] % dist.get_world_size(group):
        part = part.repeat_interleave(heads // part.shape[1], dim=1)
    return _exchange(group, part, 1, 2)


def _exchange(group: Any, tensor: Tensor, scattered: int, gathered: int) -> Tensor:
    """Split a tensor along one dimension over the ranks, and join their parts along another, with gradients."""
    parts = torch.stack(tensor.chunk(dist.get_world_size(group), dim=scattered))
    received = all_to_all_single(torch.empty_like(parts), parts, group=group)  # type: ignore[no-untyped-call]
    return torch.cat(received.unbind(), dim=gathered)
