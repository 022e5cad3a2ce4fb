"""verl: this file as `reward.custom_reward_function.path`, and the address as `+…reward_kwargs.url`.

An answer's tests are graded together, in one request that is waited for, and any data source is served; by
`reward.sandbox_fusion.url` verl asks for each test by itself, and whatever it does not hear in time has failed. Ours
is called by keywords, in the event loop of a reward worker.

verl has no word for a sample without a verdict: 0 is a lie, and NaN would be the advantage of the whole group. So
Fault is raised, after some tries. verl's trainer then has no such sample: the asynchronous modes replace its group, the
synchronous one with `trainer.v1.sampler.sync_refill_failed_groups=True` a group of which nothing is left, and else
fills it up. The reward manager `rate_limited` would make a 0 of it, and should not be used.
"""

from __future__ import annotations

from typing import Any

from sandbox_service.adapters.asking import INSISTENCE_SECONDS, PATIENCE_SECONDS, async_client, insist_async, submission
from sandbox_service.schema import Verdict


async def compute_score(
    data_source: str,  # noqa: ARG001 - verl's signature; the tests say all that matters
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,  # noqa: ARG001
    *,
    url: str | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
    insistence_seconds: float = INSISTENCE_SECONDS,
    reward_router_address: Any = None,  # noqa: ARG001 - verl's, for reward models
    reward_model_tokenizer: Any = None,  # noqa: ARG001
    **options: Any,
) -> dict[str, float]:
    """The reward as `score`; `acc` is 1 for an accepted program. `options` are fields of the submission.

    Raises Fault if there is no verdict.
    """
    asked = submission(solution_str, ground_truth, options)
    grade = await insist_async(async_client(url, patience_seconds), asked, insistence_seconds)
    assert grade.reward is not None  # or Fault had been raised
    return {"score": grade.reward, "acc": float(grade.verdict == Verdict.AC)}
