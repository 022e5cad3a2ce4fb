"""The shell commands of the documents: each is run, or checked and skipped with the reason why it is not run.

WAYS says how. A command runs in a folder that looks like a checkout in which a user has put files (tests/shown): those
that the documents name. Addresses of the documents are replaced by those of servers that the tests start.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from benchmarks.__main__ import COMMANDS as BENCHMARKS
from tests.conftest import ISOLATION, Service
from tests.guards import HANG_GUARD_SECONDS
from tests.ports import free_port
from tests.redis_server import RedisServer, running_redis
from tests.shell_blocks import DOCUMENTS, REPOSITORY, Shown, blocks, commands, inline_commands

USERS_FILES = REPOSITORY / "tests" / "shown"
TOML_OF_DOCUMENTS = {"my.toml": "docs/validation.md", "run.toml": "docs/training.md"}  # the first block of each
HIDDEN = (".git", ".pytest_cache", "build", "runs")
RECORDS = ("CHANGELOG.md", "docs/decisions/")  # which also name what there was
COMMAND_LINES = (
    "benchmarks/run.py",
    "sandbox_service/cli.py",
    "trainer/__main__.py",
    "trainer/evaluation/options.py",
    "trainer/inspection/samples.py",
)
INTERRUPTED = 130
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


def installed_extra(shown: Shown) -> None:
    """Find the extras of a `pip install`."""
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"proctor\[([\w,]+)\]", shown.text)) <= set(extras)


def module(shown: Shown) -> None:
    """Find the module of `python -m`, the name of a benchmark, and each option in the source."""
    name, *arguments = shown.words[shown.words.index("-m") + 1 :]
    folder = REPOSITORY / name.replace(".", "/")
    assert folder.is_dir() or folder.with_suffix(".py").is_file()
    if name == "benchmarks":
        assert arguments[0] in BENCHMARKS
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
    """Needed; without it the test is skipped."""
    reason: str = ""
    """Why the command is not run. Empty: it is run."""
    check: Check = syntax
    """Of what is not run."""


LONG, NETWORK, GPU = "it takes minutes", "it loads packages from the network", "it needs GPUs"
ENGINE, OTHERS = "it needs a container engine", "it belongs to another project, which is not installed"
THERE = "tests/trainer/test_shown_commands.py"
LOADED = f"{GPU}; {THERE} loads its configuration"
URL = "--url http://{service}"
ONE = "--jobs 1"  # a slot is enough
FLEET = f"export SANDBOX_REDIS_URL=redis://:{PASSWORD}@10.0.0.1:6379/0"

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
    Way(r"proctor doctor", prints="canary"),
    Way(r"proctor grade .*\.cpp", more=ONE, prints="1 of 1 accepted", program="g++"),
    Way(r"proctor grade package/", more=ONE, prints="2 of 2 as expected"),
    Way(r"proctor grade ", more=ONE, prints=r"(\d) of \1 accepted"),
    Way(r"proctor validate datasets/", more=f"--limit 1 {ONE}", prints="3 clean, 0 in quarantine"),
    Way(r"proctor validate .*--url", prints="1 clean, 0 in quarantine"),
    Way(r"proctor validate ", more=ONE, prints="1 clean, 0 in quarantine"),
    Way(r"proctor strengthen ", more=ONE, prints="1 strengthened with 12 tests"),
    Way(r"proctor evaluate --samples", more="--service http://{service}", prints="pass@1"),
    Way(r"proctor train --show", reason=f"it needs torch; {THERE} runs it"),
    Way(r"redis-server ", more="--port {port} --dir .", prints="Ready to accept", serves=True, program="redis-server"),
    Way(r"make (serve|up|down|test|train)\b", reason="it installs, serves, trains or tests for minutes", check=dry_run),
    Way(r"proctor evaluate ", reason=f"{GPU} or a server; {THERE} parses its options", check=subcommand),
    Way(r"proctor bench", reason=LONG, check=subcommand),
    Way(r"python -m (benchmarks|tests\.)", reason=LONG, check=module),
    Way(r"\S*python -m pytest", reason="these tests run by themselves", check=selected_tests),
    Way(r"pip install", reason=NETWORK, check=installed_extra),
    Way(r"scripts/(peers|system-packages)|eval .*scripts/trainers", reason=NETWORK),
    Way(r"docker ", reason=ENGINE, check=build),
    Way(r"(proctor train|deepspeed) ", reason=LOADED),
    Way(r"vllm serve", reason=GPU),
    Way(r"#!/bin/bash\n#SBATCH", reason="it needs a cluster with Slurm"),
    Way(r"perf ", reason="it records a process for ten seconds, with the rights for it"),
    Way(r"python -m (openrlhf|verl)\.", reason=OTHERS),
)


def way_of(shown: Shown) -> Way:
    """Return the first row for a command."""
    command = shown.text if shown.text.startswith(("#!", "export ")) else re.sub(r"^([A-Z_]\w*=\S* )+", "", shown.text)
    found = [way for way in WAYS if re.match(way.pattern, command)]
    assert found, f"{shown.document}: WAYS has no row for {command!r}"
    return found[0]


def distinct(shown: Iterator[Shown]) -> list[Shown]:
    """Return each command once, with the first document that shows it."""
    return list({(each.text, each.exports): each for each in shown}.values())


SHOWN = distinct(each for document in DOCUMENTS for each in commands(document))
RUN = [each for each in SHOWN if not way_of(each).reason]
NOT_RUN = [each for each in SHOWN if way_of(each).reason]


def name_of(shown: Shown) -> str:
    return f"{shown.document}-{shown.text[:70]}"


def check_of_text(shown: Shown) -> Check:
    """Return the check of a command in the running text, where words of prose may stand for arguments."""
    program = shown.words[0]
    return {"make": dry_run, "proctor": subcommand}.get(program, selected_tests if "pytest" in shown.words else module)


# The folder and the servers


def lay(source: Path, over: Path, target: Path) -> None:
    """Make a folder of links to the entries of `source`, with those of `over` beside or inside them."""
    target.mkdir()
    for entry in source.iterdir() if source.is_dir() else ():
        if entry.name not in HIDDEN and not (over / entry.name).exists():
            (target / entry.name).symlink_to(entry)
    for entry in over.iterdir():
        if entry.is_dir():
            lay(source / entry.name, entry, target / entry.name)
        else:
            shutil.copy(entry, target)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the files that the documents name."""
    lay(REPOSITORY, USERS_FILES, tmp_path / "checkout")
    for name, document in TOML_OF_DOCUMENTS.items():
        [content, *_] = [content for language, content in blocks(document) if language == "toml"]
        (tmp_path / "checkout" / name).write_text(content)
    return tmp_path / "checkout"


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    with running_redis("--requirepass", PASSWORD) as running:
        yield running


class Place(NamedTuple):
    """Where a command runs."""

    folder: Path
    service: str
    redis_port: int
    port: int

    def script(self, shown: Shown, way: Way) -> str:
        """Return the shell text of a command, with addresses that exist here."""
        last = f"{shown.text} {way.more.format(service=self.service, port=self.port)}".strip()
        text = "\n".join([way.before, *shown.exports, last])
        for there, here in {
            "localhost:8080": self.service,
            "127.0.0.1:8080": self.service,
            "10.0.0.1:6379": f"127.0.0.1:{self.redis_port}",
            "--bind 10.0.0.1": "--bind 127.0.0.1",
            "/etc/proctor/keys": "keys",
        }.items():
            text = text.replace(there, here)
        return text

    @property
    def environment(self) -> Mapping[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("SANDBOX_", "PROCTOR_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        settings = {"SANDBOX_PORT": str(self.port), "SANDBOX_SLOTS": "1", "SANDBOX_ISOLATION": ISOLATION}
        return own | settings | {"PATH": path}


def until(output: IO[str], pattern: str) -> str:
    """Read lines up to one that matches, and return them."""
    lines: list[str] = []
    for line in output:
        lines.append(line)
        if re.search(pattern, line):
            return "".join(lines)
    raise AssertionError(f"it ended before it printed {pattern}: {''.join(lines)}")


@contextmanager
def running(script: str, place: Place) -> Iterator[subprocess.Popen[str]]:
    """Run a script in a process group of its own, which is killed at exit, or when nothing else ends it."""
    process = subprocess.Popen(
        ["bash", "-euc", script],
        cwd=place.folder,
        env=place.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    guard = threading.Timer(HANG_GUARD_SECONDS, os.killpg, [process.pid, signal.SIGKILL])
    guard.start()
    try:
        yield process
    finally:
        guard.cancel()
        guard.join()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("shown", RUN, ids=name_of)
def test_a_shown_command_runs(shown: Shown, checkout: Path, service: Service, redis: RedisServer) -> None:
    way = way_of(shown)
    if way.program and shutil.which(way.program) is None:
        pytest.skip(f"{way.program} is not installed")
    place = Place(checkout, f"127.0.0.1:{service.port}", redis.port, free_port())
    with running(place.script(shown, way), place) as process:
        assert process.stdout is not None
        printed = until(process.stdout, way.prints) if way.serves else ""
        if way.serves:
            os.killpg(process.pid, signal.SIGINT)
        printed += process.stdout.read()
        status = process.wait()
    assert status in ((0, INTERRUPTED) if way.serves else (0,)), printed
    assert re.search(way.prints, printed), printed


@pytest.mark.parametrize("shown", NOT_RUN, ids=name_of)
def test_a_command_that_is_not_run_is_valid(shown: Shown) -> None:
    way = way_of(shown)
    syntax(shown)
    way.check(shown)
    pytest.skip(f"{shown.text.splitlines()[0][:80]!r} is not run: {way.reason}")


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if not each.startswith(RECORDS)])
def test_commands_in_the_text_are_valid(document: str) -> None:
    for shown in inline_commands(document):
        check_of_text(shown)(shown)


def test_each_way_is_used() -> None:
    assert set(WAYS) == {way_of(each) for each in SHOWN}
