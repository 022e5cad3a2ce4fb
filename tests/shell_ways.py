"""How each shell command of the documents is tried: WAYS, a table of patterns.

A command is run as it is shown, in a shorter variant (`before` sets variables, `more` adds arguments), or in the
trainer's environment (`trainer`). What can be run nowhere here is checked, and skipped with the reason.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.guards import HANG_GUARD_SECONDS
from tests.shell_blocks import DOCUMENTS, REPOSITORY, Shown, commands

COMMAND_LINES = (
    "benchmarks/run.py",
    "sandbox_service/cli.py",
    "trainer/__main__.py",
    "trainer/evaluation/options.py",
    "trainer/inspection/samples.py",
)
PASSWORD = "PASSWORD"

Check = Callable[[Shown], None]


# Checks of what is not run


def syntax(shown: Shown) -> None:
    """Let bash parse a command without running it."""
    subprocess.run(["bash", "-nc", shown.text], check=True, timeout=HANG_GUARD_SECONDS)


def dry_run(shown: Shown) -> None:
    """Let make print the commands of a target."""
    subprocess.run(
        ["make", "--dry-run", *shown.words[1:]],
        cwd=REPOSITORY,
        check=True,
        timeout=HANG_GUARD_SECONDS,
        stdout=subprocess.DEVNULL,
    )


def build(shown: Shown) -> None:
    """Find the file that a build of images is given."""
    assert (REPOSITORY / shown.words[shown.words.index("-f") + 1]).is_file()


def module(shown: Shown) -> None:
    """Find the module of `python -m`, the name of a benchmark, and each option in the source."""
    name, *arguments = shown.words[shown.words.index("-m") + 1 :]
    folder = REPOSITORY / name.replace(".", "/")
    assert folder.is_dir() or folder.with_suffix(".py").is_file()
    if name == "benchmarks":
        # it needs more than the trainer's environment has
        assert arguments[0] in importlib.import_module("benchmarks.__main__").COMMANDS
    files = [*folder.glob("*.py"), *folder.glob("*/*.py"), *folder.parent.glob("*.py")]
    sources = "".join(file.read_text() for file in files)
    assert [each for each in arguments if each.startswith("--") and f'"{each.partition("=")[0]}"' not in sources] == []


def subcommand(shown: Shown) -> None:
    """Find a command of `proctor` and its options in the sources of the command lines."""
    sources = "".join((REPOSITORY / path).read_text() for path in COMMAND_LINES)
    name, *arguments = shown.words[1:]
    assert name in re.findall(r'add_parser\(\s*"(\w+)"', sources)
    assert [each for each in arguments if each.startswith("--") and f'"{each}"' not in sources] == []


def selected_tests(shown: Shown) -> None:
    """Find the paths, the markers and the environment variables of a call of pytest."""
    words = shown.words[shown.words.index("pytest") + 1 :]
    markers = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["markers"]
    if "-m" in words:
        named = set(re.findall(r"\w+", words[words.index("-m") + 1])) - {"and", "or", "not"}
        assert named <= {each.partition(":")[0] for each in markers}
    assert all((REPOSITORY / each).exists() for each in words if each.startswith("tests/"))
    variables = re.findall(r"^(\w+)=|\s([A-Z_]+)=", shown.text)
    sources = "".join(path.read_text() for path in (REPOSITORY / "tests").rglob("*.py"))
    assert all(f'"{first or other}"' in sources for first, other in variables)


# How each command is tried


class Way(NamedTuple):
    """How commands are tried that match `pattern` from their first word on. The first row that matches counts."""

    pattern: str
    before: str = ""
    """A command that is run before it."""
    more: str = ""
    """Added to the command."""
    prints: str = ""
    """A pattern in the output."""
    serves: bool = False
    """The command runs until a signal, which is sent when it has printed `prints`."""
    program: str = ""
    """Needed: a program, or a call of one that must succeed. Without it the test is skipped."""
    stand_ins: bool = False
    """Programs of tests/stand_ins, such as `docker`, come first."""
    full: bool = False
    """It takes seconds, and is run by `make test-all` only."""
    trainer: bool = False
    """tests/trainer/test_shown_commands.py runs it, in the trainer's environment."""
    reason: str = ""
    """Why the command is not run. Empty: it is run."""
    check: Check = syntax
    """Of what is not run."""


def benchmark(name: str, more: str, prints: str, program: str = "") -> Way:
    """Return how a benchmark is tried, with few repetitions."""
    return Way(rf"python -m benchmarks {name}", more=more, prints=prints, program=program, full=True)


URL = "--url http://{service}"
ONE = "--jobs 1"  # a slot is enough
FLEET = f"export SANDBOX_REDIS_URL=redis://:{PASSWORD}@10.0.0.1:6379/0"
COLLECT = "export PYTEST_ADDOPTS='--collect-only -q'"
COLLECTED = r"[1-9]\d*(/\d+)? tests collected"
ANSWERING = "--url http://{service} --out there --limit 1"
OLD = "--old-file {prefix}/.service VENV={prefix}"  # whatever its age: nothing is installed

WAYS = (
    Way(r"export "),
    Way(r"printf "),
    Way(r"adapter=", more='&& test -f "$adapter"'),
    Way(r"curl ", prints=r'"(ready|version)"', program="curl"),
    Way(r"proctor serve --settings", prints="SANDBOX_PORT"),
    Way(r"proctor serve", prints="proctor serves http", serves=True),
    Way(r"proctor worker", before=FLEET, prints='"event": "registered"', serves=True),
    Way(r"proctor top", more=f"--once {URL}", prints="slots"),
    Way(r"proctor tail", more=URL),
    Way(r"proctor doctor", prints="canary", full=True),
    Way(r"proctor grade .*\.cpp", more=ONE, prints="1 of 1 accepted", program="g++"),
    Way(r"proctor grade package/", more=ONE, prints="2 of 2 as expected"),
    Way(r"proctor grade ", more=ONE, prints=r"(\d) of \1 accepted"),
    Way(r"proctor validate datasets/", more=f"--limit 1 {ONE}", prints="3 clean, 0 in quarantine", full=True),
    Way(r"proctor validate .*--url", prints="1 clean, 0 in quarantine"),
    Way(r"proctor validate ", more=ONE, prints="1 clean, 0 in quarantine", full=True),
    Way(r"proctor strengthen ", more=ONE, prints="1 strengthened with 12 tests", full=True),
    Way(
        r"proctor bench",
        more="--contenders fork_limit --workloads stdin10 --rounds 1",
        prints="written to build/bench",
        full=True,
    ),
    Way(r"proctor evaluate --samples", more="--url http://{service}", prints="pass@1"),
    Way(
        r"proctor evaluate .*--watch",
        more="--once --url http://{service}",
        prints="1 problems(?s:.*)watching runs/first",
    ),
    Way(r"proctor evaluate .*--generate-only", more="--out there", prints="samples: there/samples.jsonl"),
    Way(r"proctor evaluate .*humaneval", more=f"{ANSWERING} humaneval.jsonl", prints="pass@1(?s:.*)100.0"),
    Way(r"proctor evaluate ", more=ANSWERING, prints="pass@8(?s:.*)100.0"),
    Way(r"redis-server ", more="--port {port} --dir .", prints="Ready to accept", serves=True, program="redis-server"),
    Way(r"make serve", more=f"PORT={{port}} {OLD}", prints="proctor serves http", serves=True, stand_ins=True),
    Way(r"make up", prints="docker compose -f compose.yaml up --detach --build", stand_ins=True),
    Way(r"make down", prints="docker compose -f compose.yaml down", stand_ins=True),
    Way(r"scripts/system-packages", prints=r"g\+\+ default-jdk-headless nodejs", stand_ins=True),
    Way(r"pip install \.", more="--dry-run --no-deps --no-build-isolation --no-index", prints="Would install proctor"),
    Way(
        r"pip install 'proctor",
        more="--dry-run --no-deps --no-index",
        prints=r"(?s)\A(?!.*does not provide the extra).*already satisfied: proctor",
    ),
    Way(r"python -m tests\.compat\.differential", more="--pairs 20", prints="20 pairs", full=True),
    Way(
        r"python -m tests\.pages",
        more="--submissions 500 --rounds 1",
        prints="#playground",
        program="chromium",
        full=True,
    ),
    benchmark("fleet", "throughput --rounds 1 --count 16 --workloads calls10", "fleet"),
    benchmark("performance.*--flame", "--rounds 1", "python, 10 stdin", program="py-spy"),
    benchmark("performance", "--rounds 1 --rows python-call", "python, 10 call"),
    benchmark("run", "--quick --rounds 1 --workloads stdin10", "written to build/bench"),
    benchmark("shared_runs .*java", "--runs 4 --data data", " 0 differences", program="javac"),
    benchmark("shared_runs", "--runs 4 --data data", " 0 differences"),
    benchmark("languages", "--rounds 1", "java", program="javac"),
    benchmark("burst", "--submissions 32 --sample 4 --tests 4", "proctor"),
    benchmark("endless", "--problems 1 --answers 6 --rows followed", "limits that follow"),
    benchmark("simulation.*--memory", "", "its answer"),
    benchmark("simulation", "--workers 1 --seconds 1 --settle 1 --rate 100", "wait p50 ms"),
    Way(r"PROCTOR_PEERS=\S* \S*python -m pytest", before="export PYTEST_ADDOPTS='-k table'", prints="1 passed"),
    Way(
        r"python -m pytest tests/fleet/ledger",
        before="export PYTEST_ADDOPTS='-k test_priorities_are_strict'",
        prints="[1-9] passed",
        full=True,
    ),
    Way(
        r"\.venv-trainer/bin/python -m pytest",
        before=COLLECT,
        prints=COLLECTED,
        program=".venv-trainer/bin/python",
        full=True,
    ),
    Way(r"\S*python -m pytest", before=COLLECT, prints=COLLECTED, full=True),
    Way(r"perf record", more="> log && ls perf.data", prints="perf.data", program="perf stat true"),
    Way(
        r"perf report",
        before="perf record -g ls > log",
        more="--stdio",
        prints="Children +Self",
        program="perf stat true",
    ),
    Way(r"(proctor train|deepspeed|vllm serve) |#!/bin/bash\n#SBATCH", stand_ins=True, trainer=True),
    Way(r"python -m examples\.update", reason="it needs a GPU; test_examples runs a small one", check=module),
    Way(r"make train", reason="it takes minutes; tests/trainer runs its parts", check=dry_run),
    Way(r"make test", reason="it runs this test", check=dry_run),
    Way(r"pip install|scripts/peers|eval .*scripts/trainers", reason="it loads packages from the network"),
    Way(r"docker ", reason="it needs a container engine", check=build),
    Way(r"python -m (openrlhf|verl)\.", reason="it belongs to another project, which is not installed"),
)


def way_of(shown: Shown) -> Way:
    """Return the first row for a command."""
    plain = re.sub(r"^([A-Z_]\w*=\S* )+", "", shown.text)
    texts = (shown.text,) if shown.text.startswith(("#!", "export ")) else (shown.text, plain)
    found = [way for way in WAYS if any(re.match(way.pattern, text) for text in texts)]
    assert found, f"{shown.document}: WAYS has no row for {shown.text!r}"
    return found[0]


def distinct(shown: Iterator[Shown]) -> list[Shown]:
    """Return each command once, with the first document that shows it."""
    first: dict[tuple[str, tuple[str, ...]], Shown] = {}
    for each in shown:
        first.setdefault((each.text, each.exports), each)
    return list(first.values())


SHOWN = distinct(each for document in DOCUMENTS for each in commands(document))


def check_of_text(shown: Shown) -> Check:
    """Return the check of a command in the running text, where words of prose may stand for arguments."""
    program = shown.words[0]
    return {"make": dry_run, "proctor": subcommand}.get(program, selected_tests if "pytest" in shown.words else module)
