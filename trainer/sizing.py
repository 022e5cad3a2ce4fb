"""`python -m trainer.sizing CONFIG key=value …`: what a run needs. Reckoned from shapes and rates, and not measured.

What is reckoned and how is in docs/sizing.md, whose table `--table` prints. Shapes are the models' own, published;
rates of a GPU are its maker's; what share of them is reached, how long responses are and what a test costs are
assumptions (`Assumed`), none of them measured here. It needs no GPU stack, and starts nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from math import ceil
from pathlib import Path

from trainer.config import Config, load, shipped
from trainer.errors import ConfigError

GB = 1e9
DAY = 86_400


@dataclass(frozen=True)
class Shape:
    """Of a decoder like Qwen2, Qwen3 or Llama."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head: int  # the size of each
    inner: int  # of the feed-forward part
    vocabulary: int
    is_tied: bool = False  # input and output embedding are one
    has_bias: bool = False  # of queries, keys and values
    has_head_norm: bool = False  # of queries and keys

    @property
    def queries(self) -> int:
        """All heads together."""
        return self.heads * self.head

    @property
    def keys(self) -> int:
        """All heads of keys together; as many values."""
        return self.kv_heads * self.head

    @property
    def parameters(self) -> int:
        """All of them."""
        attention = self.hidden * (2 * self.queries + 2 * self.keys)
        small = 2 * self.hidden + self.has_bias * (self.queries + 2 * self.keys) + self.has_head_norm * 2 * self.head
        layer = attention + 3 * self.hidden * self.inner + small
        return self.layers * layer + self.hidden + self.vocabulary * self.hidden * (1 if self.is_tied else 2)

    @property
    def multiplied(self) -> int:
        """Those that a token is multiplied with: all but the input embedding."""
        return self.parameters - (0 if self.is_tied else self.vocabulary * self.hidden)

    @property
    def kv_bytes(self) -> int:
        """That vLLM keeps of a token, in bfloat16."""
        return 2 * self.layers * self.keys * 2

    @classmethod
    def of(cls, path: str) -> Shape:
        """A known model's, or what a folder's config.json says. Raises ConfigError."""
        if path in SHAPES:
            return SHAPES[path]
        try:
            said = json.loads((Path(path) / "config.json").read_text())
            return cls(
                layers=said["num_hidden_layers"],
                hidden=said["hidden_size"],
                heads=said["num_attention_heads"],
                kv_heads=said["num_key_value_heads"],
                head=said.get("head_dim") or said["hidden_size"] // said["num_attention_heads"],
                inner=said["intermediate_size"],
                vocabulary=said["vocab_size"],
                is_tied=said.get("tie_word_embeddings", False),
                has_bias=said["model_type"] == "qwen2",
                has_head_norm=said["model_type"] == "qwen3",
            )
        except (OSError, ValueError, KeyError) as trouble:
            known = ", ".join(SHAPES)
            raise ConfigError(f"model.path: the shape of {path!r} is not known ({trouble!r}); known: {known}") from None


SHAPES = {
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B": Shape(28, 1536, 12, 2, 128, 8960, 151_936, has_bias=True),
    "Qwen/Qwen2.5-7B-Instruct-1M": Shape(28, 3584, 28, 4, 128, 18_944, 152_064, has_bias=True),
    "Qwen/Qwen3-8B": Shape(36, 4096, 32, 8, 128, 12_288, 151_936, has_head_norm=True),
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B": Shape(48, 5120, 40, 8, 128, 13_824, 152_064, has_bias=True),
}


@dataclass(frozen=True)
class Assumed:
    """What is not known before a run. The first five are an H100's by its maker's data sheet."""

    trainers: int = 8  # GPUs that train
    samplers: int = 8  # GPUs that sample
    gpu_gb: float = 80.0
    gpu_tflops: float = 989.0  # bfloat16, dense
    gpu_tb_per_s: float = 3.35  # of its memory
    train_share: float = 0.35  # of the arithmetic that training reaches
    sample_share: float = 0.5  # of memory or arithmetic that sampling reaches
    sample_step_ms: float = 8.0  # that a step of vLLM takes at least
    vllm_gb: float = 5.0  # that vLLM has beside weights and cache
    length: float = 0.4  # of the room, that a response fills on average
    prompt: float = 0.25  # of data.max_prompt_tokens, that a prompt has on average
    flat: float = 0.4  # of the groups, where they are replaced
    network_gb_per_s: float = 25.0  # from the trainer to each server
    changed: float = 0.016  # of the weights in a step, for a delta: 0.008 to 0.016 were published
    tests: int = 20  # of a problem, where reward.tests is 0
    test_ms: float = 50.0  # CPU of the program itself, in a test
    grading_ms: float = 1.41  # CPU of the service in a test: README.md, stdin, ten tests, over HTTP


LAYOUTS = {  # half of the seeds' own machines samples, half trains; theirs take turns on all
    "archercoder_dapo_1.5b": (8, 8),
    "archer_1.5b": (8, 8),
    "aspo_1.5b": (4, 4),
    "deepcoder_14b": (16, 16),
    "deepscaler_1.5b": (4, 4),
    "code_r1_7b": (4, 4),
    "m2po_8b_full": (4, 4),
    "m2po_8b_delta": (4, 4),
}


@dataclass(frozen=True)
class Needs:
    """Of one stage of a run."""

    weights_gb: float  # on a GPU that trains: the policy, and the reference if there is one
    states_gb: float  # gradients, weights in float32 and Adam's moments
    activations_gb: float
    cache_gb: float  # on the GPUs of one vLLM, for keys and values
    longest: int  # responses of full length, with the longest prompts, that fit there at once
    sequences: int  # of average length that are sampled there at once
    tokens_per_s: float  # of one vLLM
    sample_s: float
    train_s: float
    sync_gb: float  # on average, of full ones and deltas
    sync_s: float
    step_s: float
    samples: int  # graded in a step
    cores: float  # that grading keeps busy while samples are made
    checkpoint_gb: float

    @property
    def train_gb(self) -> float:
        """On a GPU that trains, in all."""
        return self.weights_gb + self.states_gb + self.activations_gb

    @property
    def steps_per_day(self) -> float:
        """If nothing goes wrong."""
        return DAY / self.step_s


def needs(config: Config, assumed: Assumed) -> Needs:
    """Of a configuration that has no stages, or of its first one. Raises ConfigError for a model that is not known."""
    shape = Shape.of(config.model.path)
    weights_gb, states_gb = _held(config, shape, assumed)
    cache_gb = _cache(config, shape, assumed)
    sequences, tokens_per_s, sample_s = _sampling(config, shape, assumed, cache_gb)
    samples = _samples(config, assumed)
    train_s = _training(config, shape, assumed)
    sync_gb = _sync(config, shape, assumed)
    sync_s = sync_gb / assumed.network_gb_per_s
    tests = min(config.reward.tests or assumed.tests, assumed.tests)
    return Needs(
        weights_gb=weights_gb,
        states_gb=states_gb,
        activations_gb=_activations(config, shape),
        cache_gb=cache_gb,
        longest=int(cache_gb * GB / shape.kv_bytes / config.longest),
        sequences=sequences,
        tokens_per_s=tokens_per_s,
        sample_s=sample_s,
        train_s=train_s,
        sync_gb=sync_gb,
        sync_s=sync_s,
        step_s=(max(sample_s, train_s) if config.buffer.depth else sample_s + train_s) + sync_s,
        samples=samples,
        cores=samples * tests * (assumed.test_ms + assumed.grading_ms) / 1000 / sample_s,
        checkpoint_gb=(2 + 12) * shape.parameters / GB,
    )


def _held(config: Config, shape: Shape, assumed: Assumed) -> tuple[float, float]:
    """Weights, and what the optimiser keeps, of a GPU that trains. 2 bytes a weight, 4 a gradient, 12 for AdamW."""
    zero, ranks = config.deepspeed.zero, assumed.trainers
    models = 2 if config.kl.is_on else 1
    weights = models * 2 * shape.parameters / (ranks if zero == 3 else 1)
    gradients = 4 * shape.parameters / (ranks if zero >= 2 else 1)
    optimiser = 0 if config.deepspeed.offload else 12 * shape.parameters / (ranks if zero >= 1 else 1)
    return weights / GB, (gradients + optimiser) / GB


def _activations(config: Config, shape: Shape) -> float:
    """Of a micro-batch: a hidden state for each layer, one layer at work, and three tensors of logits for a chunk."""
    rows = max(config.optimiser.micro_tokens, config.data.max_prompt_tokens + config.rollout.max_tokens)
    one = 2 * 2 * rows * (6 * shape.hidden + 2 * shape.keys + 3 * shape.inner)  # forward and backward, in bfloat16
    kept = shape.layers * 2 * rows * shape.hidden if config.model.checkpointing else shape.layers * one / 2
    logits = 3 * min(config.model.chunk_tokens, rows) * shape.vocabulary * 4
    return (kept + one + logits) / GB


def _cache(config: Config, shape: Shape, assumed: Assumed) -> float:
    """What vLLM has left for keys and values, on all GPUs of one."""
    gpus = config.rollout.tensor_parallel
    return gpus * (assumed.gpu_gb * config.rollout.gpu_memory - assumed.vllm_gb) - 2 * shape.parameters / GB


def _samples(config: Config, assumed: Assumed) -> int:
    """Of a batch, with those of groups that are thrown away."""
    replaced = config.buffer.drop_flat and config.buffer.max_generations > 1
    batches = min(1 / (1 - assumed.flat), config.buffer.max_generations) if replaced else 1.0
    return ceil(config.rollout.prompts * config.rollout.samples * batches)


def _lengths(config: Config, assumed: Assumed) -> tuple[float, float]:
    """Of a prompt and of a response, on average."""
    return config.data.max_prompt_tokens * assumed.prompt, config.rollout.max_tokens * assumed.length


def _sampling(config: Config, shape: Shape, assumed: Assumed, cache_gb: float) -> tuple[int, float, float]:
    """How many sequences one vLLM has at once, its tokens a second, and how long a batch takes.

    A step of it reads all weights and the cache, or multiplies, whichever takes longer; and it takes as long as the
    longest response does, which is sampled to its end one token a step.
    """
    prompt, response = _lengths(config, assumed)
    gpus = config.rollout.tensor_parallel
    engines = max(1, assumed.samplers // gpus)
    samples = _samples(config, assumed)
    fits = int(cache_gb * GB / shape.kv_bytes / (prompt + response))
    sequences = max(1, min(fits, ceil(samples / engines), ceil(config.rollout.concurrency / engines)))
    read = 2 * shape.multiplied + sequences * shape.kv_bytes * (prompt + response / 2)
    memory = read / (gpus * assumed.gpu_tb_per_s * 1e12 * assumed.sample_share)
    arithmetic = 2 * shape.multiplied * sequences / (gpus * assumed.gpu_tflops * 1e12 * assumed.sample_share)
    rate = sequences / max(memory, arithmetic, assumed.sample_step_ms / 1000)
    longest = config.rollout.max_tokens * assumed.sample_step_ms / 1000
    return sequences, rate, max(samples * response / (engines * rate), longest)


def _training(config: Config, shape: Shape, assumed: Assumed) -> float:
    """A pass forward is 2 operations for each weight and token, and attention; learning is four passes an epoch."""
    prompt, response = _lengths(config, assumed)
    tokens = config.rollout.prompts * config.rollout.samples * (prompt + response)
    attention = 4 * shape.layers * shape.queries * (prompt + response) / 2
    scored = config.kl.is_on + (config.loss.old == "recomputed" or config.loss.name == "m2po")
    passes = scored + (4 if config.model.checkpointing else 3) * config.optimiser.epochs
    work = tokens * passes * (2 * shape.multiplied + attention)
    return work / (assumed.trainers * assumed.gpu_tflops * 1e12 * assumed.train_share)


def _sync(config: Config, shape: Shape, assumed: Assumed) -> float:
    """To each server. A delta: 2 bytes for a number and 1 for the way to it, and one more where that is beyond 255."""
    full = 2 * shape.parameters / GB
    if not config.sync.delta:
        return full
    far = (1 - assumed.changed) ** 255
    delta = 3 * assumed.changed / (1 - far) * shape.parameters / GB
    return (full + (config.sync.full_every - 1) * min(delta, full)) / config.sync.full_every


def table() -> str:
    """All shipped configurations, stage by stage, in Markdown."""
    heads = [
        "",
        "GPUs",
        "GB a GPU to train",
        "KV GB",
        "at once",
        "sync",
        "samples",
        "cores",
        "sample + train",
        "steps a day",
    ]
    lines = [heads, ["---"] * len(heads)]
    for name, (trainers, samplers) in LAYOUTS.items():
        lines += _rows(name, load(Path(name)), Assumed(trainers=trainers, samplers=samplers))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _rows(name: str, config: Config, assumed: Assumed) -> Iterator[list[str]]:
    for plan in config.plans:
        each = needs(_roomy(plan, config), assumed)
        many = len(config.plans) > 1
        yield [
            f"`{name}`" + (f" {plan.rollout.max_tokens // 1024}K" if many else ""),
            f"{assumed.trainers} + {assumed.samplers}",
            f"{each.train_gb:.0f}",
            f"{each.cache_gb:.0f}",
            f"{each.longest} – {each.sequences}",
            f"{each.sync_gb:.1f} GB",
            f"{each.samples:,}",
            f"{ceil(each.cores)}",
            f"{each.sample_s:,.0f} + {each.train_s:,.0f} s",
            f"{each.steps_per_day:,.0f}",
        ]


def _roomy(plan: Config, config: Config) -> Config:
    """A stage, in a vLLM that has room for the longest of them."""
    return plan.model_copy(update={"rollout": plan.rollout.model_copy(update={"max_model_len": config.longest})})


def report(config: Config, assumed: Assumed) -> str:
    """All figures of each stage, and what was assumed."""
    shape = Shape.of(config.model.path)
    lines = [f"{config.name}: {shape.parameters / 1e9:.2f} billion weights, {shape.kv_bytes / 1024:.0f} KiB a token"]
    for number, plan in enumerate(config.plans):
        begin = config.stages[number - 1].begin if number else 1
        lines += ["", f"from step {begin} on, responses of up to {plan.rollout.max_tokens:,} tokens"]
        found = needs(_roomy(plan, config), assumed)
        names = [each.name for each in fields(found)] + ["train_gb", "steps_per_day"]
        lines += [f"  {name:16} {getattr(found, name):12,.1f}" for name in names]
    lines += ["", "assumed (each is an option)"]
    return "\n".join(lines + [f"  {each.name:16} {getattr(assumed, each.name):12,.3f}" for each in fields(assumed)])


def main(arguments: list[str] | None = None) -> int:
    """Print it; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m trainer.sizing", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("config", nargs="?", type=Path, help=f"as for proctor train; shipped: {', '.join(shipped())}")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value")
    parser.add_argument("--table", action="store_true", help="all that are shipped, as in docs/sizing.md")
    for each in fields(Assumed):
        parser.add_argument(f"--{each.name.replace('_', '-')}", type=type(each.default), metavar=f"{each.default:g}")
    options = parser.parse_args(arguments)
    if options.table:
        print(table(), end="")
        return 0
    if options.config is None:
        parser.error("a configuration, or --table")
    try:
        print(report(load(options.config, options.overrides), _assumed(options)))
    except ConfigError as trouble:
        print(f"sizing: {trouble}", file=sys.stderr)
        return 2
    return 0


def _assumed(options: argparse.Namespace) -> Assumed:
    """What was said, over the machine that a shipped configuration was made for, over the defaults."""
    trainers, samplers = LAYOUTS.get(str(options.config), (Assumed.trainers, Assumed.samplers))
    said = {each.name: getattr(options, each.name) for each in fields(Assumed)}
    given = {name: value for name, value in said.items() if value is not None}
    return replace(Assumed(trainers=trainers, samplers=samplers), **given)


if __name__ == "__main__":
    sys.exit(main())
