"""The trained model: DeepSpeed's engine around it, for any ZeRO stage and any number of ranks.

All methods are collective: every rank must call them in the same order with the same number of micro-batches. On a GPU
it uses NCCL, which was tested with one rank.
"""

import logging
import math
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from trainer.checkpoint import ENGINE, reading
from trainer.config import Config, merge
from trainer.config.sections import Optimiser
from trainer.episode import MicroBatch, Tally
from trainer.errors import ConfigError, WriteError
from trainer.logprob import Head, Scorer
from trainer.model import load, weights_of
from trainer.objective import Objective
from trainer.ranks import Ranks
from trainer.sync.weights import Checksum

NEVER = 10**12
STATE = "state"  # DeepSpeed's folder within a checkpoint's
OF_RANK = "rng_{}.pt"  # a rank's random generators and the checksum of the initial weights


class Policy:
    """The model, its optimiser, and the reference model if there is a KL term."""

    def __init__(self, config: Config, ranks: Ranks) -> None:
        self._config = config
        self._ranks = ranks
        self._deepspeed = _deepspeed()
        torch.manual_seed(config.seed)
        self._sequence_group = ranks.sequence_group(config.deepspeed.sequence_parallel)
        scorer = self._load(config.model.path)
        self.attention: str = scorer.model.config._attn_implementation
        if config.model.checkpointing:
            scorer.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        trained = [each for each in scorer.parameters() if each.requires_grad]
        settings = config.optimiser.model_dump(include={"lr", "betas", "eps", "weight_decay"})
        self._engine = self._initialize(scorer, torch.optim.AdamW(trained, **settings))  # DeepSpeed's is compiled
        self._initial = Checksum.of(self.weights()).as_json()
        self._reference: nn.Module | None = None
        if config.kl.is_on:  # partitioned under ZeRO-3, otherwise replicated on each rank
            fixed = self._load(config.model.reference or config.model.path, trains=False).requires_grad_(False)
            self._reference = self._initialize(fixed, None) if config.deepspeed.zero == 3 else fixed

    @torch.no_grad()
    def score(self, micro: Sequence[MicroBatch], temperature: float = 0.0, by_reference: bool = False) -> list[Tensor]:
        """Return log-probabilities [N] of each micro-batch, without gradient, by the policy or by the reference model.

        The temperature is by default (0) that of the rollouts.
        """
        scorer: Any = self._reference if by_reference else self._engine
        scorer.eval()
        temperature = temperature or self._config.rollout.temperature
        return [_forward(scorer, self._on_device(each), temperature)[0].cpu() for each in micro]

    def update(self, micro: Sequence[MicroBatch], objective: Objective, is_first: bool, lr: float) -> Tally:
        """Return this rank's tally of one optimiser step, at the rate `lr`, on the sum of `objective` over all ranks.

        Nothing is changed if the gradient's norm (over all ranks, before clipping) is not finite (`skipped_steps`).
        `is_first`: no step was taken on the batch yet.
        """
        prepared = self._prepared(micro, objective, is_first)
        tally = Tally()
        for group in self._engine.optimizer.param_groups:
            group["lr"] = lr
        self._engine.train()
        for number, each in enumerate(map(self._on_device, micro), start=1):
            self._engine.set_gradient_accumulation_boundary(number == len(micro))
            logp, entropy = _forward(self._engine, each, self._config.rollout.temperature, with_entropy=True)
            value, own = objective(each, logp, entropy, prepared, is_first)
            value = value + logp[:0].sum()  # makes every objective depend on the model
            self._engine.backward(value * self._ranks.size)  # DeepSpeed averages over ranks; this is a sum
            tally.merge(own)
        norm = self._step()
        tally.add("lr", lr, 1)
        tally.add("skipped_steps", float(norm is None), 1)
        if norm is not None:
            tally.add("grad_norm", norm, 1)
        return tally

    def weights(self, apart: bool = False) -> Iterator[tuple[str, Tensor]]:
        """Yield each weight, gathered, by its Hugging Face name, with its adapters added, or with them apart before it.

        Every rank must exhaust the iterator. A tensor is on this rank's device and valid until the next one is
        requested: ZeRO-3 gathers weights one at a time.
        """
        for weight in weights_of(self._engine.module.model):
            partitioned = self._config.deepspeed.zero == 3
            with self._deepspeed.zero.GatheredParameters(list(weight.parameters), enabled=partitioned):
                yield from weight.parts() if apart else ((weight.name, weight.whole()),)

    def release_memory(self) -> None:
        """Give cached memory of the GPU back if vLLM takes turns with this rank."""
        if self._config.rollout.turns and torch.cuda.is_available():
            torch.cuda.empty_cache()

    def save_model(self, folder: Path) -> None:
        """Write the model and its tokenizer in Hugging Face's format, atomically, to a new or replaced folder.

        A WriteError is raised on all ranks.
        """
        is_leader, errors = self._ranks.is_leader, list[str]()
        state = {name: weight.to("cpu", copy=True) if is_leader else None for name, weight in self.weights()}
        if is_leader:
            with _recording(errors):
                self._write(folder, state)
        self._raise_on_all_ranks(errors)

    def save_state(self, checkpoint: Path) -> None:
        """Write to a checkpoint's folder what `restore` needs: weights, optimiser state and random generators.

        A WriteError is raised on all ranks.
        """
        folder, errors = checkpoint / ENGINE, list[str]()
        with _recording(errors):
            (folder / STATE).mkdir(parents=True, exist_ok=True)
        self._raise_on_all_ranks(errors)

        def write(state_dict: Any, path: str) -> None:
            with _recording(errors):  # an exception here would leave DeepSpeed's other ranks waiting
                torch.save(state_dict, path)

        self._engine.checkpoint_engine.save = write
        self._engine._copy_recovery_script = lambda _: None  # bypasses `write`, and `model/` makes it unnecessary
        self._engine.save_checkpoint(str(folder), tag=STATE, save_latest=False)
        own = {"model": self._config.model.path, "initial": self._initial, "cpu": torch.get_rng_state()}
        own |= {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else {}
        write(own, str(folder / OF_RANK.format(self._ranks.rank)))
        self._raise_on_all_ranks(errors)

    def restore(self, checkpoint: Path) -> None:
        """Load the state that `save_state` wrote from as many ranks. Raise ConfigError if it is of another model."""
        folder = checkpoint / ENGINE
        with reading(checkpoint):
            state = torch.load(folder / OF_RANK.format(self._ranks.rank), weights_only=True)
        if state.get("initial", self._initial) != self._initial:  # earlier versions did not write it
            raise ConfigError(
                f"the checkpoint {checkpoint} is of the model {state['model']}, whose weights differ from those of "
                f"{self._config.model.path}: set model.path to that model, or choose another name for a new run"
            )
        with reading(checkpoint):
            self._engine.load_checkpoint(str(folder), tag=STATE)
        torch.set_rng_state(state["cpu"])
        if "cuda" in state and torch.cuda.is_available():
            torch.cuda.set_rng_state(state["cuda"])

    def close(self) -> None:
        for each in (self._engine, self._reference):
            if isinstance(each, self._deepspeed.DeepSpeedEngine):
                each.destroy()

    # --- passes

    def _on_device(self, micro: MicroBatch) -> MicroBatch:
        moved = {name: each.to(self._ranks.device) for name, each in vars(micro).items() if each is not None}
        return replace(micro, **moved)

    def _prepared(self, micro: Sequence[MicroBatch], objective: Objective, is_first: bool) -> Mapping[str, Tensor]:
        """Gather the step's ratios and advantages from all ranks and call `objective.prepare`."""
        if objective.prepare is None:
            return {}
        known = [each.old for each in micro if each.old is not None]
        now = known if is_first and len(known) == len(micro) else self.score(micro)
        ratios, advantages = [], []
        for each, logp in zip(micro, now, strict=True):
            initial = logp if each.old is None else each.old  # it is the first step if there is none
            ratios.append(logp - (initial if objective.needs_old else each.behaviour))
            advantages.append(each.advantage)
        everyone = [self._ranks.concatenate(torch.cat(own)) for own in (ratios, advantages)]
        prepared = objective.prepare(*everyone)
        return {name: value.to(self._ranks.device) for name, value in prepared.items()}

    # --- the step

    def _step(self) -> float | None:
        """Return the gradient's norm after the step, or None if it was not finite and no step was taken."""
        if self._config.deepspeed.zero == 0:  # DeepSpeed would take it; gradients are whole, and equal on all ranks
            gradients = [each.grad for each in self._engine.module.parameters() if each.grad is not None]
            norm = float(torch.nn.utils.get_total_norm(gradients))
            if not math.isfinite(norm):
                self._engine.zero_grad()
                return None
            self._engine.step()
            return norm
        self._engine.step()
        norm = float(self._engine.get_global_grad_norm())
        return norm if math.isfinite(norm) and self._engine.was_step_applied() else None

    # --- DeepSpeed

    def _initialize(self, scorer: nn.Module, optimiser: torch.optim.Optimizer | None) -> Any:
        self._deepspeed.utils.set_z3_leaf_modules(scorer, [Head])
        settings = deepspeed_settings(self._config, trains=optimiser is not None)
        engine, *_ = self._deepspeed.initialize(model=scorer, optimizer=optimiser, config=settings)
        return engine

    def _load(self, path: str, trains: bool = True) -> Scorer:
        """Return a model on this rank's device. The ranks of a machine load in turn: its memory holds one copy."""
        for local in range(self._ranks.local_size):
            if local == self._ranks.local:
                scorer = load(self._config, path, self._sequence_group, trains).to(self._ranks.device)
            self._ranks.wait()
        return scorer

    def _raise_on_all_ranks(self, errors: list[str]) -> None:
        """Raise WriteError on all ranks if any rank recorded an error."""
        if all_errors := [error for own in self._ranks.gather(errors) for error in own]:
            raise WriteError(f"the model could not be written: {all_errors[0]}")

    def _write(self, folder: Path, state: Mapping[str, Tensor | None]) -> None:
        """Write to a temporary folder and rename it. The old folder is absent for a moment between two renames."""
        from transformers import AutoTokenizer

        new, old = folder.with_name(folder.name + ".tmp"), folder.with_name(folder.name + ".old")
        for rest in (new, old):
            shutil.rmtree(rest, ignore_errors=True)
        try:
            self._engine.module.model.save_pretrained(new, state_dict=state)
            AutoTokenizer.from_pretrained(self._config.model.path).save_pretrained(new)
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)  # half a model fills a full disk
        shutil.rmtree(old, ignore_errors=True)


def _forward(scorer: Any, micro: MicroBatch, temperature: float, with_entropy: bool = False) -> tuple[Tensor, Tensor]:
    logp, entropy = scorer(micro.ids, micro.positions, micro.where, micro.targets, temperature, with_entropy)
    return logp, entropy


def learning_rate(settings: Optimiser, step: int, steps: int) -> float:
    """Return the rate of a batch (step, from 1), one for its updates as in verl: warm-up, then constant or decay."""
    before = step - 1
    if before < settings.warmup_steps:
        return settings.lr * step / settings.warmup_steps
    done = min(1.0, (before - settings.warmup_steps) / max(1, steps - settings.warmup_steps))
    factor = {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * done)) / 2}
    return settings.lr * factor[settings.schedule]


def deepspeed_settings(config: Config, trains: bool = True) -> dict[str, Any]:
    """Return DeepSpeed's configuration, overridden by `deepspeed.extra`; the reference model trains nothing."""
    zero: dict[str, Any] = {"stage": config.deepspeed.zero}
    if not torch.cuda.is_available():
        zero["overlap_comm"] = False  # CPUs have no streams to overlap
    if config.deepspeed.offload and trains:
        zero["offload_optimizer"] = {"device": "cpu", "pin_memory": torch.cuda.is_available()}
    settings: dict[str, Any] = {
        "train_micro_batch_size_per_gpu": 1,  # only DeepSpeed's counters use it: `update` sets the step boundaries
        "gradient_accumulation_steps": 1,
        "gradient_clipping": config.optimiser.clip,
        "zero_optimization": zero,
        "zero_force_ds_cpu_optimizer": False,  # torch's AdamW does it without a compiler
        "steps_per_print": NEVER,
    }
    if config.model.dtype == "bfloat16":
        settings["bf16"] = {"enabled": True}
        settings["data_types"] = {"grad_accum_dtype": "fp32"}  # sums in bfloat16 lose small gradients
    return merge(settings, config.deepspeed.extra)


@contextmanager
def _recording(errors: list[str]) -> Iterator[None]:
    """Record errors of writing: a full disk is a RuntimeError in torch and a SafetensorError in safetensors."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        errors.append(str(error) or type(error).__name__)


def _deepspeed() -> Any:
    """Return DeepSpeed, imported and initialised on the existing process group.

    On a CPU it would compile an operator under a lock that survives a killed process; without it, it uses gloo.
    """
    import deepspeed  # type: ignore[import-untyped]

    deepspeed.utils.logger.setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", r"`torch\.distributed\.\w+` is deprecated", FutureWarning)  # at every call
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # type: ignore[attr-defined]
    deepspeed.init_distributed(verbose=False)
    return deepspeed
