"""The system call filter, from within a box: what is not on the allow list is refused, number by number.

The dangerous calls are written out here with their x86-64 numbers, so that neither a wrong name in the list nor a
resolver that errs can open one of them. For all others libseccomp says which name a number has.
"""

from __future__ import annotations

import ctypes
import errno
import json
import platform
from typing import Any

import pytest

from sandbox_service.sandbox import seccomp
from tests.conftest import Service

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64")

NUMBERS = range(471)  # up to the newest call there was when this was written, and a few beyond
X32 = 0x40000000
SIGCHLD = 17
NEWUSER, NEWNS, NEWPID, NEWNET = 0x10000000, 0x00020000, 0x20000000, 0x40000000

DANGEROUS = {
    "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "fork": 57, "vfork": 58, "execve": 59,
    "ptrace": 101, "syslog": 103, "personality": 135, "ustat": 136, "sysfs": 139, "setpriority": 141,
    "sched_setparam": 142, "sched_setscheduler": 144, "vhangup": 153, "modify_ldt": 154, "pivot_root": 155,
    "_sysctl": 156, "adjtimex": 159, "chroot": 161, "sync": 162, "acct": 163, "settimeofday": 164, "swapon": 167,
    "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
    "create_module": 174, "init_module": 175, "delete_module": 176, "quotactl": 179, "setxattr": 188,
    "sched_setaffinity": 203, "io_setup": 206, "io_submit": 209, "lookup_dcookie": 212, "remap_file_pages": 216,
    "clock_settime": 227, "mbind": 237, "set_mempolicy": 238, "mq_open": 240, "kexec_load": 246, "add_key": 248,
    "request_key": 249, "keyctl": 250, "inotify_init": 253, "migrate_pages": 256, "mknod": 133, "mknodat": 259,
    "unshare": 272, "splice": 275, "tee": 276, "vmsplice": 278, "move_pages": 279, "accept4": 288,
    "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303, "open_by_handle_at": 304,
    "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
    "finit_module": 313, "sched_setattr": 314, "seccomp": 317, "memfd_create": 319, "kexec_file_load": 320, "bpf": 321,
    "execveat": 322, "userfaultfd": 323, "pkey_mprotect": 329, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442,
    "landlock_create_ruleset": 444, "memfd_secret": 447, "process_mrelease": 448, "shmget": 29, "shmat": 30,
    "semget": 64, "msgget": 68, "setuid": 105, "setgid": 106, "setreuid": 113, "setregid": 114, "setfsuid": 122,
    "setsockopt": 54, "sendmsg": 46, "sendmmsg": 307,
    "setfsgid": 123, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260, "mlockall": 151, "nfsservctl": 180,
}  # fmt: skip
# allowed with some arguments only
CONDITIONAL = {"ioctl", "socketpair", "clone", "fcntl", "prctl", "kill", "tkill", "tgkill", "close_range"}
# Linux 6.11 and later pass these by every filter; outside the kernel's own probes they do nothing but fail or kill
URETPROBE, UPROBE = 335, 336

SWEEP = """
import ctypes, json
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
passed = {}
for number in json.loads(input()):
    ctypes.set_errno(0)
    result = call(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
    if result != -1 or ctypes.get_errno() not in (1, 38):
        passed[number] = [result, ctypes.get_errno()]
print(json.dumps(passed))
"""
ONE = """
import ctypes, json
call = ctypes.CDLL(None, use_errno=True).syscall
result = call(*map(ctypes.c_long, json.loads(input())))
print(result, ctypes.get_errno())
"""


def run(service: Service, code: str, given: object) -> dict[str, Any]:
    """The only test of a grade whose verdict is of no interest."""
    test = {"type": "stdin", "input": json.dumps(given), "output": "?"}
    found: dict[str, Any] = service.grade(code=code, tests=[test])["tests"][0]
    return found


def name_of(number: int) -> str:
    """What libseccomp calls the number; empty if it has no name for it."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
    found = library.seccomp_syscall_resolve_num_arch(0, number)
    return ctypes.string_at(found).decode() if found else ""


def denied() -> list[int]:
    """Every number whose call no program needs."""
    open_to_all = set(seccomp.ALLOWED) | CONDITIONAL
    refused = {n for n in NUMBERS if name_of(n) not in open_to_all} - {URETPROBE, UPROBE}
    return sorted(refused | set(DANGEROUS.values()))


def test_the_resolver_knows_the_dangerous_calls_by_the_same_numbers() -> None:
    unknown_here = {name for name, number in DANGEROUS.items() if not name_of(number)}
    assert {name: name_of(number) for name, number in DANGEROUS.items() if name not in unknown_here} == {
        name: name for name in DANGEROUS if name not in unknown_here
    }
    assert len(unknown_here) < 5


def test_no_dangerous_call_is_on_the_allow_list() -> None:
    assert set(DANGEROUS) & set(seccomp.ALLOWED) == set()


def test_every_call_that_is_not_allowed_is_refused(service: Service) -> None:
    numbers = denied()
    assert len(numbers) > 200
    result = run(service, SWEEP, numbers)
    assert result["verdict"] == "WA", result  # it came to its end
    passed = {name_of(int(number)) or number: what for number, what in json.loads(result["stdout"]).items()}
    assert passed == {}


def test_the_sweep_would_notice_a_call_that_passes(service: Service) -> None:
    getpid = 39
    assert json.loads(run(service, SWEEP, [getpid])["stdout"]) == {str(getpid): [1, 0]}


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ([56, SIGCHLD, 0, 0, 0, 0], errno.EPERM),  # clone, as fork does
        ([56, NEWUSER | SIGCHLD, 0, 0, 0, 0], errno.EPERM),
        ([56, NEWUSER | NEWPID | SIGCHLD, 0, 0, 0, 0], errno.EPERM),
        ([56, NEWNS | SIGCHLD, 0, 0, 0, 0], errno.EPERM),
        ([56, NEWNET | SIGCHLD, 0, 0, 0, 0], errno.EPERM),
        # passes the filter for the zygote's sake, and needs a capability
        ([56, NEWPID | SIGCHLD, 0, 0, 0, 0], errno.EPERM),
        ([435, 0, 88], errno.ENOSYS),  # clone3: its flags lie in memory, which a filter cannot see
        ([272, NEWUSER], errno.EPERM),
        ([56, 0x10900, 0, 0, 0, 0], errno.EPERM),  # a thread with a table of descriptors of its own
        ([436, 3, 4, 2], errno.EPERM),  # close_range(CLOSE_RANGE_UNSHARE): the same
        ([53, 2, 1, 0, 0], errno.EPERM),  # socketpair(AF_INET)
        ([16, 0, 0x5412, 0], errno.EPERM),  # ioctl(TIOCSTI): type into a terminal
        ([16, 0, 0x5412 | 1 << 40, 0], errno.EPERM),
        ([16, 0, 0x541C, 0], errno.EPERM),  # ioctl(TIOCLINUX)
        ([72, 0, 8, 1], errno.EPERM),  # fcntl(F_SETOWN)
        ([72, 0, 10, 9], errno.EPERM),  # fcntl(F_SETSIG)
        ([72, 0, 1024, 0], errno.EPERM),  # fcntl(F_SETLEASE)
        ([72, 0, 1026, 1], errno.EPERM),  # fcntl(F_NOTIFY)
        ([72, 0, 1031, 1 << 20], errno.EPERM),  # fcntl(F_SETPIPE_SZ)
        ([157, 22, 1, 0, 0, 0], errno.EPERM),  # prctl(PR_SET_SECCOMP): strict mode ends in SIGKILL
        ([157, 35, 1, 0, 0, 0], errno.EPERM),  # prctl(PR_SET_MM)
        ([157, 59, 1, 0, 0, 0], errno.EPERM),  # prctl(PR_SET_SYSCALL_USER_DISPATCH)
        ([157, 62, 1, 0, 0, 0], errno.EPERM),  # prctl(PR_SCHED_CORE)
    ],
)
def test_what_depends_on_arguments_is_refused_with_the_wrong_ones(
    service: Service, arguments: list[int], refusal: int
) -> None:
    assert run(service, ONE, arguments)["stdout"] == f"-1 {refusal}\n"


@pytest.mark.parametrize("number", [URETPROBE, UPROBE])
def test_what_the_kernel_passes_by_every_filter_does_nothing(service: Service, number: int) -> None:
    result = run(service, ONE, [number, 0, 0, 0])
    assert result["stdout"].startswith("-1 ") or "SIGILL" in result["message"], result


@pytest.mark.parametrize("number", [0, 39, 56, 101, 512, 520, 545])
def test_the_other_numbering_of_the_same_calls_kills(service: Service, number: int) -> None:
    result = run(service, ONE, [X32 | number, 0, 0, 0])
    assert result["verdict"] == "RTE", result
    assert "SIGSYS" in result["message"]
    assert result["stdout"] == ""
