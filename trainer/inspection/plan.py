"""Plans a run: its memory on each device, and whether that fits, for `proctor train CONFIG --dry-run`. Starts nothing.

Memory is computed from the model's shape, not measured; docs/sizing.md has the formulas.
"""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import torch
from torch import nn

from trainer.config import Config
from trainer.engines.process import devices_of
from trainer.errors import ConfigError
from trainer.sync.syncer import transport_of

GB = 1e9
SHAPES = Path(__file__).with_name("shapes.toml")  # of the models of the shipped configurations
VLLM_GB = 5.0  # vLLM's memory beside weights and cache, on each GPU
SPARE_GB = 3.0  # contexts and fragments, on each GPU
MACHINE_GPUS = 8
# of the shipped configurations that do not train on all GPUs of one machine
RANKS = {"m2po_8b_full": 4, "m2po_8b_delta": 4, "smoke": 1, "verifier_8b_solver": 4, "verifier_8b_tester": 4}


@dataclass(frozen=True)
class Shape:
    """The dimensions of a decoder."""

    parameters: int
    linear: int  # inputs and outputs of all linear layers but the output embedding
    keys: int  # the width of all key heads, equal to that of the values
    config: Any  # of transformers

    @classmethod
    @cache
    def of(cls, path: str) -> Self:
        """Return the shape of a model, by a name in shapes.toml or the path of its folder. Raise ConfigError."""
        from transformers import AutoConfig, AutoModelForCausalLM  # slow import

        known = tomllib.loads(SHAPES.read_text())
        try:
            config = AutoConfig.for_model(**(known.get(path) or json.loads((Path(path) / "config.json").read_text())))
            with torch.device("meta"):
                model: Any = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
            size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
            keys = config.num_key_value_heads * size
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"model.path: the shape of {path!r} is not known ({error!r}); known: {', '.join(known)}"
            ) from None
        embedding = model.get_output_embeddings()
        layers = [each for each in model.modules() if isinstance(each, nn.Linear) and each is not embedding]
        linear = sum(each.in_features + each.out_features for each in layers)
        return cls(sum(each.numel() for each in model.parameters()), linear, keys, config)


@dataclass(frozen=True)
class Machine:
    """The hardware of a plan."""

    ranks: int = MACHINE_GPUS  # that train, each on a GPU
    gpu_gb: float = 80.0  # 0: there is no GPU


def machine_of(name: str, ranks: int, gpu_gb: float) -> Machine:
    """Return the hardware of a configuration (name) with so many ranks (0: its own) and GB of a GPU; see `Machine`."""
    return Machine(ranks or RANKS.get(name, Machine.ranks), gpu_gb if name != "smoke" else 0.0)


@dataclass(frozen=True)
class Needs:
    """GB of one stage of a run."""

    weights: float  # on a training GPU, with those of a reference model
    states: float  # gradients and the optimiser's, on a training GPU
    activations: float  # of a micro-batch
    sampler_weights: float  # on a sampling GPU
    cache: float  # of one server, on all its GPUs
    longest: int  # sequences of full length that fit the cache
    loading: float  # host memory of a machine while the model is loaded
    checkpoint: float

    @property
    def training(self) -> float:
        """The peak of a training GPU."""
        return self.weights + self.states + self.activations


def needs(config: Config, machine: Machine) -> Needs:
    """Return the estimated memory of a stage on a machine. Raise ConfigError if the model's shape is unknown."""
    shape, rollout, is_offloaded = Shape.of(config.model.path), config.rollout, config.deepspeed.offload
    size, ranks, zero = shape.parameters / GB, machine.ranks, config.deepspeed.zero
    bytes_each = 2 if config.model.dtype == "bfloat16" else 4
    trained = config.lora.rank * shape.linear / GB or size
    optimiser = 0.0 if is_offloaded else (12 if bytes_each == 2 else 8) * trained / (ranks if zero else 1)
    sampler = bytes_each * size / rollout.tensor_parallel
    cache = max(0.0, rollout.tensor_parallel * (machine.gpu_gb * rollout.gpu_memory - VLLM_GB - sampler))
    kv_bytes = 2 * shape.config.num_hidden_layers * shape.keys * 2  # of a token, in bfloat16
    return Needs(
        weights=(1 + config.kl.is_on) * bytes_each * size / (ranks if zero == 3 else 1),
        states=4 * trained / (ranks if zero >= 2 else 1) + optimiser,
        activations=_activations(config, shape) / config.deepspeed.sequence_parallel,
        sampler_weights=sampler,
        cache=cache,
        longest=int(cache * GB / kv_bytes / config.longest),
        loading=bytes_each * size + is_offloaded * 12 * trained * min(ranks, MACHINE_GPUS) / ranks,
        checkpoint=bytes_each * size + 12 * trained,
    )


def _activations(config: Config, shape: Shape) -> float:
    """Return GB of a micro-batch: one hidden state a layer, one active layer, and three logit tensors of a chunk."""
    rows = max(config.optimiser.micro_tokens, config.data.max_prompt_tokens + config.rollout.max_tokens)
    layers, hidden = int(shape.config.num_hidden_layers), int(shape.config.hidden_size)
    inner, vocabulary = int(shape.config.intermediate_size), int(shape.config.vocab_size)
    one = 2 * 2 * rows * (6 * hidden + 2 * shape.keys + 3 * inner)  # both passes, in bfloat16
    kept = layers * 2 * rows * hidden if config.model.checkpointing else layers * one / 2
    logits = 3 * min(config.model.chunk_tokens, rows) * vocabulary * 4
    return (kept + one + logits) / GB


def problems(config: Config, machine: Machine) -> list[str]:
    """Return why a stage does not fit a machine, one line a reason."""
    own, rollout, room = needs(config, machine), config.rollout, machine.gpu_gb - SPARE_GB
    resting = own.weights + own.states + rollout.gpu_memory * machine.gpu_gb
    ranks = {str(each) for each in range(min(machine.ranks, MACHINE_GPUS))}
    is_apart = rollout.servers or (rollout.devices and ranks.isdisjoint(rollout.devices.split(",")))
    shares, turns = rollout.engine == "colocated" or not is_apart, rollout.turns
    found = {
        f"a training GPU needs {own.training:.0f} of {room:.0f} GB: use more ranks, deepspeed.zero = 3, "
        "deepspeed.offload, deepspeed.sequence_parallel or a lower optimiser.micro_tokens": own.training > room,
        "the cache of a server holds no sequence of full length: raise rollout.tensor_parallel or gpu_memory": (
            own.longest < 1
        ),
        "servers share the GPUs of ranks: set rollout.devices, rollout.servers, or rollout.turns": shares and not turns,
        f"while vLLM samples, a GPU holds {resting:.0f} of {room:.0f} GB: lower rollout.gpu_memory, or set "
        "deepspeed.zero = 3 or deepspeed.offload": turns and resting > room,
    }
    return [message for message, is_so in found.items() if is_so and machine.gpu_gb]


def stages(config: Config) -> list[Config]:
    """Return the configurations of all stages, each with the context length of the longest one."""
    every, longest = config.stage_configs, {"max_model_len": config.longest}
    return [each.model_copy(update={"rollout": each.rollout.model_copy(update=longest)}) for each in every]


def report(config: Config, machine: Machine) -> tuple[str, bool]:
    """Return the plan of a run on a machine, and whether all stages fit. Raise ConfigError for an unknown shape."""
    size = Shape.of(config.model.path).parameters
    lines = [f"{config.name}: {config.model.path}, {size / 1e9:.2f} billion weights"]
    lines += [f"  {line}" for line in _places(config, machine)]
    wrong: list[str] = []
    for begin, stage in zip((1, *(each.begin for each in config.stages)), stages(config), strict=True):
        own, found = needs(stage, machine), problems(stage, machine)
        wrong += found
        lines += [
            f"from step {begin} on, responses of up to {stage.rollout.max_tokens:,} tokens",
            f"  a training GPU: {own.weights:.1f} GB of weights, {own.states:.1f} of gradients and optimiser, "
            f"{own.activations:.1f} of a micro-batch",
            f"  a server: {own.sampler_weights:.1f} GB of weights a GPU, {own.cache:.0f} of cache for {own.longest} "
            "sequences of full length",
            *([f"  does not fit: {line}" for line in found] or ["  fits"]),
        ]
    lines.append(f"host memory of a machine while loading: {own.loading:.0f} GB; a checkpoint: {own.checkpoint:.0f} GB")
    return "\n".join(lines), not wrong


def _places(config: Config, machine: Machine) -> Iterator[str]:
    """Yield a line each about training, sampling, the transfer of weights and attention."""
    rollout, shared = config.rollout, config.deepspeed.sequence_parallel
    yield f"training: {machine.ranks} ranks, ZeRO {config.deepspeed.zero}" + (f", {shared} a row" if shared > 1 else "")
    if rollout.engine == "colocated":
        yield "sampling: vLLM in the process of rank 0"
    elif rollout.servers:
        yield f"sampling: {', '.join(rollout.servers)}"
    else:
        gpus = " | ".join(devices_of(config, number) or "as the trainer's" for number in range(rollout.replicas))
        turns = ", which give memory back while the ranks train" if rollout.turns else ""
        yield f"sampling: {rollout.replicas} servers, on GPUs {gpus}{turns}"
    yield f"weights: by {transport_of(config, machine.gpu_gb > 0)}" + (", changes only" if config.sync.delta else "")
    auto = " (flash_attention_2 where flash-attn is installed, otherwise row by row)"
    yield f"attention: {config.model.attention}{auto if config.model.attention == 'auto' else ''}"
