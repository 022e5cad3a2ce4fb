"""vLLM's wire: what is asked of `/v1/completions`, and how its answers are read. Pure.

Everything that shapes the distribution is said in each request: a server's defaults come from the model's
`generation_config.json`, and those of some models cut the distribution (top_k 20, a repetition penalty).
`prompt_logprobs` are of the raw distribution whatever the temperature (vLLM 0.32, `_get_prompt_logprobs_dict`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainer.engines.base import Sampling

ENDS = ("stop", "length")  # whatever else ends a response ("abort") is no end of the model's own

WHOLE_DISTRIBUTION: Mapping[str, Any] = {
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


@dataclass(frozen=True)
class Sample:
    """What vLLM made of one request."""

    ids: Sequence[int]
    logprobs: Sequence[float]
    text: str
    end: str  # why: one of ENDS, or it is of no use


def sample_request(prompt_ids: Sequence[int], seed: int | None, max_tokens: int, sampling: Sampling) -> dict[str, Any]:
    """Ask for one response."""
    return {
        **WHOLE_DISTRIBUTION,
        "prompt": list(prompt_ids),
        "n": 1,
        "seed": seed,
        "temperature": sampling.temperature,
        "max_tokens": sampling.tokens_after(len(prompt_ids), max_tokens),
        "logprobs": 0,
        "return_token_ids": True,
        "skip_special_tokens": True,
    }


def sample_of(answer: dict[str, Any]) -> Sample:
    """The one response in an answer."""
    (choice,) = answer["choices"]
    ids, logprobs = choice["token_ids"], (choice["logprobs"] or {"token_logprobs": []})["token_logprobs"]
    return Sample(ids, logprobs, choice["text"], choice["finish_reason"] if len(ids) == len(logprobs) else "torn")


def score_request(ids: Sequence[int]) -> dict[str, Any]:
    """Ask what the model thinks of given tokens. It wants to add one."""
    return {**WHOLE_DISTRIBUTION, "prompt": list(ids), "max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0}


def scores_of(answer: dict[str, Any], ids: Sequence[int]) -> list[float]:
    """The log-probability of each token but the first."""
    (choice,) = answer["choices"]
    told = choice["prompt_logprobs"][1:]
    return [float(at[str(token)]["logprob"]) for token, at in zip(ids[1:], told, strict=True)]
