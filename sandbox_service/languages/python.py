"""The Python runtime: a warm interpreter (guest/zygote.py) that is forked for every test.

There are five kinds of zygote. `std` has the usual modules of the standard library loaded. `numpy` has numpy as well,
which doubles the cost of a fork. `processes` lets boxes fork and execute. `mathematics` compares answers for the
checker `math`, and has the libraries for that loaded. `judge` runs checkers and interactors, so that these share no
jail with submissions.
"""

from __future__ import annotations

import compileall
import json
import os
import re
import sys
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path

from sandbox_service.languages import math_packages, python_files, shown_libraries
from sandbox_service.languages.base import Runs, Source
from sandbox_service.sandbox import files, seccomp
from sandbox_service.sandbox.base import Launch, Place, Probes
from sandbox_service.sandbox.file_uses import python_uses_files
from sandbox_service.sandbox.files import Program
from sandbox_service.schema import Limits

GUEST = Path(__file__).resolve().parent.parent / "guest"
KINDS = ("std", "numpy", "processes", "mathematics", "judge")

START_SECONDS = 30.0
START_WITH_LIBRARIES_SECONDS = 120.0  # four seconds of CPU time; the first time, they are compiled as well
TESTER_UIDS = 2000  # added to a slot's uid: that of its testers

_NUMPY = re.compile(r"\b(numpy|scipy|pandas|sklearn)\b")

# Modules that programs usually import come first; then the guest's own modules, whose bytecode lies beside them (see
# `_bytecode_tag`). An interpreter of another version keeps its own in the jail's private /tmp, and starts again: a
# zygote that had to compile would carry what compiling leaves in memory into every fork.
USUAL_MODULES = """
    array ast bisect cmath collections contextlib copy datetime decimal fractions functools heapq itertools json
    linecache math operator queue random re statistics string threading traceback typing
"""
BOOTSTRAP = f"""
import sys, {", ".join(USUAL_MODULES.split())}
sys.path.insert(0, "/proc/self/fd/%d")
if sys.implementation.cache_tag == %r:
    sys.dont_write_bytecode = True
else:
    sys.pycache_prefix = "/tmp/compiled"
import zygote
zygote.main()
"""
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",  # the order of a set decided some answers
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",  # else every thread reserves 64 MiB of the address space that is limited
    "LD_BIND_NOW": "1",
}


@dataclass(frozen=True)
class PythonZygote:
    """One kind of Python zygote; see `sandbox.base.Zygote`.

    Attributes:
        kind: one of KINDS.
        python: the interpreter's path, below /usr.
        libraries: names of the libraries that submissions may import.
    """

    kind: str
    python: str
    libraries: tuple[str, ...]

    @property
    def may_fork(self) -> bool:
        """True if boxes may have several processes."""
        return self.kind == "processes"

    @property
    def start_seconds(self) -> float:
        """The longest that it may take to be ready."""
        return START_WITH_LIBRARIES_SECONDS if self.kind == "mathematics" else START_SECONDS

    @property
    def probes(self) -> Probes:
        """Programs that show whether its boxes hold."""
        return _probes()

    def launch(self, place: Place, control: int) -> Launch:
        """Return the interpreter's command, with descriptors of the guest's files, the boxes' filter and libraries.

        Args:
            place: Where the sandbox runs.
            control: The zygote's end of the control socket.
        """
        folders = math_packages.opened() if self.kind == "mathematics" else []
        guest = os.open(GUEST, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        bpf = files.create(seccomp.build_filter(processes=self.may_fork))
        options = {
            "control": control,
            "guest": guest,
            "filter": bpf,
            "uid": place.uid if place.privileged else os.getuid(),
            "tester_uid": place.uid + TESTER_UIDS if place.privileged else os.getuid(),
            "own_namespace": not place.privileged,
            "cpu": place.cpu,
            "kind": self.kind,
            "libraries": folders,
            "shown": shown_libraries.paths(shown_libraries.found(self.python, self.libraries)),
            "shown_to_tests": shown_libraries.paths(shown_libraries.found(self.python, shown_libraries.FOR_TESTS)),
        }
        # -P -s -S: nothing but the standard library is on the path; not -I, which would ignore the fixed hash seed
        command = [self.python, "-P", "-s", "-S", "-c", BOOTSTRAP % (guest, _bytecode_tag()), json.dumps(options)]
        return Launch(command, [guest, bpf, *folders], ENVIRONMENT)


@cache
def _bytecode_tag() -> str:
    """Compile the guest's modules where they lie, unless somebody has.

    Returns:
        The tag in the names of the bytecode; empty if there is none, as where the folder cannot be written.
    """
    is_beside = sys.pycache_prefix is None and compileall.compile_dir(GUEST, maxlevels=0, quiet=2, optimize=0)
    return sys.implementation.cache_tag if is_beside else ""


@dataclass(frozen=True)
class PythonRuntime:
    """Runs Python sources; see `base.Runtime`.

    Attributes:
        python: the interpreter's path, below /usr.
        libraries: names of the libraries that submissions may import.
    """

    python: str
    libraries: tuple[str, ...] = ()

    @cached_property
    def zygotes(self) -> dict[str, PythonZygote]:
        """The kinds of zygote."""
        return {kind: PythonZygote(kind, self.python, self.libraries) for kind in KINDS}

    def kind_of(self, source: Source) -> str:
        """Return the kind of zygote for a source; numpy is loaded only for sources that mention it."""
        if source.limits.processes > 1:
            return "processes"
        return "numpy" if any(map(_NUMPY.search, (source.text, *source.files.values()))) else "std"

    def judge_kind_of(self, source: Source) -> str:  # noqa: ARG002
        """Return the kind of zygote for a judge."""
        return "judge"

    def limits_of(self, source: Source) -> Limits:
        """Return the limits as they were asked for."""
        return source.limits

    def described(self, source: Source) -> str:  # noqa: ARG002
        """Return nothing: the grader's own description names the interpreter."""
        return ""

    def prepare(self, source: Source, runs: Runs, *, once: bool) -> Program:  # noqa: ARG002
        """Return the source in one file. The first box compiles the source, unless only `once` one runs; the later ones
        load it.
        """
        text = python_files.joined(source.text, source.files)
        return Program(text, once=once, mounts=python_uses_files(text))


@cache
def _probes() -> Probes:
    return Probes(
        canary=partial(Program, (GUEST / "canary.py").read_text()),
        sleeper=partial(Program, "import time\ntime.sleep(60)"),
        control=partial(Program, "print(6 * 7)"),
    )
