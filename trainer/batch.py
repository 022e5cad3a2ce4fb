"""Turns groups into rows with advantages, mini-batches (optimiser steps), and packed micro-batches with token weights.

Every rank computes the same split and takes its own part. Rows are packed end to end without padding. All ranks get the
same number of micro-batches, because ZeRO-3 gathers parameters on all ranks together.
"""

import heapq
import math
from collections.abc import Sequence
from typing import Literal

import torch

from trainer.advantage import advantages, batch_normalised
from trainer.config import Config
from trainer.episode import Episode, Group, MicroBatch, Row, is_flat

Mean = Literal["token", "sequence", "constant"]
Trained = tuple[Episode, float]  # an episode that trains, and the advantage that it trains with


def trained_episodes(groups: Sequence[Group], config: Config) -> list[list[Trained]]:
    """Return the episodes of each group that train, with their advantages, relative to those of the same role.

    Masked episodes do not train, nor do those of another policy; with dynamic sampling (`buffer.drop_flat`) nor does a
    role whose rewards are all equal.
    """
    trained: list[list[Trained]] = []
    for group in groups:
        trained.append([])
        for team in group.teams:
            if not (config.buffer.drop_flat and is_flat(team)):
                worth = advantages(config.advantage.name, [None if each.is_masked else each.total for each in team])
                pairs = zip(team, worth, strict=True)
                trained[-1] += [(each, 0.0 if each.is_silenced else own) for each, own in pairs if not each.is_masked]
    if not config.advantage.normalise:
        return trained
    flat = [each for group in trained for each in group]
    lengths = [len(episode.completion.ids) for episode, _ in flat]
    values = iter(batch_normalised([advantage for _, advantage in flat], lengths))
    return [[(episode, next(values)) for episode, _ in group] for group in trained]


def training_rows(trained: Sequence[Sequence[Trained]]) -> list[list[Row]]:
    """Return the rows of a batch, group by group, from its `trained_episodes`."""

    def row(episode: Episode, advantage: float) -> Row:
        made = episode.completion
        return Row([*episode.prompt.ids, *made.ids], len(made.ids), made.logprobs, advantage)

    return [[row(*each) for each in group] for group in trained]


def minibatches(groups: Sequence[Sequence[Row]], count: int, prompts: int = 0) -> list[list[Row]]:
    """Return the rows of each optimiser step of a batch. Groups are never split, and no step is empty.

    There are `count` steps with about equal numbers of tokens, or as many as there are groups. If `prompts` is not 0,
    each step has so many groups instead, in order, and the last one the rest.
    """
    if prompts:
        steps = [list(groups[start : start + prompts]) for start in range(0, len(groups), prompts)]
    else:
        groups = [rows for rows in groups if rows]
        lengths = [sum(len(row.ids) for row in rows) for rows in groups]
        steps = [[groups[index] for index in indices] for indices in _balanced(lengths, min(count, len(groups)))]
    return [rows for step in steps if (rows := [row for group in step for row in group])]


def pack(rows: Sequence[Row], budget_tokens: int, ranks: int) -> list[list[list[Row]]]:
    """Return micro-batches, each a list of rows, for each of the ranks, which all have the same number.

    It is the smallest that fits the budget in tokens, unless a single row is longer; a micro-batch may be empty. The
    i-th micro-batches of the ranks have about equal lengths, because ranks wait for each other.
    """
    lengths = [len(row.ids) for row in rows]

    def load(indices: Sequence[int]) -> int:
        return sum(lengths[index] for index in indices)

    each = max(1, math.ceil(sum(lengths) / (budget_tokens * ranks)))
    while any(len(some) > 1 and load(some) > budget_tokens for some in _balanced(lengths, each * ranks)):
        each += 1
    bins = sorted(_balanced(lengths, each * ranks), key=load, reverse=True)
    rounds = [bins[start : start + ranks] for start in range(0, len(bins), ranks)]
    forth_and_back = [some if number % 2 == 0 else some[::-1] for number, some in enumerate(rounds)]
    return [[[rows[index] for index in some[rank]] for some in forth_and_back] for rank in range(ranks)]


def weights(rows: Sequence[Row], mean: Mean, max_tokens: int, full: int = 0) -> list[float]:
    """Return the weight of each row's response tokens in the objective Σ weight × loss of a mini-batch over all ranks.

    By the kind of mean, with |o_i| the number of tokens of response i and S the number of rows:

        token     1 / Σ|o_i|            equal weight for every token (DAPO, arXiv 2503.14476, eq. 8)
        sequence  1 / (S · |o_i|)       equal weight for every response (GRPO, arXiv 2402.03300, eq. 3)
        constant  1 / (S · max_tokens)  no preference for any length (Dr. GRPO, arXiv 2503.20783)

    If a whole mini-batch has more rows (`full`; 0: unknown), all weights are multiplied by S / full, as in verl.
    """
    size, tokens = len(rows), sum(row.response for row in rows)
    share = min(1.0, size / full) if full else 1.0
    if mean == "sequence":
        return [share / (size * row.response) for row in rows]
    return [share / (tokens if mean == "token" else size * max_tokens)] * size


def collate(rows: Sequence[Row], scale: Sequence[float]) -> MicroBatch:
    """Return rows packed end to end, with the weight of each row's response tokens (scale). Raise ValueError."""
    for row in rows:
        if not 0 < row.response < len(row.ids) or len(row.behaviour) != row.response:
            raise ValueError(
                f"a row of {len(row.ids)} tokens, {row.response} of them a response with {len(row.behaviour)} "
                "log-probabilities: there must be a prompt, a response, and a log-probability for each of its tokens"
            )
    if not rows:  # one token of a prompt
        rows, scale = [Row(ids=(0,), response=0, behaviour=(), advantage=0.0)], [0.0]
    responses = torch.tensor([row.response for row in rows])
    ids = torch.tensor([token for row in rows for token in row.ids])
    ends = torch.tensor([len(row.ids) for row in rows]).cumsum(0).tolist()
    where = torch.cat([torch.arange(end - row.response, end) - 1 for row, end in zip(rows, ends, strict=True)])
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


def _balanced(lengths: Sequence[int], count: int) -> list[list[int]]:
    """Return indices distributed over `count` bins, longest first into the emptiest (LPT; Graham 1969)."""
    heap: list[tuple[int, int, list[int]]] = [(0, number, []) for number in range(count)]
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        load, number, indices = heap[0]
        heapq.heapreplace(heap, (load + lengths[index], number, [*indices, index]))
    return [sorted(indices) for _, _, indices in sorted(heap, key=lambda entry: entry[1])]
