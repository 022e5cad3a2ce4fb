"""No jail, no service: proof that what must be blocked is blocked, by trying it.

`_verify` in firejail.py looks at the wall from inside; this throws a program at it. It is run before a jail's first
submission and regularly after. Any difference from what a box should see is named in the exception.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from sandbox_service.errors import JailUnsafe, SetupFailed
from sandbox_service.jails.files import Program
from sandbox_service.jails.firejail import GUEST, Jail
from sandbox_service.jails.ourselves import filters
from sandbox_service.schema import Limits

LIMITS = Limits(cpu_seconds=2, wall_seconds=10, memory_bytes=256 << 20, output_bytes=1 << 16)
ENDLESS = Limits(cpu_seconds=1, wall_seconds=0.2, memory_bytes=256 << 20, output_bytes=1 << 16)

EXPECTED: dict[str, object] = {
    "pid": 1,
    "processes": ["1"],
    "interfaces": ["lo"],
    "CapEff": "0" * 16,
    "CapPrm": "0" * 16,
    "NoNewPrivs": "1",
    "Seccomp": "2",
    "read_witness": "ENOENT",
    "write_root": "EROFS",
    "write_usr": "EROFS",
    "socket": "EPERM",
    "mount": "EPERM",
    "new_user_namespace": "EPERM",
    "ptrace": "EPERM",
    "fork": "EPERM",
    "execute": "EPERM",
}
ROOT = {"bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "tmp", "usr"}
FILTERS = 2  # firejail's and ours, besides those that a container has brought


def check(jail: Jail, uid: int) -> None:
    """Run the canary in this jail. Raises JailUnsafe naming all that was not held, or JailDied."""
    with tempfile.NamedTemporaryFile(prefix="proctor-canary-", dir="/var/tmp") as witness:
        Path(witness.name).chmod(0o644)
        seen = _run(jail, witness.name)
    expected = EXPECTED | {"uid": uid}
    if jail.kind == "processes":
        expected |= {"fork": "done", "execute": "ENOENT"}
    differing = [name for name, value in expected.items() if seen.get(name) != value]
    wrong = [f"{name} is {seen.get(name)!r}, not {expected[name]!r}" for name in differing]
    root = seen.get("root")
    if not isinstance(root, list) or set(root) - ROOT:
        wrong.append(f"the root shows {root}")
    least = FILTERS + (filters() or 0)
    if int(str(seen.get("Seccomp_filters") or least)) < least:
        wrong.append("a system call filter is missing, firejail's or our own")
    if wrong:
        raise JailUnsafe("the canary was not held: " + "; ".join(wrong))


def check_deadline(jail: Jail) -> None:
    """A sleeping program must be killed at its wall-clock limit. Raises JailUnsafe."""
    with Program("import time\ntime.sleep(60)") as program:
        try:
            killed = jail.run_stdin(program, b"", ENDLESS).timed_out
        except SetupFailed as fault:
            raise JailUnsafe(f"the canary was not held: a sleeping program could not be killed: {fault}") from None
    if not killed:
        raise JailUnsafe("the canary was not held: a sleeping program was not killed")


def _run(jail: Jail, witness: str) -> dict[str, object]:
    limits = LIMITS.model_copy(update={"processes": 2 if jail.kind == "processes" else 1})
    with Program((GUEST / "canary.py").read_text()) as program:
        outcome = jail.run_stdin(program, os.fsencode(witness) + b"\n", limits)
    try:
        seen = json.loads(outcome.stdout)
    except ValueError:
        raise JailUnsafe(f"the canary did not run: {outcome.stderr[-500:]!r}") from None
    assert isinstance(seen, dict)
    return seen
