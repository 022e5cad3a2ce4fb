"""A program begins, runs and ends in a box as it does under the plain interpreter: the same stdout, the same status."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Service
from tests.idioms import INPUT, Idiom, idioms
from tests.markers import one_in, selected
from tests.test_corpus import PLAIN_ENVIRONMENT, contest_stack

INTERPRETER = "/usr/bin/python3"
FOLDER = "/tmp"
SHOWN_BYTES = 1 << 20

# The first process of a PID namespace does not get the signals that it sends to itself and has no handler for; and
# frames of the box's own are below the program's.
DIFFERENT: dict[str, tuple[int | None, str | None]] = {
    "start/frame_depth": (0, "6\n"),
    "start/frame_below": (0, "execute\n"),
    "start/recursion_just_below_the_limit": (0, "993\n"),
    "endings/os_kill_itself": (0, None),
    "endings/os_abort": (-11, None),
    "endings/keyboard_interrupt": (130, None),
    "endings/thread_interrupts_main": (130, None),
    "endings/signal_alarm_ends": (0, None),
}

Grades = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def boxed(service: Service, request: pytest.FixtureRequest) -> Grades:
    """Grade the selected ones through the service."""
    test = {"type": "stdin", "input": INPUT, "output": "not known"}
    return service.client.batch(
        {"id": idiom.id, "code": idiom.code, "tests": [test], "display_bytes": SHOWN_BYTES}
        for idiom in selected(request, "idiom")
    )


@pytest.mark.parametrize("idiom", one_in(3, idioms()), ids=lambda idiom: idiom.id)
def test_a_box_does_what_python_does(boxed: Grades, idiom: Idiom, tmp_path: Path) -> None:
    plain, output = plainly(idiom, tmp_path)
    status, expected = DIFFERENT.get(idiom.id, (plain, output))
    result = boxed[idiom.id]["tests"][0]
    ended = result["exit_code"] if result["signal"] is None else -result["signal"]
    assert result["stdout"] == (output if expected is None else expected), result
    assert ended == status, result


def plainly(idiom: Idiom, folder: Path) -> tuple[int, str]:
    """The status and the output of the idiom as `python3 solution.py` in a folder of its own."""
    (folder / "given").write_text(INPUT)
    (folder / "box").mkdir()
    (folder / "box" / "solution.py").write_text(idiom.code)
    with contest_stack(), (folder / "given").open("rb") as stdin, (folder / "out").open("wb+") as out:
        ended = subprocess.run(
            [INTERPRETER, "solution.py"],
            stdin=stdin,
            stdout=out,
            stderr=subprocess.DEVNULL,
            cwd=folder / "box",
            env=PLAIN_ENVIRONMENT,
            timeout=60,
            check=False,
        )
    output = (folder / "out").read_bytes().decode("utf-8", "replace")
    for path in (f"{folder}/box/solution.py", f"{folder}/box"):
        output = output.replace(path, "solution.py" if path.endswith(".py") else FOLDER)
    return ended.returncode, output


def test_there_are_many() -> None:
    names = [idiom.id for idiom in idioms()]
    assert len(names) == len(set(names)) > 400
    assert set(names) >= set(DIFFERENT)
