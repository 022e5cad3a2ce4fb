"""One firejail and one interpreter for every test, as Code-R1 runs them and as lean as can be.

firejail runs a program unjailed, with no more than a warning that `--quiet` hides, when it believes itself to be in
another sandbox, for example in a container. `container=docker` in its environment prevents that, and `start` makes
sure: a contender that jails nothing would win unfairly.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from benchmarks import procs
from benchmarks.contenders.base import Turn, UnavailableError
from benchmarks.contenders.processes import INTERPRETER, ProcessPerTest
from benchmarks.programs import Program, asserted_together
from benchmarks.workloads import Body

CODE_R1_WORKERS = 8
PROFILES_VARIABLE = "BENCH_FIREJAIL_PROFILES"
PROBE = "import os; print(os.readlink('/proc/self/ns/pid'))"


class Firejail(ProcessPerTest):
    """A firejail with some flags around each interpreter."""

    def start(self) -> None:
        if shutil.which("firejail") is None:
            raise UnavailableError("firejail is not installed")
        probe = [*self.wrapper(None), INTERPRETER, "-c", PROBE]
        done = subprocess.run(
            probe, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise UnavailableError(f"firejail failed: {(done.stderr or done.stdout).strip()}")
        if done.stdout.strip() == procs.link(os.getpid(), "ns/pid"):
            raise UnavailableError("firejail ran the probe without jailing it")

    def environment(self) -> dict[str, str]:
        return super().environment() | {"container": "docker"}


class CodeR1(Firejail):
    """Code-R1's firejail command line, for every test.

    Reproduces: its flags, its 30 s `--timeout` (which makes firejail sleep in whole seconds: two of them for every run,
    costing time but hardly any CPU), `-c` for short programs and a whitelisted file for long ones, up to eight tests of
    a submission at once. Leaves out: pytest mode, its reading of the answer's format, and the fleet's process pool.
    For call tests the run per test is our doing, to show what one jail per call costs; what Code-R1 does with
    functional problems is `coder1_asserts`. The `pip` profile comes with firejail's package of profiles; where that is
    not installed, `BENCH_FIREJAIL_PROFILES` may name a folder with its files.
    """

    label: ClassVar[str] = "Code-R1: firejail per test"

    def start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bench-firejail-")
        self._profile = _pip_profile(Path(self._folder.name))
        super().start()
        self._pool = ThreadPoolExecutor(CODE_R1_WORKERS)

    def close(self) -> None:
        self._folder.cleanup()

    def wrapper(self, path: str | None) -> list[str]:
        whitelist = [f"--whitelist={path}"] if path else []
        return [
            *("firejail", "--private", "--quiet", "--seccomp=socket", *whitelist, f"--profile={self._profile}"),
            *("--rlimit-nproc=32", "--rlimit-nofile=32", "--rlimit-fsize=2m", "--rlimit-as=4096m"),
            "--timeout=00:00:30",
        ]

    def grade(self, job: list[Program]) -> bool:
        return all(self._pool.map(self.passes, job))

    def run(self, jobs: list[list[Program]], concurrency: int) -> Turn:
        """Submissions with a single test go side by side, since firejail sleeps most of the time."""
        if any(len(job) > 1 for job in jobs):
            return super().run(jobs, concurrency)
        start = time.perf_counter()
        timed = list(self._pool.map(lambda job: _timed(self, job[0]), jobs))
        return Turn([seconds for seconds, _ in timed], [passed for _, passed in timed], time.perf_counter() - start)


class CodeR1Asserts(CodeR1):
    """Code-R1's way with functional problems: all of a submission's calls as assertions in one program.

    One jail for a submission, not for a test, and so far cheaper; but the expected answers stand in the program's own
    memory, and exit code 0 is taken for a pass, so `sys.exit(0)` passes everything. Only call tests.
    """

    label: ClassVar[str] = "Code-R1: firejail per submission, answers inside"

    def takes(self, body: Body) -> bool:
        return all(test["type"] == "call" for test in body["tests"])

    def prepare(self, body: Body) -> list[Program]:
        return [asserted_together(body)]


class LeanFirejail(Firejail):
    """firejail for every test with the fewest flags that still deserve its name.

    Keeps: PID, mount and network namespaces, no capabilities, no new privileges, limits on memory, files and processes.
    Leaves out what makes Code-R1's line slow: the profile's hundreds of blacklisted paths, the private home, the
    seccomp list, and `--timeout`, whose work the parent does. The file system stays visible.
    """

    label: ClassVar[str] = "firejail per test, leanest flags"

    def wrapper(self, path: str | None) -> list[str]:  # noqa: ARG002
        return [
            *("firejail", "--quiet", "--noprofile", "--net=none", "--caps.drop=all", "--nonewprivs"),
            *("--rlimit-nproc=32", "--rlimit-fsize=16m", "--rlimit-as=4096m"),
        ]


def _pip_profile(folder: Path) -> str:
    """The name of the installed profile, or a copy in one piece of one that lies elsewhere."""
    if Path("/etc/firejail/pip.profile").exists():
        return "pip"
    source = os.environ.get(PROFILES_VARIABLE)
    if source is None:
        raise UnavailableError(
            f"firejail's profile `pip` (package firejail-profiles) is not here; see {PROFILES_VARIABLE}"
        )
    copy = folder / "pip.profile"
    copy.write_text(_inlined(Path(source) / "pip.profile"))
    return str(copy)


def _inlined(path: Path) -> str:
    """A profile with the other profiles that it includes written out; firejail finds the `.inc` files itself."""
    lines = []
    for line in path.read_text().splitlines():
        words = line.split()
        included = path.parent / words[1] if words[:1] == ["include"] else None
        lines.append(_inlined(included) if included and included.exists() else line)
    return "\n".join(lines)


def _timed(contender: ProcessPerTest, program: Program) -> tuple[float, bool]:
    start = time.perf_counter()
    passed = contender.passes(program)
    return time.perf_counter() - start, passed
