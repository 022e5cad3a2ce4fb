"""The command line of `proctor evaluate`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trainer.errors import ConfigError
from trainer.evaluation import presets
from trainer.evaluation.grading import GradingOptions
from trainer.evaluation.models import Model
from trainer.evaluation.problems import ProblemSelection
from trainer.evaluation.samples import SamplingOptions

EPILOG = """
proctor evaluate Qwen/Qwen3-1.7B problems.jsonl --n 8 --k 1,8      start vLLM, sample, grade, show
proctor evaluate http://10.0.0.2:8000 --preset humaneval+          a server that has the model
proctor evaluate MODEL problems.jsonl --generate-only --out DIR    samples only: no reward service
proctor evaluate --samples DIR/samples.jsonl problems.jsonl        grade only: no GPU
proctor evaluate --watch runs/first problems.jsonl                 every checkpoint of a run, once

All of these can be interrupted and restarted: finished work is kept.
"""

OWN_URL = "http://127.0.0.1:8080"

Mode = Literal["all", "generate", "grade", "watch"]


@dataclass(frozen=True)
class Plan:
    """The parsed options of an evaluation."""

    mode: Mode
    asked: ProblemSelection
    out: Path
    model: Model | None
    samples: Path | None
    run: Path | None
    n: int | None  # None: as many as the file of samples has
    k: tuple[int, ...] | None
    sampling: SamplingOptions
    format: Literal["chat", "plain"]
    system: str
    concurrency: int
    judge: GradingOptions
    testers: int
    cases: int
    ask: str
    standings: Path | None
    fetch: bool
    api: str
    newest_first: bool
    every_seconds: float
    settle_seconds: float
    once: bool


def parse(arguments: Sequence[str] | None) -> Plan:
    """Parse the command line. Syntax errors end the process.

    Args:
        arguments: The command line; None: the process's.

    Returns:
        The evaluation to run.

    Raises:
        ConfigError: Options contradict each other.
    """
    args = _parser().parse_intermixed_args(arguments)
    preset = presets.preset(args.preset) if args.preset else None

    def or_preset(name: str, default: Any) -> Any:
        given = getattr(args, name)
        return given if given is not None else getattr(preset, name, default) if preset else default

    mode = _mode(args)
    model, files = _model_and_files(args, mode)
    n = args.n if mode == "grade" else or_preset("n", 8)
    ks = _ks(args.k) if args.k else preset.k if preset else None
    if ks and n and max(ks) > n:
        if args.k:
            raise ConfigError(f"--k {max(ks)}: pass@k is estimated from n samples, and n is {n}")
        ks = tuple(k for k in ks if k <= n)
    window = presets.window(args.window) if args.window else preset.window if preset else None
    return Plan(
        mode=mode,
        asked=ProblemSelection(files, preset.hub if preset and not files else None, window, args.limit),
        out=_out(args, mode),
        model=model,
        samples=args.samples,
        run=args.watch,
        n=n,
        k=ks,
        sampling=SamplingOptions(
            temperature=or_preset("temperature", 0.6),
            top_p=or_preset("top_p", 0.95),
            max_tokens=or_preset("max_tokens", 8192),
            seed=args.seed,
        ),
        format=args.format,
        system=args.system,
        concurrency=args.concurrency,
        judge=_judge(args, preset),
        testers=args.testers,
        cases=args.cases,
        ask=args.ask,
        standings=args.standings,
        fetch=args.fetch_standings,
        api=args.codeforces_api,
        newest_first=args.newest_first,
        every_seconds=args.every,
        settle_seconds=args.settle,
        once=args.once,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="proctor evaluate",
        description="Evaluate a model by executions: pass@k and avg@k with intervals, by group; a Codeforces rating.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("what", nargs="*", metavar="MODEL_OR_URL PROBLEMS", help="omit MODEL with --samples or --watch")
    add("--preset", metavar="NAME", help=f"{', '.join(presets.PRESETS)}: problems, window, sampling, limits")
    add("--out", type=Path, metavar="DIR", help="output folder; default: evaluations/NAME")
    add("--window", metavar="FIRST..LAST", help="problems within these dates, both included; or a preset's name")
    add("--limit", type=int, default=0, metavar="N", help="only the first N problems")
    add("--k", metavar="1,4,8", help="which pass@k; default: 1 and n")
    add("--standings", type=Path, metavar="FILE", help="standings of Codeforces contests; adds a rating")
    add("--fetch-standings", action="store_true", help="fetch missing contests into --standings")
    add("--codeforces-api", default="https://codeforces.com/api", metavar="URL", help=argparse.SUPPRESS)
    _add_sampling(parser.add_argument_group("sampling"))
    _add_serving(parser.add_argument_group("the model's server"))
    _add_grading(parser.add_argument_group("grading"))
    _add_selection(parser.add_argument_group("best of n by the model's own test cases"))
    _add_parts(parser.add_argument_group("parts and repetition"))
    return parser


def _add_sampling(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--n", type=_positive, help="samples of each problem; default: 8")
    add("--temperature", type=float, help="default: 0.6")
    add("--top-p", type=float, dest="top_p", help="default: 0.95")
    add("--max-tokens", type=_positive, dest="max_tokens", help="limit of an answer; default: 8192")
    add("--seed", type=int, default=0, help="seed of all samples; default: 0")
    add("--format", choices=("chat", "plain"), default="chat", help="plain: without a chat template")
    add("--system", default="", metavar="TEXT", help="system text, put before the problem's own")
    add("--concurrency", type=_positive, default=256, help="most requests in flight; default: 256")


def _add_serving(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--served-name", default="", metavar="NAME", help="the model's name, at a URL that serves several")
    add(
        "--model-key-variable",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="environment variable with its API key",
    )
    add("--dtype", default="auto")
    add("--devices", default="", metavar="0,1", help="CUDA_VISIBLE_DEVICES of the started vLLM")
    add("--tensor-parallel", type=_positive, default=1)
    add("--gpu-memory", type=float, default=0.9, help="vLLM's share of a GPU's memory; default: 0.9")
    add("--max-model-len", type=int, default=0, metavar="TOKENS", help="limit of prompt and answer")
    add("--batch-invariant", action="store_true", help="samples independent of batching; slower")
    add("--vllm", action="append", default=[], metavar="ARGUMENT", help="further argument of vLLM: --vllm=--x=y")
    add(
        "--patience",
        type=float,
        default=1800.0,
        metavar="SECONDS",
        help="how long a server may be unavailable; default: 1800",
    )


def _add_grading(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--url",
        "--service",
        dest="service",
        metavar="URL",
        default=os.environ.get("PROCTOR_URL") or OWN_URL,
        help=f"the reward service (key: PROCTOR_API_KEY); default: PROCTOR_URL, or {OWN_URL}",
    )
    add("--extraction", default="last_block", help="how the program is extracted from an answer; default: last_block")
    add("--cpu-seconds", type=float, help="limit of each test; overrides the problem's")
    add("--grading-concurrency", type=_positive, default=256)
    add("--max-fault-share", type=float, default=0.01, help="largest share of samples without a verdict; default: 0.01")


def _add_selection(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--testers", type=int, default=0, metavar="M", help="answers with test cases for each problem; default: 0, off")
    add("--cases", type=_positive, default=1, metavar="K", help="test cases of an answer; default: 1")
    add("--ask", default="", metavar="TEXT", help="the question, with {statement} and {cases}")


def _add_parts(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--generate-only", action="store_true", help="sample without grading")
    add("--samples", type=Path, metavar="FILE", help="grade these samples without sampling")
    add("--watch", type=Path, metavar="RUN", help="evaluate every checkpoint of this run as it appears")
    add("--newest-first", action="store_true", help="newest checkpoint first; default: oldest first")
    add("--every", type=float, default=30.0, metavar="SECONDS", help="interval of the scan; default: 30")
    add(
        "--settle",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long other trainers' checkpoints must be unchanged; default: 60",
    )
    add("--once", action="store_true", help="end when no checkpoint is left")


def _mode(args: argparse.Namespace) -> Mode:
    chosen = [name for name in ("generate_only", "samples", "watch") if getattr(args, name)]
    if len(chosen) > 1:
        raise ConfigError(f"{' and '.join('--' + name.replace('_', '-') for name in chosen)} exclude each other")
    modes: dict[str, Mode] = {"generate_only": "generate", "samples": "grade", "watch": "watch"}
    return modes[chosen[0]] if chosen else "all"


def _model_and_files(args: argparse.Namespace, mode: Mode) -> tuple[Model | None, tuple[Path, ...]]:
    words = list(args.what)
    name = "" if mode in ("grade", "watch") else words.pop(0) if words else None
    if name is None:
        raise ConfigError("MODEL_OR_URL is missing (see proctor evaluate --help)")
    if not words and not args.preset:
        raise ConfigError("PROBLEMS is missing: name files, or a benchmark with --preset")
    if mode == "grade" and not args.samples.exists():
        raise ConfigError(f"--samples: {args.samples} does not exist")
    if args.fetch_standings and not args.standings:
        raise ConfigError("--fetch-standings needs --standings FILE")
    model = Model(
        name=name,
        served_name=args.served_name,
        dtype=args.dtype,
        devices=args.devices,
        tensor_parallel=args.tensor_parallel,
        gpu_memory=args.gpu_memory,
        max_model_len=args.max_model_len,
        server_arguments=tuple(args.vllm),
        batch_invariant=args.batch_invariant,
        key_variable=args.model_key_variable,
        patience_seconds=args.patience,
    )
    return None if mode == "grade" else model, tuple(Path(word) for word in words)


def _judge(args: argparse.Namespace, preset: presets.Preset | None) -> GradingOptions:
    return GradingOptions(
        url=args.service,
        patience_seconds=args.patience,
        concurrency=args.grading_concurrency,
        extraction=args.extraction,
        default_limits={"cpu_seconds": preset.cpu_seconds} if preset else {},
        limits={"cpu_seconds": args.cpu_seconds} if args.cpu_seconds else {},
        max_fault_share=args.max_fault_share,
    )


def _out(args: argparse.Namespace, mode: Mode) -> Path:
    if args.out:
        return Path(args.out)
    if mode == "watch":
        return Path(args.watch) / "evaluations"
    if mode == "grade":
        return Path(args.samples).parent
    name = str(args.what[0] if args.what else "").rstrip("/").replace("://", "/").strip("/").split("/")
    what = args.preset or (Path(args.what[1]).stem if len(args.what) > 1 else "problems")
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
