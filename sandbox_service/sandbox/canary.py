"""The canary: runs a program in a sandbox that tries operations which must be blocked, and compares the results.

It runs before a sandbox's first submission and regularly after, in a box that has a /tmp and a /proc of its own and in
one that has not. `jail.verify` looks at the zygote; the canary looks at a box. The exception names every difference
from what a box should see.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from sandbox_service.errors import BoxSetupError, JailUnsafeError
from sandbox_service.sandbox.base import Sandbox
from sandbox_service.sandbox.host import filters
from sandbox_service.schema import Limits

LIMITS = Limits(cpu_seconds=2, wall_seconds=10, memory_bytes=256 << 20, output_bytes=1 << 16)
ENDLESS = Limits(cpu_seconds=1, wall_seconds=0.2, memory_bytes=256 << 20, output_bytes=1 << 16)

EXPECTED: dict[str, object] = {
    "pid": 1,
    "read_witness": "ENOENT",
    "write_root": "EROFS",
    "write_usr": "EROFS",
    "socket": "EPERM",
    "shared_memory": "EPERM",
    "semaphores": "EPERM",
    "messages": "EPERM",
    "mount": "EPERM",
    "new_user_namespace": "EPERM",
    "ptrace": "EPERM",
    "fork": "EPERM",
    "execute": "EPERM",
}
WITH_MOUNTS: dict[str, object] = {
    "processes": ["1"],
    "interfaces": ["lo"],
    "CapEff": "0" * 16,
    "CapPrm": "0" * 16,
    "NoNewPrivs": "1",
    "Seccomp": "2",
    "write_tmp": "done",
}
WITHOUT_MOUNTS: dict[str, object] = {"processes": [], "interfaces": [], "write_tmp": "EROFS"}
ROOT = {"bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "tmp", "usr"}
FILTERS = 2  # the isolation tool's and the boxes', besides those that a container has brought


def check(jail: Sandbox, uid: int) -> None:
    """Run the canary in this sandbox.

    Args:
        jail: a sandbox that is ready.
        uid: the uid that its boxes must have.

    Raises:
        JailUnsafeError: names all that was not blocked.
        JailDiedError: the sandbox ended.
    """
    expected = EXPECTED | {"uid": uid}
    if jail.zygote.may_fork:
        expected |= {"fork": "done", "execute": "ENOENT"}
    expected |= jail.zygote.probes.expected
    with tempfile.NamedTemporaryFile(prefix="proctor-canary-", dir="/var/tmp") as witness:
        Path(witness.name).chmod(0o644)
        wrong = _wrong(_run(jail, witness.name, mounts=True), expected | WITH_MOUNTS)
        if jail.place.privileged:
            wrong += _wrong(_run(jail, witness.name, mounts=False), expected | WITHOUT_MOUNTS)
    if wrong:
        raise JailUnsafeError("the sandbox did not block the canary: " + "; ".join(wrong))


def _wrong(seen: dict[str, object], expected: dict[str, object]) -> list[str]:
    """Return the differences between what a box saw and what it should see."""
    differing = [name for name, value in expected.items() if seen.get(name) != value]
    wrong = [f"{name} is {seen.get(name)!r}, not {expected[name]!r}" for name in differing]
    root = seen.get("root")
    if not isinstance(root, list) or set(root) - ROOT:
        wrong.append(f"the root shows {root}")
    least = FILTERS + (filters() or 0)
    if int(str(seen.get("Seccomp_filters") or least)) < least:
        wrong.append("a system call filter is missing, the isolation tool's or the boxes' own")
    return wrong


def check_deadline(jail: Sandbox) -> None:
    """Check that a sleeping program is killed at its wall-clock limit. Raises JailUnsafeError."""
    with jail.zygote.probes.sleeper() as program:
        try:
            killed = jail.run_stdin(program, b"", ENDLESS).timed_out
        except BoxSetupError as fault:
            raise JailUnsafeError(
                f"the sandbox did not block the canary: a sleeping program could not be killed: {fault}"
            ) from None
    if not killed:
        raise JailUnsafeError("the sandbox did not block the canary: a sleeping program was not killed")


def _run(jail: Sandbox, witness: str, *, mounts: bool) -> dict[str, object]:
    limits = LIMITS.model_copy(update={"processes": 2 if jail.zygote.may_fork else 1})
    with jail.zygote.probes.canary(mounts=mounts) as program:
        outcome = jail.run_stdin(program, os.fsencode(witness) + b"\n", limits)
    try:
        seen = json.loads(outcome.stdout)
    except ValueError:
        raise JailUnsafeError(f"the canary did not run: {outcome.stderr[-500:]!r}") from None
    assert isinstance(seen, dict)
    return seen
