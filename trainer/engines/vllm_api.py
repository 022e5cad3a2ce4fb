"""Requests to vLLM's `/v1/completions` and the parsing of its answers. Pure functions.

Every parameter of the distribution is set in each request: a server's defaults come from the model's
`generation_config.json`, and those of some models truncate the distribution (top_k 20, a repetition penalty).
`prompt_logprobs` are of the unscaled distribution at any temperature (vLLM 0.32, `_get_prompt_logprobs_dict`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainer.engines.base import SamplingParameters

FINISH_REASONS = ("stop", "length")  # other reasons ("abort") do not end a sample
IDLE_SECONDS = 2.0  # vLLM closes connections that were idle for 5 s (VLLM_HTTP_TIMEOUT_KEEP_ALIVE)

UNMODIFIED_SAMPLING: Mapping[str, Any] = {
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


@dataclass(frozen=True)
class Sample:
    """vLLM's answer to one request."""

    ids: Sequence[int]
    logprobs: Sequence[float]
    text: str
    end: str  # the finish reason; the sample is valid if it is one of FINISH_REASONS


def sample_request(
    prompt_ids: Sequence[int], seed: int | None, max_tokens: int, sampling: SamplingParameters, version: int = 0
) -> dict[str, Any]:
    """Return the request body for one response.

    Args:
        prompt_ids: The prompt's token ids.
        seed: The seed of the sample.
        max_tokens: The most tokens of the response.
        sampling: The sampling distribution.
        version: The version of the weights. If caches are kept across syncs, it keeps requests of other versions apart.
    """
    return {
        **({"cache_salt": str(version)} if sampling.keeps_cache else {}),
        **UNMODIFIED_SAMPLING,
        "prompt": list(prompt_ids),
        "n": 1,
        "seed": seed,
        "temperature": sampling.temperature,
        "max_tokens": sampling.tokens_after(len(prompt_ids), max_tokens),
        "logprobs": 0,
        "return_token_ids": True,
        "skip_special_tokens": True,
    }


def parse_sample(answer: dict[str, Any]) -> Sample:
    """Return the response in an answer's JSON."""
    (choice,) = answer["choices"]
    ids, logprobs = choice["token_ids"], (choice["logprobs"] or {"token_logprobs": []})["token_logprobs"]
    return Sample(ids, logprobs, choice["text"], choice["finish_reason"] if len(ids) == len(logprobs) else "torn")


def score_request(ids: Sequence[int]) -> dict[str, Any]:
    """Return the request body for the log-probabilities of tokens (ids [n]). vLLM requires at least one new token."""
    return {**UNMODIFIED_SAMPLING, "prompt": list(ids), "max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0}


def parse_scores(answer: dict[str, Any], ids: Sequence[int]) -> list[float]:
    """Return the log-probabilities in an answer's JSON, for all ids [n] but the first."""
    (choice,) = answer["choices"]
    logprobs = choice["prompt_logprobs"][1:]
    return [float(at[str(token)]["logprob"]) for token, at in zip(ids[1:], logprobs, strict=True)]
