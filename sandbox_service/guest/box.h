/* The walls of a box, and the wait for its end: shared by the Python zygote (_box.c) and the launcher (launcher.c).
 *
 * A zygote clones a process with a PID namespace of its own, and with a mount namespace unless it goes without (see
 * namespaces_of). The child calls enter_box, limit_box and become_nobody, in this order, and gives itself its descriptors
 * in between. Every function here is static: each of the
 * two programs has its own copy, and includes this header once.
 *
 * A failed step is a fault of the sandbox, never of the program: the child writes the step and errno to the report pipe
 * and exits with EXIT_SETUP. The pipe is closed before any code of the submission runs; a program that exits with the
 * same status therefore has no report, which tells the two apart.
 *
 * Covered: a session of its own; a private /tmp and a private and read-only /proc, or the empty read-only ones of the
 * zygote's root; resource limits, an unprivileged uid, no capabilities. Not covered here: the namespaces (the clone's flags), the system call filter, inherited from the zygote
 * (filter_calls), and the contents of the zygote's root.
 */
#ifndef BOX_H
#define BOX_H

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_SETUP 97
#define LOOKS_AFTER_KILL 4
#define MAX_BOXES 2     /* of a job */
#define MAX_JOB_FDS 253 /* of a job: the kernel sends no more at once */

static struct {
    int prepared;
    int proc;               /* the zygote's /proc, which shows all boxes */
    int change_user;        /* 0: the zygote is a normal user in a user namespace of its own, which has only one uid */
    /* by place in the job: the two boxes of a job share no resource that the kernel counts by user */
    uid_t uid[MAX_BOXES];
    int report[2];          /* set-up failures: [0] the zygote reads, [1] a child writes */
} box = {.report = {-1, -1}};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/*** Once, in the zygote ***/

static int limit(int resource, rlim_t value)
{
    struct rlimit both = {value, value};
    return setrlimit(resource, &both);
}

/* Core dumps, message queues and locked memory: no box has any. */
static int limit_zygote(void)
{
    static const int none[] = {RLIMIT_CORE, RLIMIT_MSGQUEUE, RLIMIT_MEMLOCK};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (limit(none[i], 0))
            return -1;
    return 0;
}

/* Filter all system calls of this process and its children by a classic BPF program. */
static int filter_calls(const void *bytes, size_t size)
{
    struct sock_fprog program = {(unsigned short)(size / sizeof(struct sock_filter)), (struct sock_filter *)bytes};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* pivot_root(".", ".") stacks the old root on the new one, where it is then detached, so that no put-old folder is
 * needed. Docker's own filter refuses that call even to processes that may mount; the new root is then moved over the
 * old one. A box cannot reach the old root, since it can neither mount nor chroot. */
static int change_root(void)
{
    if (syscall(SYS_pivot_root, ".", ".") == 0)
        return umount2(".", MNT_DETACH);
    if ((errno != EPERM && errno != ENOSYS) || mount(".", "/", NULL, MS_MOVE, NULL))
        return -1;
    return chroot(".");
}

/*** For every test ***/

struct limits {
    unsigned long long cpu_seconds, file_bytes, open_files, tasks;
};

/* A box that needs no file has no /tmp and no /proc of its own: it sees the empty ones of the zygote's root, which is
 * read-only, and cannot mount, so it shares the zygote's mount namespace. The mounts and their removal cost an eighth of
 * a native box. In a user namespace the root shows the machine's processes at /tmp (show_own_process), so that every box
 * needs mounts there. */
static int has_mounts(int wanted) { return wanted || !box.change_user; }

static unsigned long namespaces_of(int wanted_mounts) { return CLONE_NEWPID | (has_mounts(wanted_mounts) ? CLONE_NEWNS : 0); }

/*** For every test, in the child ***/

static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    return (int)syscall(SYS_capset, &header, none);
}

static int become_user(uid_t uid)
{
    /* raw system calls: glibc's wrappers would signal threads that the child does not have */
    if (syscall(SYS_setresgid, uid, uid, uid) || syscall(SYS_setresuid, uid, uid, uid))
        return -1;
    return 0;
}

static void fail(const char *step)
{
    char text[96];
    int size = snprintf(text, sizeof text, "%s: errno %d", step, errno);
    ssize_t written = write(box.report[1], text, size);
    (void)written;
    _exit(EXIT_SETUP);
}

#define STEP(call) do { if ((call) < 0) fail(#call); } while (0)

/* Read-only: what a process may write there (autogroup, oom_score_adj, comm, ...) are settings, and none is needed. */
#define PROC_FLAGS (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)

/* In a user namespace the kernel refuses a new /proc, because firejail has covered parts of the one there is. The room
 * then shows that one at /tmp, and of it the box gets its own process, as /proc/1, and nothing else (see rootfs.py). */
static void show_own_process(void)
{
    STEP(mount("/tmp/self", "/proc/1", NULL, MS_BIND, NULL));
    STEP(mount(NULL, "/proc/1", NULL, MS_BIND | MS_REMOUNT | PROC_FLAGS, NULL));
    STEP(umount2("/tmp", MNT_DETACH));
}

#define OWNED_BYTES 160

/* Write to `owned`, which has OWNED_BYTES, the options of /tmp's file system with its owner. */
static void own_tmp(char *owned, const char *options, int place)
{
    if (box.change_user)
        snprintf(owned, OWNED_BYTES, "%s,uid=%d,gid=%d", options, box.uid[place], box.uid[place]);
    else
        snprintf(owned, OWNED_BYTES, "%s", options);
}

/* `options`: made by own_tmp; `flags`: more mount flags for /tmp. */
static void enter_box(int mounts, const char *options, unsigned long flags)
{
    /* Signals, priorities and the scheduler's autogroup go by group and session, across PID namespaces. */
    STEP(setsid());
    if (!has_mounts(mounts))
        return;
    if (box.change_user)
        STEP(mount("proc", "/proc", "proc", PROC_FLAGS, NULL));
    else
        show_own_process();
    STEP(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | flags, options));
}

/* Give this process copies of `fds` as 0, 1, 2 and so on; negative: an empty device, opened anew, since the zygote's own
 * would be shared. No number of `fds` is below `count`. */
static void take_files(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        STEP(dup2(fds[i] < 0 ? open("/dev/null", O_RDWR) : fds[i], i));
}

/* The limits of all boxes. Memory is not among them: it is limited by address space or by data. */
static void limit_box(const struct limits *l)
{
    STEP(limit(RLIMIT_CPU, l->cpu_seconds));
    STEP(limit(RLIMIT_FSIZE, l->file_bytes));
    STEP(limit(RLIMIT_NOFILE, l->open_files));
    STEP(limit(RLIMIT_NPROC, l->tasks));
}

static void become_nobody(int place)
{
    if (box.change_user)
        STEP(become_user(box.uid[place]));
    STEP(drop_capabilities());
    STEP(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)); /* no box outlives its zygote; changing the uid would clear it */
    STEP(chdir("/tmp"));
}

/*** The wait for a box's end, in the zygote ***/

/* 1: ended, 0: still running after `seconds` (negative: no limit), -1: errno. Exits if the host is gone. */
__attribute__((unused)) static int await_end(int pidfd, int control, double seconds)
{
    double end = now() + seconds;
    struct pollfd polled[2] = {{pidfd, POLLIN, 0}, {control, 0, 0}};
    int ready;
    do {
        double left = end - now();
        ready = poll(polled, 2, seconds < 0 ? -1 : left > 0 ? (int)(left * 1000) + 1 : 0);
    } while (ready < 0 && errno == EINTR);
    if (ready > 0 && polled[1].revents & (POLLHUP | POLLERR)) {
        syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        _exit(0); /* the host is gone */
    }
    return ready < 0 ? -1 : ready > 0;
}

struct seen {
    int status;
    double cpu_seconds;
    unsigned long long peak_bytes;
    int own_limit; /* killed by an RLIMIT_CPU that it had lowered */
};

/* The hard RLIMIT_CPU of a process that has ended and is not yet reaped, in seconds; ~0 if there is none or it cannot be
 * read. prlimit(2) would need CAP_SYS_RESOURCE. */
static unsigned long long cpu_limit_of(long pid)
{
    char name[32], text[512], *line;
    unsigned long long most;
    snprintf(name, sizeof name, "%ld/limits", pid);
    int fd = openat(box.proc, name, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = 0;
    line = strstr(text, "Max cpu time");
    return line && sscanf(line, "Max cpu time %*s %llu", &most) == 1 ? most : ~0ULL;
}

/* `cpu_limit`: the RLIMIT_CPU that the box was started with. A lower RLIMIT_CPU is the only way for a box to look as if it
 * were killed from outside, which would be taken for a fault of the machine. The limit can be read only before the
 * process is reaped, and reading it costs a system call; so it is read only for a few boxes after a killed one, since the
 * host repeats such a run. */
static int reap(long pid, unsigned long long cpu_limit, struct seen *seen)
{
    struct rusage used;
    static int looks;
    siginfo_t end = {0};
    if (looks) {
        looks--;
        while (waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
            ;
    }
    seen->own_limit = end.si_code == CLD_KILLED && end.si_status == SIGKILL && cpu_limit_of(pid) < cpu_limit;
    while (wait4((pid_t)pid, &seen->status, 0, &used) < 0)
        if (errno != EINTR)
            return -1;
    if (WIFSIGNALED(seen->status) && WTERMSIG(seen->status) == SIGKILL)
        looks = LOOKS_AFTER_KILL;
    seen->cpu_seconds =
        used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    seen->peak_bytes = (unsigned long long)used.ru_maxrss * 1024;
    return 0;
}

/*** Messages ***/

struct __attribute__((packed)) record {
    int32_t status;
    uint8_t why_killed;
    double cpu_seconds, wall_seconds, starved_seconds;
    uint64_t peak_bytes;
};

/* why a box was killed, as in wire.py; IDLE is the launcher's */
enum { NOT_KILLED, DEADLINE, NOT_NEEDED, OWN_LIMIT, IDLE };

/* The descriptors that came with a job. */
struct files {
    int fds[MAX_JOB_FDS], count;
};

static void take(struct files *files, const struct cmsghdr *c)
{
    int count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(files->fds + files->count, CMSG_DATA(c), count * sizeof(int));
    files->count += count;
}

/* The descriptors came in one message, so their numbers are usually adjacent. */
static void close_files(struct files *files)
{
    int first = files->fds[0], count = files->count, adjoining = count > 0;
    for (int i = 1; i < count; i++)
        adjoining &= files->fds[i] == first + i;
    if (adjoining)
        syscall(SYS_close_range, (unsigned)first, (unsigned)(first + count - 1), 0U);
    for (int i = 0; i < count && !adjoining; i++)
        close(files->fds[i]);
    files->count = 0;
}

/* Bytes received, 0 at the end, -1: errno. */
static ssize_t receive(int control, char *message, size_t room, struct files *files)
{
    char ancillary[CMSG_SPACE(MAX_JOB_FDS * sizeof(int))];
    struct iovec part = {message, room};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = ancillary, .msg_controllen = sizeof ancillary};
    ssize_t size;
    files->count = 0;
    while ((size = recvmsg(control, &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    for (struct cmsghdr *c = size < 0 ? NULL : CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            take(files, c);
    return size;
}

static ssize_t send_fault(int control, const char *text)
{
    char fault[256];
    int size = snprintf(fault, sizeof fault, "F%s", text);
    return send(control, fault, size, 0);
}

#endif
