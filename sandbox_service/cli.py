"""The command line: `proctor serve`, `grade`, `doctor`, `bench`."""

from __future__ import annotations

import argparse
import sys

from sandbox_service.errors import ProctorError
from sandbox_service.settings import Settings


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except ProctorError as error:
        print(f"proctor: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="proctor", description="A sandboxed code-execution reward service.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the HTTP API on this machine")
    serve.add_argument("--host")
    serve.add_argument("--port", type=int)
    serve.add_argument("--settings", action="store_true", help="list all settings and end")
    serve.set_defaults(run=_serve)
    return parser


def _serve(options: argparse.Namespace) -> int:
    from sandbox_service import serving

    if options.settings:
        return serving.list_settings()
    given = {name: value for name in ("host", "port") if (value := getattr(options, name)) is not None}
    return serving.serve(Settings.from_environment().model_copy(update=given))


if __name__ == "__main__":
    sys.exit(main())
