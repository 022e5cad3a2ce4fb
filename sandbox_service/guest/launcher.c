/* The zygote of all languages but Python: executes a program in a fresh box for every run. A static executable.
 *
 *     launcher CONTROL FILTER UID SECOND_UID CPU [SHOWN...]
 *
 * The isolation tool starts it. It builds a room that shows the folders SHOWN (room.h), installs the system call filter,
 * reports its identity, and serves requests until the host closes the control socket. A request says everything about its
 * one or two boxes: executable, arguments, environment, descriptors, files in /tmp, pipes between the two, limits. A
 * second request may follow in the same message: it is run if the box of the first one ended well. launch_wire.py
 * describes the messages. The launcher looks at no byte that a user wrote.
 *
 * The child shares the launcher's memory until it executes (vfork), so no page table is copied. A native box may execute
 * once: the filter allows execveat on the descriptor EXEC_FD only. The executable is put there before the limit on open
 * files is lowered below that number, and the descriptor closes on exec: no descriptor can have that number again. An
 * absolute path would ignore the descriptor, and a filter cannot read paths. So the room for native programs shows no
 * folder and is noexec. This keeps the attack surface small; no wall depends on it.
 *
 * Memory is limited by RLIMIT_DATA: runtimes reserve much address space and use little. The filter refuses the two kinds
 * of memory that this limit does not count, shared anonymous memory and mappings that grow down. The main thread's stack
 * is not counted either, and has a limit of its own. Nor is memory that became read-only after it was written, and virtual
 * machines have a large reserve: so the resident memory of running boxes is looked at, and a box above its limit is
 * killed. RLIMIT_AS bounds the page tables, which nothing else counts.
 */
#define _GNU_SOURCE
#include "box.h"
#include "room.h"
#include "watch.h"

#include <sys/sendfile.h>

#define LAUNCHER_FILES 1024 /* descriptors of the launcher itself */
#define OPEN_FILES 256
/* right above a box's own numbers: the clone copies the table up to its highest number */
#define EXEC_FD (OPEN_FILES + 1)
#define REPORT_FD OPEN_FILES
#define RESERVED_FDS 16
#define MAX_FDS 12 /* of a box */
#define MAX_FILES 128
#define MAX_WORDS 512
#define MAX_MESSAGE (128 << 10)
#define TICK_SECONDS 0.01
#define LOOK_SECONDS 0.05 /* how often memory and sleeping pairs are looked at */
#define NEAR_SECONDS 0.01 /* how often a box is looked at that holds more than half of its memory */
#define COPY 0
#define LINK 1

/* Source of a descriptor that is not a file of the job: an empty device, or an end of one of the two pipes. Box 0 writes
 * to the pipe 0, box 1 to the pipe 1. */
enum { NOTHING = -1, PIPE_0_READS = -2, PIPE_0_WRITES = -3, PIPE_1_READS = -4, PIPE_1_WRITES = -5 };

struct __attribute__((packed)) request {
    uint8_t boxes;
    double wall_seconds, patience_seconds, grace_seconds, idle_seconds;
};

/* Between the two requests of a message. The second one is run if the only box of the first one ended by itself with
 * status 0 and wrote at most so many bytes: what it wrote is then copied. Places in the job's descriptors. */
struct __attribute__((packed)) following {
    int16_t output, copy, second_copy;
    uint64_t most_bytes;
};

/* Followed by: the sources of its descriptors, its files (kind, source, name, target), the path of its executable if it
 * has no descriptor, arguments and environment. Texts end with a zero. */
struct __attribute__((packed)) wanted {
    int16_t executable; /* place in the job's descriptors, or NOTHING: a path follows */
    int16_t folder;     /* place of the current folder, or NOTHING: /tmp */
    uint16_t mounts;    /* 1: it has a /tmp and a /proc of its own; 0: it needs neither */
    uint16_t fds, files, arguments, variables;
    uint32_t tasks, processes;
    uint64_t data_bytes, resident_bytes, address_bytes, stack_bytes, file_bytes, output_bytes, tmp_bytes;
    double cpu_seconds;
};

struct file {
    uint8_t kind;
    int16_t source; /* of a copy: place in the job's descriptors */
    char *name, *target;
};

struct spec {
    struct wanted wanted;
    int user; /* the place of its uid: no two boxes of a job have the same */
    int executable, folder, fds[MAX_FDS];
    struct file files[MAX_FILES];
    char *path, *arguments[MAX_WORDS], *variables[MAX_WORDS];
};

struct running {
    long pid;
    int pidfd, ended, over, why_killed;
    double cpu_limit, ended_at, cpu_seen, starved;
    unsigned long long resident_seen;
};

static int control;
static struct request request;
static struct files files;
static struct spec specs[MAX_BOXES];
static int output = -1; /* of the box of a request that has one, if it is a file */

/*** Once ***/

static size_t namespaces(char *out, size_t room)
{
    static const char *const names[] = {"pid", "net", "mnt", "ipc"};
    char path[32], link[64];
    size_t used = 0;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
        ssize_t size = readlink(path, link, sizeof link - 1);
        link[size > 0 ? size : 0] = 0;
        used += (size_t)snprintf(out + used, room - used, "%s\"%s\":\"%s\"", i ? "," : "", names[i], link);
    }
    return used;
}

static void interfaces(char *out, size_t room)
{
    char line[256], name[32];
    size_t used = 0;
    FILE *file = fopen("/proc/self/net/dev", "re");
    out[0] = 0;
    for (int i = 0; file && fgets(line, sizeof line, file); i++)
        if (i >= 2 && sscanf(line, " %31[^:]", name) == 1 && used < room)
            used += (size_t)snprintf(out + used, room - used, "%s\"%s\"", used ? "," : "", name);
    if (file)
        fclose(file);
}

/* What the host compares with its own values to prove that there is a jail: see `identity` in zygote.py. */
static int identity(char *out, size_t room)
{
    char spaces[512], seen[512], line[256], seccomp[16] = "", filters[16] = "", privileges[16] = "", bounding[32] = "";
    namespaces(spaces, sizeof spaces);
    interfaces(seen, sizeof seen);
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Seccomp: %15s", seccomp);
        sscanf(line, "Seccomp_filters: %15s", filters);
        sscanf(line, "NoNewPrivs: %15s", privileges);
        sscanf(line, "CapBnd: %31s", bounding);
    }
    if (file)
        fclose(file);
    return snprintf(out, room,
                    "{\"namespaces\":{%s},\"interfaces\":[%s],\"seccomp\":\"%s\",%s%s%s\"no_new_privs\":\"%s\","
                    "\"bounding_set\":\"%s\"}",
                    spaces, seen, seccomp, *filters ? "\"filters\":\"" : "", filters, *filters ? "\"," : "", privileges,
                    bounding);
}

static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* a box inherits what is ignored */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Occupy the low numbers, so that a descriptor of a request never has the number of one of a box's. */
static void reserve_fds(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    STEP(null);
    for (int fd = 0; fd < RESERVED_FDS; fd++)
        if (fd < 3)
            STEP(dup2(null, fd));
        else if (fcntl(fd, F_GETFD) < 0)
            STEP(dup3(null, fd, O_CLOEXEC));
    if (null >= RESERVED_FDS)
        close(null);
}

static void install_filter(int fd)
{
    static char bytes[1 << 16];
    ssize_t size = pread(fd, bytes, sizeof bytes, 0);
    STEP(size);
    close(fd);
    STEP(filter_calls(bytes, (size_t)size));
}

/* -1: errno. */
static int copy_all(int to, int from)
{
    off_t at = 0, size = lseek(from, 0, SEEK_END);
    while (at < size)
        if (sendfile(to, from, &at, (size_t)(size - at)) <= 0)
            return -1;
    return size < 0 ? -1 : 0;
}

/*** For every run, in the child, which shares the launcher's memory until it executes ***/

static void copy_file(const struct file *file)
{
    int to = open(file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    STEP(to);
    STEP(copy_all(to, files.fds[file->source]));
    close(to);
}

static void put_files(const struct spec *spec)
{
    umask(022);
    for (int i = 0; i < spec->wanted.files; i++) {
        const struct file *file = &spec->files[i];
        char path[PATH_MAX];
        snprintf(path, sizeof path, "/tmp/%s", file->name);
        make_folders(path, 0);
        if (file->kind == LINK)
            STEP(symlink(file->target, file->name));
        else
            copy_file(file);
    }
}

static void limit_memory(const struct wanted *wanted)
{
    STEP(limit(RLIMIT_DATA, wanted->data_bytes));
    STEP(limit(RLIMIT_AS, wanted->address_bytes));
    STEP(limit(RLIMIT_STACK, wanted->stack_bytes));
}

static int run_box(void *argument)
{
    int place = *(int *)argument;
    const struct spec *spec = &specs[place];
    const struct wanted *wanted = &spec->wanted;
    struct limits limits = {(unsigned long long)(2 * wanted->cpu_seconds) + 2, wanted->file_bytes, OPEN_FILES, wanted->tasks};
    char options[96], owned[OWNED_BYTES];
    snprintf(options, sizeof options, "size=%llu,nr_inodes=8192,mode=700", (unsigned long long)wanted->tmp_bytes);
    own_tmp(owned, options, spec->user);
    enter_box(wanted->mounts, owned, MS_NOEXEC);
    take_files(spec->fds, wanted->fds);
    become_nobody(spec->user);
    put_files(spec);
    if (spec->folder >= 0)
        STEP(fchdir(spec->folder));
    int executable = spec->executable >= 0 ? spec->executable : open(spec->path, O_PATH | O_CLOEXEC);
    if (executable < 0)
        fail(spec->path);
    STEP(dup3(executable, EXEC_FD, O_CLOEXEC));
    limit_memory(wanted);
    limit_box(&limits);
    STEP(syscall(SYS_close_range, (unsigned)wanted->fds, REPORT_FD - 1, 0)); /* the report pipe closes on exec */
    STEP(syscall(SYS_close_range, EXEC_FD + 1, ~0U, 0));
    STEP(syscall(SYS_execveat, EXEC_FD, "", spec->arguments, spec->variables, AT_EMPTY_PATH));
    return 0;
}

/*** Requests ***/

struct reader {
    char *at, *end;
};

static void *take_bytes(struct reader *reader, size_t size)
{
    if ((size_t)(reader->end - reader->at) < size)
        return NULL;
    void *found = reader->at;
    reader->at += size;
    return found;
}

static char *take_text(struct reader *reader)
{
    char *zero = memchr(reader->at, 0, (size_t)(reader->end - reader->at));
    return zero ? take_bytes(reader, (size_t)(zero - reader->at) + 1) : NULL;
}

static int take_words(struct reader *reader, char **words, int count)
{
    for (int i = 0; i < count; i++)
        if (!(words[i] = take_text(reader)))
            return -1;
    words[count] = NULL;
    return 0;
}

static int is_file(int place) { return place >= 0 && place < files.count; }

static int take_box_files(struct reader *reader, struct spec *spec)
{
    for (int i = 0; i < spec->wanted.files; i++) {
        struct file *file = &spec->files[i];
        uint8_t *kind = take_bytes(reader, sizeof *kind);
        int16_t *source = take_bytes(reader, sizeof *source);
        if (!kind || !source)
            return -1;
        file->kind = *kind;
        memcpy(&file->source, source, sizeof *source);
        if (!(file->name = take_text(reader)) || !(file->target = take_text(reader)))
            return -1;
        if (file->kind == COPY && !is_file(file->source))
            return -1;
    }
    return 0;
}

/* -1 if the message is not a box. */
static int take_box(struct reader *reader, struct spec *spec, const int *ends)
{
    struct wanted *wanted = take_bytes(reader, sizeof *wanted);
    if (!wanted)
        return -1;
    spec->wanted = *wanted;
    wanted = &spec->wanted;
    if (wanted->fds > MAX_FDS || wanted->files > MAX_FILES || wanted->arguments >= MAX_WORDS || wanted->variables >= MAX_WORDS)
        return -1;
    for (int i = 0; i < wanted->fds; i++) {
        int16_t *source = take_bytes(reader, sizeof *source);
        if (!source || *source < PIPE_1_WRITES || (*source >= 0 && !is_file(*source)))
            return -1;
        spec->fds[i] = *source >= 0 ? files.fds[*source] : *source == NOTHING ? -1 : ends[PIPE_0_READS - *source];
    }
    if (take_box_files(reader, spec))
        return -1;
    spec->path = wanted->executable < 0 ? take_text(reader) : NULL;
    if (wanted->executable < 0 ? !spec->path : !is_file(wanted->executable))
        return -1;
    if (wanted->folder >= 0 && !is_file(wanted->folder))
        return -1;
    spec->folder = wanted->folder < 0 ? -1 : files.fds[wanted->folder];
    spec->executable = wanted->executable < 0 ? -1 : files.fds[wanted->executable];
    return take_words(reader, spec->arguments, wanted->arguments) || take_words(reader, spec->variables, wanted->variables);
}

/* -1: errno, or EPROTO if the message has no request. */
static int take_request(struct reader *reader, int *ends)
{
    struct request *found = take_bytes(reader, sizeof *found);
    errno = EPROTO;
    if (!found || found->boxes < 1 || found->boxes > MAX_BOXES)
        return -1;
    request = *found;
    if (request.boxes == 2 && (pipe2(ends, O_CLOEXEC) || pipe2(ends + 2, O_CLOEXEC)))
        return -1;
    errno = EPROTO;
    for (int i = 0; i < request.boxes; i++) {
        specs[i].user = i;
        if (take_box(reader, &specs[i], ends))
            return -1;
    }
    return 0;
}

/* -1: errno, or EPROTO if the message has no two requests of one box each. */
static int take_following(struct reader *reader, struct following *following, int *ends)
{
    struct following *found = take_bytes(reader, sizeof *found);
    errno = EPROTO;
    if (!found || !is_file(found->output) || !is_file(found->copy) || !is_file(found->second_copy))
        return -1;
    *following = *found;
    if (request.boxes != 1 || take_request(reader, ends))
        return -1;
    specs[0].user = 1;
    return request.boxes == 1 && reader->at == reader->end ? 0 : -1;
}

/*** Runs ***/

static char child_stack[1 << 16] __attribute__((aligned(16)));

static int start(int place, struct running *running)
{
    const unsigned long flags = SIGCHLD | CLONE_PIDFD | CLONE_VM | CLONE_VFORK | namespaces_of(specs[place].wanted.mounts);
    *running = (struct running){.cpu_limit = specs[place].wanted.cpu_seconds};
    running->pid = clone(run_box, child_stack + sizeof child_stack, (int)flags, &place, &running->pidfd);
    return running->pid < 0 ? -1 : 0;
}

static void kill_box(struct running *running, int why)
{
    if (running->why_killed == NOT_KILLED)
        running->why_killed = why;
    syscall(SYS_pidfd_send_signal, running->pidfd, SIGKILL, NULL, 0);
}

static void send_running(void) { send(control, "R", 1, 0); }

static int forks(void) { return specs[0].wanted.processes > 1 || specs[request.boxes - 1].wanted.processes > 1; }

static void list_boxes(const struct running *running, struct pids *pids)
{
    if (forks()) {
        list_processes(pids, &not_boxes);
        return;
    }
    pids->count = 0;
    for (int i = 0; i < request.boxes; i++)
        if (!running[i].ended)
            pids->pid[pids->count++] = running[i].pid;
}

/* CPU seconds that a box has used. Two boxes of which one may fork are told apart only by their first processes. */
static double cpu_used(const struct running *running, const struct pids *pids)
{
    return request.boxes == 1 && forks() ? cpu_of_all(pids, 1) : cpu_of(running->pid);
}

/* Wait until a box ends, or for so many seconds. Note those that have ended; return how many have not. */
static int await_any(struct running *running, int *first, double seconds)
{
    struct pollfd polled[MAX_BOXES + 1];
    for (int i = 0; i < request.boxes; i++)
        polled[i] = (struct pollfd){running[i].ended ? -1 : running[i].pidfd, POLLIN, 0};
    polled[request.boxes] = (struct pollfd){control, 0, 0};
    int milliseconds = seconds > 0 ? (int)(seconds * 1000) + 1 : 0, left = 0;
    if (poll(polled, (nfds_t)request.boxes + 1, milliseconds) > 0 && polled[request.boxes].revents & (POLLHUP | POLLERR))
        _exit(0); /* the host is gone; the boxes die with their parent */
    for (int i = 0; i < request.boxes; i++) {
        if (!running[i].ended && polled[i].revents) {
            running[i].ended = 1;
            running[i].ended_at = now();
            *first = *first < 0 ? i : *first;
        }
        left += !running[i].ended;
    }
    return left;
}

static void kill_all(struct running *running, int count, int why)
{
    for (int i = 0; i < count; i++)
        if (!running[i].ended)
            kill_box(&running[i], why);
}

struct watch {
    double began, idle_since, starved;
    long sleeps;
};

/* Kill boxes that are over a limit. Returns the seconds until the next look. */
static double enforce(struct running *running, struct watch *watch)
{
    static struct pids pids;
    double next = 1e9, elapsed = now() - watch->began;
    list_boxes(running, &pids);
    for (int i = 0; i < request.boxes; i++) {
        struct running *one = &running[i];
        if (one->ended || one->over)
            continue;
        one->cpu_seen = cpu_used(one, &pids);
        double left = one->cpu_limit - one->cpu_seen;
        one->over = left < 0;
        if (one->over)
            kill_box(one, NOT_KILLED);
        next = !one->over && left + TICK_SECONDS < next ? left + TICK_SECONDS : next;
    }
    watch->starved = starved_of(&pids, forks());
    for (int i = 0; i < request.boxes; i++)
        if (!running[i].ended)
            running[i].starved = watch->starved;
    double most = request.wall_seconds + (watch->starved > 0 ? watch->starved : 0);
    double left = (most < request.patience_seconds ? most : request.patience_seconds) - elapsed;
    if (left >= TICK_SECONDS)
        return left < next ? left : next;
    if (elapsed < request.patience_seconds && is_held_up(&pids))
        return HELD_UP_SECONDS;
    kill_all(running, request.boxes, DEADLINE);
    return 1.0;
}

/* A descriptor of the file that the only box of a request writes its output to; -1 if that is no file. Descriptor 4 is the
 * output of a box that runs several tests, whose 0 and 1 are a channel. */
static int output_of(const struct spec *spec)
{
    struct stat file;
    for (int i = 1; request.boxes == 1 && i < spec->wanted.fds; i += 3)
        if ((fcntl(spec->fds[i], F_GETFL) & O_ACCMODE) != O_RDONLY && !fstat(spec->fds[i], &file) && S_ISREG(file.st_mode))
            return fcntl(spec->fds[i], F_DUPFD_CLOEXEC, 0);
    return -1;
}

/* Whether the box has written more than it may. The limit of a file is higher, and does not end a program that ignores SIGXFSZ
 * and what a write returns, as virtual machines and Go do. */
static int has_flooded(void)
{
    struct stat file;
    return output >= 0 && !fstat(output, &file) && (unsigned long long)file.st_size > specs[0].wanted.output_bytes;
}

/* Kill boxes that hold more memory than they may, or have written more. Returns the seconds until the next look. Of two
 * boxes that may fork no process is told apart from the other's. */
static double enforce_memory(struct running *running)
{
    static struct pids pids;
    double next = LOOK_SECONDS;
    list_boxes(running, &pids);
    for (int i = 0; i < request.boxes; i++) {
        struct running *one = &running[i];
        if (one->ended || one->over)
            continue;
        unsigned long long resident = request.boxes == 1 ? largest_resident(&pids) : resident_of(one->pid);
        one->resident_seen = resident > one->resident_seen ? resident : one->resident_seen;
        one->over = resident > specs[i].wanted.resident_bytes || has_flooded();
        if (one->over)
            kill_box(one, NOT_KILLED);
        else if (resident > specs[i].wanted.resident_bytes / 2)
            next = NEAR_SECONDS;
    }
    return next;
}

/* Two boxes: kill what the end of the judge leaves over, and both if neither has done anything for a while. */
static void enforce_pair(struct running *running, struct watch *watch)
{
    static struct pids pids;
    if (running[1].ended && !running[0].ended) {
        if (now() - running[1].ended_at >= request.grace_seconds)
            kill_box(&running[0], NOT_NEEDED);
        return;
    }
    if (request.idle_seconds <= 0)
        return;
    list_boxes(running, &pids);
    long sleeps = sleeps_of(&pids);
    if (sleeps < 0 || sleeps != watch->sleeps)
        watch->idle_since = now();
    watch->sleeps = sleeps;
    if (now() - watch->idle_since >= request.idle_seconds)
        kill_all(running, request.boxes, IDLE);
}

static int await_all(struct running *running, double began)
{
    struct watch watch = {.began = began, .idle_since = began, .sleeps = -1};
    int first = -1, pair = request.boxes == 2;
    double pause = request.wall_seconds, memory = LOOK_SECONDS;
    for (int i = 0; i < request.boxes; i++)
        pause = running[i].cpu_limit < pause ? running[i].cpu_limit : pause;
    double look = now() + pause;
    while (await_any(running, &first, pause < memory ? pause : memory)) {
        memory = enforce_memory(running);
        if (pair)
            enforce_pair(running, &watch);
        if (now() >= look) {
            pause = enforce(running, &watch);
            look = now() + pause;
            send_running();
        } else
            pause = look - now();
    }
    return first;
}

static int bury(struct running *running, int place, double began, struct record *record)
{
    struct seen seen;
    if (reap(running->pid, (unsigned long long)(2 * specs[place].wanted.cpu_seconds) + 2, &seen))
        return -1;
    close(running->pidfd);
    int why = running->why_killed == NOT_KILLED && seen.own_limit ? OWN_LIMIT : running->why_killed;
    double cpu = seen.cpu_seconds > running->cpu_seen ? seen.cpu_seconds : running->cpu_seen;
    double ended = running->ended_at > 0 ? running->ended_at : now();
    unsigned long long peak = seen.peak_bytes > running->resident_seen ? seen.peak_bytes : running->resident_seen;
    *record = (struct record){seen.status, (uint8_t)why, cpu, ended - began, running->starved, peak};
    return 0;
}

/* Send the records, or the report of a box whose set-up failed. The exit status alone does not show a failed set-up. */
static void answer(const struct record *records, int count, int first)
{
    char message[2 + MAX_BOXES * sizeof *records], report[200];
    for (int i = 0; i < count; i++)
        if (records[i].status == EXIT_SETUP << 8) {
            ssize_t size = read(box.report[0], report, sizeof report - 1);
            if (size > 0) {
                report[size] = 0;
                send_fault(control, report);
                return;
            }
        }
    message[0] = 'D';
    message[1] = (char)first;
    memcpy(message + 2, records, (size_t)count * sizeof *records);
    send(control, message, 2 + (size_t)count * sizeof *records, 0);
}

static void answer_fault(int error)
{
    char text[64];
    snprintf(text, sizeof text, "no box could be started: errno %d", error);
    send_fault(control, text);
}

static void close_ends(int *ends)
{
    for (int i = 0; i < 4; i++)
        if (ends[i] >= 0) {
            close(ends[i]);
            ends[i] = -1;
        }
}

/* Start the boxes of the request that was taken, and wait until they have ended. The box that ended first; -1: errno,
 * and no box is left. `keeps`: the job's files are needed later; else they are closed, so that a pipe can end. */
static int run_boxes(struct record *records, int *ends, int keeps)
{
    struct running running[MAX_BOXES];
    int started = 0;
    double began = now();
    while (started < request.boxes && !start(started, &running[started]))
        started++;
    int error = errno;
    close_ends(ends);
    output = output_of(&specs[0]);
    if (!keeps)
        close_files(&files);
    if (started < request.boxes)
        kill_all(running, started, NOT_NEEDED);
    int first = started < request.boxes ? -1 : await_all(running, began);
    for (int i = 0; i < started; i++)
        if (bury(&running[i], i, began, &records[i]))
            _exit(4);
    if (output >= 0)
        close(output);
    errno = error;
    return first;
}

/* Whether the box ended so that the second request is to be run. */
static int ended_well(const struct record *record, const struct following *following)
{
    off_t size = lseek(files.fds[following->output], 0, SEEK_END);
    return record->status == 0 && record->why_killed == NOT_KILLED && size >= 0 && (uint64_t)size <= following->most_bytes;
}

/* Copy what the first box wrote. All its processes have ended, so that it cannot change any more. -1: errno. */
static int copy_output(const struct following *following)
{
    int from = files.fds[following->output], to[] = {files.fds[following->copy], files.fds[following->second_copy]};
    for (int i = 0; i < (to[0] == to[1] ? 1 : 2); i++)
        if (copy_all(to[i], from) || lseek(to[i], 0, SEEK_SET))
            return -1;
    return 0;
}

/* The records of the boxes of a message, of which `first` ended first. How many there are; -1: errno. */
static int run_message(struct reader *reader, int *ends, struct record *records, int *first)
{
    struct following following;
    if (take_request(reader, ends))
        return -1;
    int is_followed = reader->at < reader->end, count = request.boxes;
    *first = run_boxes(records, ends, is_followed);
    if (*first < 0 || !is_followed)
        return *first < 0 ? -1 : count;
    if (take_following(reader, &following, ends))
        return -1;
    if (!ended_well(records, &following))
        return count;
    return copy_output(&following) || run_boxes(records + count, ends, 0) < 0 ? -1 : count + 1;
}

static void run(char *message, size_t size)
{
    struct reader reader = {message, message + size};
    struct record records[MAX_BOXES];
    int ends[] = {-1, -1, -1, -1}, first = 0, count = run_message(&reader, ends, records, &first), error = errno;
    close_ends(ends);
    close_files(&files);
    if (count < 0)
        answer_fault(error);
    else
        answer(records, count, first);
}

static void set_up(char *const *arguments, int count)
{
    int filter = atoi(arguments[2]), uid = atoi(arguments[3]), second = atoi(arguments[4]), cpu = atoi(arguments[5]);
    control = atoi(arguments[1]);
    if (cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    reset_signals();
    box.change_user = uid >= 0;
    box.uid[0] = uid >= 0 ? (uid_t)uid : getuid();
    box.uid[1] = second >= 0 ? (uid_t)second : getuid();
    struct rlimit open_files = {LAUNCHER_FILES, LAUNCHER_FILES};
    setrlimit(RLIMIT_NOFILE, &open_files);
    box.report[1] = 2; /* until there is a pipe, a failed step is told to the host's log */
    STEP(limit_zygote());
    if (box.change_user)
        STEP(syscall(SYS_setgroups, 0, NULL));
    box.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    STEP(box.proc);
    list_processes(&not_boxes, &(struct pids){.count = 0});
    build_room(arguments + 6, count - 6);
    int report[2];
    STEP(pipe2(report, O_CLOEXEC | O_NONBLOCK));
    STEP(dup3(report[1], REPORT_FD, O_CLOEXEC));
    close(report[1]);
    box.report[0] = report[0];
    box.report[1] = REPORT_FD;
    install_filter(filter);
    reserve_fds(); /* last: what is closed after it leaves a low number free */
}

int main(int count, char **arguments)
{
    static char message[MAX_MESSAGE], report[4096];
    if (count < 6)
        return 2;
    int size = identity(report, sizeof report);
    set_up(arguments, count);
    send(control, report, (size_t)size, 0);
    for (;;) {
        ssize_t got = receive(control, message, sizeof message, &files);
        if (got <= 0)
            return got == 0 ? 0 : 3;
        run(message, (size_t)got);
    }
}
