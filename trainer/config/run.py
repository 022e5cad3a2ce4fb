"""All settings of a run, the stages in which they change, and the checks that they fit each other."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from sandbox_service.errors.fields import describe
from trainer.config import sections
from trainer.config.sections import Section

# Only settings that are read anew in every step can change. The loss, the model and all settings that vLLM or DeepSpeed
# are started with cannot; nor can the temperature, because a batch may have been started in the stage before.
MAY_CHANGE = (
    *("data.difficulty", "data.mixture"),
    *("rollout.prompts", "rollout.samples", "rollout.max_tokens"),
    *("reward.overlong_filter", "reward.overlong_buffer", "reward.overlong_factor"),
    *("optimiser.lr", "optimiser.micro_tokens"),
)
ZERO = "zero_optimization"  # the section of DeepSpeed's configuration


class Stage(Section):
    """The settings that differ, by section, from those of the stage before from step `begin` on.

    `Config` merges and validates each stage like a configuration of its own.
    """

    model_config = ConfigDict(extra="allow")

    begin: int = Field(ge=2)  # the rest of the file is the first stage

    @model_validator(mode="after")
    def _can_change(self) -> Self:
        for section, own in (self.model_extra or {}).items():
            for name in [f"{section}.{key}" for key in own] if isinstance(own, Mapping) else [f"the key {section}"]:
                if name not in MAY_CHANGE:
                    raise ValueError(f"{name} cannot change within a run; settings that can: {', '.join(MAY_CHANGE)}")
        return self

    def over(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return this stage's settings over a base. A table (`data.mixture`) is replaced as a whole."""
        changes = (self.model_extra or {}).items()
        return {**base, **{section: {**base[section], **settings} for section, settings in changes}}


class Config(Section):
    """All settings of a run."""

    algorithm: str = "grpo"
    name: str = Field("run", pattern=r"^[^/\x00.][^/\x00]*$")
    out: str = "runs"  # the parent of the run's folder
    steps: int = Field(1000, ge=1)  # batches
    seed: int = Field(0, ge=0, lt=1 << 32)  # as numpy and vLLM take
    model: sections.Model
    lora: sections.Lora = sections.Lora()
    data: sections.Data
    rollout: sections.Rollout = sections.Rollout()
    reward: sections.RewardService = sections.RewardService()
    buffer: sections.Buffer = sections.Buffer()
    duel: sections.Duel = sections.Duel()
    advantage: sections.Advantage = sections.Advantage()
    loss: sections.Loss = sections.Loss()
    correction: sections.Correction = sections.Correction()
    kl: sections.Kl = sections.Kl()
    optimiser: sections.Optimiser = sections.Optimiser()
    deepspeed: sections.DeepSpeed = sections.DeepSpeed()
    sync: sections.Sync = sections.Sync()
    checkpoint: sections.Checkpoint = sections.Checkpoint()
    held_out: sections.HeldOut = sections.HeldOut()
    watch: sections.Watch = sections.Watch()
    stages: tuple[Stage, ...] = ()

    @field_validator("loss")
    @classmethod
    def _constants_fit(cls, loss: sections.Loss) -> sections.Loss:
        from trainer.loss import check_constants  # imports torch, which reading a file of problems does not need

        check_constants(loss.name, loss.constants)
        return loss

    @model_validator(mode="after")
    def _fits(self) -> Self:
        rollout, reward, sync, deepspeed = self.rollout, self.reward, self.sync, self.deepspeed
        is_colocated, gpus = rollout.engine == "colocated", rollout.replicas * rollout.tensor_parallel
        by_count, by_prompts = self.optimiser.minibatches, self.optimiser.minibatch_prompts
        masks_rows = self.model.attention not in ("auto", "rows")
        servers = {each.rstrip("/") for each in rollout.servers}
        files = [set(map(os.path.realpath, some)) for some in (self.held_out.problems, self.data.train)]
        wrong = {
            f"reward.overlong_buffer is {reward.overlong_buffer}, but a response has only {rollout.max_tokens} tokens "
            "(rollout.max_tokens)": reward.overlong_buffer > rollout.max_tokens,
            f"rollout.max_model_len is {rollout.max_model_len}, which leaves no room for a response to a prompt of "
            "data.max_prompt_tokens": 0 < rollout.max_model_len <= self.data.max_prompt_tokens,
            "advantage.normalise would give silenced samples an advantage (reward.overlong_filter)": (
                self.advantage.normalise and reward.overlong_filter == "silence"
            ),
            "optimiser.minibatches and optimiser.minibatch_prompts exclude each other: remove one": (
                by_prompts and by_count > 1
            ),
            "optimiser.minibatches and optimiser.minibatch_prompts must be at most rollout.prompts: groups are not "
            "split": max(by_count, by_prompts) > rollout.prompts,
            f"buffer.max_staleness must be at least buffer.depth, {self.buffer.depth}: batches that far ahead would be "
            "sampled and dropped": self.buffer.oldest < self.buffer.depth,
            "deepspeed.zero is 0 with bfloat16, which keeps no float32 weights: set it to 1 or more": (
                deepspeed.zero == 0 and self.model.dtype == "bfloat16"
            ),
            "deepspeed.offload requires deepspeed.zero of 1 or more": deepspeed.zero == 0 and deepspeed.offload,
            "deepspeed.sequence_parallel requires model.attention of 'auto' or 'rows'": (
                deepspeed.sequence_parallel > 1 and masks_rows
            ),
            "rollout.engine = 'colocated' requires sync.transport = 'auto' and no delta": (
                is_colocated and (sync.transport != "auto" or sync.delta)
            ),
            "rollout.replicas and rollout.turns are of servers that the trainer starts: remove servers": (
                servers and (rollout.replicas > 1 or rollout.turns)
            ),
            "rollout.turns requires buffer.depth = 0 and rollout.engine = 'server'": (
                rollout.turns and (self.buffer.depth or is_colocated)
            ),
            "rollout.turns excludes sync.transport = 'broadcast', which needs a GPU for each member": (
                rollout.turns and sync.transport == "broadcast"
            ),
            f"rollout.devices must name {gpus} GPUs: rollout.replicas × rollout.tensor_parallel": (
                rollout.devices and len(set(rollout.devices.split(","))) != gpus
            ),
            "rollout.servers names a server twice": len(servers) < len(rollout.servers),
            "held_out.problems has files of data.train": files[0] & files[1],
            f"deepspeed.extra: {ZERO} is a table without a stage: set deepspeed.zero": (
                not isinstance(zero := deepspeed.extra.get(ZERO, {}), Mapping) or "stage" in zero
            ),
        }
        if message := next((message for message, is_so in wrong.items() if is_so), None):
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _stages_fit(self) -> Self:
        begins = [stage.begin for stage in self.stages]
        if begins != sorted(set(begins)):
            raise ValueError(f"stages begin at {begins}: the steps must increase")
        for begin in begins:
            try:
                tokens = self.at(begin).rollout.max_tokens
            except ValidationError as error:
                raise ValueError(f"from step {begin} on: {describe(error, whole='this')}") from None
            if 0 < self.rollout.max_model_len <= tokens:
                raise ValueError(
                    f"from step {begin} on: rollout.max_tokens is {tokens}, but rollout.max_model_len is "
                    f"{self.rollout.max_model_len}"
                )
        return self

    def at(self, step: int) -> Self:
        """Return the settings of a step, with all stages that have begun applied. The result has no stages."""
        begun = [stage for stage in self.stages if stage.begin <= step]
        if not begun:
            return self
        settings = self.model_dump(mode="json", exclude={"stages"})
        for stage in begun:
            settings = stage.over(settings)
        return self.model_validate_json(json.dumps(settings))

    @property
    def stage_configs(self) -> list[Self]:
        """The settings of each stage, including the first."""
        return [self.at(begin) for begin in (1, *(stage.begin for stage in self.stages))]

    @property
    def longest(self) -> int:
        """The most tokens of prompt and response in any stage, for which vLLM is started."""
        lengths = [plan.data.max_prompt_tokens + plan.rollout.max_tokens for plan in self.stage_configs]
        return self.rollout.max_model_len or max(lengths)

    def room(self, prompt_tokens: int) -> int:
        """Return the most tokens of a response to a prompt of so many tokens."""
        most, context = self.rollout.max_tokens, self.rollout.max_model_len
        return min(most, context - prompt_tokens) if context else most

    @property
    def group_size(self) -> int:
        """The most samples of a group that are trained on."""
        solutions = 0 if self.duel.trains == "tester" else self.rollout.samples
        return solutions + (self.duel.testers if self.duel.trains_tester else 0)

    @property
    def folder(self) -> Path:
        return Path(self.out) / self.name


def logprob_bound(configured: float, dtype: str) -> float:
    """Return the configured bound of a mean difference of log-probabilities, in nats, or the default of the dtype."""
    return configured or (0.01 if dtype == "float32" else 0.1)
