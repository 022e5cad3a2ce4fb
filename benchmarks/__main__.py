"""`python -m benchmarks NAME …` runs one of COMMANDS; by default `run`."""

import sys

from benchmarks import (
    burst,
    client,
    delta,
    endless,
    fleet,
    hostile_answers,
    judges,
    labelled,
    languages,
    load,
    mathematics,
    mixed,
    performance,
    run,
    service_cpu,
    shared_runs,
    simulation,
    soak,
)

COMMANDS = {
    "run": run.main,
    "soak": soak.main,
    "load": load.main,
    "fleet": fleet.main,
    "simulation": simulation.main,
    "delta": delta.main,
    "mathematics": mathematics.main,
    "client": client.main,
    "mixed": mixed.main,
    "hostile_answers": hostile_answers.main,
    "languages": languages.main,
    "judges": judges.main,
    "labelled": labelled.main,
    "shared_runs": shared_runs.main,
    "endless": endless.main,
    "burst": burst.main,
    "performance": performance.main,
    "service_cpu": service_cpu.main,
}


def main(arguments: list[str]) -> int:
    """Run the benchmark that the first argument names, with the other arguments."""
    name = arguments[0] if arguments else "run"
    if name in COMMANDS:
        return COMMANDS[name](arguments[1:])
    return run.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
