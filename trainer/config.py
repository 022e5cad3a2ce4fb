"""The settings of a run: typed and frozen, from a TOML file and `section.key=value` on the command line.

Settings missing in the file come from the named algorithm (`algorithms.py`), then from the defaults here. Unknown keys
are errors. A run saves its resolved settings as `config.json`, which can be given instead of the file, as can the name
of a shipped configuration in configs/. `schedule.py` describes settings that change during a run.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from trainer.algorithms import ALGORITHMS
from trainer.errors import ConfigError
from trainer.schedule import Stage

CONFIGS = Path(__file__).with_name("configs")  # shipped with the trainer


class Section(BaseModel):
    """A frozen table of settings that rejects unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


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


class Data(Section):
    """The problems and their prompt format."""

    train: tuple[str, ...] = Field(min_length=1)  # files of problems in JSON Lines
    format: Literal["chat", "think_answer", "plain"] = "chat"  # see prompts.py
    system: str = ""
    template: Mapping[str, Any] = {}  # further arguments of the chat template, such as {enable_thinking = false}
    max_prompt_tokens: int = Field(2048, ge=1)  # longer prompts are skipped and counted
    order: Literal["shuffled", "file", "easiest_first"] = "shuffled"  # within a source
    difficulty: tuple[float, float] | None = None  # the range of problems' difficulties; none: all problems
    mixture: Mapping[str, float] = {}  # relative shares by source; all must be named, 0 omits one; empty: unmixed

    @model_validator(mode="after")
    def _can_be(self) -> Data:
        if self.difficulty and not 0 <= self.difficulty[0] <= self.difficulty[1] <= 1:
            raise ValueError(f"difficulty: {list(self.difficulty)} is not a range within [0, 1]")
        shares = self.mixture.values()
        if shares and not (all(0 <= share < inf for share in shares) and any(shares)):
            raise ValueError("mixture: shares are finite, at least 0, and not all 0")
        return self


class Rollout(Section):
    """Sampling with vLLM."""

    engine: Literal["server", "colocated"] = "server"  # colocated: vLLM in this process, for one GPU or a CPU
    servers: tuple[str, ...] = ()  # URLs of running servers; empty: start `replicas`
    replicas: int = Field(
        1, ge=1
    )  # servers to start, each on `tensor_parallel` GPUs; a sample goes to the least loaded
    server_arguments: tuple[str, ...] = ()  # further arguments of the started servers
    devices: str = ""  # the GPUs of the started servers, "4,5,6,7"; empty: all that the trainer sees, in order
    turns: bool = False  # started servers are on the trainer's GPUs, and give weights and cache back while it trains
    prompts: int = Field(64, ge=1)  # groups a batch
    samples: int = Field(16, ge=1)  # samples a group
    temperature: float = Field(1.0, gt=0)
    max_tokens: int = Field(8192, ge=1)  # of a response, in tokens
    max_model_len: int = 0  # tokens of prompt and response; 0: the sum of both limits
    concurrency: int = Field(1024, ge=1)  # most requests in flight
    gpu_memory: float = Field(0.85, gt=0, le=1)  # vLLM's share of a GPU's memory
    tensor_parallel: int = Field(1, ge=1)
    patience_seconds: float = 600.0  # how long vLLM may be unavailable


class RewardService(Section):
    """The reward service and the conversion of its verdicts."""

    url: str = "http://127.0.0.1:8080"
    key_variable: str = "PROCTOR_API_KEY"  # the environment variable with the API key
    extraction: Literal[
        "last_block", "first_block", "all_blocks", "answer_tag", "whole", "boxed", "boxed_after_thinking"
    ] = "last_block"
    scheme: Mapping[str, Any] = {"scheme": "all_or_nothing"}
    limits: Mapping[str, Any] = {}  # override the problem's limits
    tests: int = Field(0, ge=0)  # tests a problem, equal within a group; 0: all
    tests_rule: Literal["random", "first", "longest"] = "random"  # which of them; longest: by the length of the input
    concurrency: int = Field(256, ge=1)
    patience_seconds: float = 600.0  # how long the service may be unavailable
    max_fault_share: float = Field(0.01, ge=0, le=1)  # samples without a verdict; the run stops above it
    overlong_filter: Literal["none", "silence", "mask"] = "none"  # of truncated responses; see reward.py
    overlong_buffer: int = Field(0, ge=0)  # tokens before the limit in which the penalty grows; 0: none
    overlong_factor: float = Field(1.0, ge=0)


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
    opponent: str = ""  # URL of the vLLM with the policy of the other role

    @property
    def trains_tester(self) -> bool:
        """Return whether testers' answers are trained on."""
        return self.testers > 0 and self.trains != "solver"

    @model_validator(mode="after")
    def _has_both_roles(self) -> Duel:
        if (self.trains == "both") == bool(self.opponent):
            raise ValueError("opponent: the policy of the other role is needed if and only if trains is not 'both'")
        if self.testers == 0 and self.trains != "both":
            raise ValueError("testers must be at least 1 if trains is not 'both'")
        if self.testers == 1 and self.trains != "solver":
            raise ValueError("testers must be at least 2: advantages are relative to a group")
        return self


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
        """The loss function's constants."""
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
    estimator: Literal["k1", "k2", "k3"] = "k3"

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

    transport: Literal["auto", "file", "broadcast", "memory"] = "auto"  # see sync/__init__.py
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


class HeldOut(Section):
    """The evaluation during a run, on problems that are not trained on; see held_out.py."""

    problems: tuple[str, ...] = ()  # files of problems in JSON Lines; empty: no evaluation
    every: int = Field(25, ge=1)  # steps; also after the last step
    samples: int = Field(4, ge=1)  # solutions a problem, at the temperature of training

    def is_due(self, step: int, steps: int) -> bool:
        """Return whether to evaluate after a step."""
        return bool(self.problems) and (step % self.every == 0 or step == steps)


class Watch(Section):
    """Reports, and checks that stop the run."""

    rollouts: Literal["none", "sampled", "all"] = "sampled"  # samples kept in rollouts.jsonl; sampled: 2 groups a step
    rollouts_bytes: int = Field(256 << 20, ge=1)  # of these files; the oldest samples are deleted first
    max_logprob_gap: float = 0.0  # mean |Δ log-prob| of a batch, in nats; 0: 0.001 in float32, 0.1 in bfloat16
    tensorboard: bool = True
    wandb: str = ""  # the project's name; empty: off
    bar: bool = True


class Config(Section):
    """All settings of a run."""

    algorithm: str = "grpo"
    name: str = "run"
    out: str = "runs"  # the parent of the run's folder
    steps: int = Field(1000, ge=1)  # batches
    seed: int = 0
    model: Model
    lora: Lora = Lora()
    data: Data
    rollout: Rollout = Rollout()
    reward: RewardService = RewardService()
    buffer: Buffer = Buffer()
    duel: Duel = Duel()
    advantage: Advantage = Advantage()
    loss: Loss = Loss()
    correction: Correction = Correction()
    kl: Kl = Kl()
    optimiser: Optimiser = Optimiser()
    deepspeed: DeepSpeed = DeepSpeed()
    sync: Sync = Sync()
    checkpoint: Checkpoint = Checkpoint()
    held_out: HeldOut = HeldOut()
    watch: Watch = Watch()
    stages: tuple[Stage, ...] = ()  # changes of settings during the run; see schedule.py

    @field_validator("loss")
    @classmethod
    def _constants_fit(cls, loss: Loss) -> Loss:
        from trainer.loss import check_constants  # imports torch, which reading a file of problems does not need

        check_constants(loss.name, loss.constants)
        return loss

    @model_validator(mode="after")
    def _fits(self) -> Config:
        """Check that settings fit each other."""
        rollout, reward, sync, optimiser = self.rollout, self.reward, self.sync, self.optimiser
        is_colocated, gpus = rollout.engine == "colocated", rollout.replicas * rollout.tensor_parallel
        wrong = {
            "rollout.samples must be at least 2: advantages are relative to a group": rollout.samples < 2,
            f"reward.overlong_buffer is {reward.overlong_buffer}, but a response has only {rollout.max_tokens} tokens "
            "(rollout.max_tokens)": reward.overlong_buffer > rollout.max_tokens,
            f"rollout.max_model_len is {rollout.max_model_len}, which leaves no room for a response to a prompt of "
            "data.max_prompt_tokens": 0 < rollout.max_model_len <= self.data.max_prompt_tokens,
            "advantage.normalise would give silenced samples an advantage (reward.overlong_filter)": (
                self.advantage.normalise and reward.overlong_filter == "silence"
            ),
            "optimiser.minibatches and optimiser.minibatch_prompts exclude each other: remove one": (
                optimiser.minibatch_prompts and optimiser.minibatches > 1
            ),
            "optimiser.minibatches and optimiser.minibatch_prompts must be at most rollout.prompts: groups are not "
            "split": max(optimiser.minibatches, optimiser.minibatch_prompts) > rollout.prompts,
            f"buffer.max_staleness must be at least buffer.depth, {self.buffer.depth}: batches that far ahead would be "
            "sampled and dropped": self.buffer.oldest < self.buffer.depth,
            "deepspeed.sequence_parallel requires model.attention of 'auto' or 'rows'": (
                self.deepspeed.sequence_parallel > 1 and self.model.attention not in ("auto", "rows")
            ),
            "rollout.engine = 'colocated' requires sync.transport of 'auto' or 'memory', and no delta": (
                is_colocated and (sync.transport not in ("auto", "memory") or sync.delta)
            ),
            "sync.transport = 'memory' requires rollout.engine = 'colocated' or rollout.turns": (
                sync.transport == "memory" and not is_colocated and not rollout.turns
            ),
            "sync.delta requires transport file or broadcast, not 'memory'": sync.delta and sync.transport == "memory",
            "rollout.replicas and rollout.turns are of servers that the trainer starts: remove servers": (
                rollout.servers and (rollout.replicas > 1 or rollout.turns)
            ),
            "rollout.turns requires buffer.depth = 0 and rollout.engine = 'server'": (
                rollout.turns and (self.buffer.depth or is_colocated)
            ),
            f"rollout.devices must name {gpus} GPUs: rollout.replicas × rollout.tensor_parallel": (
                rollout.devices and len(rollout.devices.split(",")) != gpus
            ),
        }
        for message, is_so in wrong.items():
            if is_so:
                raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _stages_fit(self) -> Config:
        begins = [stage.begin for stage in self.stages]
        if begins != sorted(set(begins)):
            raise ValueError(f"stages begin at {begins}: the steps must increase")
        for begin in begins:
            try:
                tokens = self.at(begin).rollout.max_tokens
            except ValidationError as error:
                raise ValueError("; ".join(f"from step {begin} on: {line}" for line in _lines(error))) from None
            if 0 < self.rollout.max_model_len <= tokens:
                raise ValueError(
                    f"from step {begin} on: rollout.max_tokens is {tokens}, but rollout.max_model_len is "
                    f"{self.rollout.max_model_len}"
                )
        return self

    def at(self, step: int) -> Config:
        """Return the settings of a step, with all stages that have begun applied. The result has no stages."""
        begun = [stage for stage in self.stages if stage.begin <= step]
        if not begun:
            return self
        settings = self.model_dump(mode="json", exclude={"stages"})
        for stage in begun:
            settings = stage.over(settings)
        return Config.model_validate_json(json.dumps(settings))

    @property
    def stage_configs(self) -> list[Config]:
        """The settings of each stage, including the first."""
        return [self.at(begin) for begin in (1, *(stage.begin for stage in self.stages))]

    @property
    def longest(self) -> int:
        """The most tokens of prompt and response in any stage, for which vLLM is started."""
        lengths = [plan.data.max_prompt_tokens + plan.rollout.max_tokens for plan in self.stage_configs]
        return self.rollout.max_model_len or max(lengths)

    @property
    def group_size(self) -> int:
        """The most samples of a group that are trained on."""
        solutions = 0 if self.duel.trains == "tester" else self.rollout.samples
        return solutions + (self.duel.testers if self.duel.trains_tester else 0)

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return Path(self.out) / self.name


def logprob_bound(configured: float, dtype: str) -> float:
    """Return the configured bound of a mean difference of log-probabilities, in nats, or the default of the dtype."""
    return configured or (1e-3 if dtype == "float32" else 0.1)


def shipped() -> list[str]:
    """Return the names of the shipped configurations."""
    return sorted(path.stem for path in CONFIGS.glob("*.toml"))


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Return a configuration, read and validated.

    Args:
        path: A TOML or JSON file, or the name of a shipped configuration.
        overrides: `section.key=value`, with the value in TOML or as text.

    Raises:
        ConfigError: The file cannot be read, or a setting is invalid.
    """
    try:
        path = _found(path)
        text = path.read_text()
        settings = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from None
    for override in overrides:
        settings = merge(settings, _override(override))
    return resolve(settings, str(path))


def resolve(settings: Mapping[str, Any], origin: str = "the configuration") -> Config:
    """Return settings merged with those of the algorithm and the defaults, and validated. Messages name their origin.

    Raises:
        ConfigError: A setting is invalid.
    """
    name = settings.get("algorithm", "grpo")
    if name not in ALGORITHMS:
        raise ConfigError(f"{origin}: algorithm: {name!r} is not one of {', '.join(ALGORITHMS)}")
    try:
        return Config.model_validate_json(json.dumps(merge(ALGORITHMS[name], settings)))
    except ValidationError as error:
        raise ConfigError("\n  ".join([f"{origin}:", *_lines(error)])) from None


def _lines(error: ValidationError) -> list[str]:
    """Format validation errors, one line each."""
    return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]


def _found(path: Path) -> Path:
    """Return the path of a file or a shipped configuration. Raises ConfigError if there is neither."""
    if path.is_file() or path.name != str(path) or path.suffix in (".toml", ".json"):
        return path
    if path.name not in shipped():
        raise ConfigError(f"{path}: neither a file nor a shipped configuration; there are {', '.join(shipped())}")
    return CONFIGS / f"{path.name}.toml"


def _override(text: str) -> dict[str, Any]:
    """Parse `a.b=value`, with the value in TOML or as text. Raises ConfigError."""
    key, equals, value = text.partition("=")
    for literal in (value, json.dumps(value, ensure_ascii=False)) if equals else ():
        with suppress(tomllib.TOMLDecodeError):
            return tomllib.loads(f"{key} = {literal}")
    raise ConfigError(f"{text!r}: expected section.key=value")


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping above merged into the one below. A table "loss" with another name inherits no constants."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            is_other_loss = key == "loss" and value.get("name") not in (None, old.get("name"))
            merged[key] = value if is_other_loss else merge(old, value)
        else:
            merged[key] = value
    return merged
