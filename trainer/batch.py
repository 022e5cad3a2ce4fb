"""From rows to micro-batches: which rows make an optimiser's step, which rank gets which, and what a token weighs.

Pure: the same rows give the same micro-batches everywhere, so that each rank finds its own without being told. Rows
stand end to end without padding, and all ranks get as many micro-batches, since ZeRO-3 gathers parameters together.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from trainer.episode import MicroBatch, Row

Mean = Literal["token", "sequence", "constant"]


def minibatches(groups: Sequence[Sequence[Row]], count: int) -> list[list[Row]]:
    """The rows of each optimiser's step, of about as many tokens. A group is never cut.

    There are fewer than `count` if there are fewer groups.
    """
    lengths = [sum(len(row.ids) for row in rows) for rows in groups]
    bins = _balanced(lengths, min(count, len(groups)))
    return [[row for index in indices for row in groups[index]] for indices in bins]


def pack(rows: Sequence[Row], budget_tokens: int, ranks: int) -> list[list[list[Row]]]:
    """For each rank its micro-batches: as few as fit, as many for each rank, and perhaps one without rows.

    A micro-batch has at most `budget_tokens`, unless it is a single row. The i-th micro-batches of the ranks are
    about as long, since a rank that is ready waits.
    """
    lengths = [len(row.ids) for row in rows]
    each = max(1, math.ceil(sum(lengths) / (budget_tokens * ranks)))
    while not _fits(bins := _balanced(lengths, each * ranks), lengths, budget_tokens):
        each += 1
    bins.sort(key=lambda indices: -sum(lengths[index] for index in indices))
    rounds = [bins[start : start + ranks] for start in range(0, len(bins), ranks)]
    forth_and_back = [some if number % 2 == 0 else some[::-1] for number, some in enumerate(rounds)]
    return [[[rows[index] for index in some[rank]] for some in forth_and_back] for rank in range(ranks)]


def weights(rows: Sequence[Row], mean: Mean, max_tokens: int) -> list[float]:
    """What a response token of each row weighs in the objective Σ weight × loss of a mini-batch on all ranks.

    With |o_i| the tokens of response i and S the number of rows, masked ones not counted (those weigh 0):

        token     1 / Σ|o_i|            every token alike (DAPO, arXiv 2503.14476, eq. 8)
        sequence  1 / (S · |o_i|)       every response alike (GRPO, arXiv 2402.03300, eq. 3)
        constant  1 / (S · max_tokens)  neither: no length is preferred (Dr. GRPO, arXiv 2503.20783)
    """
    trained = [row for row in rows if not row.is_masked]
    tokens = sum(row.response for row in trained)

    def weight(row: Row) -> float:
        if row.is_masked or not row.response:
            return 0.0
        denominators = {
            "token": tokens,
            "sequence": len(trained) * row.response,
            "constant": len(trained) * max_tokens,
        }
        return 1.0 / denominators[mean]

    return [weight(row) for row in rows]


def collate(rows: Sequence[Row], scale: Sequence[float]) -> MicroBatch:
    """Rows end to end, with the weight of each row's tokens. Without rows: a response of one token that weighs nothing.

    Raises ValueError for a row without a prompt, or whose behaviour is not a number for each response token.
    """
    if not rows:
        rows, scale = [Row(ids=(0, 0), response=1, behaviour=(0.0,), advantage=0.0, is_masked=True)], [0.0]
    for row in rows:
        if not row.response < len(row.ids) or len(row.behaviour) != row.response:
            raise ValueError(
                f"a row of {len(row.ids)} tokens, {row.response} of them a response with {len(row.behaviour)} "
                "log-probabilities: there must be a prompt, and a log-probability for each token of the response"
            )
    responses = torch.tensor([row.response for row in rows])
    ids = torch.tensor([token for row in rows for token in row.ids])
    where = _where(rows)
    return MicroBatch(
        ids=ids,
        positions=torch.cat([torch.arange(len(row.ids)) for row in rows]),
        where=where,
        targets=ids[where + 1],
        sequence=torch.arange(len(rows)).repeat_interleave(responses),
        behaviour=torch.tensor([logp for row in rows for logp in row.behaviour], dtype=torch.float32),
        advantage=torch.tensor([row.advantage for row in rows], dtype=torch.float32).repeat_interleave(responses),
        weight=torch.tensor(scale, dtype=torch.float32).repeat_interleave(responses),
    )


def _where(rows: Sequence[Row]) -> Tensor:
    """For each response token the place of the token before it."""
    ends = torch.tensor([len(row.ids) for row in rows]).cumsum(0).tolist()
    spans = [torch.arange(end - row.response, end) - 1 for row, end in zip(rows, ends, strict=True)]
    return torch.cat(spans)


def _fits(bins: Sequence[Sequence[int]], lengths: Sequence[int], budget: int) -> bool:
    return all(len(indices) < 2 or sum(lengths[index] for index in indices) <= budget for indices in bins)


def _balanced(lengths: Sequence[int], count: int) -> list[list[int]]:
    """Indices in `count` bins: the longest first, each where there is least (Graham 1969: at most 4/3 of the best)."""
    heap: list[tuple[int, int, list[int]]] = [(0, number, []) for number in range(count)]
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        load, number, indices = heap[0]
        heapq.heapreplace(heap, (load + lengths[index], number, [*indices, index]))
    return [sorted(indices) for _, _, indices in sorted(heap, key=lambda entry: entry[1])]
