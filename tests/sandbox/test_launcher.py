"""The launcher: its messages, its boxes, and two boxes joined by pipes. No compiler is needed."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_service.errors import BoxSetupError, SandboxError
from sandbox_service.guest import wire as guests
from sandbox_service.languages import launcher
from sandbox_service.languages.launcher import LauncherZygote
from sandbox_service.sandbox import canary, files, launch_wire
from sandbox_service.sandbox.base import Place
from sandbox_service.sandbox.bubblewrap import Bubblewrap
from sandbox_service.sandbox.executable import Executable, data_bytes_of
from sandbox_service.sandbox.firejail import Firejail
from sandbox_service.sandbox.launch_jail import LaunchJail
from sandbox_service.sandbox.launch_wire import (
    IDLE,
    NOTHING,
    PIPE_0_READS,
    PIPE_0_WRITES,
    PIPE_1_READS,
    PIPE_1_WRITES,
    Box,
    BoxFile,
    Following,
    Request,
    pack,
)
from sandbox_service.schema import Limits
from tests.conftest import need_firejail

C_SOURCE = (Path(guests.__file__).parent / "launcher.c").read_text()
CODES = {"uint8_t": "B", "int16_t": "h", "uint16_t": "H", "uint32_t": "I", "uint64_t": "Q", "double": "d"}
UID = 61700
LIMITS = Limits(cpu_seconds=1, wall_seconds=5, memory_bytes=256 << 20, output_bytes=1 << 20)
ROOM = ("/usr",)


def layout(name: str) -> str:
    body = re.search(rf"struct __attribute__\(\(packed\)\) {name} {{(.*?)}};", C_SOURCE, re.DOTALL)
    assert body
    text = re.sub(r"/\*.*?\*/", "", body[1])
    declared = re.findall(r"(\w+) ([\w, ]+);", text)
    return "<" + "".join(CODES[kind] * len(names.split(",")) for kind, names in declared)


def test_c_and_python_lay_out_the_same_fields() -> None:
    assert layout("request") == launch_wire.REQUEST.format
    assert layout("wanted") == launch_wire.WANTED.format
    assert layout("following") == launch_wire.FOLLOWING.format


def test_c_and_python_number_alike() -> None:
    for name in ("NOTHING", "PIPE_0_READS", "PIPE_0_WRITES", "PIPE_1_READS", "PIPE_1_WRITES"):
        assert re.search(rf"\b{name} = {getattr(launch_wire, name)}\b", C_SOURCE), name
    for name in ("COPY", "LINK"):
        assert f"#define {name} {getattr(launch_wire, name)}\n" in C_SOURCE
    assert f"#define MAX_FDS {launch_wire.MOST_DESCRIPTORS} " in C_SOURCE
    assert f"#define MAX_FILES {launch_wire.MOST_FILES}\n" in C_SOURCE
    assert f"#define MAX_WORDS {launch_wire.MOST_WORDS + 1}\n" in C_SOURCE


@pytest.mark.parametrize(
    "box",
    [
        Box("/bin/true", ("a\0b",), (), 1, 1),
        Box("/bin/true", (), (NOTHING,) * 13, 1, 1),
        Box("/bin/true", (), (), 1, 1, files=(BoxFile("/etc/passwd", 0),)),
        Box("/bin/true", (), (), 1, 1, files=(BoxFile("a/../../b", 0),)),
        Box("/bin/true", ("x" * (200 << 10),), (), 1, 1),
    ],
)
def test_a_request_that_cannot_be_sent_is_refused(box: Box) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        pack(Request((box,), 1, 1))


# --- boxes


@pytest.fixture(scope="module", params=["firejail", "bubblewrap"])
def tool(request: pytest.FixtureRequest) -> Firejail | Bubblewrap:
    if request.param == "firejail":
        need_firejail()
        return Firejail()
    if not Path(Bubblewrap().program).exists():
        pytest.skip("bubblewrap is not installed: apt-get install bubblewrap")
    return Bubblewrap()


def opened(tool: Firejail | Bubblewrap, zygote: LauncherZygote) -> LaunchJail:
    if not launcher.is_built():
        pytest.skip(launcher.REBUILD)
    place = Place(UID if os.geteuid() == 0 else -1, -1)
    jail = LaunchJail(tool, place, zygote)
    jail.wait_ready()
    return jail


@pytest.fixture(scope="module")
def jail(tool: Firejail | Bubblewrap) -> Iterator[LaunchJail]:
    found = opened(tool, LauncherZygote("machine", shown=ROOM))
    yield found
    found.kill()


@pytest.mark.parametrize(
    "zygote",
    [
        LauncherZygote("native"),
        LauncherZygote("native-processes", may_fork=True),
        LauncherZygote("machine", shown=ROOM),
        LauncherZygote("compile", may_fork=True, shown=ROOM),
    ],
    ids=lambda zygote: zygote.kind,
)
def test_every_kind_holds_the_canary(tool: Firejail | Bubblewrap, zygote: LauncherZygote) -> None:
    jail = opened(tool, zygote)
    try:
        canary.check(jail, UID if os.geteuid() == 0 else os.getuid())
        canary.check_deadline(jail)
        with zygote.probes.control() as program:
            assert jail.run_stdin(program, b"", LIMITS).stdout == b"42\n"
    finally:
        jail.kill()


def shell(script: str, descriptors: tuple[int, ...], **more: object) -> Box:
    """A box that runs builtins of a shell: its room lets nothing fork."""
    given: dict[str, object] = {"cpu_seconds": 1.0, "data_bytes": 256 << 20} | more
    return Box("/usr/bin/bash", ("bash", "-c", script), descriptors, **given)  # type: ignore[arg-type]


def pair(first: str, second: str, **more: float) -> Request:
    boxes = (
        shell(first, (PIPE_1_READS, PIPE_0_WRITES, NOTHING)),
        shell(second, (PIPE_0_READS, PIPE_1_WRITES, NOTHING, 0)),
    )
    return Request(boxes, **({"wall_seconds": 5.0, "patience_seconds": 20.0} | more))


def launched(jail: LaunchJail, request: Request, *contents: bytes) -> tuple[launch_wire.Launched, list[bytes]]:
    fds = files.create_all(*contents)
    try:
        found = jail.launch(request, fds, LIMITS)
        return found, [files.read(fd, 1 << 16) for fd in fds]
    finally:
        files.close_all(fds)


def test_arguments_environment_files_and_descriptors_arrive(jail: LaunchJail) -> None:
    beside = (BoxFile("folder/data.txt", 1), BoxFile("link", target="/proc/self/fd/3"))
    script = 'read a < folder/data.txt; read b < link; echo "$a $b $NAME $PWD"'
    box = shell(script, (NOTHING, 0, 0, 2), files=beside, environment={"NAME": "value"})
    found, (said, *_) = launched(jail, Request((box,), 5, 20), b"", b"copied\n", b"opened\n")
    assert found.records[0].status == 0
    assert said == b"copied opened value /tmp\n"


def test_files_beside_a_program_are_read_only(jail: LaunchJail) -> None:
    box = shell("echo x > data.txt && echo written", (NOTHING, 0, 0), files=(BoxFile("data.txt", 1),))
    _, (said, kept) = launched(jail, Request((box,), 5, 20), b"", b"content")
    assert b"written" not in said
    assert kept == b"content"


def test_two_boxes_talk_and_the_first_to_end_is_told(jail: LaunchJail) -> None:
    judge = 'echo 7; read answer; echo "got $answer" >&3; exit 42'
    found, (said,) = launched(jail, pair("read x; echo $((x * 6)); read rest", judge), b"")
    assert said == b"got 42\n"
    assert os.WEXITSTATUS(found.records[1].status) == 42
    assert found.first in (0, 1)


def test_what_goes_on_after_the_judge_is_ended(jail: LaunchJail) -> None:
    found, _ = launched(jail, pair("while :; do :; done", "exit 43"), b"")
    assert found.first == 1
    assert found.records[0].why_killed == guests.NOT_NEEDED
    assert os.WEXITSTATUS(found.records[1].status) == 43


def test_two_boxes_that_wait_for_each_other_are_ended_as_idle(jail: LaunchJail) -> None:
    found, _ = launched(jail, pair("read x", "read y", idle_seconds=0.5), b"")
    assert [record.why_killed for record in found.records] == [IDLE, IDLE]


def test_a_box_over_its_cpu_limit_is_killed_and_the_judge_sees_the_end(jail: LaunchJail) -> None:
    found, (said,) = launched(jail, pair("while :; do :; done", "read x || echo end >&3; exit 43"), b"")
    assert found.records[0].cpu_seconds >= 1.0
    assert os.WTERMSIG(found.records[0].status) == signal.SIGKILL
    assert said == b"end\n"


# --- a second request in a message


def followed(jail: LaunchJail, first: str, then: Request, most_bytes: int = 100) -> tuple[list[int], list[bytes]]:
    """Run a script, and a request behind it.

    Returns:
        The wait statuses; and the contents of the files: what the script wrote, two copies of that, and what the second
        box wrote.
    """
    fds = files.create_all(b"", b"", b"", b"")
    request = Request((shell(first, (NOTHING, 0, NOTHING)),), 5, 20)
    try:
        message = pack(request, Following(then, output=0, copies=(1, 2), most_bytes=most_bytes))
        records = launch_wire.unpack(jail._exchange(message, fds, 10, 40)).records
        return [record.status for record in records], [os.pread(fd, 100, 0) for fd in fds]
    finally:
        files.close_all(fds)


def second(script: str) -> Request:
    return Request((shell(script, (1, 3, NOTHING, 2)),), 5, 20)


def test_a_second_box_has_a_copy_and_another_uid(jail: LaunchJail) -> None:
    then = second("read line; read again <&3; echo $line $again $UID; echo more >&0; exit 42")
    statuses, contents = followed(jail, "echo $UID", then)
    first, *said = (int(word) for content in contents[::3] for word in content.split())
    assert [os.WEXITSTATUS(status) for status in statuses] == [0, 42]
    assert said[:2] == [first, first]
    assert (said[2] != first) == (os.geteuid() == 0)
    assert contents[0] == b"%d\n" % first  # the second box wrote to its own copy
    assert contents[1] == contents[0] + b"more\n"


@pytest.mark.parametrize("script", ["exit 1", "echo 123456", "while :; do :; done", "kill -SEGV $$; exit 3"])
def test_a_second_box_does_not_run_after_a_first_that_failed(jail: LaunchJail, script: str) -> None:
    statuses, contents = followed(jail, script, second("echo ran"), most_bytes=6)
    assert len(statuses) == 1
    assert contents[1:] == [b"", b"", b""]


@pytest.mark.parametrize("written", [0, 6])
def test_a_first_box_may_write_up_to_the_limit(jail: LaunchJail, written: int) -> None:
    statuses, contents = followed(jail, f"echo -n {'x' * written}", second("echo ran"), most_bytes=6)
    assert (statuses, contents[3]) == ([0, 0], b"ran\n")
    assert contents[1] == contents[2] == b"x" * written


def test_a_second_box_that_is_not_there_is_a_fault(jail: LaunchJail) -> None:
    with pytest.raises(BoxSetupError, match="nowhere"):
        followed(jail, "exit 0", Request((Box("/usr/bin/nowhere", ("x",), (NOTHING,), 1, 1 << 28),), 1, 2))


def test_two_boxes_cannot_follow(jail: LaunchJail) -> None:
    with pytest.raises(BoxSetupError, match="errno"):
        followed(jail, "exit 0", pair("exit 0", "exit 0"))


def test_a_program_that_is_not_there_is_a_fault(jail: LaunchJail) -> None:
    with pytest.raises(BoxSetupError, match="nowhere"):
        launched(jail, Request((Box("/usr/bin/nowhere", ("x",), (NOTHING,), 1, 1 << 28),), 1, 2))


def test_an_executable_that_is_none_is_a_fault(jail: LaunchJail) -> None:
    with Executable(files.create(b"no program", sealed=True), ("x",)) as program, pytest.raises(BoxSetupError):
        jail.run_stdin(program, b"", LIMITS)


def test_runs_leave_no_descriptor_behind(jail: LaunchJail) -> None:
    zygote = next(each for each in jail.processes() if each.exe().endswith("launcher.elf"))
    counts = []
    for _ in range(3):
        for _ in range(5):
            launched(jail, pair("exit 0", "exit 0"), b"")
            followed(jail, "exit 0", second("exit 0"))
            with pytest.raises(BoxSetupError):
                followed(jail, "exit 0", pair("exit 0", "exit 0"))
        counts.append(len(list(Path(f"/proc/{zygote.pid}/fd").iterdir())))
    assert len(set(counts)) == 1


def test_a_launcher_makes_no_calls(jail: LaunchJail) -> None:
    with pytest.raises(SandboxError):
        jail.run_calls(None, b"[]", 1, LIMITS)


def test_variables_of_an_executable_are_counted() -> None:
    with launcher.LAUNCHER.open("rb") if launcher.is_built() else pytest.skip(launcher.REBUILD) as file:
        assert 100_000 < data_bytes_of(file.fileno()) < 10 << 20
    for content in (b"", b"\x7fELF", b"\x7fELF\x02" + bytes(100), b"#!/bin/sh"):
        fd = files.create(content)
        assert data_bytes_of(fd) == 0
        os.close(fd)
