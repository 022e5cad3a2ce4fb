"""The command line: `proctor serve`, `worker`, `grade`, `validate`, `train`, `evaluate`, `doctor`, `bench`.

Here is what can be said on it and nothing else. Each command imports what it needs when it is run.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from sandbox_service import preflight
from sandbox_service.errors import ConfigurationError, ProctorError
from sandbox_service.settings import PREFIX, Settings

WRONG = 2  # argparse's own status for what it cannot understand
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit status."""
    options = _parse(arguments)
    try:
        return int(options.run(options) or 0)
    except ProctorError as error:
        print(f"proctor: {error}", file=sys.stderr)
        return WRONG
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("sandbox_service"):
            raise
        print(f"proctor: this needs {error.name.partition('.')[0]}: pip install 'proctor[service]'", file=sys.stderr)
        return WRONG
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and options.run not in (_bench, _train, _evaluate):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="proctor", description="A sandboxed code-execution reward service.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the HTTP API on this machine")
    serve.add_argument("--host")
    serve.add_argument("--port", type=int)
    serve.add_argument("--settings", action="store_true", help="list all settings and end")
    serve.set_defaults(run=_serve)
    worker = commands.add_parser("worker", help="grade for a fleet with all slots of this machine (SANDBOX_REDIS_URL)")
    worker.set_defaults(run=_worker)
    grade = commands.add_parser("grade", help="grade solution files against a problem file")
    grade.add_argument(
        "problem", type=Path, help="JSON: the fields of a submission except its code, or a list of tests"
    )
    grade.add_argument(
        "solutions", type=Path, nargs="+", metavar="solution", help="a program; .md: a model's whole answer"
    )
    grade.add_argument("--url", help="let the service there grade (PROCTOR_API_KEY: its key); default: grade here")
    grade.add_argument("--jobs", type=int, help="how many to grade at once here; default: one for each processor")
    grade.add_argument("--json", action="store_true", help="print grades as JSON, one a line, as they are made")
    grade.set_defaults(run=_grade)
    validate = commands.add_parser(
        "validate", help="judge a data set by a recipe: clean lines, quarantine, manifest and report"
    )
    validate.add_argument("recipe", type=Path, help="TOML; see datasets/recipes")
    validate.add_argument("--url", help="let the service there grade; default: the recipe's, or grade here")
    validate.add_argument("--jobs", type=int, help="how many to grade at once here; default: one for each processor")
    validate.add_argument("--output", type=Path, help="the folder for the result; default: the recipe's")
    validate.add_argument("--limit", type=int, help="only so many rows of each source")
    validate.add_argument("--fresh", action="store_true", help="judge everything anew, whatever was done before")
    validate.set_defaults(run=_validate)
    train = commands.add_parser(
        "train", help="train a model on the service's rewards: CONFIG key=value …", add_help=False
    )
    train.set_defaults(run=_train)
    evaluate = commands.add_parser(
        "evaluate", help="evaluate a model, or every checkpoint of a run: pass@k, with intervals", add_help=False
    )
    evaluate.set_defaults(run=_evaluate)
    doctor = commands.add_parser("doctor", help="say what is missing or unsafe on this machine, and what mends it")
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")
    doctor.set_defaults(run=_doctor)
    bench = commands.add_parser(
        "bench", help="run the repository's benchmarks; all arguments are theirs", add_help=False
    )
    bench.set_defaults(run=_bench)
    return parser


def _serve(options: argparse.Namespace) -> int:
    given = {
        f"{PREFIX}{name.upper()}": str(value)
        for name in ("host", "port")
        if (value := getattr(options, name)) is not None
    }
    settings = Settings.from_environment(os.environ | given)
    if not options.settings and not settings.redis_url:
        preflight.require(settings)
    from sandbox_service import serving

    return serving.list_settings() if options.settings else serving.serve(settings)


def _worker(_: argparse.Namespace) -> int:
    settings = Settings.from_environment()
    if not settings.redis_url:
        raise ConfigurationError("a worker takes its work from Redis: set SANDBOX_REDIS_URL (proctor serve needs none)")
    preflight.require(settings)
    from sandbox_service import working

    return working.work(settings)


def _grade(options: argparse.Namespace) -> int:
    from sandbox_service.commands import grade

    order = grade.Order(options.problem, options.solutions, options.url, options.jobs, options.json)
    return grade.run(order, Settings.from_environment())


def _validate(options: argparse.Namespace) -> int:
    from sandbox_service.commands import validate

    order = validate.Order(
        options.recipe, options.url, options.jobs, options.output, options.limit, is_fresh=options.fresh
    )
    return validate.run(order, Settings.from_environment())


def _train(options: argparse.Namespace) -> int:
    from sandbox_service.commands import train

    train.run(options.rest)


def _evaluate(options: argparse.Namespace) -> int:
    from sandbox_service.commands import evaluate

    evaluate.run(options.rest)


def _doctor(options: argparse.Namespace) -> int:
    from sandbox_service.commands import doctor

    return doctor.run(Settings.from_environment(), as_json=options.json)


def _bench(options: argparse.Namespace) -> int:
    from sandbox_service.commands import bench

    return bench.run(options.rest)


if __name__ == "__main__":
    sys.exit(main())
