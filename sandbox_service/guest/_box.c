/* Creates, sets up and reaps boxes of Python programs. Written in C because every test pays for the set-up. box.h has the
 * walls, which are those of all boxes.
 *
 * serve() creates processes with namespaces of their own, sets each up with plain system calls and only
 * then returns to Python in the box, with its role. The interpreter is not touched between clone and return: there is
 * no PyOS_AfterFork_Child, which costs more than the rest of the set-up together and whose work (locks, thread list,
 * at-fork hooks) a single-threaded parent does not need.
 *
 * Runs share nothing that a box can change. The zygote keeps no descriptor of a job: it closes all of them once the
 * job's boxes have theirs, so that a file, its open file description and its blocks end with the run.
 */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "box.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

#define MAX_FDS 10     /* of a box */
#define STACKS_BYTES (1ULL << 30) /* address space for the stacks of a box's threads, beyond that of all boxes */

static int *tid_address;       /* where glibc caches the thread id: a raw clone must correct it */
static char tmp_options[MAX_BOXES][OWNED_BYTES]; /* by place; made once, as a box would copy pages to format text */

static PyObject *os_error(void) { return PyErr_SetFromErrno(PyExc_OSError); }

#include "pages.h"

/*** Once, in the zygote ***/

/* The hard limit stays as high as possible, since contest programs set RLIMIT_STACK to infinity. The address space limit
 * bounds the stack all the same. */
static int limit_stack(rlim_t soft)
{
    struct rlimit both = {soft, RLIM_INFINITY};
    if (setrlimit(RLIMIT_STACK, &both) == 0)
        return 0;
    if (getrlimit(RLIMIT_STACK, &both))
        return -1;
    both.rlim_cur = soft < both.rlim_max ? soft : both.rlim_max;
    return setrlimit(RLIMIT_STACK, &both);
}

PyDoc_STRVAR(prepare_doc, "prepare(uid, tester_uid, tmp_options, stack_bytes, proc_fd) -> int\n\n"
"Configure all boxes: their uid (-1: keep the zygote's), the uid of tester boxes, the mount options of /tmp and the\n"
"main thread's stack; and disable core dumps, message queues, locked memory and supplementary groups.\n"
"Return the descriptor on which reports of failed set-ups arrive. Raise OSError.");
static PyObject *prepare(PyObject *self, PyObject *args)
{
    int uid, tester_uid;
    const char *options;
    unsigned long long stack;
    if (!PyArg_ParseTuple(args, "iisKi", &uid, &tester_uid, &options, &stack, &box.proc))
        return NULL;
    box.change_user = uid >= 0;
    box.uid[0] = (uid_t)uid;
    box.uid[1] = (uid_t)tester_uid;
    for (int place = 0; place < MAX_BOXES; place++)
        own_tmp(tmp_options[place], options, place);
    int *address = NULL;
    if (prctl(PR_GET_TID_ADDRESS, &address, 0, 0, 0) == 0 && address && *address == (int)syscall(SYS_gettid))
        tid_address = address;
    if (box.report[0] < 0 && pipe2(box.report, O_CLOEXEC | O_NONBLOCK) < 0)
        return os_error();
    if (limit_zygote() || limit_stack(stack) || (box.change_user && syscall(SYS_setgroups, 0, NULL)))
        return os_error();
    box.prepared = 1;
    return PyLong_FromLong(box.report[0]);
}

PyDoc_STRVAR(install_filter_doc, "install_filter(program)\n\n"
"Filter all system calls of this process and its children by a classic BPF program. Raise OSError.");
static PyObject *install_filter(PyObject *self, PyObject *args)
{
    char *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#", &bytes, &size))
        return NULL;
    if (filter_calls(bytes, (size_t)size))
        return os_error();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(thread_stack_doc, "thread_stack(bytes)\n\n"
"Set the default stack size of new threads. glibc takes it from RLIMIT_STACK, which is large, for recursion.");
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

PyDoc_STRVAR(enter_root_doc, "enter_root(path): make path, a mount point, the root and detach the old one.");
static PyObject *enter_root(PyObject *self, PyObject *args)
{
    const char *path;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    if (chdir(path) || change_root() || chdir("/"))
        return os_error();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(flush_doc, "flush(): flush the output streams of the C library, as exit(3) would.");
static PyObject *flush(PyObject *self, PyObject *args)
{
    fflush(NULL);
    Py_RETURN_NONE;
}

/* Memory freed during the start lies between blocks in use, and both allocators reuse it first: a box would write to a
 * page of the zygote's, and so copy it, for nearly every block that it allocates. So the gaps are filled with unused
 * blocks. A box's allocations then come from fresh memory, where adjacent blocks share a page. */
#define POOL (16 << 10) /* Python's: blocks of one size each, up to SMALL bytes, behind a header */
#define POOL_HEADER 48
#define SMALL 512
#define MOST_GAPS (256 << 10) /* bytes for each size, in case some Python lays out its pools differently */
#define LARGE (64 << 10)

static void fill_pools(void)
{
    for (size_t size = 16; size <= SMALL; size += 16) {
        uintptr_t last = 0;
        int in_a_row = 0; /* blocks since the beginning of a pool; four show that the pool is new */
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
"Return unused memory to the system, since every fork would copy it, and fill the gaps in the rest.");
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

#include "files.h"
#include "between.h"
#include "print.h"
#include "input.h"

/*** For every test, in the child ***/

/* A program may raise the soft limit by STACKS_BYTES; guest/stacks.py does so when the program requests large stacks. */
static int limit_space(rlim_t soft)
{
    struct rlimit both = {soft, soft + STACKS_BYTES};
    return setrlimit(RLIMIT_AS, &both);
}

static void set_up(const int *fds, int count, const struct limits *l, unsigned long long memory, int place, int mounts)
{
    enter_box(mounts, tmp_options[place], 0);
    take_files(fds, count);
    STEP(limit_space(memory));
    limit_box(l);
    become_nobody(place);
    if (box.change_user && mounts)
        STEP(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); /* else /proc/self, and with it /dev/stdin, would be root's */
    STEP(syscall(SYS_close_range, (unsigned)count, ~0U, 0)); /* last: closes the report pipe too */
}

/* A new box: 0 in it; its pid in the parent, with *pidfd set; -1 and errno if there can be none. */
static long start_box(const int *fds, int count, const struct limits *l, unsigned long long memory, int place,
                      int mounts, int *pidfd)
{
    unsigned long flags = SIGCHLD | CLONE_PIDFD | namespaces_of(mounts);
    if (tid_address)
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    long pid = syscall(SYS_clone, flags, NULL, pidfd, tid_address, 0);
    if (pid == 0)
        set_up(fds, count, l, memory, place, mounts);
    return pid;
}

PyDoc_STRVAR(wait_doc, "wait(pid, pidfd, cpu_limit, seconds, control) -> (status, cpu_seconds, peak_bytes, own) | None\n\n"
"Wait for a box to end and reap it; None if it still runs after `seconds` (negative: no limit). `cpu_limit` is the\n"
"RLIMIT_CPU that it was started with, `own` is true if a lower one that it set killed it. If the host closes\n"
"`control` meanwhile, the box is killed and this process exits.");
static PyObject *py_wait(PyObject *self, PyObject *args)
{
    long pid;
    int pidfd, control;
    unsigned long long cpu_limit;
    double seconds;
    struct seen seen;
    if (!PyArg_ParseTuple(args, "liKdi", &pid, &pidfd, &cpu_limit, &seconds, &control))
        return NULL;
    int ended = await_end(pidfd, control, seconds);
    if (ended == 0)
        Py_RETURN_NONE;
    if (ended < 0 || reap(pid, cpu_limit, &seen))
        return os_error();
    return Py_BuildValue("idKN", seen.status, seen.cpu_seconds, seen.peak_bytes, PyBool_FromLong(seen.own_limit));
}

/*** Jobs; the common case runs no Python between two of them ***
 *
 * After a fork every page that the zygote writes to must be copied once more, and a loop in Python writes to a hundred
 * of them, mostly for reference counts. This loop writes to a few pages of its stack. wire.py describes the messages.
 */

#define MAX_MESSAGE 4096
#define THREADS_BESIDE 16 /* for programs with processes: their helper threads */
#define TESTER_MEMORY (2ULL << 30)

/* Source of a box's descriptor: a file of the job by its place, or one of these. */
enum { NOTHING = -1, CANDIDATE_READS = -2, TESTER_WRITES = -3, TESTER_READS = -4, CANDIDATE_WRITES = -5 };

struct part {
    int role, owner, count, order[8];
};

/* The boxes of each kind of job; the job ends when the last one does. The numbers of files are those of wire.py. */
static const struct plan {
    int files, boxes;
    struct part part[MAX_BOXES];
} plans[] = {
    {0},
    {5, 1, {{0, 0, 5, {2, 3, 4, 0, 1}}}},
    {6, 1, {{1, 0, 7, {NOTHING, 3, 4, 0, 1, 2, 5}}}},
    {8, 2, {{2, 0, 8, {NOTHING, 4, 5, 0, 1, 2, CANDIDATE_READS, CANDIDATE_WRITES}},
            {3, 1, 7, {NOTHING, NOTHING, 6, 3, TESTER_READS, TESTER_WRITES, 7}}}},
    {6, 1, {{4, 1, 6, {2, 3, 4, 0, 1, 5}}}},
    {6, 1, {{5, 0, 6, {2, 3, 4, 0, 1, 5}}}},
    {7, 1, {{2, 0, 8, {NOTHING, 4, 5, 0, 1, 2, 3, 6}}}},
};
#define LAST_MODE (int)(sizeof plans / sizeof *plans - 1)

struct __attribute__((packed)) job {
    uint8_t mode, mounts, seed;
    uint32_t processes;
    uint64_t memory_bytes, file_bytes;
    double cpu_seconds, tester_cpu_seconds, wall_seconds, patience_seconds;
};

struct started {
    long pid[MAX_BOXES];
    unsigned long long cpu_limit[MAX_BOXES];
    int pidfd[MAX_BOXES], count;
};

static int source(int place, const struct files *files, const int *pipes)
{
    return place >= 0 ? files->fds[place] : place == NOTHING ? -1 : pipes[CANDIDATE_READS - place];
}

/* Start a job's boxes. The role in a box; -1 in the zygote; -2 and errno if one could not be started. */
static int start_job(const struct job *job, const struct files *files, unsigned long long own_memory,
                     unsigned long long open_files, unsigned long long tasks, struct started *started)
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
        /* watchdog.py enforces the CPU limit; RLIMIT_CPU counts by ticks and is only the backstop */
        struct limits l = {(unsigned long long)(2 * cpu) + 2, job->file_bytes, open_files,
                           job->processes > 1 ? job->processes + THREADS_BESIDE : tasks};
        for (int k = 0; k < part->count; k++)
            fds[k] = source(part->order[k], files, ends);
        long pid = start_box(fds, part->count, &l, own_memory + memory, part->owner, is_tester || job->mounts,
                             &started->pidfd[i]);
        if (pid == 0)
            return part->role;
        failed = pid < 0;
        started->pid[i] = pid;
        started->cpu_limit[i] = l.cpu_seconds;
        started->count += !failed;
    }
    int error = errno;
    for (int i = 0; pair && i < 4; i++)
        close(ends[i]);
    errno = error;
    return failed ? -2 : -1;
}

/* Reap a box; a box that is not needed any more is killed first, unless it has already ended. One that was about to end
 * keeps its own status: a candidate's pipes close before the kernel says that it has ended. */
static int bury(struct started *started, int i, double began, struct record *record, int needed)
{
    struct seen seen;
    int kill_it = !needed && await_end(started->pidfd[i], -1, 0) != 1;
    if (kill_it)
        syscall(SYS_pidfd_send_signal, started->pidfd[i], SIGKILL, NULL, 0);
    if (reap(started->pid[i], started->cpu_limit[i], &seen))
        return -1;
    close(started->pidfd[i]);
    int was_killed = kill_it && WIFSIGNALED(seen.status) && WTERMSIG(seen.status) == SIGKILL;
    int why = was_killed ? NOT_NEEDED : seen.own_limit ? OWN_LIMIT : 0;
    *record = (struct record){seen.status, why, seen.cpu_seconds, now() - began, 0.0, seen.peak_bytes};
    return 0;
}

/* Send the records, or the report of a box whose set-up failed. The exit status alone does not show a failed set-up. */
static ssize_t answer(int control, const struct record *records, int count)
{
    char message[1 + MAX_BOXES * sizeof *records], report[200];
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

PyDoc_STRVAR(serve_doc, "serve(control, own_memory, open_files, tasks) -> int | (job, [(pid, pidfd, cpu_limit)…]) | None\n\n"
"Serve jobs. Return in a box: its role, an index (0 stdin, 1 calls, 2 candidate, 3 tester, 4 judge, 5 shared), and\n"
"256 times the seed of its random numbers. In the zygote: a job whose boxes still run at its first limit, for the caller to watch and answer; None when the host is\n"
"gone.\n"
"Raise OSError, ValueError.");
static PyObject *serve(PyObject *self, PyObject *args)
{
    int control;
    unsigned long long own_memory, open_files, tasks;
    static char message[MAX_MESSAGE];
    if (!PyArg_ParseTuple(args, "iKKK", &control, &own_memory, &open_files, &tasks))
        return NULL;
    for (;;) {
        struct files files;
        ssize_t size = receive(control, message, sizeof message, &files);
        if (size <= 0) {
            if (size < 0)
                return os_error();
            Py_RETURN_NONE;
        }
        const struct job *job = (const struct job *)message;
        if (size != sizeof *job || job->mode < 1 || job->mode > LAST_MODE || files.count != plans[job->mode].files) {
            PyErr_SetString(PyExc_ValueError, "not a job");
            return NULL;
        }
        struct started started;
        double began = now();
        int role = start_job(job, &files, own_memory, open_files, tasks, &started);
        if (role >= 0)
            return PyLong_FromLong(role | job->seed << 8);
        int error = errno;
        close_files(&files);
        if (role == -2) {
            char text[64];
            snprintf(text, sizeof text, "no box could be started: errno %d", error);
            struct record lost;
            while (started.count--)
                bury(&started, started.count, began, &lost, 0);
            send_fault(control, text);
            continue;
        }
        int last = started.count - 1;
        double first = job->cpu_seconds < job->wall_seconds ? job->cpu_seconds : job->wall_seconds;
        if (await_end(started.pidfd[last], control, first) != 1) {
            PyObject *boxes = PyList_New(0);
            for (int i = 0; boxes && i <= last; i++) {
                PyObject *one = Py_BuildValue("liK", started.pid[i], started.pidfd[i], started.cpu_limit[i]);
                if (!one || PyList_Append(boxes, one))
                    Py_CLEAR(boxes);
                Py_XDECREF(one);
            }
            return boxes ? Py_BuildValue("y#N", message, size, boxes) : NULL;
        }
        struct record records[MAX_BOXES];
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
    {"huge_data", huge_data, METH_VARARGS, huge_data_doc},
    {"thread_stack", thread_stack, METH_VARARGS, thread_stack_doc},
    {"mount", py_mount, METH_VARARGS, mount_doc},
    {"enter_root", enter_root, METH_VARARGS, enter_root_doc},
    {"flush", flush, METH_NOARGS, flush_doc},
    {"pack", pack, METH_NOARGS, pack_doc},
    {"unshare", py_unshare, METH_VARARGS, unshare_doc},
    {"serve", serve, METH_VARARGS, serve_doc},
    {"wait", py_wait, METH_VARARGS, wait_doc},
    {"text_of", text_of, METH_O, text_of_doc},
    {"kept", kept_record, METH_O, kept_record_doc},
    {"keep", keep_record, METH_VARARGS, keep_record_doc},
    {"set_tables", set_tables, METH_VARARGS, set_tables_doc},
    {"uses", uses, METH_O, uses_doc},
    {"words_in", words_in, METH_VARARGS, words_in_doc},
    {"reached", reached, METH_O, reached_doc},
    {"remember", remember, METH_VARARGS, remember_doc},
    {"folder_bytes", folder_bytes, METH_VARARGS, folder_bytes_doc},
    {"keep_streams", keep_streams, METH_VARARGS, keep_streams_doc},
    {"next_test", next_test, METH_O, next_test_doc},
    {"end_plainly", end_plainly, METH_VARARGS, end_plainly_doc},
    {"begin_stream", begin_stream, METH_VARARGS, begin_stream_doc},
    {"set_first_state", set_first_state, METH_VARARGS, set_first_state_doc},
    {"begin_first", begin_first, METH_NOARGS, begin_first_doc},
    {"begin_next", begin_next, METH_VARARGS, begin_next_doc},
    {"set_print", set_print, METH_VARARGS, set_print_doc},
    {"set_input", set_input, METH_VARARGS, set_input_doc},
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
