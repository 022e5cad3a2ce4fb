"""The shell commands of the documents: each is run, or checked and skipped with the reason why it is not run.

tests/shell_ways.py says how. A command runs in a folder that looks like a checkout in which a user has put files
(tests/shown): those that the documents name. Addresses of the documents are replaced by those of servers that the tests
start.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ISOLATION, Service
from tests.markers import some
from tests.ports import free_port
from tests.redis_server import RedisServer, running_redis
from tests.shell_blocks import DOCUMENTS, Shown, inline_commands
from tests.shell_places import Place, make_checkout, running, running_model, until
from tests.shell_ways import PASSWORD, SHOWN, WAYS, check_of_text, subcommand, syntax, way_of

RECORDS = ("CHANGELOG.md", "docs/decisions/")  # which also name what there was
INTERRUPTED = (0, 130, -signal.SIGINT)
RUN = [each for each in SHOWN if not way_of(each).reason and not way_of(each).trainer]
FIRST = {way_of(each): each for each in reversed(RUN)}  # of each way
NOT_RUN = [each for each in SHOWN if way_of(each).reason]


def name_of(shown: Shown) -> str:
    return f"{shown.document}-{shown.text[:70]}"


def is_usable(program: str, folder: Path) -> bool:
    """Return whether a program is there, and succeeds if it is given arguments."""
    name, *arguments = program.split()
    found = shutil.which(name) or shutil.which(folder / name)
    if found is None:
        return False
    return not arguments or subprocess.run([found, *arguments], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    with running_redis("--requirepass", PASSWORD) as running:
        yield running


@pytest.fixture(scope="module")
def model() -> Iterator[int]:
    with running_model(free_port()) as port:
        yield port


@pytest.fixture
def place(tmp_path: Path, service: Service, redis: RedisServer, model: int) -> Place:
    return Place(make_checkout(tmp_path / "checkout"), service.port, redis.port, model, free_port(), ISOLATION)


@pytest.mark.parametrize(
    "shown",
    some(RUN, [each for way, each in FIRST.items() if not way.full]),
    ids=[name_of(each) for each in RUN],
)
def test_a_shown_command_runs(shown: Shown, place: Place) -> None:
    way = way_of(shown)
    if way.program and not is_usable(way.program, place.folder):
        pytest.skip(f"{way.program} is not installed, or fails")
    with running(place.script(shown, way), place, way) as process:
        assert process.stdout is not None
        printed = until(process.stdout, way.prints) if way.serves else ""
        if way.serves:
            os.killpg(process.pid, signal.SIGINT)
        printed += process.stdout.read()
        status = process.wait()
    assert status in (INTERRUPTED if way.serves else (0,)), printed
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


def test_the_options_of_all_commands_are_known() -> None:
    for shown in RUN:
        if shown.words[:1] == ["proctor"]:
            subcommand(shown)


def test_each_way_is_used() -> None:
    assert set(WAYS) == {way_of(each) for each in SHOWN}
