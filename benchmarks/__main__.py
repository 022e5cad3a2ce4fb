"""`python -m benchmarks [run|soak|load|fleet|simulation|delta|mathematics|client] …`: `run` unless told otherwise."""

import sys

from benchmarks import client, delta, fleet, load, mathematics, run, simulation, soak

COMMANDS = {
    "run": run.main,
    "soak": soak.main,
    "load": load.main,
    "fleet": fleet.main,
    "simulation": simulation.main,
    "delta": delta.main,
    "mathematics": mathematics.main,
    "client": client.main,
}


def main(arguments: list[str]) -> int:
    """Hand the arguments to the benchmark that the first of them names."""
    name = arguments[0] if arguments else "run"
    if name in COMMANDS:
        return COMMANDS[name](arguments[1:])
    return run.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
