"""Adapter for verl: give this file as `reward.custom_reward_function.path`, and the address as `+…reward_kwargs.url`.

All tests of an answer are graded in one request, for any data source. (With `reward.sandbox_fusion.url` verl sends each
test separately and counts a late answer as failed.) The function is called with keywords, in the event loop of a reward
worker.

verl cannot mask a sample without a verdict: a reward of 0 would be wrong, and NaN would corrupt the advantages of the
whole group. So GraderFaultError is raised after some retries, and verl's trainer has no such sample: the asynchronous
modes replace its group; the synchronous mode replaces an empty group with
`trainer.v1.sampler.sync_refill_failed_groups=True`, and otherwise fills it up. The reward manager `rate_limited` turns
the exception into 0 and should not be used.
"""

from __future__ import annotations

from typing import Any

from sandbox_service.adapters.common import (
    FAULT_RETRY_SECONDS,
    PATIENCE_SECONDS,
    async_client,
    grade_with_retries_async,
    submission,
)
from sandbox_service.schema import Verdict


async def compute_score(
    data_source: str,  # noqa: ARG001 - verl's signature
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,  # noqa: ARG001
    *,
    url: str | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
    insistence_seconds: float = FAULT_RETRY_SECONDS,
    reward_router_address: Any = None,  # noqa: ARG001 - verl's, for reward models
    reward_model_tokenizer: Any = None,  # noqa: ARG001
    **options: Any,
) -> dict[str, float]:
    """Return the reward as `score`; `acc` is 1 for an accepted program.

    Args:
        data_source: Not used.
        solution_str: The model's answer.
        ground_truth: The ground truth.
        extra_info: Not used.
        url: The service's address; default: PROCTOR_URL.
        patience_seconds: Time to wait for an unavailable service.
        insistence_seconds: Time to retry faults of the service.
        reward_router_address: Not used.
        reward_model_tokenizer: Not used.
        **options: Further fields of the submission.

    Raises:
        GraderFaultError: There is no verdict.
    """
    fields = submission(solution_str, ground_truth, options)
    grade = await grade_with_retries_async(async_client(url, patience_seconds), fields, insistence_seconds)
    assert grade.reward is not None  # grade_with_retries_async raises otherwise
    return {"score": grade.reward, "acc": float(grade.verdict == Verdict.AC)}
