"""The sections of a configuration, with each setting's meaning and default."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Url = Annotated[str, Field(pattern="^https?://[^/]")]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Beta = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A frozen table of settings that rejects unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Data(Section):
    """The problems and their prompt format."""

    train: tuple[str, ...] = Field(min_length=1)  # files of problems in JSON Lines
    format: Literal["chat", "plain"] = "chat"  # see prompts.py
    system: str = ""  # a text before the problem's own system text
    template: Mapping[str, Any] = {}  # further arguments of the chat template, such as {enable_thinking = false}
    max_prompt_tokens: int = Field(2048, ge=1)  # longer prompts are skipped and counted
    order: Literal["shuffled", "file", "easiest_first"] = "shuffled"  # within a source
    difficulty: tuple[Share, Share] | None = None  # the range of problems' difficulties; none: all problems
    mixture: Mapping[str, NotNegative] = {}  # relative shares by source; all must be named, 0 omits one; empty: unmixed

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        if self.difficulty and self.difficulty[0] > self.difficulty[1]:
            raise ValueError(f"difficulty: {list(self.difficulty)} is not a range")
        if self.mixture and not any(self.mixture.values()):
            raise ValueError("mixture: all shares are 0")
        return self


class Rollout(Section):
    """Sampling with vLLM."""

    engine: Literal["server", "colocated"] = "server"  # colocated: vLLM in this process, for one GPU or a CPU
    servers: tuple[Url, ...] = ()  # of running servers; empty: start `replicas`
    replicas: int = Field(1, ge=1)  # servers to start, on `tensor_parallel` GPUs each; the least loaded one samples
    server_arguments: tuple[str, ...] = ()  # further arguments of the started servers
    devices: str = ""  # the GPUs of the started servers, "4,5,6,7"; empty: all that the trainer sees, in order
    turns: bool = False  # started servers are on the trainer's GPUs, and give weights and cache back while it trains
    prompts: int = Field(64, ge=1)  # groups a batch
    samples: int = Field(16, ge=2)  # samples a group, to which advantages are relative
    temperature: Positive = 1.0
    max_tokens: int = Field(8192, ge=1)  # of a response, in tokens
    max_model_len: int = Field(0, ge=0)  # tokens of prompt and response; 0: the sum of both limits
    concurrency: int = Field(1024, ge=1)  # most requests in flight
    gpu_memory: float = Field(0.85, gt=0, le=1)  # vLLM's share of a GPU's memory
    tensor_parallel: int = Field(1, ge=1)
    patience_seconds: Positive = 600.0  # how long vLLM may be unavailable


class RewardService(Section):
    """The reward service and the conversion of its verdicts."""

    url: Url = "http://127.0.0.1:8080"
    key_variable: str = "PROCTOR_API_KEY"  # the environment variable with the API key
    extraction: Literal[
        "last_block", "first_block", "all_blocks", "answer_tag", "whole", "boxed", "boxed_after_thinking"
    ] = "last_block"
    scheme: Mapping[str, Any] = {"scheme": "all_or_nothing"}
    limits: Mapping[str, Any] = {}  # override the problem's limits
    tests: int = Field(0, ge=0)  # tests a problem, equal within a group; 0: all
    tests_rule: Literal["random", "first", "longest"] = "random"  # which of them; longest: by the length of the input
    concurrency: int = Field(256, ge=1)
    patience_seconds: Positive = 600.0  # how long the service may be unavailable
    max_fault_share: Share = 0.01  # samples without a verdict; the run stops above it
    overlong_filter: Literal["none", "silence", "mask"] = "none"  # of truncated responses; see reward.py
    overlong_buffer: int = Field(0, ge=0)  # tokens before the limit in which the penalty grows; 0: none
    overlong_factor: NotNegative = 1.0


class Buffer(Section):
    """Batching: dynamic sampling and staleness."""

    drop_flat: bool = False  # dynamic sampling: replace groups whose rewards are all equal
    max_generations: int = Field(10, ge=1)  # most batches sampled for one; then train on a smaller batch
    depth: int = Field(0, ge=0)  # batches sampled ahead; 0 is on-policy
    max_staleness: int | None = Field(None, ge=0)  # most versions of the weights that a token may lag; none: `depth`
    late: Literal["wait", "drop"] = "wait"  # groups that would be too old by the next batch
    # requests in flight at a sync: their cache is recomputed with the new weights, or kept, or the sync waits for them
    in_flight: Literal["recompute", "keep", "finish"] = "recompute"

    @property
    def oldest(self) -> int:
        """The most versions that a token's weights may lag behind those that train on it."""
        return self.depth if self.max_staleness is None else self.max_staleness


class Duel(Section):
    """A tester beside the solver, on the same problems; see duel/. Its problems have tests of the type stdin."""

    testers: int = Field(0, ge=0)  # testers' answers a problem; 0: no duels
    cases: int = Field(1, ge=1)  # test cases an answer
    earlier: int = Field(0, ge=0)  # wrong programs of earlier steps that the cases must fail as well, a problem
    ask: str = ""  # the tester's question, with {statement} and {cases}; empty: duel/question.py's
    trains: Literal["both", "solver", "tester"] = "both"  # the roles of the trained policy
    opponent: str = Field("", pattern="^(https?://[^/]|$)")  # the vLLM with the policy of the other role
    template: Mapping[str, Any] | None = None  # further arguments of its chat template; none: `data.template`
    max_tokens: int = Field(0, ge=0)  # of its responses, in tokens; 0: `rollout.max_tokens`

    @property
    def trains_tester(self) -> bool:
        return self.testers > 0 and self.trains != "solver"

    @model_validator(mode="after")
    def _has_both_roles(self) -> Self:
        if (self.trains == "both") == bool(self.opponent):
            raise ValueError("opponent: the policy of the other role is needed if and only if trains is not 'both'")
        if self.testers == 0 and self.trains != "both":
            raise ValueError("testers must be at least 1 if trains is not 'both'")
        if self.ask and "{statement}" not in self.ask:
            raise ValueError("ask: the question has no {statement}")
        if self.testers == 1 and self.trains != "solver":
            raise ValueError("testers must be at least 2: advantages are relative to a group")
        return self


class HeldOut(Section):
    """The evaluation during a run, on problems that are not trained on; see held_out.py."""

    problems: tuple[str, ...] = ()  # files of problems in JSON Lines; empty: no evaluation
    every: int = Field(25, ge=1)  # steps; also after the last step
    samples: int = Field(4, ge=1)  # solutions a problem, at the temperature of training

    def is_due(self, step: int, steps: int) -> bool:
        return bool(self.problems) and (step % self.every == 0 or step == steps)


class Model(Section):
    """The trained model."""

    path: str = Field(min_length=1)  # a folder in Hugging Face's format, or a name on the hub
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

    model_config = ConfigDict(extra="allow")

    name: str = "grpo"
    mean: Literal["token", "sequence", "constant"] = "token"  # constant: divide by rows × max_tokens (Dr. GRPO)
    old: Literal["recomputed", "behaviour"] = "recomputed"  # behaviour: vLLM's log-probabilities
    entropy_bonus: NotNegative = 0.0  # the coefficient of the entropy, which is subtracted from the loss

    @property
    def constants(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Correction(Section):
    """The correction for numerical differences between vLLM and the trainer; see loss/terms.py."""

    name: Literal["none", "tis", "icepop", "sequence"] = "tis"
    low: float = Field(0.5, ge=0, le=1)  # 1 is the ratio of equal log-probabilities
    high: float = Field(2.0, ge=1)


class Kl(Section):
    """The KL penalty towards a reference model, which is loaded only if a coefficient is above 0."""

    coefficient: NotNegative = 0.0
    high_entropy_coefficient: NotNegative | None = None  # Archer: of tokens above the quantile; none: `coefficient`
    quantile: float = Field(0.8, gt=0, lt=1)
    estimator: Literal["k2", "k3"] = "k3"

    @property
    def is_on(self) -> bool:
        """Return whether a reference model is needed."""
        return bool(self.coefficient or self.high_entropy_coefficient)


class Optimiser(Section):
    """AdamW and the schedule of its steps."""

    lr: Positive = 1e-6
    betas: tuple[Beta, Beta] = (0.9, 0.999)
    eps: Positive = 1e-8
    weight_decay: NotNegative = 0.01
    warmup_steps: int = Field(0, ge=0)  # batches, like all steps
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    clip: Positive = 1.0  # bound of the gradient's norm
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
    max_probe_gap: NotNegative = 0.0  # mean |Δ log-prob| of the probe, in nats; 0: 0.01 in float32, 0.1 in bfloat16
    timeout_seconds: Positive = 600.0
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
    max_logprob_gap: NotNegative = 0.0  # mean |Δ log-prob| of a batch, in nats; 0: 0.01 in float32, 0.1 in bfloat16
    tensorboard: bool = True
    wandb: str = ""  # the project's name; empty: off
