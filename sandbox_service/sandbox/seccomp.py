"""Compiles system call filters with libseccomp: the boxes' own, and an outer one for tools that bring none.

The boxes' filter is an allow list: a list of forbidden calls is out of date with the next kernel. It costs no more,
since the kernel remembers which calls are always allowed and does not run the filter for them. It is installed on the
zygote and inherited, so `mount`, `umount2`, `capset`, `setres*id` and `clone(CLONE_NEWPID)` must pass; the kernel
refuses those to a box, which has no capability. No process under the filter can make a user namespace, so no
capability can be regained.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sandbox_service.errors import ConfigurationError

ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 open openat openat2 creat close lseek
stat fstat lstat newfstatat statx fstatfs statfs access faccessat faccessat2 readlink readlinkat getcwd chdir fchdir
mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat chmod fchmod
fchmodat umask truncate ftruncate fallocate fsync fdatasync getdents getdents64 utime utimes utimensat futimesat flock
dup dup2 dup3 pipe pipe2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
epoll_pwait2 eventfd eventfd2 timerfd_create timerfd_settime timerfd_gettime signalfd signalfd4 sendfile
copy_file_range getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
mmap munmap mremap mprotect madvise brk msync mincore mlock munlock get_mempolicy membarrier
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack
pause alarm setitimer getitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times restart_syscall
getpid gettid getppid getuid geteuid getgid getegid getgroups getresuid getresgid getpgrp getpgid getsid setsid setpgid
getrusage getrlimit setrlimit prlimit64 sysinfo uname getcpu sched_yield sched_getaffinity sched_getparam
sched_getscheduler sched_get_priority_max sched_get_priority_min getpriority getrandom arch_prctl capget
set_tid_address set_robust_list get_robust_list rseq futex futex_waitv exit exit_group wait4 waitid pidfd_send_signal
recvmsg sendto recvfrom shutdown getsockopt getsockname getpeername
mount umount2 capset setgroups setresgid setresuid
""".split()
# sendmsg: descriptors in flight are kernel memory that no limit of a box counts; multiprocessing passes some
PROCESSES = "fork vfork execve execveat pidfd_open sendmsg".split()

# What the outer filter of a tool without one of its own refuses: the groups of firejail's filter (worker.profile).
# It is the second wall, so it forbids calls that no zygote needs, instead of allowing those of a box.
REFUSED_OUTSIDE = """
adjtimex clock_adjtime clock_settime settimeofday stime modify_ldt subpage_prot switch_endian vm86 vm86old
lookup_dcookie perf_event_open pidfd_getfd process_vm_writev rtas s390_runtime_instr sys_debug_setcontext
delete_module finit_module init_module _sysctl afs_syscall bdflush break create_module ftime get_kernel_syms getpmsg
gtty idle lock mpx prof profil putpmsg query_module security sgetmask ssetmask stty sysfs tuxcall ulimit uselib ustat
vserver ioperm iopl pciconfig_iobase pciconfig_read pciconfig_write s390_pci_mmio_read s390_pci_mmio_write
kexec_file_load kexec_load reboot swapon swapoff
socket keyctl add_key request_key bpf userfaultfd io_uring_setup
""".split()

AF_UNIX = 1
# requests of Python about descriptors: is it a terminal, how wide, close on exec, (non-)blocking, how much is there
TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX = 0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451
# of a descriptor: copies, flags, locks, seals. Not F_SETPIPE_SZ (kernel memory that no limit counts), nor what sends
# signals or holds up others: F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY
DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW, DUPFD_CLOEXEC = 0, 1, 2, 3, 4, 5, 6, 7, 1030
OFD_GETLK, OFD_SETLK, OFD_SETLKW, GETPIPE_SZ, ADD_SEALS, GET_SEALS = 36, 37, 38, 1032, 1033, 1034
FCNTLS = (
    DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW, DUPFD_CLOEXEC, OFD_GETLK, OFD_SETLK, OFD_SETLKW,
    GETPIPE_SZ, ADD_SEALS, GET_SEALS,
)  # fmt: skip
# settings of a process that affect it alone and end with it
PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_SET_NAME, PR_GET_NAME = 1, 2, 3, 4, 15, 16
PR_GET_SECCOMP, PR_CAPBSET_READ, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_GET_NO_NEW_PRIVS = 21, 23, 29, 30, 39
PR_GET_TID_ADDRESS, PR_SET_VMA = 40, 0x53564D41
PRCTLS = (
    PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP,
    PR_CAPBSET_READ, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_GET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS, PR_SET_VMA,
)  # fmt: skip
IOCTLS = (TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX)
EPERM, ENOSYS = 1, 38
CLOSE_RANGE_UNSHARE = 2
FILES, THREAD, NEWNS, NEWCGROUP, NEWUTS = 0x00000400, 0x00010000, 0x00020000, 0x02000000, 0x04000000
NEWIPC, NEWUSER, NEWPID, NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
ANY_NEW = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET

ACT_KILL_PROCESS, ACT_ERRNO, ACT_ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
ATTR_BAD_ARCH, ATTR_OPTIMIZE, BINARY_TREE = 2, 8, 2
CMP_NE, CMP_LE, CMP_EQ, CMP_GT, CMP_MASKED_EQ = 1, 3, 4, 6, 7

EXEC_FD, AT_EMPTY_PATH = 257, 0x1000  # the one exec of guest/launcher.c
# flags of mmap: all but shared anonymous memory and mappings that grow down, which RLIMIT_DATA does not count
MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE, MAP_ANONYMOUS, MAP_GROWSDOWN = 1, 2, 3, 0x20, 0x100
MAP_MASK = MAP_SHARED_VALIDATE | MAP_ANONYMOUS | MAP_GROWSDOWN
COUNTED_MAPS = (MAP_PRIVATE, MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED, MAP_SHARED_VALIDATE)


SIGKILL, FIRST_PROCESS = 9, 1
SENDS = {"kill": 1, "tkill": 1, "tgkill": 2}  # the calls that send a signal, and the place of its number


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def build_filter(*, processes: bool) -> bytes:
    """Return the filter of a Python zygote's boxes as classic BPF for this machine.

    Args:
        processes: boxes may fork and execute.

    Raises:
        ConfigurationError: libseccomp is missing or refuses.
    """
    with _context(ACT_ERRNO | EPERM) as (library, context):
        _allow_boxes(library, context, ALLOWED, processes=processes)
        return _export(library, context)


def build_launch_filter(*, processes: bool, calls: Iterable[str] = ()) -> bytes:
    """Return the filter of a launcher's boxes: they execute once, and map no memory that RLIMIT_DATA does not count.

    Args:
        processes: boxes may fork, and execute as often as they like.
        calls: names of further calls.

    Raises:
        ConfigurationError: libseccomp is missing or refuses.
    """
    with _context(ACT_ERRNO | EPERM) as (library, context):
        names = [name for name in (*ALLOWED, *calls) if name != "mmap"]
        _allow_boxes(library, context, names, processes=processes)
        for flags in COUNTED_MAPS:
            _add(library, context, ACT_ALLOW, "mmap", _Comparison(3, CMP_MASKED_EQ, MAP_MASK, flags))
        if not processes:
            program = _Comparison(0, CMP_EQ, EXEC_FD, 0)
            _add(library, context, ACT_ALLOW, "execveat", program, _Comparison(4, CMP_EQ, AT_EMPTY_PATH, 0))
        return _export(library, context)


def _allow_boxes(library: ctypes.CDLL, context: int, names: list[str], *, processes: bool) -> None:
    """Allow these calls, and the calls that all boxes may make under conditions."""
    for name in names + (PROCESSES if processes else []):
        _add(library, context, ACT_ALLOW, name)
    _add(library, context, ACT_ALLOW, "socketpair", _Comparison(0, CMP_EQ, AF_UNIX, 0))  # asyncio's own wake-up
    for request in IOCTLS:
        _add(library, context, ACT_ALLOW, "ioctl", _Comparison(1, CMP_MASKED_EQ, 0xFFFFFFFF, request))
    for command in FCNTLS:
        _add(library, context, ACT_ALLOW, "fcntl", _Comparison(1, CMP_MASKED_EQ, 0xFFFFFFFF, command))
    for option in PRCTLS:
        _add(library, context, ACT_ALLOW, "prctl", _Comparison(0, CMP_MASKED_EQ, 0xFFFFFFFF, option))
    for name, place in SENDS.items():
        _allow_sends(library, context, name, place)
    _add(library, context, ACT_ERRNO | ENOSYS, "clone3")  # glibc then falls back to clone, whose flags we can see
    # one table of descriptors for all threads: its size bounds the kernel memory in sockets and pipes
    _add(library, context, ACT_ALLOW, "close_range", _Comparison(2, CMP_MASKED_EQ, CLOSE_RANGE_UNSHARE, 0))
    _allow_clone(library, context, THREAD | FILES | NEWUSER, THREAD | FILES)
    _allow_clone(library, context, NEWPID | NEWUSER, NEWPID)
    if processes:
        _allow_clone(library, context, ANY_NEW, 0)


def _allow_sends(library: ctypes.CDLL, context: int, name: str, place: int) -> None:
    """Allow a call that sends a signal; SIGKILL to itself ends the first process of a PID namespace by the filter.

    The kernel would ignore it, and a program that fails in this way would go on.
    """
    kills = _Comparison(place, CMP_EQ, SIGKILL)
    _add(library, context, ACT_ALLOW, name, _Comparison(place, CMP_NE, SIGKILL))
    _add(library, context, ACT_ALLOW, name, _Comparison(0, CMP_GT, FIRST_PROCESS), kills)
    _add(library, context, ACT_KILL_PROCESS, name, _Comparison(0, CMP_LE, FIRST_PROCESS), kills)


def build_outer_filter() -> bytes:
    """Return the filter that a zygote is started under, as classic BPF: all is allowed but REFUSED_OUTSIDE.

    Raises:
        ConfigurationError: libseccomp is missing or refuses.
    """
    with _context(ACT_ALLOW) as (library, context):
        for name in REFUSED_OUTSIDE:
            _add(library, context, ACT_ERRNO | EPERM, name)
        return _export(library, context)


@contextmanager
def _context(default: int) -> Iterator[tuple[ctypes.CDLL, int]]:
    """Open a filter that does `default` with a call that no rule names."""
    library = _library()
    context = library.seccomp_init(default)
    try:
        _check(library.seccomp_attr_set(context, ATTR_BAD_ARCH, ACT_KILL_PROCESS), "bad-arch action")
        # older libraries build a linear program: the same verdicts, somewhat slower
        library.seccomp_attr_set(context, ATTR_OPTIMIZE, BINARY_TREE)
        yield library, context
    finally:
        library.seccomp_release(context)


def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise ConfigurationError("libseccomp is missing: apt-get install libseccomp2") from None
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Comparison),
    ]  # fmt: skip
    library.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.seccomp_release.argtypes = [ctypes.c_void_p]
    return library


def _allow_clone(library: ctypes.CDLL, context: int, mask: int, value: int) -> None:
    _add(library, context, ACT_ALLOW, "clone", _Comparison(0, CMP_MASKED_EQ, mask, value))


def _add(library: ctypes.CDLL, context: int, action: int, name: str, *conditions: _Comparison) -> None:
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        return  # not a call of this architecture
    array = (_Comparison * len(conditions))(*conditions)
    _check(library.seccomp_rule_add_array(context, action, number, len(conditions), array), name)


def _export(library: ctypes.CDLL, context: int) -> bytes:
    fd = os.memfd_create("filter", os.MFD_CLOEXEC)
    try:
        _check(library.seccomp_export_bpf(context, fd), "export")
        return os.pread(fd, os.fstat(fd).st_size, 0)
    finally:
        os.close(fd)


def _check(status: int, what: str) -> None:
    if status:
        raise ConfigurationError(f"libseccomp refused {what}: {os.strerror(-status)}")
