"""The service as a normal user: firejail's SUID bit instead of root, user namespaces instead of uids.

The corpus is graded by a service that runs under an account made for it: an attack of each group, a program of each
verdict and every eighth unusual program by `make test`, all of them by `make test-all`. It must come to the same
verdicts as root's, pay no attack, and say what is weaker. Where it cannot work it must say so and end.

Needs root (to become somebody else), a SUID firejail and, for the service's dependencies, that the system's python is
of the same version as ours. Not shown here: a machine that refuses user namespaces; see tests/container.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from sandbox_service.languages import toolchains
from sandbox_service.languages.rows import LANGUAGES, Language
from tests import corpus
from tests.conftest import ISOLATION, Service
from tests.markers import needs, selected
from tests.ports import free_port

USER = f"proctor-{os.getpid()}"  # an account of this run, since firejail wants to know who starts it; removed again
PYTHON = Path("/usr/bin/python3")
FIREJAIL = Path("/usr/bin/firejail")
REPOSITORY = Path(__file__).resolve().parent.parent.parent
Thing = TypeVar("Thing", corpus.VerdictCase, corpus.Program, corpus.Attack)

LOOK = """
import json, os
with open("/proc/self/status") as file:
    status = dict(line.rstrip("\\n").split(":\\t", 1) for line in file if ":\\t" in line)
print(json.dumps({
    "uids": os.getresuid(), "gids": os.getresgid(),
    "capabilities": [status[name] for name in ("CapEff", "CapPrm", "CapInh")],
    "processes": [name for name in os.listdir("/proc") if name.isdigit()], "tmp": os.listdir("/tmp"),
    "mounts": sorted(line.split()[4] for line in open("/proc/self/mountinfo")),
}))
"""


@needs("jail")
def need_what_it_needs() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to start a service as a normal user")
    if not FIREJAIL.exists() or not FIREJAIL.stat().st_mode & stat.S_ISUID:
        pytest.skip(f"{FIREJAIL} is not there or not SUID: apt-get install firejail")
    asked = [str(PYTHON), "-c", "import sys; print(*sys.version_info[:2])"]
    if subprocess.run(asked, capture_output=True, check=False).stdout.split() != [
        b"%d" % n for n in sys.version_info[:2]
    ]:
        pytest.skip(f"{PYTHON} is not of our own version, so it cannot use our packages")


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """The service and what it needs, where everybody can read it: the checkout may be in somebody's home."""
    need_what_it_needs()
    with tempfile.TemporaryDirectory(prefix="proctor-", dir="/var/tmp") as name:
        folder = Path(name)
        for distribution in needed("proctor", {}).values():
            copy(distribution, folder)
        # redis wants it before 3.11.3, which this interpreter may be though ours is not; there it is the same
        (folder / "async_timeout.py").write_text("from asyncio import timeout as timeout\n")
        shutil.copytree(REPOSITORY / "sandbox_service", folder / "sandbox_service", dirs_exist_ok=True)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def user() -> Iterator[int]:
    """The uid of a new account without a home."""
    need_what_it_needs()
    subprocess.run(["userdel", USER], capture_output=True, check=False)
    made = subprocess.run(["useradd", "--no-create-home", "--shell", "/bin/sh", USER], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no account can be made: {made.stderr.decode()}")
    yield pwd.getpwnam(USER).pw_uid
    subprocess.run(["userdel", USER], capture_output=True, check=True)


def needed(name: str, found: dict[str, importlib.metadata.Distribution]) -> dict[str, importlib.metadata.Distribution]:
    """A distribution and all that it requires and that is installed; of ours, what the service requires."""
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return found
    found[name] = distribution
    for requirement in distribution.requires or []:
        required = re.split(r"[\s;<>=!~\[(]", requirement, maxsplit=1)[0].lower()
        is_extra = "extra ==" in requirement and 'extra == "service"' not in requirement
        if not is_extra and required not in found:
            needed(required, found)
    return found


def copy(distribution: importlib.metadata.Distribution, folder: Path) -> None:
    """Its files, less programs and whatever lies elsewhere."""
    for file in distribution.files or []:
        if ".." not in file.parts and file.suffix not in (".pyc", ".pth"):
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)


def start(
    installed: Path, user: int, port: int, log: int, prefix: tuple[str, ...] = (), **settings: str
) -> subprocess.Popen[bytes]:
    """`proctor serve` as the user, with an environment of its own."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(installed), "SANDBOX_SLOTS": "2"}
    environment |= {"SANDBOX_ISOLATION": ISOLATION, **settings}
    command = [*prefix, str(PYTHON), "-m", "sandbox_service.cli", "serve", "--port", str(port)]
    return subprocess.Popen(
        command, env=environment, cwd="/", stderr=log, user=user, group=user, extra_groups=[], start_new_session=True
    )


@pytest.fixture(scope="module")
def log() -> Iterator[int]:
    fd = os.memfd_create("log")
    yield fd
    os.close(fd)


@pytest.fixture(scope="module")
def unprivileged(installed: Path, user: int, log: int) -> Iterator[Service]:
    port = free_port()
    process = start(installed, user, port, log)
    service = Service(process, port)
    try:
        service.wait_ready()
        family = service.family()
        yield service
        process.terminate()
        process.wait(60)
        _, alive = psutil.wait_procs(family, timeout=10)
        assert alive == [], "firejails or zygotes outlived the service"
    finally:
        process.kill()
        print(os.pread(log, 1 << 16, 0).decode())  # pytest shows it if something failed


def test_it_says_what_is_weaker(unprivileged: Service, log: int) -> None:
    status, answer = unprivileged.client.get("/readyz")
    assert status == 200
    assert any("own uid" in note for note in answer["notes"])
    assert any("user namespaces" in note for note in answer["notes"])
    assert os.pread(log, 1 << 16, 0).count(b'"isolation_is_weaker"') == len(answer["notes"])


def test_a_box_is_as_bare_as_roots(unprivileged: Service, user: int) -> None:
    test = {"type": "stdin", "output": ""}
    grade = unprivileged.grade(code=LOOK, tests=[test])
    assert grade["tests"][0]["stdout"], grade["tests"][0]["stderr"]
    seen = json.loads(grade["tests"][0]["stdout"])
    assert seen["uids"] == seen["gids"] == [user] * 3
    assert set(seen["capabilities"]) == {"0" * 16}
    assert seen["processes"] == ["1"]
    assert seen["tmp"] == ["solution.py"]
    places = [place for place in seen["mounts"] if not place.startswith(("/usr", "/dev/", "/proc/"))]
    assert set(places) == {"/", "/tmp", "/etc/alternatives"}


def chosen(things: Iterable[Thing], group_of: Callable[[Thing], object]) -> list[Any]:
    """All of them as parameters, marked `full` but for the first of each group."""
    groups: set[object] = set()
    found = []
    for thing in things:
        is_first = (group := group_of(thing)) not in groups
        groups.add(group)
        found.append(pytest.param(thing, marks=() if is_first else pytest.mark.full, id=thing.id))
    return found


PROGRAM_PLACES = itertools.count()
KIND = dict(zip(corpus.VERDICTS, itertools.cycle(corpus.KINDS), strict=False))  # of the test that comes first
BY_TURNS = sorted(corpus.verdicts(), key=lambda case: case.kind != KIND[case.verdict])
VERDICTS = chosen(BY_TURNS, lambda case: case.verdict)
PROGRAMS = chosen(corpus.programs(), lambda _: next(PROGRAM_PLACES) // 8)
ATTACKS = chosen(corpus.attacks(), lambda attack: attack.group)


@pytest.fixture(scope="module")
def grades(unprivileged: Service, request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """Of all that is asked for by the tests that were selected, in one batch."""
    things = [thing for name in ("case", "program", "attack") for thing in selected(request, name)]
    return unprivileged.client.batch({"id": thing.id, **thing.body()} for thing in things)


@pytest.mark.parametrize("case", VERDICTS)
def test_verdicts(grades: dict[str, dict[str, Any]], case: corpus.VerdictCase) -> None:
    assert grades[case.id]["verdict"] == case.verdict, grades[case.id]


@pytest.mark.parametrize("program", PROGRAMS)
def test_unusual_but_right_programs(grades: dict[str, dict[str, Any]], program: corpus.Program) -> None:
    assert grades[program.id]["verdict"] == "AC", grades[program.id]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_pays(grades: dict[str, dict[str, Any]], attack: corpus.Attack) -> None:
    grade = grades[attack.id]
    assert grade["verdict"] in attack.expect, grade
    assert not any(corpus.ESCAPED in test["stdout"] for test in grade["tests"]), grade


@pytest.mark.parametrize(
    "language",
    [
        pytest.param(each, marks=() if each.name == "java" else pytest.mark.full, id=each.name)
        for each in LANGUAGES
        if each.toolchain and each.toolchain.compile
    ],
)
def test_compilers_find_their_own_files(unprivileged: Service, language: Language) -> None:
    if not toolchains.is_present(language):
        pytest.skip(f"{language.name} is not installed")
    assert language.toolchain
    test = {"type": "stdin", "output": "hello"}
    body = {"code": language.toolchain.hello, "language": language.name, "tests": [test]}
    if language.toolchain.needs_root:
        status, answer = unprivileged.client.post("/v1/grade", body)
        assert status == 422
        assert "start proctor as root" in answer["error"]["message"]
    else:
        assert unprivileged.grade(**body)["verdict"] == "AC"


ADDS = '#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); }\n'
COMPARES = """#include <stdio.h>
int main(int count, char **names) {
    FILE *answer = fopen(names[PLACE], "r"), *output = OUTPUT;
    int wanted, found;
    int same = fscanf(answer, "%d", &wanted) == 1 && fscanf(output, "%d", &found) == 1 && wanted == found;
    return same ? RIGHT : WRONG;
}
"""
PROTOCOLS = {
    "testlib": {"PLACE": "3", "OUTPUT": 'fopen(names[2], "r")', "RIGHT": "0", "WRONG": "1"},
    "kattis": {"PLACE": "2", "OUTPUT": "stdin", "RIGHT": "42", "WRONG": "43"},
}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_native_checker_follows_its_program(unprivileged: Service, protocol: str) -> None:
    source = COMPARES
    for name, value in PROTOCOLS[protocol].items():
        source = source.replace(name, value)
    checker = {"type": "program", "language": "c", "protocol": protocol, "source": source}
    tests = [{"type": "stdin", "input": f"{n} 1\n", "output": f"{m}\n"} for n, m in ((1, 2), (99, 100), (1, 3), (1, 2))]
    grade = unprivileged.grade(code=ADDS, language="c", tests=tests, checker=checker, stop_on_failure=False)
    assert [test["verdict"] for test in grade["tests"]] == ["AC", "AC", "WA", "AC"], grade


def test_nothing_outlives_a_killed_service(installed: Path, user: int) -> None:
    port = free_port()
    process = start(installed, user, port, subprocess.DEVNULL)
    service = Service(process, port)
    service.wait_ready()
    family = service.family()
    for it in family[:2]:  # the service, and one of its slots: nobody is left to tidy up
        it.kill()
    process.wait()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []


of_firejail = pytest.mark.skipif(ISOLATION != "firejail", reason=f"{ISOLATION} needs no SUID bit")


@of_firejail
def test_it_ends_where_suid_has_no_effect(installed: Path, user: int) -> None:
    said = refusal(installed, user, prefix=("setpriv", "--no-new-privs", "--"))
    assert "may not gain privileges" in said


@of_firejail
def test_it_ends_without_a_suid_firejail(installed: Path, user: int) -> None:
    plain = installed / "firejail"
    shutil.copyfile(FIREJAIL, plain)
    plain.chmod(0o755)
    assert "not SUID root" in refusal(installed, user, SANDBOX_ISOLATION_PROGRAM=str(plain))


def refusal(installed: Path, user: int, prefix: tuple[str, ...] = (), **settings: str) -> str:
    """What a service says that must not start."""
    fd = os.memfd_create("log")
    try:
        process = start(installed, user, free_port(), fd, prefix, **settings)
        assert process.wait(30) != 0
        return os.pread(fd, 1 << 16, 0).decode()
    finally:
        os.close(fd)
