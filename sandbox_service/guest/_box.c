/* The child's set-up, in C, because it is paid for by every single test.
 *
 * serve() makes processes with PID, mount and IPC namespaces of their own, prepares each with plain system calls and
 * only then returns into Python, there with the box's role. Nothing of the interpreter is touched between clone and return:
 * no PyOS_AfterFork_Child, which costs more than the rest of the set-up together and whose work (locks, thread
 * list, at-fork hooks) a single-threaded parent does not need.
 *
 * A step that fails is a fault of the sandbox, never of the program: the child writes which step and errno into the
 * report pipe and ends with EXIT_SETUP. The pipe's write end is closed by the set-up's last step, before any code of
 * the submission runs, so a program that ends with the same code writes no report and is told apart by that.
 *
 * Covered: fresh namespaces, private /tmp and /proc, chosen descriptors and no others, resource limits, the slot's
 * uid, no capabilities. Not covered here: the system call filter, inherited from the zygote (install_filter), and
 * what the zygote's own root shows (room.py).
 */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

#define EXIT_SETUP 97
#define MAX_FDS 10     /* of a box */
#define MAX_JOB_FDS 16 /* of a job */
#define HUGE_PAGE (2UL << 20)

static struct {
    int prepared;
    int change_user;        /* 0: we are a normal user in a user namespace of our own, which has one uid only */
    uid_t uid;
    char tmp_options[128];
    int report[2];          /* set-up failures: [0] the zygote reads, [1] a child writes */
    int *tid_address;       /* where glibc caches the thread id: a raw clone must correct it */
    rlim_t stack_bytes;
} box = {.report = {-1, -1}};

static PyObject *os_error(void) { return PyErr_SetFromErrno(PyExc_OSError); }

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

PyDoc_STRVAR(prepare_doc, "prepare(uid, tmp_options, stack_bytes) -> int\n\n"
"Say what every box gets: the uid it runs as (-1: keep ours), mount options of its /tmp, the main thread's stack;\n"
"and forbid what none gets: core dumps, message queues, locked memory.\n"
"Returns the descriptor on which set-up failures arrive. Raises OSError.");
static PyObject *prepare(PyObject *self, PyObject *args)
{
    int uid;
    const char *options;
    unsigned long long stack;
    if (!PyArg_ParseTuple(args, "isK", &uid, &options, &stack))
        return NULL;
    box.change_user = uid >= 0;
    box.uid = (uid_t)uid;
    box.stack_bytes = stack;
    snprintf(box.tmp_options, sizeof box.tmp_options, "%s", options);
    int *address = NULL;
    if (prctl(PR_GET_TID_ADDRESS, &address, 0, 0, 0) == 0 && address && *address == (int)syscall(SYS_gettid))
        box.tid_address = address;
    if (box.report[0] < 0 && pipe2(box.report, O_CLOEXEC | O_NONBLOCK) < 0)
        return os_error();
    static const int none[] = {RLIMIT_CORE, RLIMIT_MSGQUEUE, RLIMIT_MEMLOCK};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (limit(none[i], 0))
            return os_error();
    box.prepared = 1;
    return PyLong_FromLong(box.report[0]);
}

PyDoc_STRVAR(install_filter_doc, "install_filter(program)\n\n"
"Put a classic BPF program before all system calls of this process and its children. Raises OSError.");
static PyObject *install_filter(PyObject *self, PyObject *args)
{
    char *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#", &bytes, &size))
        return NULL;
    struct sock_fprog program = {(unsigned short)(size / sizeof(struct sock_filter)), (struct sock_filter *)bytes};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
        return os_error();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(huge_text_doc, "huge_text(start, end)\n\n"
"Replace the read-only span [start, end) of the interpreter, which must be aligned to 2 MiB, by a copy in huge\n"
"pages: a fork then copies far fewer page table entries and takes far fewer faults. Raises OSError.");
static PyObject *huge_text(PyObject *self, PyObject *args)
{
    unsigned long long start, end;
    if (!PyArg_ParseTuple(args, "KK", &start, &end))
        return NULL;
    size_t size = end - start;
    char *room = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return os_error();
    char *copy = (char *)(((uintptr_t)room + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    madvise(copy, size, MADV_HUGEPAGE);
    memcpy(copy, (void *)(uintptr_t)start, size);
    if (mprotect(copy, size, PROT_READ | PROT_EXEC))
        return os_error();
    if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)start) == MAP_FAILED)
        return os_error();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(thread_stack_doc, "thread_stack(bytes)\n\n"
"The default stack of new threads. glibc takes it from RLIMIT_STACK at start, which is made large for recursion.");
static PyObject *thread_stack(PyObject *self, PyObject *args)
{
    unsigned long long size;
    if (!PyArg_ParseTuple(args, "K", &size))
        return NULL;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstacksize(&attributes, size);
    if (!error)
        error = pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    if (error) {
        errno = error;
        return os_error();
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(mount_doc, "mount(source, target, type, flags, options): mount(2); None where C takes NULL.");
static PyObject *py_mount(PyObject *self, PyObject *args)
{
    const char *source, *target, *type, *options;
    unsigned long flags;
    if (!PyArg_ParseTuple(args, "zszkz", &source, &target, &type, &flags, &options))
        return NULL;
    if (mount(source, target, type, flags, options))
        return os_error();
    Py_RETURN_NONE;
}

/* pivot_root(".", ".") stacks the old root on the new one, where it is then detached: no put-old folder. Docker's own
 * filter refuses that call even to those who may mount; the new root is then moved over the old one, behind which a
 * box, which can neither mount nor chroot, does not get. */
static int change_root(void)
{
    if (syscall(SYS_pivot_root, ".", ".") == 0)
        return umount2(".", MNT_DETACH);
    if ((errno != EPERM && errno != ENOSYS) || mount(".", "/", NULL, MS_MOVE, NULL))
        return -1;
    return chroot(".");
}

PyDoc_STRVAR(enter_root_doc, "enter_root(path): make path, a mount point, the root and forget the old one.");
static PyObject *enter_root(PyObject *self, PyObject *args)
{
    const char *path;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    if (chdir(path) || change_root() || chdir("/"))
        return os_error();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(flush_doc, "flush(): write out what C code in this process has buffered, as the C library's exit would.");
static PyObject *flush(PyObject *self, PyObject *args)
{
    fflush(NULL);
    Py_RETURN_NONE;
}

/* What starting has freed lies scattered between what is in use, and both allocators hand it out again first: a box
 * would write to a page of the zygote's, and so copy it, for nearly every block that it asks for. So the gaps are filled
 * with blocks that nobody uses. What a box asks for then comes from fresh memory, where neighbours share a page. */
#define POOL (16 << 10) /* Python's: blocks of one size each, up to SMALL bytes, behind a header */
#define POOL_HEADER 48
#define SMALL 512
#define MOST_GAPS (256 << 10) /* bytes for each size, should the pools of some Python be made otherwise */
#define LARGE (64 << 10)

static void fill_pools(void)
{
    for (size_t size = 16; size <= SMALL; size += 16) {
        uintptr_t last = 0;
        int in_a_row = 0; /* blocks since the beginning of a pool: four show that it is a fresh one */
        for (size_t filled = 0; filled < MOST_GAPS && in_a_row < 4; filled += size) {
            uintptr_t block = (uintptr_t)PyObject_Malloc(size);
            in_a_row = block % POOL == POOL_HEADER ? 1 : in_a_row && block == last + size ? in_a_row + 1 : 0;
            last = block;
        }
    }
}

static void fill_heap(void)
{
    char *block, *end = malloc(LARGE);
    for (size_t size = LARGE; size > 16; size -= 16) {
        while ((block = malloc(size)) && block < end)
            ;
        free(block);
    }
}

PyDoc_STRVAR(pack_doc, "pack()\n\n"
"Give unused memory back, which every fork would otherwise copy, and fill the gaps in what is left.");
static PyObject *pack(PyObject *self, PyObject *args)
{
    fill_pools();
    malloc_trim(0);
    fill_heap();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(unshare_doc, "unshare(flags): unshare(2).");
static PyObject *py_unshare(PyObject *self, PyObject *args)
{
    int flags;
    if (!PyArg_ParseTuple(args, "i", &flags))
        return NULL;
    if (unshare(flags))
        return os_error();
    Py_RETURN_NONE;
}

/*** For every test, in the child ***/

struct limits {
    unsigned long long cpu_seconds, memory_bytes, file_bytes, open_files, processes;
};

static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    return (int)syscall(SYS_capset, &header, none);
}

static int become_user(void)
{
    /* raw system calls: glibc's wrappers would signal the threads of a parent that has none */
    if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, box.uid, box.uid, box.uid)
        || syscall(SYS_setresuid, box.uid, box.uid, box.uid))
        return -1;
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else /proc/self, and with it /dev/stdin, would be root's */
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

/* In a user namespace the kernel refuses a new /proc, because firejail has covered parts of the one there is. The room
 * then shows that one at /tmp, and of it the box gets its own process, as /proc/1, and nothing else (see room.py). */
static void show_own_process(void)
{
    STEP(mount("/tmp/self", "/proc/1", NULL, MS_BIND, NULL));
    STEP(umount2("/tmp", MNT_DETACH));
}

static void set_up(const int *fds, int count, const struct limits *l)
{
    if (box.change_user)
        STEP(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
    else
        show_own_process();
    STEP(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, box.tmp_options));
    for (int i = 0; i < count; i++)
        STEP(dup2(fds[i], i));
    STEP(limit(RLIMIT_CPU, l->cpu_seconds));
    STEP(limit(RLIMIT_AS, l->memory_bytes));
    STEP(limit(RLIMIT_FSIZE, l->file_bytes));
    STEP(limit(RLIMIT_NOFILE, l->open_files));
    STEP(limit(RLIMIT_NPROC, l->processes));
    STEP(limit(RLIMIT_STACK, box.stack_bytes));
    if (box.change_user)
        STEP(become_user());
    STEP(drop_capabilities());
    STEP(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)); /* no box outlives its zygote; changing the uid would clear it */
    STEP(chdir("/tmp"));
    STEP(syscall(SYS_close_range, (unsigned)count, ~0U, 0)); /* last: closes the report pipe too */
}

/* A new box: 0 in it; its pid in the parent, with *pidfd set; -1 and errno if there can be none. */
static long start_box(const int *fds, int count, const struct limits *l, int *pidfd)
{
    unsigned long flags = SIGCHLD | CLONE_PIDFD | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;
    if (box.tid_address)
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    long pid = syscall(SYS_clone, flags, NULL, pidfd, box.tid_address, 0);
    if (pid == 0)
        set_up(fds, count, l);
    return pid;
}

/* 1: ended, 0: still running after `seconds` (negative: no limit), -1: errno. Does not return if the host is gone. */
static int await_end(int pidfd, int control, double seconds)
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
        _exit(0); /* nobody to answer */
    }
    return ready < 0 ? -1 : ready > 0;
}

struct seen {
    int status;
    double cpu_seconds;
    unsigned long long peak_bytes;
};

static int reap(long pid, struct seen *seen)
{
    struct rusage used;
    while (wait4((pid_t)pid, &seen->status, 0, &used) < 0)
        if (errno != EINTR)
            return -1;
    seen->cpu_seconds =
        used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    seen->peak_bytes = (unsigned long long)used.ru_maxrss * 1024;
    return 0;
}

PyDoc_STRVAR(wait_doc, "wait(pid, pidfd, seconds, control) -> (status, cpu_seconds, peak_bytes) | None\n\n"
"Wait for a box to end and reap it; None if it still runs after `seconds` (negative: no limit). If the host hangs\n"
"up on `control` meanwhile there is nobody to answer: the box is killed and this process ends.");
static PyObject *py_wait(PyObject *self, PyObject *args)
{
    long pid;
    int pidfd, control;
    double seconds;
    struct seen seen;
    if (!PyArg_ParseTuple(args, "lidi", &pid, &pidfd, &seconds, &control))
        return NULL;
    int ended = await_end(pidfd, control, seconds);
    if (ended == 0)
        Py_RETURN_NONE;
    if (ended < 0 || reap(pid, &seen))
        return os_error();
    return Py_BuildValue("idK", seen.status, seen.cpu_seconds, seen.peak_bytes);
}

/*** Jobs, without a step in Python between them where all goes well ***
 *
 * After a fork every page that the zygote writes to must be copied once more, and a loop in Python writes to a hundred
 * of them, reference counts mostly. This loop writes to a few of its stack. The messages are those of wire.py.
 */

#define MAX_MESSAGE 4096
#define THREADS_BESIDE 16 /* for programs with processes: their helper threads */
#define NOT_NEEDED 2 /* why a box was killed, as in wire.py */
#define TESTER_MEMORY (2ULL << 30)

/* Where a box's descriptors come from: a file of the job by its place, or one of these. */
enum { NOTHING = -1, CANDIDATE_READS = -2, TESTER_WRITES = -3, TESTER_READS = -4, CANDIDATE_WRITES = -5 };

struct part {
    int role, count, order[8];
};

/* How each kind of job becomes boxes; the last one's end is the job's. The numbers of files are those of wire.py. */
static const struct plan {
    int files, boxes;
    struct part part[2];
} plans[] = {
    {0},
    {5, 1, {{0, 5, {2, 3, 4, 0, 1}}}},
    {6, 1, {{1, 7, {NOTHING, 3, 4, 0, 1, 2, 5}}}},
    {8, 2, {{2, 8, {NOTHING, 4, 5, 0, 1, 2, CANDIDATE_READS, CANDIDATE_WRITES}},
            {3, 7, {NOTHING, NOTHING, 6, 3, TESTER_READS, TESTER_WRITES, 7}}}},
};

struct __attribute__((packed)) job {
    uint8_t mode;
    uint32_t processes;
    uint64_t memory_bytes, file_bytes;
    double cpu_seconds, tester_cpu_seconds, wall_seconds, patience_seconds;
};

struct __attribute__((packed)) record {
    int32_t status;
    uint8_t why_killed;
    double cpu_seconds, wall_seconds, starved_seconds;
    uint64_t peak_bytes;
};

/* The files of the last job that brought some. A job without any is for the same files again: what a submission's
 * first test brings serves all of them, which spares both sides passing, opening and closing five files a test. */
static struct {
    int fds[MAX_JOB_FDS], count;
} kept;

static void keep(const struct cmsghdr *c)
{
    for (int i = 0; i < kept.count; i++)
        close(kept.fds[i]);
    kept.count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(kept.fds, CMSG_DATA(c), kept.count * sizeof(int));
}

/* Bytes received, 0 at the end, -1: errno. */
static ssize_t receive(int control, char *message)
{
    char ancillary[CMSG_SPACE(MAX_JOB_FDS * sizeof(int))];
    struct iovec part = {message, MAX_MESSAGE};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = ancillary, .msg_controllen = sizeof ancillary};
    ssize_t size;
    while ((size = recvmsg(control, &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    for (struct cmsghdr *c = size < 0 ? NULL : CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            keep(c);
    return size;
}

struct started {
    long pid[2];
    int pidfd[2], count;
};

static int source(int place, const int *pipes)
{
    return place >= 0 ? kept.fds[place] : place == NOTHING ? 0 : pipes[CANDIDATE_READS - place];
}

/* Start a job's boxes. The role in a box; -1 in the zygote; -2 and errno if one could not be started. */
static int start_job(const struct job *job, unsigned long long own_memory, unsigned long long open_files,
                     unsigned long long tasks, struct started *started)
{
    const struct plan *plan = &plans[job->mode];
    int pair = plan->boxes == 2, ends[4] = {-1, -1, -1, -1}; /* in the order of the enum above */
    started->count = 0;
    if (pair) {
        int to_candidate[2], to_tester[2];
        if (pipe2(to_candidate, O_CLOEXEC) || pipe2(to_tester, O_CLOEXEC))
            return -2;
        ends[0] = to_candidate[0], ends[1] = to_candidate[1], ends[2] = to_tester[0], ends[3] = to_tester[1];
    }
    int failed = 0;
    for (int i = 0; i < plan->boxes && !failed; i++) {
        const struct part *part = &plan->part[i];
        int is_tester = i == 1, fds[MAX_FDS];
        double cpu = is_tester ? job->tester_cpu_seconds : job->cpu_seconds;
        unsigned long long memory = job->memory_bytes;
        if (is_tester && memory < TESTER_MEMORY)
            memory = TESTER_MEMORY;
        /* the CPU limit is enforced by watch.py; RLIMIT_CPU counts by ticks and is only the backstop */
        struct limits l = {(unsigned long long)(2 * cpu) + 2, own_memory + memory, job->file_bytes, open_files,
                           job->processes > 1 ? job->processes + THREADS_BESIDE : tasks};
        for (int k = 0; k < part->count; k++)
            fds[k] = source(part->order[k], ends);
        long pid = start_box(fds, part->count, &l, &started->pidfd[i]);
        if (pid == 0)
            return part->role;
        failed = pid < 0;
        started->pid[i] = pid;
        started->count += !failed;
    }
    int error = errno;
    for (int i = 0; pair && i < 4; i++)
        close(ends[i]);
    errno = error;
    return failed ? -2 : -1;
}

/* Reap a box; if it is not needed any more, end it first, unless it has ended by itself. */
static int bury(struct started *started, int i, double began, struct record *record, int needed)
{
    struct seen seen;
    int kill_it = !needed && await_end(started->pidfd[i], -1, 0) != 1;
    if (kill_it)
        syscall(SYS_pidfd_send_signal, started->pidfd[i], SIGKILL, NULL, 0);
    if (reap(started->pid[i], &seen))
        return -1;
    close(started->pidfd[i]);
    *record = (struct record){seen.status, kill_it ? NOT_NEEDED : 0, seen.cpu_seconds, now() - began, 0.0, seen.peak_bytes};
    return 0;
}

static ssize_t send_fault(int control, const char *text)
{
    char fault[256];
    int size = snprintf(fault, sizeof fault, "F%s", text);
    return send(control, fault, size, 0);
}

/* The records; or, if a box's set-up failed (which only a report tells: its exit status anybody can have), that. */
static ssize_t answer(int control, const struct record *records, int count)
{
    char message[1 + 2 * sizeof *records], report[200];
    for (int i = 0; i < count; i++)
        if (records[i].status == EXIT_SETUP << 8) {
            ssize_t size = read(box.report[0], report, sizeof report - 1);
            if (size > 0) {
                report[size] = 0;
                return send_fault(control, report);
            }
        }
    message[0] = 'D';
    memcpy(message + 1, records, count * sizeof *records);
    return send(control, message, 1 + count * sizeof *records, 0);
}

PyDoc_STRVAR(serve_doc, "serve(control, own_memory, open_files, tasks) -> int | (job, [(pid, pidfd)…]) | None\n\n"
"Answer jobs. Returns in a box: its role, an index (0 stdin, 1 calls, 2 candidate, 3 tester). In the zygote: a job\n"
"whose boxes still run at its first limit, to be watched and answered by the caller; None when the host is gone.\n"
"Raises OSError, ValueError.");
static PyObject *serve(PyObject *self, PyObject *args)
{
    int control;
    unsigned long long own_memory, open_files, tasks;
    static char message[MAX_MESSAGE];
    if (!PyArg_ParseTuple(args, "iKKK", &control, &own_memory, &open_files, &tasks))
        return NULL;
    for (;;) {
        ssize_t size = receive(control, message);
        if (size <= 0) {
            if (size < 0)
                return os_error();
            Py_RETURN_NONE;
        }
        const struct job *job = (const struct job *)message;
        if (size != sizeof *job || job->mode < 1 || job->mode > 3 || kept.count != plans[job->mode].files) {
            PyErr_SetString(PyExc_ValueError, "not a job");
            return NULL;
        }
        struct started started;
        double began = now();
        int role = start_job(job, own_memory, open_files, tasks, &started);
        if (role >= 0)
            return PyLong_FromLong(role);
        if (role == -2) {
            char text[64];
            snprintf(text, sizeof text, "no box could be started: errno %d", errno);
            struct record lost;
            while (started.count--)
                bury(&started, started.count, began, &lost, 0);
            send_fault(control, text);
            continue;
        }
        int last = started.count - 1;
        double first = job->cpu_seconds < job->wall_seconds ? job->cpu_seconds : job->wall_seconds;
        if (await_end(started.pidfd[last], control, first) != 1) {
            if (last == 0)
                return Py_BuildValue("y#[(li)]", message, size, started.pid[0], started.pidfd[0]);
            return Py_BuildValue("y#[(li)(li)]", message, size, started.pid[0], started.pidfd[0], started.pid[1],
                                 started.pidfd[1]);
        }
        struct record records[2];
        for (int i = last; i >= 0; i--)
            if (bury(&started, i, began, &records[i], i == last))
                return os_error();
        answer(control, records, started.count);
    }
}

static PyMethodDef methods[] = {
    {"prepare", prepare, METH_VARARGS, prepare_doc},
    {"install_filter", install_filter, METH_VARARGS, install_filter_doc},
    {"huge_text", huge_text, METH_VARARGS, huge_text_doc},
    {"thread_stack", thread_stack, METH_VARARGS, thread_stack_doc},
    {"mount", py_mount, METH_VARARGS, mount_doc},
    {"enter_root", enter_root, METH_VARARGS, enter_root_doc},
    {"flush", flush, METH_NOARGS, flush_doc},
    {"pack", pack, METH_NOARGS, pack_doc},
    {"unshare", py_unshare, METH_VARARGS, unshare_doc},
    {"serve", serve, METH_VARARGS, serve_doc},
    {"wait", py_wait, METH_VARARGS, wait_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_box", "Boxes: fresh, limited, nameless processes, one for each test.", -1, methods,
};

PyMODINIT_FUNC PyInit__box(void)
{
    PyObject *self = PyModule_Create(&module);
    if (self)
        PyModule_AddIntConstant(self, "EXIT_SETUP", EXIT_SETUP);
    return self;
}
