"""The system call filter of the boxes, made by libseccomp: what is not named here is refused with EPERM.

An allow list, because a list of forbidden calls is out of date with the next kernel. It is no dearer: the kernel
remembers which calls are always allowed and does not run the filter for them. One filter is installed on the
zygote and inherited, so `mount`, `umount2`, `capset`, `setres*id` and `clone(CLONE_NEWPID)` must pass; the kernel
refuses those to a box, which has no capability. No user namespace can be made by anyone, so none can be regained.
"""

from __future__ import annotations

import ctypes
import os

from sandbox_service.errors import ConfigurationError

ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 open openat openat2 creat close close_range
lseek stat fstat lstat newfstatat statx fstatfs statfs access faccessat faccessat2 readlink readlinkat getcwd chdir
fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat chmod fchmod
fchmodat umask truncate ftruncate fallocate fsync fdatasync getdents getdents64 utime utimes utimensat futimesat flock
fcntl dup dup2 dup3 pipe pipe2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
epoll_pwait2 eventfd eventfd2 timerfd_create timerfd_settime timerfd_gettime signalfd signalfd4 sendfile
copy_file_range getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
mmap munmap mremap mprotect madvise brk msync mincore mlock munlock get_mempolicy membarrier
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack kill
tkill tgkill pause alarm setitimer getitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times restart_syscall
getpid gettid getppid getuid geteuid getgid getegid getgroups getresuid getresgid getpgrp getpgid getsid setsid setpgid
getrusage getrlimit setrlimit prlimit64 sysinfo uname getcpu sched_yield sched_getaffinity sched_getparam
sched_getscheduler sched_get_priority_max sched_get_priority_min getpriority getrandom arch_prctl prctl capget
set_tid_address set_robust_list get_robust_list rseq futex futex_waitv exit exit_group wait4 waitid pidfd_send_signal
sendmsg recvmsg sendto recvfrom shutdown getsockopt setsockopt getsockname getpeername
mount umount2 capset setgroups setresgid setresuid
""".split()
PROCESSES = "fork vfork execve execveat pidfd_open".split()

AF_UNIX = 1
# what python asks of descriptors: is it a terminal, how wide, close on exec, (non-)blocking, how much is there
TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX = 0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451
IOCTLS = (TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX)
EPERM, ENOSYS = 1, 38
THREAD, NEWNS, NEWCGROUP, NEWUTS = 0x00010000, 0x00020000, 0x02000000, 0x04000000
NEWIPC, NEWUSER, NEWPID, NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
ANY_NEW = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET

ACT_KILL_PROCESS, ACT_ERRNO, ACT_ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
ATTR_BAD_ARCH, ATTR_OPTIMIZE, BINARY_TREE = 2, 8, 2
CMP_EQ, CMP_MASKED_EQ = 4, 7


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def build_filter(*, processes: bool) -> bytes:
    """The filter as classic BPF for this machine. `processes`: may boxes fork and execute?

    Raises ConfigurationError where libseccomp is missing or refuses.
    """
    library = _library()
    context = library.seccomp_init(ACT_ERRNO | EPERM)
    try:
        _check(library.seccomp_attr_set(context, ATTR_BAD_ARCH, ACT_KILL_PROCESS), "bad-arch action")
        # older libraries build a linear program: the same verdicts, somewhat slower
        library.seccomp_attr_set(context, ATTR_OPTIMIZE, BINARY_TREE)
        for name in ALLOWED + (PROCESSES if processes else []):
            _add(library, context, ACT_ALLOW, name)
        _add(library, context, ACT_ALLOW, "socketpair", _Comparison(0, CMP_EQ, AF_UNIX, 0))  # asyncio's own wake-up
        for request in IOCTLS:
            _add(library, context, ACT_ALLOW, "ioctl", _Comparison(1, CMP_MASKED_EQ, 0xFFFFFFFF, request))
        _add(library, context, ACT_ERRNO | ENOSYS, "clone3")  # glibc then falls back to clone, whose flags we can see
        _allow_clone(library, context, THREAD | NEWUSER, THREAD)
        _allow_clone(library, context, NEWPID | NEWUSER, NEWPID)
        if processes:
            _allow_clone(library, context, ANY_NEW, 0)
        return _export(library, context)
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
