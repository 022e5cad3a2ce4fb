"""What is said on the command line, made into what is to be done."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trainer.errors import ConfigError
from trainer.evaluation import presets
from trainer.evaluation.grading import Judge
from trainer.evaluation.models import Model
from trainer.evaluation.problems import Asked
from trainer.evaluation.samples import Sampling

EPILOG = """
proctor evaluate Qwen/Qwen3-1.7B problems.jsonl --n 8 --k 1,8      start vLLM, sample, grade, show
proctor evaluate http://10.0.0.2:8000 --preset humaneval+          a server that has the model
proctor evaluate MODEL problems.jsonl --generate-only --out DIR    samples only: no reward service
proctor evaluate --samples DIR/samples.jsonl problems.jsonl        grade only: no GPU
proctor evaluate --watch runs/first problems.jsonl                 every checkpoint of a run, once

All of it can be ended and begun again: what is done is not done again.
"""

Mode = Literal["all", "generate", "grade", "watch"]


@dataclass(frozen=True)
class Plan:
    """An evaluation."""

    mode: Mode
    asked: Asked
    out: Path
    model: Model | None
    samples: Path | None
    run: Path | None
    n: int | None  # None: as many as there are in a file of samples
    k: tuple[int, ...] | None
    sampling: Sampling
    format: Literal["chat", "plain"]
    system: str
    concurrency: int
    judge: Judge
    standings: Path | None
    fetch: bool
    api: str
    newest_first: bool
    every_seconds: float
    settle_seconds: float
    once: bool


def parse(arguments: Sequence[str] | None) -> Plan:
    """Raises ConfigError for what does not fit together. What argparse cannot understand ends the process."""
    said = _parser().parse_intermixed_args(arguments)
    preset = presets.preset(said.preset) if said.preset else None

    def or_preset(name: str, default: Any) -> Any:
        given = getattr(said, name)
        return given if given is not None else getattr(preset, name, default) if preset else default

    mode = _mode(said)
    model, files = _model_and_files(said, mode)
    n = said.n if mode == "grade" else or_preset("n", 8)
    ks = _ks(said.k) if said.k else preset.k if preset else None
    if ks and n and max(ks) > n:
        if said.k:
            raise ConfigError(f"--k {max(ks)}: pass@k is estimated from n samples, and n is {n}")
        ks = tuple(k for k in ks if k <= n)
    window = presets.window(said.window) if said.window else preset.window if preset else None
    return Plan(
        mode=mode,
        asked=Asked(files, preset.hub if preset and not files else None, window, said.limit),
        out=_out(said, mode),
        model=model,
        samples=said.samples,
        run=said.watch,
        n=n,
        k=ks,
        sampling=Sampling(
            temperature=or_preset("temperature", 0.6),
            top_p=or_preset("top_p", 0.95),
            max_tokens=or_preset("max_tokens", 8192),
            seed=said.seed,
        ),
        format=said.format,
        system=said.system,
        concurrency=said.concurrency,
        judge=_judge(said, preset),
        standings=said.standings,
        fetch=said.fetch_standings,
        api=said.codeforces_api,
        newest_first=said.newest_first,
        every_seconds=said.every,
        settle_seconds=said.settle,
        once=said.once,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="proctor evaluate",
        description="Evaluate a model by executions: pass@k and avg@k with intervals, by group; a Codeforces rating.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("what", nargs="*", metavar="MODEL_OR_URL PROBLEMS", help="no MODEL with --samples or --watch")
    add("--preset", metavar="NAME", help=f"{', '.join(presets.PRESETS)}: problems, window, sampling, limits")
    add("--out", type=Path, metavar="DIR", help="where everything is written; default: evaluations/NAME")
    add("--window", metavar="FIRST..LAST", help="only problems of these dates, both included; or a preset's name")
    add("--limit", type=int, default=0, metavar="N", help="only the first N problems")
    add("--k", metavar="1,4,8", help="which pass@k; default: 1 and n")
    add("--standings", type=Path, metavar="FILE", help="of Codeforces' contests: adds the rating")
    add("--fetch-standings", action="store_true", help="first fetch what is missing in --standings")
    add("--codeforces-api", default="https://codeforces.com/api", metavar="URL", help=argparse.SUPPRESS)
    _add_sampling(parser.add_argument_group("sampling"))
    _add_serving(parser.add_argument_group("the model's server"))
    _add_grading(parser.add_argument_group("grading"))
    _add_parts(parser.add_argument_group("in parts, or again and again"))
    return parser


def _add_sampling(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--n", type=_positive, help="samples of each problem; default: 8")
    add("--temperature", type=float, help="default: 0.6")
    add("--top-p", type=float, dest="top_p", help="default: 0.95")
    add("--max-tokens", type=_positive, dest="max_tokens", help="of an answer; default: 8192")
    add("--seed", type=int, default=0, help="another one, other samples")
    add("--format", choices=("chat", "plain"), default="chat", help="plain: without a chat template")
    add("--system", default="", metavar="TEXT", help="a system text before the problem's own")
    add("--concurrency", type=_positive, default=256, help="requests at once; default: 256")


def _add_serving(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--served-name", default="", metavar="NAME", help="the model, at a URL that serves several")
    add("--model-key-variable", default="OPENAI_API_KEY", metavar="NAME", help="environment variable with its key")
    add("--dtype", default="auto")
    add("--devices", default="", metavar="0,1", help="CUDA_VISIBLE_DEVICES of the vLLM that is started")
    add("--tensor-parallel", type=_positive, default=1)
    add("--gpu-memory", type=float, default=0.9, help="its share; default: 0.9")
    add("--max-model-len", type=int, default=0, metavar="TOKENS", help="of prompt and answer")
    add("--batch-invariant", action="store_true", help="the same sample whatever else is sampled; slower")
    add("--vllm", action="append", default=[], metavar="ARGUMENT", help="another argument of vLLM's: --vllm=--x=y")
    add("--patience", type=float, default=1800.0, metavar="SECONDS", help="for what is away")


def _add_grading(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--service",
        default="http://127.0.0.1:8080",
        metavar="URL",
        help="the reward service (PROCTOR_API_KEY: its key)",
    )
    add("--extraction", default="last_block", help="which part of an answer is the program; default: last_block")
    add("--cpu-seconds", type=float, help="of each test, over what problems say")
    add("--grading-concurrency", type=_positive, default=256)
    add("--max-fault-share", type=float, default=0.01, help="samples without a verdict; default: 0.01")


def _add_parts(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--generate-only", action="store_true", help="samples, and no verdicts")
    add("--samples", type=Path, metavar="FILE", help="grade these, and generate none")
    add("--watch", type=Path, metavar="RUN", help="evaluate every checkpoint of this run, as they come")
    add("--newest-first", action="store_true", help="of several checkpoints the newest; default: the oldest")
    add("--every", type=float, default=30.0, metavar="SECONDS", help="between looks; default: 30")
    add(
        "--settle",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="that others' checkpoints must not have changed for",
    )
    add("--once", action="store_true", help="those that are there, and end")


def _mode(said: argparse.Namespace) -> Mode:
    chosen = [name for name in ("generate_only", "samples", "watch") if getattr(said, name)]
    if len(chosen) > 1:
        raise ConfigError(f"{' and '.join('--' + name.replace('_', '-') for name in chosen)}: one of them")
    modes: dict[str, Mode] = {"generate_only": "generate", "samples": "grade", "watch": "watch"}
    return modes[chosen[0]] if chosen else "all"


def _model_and_files(said: argparse.Namespace, mode: Mode) -> tuple[Model | None, tuple[Path, ...]]:
    words = list(said.what)
    name = "" if mode in ("grade", "watch") else words.pop(0) if words else None
    if name is None:
        raise ConfigError("MODEL_OR_URL: what is to be evaluated? (proctor evaluate --help)")
    if not words and not said.preset:
        raise ConfigError("PROBLEMS: files of them, or --preset with the name of a benchmark")
    if mode == "grade" and not said.samples.exists():
        raise ConfigError(f"--samples: there is no {said.samples}")
    if said.fetch_standings and not said.standings:
        raise ConfigError("--fetch-standings: into which file? --standings FILE")
    model = Model(
        name=name,
        served_name=said.served_name,
        dtype=said.dtype,
        devices=said.devices,
        tensor_parallel=said.tensor_parallel,
        gpu_memory=said.gpu_memory,
        max_model_len=said.max_model_len,
        server_arguments=tuple(said.vllm),
        batch_invariant=said.batch_invariant,
        key_variable=said.model_key_variable,
        patience_seconds=said.patience,
    )
    return None if mode == "grade" else model, tuple(Path(word) for word in words)


def _judge(said: argparse.Namespace, preset: presets.Preset | None) -> Judge:
    return Judge(
        url=said.service,
        patience_seconds=said.patience,
        concurrency=said.grading_concurrency,
        extraction=said.extraction,
        default_limits={"cpu_seconds": preset.cpu_seconds} if preset else {},
        limits={"cpu_seconds": said.cpu_seconds} if said.cpu_seconds else {},
        max_fault_share=said.max_fault_share,
    )


def _out(said: argparse.Namespace, mode: Mode) -> Path:
    if said.out:
        return Path(said.out)
    if mode == "watch":
        return Path(said.watch) / "evaluations"
    if mode == "grade":
        return Path(said.samples).parent
    name = str(said.what[0] if said.what else "").rstrip("/").replace("://", "/").strip("/").split("/")
    what = said.preset or (Path(said.what[1]).stem if len(said.what) > 1 else "problems")
    return Path("evaluations") / f"{'-'.join(name[-2:])}-{what}".replace(":", "-")


def _ks(text: str) -> tuple[int, ...]:
    try:
        ks = tuple(sorted({int(each) for each in text.split(",")}))
    except ValueError:
        raise ConfigError(f"--k: {text!r}: whole numbers, separated by commas") from None
    if ks[0] < 1:
        raise ConfigError("--k: at least 1")
    return ks


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
