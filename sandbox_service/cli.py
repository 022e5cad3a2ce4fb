"""The command line: `proctor serve`, `worker`, `top`, `tail`, `grade`, `validate`, `strengthen`, `train`, `evaluate` …

This module defines the arguments only. Each command is imported when it is run, so that help comes at once, and an
interrupt while a command is imported ends it like one that comes later.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sandbox_service.errors import ProctorError

if TYPE_CHECKING:
    from sandbox_service.commands.recipe_run import RecipeOptions
    from sandbox_service.settings import Settings

USAGE_ERROR = 2  # argparse's own status for invalid arguments
INTERRUPTED = 130
OWN_URL = "http://127.0.0.1:8080"
URL_VARIABLE = "PROCTOR_URL"
ADDRESS = f"the service (key: PROCTOR_API_KEY); default: {URL_VARIABLE}, or {OWN_URL}"
SEARCHES = {
    "q": "only with this part of the id or of the suite's hash",
    "suite": "only with this part of the suite's hash",
    "verdict": "only with this verdict",
    "client": "only of this client",
    "min_reward": "only with at least this reward",
    "max_reward": "only with at most this reward",
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The arguments; default: those of the process.

    Returns:
        The exit status.

    Raises:
        ModuleNotFoundError: A module of this package is missing.
        OSError: A defect; a full disk ends with a message.
    """
    try:
        options = _parse(arguments)
        status = int(options.run(options) or 0)
        if sys.stdout is not None:  # it is None where the process was started without one
            sys.stdout.flush()  # here, where a full disk has a message
        return status
    except ProctorError as error:
        print(f"proctor: {error}", file=sys.stderr)
        return USAGE_ERROR
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("sandbox_service"):
            raise
        print(
            f"proctor: {error.name.partition('.')[0]} is not installed: pip install 'proctor[service]'", file=sys.stderr
        )
        return USAGE_ERROR
    except BrokenPipeError:  # such as `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest cannot be written either
        print(f"proctor: {error.filename or 'the output'} cannot be written: no space is left", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and options.run not in (_bench, _train, _evaluate):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    return options


class _Version(argparse.Action):
    """Looks up the version only when asked for it: a source tree that is not installed has none."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> NoReturn:
        from importlib.metadata import version

        print(f"proctor {version('proctor')}", flush=True)
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="proctor", description="A sandboxed code-execution reward service.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the HTTP API on this machine")
    serve.add_argument("--host", help="address to listen on (SANDBOX_HOST); default: 127.0.0.1")
    serve.add_argument("--port", type=int, help="port to listen on (SANDBOX_PORT); default: 8080")
    serve.add_argument("--settings", action="store_true", help="list all settings and exit")
    serve.set_defaults(run=_serve)
    worker = commands.add_parser("worker", help="grade for a fleet with this machine's slots (SANDBOX_REDIS_URL)")
    worker.set_defaults(run=_worker)
    top = commands.add_parser("top", help="show a running service or fleet in the terminal, each second")
    top.add_argument("--url", default=os.environ.get(URL_VARIABLE) or OWN_URL, help=ADDRESS)
    top.add_argument("--once", action="store_true", help="print one sample and exit")
    top.set_defaults(run=_top)
    tail = commands.add_parser("tail", help="print recent submissions of a running service, and why they failed")
    tail.add_argument("--url", default=os.environ.get(URL_VARIABLE) or OWN_URL, help=ADDRESS)
    for name, meaning in SEARCHES.items():
        tail.add_argument(f"--{name.replace('_', '-')}", default="", help=meaning)
    tail.add_argument("--label", action="append", default=[], help="only with this label, NAME=VALUE or NAME; repeat")
    tail.add_argument("--suspect", action="store_true", help="only accepted ones that fail an audit test")
    tail.add_argument("-n", "--count", type=int, default=20, help="how many at first; default: 20")
    tail.add_argument("-f", "--follow", action="store_true", help="go on with those that follow")
    tail.add_argument("--why", action="store_true", help="say what decided: the message, the fault or the test")
    tail.add_argument("--json", action="store_true", help="print each submission as a line of JSON")
    tail.set_defaults(run=_tail)
    grade = commands.add_parser("grade", help="grade solution files against a problem file")
    grade.add_argument(
        "problem",
        type=Path,
        help="JSON file with tests, and limits or a checker; a file of a published data set, such as HumanEval; or the "
        "folder of a package of Kattis, Polygon, DMOJ or CMS",
    )
    grade.add_argument(
        "solutions",
        type=Path,
        nargs="*",
        help="programs, or model answers (*.md); of a package also folders of programs, default: all it has",
    )
    grade.add_argument("--id", default="", help="the problem of a data set: its id, or the number of its row from 0")
    grade.add_argument("--url", help="grade with this service (key: PROCTOR_API_KEY); default: on this machine")
    grade.add_argument("--jobs", type=int, help="programs to grade at once on this machine; default: one per CPU")
    grade.add_argument("--json", action="store_true", help="print each grade as a line of JSON when it is made")
    grade.set_defaults(run=_grade)
    validate = commands.add_parser(
        "validate", help="validate a data set by a recipe: writes clean lines, quarantine, manifest and report"
    )
    _add_recipe_arguments(validate)
    validate.set_defaults(run=_validate)
    strengthen = commands.add_parser(
        "strengthen",
        help="measure how strong the tests of a recipe's problems are, and add better ones",
    )
    _add_recipe_arguments(strengthen)
    strengthen.set_defaults(run=_strengthen)
    train = commands.add_parser(
        "train", help="train a model with the service's rewards: CONFIG key=value …", add_help=False
    )
    train.set_defaults(run=_train)
    evaluate = commands.add_parser(
        "evaluate", help="evaluate a model or a run's checkpoints: pass@k with confidence intervals", add_help=False
    )
    evaluate.set_defaults(run=_evaluate)
    doctor = commands.add_parser("doctor", help="report what is missing or unsafe on this machine, and how to fix it")
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")
    doctor.set_defaults(run=_doctor)
    bench = commands.add_parser(
        "bench", help="run the repository's benchmarks with the given arguments", add_help=False
    )
    bench.set_defaults(run=_bench)
    return parser


def _add_recipe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", type=Path, help="TOML; see datasets/recipes")
    parser.add_argument("--url", help="grade with this service; default: the recipe's service, or this machine")
    parser.add_argument("--jobs", type=int, help="programs to grade at once on this machine; default: one per CPU")
    parser.add_argument("--output", type=Path, help="output folder; default: the recipe's")
    parser.add_argument("--limit", type=int, help="maximum number of rows of each source")
    parser.add_argument("--fresh", action="store_true", help="discard earlier results and start again")


def _serve(options: argparse.Namespace) -> int:
    if options.settings:  # also where a variable is wrong: its message says to look here
        from sandbox_service.settings import Settings

        print(Settings.described())
        return 0
    from sandbox_service.commands import checked_start

    return checked_start.serve({"host": options.host, "port": options.port})


def _worker(_: argparse.Namespace) -> int:
    from sandbox_service.commands import checked_start

    return checked_start.work()


def _top(options: argparse.Namespace) -> int:
    from sandbox_service.commands import top

    return top.run(top.TopOptions(options.url, once=options.once))


def _tail(options: argparse.Namespace) -> int:
    from sandbox_service.commands import tail

    wanted = [(name, getattr(options, name)) for name in SEARCHES] + [("label", each) for each in options.label]
    wanted += [("suspect", "true")] * options.suspect
    given = tail.TailOptions(
        options.url, wanted, options.count, follow=options.follow, why=options.why, as_json=options.json
    )
    return tail.run(given)


def _grade(options: argparse.Namespace) -> int:
    from sandbox_service.commands import grade

    given = grade.GradeOptions(
        options.problem, options.solutions, options.url, options.jobs, options.json, wanted=options.id
    )
    return grade.run(given, _settings())


def _validate(options: argparse.Namespace) -> int:
    from sandbox_service.commands import validate

    return validate.run(_recipe_options(options), _settings())


def _strengthen(options: argparse.Namespace) -> int:
    from sandbox_service.commands import strengthen

    return strengthen.run(_recipe_options(options), _settings())


def _recipe_options(options: argparse.Namespace) -> RecipeOptions:
    from sandbox_service.commands.recipe_run import RecipeOptions

    return RecipeOptions(
        options.recipe, options.url, options.jobs, options.output, options.limit, is_fresh=options.fresh
    )


def _settings() -> Settings:
    from sandbox_service.settings import Settings

    return Settings.from_environment()


def _train(options: argparse.Namespace) -> int:
    from sandbox_service.commands import trainer

    trainer.train(options.rest)


def _evaluate(options: argparse.Namespace) -> int:
    from sandbox_service.commands import trainer

    trainer.evaluate(options.rest)


def _doctor(options: argparse.Namespace) -> int:
    from sandbox_service.commands import doctor

    return doctor.run(_settings(), as_json=options.json)


def _bench(options: argparse.Namespace) -> int:
    from sandbox_service.commands import bench

    return bench.run(options.rest)


if __name__ == "__main__":
    sys.exit(main())
