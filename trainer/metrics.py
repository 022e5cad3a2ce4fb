"""Metrics of a batch, by name, for the report."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

from trainer.collect import Batch
from trainer.episode import Episode

SPAN = 20  # tokens of a repeated window


def batch_metrics(batch: Batch) -> dict[str, float]:
    """Return the metrics of all sampled groups of a batch, including the dropped ones; NaN for a mean of nothing.

    In a duel they are those of the solutions, and those of the testers' answers have names with "tester_". The token
    ids of another policy (`duel.opponent`) are not known, nor are its lengths.
    """
    episodes = [each for each in batch.episodes if each.role == "solver"]
    own = [each for each in batch.episodes if each.is_own]
    voters = [each for each in episodes if not each.reward.is_fault]
    lengths = _lengths(episodes)
    return {
        "reward": _mean(each.total for each in voters),
        "pass_rate": _mean(each.reward.verdict == "AC" for each in voters),
        "penalty": _mean(each.penalty for each in voters),
        "flat_share": _mean(group.is_flat for group in batch.sampled),
        "groups": len(batch.groups),
        "groups_dropped": len(batch.dropped),
        "length": _mean(lengths),
        "length_max": max(lengths, default=math.nan),
        "truncated": _mean(each.completion.is_truncated for each in episodes),
        "repetition": _mean(repetition(each.completion.ids) for each in episodes if each.is_own),
        "fault_share": _mean(each.reward.is_fault for each in episodes),
        "masked_share": _mean(each.is_masked for each in episodes),
        "grade_seconds": _mean(each.reward.seconds for each in episodes),
        "staleness": _mean(batch.version - group.version for group in batch.groups),
        "staleness_max": batch.staleness,
        "groups_expired": batch.expired,
        "mixed_share": _mean(each.completion.version != each.completion.last_version for each in own),
        "tokens": sum(len(each.completion.ids) for each in own),
        **_tester_metrics([each for each in batch.episodes if each.role == "tester"]),
    }


def repetition(ids: Sequence[int], span: int = SPAN) -> float:
    """Return the share of windows of `span` tokens (ids) that occurred earlier in the response, in [0, 1).

    It shows degenerate generation before the reward does. After the monitoring of Archer2.0 (arXiv 2510.06062).
    """
    windows = len(ids) - span + 1
    if windows < 2:
        return 0.0
    tokens = np.asarray(ids, dtype=np.uint32)
    data, size = tokens.tobytes(), tokens.itemsize
    distinct = {data[place * size : (place + span) * size] for place in range(windows)}
    return (windows - len(distinct)) / windows


def _tester_metrics(answers: Sequence[Episode]) -> dict[str, float]:
    """Return the metrics of testers' answers; those of rewards are of problems with right and wrong solutions."""
    if not answers:
        return {}
    judged = [each for each in answers if not each.reward.is_fault]
    names = sorted({name for each in judged for name in each.reward.figures})
    return {
        "tester_judged": len(judged) / len(answers),
        "tester_length": _mean(_lengths(answers)),
        "tester_truncated": _mean(each.completion.is_truncated for each in answers),
        "tester_reward": _mean(each.total for each in judged),
        **{f"tester_{name}": _mean(each.reward.figures.get(name) for each in judged) for name in names},
    }


def _lengths(episodes: Sequence[Episode]) -> list[int]:
    return [len(each.completion.ids) for each in episodes if each.is_own]


def _mean(values: Iterable[float | None]) -> float:
    """Return the mean of values that are known, NaN if there is none."""
    known = [float(value) for value in values if value is not None]
    return fmean(known) if known else math.nan
