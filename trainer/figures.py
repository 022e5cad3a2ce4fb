"""What a batch tells about the run: by name, for the report."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from trainer.collect import Batch
from trainer.repetition import repetition


def figures_of(batch: Batch) -> dict[str, float]:
    """Of all that was sampled, also of what was dropped: what is dropped is the policy's too."""
    episodes = batch.episodes
    voters = [each for each in episodes if not each.reward.is_fault]
    lengths = [len(each.completion.ids) for each in episodes]
    return {
        "reward": _mean(each.total for each in voters),
        "pass_rate": _mean(each.reward.verdict == "AC" for each in voters),
        "penalty": _mean(each.penalty for each in voters),
        "flat_share": _mean(group.is_flat for group in batch.sampled),
        "groups": len(batch.groups),
        "groups_dropped": len(batch.dropped),
        "length": _mean(lengths),
        "length_max": max(lengths, default=0),
        "truncated": _mean(each.completion.is_truncated for each in episodes),
        "repetition": _mean(repetition(each.completion.ids) for each in episodes),
        "fault_share": _mean(each.reward.is_fault for each in episodes),
        "masked_share": _mean(each.is_masked for each in episodes),
        "grade_seconds": _mean(each.reward.seconds for each in episodes),
        "staleness": _mean(batch.version - group.version for group in batch.groups),
        "staleness_max": batch.staleness,
        "groups_expired": batch.expired,
        "mixed_share": _mean(each.completion.version != each.completion.last_version for each in episodes),
        "tokens_a_second": sum(lengths) / max(batch.sampling, 1e-9),
        "reward_wait_share": max(batch.rewarding, 0.0) / max(batch.seconds, 1e-9),
    }


def _mean(values: Iterable[float]) -> float:
    return fmean(map(float, values)) if (values := list(values)) else 0.0
