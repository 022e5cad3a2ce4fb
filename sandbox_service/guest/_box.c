/* The child's set-up, in C, because it is paid for by every single test.
 *
 * spawn() makes a process with PID, mount and IPC namespaces of its own, prepares it with plain system calls and
 * only then returns into Python, there as None. Nothing of the interpreter is touched between clone and return:
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

PyDoc_STRVAR(trim_doc, "trim(): give unused heap back, which every fork would otherwise copy.");
static PyObject *trim(PyObject *self, PyObject *args)
{
    malloc_trim(0);
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

PyDoc_STRVAR(spawn_doc, "spawn(fds, cpu_seconds, memory_bytes, file_bytes, open_files, processes) -> (pid, pidfd) | None\n\n"
"Start a box whose descriptors 0, 1, … are fds, and nothing else. Returns None in the child. The caller's\n"
"descriptors must be above len(fds). Raises OSError if there can be no child.");
static PyObject *spawn(PyObject *self, PyObject *args)
{
    PyObject *list;
    struct limits l;
    int fds[MAX_FDS];
    if (!PyArg_ParseTuple(args, "O!KKKKK", &PyTuple_Type, &list, &l.cpu_seconds, &l.memory_bytes, &l.file_bytes,
                          &l.open_files, &l.processes))
        return NULL;
    Py_ssize_t count = PyTuple_Size(list);
    if (count > MAX_FDS || !box.prepared) {
        PyErr_SetString(PyExc_ValueError, "too many descriptors, or not prepared");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        fds[i] = (int)PyLong_AsLong(PyTuple_GetItem(list, i));
        if (PyErr_Occurred())
            return NULL;
    }
    int pidfd = -1;
    long pid = start_box(fds, (int)count, &l, &pidfd);
    if (pid < 0)
        return os_error();
    if (pid == 0)
        Py_RETURN_NONE;
    return Py_BuildValue("li", pid, pidfd);
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

/*** The fast lane: stdin tests that end in time, without a step in Python between them ***
 *
 * After a fork every page that the zygote writes to must be copied once more, and a loop in Python writes to a hundred
 * of them, reference counts mostly. This loop writes to a few of its stack. The messages are those of wire.py.
 */

#define MODE_STDIN 1
#define MAX_MESSAGE 4096

struct __attribute__((packed)) job {
    uint8_t mode;
    uint32_t processes;
    uint64_t memory_bytes, file_bytes;
    double cpu_seconds, tester_cpu_seconds, wall_seconds, patience_seconds;
};

struct __attribute__((packed)) done {
    char kind;
    int32_t status;
    uint8_t timed_out;
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

static void answer(int control, const struct seen *seen, double wall)
{
    char fault[256];
    if (seen->status == EXIT_SETUP << 8) {
        fault[0] = 'F';
        ssize_t size = read(box.report[0], fault + 1, sizeof fault - 1);
        if (size > 0) {
            send(control, fault, size + 1, 0);
            return;
        }
    }
    struct done d = {'D', seen->status, 0, seen->cpu_seconds, wall, 0.0, seen->peak_bytes};
    send(control, &d, sizeof d, 0);
}

static PyObject *handed_over(const char *message, ssize_t size, long pid, int pidfd)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < kept.count; i++) {
        PyObject *fd = PyLong_FromLong(kept.fds[i]);
        if (!fd || PyList_Append(list, fd))
            Py_CLEAR(list);
        Py_XDECREF(fd);
    }
    return list ? Py_BuildValue("y#Nli", message, size, list, pid, pidfd) : NULL;
}

PyDoc_STRVAR(serve_doc, "serve(control, own_memory, open_files, tasks) -> (message, fds, pid, pidfd) | None\n\n"
"Answer stdin jobs until one needs more thought. Returns None in a box; else the message and its descriptors, and\n"
"the box if one was started for it that still runs at its first limit (else pid 0). The descriptors stay ours. An\n"
"empty message: the host is gone. Raises OSError.");
static PyObject *serve(PyObject *self, PyObject *args)
{
    int control;
    unsigned long long own_memory, open_files, tasks;
    static char message[MAX_MESSAGE];
    if (!PyArg_ParseTuple(args, "iKKK", &control, &own_memory, &open_files, &tasks))
        return NULL;
    for (;;) {
        ssize_t size = receive(control, message);
        if (size < 0)
            return os_error();
        const struct job *job = (const struct job *)message;
        if (size != sizeof *job || job->mode != MODE_STDIN || kept.count != 5 || job->processes != 1)
            return handed_over(message, size, 0, -1);
        const int *fds = kept.fds;
        struct limits l = {(unsigned long long)(2 * job->cpu_seconds) + 2, own_memory + job->memory_bytes,
                           job->file_bytes, open_files, tasks};
        int pidfd = -1, order[5] = {fds[2], fds[3], fds[4], fds[0], fds[1]};
        double began = now();
        long pid = start_box(order, 5, &l, &pidfd);
        if (pid == 0)
            Py_RETURN_NONE;
        if (pid < 0)
            return os_error();
        double first = job->cpu_seconds < job->wall_seconds ? job->cpu_seconds : job->wall_seconds;
        struct seen seen;
        if (await_end(pidfd, control, first) != 1)
            return handed_over(message, size, pid, pidfd);
        if (reap(pid, &seen))
            return os_error();
        answer(control, &seen, now() - began);
        close(pidfd);
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
    {"trim", trim, METH_NOARGS, trim_doc},
    {"unshare", py_unshare, METH_VARARGS, unshare_doc},
    {"spawn", spawn, METH_VARARGS, spawn_doc},
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
