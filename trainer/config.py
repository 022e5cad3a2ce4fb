"""Every knob of a run: typed, frozen, from a TOML file and `section.key=value` on the command line.

What a file does not say comes from the algorithm that it names (`algorithms.py`), and then from here. A key that is
not known is an error. A run saves what all this came to as `config.json`, which can be given in place of the file; so
can the bare name of a configuration that is shipped, in configs/. What changes while a run goes on: `schedule.py`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from trainer.algorithms import ALGORITHMS
from trainer.errors import ConfigError
from trainer.schedule import Stage

CONFIGS = Path(__file__).with_name("configs")  # those that are shipped


class Section(BaseModel):
    """Frozen, and without keys that nobody knows."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Model(Section):
    """What is trained."""

    path: str  # a folder in Hugging Face's form, or a name on its hub
    reference: str = ""  # for the KL term; empty: what `path` is at the beginning
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    attention: Literal["sdpa", "flash_attention_2", "eager"] = "sdpa"
    checkpointing: bool = True  # activations are computed again, not kept
    chunk_tokens: int = Field(1024, ge=1)  # of which logits are made at a time


class Data(Section):
    """What it is asked."""

    train: tuple[str, ...] = Field(min_length=1)  # files of problems, a line of JSON each
    format: Literal["chat", "think_answer", "plain"] = "chat"  # see prompts.py
    system: str = ""
    max_prompt_tokens: int = Field(2048, ge=1)  # longer ones are left out, and counted
    order: Literal["shuffled", "file", "easiest_first"] = "shuffled"  # within a source
    difficulty: tuple[float, float] | None = None  # only problems whose own is from … to …; none: all
    mixture: Mapping[str, float] = {}  # of sources, in any unit; each is named, 0 leaves it out; empty: as they are

    @model_validator(mode="after")
    def _can_be(self) -> Data:
        if self.difficulty and not 0 <= self.difficulty[0] <= self.difficulty[1] <= 1:
            raise ValueError(f"difficulty: {list(self.difficulty)} is no range between 0 and 1")
        shares = self.mixture.values()
        if shares and not (all(0 <= share < inf for share in shares) and any(shares)):
            raise ValueError("mixture: shares are numbers from 0 on, and not all of them 0")
        return self


class Rollout(Section):
    """How it answers."""

    engine: Literal["server", "colocated"] = "server"  # colocated: in this process, for one GPU or none
    servers: tuple[str, ...] = ()  # URLs; none: one is started
    server_arguments: tuple[str, ...] = ()  # more of vLLM's, for what is started
    devices: str = ""  # its CUDA_VISIBLE_DEVICES: GPUs that no rank has, "6,7"; empty: as ours
    prompts: int = Field(64, ge=1)  # a batch is so many groups
    samples: int = Field(16, ge=1)  # of each
    temperature: float = Field(1.0, gt=0)
    max_tokens: int = Field(8192, ge=1)  # of a response
    max_model_len: int = 0  # 0: prompt and response just fit
    concurrency: int = Field(1024, ge=1)  # requests at once
    gpu_memory: float = Field(0.85, gt=0, le=1)
    tensor_parallel: int = Field(1, ge=1)
    patience_seconds: float = 600.0  # for a vLLM that is away


class RewardService(Section):
    """What it is paid."""

    url: str = "http://127.0.0.1:8080"
    key_variable: str = "PROCTOR_API_KEY"  # the environment variable that holds the key, if there is one
    extraction: Literal[
        "last_block", "first_block", "all_blocks", "answer_tag", "whole", "boxed", "boxed_after_thinking"
    ] = "last_block"
    scheme: Mapping[str, Any] = {"scheme": "all_or_nothing"}
    limits: Mapping[str, Any] = {}  # over what the problem says
    tests: int = Field(0, ge=0)  # so many of a problem's tests, the same for its whole group; 0: all
    concurrency: int = Field(256, ge=1)
    patience_seconds: float = 600.0  # for a service that is away
    max_fault_share: float = Field(0.01, ge=0, le=1)  # above it the run stops
    overlong_filter: Literal["none", "silence", "mask"] = "none"  # silence: advantage 0 if also wrong
    overlong_buffer: int = Field(0, ge=0)  # the last tokens of a response's room, in which the penalty grows; 0: none
    overlong_factor: float = Field(1.0, ge=0)


class Buffer(Section):
    """What is worth training on."""

    drop_flat: bool = False  # dynamic sampling: groups without a difference are replaced
    max_generations: int = Field(10, ge=1)  # batches sampled for one that is trained on; then as many as there are
    depth: int = Field(0, ge=0)  # batches ahead: 0 is on-policy, 1 samples the next batch while one is learnt from
    max_staleness: int | None = Field(None, ge=0)  # of a token, in versions of the weights; none: as many as `depth`
    late: Literal["wait", "drop"] = "wait"  # what to do with samples that would be too old by the next batch

    @property
    def oldest(self) -> int:
        """How many versions a token's weights may be behind those that learn from it."""
        return self.depth if self.max_staleness is None else self.max_staleness


class Advantage(Section):
    """By how much an episode is better than its group."""

    name: Literal["grpo", "dr_grpo", "rloo"] = "grpo"


class Loss(Section):
    """See loss/: `name` is a function there, other keys its constants."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    name: str = "grpo"
    mean: Literal["token", "sequence", "constant"] = "token"  # constant: over all rows × max_tokens (Dr. GRPO)
    old: Literal["recomputed", "behaviour"] = "recomputed"  # behaviour: as vLLM said

    @property
    def constants(self) -> dict[str, Any]:
        """The loss function's own."""
        return dict(self.model_extra or {})


class Correction(Section):
    """For what the engine that sampled computes differently. See loss/correction.py."""

    name: Literal["none", "tis", "icepop", "sequence"] = "tis"
    low: float = 0.5
    high: float = 2.0


class Kl(Section):
    """The pull back to the reference model, which is only there if a coefficient is above 0."""

    coefficient: float = Field(0.0, ge=0)
    high_entropy_coefficient: float | None = None  # Archer: of the tokens above the quantile; none: the same
    quantile: float = Field(0.8, gt=0, lt=1)
    estimator: Literal["k1", "k2", "k3"] = "k3"

    @property
    def is_on(self) -> bool:
        """Whether a reference model is needed."""
        return bool(self.coefficient or self.high_entropy_coefficient)


class Optimiser(Section):
    """AdamW and how often it steps."""

    lr: float = Field(1e-6, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.01
    warmup_steps: int = Field(0, ge=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    clip: float = Field(1.0, gt=0)  # of the gradient's norm
    epochs: int = Field(1, ge=1)  # over a batch
    minibatches: int = Field(1, ge=1)  # steps an epoch
    micro_tokens: int = Field(16_384, ge=1)  # a micro-batch at most, unless one row is longer


class DeepSpeed(Section):
    """How the ranks share the work."""

    zero: Literal[0, 1, 2, 3] = 2
    offload: bool = False  # the optimiser's state into the host's memory
    extra: Mapping[str, Any] = {}  # into DeepSpeed's own configuration


class Sync(Section):
    """How weights come to vLLM."""

    transport: Literal["file", "gloo", "nccl", "ipc", "direct"] = "file"  # direct: only for a colocated engine
    folder: str = "/dev/shm"  # noqa: S108 - where the file is written, if it is one
    bucket_bytes: int = Field(256 << 20, ge=1)
    max_probe_gap: float = 0.0  # |Δ log-prob| of a probe after each sync; 0: 0.001 in float32, 0.5 in bfloat16
    timeout_seconds: float = 600.0
    delta: bool = False  # only what changed; costs a copy of the weights in our memory and one in each vLLM worker's
    full_every: int = Field(10, ge=1)  # with delta: one sync in so many is of all weights

    @model_validator(mode="after")
    def _can_be_delta(self) -> Sync:
        if self.delta and self.transport in ("ipc", "direct"):
            raise ValueError(f"delta is for what travels (file, gloo, nccl): by {self.transport!r} nothing is sent")
        return self

    def probe_bound(self, dtype: str) -> float:
        """The most that a probe may be off, in nats."""
        return self.max_probe_gap or (1e-3 if dtype == "float32" else 0.5)


class Checkpoint(Section):
    """What is kept of a run, so that it can go on."""

    every: int = Field(0, ge=0)  # steps; 0: none is made, but for the model at the end
    keep: int = Field(3, ge=1)  # of the newest
    keep_every: int = Field(0, ge=0)  # and those whose step this divides; 0: no others
    resume: bool = False  # go on from the newest, if there is one


class Watch(Section):
    """What is reported, and what stops the run."""

    max_logprob_gap: float = 0.0  # mean |Δ log-prob| of a batch, vLLM's to ours; 0: 0.001 in float32, 0.1 in bfloat16
    tensorboard: bool = True
    wandb: str = ""  # the project's name; empty: none
    bar: bool = True

    def gap_bound(self, dtype: str) -> float:
        """The most that a batch may be off on average, in nats."""
        return self.max_logprob_gap or (1e-3 if dtype == "float32" else 0.1)


class Config(Section):
    """A run."""

    algorithm: str = "grpo"
    name: str = "run"
    out: str = "runs"  # the run's folder is made in it
    steps: int = Field(1000, ge=1)  # batches
    seed: int = 0
    model: Model
    data: Data
    rollout: Rollout = Rollout()
    reward: RewardService = RewardService()
    buffer: Buffer = Buffer()
    advantage: Advantage = Advantage()
    loss: Loss = Loss()
    correction: Correction = Correction()
    kl: Kl = Kl()
    optimiser: Optimiser = Optimiser()
    deepspeed: DeepSpeed = DeepSpeed()
    sync: Sync = Sync()
    checkpoint: Checkpoint = Checkpoint()
    watch: Watch = Watch()
    stages: tuple[Stage, ...] = ()  # see schedule.py

    @model_validator(mode="after")
    def _fits(self) -> Config:
        if (self.sync.transport == "direct") != (self.rollout.engine == "colocated"):
            raise ValueError("sync.transport is 'direct' for a colocated engine, and only then")
        if self.rollout.samples < 2:
            raise ValueError("rollout.samples: an advantage over a group needs at least 2")
        if self.reward.overlong_buffer > self.rollout.max_tokens:
            raise ValueError(
                f"reward.overlong_buffer is {self.reward.overlong_buffer}, but a response has only "
                f"{self.rollout.max_tokens} tokens (rollout.max_tokens)"
            )
        if self.optimiser.minibatches > self.rollout.prompts:
            raise ValueError("optimiser.minibatches: a group is never cut, so at most rollout.prompts")
        return self

    @model_validator(mode="after")
    def _stages_fit(self) -> Config:
        begins = [stage.begin for stage in self.stages]
        if begins != sorted(set(begins)):
            raise ValueError(f"stages begin at {begins}: each must begin after the one before it")
        for begin in begins:
            try:
                tokens = self.at(begin).rollout.max_tokens
            except ValidationError as trouble:
                raise ValueError("; ".join(f"from step {begin} on: {line}" for line in _lines(trouble))) from None
            if 0 < self.rollout.max_model_len <= tokens:
                raise ValueError(
                    f"from step {begin} on: rollout.max_tokens is {tokens}, but vLLM is started with room for "
                    f"{self.rollout.max_model_len} in all (rollout.max_model_len)"
                )
        return self

    def at(self, step: int) -> Config:
        """What holds in a step, from 1: this, with what the stages until then say. It has no stages itself."""
        begun = [stage for stage in self.stages if stage.begin <= step]
        if not begun:
            return self
        said = self.model_dump(mode="json", exclude={"stages"})
        for stage in begun:
            said = stage.over(said)
        return Config.model_validate_json(json.dumps(said))

    @property
    def plans(self) -> list[Config]:
        """What holds in each stage, the first one included."""
        return [self.at(begin) for begin in (1, *(stage.begin for stage in self.stages))]

    @property
    def longest(self) -> int:
        """The most tokens that prompt and response may have in any stage: what vLLM must have room for."""
        lengths = [plan.data.max_prompt_tokens + plan.rollout.max_tokens for plan in self.plans]
        return self.rollout.max_model_len or max(lengths)

    @property
    def folder(self) -> Path:
        """Where everything about this run is."""
        return Path(self.out) / self.name


def shipped() -> list[str]:
    """The names of the configurations that come with the trainer."""
    return sorted(path.stem for path in CONFIGS.glob("*.toml"))


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """The configuration in a file, or that is shipped under this name, with `section.key=value` over it.

    Raises ConfigError.
    """
    try:
        path = _found(path)
        text = path.read_text()
        said = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as trouble:
        raise ConfigError(f"{path}: {trouble}") from None
    for override in overrides:
        said = _over(said, _override(override))
    return resolve(said, str(path))


def resolve(said: Mapping[str, Any], origin: str = "the configuration") -> Config:
    """What is said, over what the named algorithm says, over the defaults. Raises ConfigError."""
    name = said.get("algorithm", "grpo")
    if name not in ALGORITHMS:
        raise ConfigError(f"{origin}: algorithm: {name!r} is none of {', '.join(ALGORITHMS)}")
    try:
        return Config.model_validate_json(json.dumps(_over(ALGORITHMS[name].settings, said)))
    except ValidationError as trouble:
        raise ConfigError("\n  ".join([f"{origin}:", *_lines(trouble)])) from None


def _lines(trouble: ValidationError) -> list[str]:
    """What is wrong, and where."""
    return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in trouble.errors()]


def _found(path: Path) -> Path:
    """A bare name that is no file is one of ours. Raises ConfigError if it is neither."""
    if path.is_file() or path.name != str(path) or path.suffix in (".toml", ".json"):
        return path
    if path.name not in shipped():
        raise ConfigError(f"{path}: neither a file nor a shipped configuration; there are {', '.join(shipped())}")
    return CONFIGS / f"{path.name}.toml"


def _override(text: str) -> dict[str, Any]:
    """`a.b=value`, the value in TOML, or else text."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"{text!r}: say section.key=value")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    for part in reversed(key.strip().split(".")):
        parsed = {part: parsed}
    return parsed  # type: ignore[no-any-return]


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, and of what both say, what is above. Another loss takes no constants from the one below."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        changes_loss = (
            key == "loss" and isinstance(value, Mapping) and value.get("name", None) not in (None, _name(old))
        )
        if isinstance(old, Mapping) and isinstance(value, Mapping) and not changes_loss:
            merged[key] = _over(old, value)
        else:
            merged[key] = value
    return merged


def _name(loss: object) -> object:
    return loss.get("name") if isinstance(loss, Mapping) else None
