"""Adapter for slime: `--custom-rm-path sandbox_service.adapters.slime.reward`, and the address as PROCTOR_URL.

The route `/slime` (`--rm-type remote_rm`) does the same for single samples. The ground truth is a sample's label, or
`metadata["tests"]` if there is no label. A sample without a verdict is left out of the loss (slime's `remove_sample`)
and gets the mean of its group, so that it changes no advantage; without others in the group it gets 0.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from sandbox_service.adapters.common import async_client, submission
from sandbox_service.client import Grade, reason_of
from sandbox_service.formats import chat

log = logging.getLogger(__name__)


async def reward(args: Any, samples: Any, **_: Any) -> float | list[float]:  # noqa: ARG001 - slime's signature
    """Return the reward of a sample, or the rewards of a list. Samples without a verdict are marked.

    Args:
        args: slime's arguments, which are not used.
        samples: A sample or a list of samples.
    """
    if not isinstance(samples, Sequence):
        return (await _rewards([samples]))[0]
    return await _rewards(samples)


async def _rewards(samples: Sequence[Any]) -> list[float]:
    grades = await async_client().grade_many([_submission(each) for each in samples])
    for sample, grade in zip(samples, grades, strict=True):
        if grade.reward is None:
            log.warning("sample %s has no verdict and is left out of the loss: %s", sample.index, reason_of(grade))
            sample.remove_sample = True
    neutral = _means(samples, grades)
    return [
        _value_or(grade.reward, neutral.get(_group(sample), 0.0)) for sample, grade in zip(samples, grades, strict=True)
    ]


def _submission(sample: Any) -> dict[str, Any]:
    truth = sample.label if sample.label is not None else sample.metadata["tests"]
    prompt = sample.prompt if isinstance(sample.prompt, str) else ""
    return submission(chat.continued(prompt, sample.response), truth, {})


def _means(samples: Sequence[Any], grades: Sequence[Grade]) -> dict[Any, float]:
    """Return the mean reward of each group, over samples with a verdict."""
    found: dict[Any, list[float]] = {}
    for sample, grade in zip(samples, grades, strict=True):
        if grade.reward is not None:
            found.setdefault(_group(sample), []).append(grade.reward)
    return {group: sum(rewards) / len(rewards) for group, rewards in found.items()}


def _group(sample: Any) -> Any:
    return sample.group_index


def _value_or(reward: float | None, other: float) -> float:
    return other if reward is None else reward
