"""Settings of what is trained and how: the model, the objective, the optimiser and its distribution over ranks, the
transfer of weights, checkpoints, reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field

from trainer.config.section import Section


class Model(Section):
    """The trained model."""

    path: str  # a folder in Hugging Face's format, or a name on the hub
    reference: str = ""  # the reference model of the KL term; empty: the initial model
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    attention: Literal["auto", "rows", "sdpa", "flash_attention_2", "flex_attention", "eager"] = "auto"  # attention.py
    checkpointing: bool = True  # recompute activations in the backward pass
    chunk_tokens: int = Field(1024, ge=1)  # tokens whose logits are in memory at a time


class Lora(Section):
    """Adapters that are trained instead of the model's weights; see model.py."""

    rank: int = Field(0, ge=0)  # of their matrices; 0: no adapters, all weights are trained
    alpha: int = Field(32, ge=1)  # the matrices' product is multiplied by alpha / rank


class Advantage(Section):
    """The advantage estimator; see advantage.py."""

    name: Literal["grpo", "dr_grpo", "rloo"] = "grpo"
    normalise: bool = False  # then once more over all tokens of the batch (AReaL's adv_norm)


class Loss(Section):
    """The loss: `name` is a function in loss/losses.py, other keys are its constants."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    name: str = "grpo"
    mean: Literal["token", "sequence", "constant"] = "token"  # constant: divide by rows × max_tokens (Dr. GRPO)
    old: Literal["recomputed", "behaviour"] = "recomputed"  # behaviour: vLLM's log-probabilities
    entropy_bonus: float = Field(0.0, ge=0)  # the coefficient of the entropy, which is subtracted from the loss

    @property
    def constants(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Correction(Section):
    """The correction for numerical differences between vLLM and the trainer; see loss/terms.py."""

    name: Literal["none", "tis", "icepop", "sequence"] = "tis"
    low: float = 0.5
    high: float = 2.0


class Kl(Section):
    """The KL penalty towards a reference model, which is loaded only if a coefficient is above 0."""

    coefficient: float = Field(0.0, ge=0)
    high_entropy_coefficient: float | None = None  # Archer: of tokens above the quantile; none: `coefficient`
    quantile: float = Field(0.8, gt=0, lt=1)
    estimator: Literal["k2", "k3"] = "k3"

    @property
    def is_on(self) -> bool:
        """Return whether a reference model is needed."""
        return bool(self.coefficient or self.high_entropy_coefficient)


class Optimiser(Section):
    """AdamW and the schedule of its steps."""

    lr: float = Field(1e-6, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.01
    warmup_steps: int = Field(0, ge=0)  # batches, like all steps
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    clip: float = Field(1.0, gt=0)  # bound of the gradient's norm
    epochs: int = Field(1, ge=1)  # passes over a batch
    minibatches: int = Field(1, ge=1)  # optimiser steps an epoch, of about equal numbers of tokens
    minibatch_prompts: int = Field(0, ge=0)  # instead: groups of an optimiser step, in the order of the batch; 0: unset
    micro_tokens: int = Field(16_384, ge=1)  # most tokens of a micro-batch, unless one row is longer


class DeepSpeed(Section):
    """The distribution of the training state over ranks."""

    zero: Literal[0, 1, 2, 3] = 2
    offload: bool = False  # keep the optimiser's state in host memory
    sequence_parallel: int = Field(1, ge=1)  # ranks that share each row (Ulysses), for long rows; see attention.py
    extra: Mapping[str, Any] = {}  # merged into DeepSpeed's configuration


class Sync(Section):
    """The transfer of weights to vLLM."""

    transport: Literal["auto", "file", "broadcast"] = "auto"  # see sync/__init__.py
    folder: str = "/dev/shm"  # noqa: S108 - for transport "file"
    bucket_bytes: int = Field(256 << 20, ge=1)
    max_probe_gap: float = 0.0  # mean |Δ log-prob| of the probe, in nats; 0: 0.001 in float32, 0.1 in bfloat16
    timeout_seconds: float = 600.0
    delta: bool = False  # send changes only; needs a copy of the weights on rank 0 and in each vLLM worker
    full_every: int = Field(10, ge=1)  # with delta: one sync in so many sends all weights


class Checkpoint(Section):
    """The times at which checkpoints are written, and the number that is kept."""

    every: int = Field(0, ge=0)  # steps; 0: no checkpoints, only the model at the end
    keep: int = Field(3, ge=1)  # how many of the newest to keep
    keep_every: int = Field(0, ge=0)  # also keep steps divisible by this; 0: none
    resume: bool = False  # resume from the newest, if there is one


class Watch(Section):
    """Reports, and checks that stop the run."""

    rollouts: Literal["none", "sampled", "all"] = "sampled"  # samples kept in rollouts.jsonl; sampled: 2 groups a step
    rollouts_bytes: int = Field(256 << 20, ge=1)  # of these files; the oldest samples are deleted first
    max_logprob_gap: float = 0.0  # mean |Δ log-prob| of a batch, in nats; 0: 0.001 in float32, 0.1 in bfloat16
    tensorboard: bool = True
    wandb: str = ""  # the project's name; empty: off
