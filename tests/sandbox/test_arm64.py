"""The C parts on arm64: they compile without a warning, and those that need no namespaces run under an emulator.

Needs `apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user`, and skips without. The emulator has no
namespaces and no seccomp filters, so boxes themselves were not tried on arm64.
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

GUEST = Path(__file__).parents[2] / "sandbox_service" / "guest"
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
STRICT = ("-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-missing-field-initializers")
PROGRAMS = ("launcher", "builder", "probe")

pytestmark = pytest.mark.skipif(
    not (shutil.which(COMPILER) and shutil.which(EMULATOR)),
    reason="apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs, compiled for arm64."""
    folder = tmp_path_factory.mktemp("arm64")
    for name in PROGRAMS:
        made = str(folder / f"{name}.elf")
        subprocess.run([COMPILER, *STRICT, "-static", "-s", str(GUEST / f"{name}.c"), "-o", made], check=True)
    return folder


def test_what_is_linked_into_others_compiles(tmp_path: Path) -> None:
    headers = ("-DPy_LIMITED_API=0x030b0000", f"-I{sysconfig.get_path('include')}")
    for name, options in (("start", ()), ("_box", ("-fPIC", *headers))):
        subprocess.run(
            [COMPILER, *STRICT, *options, "-c", str(GUEST / f"{name}.c"), "-o", str(tmp_path / f"{name}.o")], check=True
        )


def test_the_control_program_runs(programs: Path) -> None:
    found = subprocess.run([EMULATOR, "-0", "control", str(programs / "probe.elf")], capture_output=True, check=True)
    assert found.stdout == b"42\n"


def test_the_builder_runs_commands_and_copies_what_they_made(programs: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    copied = tmp_path / "copied"
    script = f"exec {EMULATOR} {programs / 'builder.elf'} {made} /bin/sh -c 'echo built > {made}' 3> {copied}"
    assert subprocess.run(["/bin/sh", "-c", script], check=False).returncode == 0
    assert copied.read_bytes().endswith(b"built\n")
    failing = script.replace(f"echo built > {made}", "exit 7")
    assert subprocess.run(["/bin/sh", "-c", failing], check=False).returncode == 7
