"""The model that learns: DeepSpeed's engine around it, for any ZeRO stage and any number of ranks.

The only module that knows DeepSpeed. What is learnt from is decided elsewhere (`objective`, `batch`); here are the
passes, the step, and the weights as others want them. All methods but the properties are collective: every rank calls
them, in the same order, with as many micro-batches.

On a GPU it is NCCL and bf16; neither was run here.
"""

from __future__ import annotations

import logging
import math
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from trainer.config import Config, Optimiser
from trainer.episode import MicroBatch, Tally
from trainer.errors import ConfigError
from trainer.logprob import Head, Scorer
from trainer.ranks import Ranks

DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}
NEVER = 10**12
STATE = "state"  # DeepSpeed's folder in a checkpoint
CHANCE = "chance_{}.pt"  # of a rank


class Objective(Protocol):
    """What is to be made small; see objective.py."""

    @property
    def needs_old(self) -> bool:
        """Whether ratios are to `MicroBatch.old`, and not to `MicroBatch.behaviour`."""

    @property
    def prepare(self) -> Callable[[Tensor, Tensor], Mapping[str, Tensor]] | None:
        """None, or what is to see log_ratio [M] and advantage [M] of all that trains, on all ranks, before a step."""

    def __call__(
        self, micro: MicroBatch, logp: Tensor, entropy: Tensor, prepared: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tally]:
        """The scalar that is summed over micro-batches and ranks, and what is worth watching."""


class Policy:
    """The model, its optimiser, and the reference model if there is a KL term.

    Raises ConfigError if DeepSpeed cannot do what the configuration asks for.
    """

    def __init__(self, config: Config, ranks: Ranks) -> None:
        check(config)
        self._config = config
        self._ranks = ranks
        self._deepspeed = _deepspeed()
        torch.manual_seed(config.seed)
        scorer = load(config, config.model.path)
        if config.model.checkpointing:
            scorer.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        self._engine = self._shared(scorer, _adamw(scorer, config.optimiser))
        self._reference = self._frozen() if config.kl.is_on else None
        self.updates = 0  # steps tried; what the learning rate depends on

    @property
    def has_reference(self) -> bool:
        """Whether a reference model is in memory."""
        return self._reference is not None

    def score(self, micro: Sequence[MicroBatch], temperature: float | None = None) -> list[Tensor]:
        """Log-probabilities [N] of each micro-batch's targets by the policy as it is: on the host, no gradient.

        At the temperature of the rollouts, or another one.
        """
        return self._scored(self._engine, micro, temperature)

    def score_reference(self, micro: Sequence[MicroBatch]) -> list[Tensor]:
        """As `score`, by the reference model."""
        assert self._reference is not None, "no KL term, no reference model"
        return self._scored(self._reference, micro)

    def update(
        self,
        micro: Sequence[MicroBatch],
        objective: Objective,
        is_first: bool = False,
        settings: Optimiser | None = None,
    ) -> Tally:
        """One step of the optimiser: down the gradient of the sum of `objective` over all micro-batches and ranks.

        Args:
            micro: this rank's, at least one.
            objective: see Objective.
            is_first: whether these weights are still those that `MicroBatch.old` was computed with.
            settings: for the learning rate, if not those that the run began with.

        Returns:
            What this rank saw: the objective's own, grad_norm (over all ranks, before it is clipped), lr, and
            skipped_steps, which is 1 if the norm was not finite: then nothing was changed.
        """
        prepared = self._prepared(micro, objective, is_first)
        tally = Tally()
        lr = self._set_rate(settings or self._config.optimiser)
        self._engine.train()
        for number, each in enumerate(micro, start=1):
            self._engine.set_gradient_accumulation_boundary(number == len(micro))
            tally.join(self._backward(self._here(each), objective, prepared))
        norm = self._step()
        self.updates += 1
        tally.add("lr", lr, 1)
        tally.add("skipped_steps", float(norm is None), 1)
        if norm is not None:
            tally.add("grad_norm", norm, 1)
        return tally

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """Each parameter, whole, by its name in Hugging Face's form; an output embedding that is tied is left out.

        Every rank must come to the end. A tensor is on this rank's device, and good until the next one is asked for:
        under ZeRO-3 they are gathered one by one, on all ranks.
        """
        for name, parameter in self._engine.module.model.named_parameters():
            with self._whole(parameter):
                yield name, parameter.detach()

    def save(self, folder: Path) -> None:
        """The model and its tokenizer, as Hugging Face would find them; all there or not at all.

        Raises OSError, on all ranks, if that could not be written.
        """
        state: dict[str, Tensor] = {}
        troubles: list[str] = []
        for name, weight in self.weights():
            if self._ranks.is_leader:
                state[name] = weight.to("cpu", copy=True)
        if self._ranks.is_leader:
            with _noted(troubles):
                self._write(folder, state)
        self._agree(troubles)

    def keep(self, folder: Path) -> None:
        """All that `restore` needs: weights and optimiser to the bit, and generators of chance.

        Raises OSError, on all ranks, if one could not write its part.
        """
        troubles: list[str] = []
        with _noted(troubles):
            (folder / STATE).mkdir(parents=True, exist_ok=True)
        self._agree(troubles)

        def write(state_dict: Any, path: str) -> None:
            with _noted(troubles):  # and not out of here, where DeepSpeed's other ranks would wait for this one
                torch.save(state_dict, path)

        self._engine.checkpoint_engine.save = write
        self._engine._copy_recovery_script = _not_needed  # it would be written past us, and `model/` is there
        kept = {"updates": self.updates}
        self._engine.save_checkpoint(str(folder), tag=STATE, client_state=kept, save_latest=False)
        write(_chance(), str(folder / CHANCE.format(self._ranks.rank)))
        self._agree(troubles)

    def restore(self, folder: Path) -> None:
        """Go on as when `keep` wrote this, with as many ranks and the same ZeRO stage. It is unpickled: trust it."""
        _, kept = self._engine.load_checkpoint(str(folder), tag=STATE)
        self.updates = kept["updates"]
        _set_chance(torch.load(folder / CHANCE.format(self._ranks.rank), weights_only=True))

    def close(self) -> None:
        """Let DeepSpeed forget its hooks and buffers."""
        for each in (self._engine, self._reference):
            if isinstance(each, self._deepspeed.DeepSpeedEngine):
                each.destroy()

    # ── passes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @torch.no_grad()
    def _scored(self, scorer: nn.Module, micro: Sequence[MicroBatch], temperature: float | None = None) -> list[Tensor]:
        scorer.eval()
        return [self._ask(scorer, self._here(each), False, temperature)[0].cpu() for each in micro]

    def _ask(
        self, scorer: nn.Module, micro: MicroBatch, with_entropy: bool, temperature: float | None = None
    ) -> tuple[Tensor, Tensor]:
        temperature = temperature or self._config.rollout.temperature
        logp, entropy = scorer(micro.ids, micro.positions, micro.where, micro.targets, temperature, with_entropy)
        return logp, entropy

    def _here(self, micro: MicroBatch) -> MicroBatch:
        """On this rank's device."""
        tensors = {each.name: getattr(micro, each.name) for each in fields(micro)}
        moved = {name: tensor.to(self._ranks.device) for name, tensor in tensors.items() if tensor is not None}
        return replace(micro, **moved)

    def _prepared(self, micro: Sequence[MicroBatch], objective: Objective, is_first: bool) -> Mapping[str, Tensor]:
        """What the objective wants to know of all tokens of the step."""
        if objective.prepare is None:
            return {}
        known = [each.old for each in micro if each.old is not None]
        now = known if is_first and len(known) == len(micro) else self.score(micro)
        ratios, advantages = [], []
        for each, logp in zip(micro, now, strict=True):
            old = each.old if objective.needs_old else each.behaviour
            assert old is not None, "the objective needs old log-probabilities"
            trains = each.weight != 0
            ratios.append((logp - old)[trains])
            advantages.append(each.advantage[trains])
        everyone = [self._ranks.concatenate(torch.cat(own)) for own in (ratios, advantages)]
        prepared = objective.prepare(*everyone)
        return {name: value.to(self._ranks.device) for name, value in prepared.items()}

    def _backward(self, micro: MicroBatch, objective: Objective, prepared: Mapping[str, Tensor]) -> Tally:
        logp, entropy = self._ask(self._engine, micro, with_entropy=True)
        value, tally = objective(micro, logp, entropy, prepared)
        value = value + logp[:0].sum()  # whatever it is made of, the backward pass goes through the model
        self._engine.backward(value * self._ranks.size)  # DeepSpeed takes the mean over ranks, and this is a sum
        return tally

    # ── the step ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _set_rate(self, settings: Optimiser) -> float:
        rate = learning_rate(settings, self.updates, self._config.steps * settings.epochs * settings.minibatches)
        for group in self._engine.optimizer.param_groups:
            group["lr"] = rate
        return rate

    def _step(self) -> float | None:
        """Take it. The norm of the gradient; None if it was not finite and there was no step.

        Under ZeRO DeepSpeed sees to that. In float32 without ZeRO it would take the step: there we look first.
        """
        norm = self._own_norm() if self._config.deepspeed.zero == 0 else None
        if norm is not None and not math.isfinite(norm):
            self._engine.zero_grad()
            return None
        self._engine.step()
        if norm is None:
            norm = float(self._engine.get_global_grad_norm())
        return norm if math.isfinite(norm) and self._engine.was_step_applied() else None

    def _own_norm(self) -> float:
        """Of gradients that are whole, and the same on all ranks."""
        gradients = [each.grad for each in self._engine.module.parameters() if each.grad is not None]
        return float(torch.nn.utils.get_total_norm(gradients))

    # ── DeepSpeed ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _shared(self, scorer: Scorer, optimiser: torch.optim.Optimizer | None) -> Any:
        """DeepSpeed's engine."""
        self._deepspeed.utils.set_z3_leaf_modules(scorer, [Head])
        settings = deepspeed_settings(self._config, trains=optimiser is not None)
        engine, *_ = self._deepspeed.initialize(model=scorer, optimizer=optimiser, config=settings)
        return engine

    def _frozen(self) -> nn.Module:
        """The reference model: shared out if the policy is, else whole on each rank."""
        scorer = load(self._config, self._config.model.reference or self._config.model.path).requires_grad_(False)
        if self._config.deepspeed.zero < 3:
            return scorer.to(self._ranks.device)
        engine: nn.Module = self._shared(scorer, None)
        return engine

    def _agree(self, troubles: list[str]) -> None:
        """Raise on all ranks what was noted on any."""
        if everyones := [trouble for own in self._ranks.gather(troubles) for trouble in own]:
            raise OSError(everyones[0])

    def _whole(self, parameter: nn.Parameter) -> Any:
        """Within it the parameter is whole; does nothing but under ZeRO-3."""
        is_shared = self._config.deepspeed.zero == 3
        return self._deepspeed.zero.GatheredParameters([parameter], enabled=is_shared)

    def _write(self, folder: Path, state: dict[str, Tensor]) -> None:
        """To a folder beside it, which then takes its name. What had the name is gone in between, for a moment."""
        from transformers import AutoTokenizer

        new, old = folder.with_name(folder.name + ".tmp"), folder.with_name(folder.name + ".old")
        for rest in (new, old):
            shutil.rmtree(rest, ignore_errors=True)
        self._engine.module.model.save_pretrained(new, state_dict=state)
        AutoTokenizer.from_pretrained(self._config.model.path).save_pretrained(new)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)


def check(config: Config) -> None:
    """Raises ConfigError for what DeepSpeed cannot do, or would do in a way that nobody wants."""
    if config.deepspeed.zero == 0 and config.model.dtype == "bfloat16":
        raise ConfigError("deepspeed.zero is 0 with bfloat16: there would be no weights in float32; take 1 or more")
    if config.deepspeed.zero == 0 and config.deepspeed.offload:
        raise ConfigError("deepspeed.offload: the optimiser's state can only be offloaded with deepspeed.zero ≥ 1")


def load(config: Config, path: str) -> Scorer:
    """A model of Hugging Face's, whole, in the host's memory, and without dropout: ratios are to be 1 at first.

    Raises ConfigError if there is none, or none that we can score with.
    """
    from transformers import AutoModelForCausalLM

    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            path, dtype=DTYPES[config.model.dtype], attn_implementation=config.model.attention
        )
        scorer = Scorer(model, config.model.chunk_tokens)
    except (OSError, ValueError, ImportError) as trouble:
        raise ConfigError(f"model {path}: {trouble}") from None
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.0
    return scorer


def learning_rate(settings: Optimiser, update: int, updates: int) -> float:
    """For update 0 … updates-1: up to `lr` in `warmup_steps` updates, then as it is, or down to 0 at the end."""
    if update < settings.warmup_steps:
        return settings.lr * (update + 1) / settings.warmup_steps
    done = min(1.0, (update - settings.warmup_steps) / max(1, updates - settings.warmup_steps))
    factor = {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * done)) / 2}
    return settings.lr * factor[settings.schedule]


def deepspeed_settings(config: Config, trains: bool = True) -> dict[str, Any]:
    """DeepSpeed's own configuration; `deepspeed.extra` is over it."""
    zero: dict[str, Any] = {"stage": config.deepspeed.zero}
    if not torch.cuda.is_available():
        zero["overlap_comm"] = False  # there are no streams to overlap on
    if config.deepspeed.offload and trains:
        zero["offload_optimizer"] = {"device": "cpu", "pin_memory": torch.cuda.is_available()}
    settings: dict[str, Any] = {
        "train_micro_batch_size_per_gpu": 1,  # it only counts with these: the boundaries of a step are ours
        "gradient_accumulation_steps": 1,
        "gradient_clipping": config.optimiser.clip,
        "zero_optimization": zero,
        "zero_force_ds_cpu_optimizer": False,  # torch's AdamW does it without a compiler
        "steps_per_print": NEVER,
    }
    if config.model.dtype == "bfloat16":
        settings["bf16"] = {"enabled": True}
        settings["data_types"] = {"grad_accum_dtype": "fp32"}  # bf16 loses small gradients among many micro-batches
    return _over(settings, config.deepspeed.extra)


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, and of what both say, what is above."""
    merged = dict(below)
    for key, value in above.items():
        nested = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _over(merged[key], value) if nested else value
    return merged


def _not_needed(_: str) -> None:
    pass


@contextmanager
def _noted(troubles: list[str]) -> Iterator[None]:
    """What cannot be written is noted: a full disk is a RuntimeError for torch, and an error of its own elsewhere."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as trouble:
        troubles.append(str(trouble) or type(trouble).__name__)


def _chance() -> dict[str, Tensor]:
    """The generators' states."""
    state = {"cpu": torch.get_rng_state()}
    return state | {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else state


def _set_chance(state: Mapping[str, Tensor]) -> None:
    torch.set_rng_state(state["cpu"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


def _adamw(scorer: nn.Module, settings: Optimiser) -> torch.optim.Optimizer:
    """Torch's own, since DeepSpeed's is compiled when it is first asked for."""
    return torch.optim.AdamW(
        scorer.parameters(),
        lr=settings.lr,
        betas=settings.betas,
        eps=settings.eps,
        weight_decay=settings.weight_decay,
    )


def _deepspeed() -> Any:
    """The package, initialised on the process group that there is.

    On a CPU it would compile an operator for shared memory, under a lock that stays if the process is killed and stops
    every later run; without the operator it uses gloo.
    """
    import deepspeed  # type: ignore[import-untyped]

    deepspeed.utils.logger.setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", r"`torch\.distributed\.\w+` is deprecated", FutureWarning)  # at every call
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # type: ignore[attr-defined]
    deepspeed.init_distributed(verbose=False)
    return deepspeed
